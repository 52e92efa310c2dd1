//! The result of a case.

use ragged::{Device, HostTensor, Result, Tensor};
use serde_json::Value as Json;

use crate::case::Sparse;

/// The result of a case.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "families use what they need")]
#[allow(clippy::large_enum_variant, reason = "one per case")]
pub enum Got {
    Tensor(Tensor),
    /// A tensor of indices, sizes or splits: integers of any dtype, compared by value.
    Index(Tensor),
    /// A tensor that was computed on the host, which counts as a host step.
    Host(HostTensor),
    List(Vec<Got>),
    /// A plain value; also compared with a dense tensor of the same numbers.
    Json(Json),
    /// A shape, with `None` for a ragged dimension; also compared with a dense tensor of the same numbers.
    Shape(Vec<Option<u64>>),
    RaggedShape {
        row_splits: Vec<Vec<u32>>,
        uniform: Vec<bool>,
        inner_shape: Vec<i64>,
    },
    RowPartition {
        splits: Vec<u32>,
    },
    Sparse {
        indices: Tensor,
        values: Tensor,
        dense_shape: Vec<i64>,
    },
    /// The operation is not supported: the reason.
    Unsupported(String),
}

impl From<Tensor> for Got {
    fn from(t: Tensor) -> Self {
        Self::Tensor(t)
    }
}

/// A `Got` in host memory.
#[derive(Debug, Clone)]
pub enum Read {
    Tensor { tensor: HostTensor, index: bool },
    List(Vec<Read>),
    Json(Json),
    Shape(Vec<Option<u64>>),
    RaggedShape { row_splits: Vec<Vec<u32>>, uniform: Vec<bool>, inner_shape: Vec<i64> },
    RowPartition { splits: Vec<u32> },
    Sparse(Sparse),
    Unsupported(String),
}

impl Got {
    /// The result of an operation that is not supported yet.
    pub fn unsupported(op: &str) -> Result<Self> {
        Ok(Self::Unsupported(format!("no {op}")))
    }

    /// Whether all tensors of the result are on `device`.
    pub fn is_on(&self, device: &Device) -> bool {
        match self {
            Self::Tensor(t) | Self::Index(t) => t.device() == *device,
            Self::Sparse { indices, values, .. } => indices.device() == *device && values.device() == *device,
            Self::List(all) => all.iter().all(|g| g.is_on(device)),
            Self::Host(_) | Self::Unsupported(_) => false,
            Self::Json(_) | Self::Shape(_) | Self::RaggedShape { .. } | Self::RowPartition { .. } => true,
        }
    }

    /// Reads the result to the host.
    pub fn read(self) -> Result<Read> {
        Ok(match self {
            Self::Tensor(t) => Read::Tensor { tensor: t.to_host()?, index: false },
            Self::Index(t) => Read::Tensor { tensor: t.to_host()?, index: true },
            Self::Host(tensor) => Read::Tensor { tensor, index: false },
            Self::List(all) => Read::List(all.into_iter().map(Self::read).collect::<Result<_>>()?),
            Self::Json(v) => Read::Json(v),
            Self::Shape(v) => Read::Shape(v),
            Self::RaggedShape { row_splits, uniform, inner_shape } => {
                Read::RaggedShape { row_splits, uniform, inner_shape }
            }
            Self::RowPartition { splits } => Read::RowPartition { splits },
            Self::Sparse { indices, values, dense_shape } => Read::Sparse(Sparse {
                indices: crate::case::ints(&indices.to_host()?),
                values: values.to_host()?.values,
                dense_shape,
            }),
            Self::Unsupported(why) => Read::Unsupported(why),
        })
    }
}
