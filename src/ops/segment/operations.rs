//! Sums, products, extremes and means of segments.

use super::Aggregate;
use crate::element::Number;
use crate::error::Result;
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::reduce::Averaged;
use crate::tensor::Tensor;

/// Declares the unsorted aggregates, whose pages differ in two sentences and whose functions in the aggregate.
macro_rules! unsorted {
    ($(
        $name:ident, $what:ident of $of:path => $result:tt, $lead:literal, $none:literal, $ids:literal, $want:literal;
    )*) => {
        operations! {
            /// Sums, products, extremes and means of segments of ids in any order.
            const UNSORTED: family "Products and segments" on RaggedTensor<T> where T: Number;

            $(
                #[doc = concat!($lead, ", for ids in any order.")]
                ///
                /// `segment_ids` gives the segment of each of the data's outermost elements, or of deeper elements if
                /// it has more dimensions: its shape must be a prefix of the data's shape.
                /// - Dense data, or ids as deep as all ragged dimensions: a dense tensor of `num_segments` results with
                ///   the remaining dimensions of the data. Negative ids belong to no segment.
                /// - Ragged dimensions below the ids: values at the same offset in their rows are combined. A result
                ///   row is as long as the longest row in its segment, and a segment without rows is an empty row.
                ///
                #[doc = $none]
                ///
                /// # Errors
                /// A negative `num_segments`; ids that are not integers, or whose shape is not a prefix of the data's;
                /// bool or string values. At the read: ids that are not below `num_segments`, or negative ids of ragged
                /// rows.
                ///
                /// # Cost
                /// Up to 512 numbers in a result without ragged dimensions cost no sort: one pass over the values and
                /// the ids, and for means and roots one more over the ids, which counts the members. The members of a
                /// result are reduced in flat order within each 2048 consecutive values, then the results of these
                /// tiles. Larger results cost a stable sort of the ids, one more sort of positions per ragged dimension
                /// below, and one pass over the values; the members are reduced in flat order, in the canonical order
                /// of row reductions, independent of the other segments. Either gives the same bits on every backend,
                /// without a wait.
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor};
                /// let device = Device::cpu();
                /// let x = RaggedTensor::from_nested([vec![1.0, 2.0], vec![3.0], vec![4.0, 5.0]], &device)?;
                #[doc = concat!("let ids = RaggedTensor::from_nested(", $ids, ", &device)?;")]
                #[doc = concat!("let y = x.", stringify!($name), "(&ids, 2)?;")]
                #[doc = concat!("assert_eq!(y.to_string(), \"<ragged.RaggedTensor ", $want, ">\");")]
                /// # Ok::<(), ragged::Error>(())
                /// ```
                fn $name(
                    &self,
                    segment_ids: &impl AsRef<Tensor> as tensor,
                    num_segments: impl Integer as integer,
                ) -> $result where T: $of;
                tensorflow concat!("tf.math.", stringify!($name));
                gradient yes;
                row none "a segment spans rows";
            )*
        }
        $(
            #[track_caller]
            fn $name(x: &Tensor, segment_ids: &impl AsRef<Tensor>, num_segments: impl Integer) -> Result<Tensor> {
                let num_segments = num_segments.saturating_i64();
                let rec = x.recorder(stringify!($name));
                x.unsorted_segments(rec, segment_ids.as_ref(), num_segments, Aggregate::$what)
            }
        )*
    };
}
unsorted! {
    unsorted_segment_sum, Sum of Averaged => T, "The sum of each segment",
        "Same dtype; integers wrap. 0 for a segment of a dense result that has no members.", "[1, 0, 1]",
        "[[3.0], [5.0, 7.0]]";
    unsorted_segment_prod, Prod of Averaged => T, "The product of each segment",
        "Same dtype; integers wrap. 1 for a segment of a dense result that has no members.", "[1, 0, 1]",
        "[[3.0], [4.0, 10.0]]";
    unsorted_segment_min, Min of Number => T, "The least value of each segment",
        "Same dtype; NaN if any member is (TensorFlow's answer depends on the order), -0 below +0. The \
         greatest finite value for a segment of a dense result that has no members. Of bools: their logical AND, true \
         without members.",
        "[1, 0, 1]", "[[3.0], [1.0, 2.0]]";
    unsorted_segment_max, Max of Number => T, "The greatest value of each segment",
        "Same dtype; NaN if any member is (TensorFlow's answer depends on the order), -0 below +0. The \
         least finite value for a segment of a dense result that has no members. Of bools: their logical OR, false \
         without members.", "[1, 0, 1]", "[[3.0], [4.0, 5.0]]";
    unsorted_segment_mean, Mean of Averaged => (T::Mean), "The mean of each segment",
        "Floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64; sums of integers are exact. A \
         segment of a dense result without members gives 0 for dense data and NaN for ragged data, as in TensorFlow.",
        "[1, 0, 1]", "[[3.0], [2.5, 3.5]]";
    unsorted_segment_sqrt_n, SqrtN of Averaged => (T::Mean), "The sum of each segment divided by the square root of its size",
        "Floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64; sums of integers are exact. A \
         segment of a dense result without members gives 0 for dense data and NaN for ragged data, as in TensorFlow.",
        "[0, 1, 1]", "[[1.0, 2.0], [4.949747468305833, 5.0]]";
}

