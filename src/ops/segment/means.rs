//! Means of segments in a float type of choice.

use super::Aggregate;
use super::gathered::gathered;
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::Result;
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::options::SegmentIds;
use crate::ops::reduce::Averaged;
use crate::tensor::{RaggedTensor, Tensor};

operations! {
    /// Means of segments in a float type of choice.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: Averaged;

    /// The mean of each segment of dense data, for ids in ascending order, in a float dtype of choice.
    ///
    /// `segment_ids` gives the segment of each row. The result has as many rows as the last id plus 1, and the inner
    /// dimensions of the data. A segment without members gives 0; NaN propagates. Sums of integers are exact, in 64 bits or
    /// more, and are rounded once to f32 (f64 for a mean in f64), divided by the count, and rounded to the type of the mean,
    /// so that a mean in f32 needs no f64. Floats are summed in the wider one of their type and that of the
    /// mean, f16 and bf16 in f32.
    ///
    /// # Errors
    /// Ragged data; ids that are not a vector of integers with one id per row, or that descend or are negative; bool or
    /// string values; a dtype that is no float.
    ///
    /// # Cost
    /// One pass over the values, without a sort. The members of a segment are reduced in the canonical order of row
    /// reductions, independent of the other segments, with the same bits on every backend. Waits for the last id;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?.into_erased();
    /// let ids = RaggedTensor::from_nested([0, 2, 2], &Device::cpu())?;
    /// let mean = x.segment_mean_as(DType::F32, &ids)?;
    /// assert_eq!(mean.to_string(), "tensor([1.0, 0.0, 2.5], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn segment_mean_as(&self, dtype: DType, segment_ids: &impl AsRef<Tensor> as tensor) -> {dtype};
    waits "for the number of segments, always";
    gradient yes;
    typed hand;
    row none "a segment spans rows";

    /// The mean of each segment, for ids in any order, in a float dtype of choice.
    ///
    /// `segment_ids` gives the segment of each of the data's outermost elements, or of deeper elements if it has more
    /// dimensions: its shape must be a prefix of the data's shape.
    /// - Dense data, or ids as deep as all ragged dimensions: a dense tensor of `num_segments` results with the remaining
    ///   dimensions of the data. Negative ids belong to no segment.
    /// - Ragged dimensions below the ids: values at the same offset in their rows are combined. A result row is as long as
    ///   the longest row in its segment, and a segment without rows is an empty row.
    ///
    /// A segment of a dense result without members gives 0 for dense data and NaN for ragged data; NaN propagates. Sums of
    /// integers are exact, in 64 bits or more, and are rounded once to f32 (f64 for a mean in f64), divided by the count, and
    /// rounded to the type of the mean, so that a mean in f32 needs no f64. Floats are summed in the wider one
    /// of their type and that of the mean, f16 and bf16 in f32.
    ///
    /// # Errors
    /// A negative `num_segments`; ids that are not integers, or whose shape is not a prefix of the data's; bool or string
    /// values; a dtype that is no float. At the read: ids that are not below `num_segments`, or
    /// negative ids of ragged rows.
    ///
    /// # Cost
    /// Up to 512 numbers in a result without ragged dimensions cost no sort: one pass over the values and the ids, and one
    /// more over the ids, which counts the members. The members of a result are added in flat order within each 2048
    /// consecutive values, then the sums of these tiles. Larger results cost a stable sort of the ids, one more sort of
    /// positions per ragged dimension below, and one pass over the values; the members are added in the canonical order of
    /// row reductions. Either gives the same bits on every backend, without a wait.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3], vec![4, 5]], &device)?.into_erased();
    /// let ids = RaggedTensor::from_nested([1, 0, 1], &device)?;
    /// let mean = x.unsorted_segment_mean_as(DType::F32, &ids, 2)?;
    /// assert_eq!(mean.to_string(), "<ragged.RaggedTensor [[3.0], [2.5, 3.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unsorted_segment_mean_as(
        &self,
        dtype: DType,
        segment_ids: &impl AsRef<Tensor> as tensor,
        num_segments: impl Integer as integer,
    ) -> {dtype};
    gradient yes;
    typed hand;
    row none "a segment spans rows";

    /// The mean of each segment of gathered rows, those of a dense tensor that `indices` names, in a float dtype of
    /// choice.
    ///
    /// Indices, ids, shapes and the order of the values are those of [`Tensor::sparse_segment_mean`], the numbers those
    /// of [`Tensor::reduce_mean_as`]: exact sums of integers, also where a GPU emulates f64. A segment without rows gives
    /// 0.
    ///
    /// # Errors
    /// A dtype that is no float; ragged data; indices or ids that are not vectors of integers of one length; a negative number of
    /// segments; bool or string values. At the read: ids that descend, are negative or not below the number of
    /// segments; indices out of range.
    ///
    /// # Cost
    /// One pass over the gathered rows, which are not stored. Waits for the last id without `with_nrows`;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::opt::with_nrows;
    /// use ragged::{DType, Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([1, 2, 4], &device)?.into_erased();
    /// let indices = RaggedTensor::from_nested([0, 1, 2], &device)?;
    /// let ids = RaggedTensor::from_nested([0, 0, 1], &device)?;
    /// let mean = x.sparse_segment_mean_as(DType::F32, &indices, with_nrows(&ids, 3))?;
    /// assert_eq!(mean.to_string(), "tensor([1.5, 4.0, 0.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn sparse_segment_mean_as<'a>(
        &self,
        dtype: DType,
        indices: &impl AsRef<Tensor> as tensor,
        segment_ids: impl Into<SegmentIds<'a>> as SegmentIds,
    ) -> {dtype};
    waits "without `with_nrows`: for the number of segments";
    gradient yes;
    typed hand;
    row none "a segment spans rows";
}

