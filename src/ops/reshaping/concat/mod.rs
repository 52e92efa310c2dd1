//! Concatenation and stacking.
//!
//! Few distinct tensors are joined by selecting between them, so that the result fuses into its consumers. More are
//! appended first: see [`append`].

mod append;
mod join;
mod numbering;
mod pieces;

use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use std::borrow::Borrow;

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, on_behalf};
use crate::ops::operations;
use crate::tensor::{RaggedTensor, Tensor};
pub(crate) use append::{append_values, number_of_operands};
use join::Join;

operations! {
    /// Concatenation and stacking.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Concatenates tensors along an axis.
    ///
    /// Axis 0 appends the rows of the tensors; any other axis joins their k-th rows. All tensors have one dtype and one
    /// rank; dense ones become ragged if any tensor is ragged. Dimensions before `axis` must be equal; ragged
    /// dimensions below may differ. Equal uniform dimensions stay uniform. Dense tensors give a dense result. Empty
    /// rows contribute nothing.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different ranks, dtypes or devices; different numbers of rows, inner
    /// dimensions or row lengths before `axis`, at the read where only the device knows them.
    ///
    /// # Cost
    /// A map over the values and a map over the rows for the splits. More than two distinct tensors, or more than 8,
    /// are appended first: a copy of the values, and a prefix sum per ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![], vec![3]], &device)?;
    /// assert_eq!(Tensor::concat(&[&x, &y], 0)?.to_string(), "<ragged.RaggedTensor [[1, 2], [], [], [3]]>");
    /// assert_eq!(Tensor::concat(&[&x, &y], 1)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn concat(all: &[impl AsRef<Tensor>] as tensors, axis: impl Integer as axis) -> T;
    alias "cat", "concatenate", "append", "hstack", "vstack";
    tensorflow "tf.concat";
    awkward "ak.concatenate";
    polars "pl.concat";
    gradient yes;
    typed hand;
    row hand;

    /// Stacks tensors along a new dimension.
    ///
    /// `axis` is 0 to the rank, or negative. All tensors have one dtype and one rank. Along axis 0 each tensor becomes
    /// a row: the tensors may have different shapes, and the result is ragged. Scalars give a dense vector. Along
    /// another axis the dimensions before it must be equal. Dense tensors along their last two axes give a dense
    /// tensor.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different ranks, dtypes or devices; different numbers of rows, inner
    /// dimensions or row lengths before `axis`, at the read where only the device knows them.
    ///
    /// # Cost
    /// A map over the values and a map over the rows for the splits. More than two distinct tensors, or more than 8,
    /// are appended first: a copy of the values, and a prefix sum per ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([1, 2], &device)?;
    /// let y = RaggedTensor::from_nested([3], &device)?;
    /// assert_eq!(Tensor::stack(&[&x, &y], 0)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn stack(all: &[impl AsRef<Tensor>] as tensors, axis: impl Integer as axis = 0) -> T;
    tensorflow "tf.ragged.stack";
    gradient yes;
    typed hand;
    row hand;
}

#[track_caller]
fn concat(all: &[impl AsRef<Tensor>], axis: impl Integer) -> Result<Tensor> {
    let all: &[&Tensor] = &all.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    Tensor::concatenated(recorder_of("concat", all)?, all, axis.saturating_i64())
}

#[track_caller]
fn stack(all: &[impl AsRef<Tensor>], axis: impl Integer) -> Result<Tensor> {
    let all: &[&Tensor] = &all.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    let rec = recorder_of("stack", all)?;
    let first = check_alike(rec, all)?;
    let axis = axis.saturating_i64();
    let rank = first.rank();
    if axis < -(rank as i64) - 1 || axis > rank as i64 {
        return Err(Error::Axis { op: rec.op, axis, rank: rank + 1, location: rec.location });
    }
    let axis = axis.rem_euclid(rank as i64 + 1) as usize;
    let ragged = match (most_ragged(all), rank) {
        // Results that stay dense, and vectors along axis 0: these need no partition before the new axis brings
        // one.
        (0, 0 | 1) => 0,
        (0, _) if axis + 1 >= rank => 0,
        (ragged, _) => common_ragged_rank(ragged.max(1), axis, rank - 1),
    };
    let deep = all.iter().map(|t| {
        let t = if rank == 0 { (*t).clone() } else { t.inner_to_partitions(ragged - t.ragged_rank())? };
        t.with_new_axis(rec, axis)
    });
    join_all(rec, &on_behalf(|| deep.collect::<Result<Vec<_>>>())?, axis)
}

/// Joins all tensors along `axis`. All must have that axis, one dtype and one number of row partitions.
fn join_all(rec: Recorder<'_>, all: &[Tensor], axis: usize) -> Result<Tensor> {
    if let [one] = all {
        return Ok(one.clone());
    }
    if let Some(join) = Join::new(rec, all)? {
        return join.along(axis);
    }
    Join::of_all(rec, all)?.along_appended(axis)
}

