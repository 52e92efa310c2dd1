//! A tensor of an item: in host memory, where it may be a row of a larger one, or on a device.

use std::sync::Arc;

use ragged::{DType, Device, HostTensor, HostValues, Result, SparseTensor, Tensor};

use super::column::{Column, Values};
use super::fault::Call;
use super::stack::View;

/// A sparse tensor in host memory.
#[derive(Debug, Clone)]
pub(crate) struct SparseColumn {
    /// The coordinates, entry by entry.
    pub(crate) indices: Vec<i64>,
    pub(crate) values: Column,
    pub(crate) dense_shape: Vec<u64>,
}

/// A tensor of an item.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A column, or a row of it.
    Host {
        column: Arc<Column>,
        row: Option<usize>,
    },
    Device(Box<Tensor>),
    HostSparse(Arc<SparseColumn>),
    Sparse(Box<SparseTensor>),
}

impl Value {
    pub(crate) fn column(column: Column) -> Self {
        Self::Host { column: Arc::new(column), row: None }
    }

    /// The part of a column, in host memory.
    pub(crate) fn view(&self) -> Option<View<'_>> {
        let Self::Host { column, row } = self else { return None };
        Some(match row {
            Some(row) => View::row(column, *row),
            None => View::all(column),
        })
    }

    /// Bytes in host memory or on the device, as far as the host knows.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Host { .. } => self.view().map_or(0, |v| v.bytes()),
            Self::Device(x) => {
                let known = x.shape().iter().map(|d| d.unwrap_or(1) as u64).product::<u64>();
                known * x.dtype().size().max(1) as u64
            }
            Self::HostSparse(x) => 8 * x.indices.len() as u64 + View::all(&x.values).bytes(),
            Self::Sparse(_) => 0,
        }
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Host { column, .. } => column.values.dtype(),
            Self::Device(x) => x.dtype(),
            Self::HostSparse(x) => x.values.values.dtype(),
            Self::Sparse(x) => x.dtype(),
        }
    }

    /// The dense or ragged tensor on a device.
    pub(crate) fn tensor(&self, call: Call, device: &Device) -> Result<Tensor> {
        match self {
            Self::Host { column, row: None } => column.upload(device),
            Self::Host { .. } => match self.view() {
                Some(view) => view.to_column().into_tensor(device),
                None => unreachable!("bug: a host value has a view"),
            },
            Self::Device(x) => x.to_device(device),
            Self::HostSparse(_) | Self::Sparse(_) => {
                Err(call.argument("it is a sparse tensor: call sparse, or ask for a ragged feature"))
            }
        }
    }

    /// The sparse tensor on a device.
    pub(crate) fn sparse(&self, call: Call, device: &Device) -> Result<SparseTensor> {
        match self {
            Self::HostSparse(x) => {
                let (n, rank) = (x.values.nrows().unwrap_or(0), x.dense_shape.len());
                let indices = HostTensor::dense(&[n, rank], HostValues::I64(x.indices.clone())).to_device(device)?;
                SparseTensor::new(&indices, &x.values.upload(device)?, &x.dense_shape)
            }
            Self::Sparse(x) => x.to_device(device),
            Self::Host { .. } | Self::Device(_) => Err(call.argument("it is no sparse tensor: call tensor")),
        }
    }

    /// The value on a device.
    pub(crate) fn to_device(&self, call: Call, device: &Device) -> Result<Self> {
        Ok(match self {
            Self::HostSparse(_) | Self::Sparse(_) => Self::Sparse(Box::new(self.sparse(call, device)?)),
            _ => Self::Device(Box::new(self.tensor(call, device)?)),
        })
    }

    /// The value without memory that it shares with other rows.
    pub(crate) fn detached(self) -> Self {
        match self.view() {
            // A column that lives elsewhere, such as the tensor of a dataset, costs nothing.
            Some(view) if matches!(&self, Self::Host { row: Some(_), .. }) => {
                let ragged = view.ragged;
                let mut own = view.to_column();
                match ragged {
                    true => {
                        let n = own.nrows().unwrap_or(0) as u32;
                        own.splits.insert(0, vec![0, n]);
                        own.uniform.insert(0, None);
                    }
                    false => own.inner.insert(0, 1),
                }
                Self::Host { column: Arc::new(own), row: Some(0) }
            }
            _ => self,
        }
    }

    /// The numbers; none of strings, or on a device.
    pub(crate) fn numbers(&self) -> Option<(&HostValues, std::ops::Range<usize>)> {
        let Self::Host { column, .. } = self else { return None };
        match &column.values {
            Values::Numbers(values) => self.view().map(|v| (values, v.values())),
            Values::Strings { .. } => None,
        }
    }

    /// The strings; none of numbers, or on a device.
    pub(crate) fn strings(&self) -> Option<impl ExactSizeIterator<Item = &[u8]>> {
        let Self::Host { column, .. } = self else { return None };
        match &column.values {
            Values::Numbers(_) => None,
            Values::Strings { splits, bytes } => {
                let at = self.view()?.values();
                let ends = splits[at.start..=at.end].windows(2);
                Some(ends.map(|w| &bytes[w[0] as usize..w[1] as usize]))
            }
        }
    }
}
