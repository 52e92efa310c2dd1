//! Sums, products, extremes and means of segments.

use super::Aggregate;
use crate::element::Arithmetic;
use crate::error::Result;
use crate::integer::Integer;
use crate::ops::reduce::Averaged;
use crate::tensor::{RaggedTensor, Tensor};

/// Defines the unsorted aggregates, with their shared documentation.
macro_rules! unsorted {
    ($(
        $name:ident, $what:ident, $bound:ident, $out:ty, $tf:literal, $lead:literal, $none:literal, $ids:literal,
        $want:expr;
    )*) => {
        impl Tensor {$(
            #[doc = concat!($lead, " (`tf.math.", $tf, "`).")]
            ///
            /// `segment_ids` gives the segment of each of the data's outermost elements, or of deeper elements if it
            /// has more dimensions: its shape must be a prefix of the data's shape. Ids may come in any order.
            /// - Dense data, or ids as deep as all ragged dimensions: a dense tensor of `num_segments` results with the
            ///   remaining dimensions of the data. Negative ids belong to no segment.
            /// - Ragged dimensions below the ids: values at the same offset in their rows are combined. A result row is
            ///   as long as the longest row in its segment, and a segment without rows is an empty row.
            ///
            #[doc = $none]
            ///
            /// Up to 512 numbers in a result without ragged dimensions cost no sort: one pass over the values and the
            /// ids, and for means and roots one more over the ids, which counts the members. The members of a result
            /// are reduced in flat order within each 2048 consecutive values, then the results of these tiles. Larger
            /// results cost a stable sort of the ids, one more sort of positions per ragged dimension below, and one
            /// pass over the values; the members are reduced in flat order, in the canonical order of row reductions,
            /// independent of the other segments. Either gives the same bits on every backend, without a wait.
            ///
            /// # Errors
            /// A negative `num_segments`; ids that are not integers, or whose shape is not a prefix of the data's; bool
            /// or string values. At the read: ids that are not below `num_segments`, or negative ids of ragged rows.
            ///
            /// ```
            /// # fn main() -> ragged::Result<()> {
            /// use ragged::{Device, HostTensor, HostValues};
            /// let x = HostTensor {
            ///     nested_row_splits: vec![vec![0, 2, 3, 5]],
            ///     uniform_row_lengths: vec![None],
            ///     inner_shape: vec![5],
            ///     values: HostValues::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
            /// };
            /// let x = x.to_device(&Device::cpu())?;
            #[doc = concat!("let ids = HostTensor::dense(&[3], HostValues::I64(", $ids, "));")]
            /// let ids = ids.to_device(&Device::cpu())?;
            #[doc = concat!("let y = x.", stringify!($name), "(&ids, 2)?.to_host()?;")]
            #[doc = concat!("assert_eq!((y.nested_row_splits, y.values), ", $want, ");")]
            /// # Ok(())
            /// # }
            /// ```
            #[track_caller]
            pub fn $name(&self, segment_ids: &impl AsRef<Self>, num_segments: impl Integer) -> Result<Self> {
                let num_segments = num_segments.saturating_i64();
                self.unsorted_segments(stringify!($name), segment_ids.as_ref(), num_segments, Aggregate::$what)
            }
        )*}
        $(impl<T: $bound> RaggedTensor<T> {
            #[doc = concat!("[`Tensor::", stringify!($name), "`] of typed values.")]
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name(&self, segment_ids: &impl AsRef<Tensor>, num_segments: impl Integer) -> Result<RaggedTensor<$out>> {
                self.erased().$name(segment_ids, num_segments)?.try_into()
            }
        })*
    };
}
unsorted! {
    unsorted_segment_sum, Sum, Arithmetic, T, "unsorted_segment_sum", "The sum of each segment",
        "Same dtype; integers wrap. 0 for a segment of a dense result that has no members.", "vec![1, 0, 1]",
        "(vec![vec![0, 1, 3]], HostValues::F32(vec![3.0, 5.0, 7.0]))";
    unsorted_segment_prod, Prod, Arithmetic, T, "unsorted_segment_prod", "The product of each segment",
        "Same dtype; integers wrap. 1 for a segment of a dense result that has no members.", "vec![1, 0, 1]",
        "(vec![vec![0, 1, 3]], HostValues::F32(vec![3.0, 4.0, 10.0]))";
    unsorted_segment_min, Min, Arithmetic, T, "unsorted_segment_min", "The least value of each segment",
        "Same dtype; NaN if any member is (TensorFlow's answer depends on the order of visiting), -0 below +0. The \
         greatest finite value for a segment of a dense result that has no members.", "vec![1, 0, 1]",
        "(vec![vec![0, 1, 3]], HostValues::F32(vec![3.0, 1.0, 2.0]))";
    unsorted_segment_max, Max, Arithmetic, T, "unsorted_segment_max", "The greatest value of each segment",
        "Same dtype; NaN if any member is (TensorFlow's answer depends on the order of visiting), -0 below +0. The \
         least finite value for a segment of a dense result that has no members.", "vec![1, 0, 1]",
        "(vec![vec![0, 1, 3]], HostValues::F32(vec![3.0, 4.0, 5.0]))";
    unsorted_segment_mean, Mean, Averaged, T::Mean, "unsorted_segment_mean", "The mean of each segment",
        "Floats as [`reduce_mean`](Self::reduce_mean) gives; sums of integers are exact. A segment of a dense result \
         that has no members gives 0 for dense data and NaN for ragged data, as in TensorFlow.", "vec![1, 0, 1]",
        "(vec![vec![0, 1, 3]], HostValues::F32(vec![3.0, 2.5, 3.5]))";
    unsorted_segment_sqrt_n, SqrtN, Averaged, T::Mean, "unsorted_segment_sqrt_n",
        "The sum of each segment by the square root of the number of its members",
        "Floats as [`reduce_mean`](Self::reduce_mean) gives; sums of integers are exact. A segment of a dense result \
         that has no members gives 0 for dense data and NaN for ragged data, as in TensorFlow.", "vec![0, 1, 1]",
        "(vec![vec![0, 2, 4]], HostValues::F32(vec![1.0, 2.0, 7.0 / 2f32.sqrt(), 5.0]))";
}

