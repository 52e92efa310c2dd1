//! Tensors as named dense arrays, for formats that have no others.
//!
//! | tensor | arrays |
//! |---|---|
//! | dense, of numbers | `NAME` |
//! | ragged | `NAME`: the flat values; `NAME.row_splits.K`: the splits of partition K, from 0, outermost first |
//! | of uniform rows | `NAME.row_length.K`: the length and the number of the rows |
//! | of strings | `NAME`: all bytes, as u8; `NAME.string_splits`, `NAME.string_shape` |

use ragged::{DType, Device, RaggedTensor, Result, RowPartition, SharedBytes, SharedRows, Tensor};

use crate::fault::argument;
use crate::file::{Memory, reason, unreadable};

/// A dense array of a file.
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) memory: Memory,
}

impl Array {
    /// The array as a tensor, adopted where that is possible.
    pub(crate) fn tensor(&self, device: &Device) -> Result<Tensor> {
        Tensor::from_shared(self.memory.clone(), self.dtype, &self.shape, device)
    }

    fn of_splits(splits: SharedBytes) -> Self {
        Self { dtype: DType::U32, shape: vec![splits.len() / 4], memory: std::sync::Arc::new(splits) }
    }

    fn of_numbers(numbers: Vec<u64>) -> Self {
        let shape = vec![numbers.len()];
        Self { dtype: DType::U64, shape, memory: std::sync::Arc::new(crate::memory::Numbers(numbers)) }
    }
}

/// The ends of names of arrays that belong to a tensor.
const SPLITS: &str = ".row_splits.";
const LENGTH: &str = ".row_length.";
const STRINGS: &str = ".string_splits";
const STRING_SHAPE: &str = ".string_shape";

/// The arrays of a tensor.
///
/// # Errors
/// A name that is empty, or that is one of an array of another tensor; the first failed check of the read.
pub(crate) fn arrays(name: &str, tensor: &Tensor) -> Result<Vec<(String, Array)>> {
    if name.is_empty() || owner_of(name) != name {
        return Err(argument(format!("a tensor cannot be named {name:?} in a file")));
    }
    let shared = tensor.to_shared()?;
    let mut out = Vec::new();
    for (k, rows) in shared.partitions.into_iter().enumerate() {
        out.push(match rows {
            SharedRows::Splits(splits) => (format!("{name}{SPLITS}{k}"), Array::of_splits(splits)),
            SharedRows::Uniform { rows, length } => {
                (format!("{name}{LENGTH}{k}"), Array::of_numbers(vec![length as u64, rows as u64]))
            }
            other => return Err(argument(format!("files have no form for {other:?}"))),
        });
    }
    let (dtype, shape) = match shared.string_splits {
        Some(splits) => {
            out.push((format!("{name}{STRINGS}"), Array::of_splits(splits)));
            let shape = shared.inner_shape.iter().map(|&d| d as u64).collect();
            out.push((format!("{name}{STRING_SHAPE}"), Array::of_numbers(shape)));
            (DType::U8, vec![shared.values.len()])
        }
        None => (shared.dtype, shared.inner_shape),
    };
    out.push((name.to_owned(), Array { dtype, shape, memory: std::sync::Arc::new(shared.values) }));
    Ok(out)
}

/// The name of the tensor that an array belongs to.
pub(crate) fn owner_of(name: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    for end in [SPLITS, LENGTH] {
        if let Some((owner, _)) = name.rsplit_once(end).filter(|(_, number)| is_number(number)) {
            return owner;
        }
    }
    [STRINGS, STRING_SHAPE].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// The tensor of a name, from the arrays of a file.
///
/// # Errors
/// Arrays that do not fit each other, with the name of the first.
pub(crate) fn tensor(
    name: &str,
    array: &mut dyn FnMut(&str) -> Result<Option<Array>>,
    device: &Device,
) -> Result<Tensor> {
    let missing = || unreadable(format!("there is no array {name:?}"));
    let values = array(name)?.ok_or_else(missing)?;
    let within = |part: &str| {
        let part = part.to_owned();
        move |e: ragged::Error| unreadable(format!("array {part:?}: {}", reason(&e)))
    };
    let mut tensor = values.tensor(device).map_err(within(name))?;
    let part = format!("{name}{STRINGS}");
    if let Some(splits) = array(&part)? {
        let rows = rows_of(splits, device).map_err(within(&part))?;
        tensor = Tensor::from_row_partitions(&tensor, &[rows])
            .and_then(|bytes| bytes.bytes_to_string())
            .map_err(within(&part))?;
        let part = format!("{name}{STRING_SHAPE}");
        if let Some(shape) = array(&part)? {
            let shape = numbers(&shape, device).map_err(within(&part))?;
            tensor = tensor.reshape(shape).map_err(within(&part))?;
        }
    }
    let mut partitions = Vec::new();
    loop {
        let (splits, length) =
            (format!("{name}{SPLITS}{}", partitions.len()), format!("{name}{LENGTH}{}", partitions.len()));
        if let Some(splits_array) = array(&splits)? {
            partitions.push(rows_of(splits_array, device).map_err(within(&splits))?);
        } else if let Some(array) = array(&length)? {
            let uniform = || {
                let [length, rows] = numbers(&array, device)?[..] else {
                    return Err(argument("a length and a number of rows are needed"));
                };
                let values = length.checked_mul(rows).ok_or_else(|| argument("there are too many values"))?;
                RowPartition::from_uniform_row_length(ragged::opt::with_nrows(length, rows), values, device)
            };
            partitions.push(uniform().map_err(within(&length))?);
        } else {
            return Tensor::from_row_partitions(&tensor, &partitions).map_err(within(name));
        }
    }
}

/// A partition of the splits in an array of u32.
fn rows_of(array: Array, device: &Device) -> Result<RowPartition> {
    if array.dtype != DType::U32 || array.shape.len() != 1 {
        return Err(argument(format!(
            "row splits are a vector of u32, not {} of shape {:?}",
            array.dtype, array.shape
        )));
    }
    RowPartition::from_shared_row_splits(array.memory, device)
}

/// The numbers of an array of u64.
fn numbers(array: &Array, device: &Device) -> Result<Vec<i64>> {
    if array.dtype != DType::U64 || array.shape.len() != 1 || array.shape[0] > 1024 {
        return Err(argument(format!("sizes are a vector of u64, not {} of shape {:?}", array.dtype, array.shape)));
    }
    let host = RaggedTensor::<u64>::try_from(array.tensor(&Device::cpu())?)?.to_vec()?;
    let _ = device;
    let small = |n: u64| i64::try_from(n).map_err(|_| argument(format!("{n} is no size")));
    host.into_iter().map(small).collect()
}
