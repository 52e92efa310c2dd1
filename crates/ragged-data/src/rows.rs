//! Rows as arrays of the crate ndarray.

use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn};
use ragged::operation::named;
use ragged::{Device, Element, Number, RaggedTensor, Result, RowPartition, Tensor};

use crate::fault::argument;
use crate::memory::{MAX_VALUES, room};

/// The ragged tensor whose rows are arrays: of any length along their first dimension, and of one shape below it.
///
/// Arrays may lie in any order in memory. An array of length 0 is an empty row; no arrays give no rows of numbers.
///
/// # Errors
/// An array of dimension 0; arrays that differ below their first dimension, with the first such row; more than 2^32 - 2 numbers;
/// no memory.
///
/// # Cost
/// One copy, which the tensor adopts on the CPU.
///
/// ```
/// use ndarray::arr1;
/// use ragged::Device;
/// let rows = [arr1(&[1, 2]).into_dyn(), arr1(&[]).into_dyn(), arr1(&[3]).into_dyn()];
/// let x = ragged_data::from_ndarray_rows(&rows, &Device::cpu())?;
/// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn from_ndarray_rows<T: Number + Element<Host = T>>(
    rows: &[ArrayD<T>],
    device: &Device,
) -> Result<RaggedTensor<T>> {
    named("from_ndarray_rows", || {
        let mut inner: Option<&[usize]> = None;
        let (mut lengths, mut total): (Vec<i64>, u64) = (room("lengths of rows", rows.len())?, 0);
        for (k, row) in rows.iter().enumerate() {
            let Some((&length, below)) = row.shape().split_first() else {
                return Err(argument(format!("row {k} is a single number; an array has a dimension at least")));
            };
            let first = *inner.get_or_insert(below);
            if first != below {
                let what = format!("row {k} has elements of shape {below:?}, but the rows before it {first:?}");
                return Err(argument(what));
            }
            lengths.push(length as i64);
            total = total.saturating_add(row.len() as u64);
        }
        if total > MAX_VALUES as u64 {
            return Err(crate::fault::too_many("", total, "values"));
        }
        let mut values: Vec<T> = room("numbers of rows", total as usize)?;
        rows.iter().for_each(|row| values.extend(row.iter().copied()));
        let nvals: i64 = lengths.iter().sum();
        let mut shape = vec![nvals as usize];
        shape.extend(inner.unwrap_or_default());
        let memory = std::sync::Arc::new(crate::memory::Numbers(values));
        let values = RaggedTensor::<T>::from_shared(memory, &shape, device)?;
        let partition = RowPartition::from_row_lengths(&lengths, device)?;
        Tensor::from_row_partitions(&values, &[partition])?.try_into()
    })
}

/// The rows of a tensor with one ragged dimension, the second, as arrays.
///
/// # Errors
/// A tensor of other than one row partition; the first failed device-side check; no memory.
///
/// # Cost
/// One read, and a copy of each row.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
/// let rows = ragged_data::to_ndarray_rows(&x)?;
/// assert_eq!((rows.len(), rows[0].as_slice(), rows[1].len()), (3, Some(&[1, 2][..]), 0));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_ndarray_rows<T: Number + Element<Host = T>>(tensor: &RaggedTensor<T>) -> Result<Vec<ArrayD<T>>> {
    named("to_ndarray_rows", || {
        if tensor.ragged_rank() != 1 {
            let what = format!("one ragged dimension makes rows, but the shape is {}", tensor.shape_text());
            return Err(argument(what));
        }
        let host = tensor.to_host()?;
        let values = T::values(&host.values).unwrap_or_default();
        let array = ArrayViewD::from_shape(IxDyn(&host.inner_shape), values).map_err(|e| argument(e.to_string()))?;
        let splits = host.nested_row_splits[0].windows(2);
        Ok(splits.map(|w| array.slice_axis(Axis(0), (w[0] as usize..w[1] as usize).into()).to_owned()).collect())
    })
}