/// The recorder of an operation of all tensors.
///
/// # Errors
/// No tensors.
#[track_caller]
fn recorder_of<'a>(op: &'static str, all: &[&'a Tensor]) -> Result<Recorder<'a>> {
    match all.first() {
        Some(first) => Ok(first.recorder(op)),
        None => Err(Error::argument(op, "there must be at least one tensor")),
    }
}

/// Fails unless the list has a tensor and all tensors have the rank, dtype and device of the first.
pub(crate) fn check_alike<'a>(rec: Recorder<'_>, all: &[&'a Tensor]) -> Result<&'a Tensor> {
    let Some((first, others)) = all.split_first() else {
        return Err(rec.argument("there must be at least one tensor"));
    };
    for other in others {
        rec.at(Device::check_same(rec.op, first.backend(), other.backend()))?;
        if other.dtype() != first.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: first.dtype(), rhs: other.dtype(), location: rec.location });
        }
        if other.rank() != first.rank() {
            let (lhs, rhs) = (first.shape_text(), other.shape_text());
            let what = format!("ranks {} and {} differ", first.rank(), other.rank());
            return Err(Error::Shape { op: rec.op, lhs, rhs, what, location: rec.location });
        }
    }
    Ok(first)
}

/// Number of row partitions that the operands of a join are given, if they have at most `ragged`. As in TensorFlow, the
/// joined dimension becomes ragged, unless it is the innermost dimension `last`.
fn common_ragged_rank(ragged: usize, axis: usize, last: usize) -> usize {
    if ragged > 0 && axis > ragged && axis < last { axis } else { ragged }
}

/// Largest number of row partitions of any tensor.
fn most_ragged(all: &[&Tensor]) -> usize {
    all.iter().map(|t| t.ragged_rank()).max().unwrap_or(0)
}

/// Appends the rows of `y` to the rows of `x`.
pub(crate) fn rows_of_both(rec: Recorder<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let all = [x, y];
    rec.axis(check_alike(rec, &all)?, 0)?;
    let ragged = most_ragged(&all);
    let deep = |t: &Tensor| rec.at(t.inner_to_partitions(ragged - t.ragged_rank()));
    join_all(rec, &[deep(x)?, deep(y)?], 0)
}

impl Tensor {
    /// [`Tensor::concat`], as a part of another operation.
    pub(crate) fn concatenated(rec: Recorder<'_>, all: &[&Self], axis: i64) -> Result<Self> {
        let first = check_alike(rec, all)?;
        let axis = rec.axis(first, axis)?;
        let ragged = common_ragged_rank(most_ragged(all), axis, first.rank() - 1);
        let deep = all.iter().map(|t| t.inner_to_partitions(ragged - t.ragged_rank()));
        let deep = rec.at(deep.collect::<Result<Vec<_>>>())?;
        join_all(rec, &deep, axis)
    }
}

/// Concatenation and stacking.
impl<T: Element> RaggedTensor<T> {
    /// Concatenates tensors of one type along an axis.
    ///
    /// Axis 0 appends the rows of the tensors; any other axis joins their k-th rows. All tensors have one rank; dense
    /// ones become ragged if any tensor is ragged. Dimensions before `axis` must be equal; ragged dimensions below may
    /// differ. Equal uniform dimensions stay uniform. Dense tensors give a dense result. Empty rows contribute nothing.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different ranks or devices; different numbers of rows, inner dimensions or
    /// row lengths before `axis`, at the read where only the device knows them.
    ///
    /// # Cost
    /// A map over the values and a map over the rows for the splits. More than two distinct tensors, or more than 8,
    /// are appended first: a copy of the values, and a prefix sum per ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![], vec![3]], &device)?;
    /// assert_eq!(RaggedTensor::concat(&[&x, &y], 1)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.concat`.
    #[track_caller]
    pub fn concat(all: &[impl Borrow<Self>], axis: impl Integer) -> Result<Self> {
        let all: Vec<&Tensor> = all.iter().map(|t| t.borrow().erased()).collect();
        Tensor::concat(&all, axis)?.try_into()
    }

    /// Stacks tensors of one type along a new dimension.
    ///
    /// `axis` is 0 to the rank, or negative. All tensors have one rank. Along axis 0 each tensor becomes a row: the
    /// tensors may have different shapes, and the result is ragged. Scalars give a dense vector. Along another axis the
    /// dimensions before it must be equal. Dense tensors along their last two axes give a dense tensor.
    ///
    /// # Errors
    /// An empty list; `axis` out of range; different ranks or devices; different numbers of rows, inner dimensions or
    /// row lengths before `axis`, at the read where only the device knows them.
    ///
    /// # Cost
    /// A map over the values and a map over the rows for the splits. More than two distinct tensors, or more than 8,
    /// are appended first: a copy of the values, and a prefix sum per ragged dimension. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([1, 2], &device)?;
    /// let y = RaggedTensor::from_nested([3], &device)?;
    /// assert_eq!(RaggedTensor::stack(&[&x, &y], 0)?.to_string(), "<ragged.RaggedTensor [[1, 2], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ragged.stack`.
    #[track_caller]
    pub fn stack(all: &[impl Borrow<Self>], axis: impl Integer) -> Result<Self> {
        let all: Vec<&Tensor> = all.iter().map(|t| t.borrow().erased()).collect();
        Tensor::stack(&all, axis)?.try_into()
    }
}
