//! Means of segments in a float type of choice.

use super::Aggregate;
use super::gathered::gathered;
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::Result;
use crate::graph::recorder::Recorder;
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
    /// Ids, shapes and the order of the values are those of [`Tensor::segment_mean`], the numbers those of
    /// [`Tensor::reduce_mean_as`]: exact sums of integers, also where a GPU has no f64. A segment without members gives
    /// 0.
    ///
    /// # Errors
    /// A dtype that is no float; as [`Tensor::segment_mean`].
    ///
    /// # Cost
    /// As [`Tensor::segment_mean`]: one pass over the values, and a wait for the last id.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?.into_erased();
    /// let ids = RaggedTensor::from_nested([0, 2, 2], &Device::cpu())?;
    /// let mean = x.segment_mean_as(DType::F32, &ids)?;
    /// assert_eq!(mean.to_string(), "tensor([1.0, 0.0, 2.5], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn segment_mean_as(&self, dtype: DType, segment_ids: &impl AsRef<Tensor>) -> {dtype};
    waits "for the number of segments, always";
    gradient yes;
    typed hand;
    row none "a segment spans rows";

    /// The mean of each segment, for ids in any order, in a float dtype of choice.
    ///
    /// Ids, shapes and the order of the values are those of [`Tensor::unsorted_segment_mean`], the numbers those of
    /// [`Tensor::reduce_mean_as`]: exact sums of integers, also where a GPU has no f64. A segment of a dense result
    /// without members gives 0 for dense data and NaN for ragged data.
    ///
    /// # Errors
    /// A dtype that is no float; as [`Tensor::unsorted_segment_mean`].
    ///
    /// # Cost
    /// As [`Tensor::unsorted_segment_mean`], without a wait.
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
        segment_ids: &impl AsRef<Tensor>,
        num_segments: impl Integer,
    ) -> {dtype};
    gradient yes;
    typed hand;
    row none "a segment spans rows";

    /// The mean of each segment of gathered rows, those of a dense tensor that `indices` names, in a float dtype of
    /// choice.
    ///
    /// Indices, ids, shapes and the order of the values are those of [`Tensor::sparse_segment_mean`], the numbers those
    /// of [`Tensor::reduce_mean_as`]: exact sums of integers, also where a GPU has no f64. A segment without rows gives
    /// 0.
    ///
    /// # Errors
    /// A dtype that is no float; as [`Tensor::sparse_segment_mean`].
    ///
    /// # Cost
    /// As [`Tensor::sparse_segment_mean`]: one pass over the gathered rows, which are not stored.
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
        indices: &impl AsRef<Tensor>,
        segment_ids: impl Into<SegmentIds<'a>>,
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
    let rec = Recorder::new(x.backend(), "sparse_segment_mean_as");
    gathered(rec, x, indices.as_ref(), segment_ids.into(), Aggregate::MeanAs(dtype))
}

#[track_caller]
fn segment_mean_as(x: &Tensor, dtype: DType, segment_ids: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.sorted_segments(
        Recorder::new(x.backend(), "segment_mean_as"),
        segment_ids.as_ref(),
        None,
        Aggregate::MeanAs(dtype),
    )
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
        Recorder::new(x.backend(), "unsorted_segment_mean_as"),
        segment_ids.as_ref(),
        num_segments,
        Aggregate::MeanAs(dtype),
    )
}

/// Means of segments in a float type of choice.
impl<T: Averaged> RaggedTensor<T> {
    /// The mean of each segment of dense data, for ids in ascending order, in the float type `F`.
    ///
    /// Ids, shapes and the order of the values are those of [`segment_mean`](Self::segment_mean), the numbers those of
    /// [`reduce_mean_as`](Self::reduce_mean_as): exact sums of integers, also where a GPU has no f64. A segment without
    /// members gives 0.
    ///
    /// # Errors
    /// As [`segment_mean`](Self::segment_mean).
    ///
    /// # Cost
    /// As [`segment_mean`](Self::segment_mean): one pass over the values, and a wait for the last id.
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
    /// Ids, shapes and the order of the values are those of [`unsorted_segment_mean`](Self::unsorted_segment_mean), the
    /// numbers those of [`reduce_mean_as`](Self::reduce_mean_as): exact sums of integers, also where a GPU has no f64.
    /// A segment of a dense result without members gives 0 for dense data and NaN for ragged data.
    ///
    /// # Errors
    /// As [`unsorted_segment_mean`](Self::unsorted_segment_mean).
    ///
    /// # Cost
    /// As [`unsorted_segment_mean`](Self::unsorted_segment_mean), without a wait.
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
    /// [`reduce_mean_as`](Self::reduce_mean_as): exact sums of integers, also where a GPU has no f64. A segment without
    /// rows gives 0.
    ///
    /// # Errors
    /// As [`sparse_segment_mean`](Self::sparse_segment_mean).
    ///
    /// # Cost
    /// As [`sparse_segment_mean`](Self::sparse_segment_mean): one pass over the gathered rows, which are not stored.
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