#[track_caller]
fn sparse_segment_mean_as<'a>(
    x: &Tensor,
    dtype: DType,
    indices: &impl AsRef<Tensor>,
    segment_ids: impl Into<SegmentIds<'a>>,
) -> Result<Tensor> {
    let rec = x.recorder("sparse_segment_mean_as");
    gathered(rec, x, indices.as_ref(), segment_ids.into(), Aggregate::MeanAs(dtype))
}

#[track_caller]
fn segment_mean_as(x: &Tensor, dtype: DType, segment_ids: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.sorted_segments(x.recorder("segment_mean_as"), segment_ids.as_ref(), None, Aggregate::MeanAs(dtype))
}

#[track_caller]
fn unsorted_segment_mean_as(
    x: &Tensor,
    dtype: DType,
    segment_ids: &impl AsRef<Tensor>,
    num_segments: impl Integer,
) -> Result<Tensor> {
    let num_segments = num_segments.saturating_i64();
    x.unsorted_segments(
        x.recorder("unsorted_segment_mean_as"),
        segment_ids.as_ref(),
        num_segments,
        Aggregate::MeanAs(dtype),
    )
}

/// Means of segments in a float type of choice.
impl<T: Averaged> RaggedTensor<T> {
    /// The mean of each segment of dense data, for ids in ascending order, in the float type `F`.
    ///
    /// `segment_ids` gives the segment of each row. The result has as many rows as the last id plus 1, and the inner
    /// dimensions of the data. A segment without members gives 0; NaN propagates. Sums of integers are exact, in 64 bits or
    /// more, and are rounded once to f32 (f64 for a mean in f64), divided by the count, and rounded to the type of the mean,
    /// so that a mean in f32 needs no f64. Floats are summed in the wider one of their type and that of the
    /// mean, f16 and bf16 in f32.
    ///
    /// # Errors
    /// Ragged data; ids that are not a vector of integers with one id per row, or that descend or are negative; f64 on a
    /// device without it.
    ///
    /// # Cost
    /// One pass over the values, without a sort. The members of a segment are reduced in the canonical order of row
    /// reductions, independent of the other segments, with the same bits on every backend. Waits for the last id;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([0, 2, 2], &Device::cpu())?;
    /// assert_eq!(x.segment_mean_as::<f32>(&ids)?.to_vec()?, [1.0, 0.0, 2.5]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn segment_mean_as<F: FloatElement>(&self, segment_ids: &impl AsRef<Tensor>) -> Result<RaggedTensor<F>> {
        RaggedTensor::try_from(self.erased().segment_mean_as(F::DTYPE, segment_ids)?)
    }

    /// The mean of each segment, for ids in any order, in the float type `F`.
    ///
    /// `segment_ids` gives the segment of each of the data's outermost elements, or of deeper elements if it has more
    /// dimensions: its shape must be a prefix of the data's shape.
    /// - Dense data, or ids as deep as all ragged dimensions: a dense tensor of `num_segments` results with the remaining
    ///   dimensions of the data. Negative ids belong to no segment.
    /// - Ragged dimensions below the ids: values at the same offset in their rows are combined. A result row is as long as
    ///   the longest row in its segment, and a segment without rows is an empty row.
    ///
    /// A segment of a dense result without members gives 0 for dense data and NaN for ragged data; NaN propagates. Sums of
    /// integers are exact, in 64 bits or more, and are rounded once to f32 (f64 for a mean in f64), divided by the count, and
    /// rounded to the type of the mean, so that a mean in f32 needs no f64. Floats are summed in the wider one
    /// of their type and that of the mean, f16 and bf16 in f32.
    ///
    /// # Errors
    /// A negative `num_segments`; ids that are not integers, or whose shape is not a prefix of the data's. At the read:
    /// ids that are not below `num_segments`, or negative ids of ragged rows.
    ///
    /// # Cost
    /// Up to 512 numbers in a result without ragged dimensions cost no sort: one pass over the values and the ids, and one
    /// more over the ids, which counts the members. The members of a result are added in flat order within each 2048
    /// consecutive values, then the sums of these tiles. Larger results cost a stable sort of the ids, one more sort of
    /// positions per ragged dimension below, and one pass over the values; the members are added in the canonical order of
    /// row reductions. Either gives the same bits on every backend, without a wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![3], vec![4, 5]], &Device::cpu())?;
    /// let ids = RaggedTensor::from_nested([1, 0, 1], &Device::cpu())?;
    /// let mean = x.unsorted_segment_mean_as::<f32>(&ids, 2)?;
    /// assert_eq!(mean.to_string(), "<ragged.RaggedTensor [[3.0], [2.5, 3.5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn unsorted_segment_mean_as<F: FloatElement>(
        &self,
        segment_ids: &impl AsRef<Tensor>,
        num_segments: impl Integer,
    ) -> Result<RaggedTensor<F>> {
        RaggedTensor::try_from(self.erased().unsorted_segment_mean_as(F::DTYPE, segment_ids, num_segments)?)
    }

    /// The mean of each segment of gathered rows, those of a dense tensor that `indices` names, in the float type `F`.
    ///
    /// Indices, ids, shapes and the order of the values are those of
    /// [`sparse_segment_mean`](Self::sparse_segment_mean), the numbers those of
    /// [`reduce_mean_as`](Self::reduce_mean_as): exact sums of integers, also where a GPU emulates f64. A segment without
    /// rows gives 0.
    ///
    /// # Errors
    /// Ragged data; indices or ids that are not vectors of integers of one length; a negative number of
    /// segments. At the read: ids that descend, are negative or not below the number of
    /// segments; indices out of range.
    ///
    /// # Cost
    /// One pass over the gathered rows, which are not stored. Waits for the last id without `with_nrows`;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::opt::with_nrows;
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([1, 2, 4], &device)?;
    /// let indices = RaggedTensor::from_nested([0, 1, 2], &device)?;
    /// let ids = RaggedTensor::from_nested([0, 0, 1], &device)?;
    /// let mean = x.sparse_segment_mean_as::<f32>(&indices, with_nrows(&ids, 3))?;
    /// assert_eq!(mean.to_vec()?, [1.5, 4.0, 0.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sparse_segment_mean_as<'a, F: FloatElement>(
        &self,
        indices: &impl AsRef<Tensor>,
        segment_ids: impl Into<SegmentIds<'a>>,
    ) -> Result<RaggedTensor<F>> {
        RaggedTensor::try_from(self.erased().sparse_segment_mean_as(F::DTYPE, indices, segment_ids)?)
    }
}