/// Declares the aggregates of ascending ids, whose pages differ in two sentences and whose functions in the aggregate.
macro_rules! sorted {
    ($($name:ident, $what:ident of $of:path => $result:tt, $lead:literal, $none:literal, $want:literal;)*) => {
        operations! {
            /// Sums, products, extremes and means of segments of ascending ids.
            const SORTED: family "Products and segments" on RaggedTensor<T> where T: Number;

            $(
                #[doc = concat!($lead, " of dense data, for ids in ascending order.")]
                ///
                /// `segment_ids` is a vector with one id per row, which ascends from 0 or more. The result has as many
                /// rows as the last id plus 1, and the inner dimensions of the data.
                #[doc = $none]
                ///
                /// # Errors
                /// Ragged data; ids that are not a vector of integers with one id per row, or that descend or are
                /// negative; bool or string values.
                ///
                /// # Cost
                /// The members of a result are reduced in the canonical order of row reductions, independent of the
                /// other segments, with the same bits on every backend: one pass over the values, without a sort. Waits
                /// for the last id; [`record_async`](crate::record_async) awaits it.
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor};
                /// let x = RaggedTensor::from_nested([1.0f32, 2.0, 3.0], &Device::cpu())?;
                /// let ids = RaggedTensor::from_nested([0, 2, 2], &Device::cpu())?;
                #[doc = concat!("assert_eq!(x.", stringify!($name), "(&ids)?.to_vec()?, ", $want, ");")]
                /// # Ok::<(), ragged::Error>(())
                /// ```
                fn $name(&self, segment_ids: &impl AsRef<Tensor> as tensor) -> $result where T: $of;
                tensorflow concat!("tf.math.", stringify!($name));
                waits "for the number of segments, always";
                gradient yes;
                row none "a segment spans rows";
            )*
        }
        $(
            #[track_caller]
            fn $name(x: &Tensor, segment_ids: &impl AsRef<Tensor>) -> Result<Tensor> {
                x.sorted_segments(x.recorder(stringify!($name)), segment_ids.as_ref(), None, Aggregate::$what)
            }
        )*
    };
}
sorted! {
    segment_sum, Sum of Averaged => T, "The sum of each segment", "Same dtype; integers wrap; 0 without members.",
        "[1.0, 0.0, 5.0]";
    segment_prod, Prod of Averaged => T, "The product of each segment", "Same dtype; integers wrap; 1 without members.",
        "[1.0, 1.0, 6.0]";
    segment_min, Min of Number => T, "The least value of each segment",
        "Same dtype; 0 without members; NaN if any is. Of bools: their logical AND, false without members.",
        "[1.0, 0.0, 2.0]";
    segment_max, Max of Number => T, "The greatest value of each segment",
        "Same dtype; 0 without members; NaN if any is. Of bools: their logical OR, false without members.",
        "[1.0, 0.0, 3.0]";
    segment_mean, Mean of Averaged => (T::Mean), "The mean of each segment",
        "Floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64; 0 without members.",
        "[1.0, 0.0, 2.5]";
}
