//! Tensors in a file: dense numbers are one array of their shape, so that other programs find it under its name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::{ArrayBytes, File};
use crate::backend::upload::uploaded;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::saved_list;
use crate::shape::{HostLevel, RowPartition};
use crate::tensor::{HostTensor, HostValues, Tensor, Values};

/// A tensor in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedTensor {
    dtype: DType,
    #[serde(deserialize_with = "saved_list::deserialize")]
    levels: Box<[SavedLevel]>,
    /// The shape of the flat values.
    #[serde(deserialize_with = "saved_list::short")]
    shape: Box<[u32]>,
    /// The name of the values, or of the bytes of all strings.
    values: Box<str>,
    /// The name of the splits of the bytes into strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    string_splits: Option<Box<str>>,
}

/// A partition in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SavedLevel {
    /// The name of the splits.
    RowSplits(Box<str>),
    Uniform {
        length: u32,
        rows: u32,
    },
}

/// The name of the splits of partition `k` of a tensor.
pub(super) fn row_splits_name(tensor: &str, k: usize) -> String {
    format!("{tensor}.row_splits.{k}")
}

/// The name of the splits of a tensor's bytes into strings.
pub(super) fn string_splits_name(tensor: &str) -> String {
    format!("{tensor}.string_splits")
}

impl SavedTensor {
    /// A tensor called `name`, and its arrays.
    pub(super) fn of(
        name: &str,
        host: HostTensor,
        arrays: &mut BTreeMap<String, ArrayBytes<'_>>,
    ) -> Result<Self, String> {
        let HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values } = host;
        let mut add = |name: String, dtype: DType, shape: Vec<usize>, bytes: Vec<u8>| -> Result<Box<str>, String> {
            let array = ArrayBytes { dtype, shape, bytes: Cow::Owned(bytes) };
            match arrays.insert(name.clone(), array) {
                None => Ok(name.into()),
                Some(_) => Err(format!("two arrays are called {name:?}")),
            }
        };
        let dtype = values.dtype();
        if nested_row_splits.len() + inner_shape.len() > saved_list::MAX_RANK {
            return Err(format!("tensor {name:?} has more than {} dimensions", saved_list::MAX_RANK));
        }
        let mut levels = Vec::new();
        for (k, (splits, uniform)) in nested_row_splits.iter().zip(&uniform_row_lengths).enumerate() {
            levels.push(match uniform {
                Some(length) => SavedLevel::Uniform { length: *length, rows: splits.len() as u32 - 1 },
                None => {
                    let bytes = bytemuck::cast_slice(splits).to_vec();
                    SavedLevel::RowSplits(add(row_splits_name(name, k), DType::U32, vec![splits.len()], bytes)?)
                }
            });
        }
        let shape = inner_shape.iter().map(|&n| n as u32).collect();
        let (values, string_splits) = match &values {
            HostValues::Str(strings) => {
                let mut ends = vec![0u32];
                ends.extend(strings.iter().scan(0, |end, s| {
                    *end += s.len() as u32;
                    Some(*end)
                }));
                let bytes = strings.concat();
                let (splits, len) = (bytemuck::cast_slice(&ends).to_vec(), bytes.len());
                let splits = add(string_splits_name(name), DType::U32, vec![ends.len()], splits)?;
                (add(name.to_owned(), DType::U8, vec![len], bytes)?, Some(splits))
            }
            numbers => {
                let bytes = numbers.number_bytes().unwrap_or_default().to_vec();
                (add(name.to_owned(), dtype, inner_shape, bytes)?, None)
            }
        };
        Ok(Self { dtype, levels: levels.into(), shape, values, string_splits })
    }

    /// The tensor of an array of a file without a manifest.
    ///
    /// # Errors
    /// There is none of that name.
    pub(super) fn plain(name: &str, file: &File) -> Result<Self, String> {
        let array = file.array(name)?;
        let shape = array.shape.iter().map(|&n| n as u32).collect();
        Ok(Self { dtype: array.dtype, levels: Box::default(), shape, values: name.into(), string_splits: None })
    }

    /// The dtype, and the number of dimensions with row partitions.
    pub(super) fn description(&self) -> (DType, usize) {
        (self.dtype, self.levels.len())
    }

    /// Checks that the arrays exist and fit the dtype and the shape.
    pub(super) fn check(&self, file: &File) -> Result<(), String> {
        let values = file.array(&self.values)?;
        let want = if self.dtype == DType::Str { DType::U8 } else { self.dtype };
        let count = self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d as usize));
        let has = match &self.string_splits {
            Some(splits) => file.array(splits)?.shape.iter().product::<usize>().checked_sub(1),
            None => Some(file.bytes(values).len() / values.dtype.size()),
        };
        if values.dtype != want
            || self.string_splits.is_some() != (self.dtype == DType::Str)
            || count != has
            || has.is_none()
        {
            return Err(format!("array {:?} is no {} of shape {:?}", self.values, self.dtype, self.shape));
        }
        file.check_flags(&self.values, values)
    }

    /// Uploads the tensor; its arrays have been checked.
    #[track_caller]
    pub(super) fn on_device(&self, op: &'static str, file: &File, device: &Device) -> Result<Tensor> {
        let backend = device.backend();
        let rec = Recorder::new(backend, op);
        let damaged = |what: String| Error::argument(op, what);
        let bytes = file.bytes(file.array(&self.values).map_err(damaged)?);
        let values = match &self.string_splits {
            Some(name) => {
                let splits = file.words(name).map_err(damaged)?;
                RowPartition::validate_splits(rec, &splits, Some(bytes.len() as u64))?;
                Values::upload_strings(op, device, splits, bytes)?
            }
            None => {
                Extent::known_u64(op, (bytes.len() / self.dtype.size()) as u64)?;
                Values::Numbers(uploaded(backend, op, self.dtype, bytes)?)
            }
        };
        let mut partitions = Vec::new();
        for (k, level) in self.levels.iter().enumerate() {
            let below = match self.levels.get(k + 1) {
                Some(SavedLevel::RowSplits(name)) => {
                    (file.words(name).map_err(damaged)?.len() as u64).saturating_sub(1)
                }
                Some(SavedLevel::Uniform { rows, .. }) => u64::from(*rows),
                None => self.shape.first().copied().unwrap_or(0).into(),
            };
            let level = match level {
                SavedLevel::RowSplits(name) => HostLevel::Splits(file.words(name).map_err(damaged)?),
                SavedLevel::Uniform { length, rows } => HostLevel::Uniform { length: *length, rows: *rows },
            };
            partitions.push(level.partition(rec, |rows| values.rows(k, rows), below)?);
        }
        if self.shape.is_empty() && !partitions.is_empty() {
            return Err(damaged("a scalar with rows".into()));
        }
        let outer = self.shape.first().map(|&d| values.rows(self.levels.len(), d));
        Tensor::new(backend, partitions, outer, self.shape.iter().skip(1).copied().collect::<Vec<u32>>(), values)
    }
}