macro_rules! sorted {
    ($($name:ident, $what:ident, $bound:ident, $out:ty, $lead:literal, $none:literal, $want:expr;)*) => {
        impl Tensor {$(
            #[doc = concat!($lead, " of dense data whose segments stand one after the other")]
            #[doc = concat!("(`tf.math.", stringify!($name), "`).")]
            ///
            /// `segment_ids` is a vector that ascends from 0 or more. The number of result rows is the last id plus 1,
            /// which costs a wait; [`record_async`](crate::record_async) awaits it.
            #[doc = $none]
            /// The members of a result are reduced in the canonical order of row reductions, independent of the other
            /// segments, with the same bits on every backend: one pass over the values, without a sort.
            ///
            /// # Errors
            /// Ragged data; ids that are not a vector of integers with one id per row, or that descend or are negative;
            /// bool or string values.
            ///
            /// ```
            /// # fn main() -> ragged::Result<()> {
            /// use ragged::{Device, HostTensor, HostValues};
            /// let x = HostTensor::dense(&[3], HostValues::F32(vec![1.0, 2.0, 3.0])).to_device(&Device::cpu())?;
            /// let ids = HostTensor::dense(&[3], HostValues::I64(vec![0, 2, 2])).to_device(&Device::cpu())?;
            #[doc = concat!("let y = x.", stringify!($name), "(&ids)?.to_host()?;")]
            #[doc = concat!("assert_eq!(y.values, HostValues::F32(", $want, "));")]
            /// # Ok(())
            /// # }
            /// ```
            #[track_caller]
            pub fn $name(&self, segment_ids: &impl AsRef<Self>) -> Result<Self> {
                self.sorted_segments(stringify!($name), segment_ids.as_ref(), None, Aggregate::$what)
            }
        )*}
        $(impl<T: $bound> RaggedTensor<T> {
            #[doc = concat!("[`Tensor::", stringify!($name), "`] of typed values.")]
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name(&self, segment_ids: &impl AsRef<Tensor>) -> Result<RaggedTensor<$out>> {
                self.erased().$name(segment_ids)?.try_into()
            }
        })*
    };
}
sorted! {
    segment_sum, Sum, Arithmetic, T, "The sums of the segments", "Same dtype; 0 without members.",
        "vec![1.0, 0.0, 5.0]";
    segment_prod, Prod, Arithmetic, T, "The products of the segments", "Same dtype; 1 without members.",
        "vec![1.0, 1.0, 6.0]";
    segment_min, Min, Arithmetic, T, "The least values of the segments",
        "Same dtype; 0 without members; NaN if any is.", "vec![1.0, 0.0, 2.0]";
    segment_max, Max, Arithmetic, T, "The greatest values of the segments",
        "Same dtype; 0 without members; NaN if any is.", "vec![1.0, 0.0, 3.0]";
    segment_mean, Mean, Averaged, T::Mean, "The means of the segments",
        "Floats as [`reduce_mean`](Self::reduce_mean) gives; 0 without members.", "vec![1.0, 0.0, 2.5]";
}
