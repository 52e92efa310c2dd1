//! Aggregates of gathered rows by ascending segment ids.

use super::Aggregate;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::options::SegmentIds;
use crate::ops::reduce::Averaged;
use crate::tensor::Tensor;

/// Declares the aggregates of gathered rows, whose pages differ in a sentence and whose functions in the aggregate.
macro_rules! gathered {
    ($($name:ident, $tensorflow:literal, $what:ident => $result:tt, $lead:literal, $dtype:literal, $want:literal;)*) => {
        operations! {
            /// Sums and means of segments of gathered rows.
            const GATHERED: family "Products and segments" on RaggedTensor<T> where T: Averaged;

            $(
                #[doc = concat!($lead, " of gathered rows: those of a dense tensor that `indices` names.")]
                ///
                /// Segment `s` aggregates the rows `indices[k]` with `segment_ids[k] == s`; the ids ascend from 0 or
                /// more. The result has as many rows as the last id plus 1, or as
                /// [`with_nrows`](crate::opt::with_nrows)`(&ids, n)` says. A segment without rows gives 0.
                #[doc = $dtype]
                ///
                /// # Errors
                /// Ragged data; indices or ids that are not vectors of integers of one length; a negative number of
                /// segments; bool or string values. At the read: ids that descend, are negative or not below the number
                /// of segments; indices out of range.
                ///
                /// # Cost
                /// Sums follow the order of the indices, in the canonical order of row reductions: the same bits on
                /// every backend. The gathered rows are not stored: one pass over them. Waits for the last id without
                /// `with_nrows`; [`record_async`](crate::record_async) awaits it.
                ///
                /// ```
                /// use ragged::opt::with_nrows;
                /// use ragged::{Device, RaggedTensor};
                /// let device = Device::cpu();
                /// let x = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &device)?;
                /// let indices = RaggedTensor::from_nested([0, 2, 1], &device)?;
                /// let ids = RaggedTensor::from_nested([0, 0, 1], &device)?;
                #[doc = concat!("let y = x.", stringify!($name), "(&indices, with_nrows(&ids, 3))?;")]
                #[doc = concat!("assert_eq!(y.to_string(), \"tensor(", $want, ", shape=(3, 2), dtype=f32)\");")]
                /// # Ok::<(), ragged::Error>(())
                /// ```
                fn $name<'a>(&self, indices: &impl AsRef<Tensor> as tensor, segment_ids: impl Into<SegmentIds<'a>> as SegmentIds) -> $result;
                tensorflow $tensorflow;
                waits "without `with_nrows`: for the number of segments";
                gradient yes;
                row none "a segment spans rows";
            )*
        }
        $(
            #[track_caller]
            fn $name<'a>(
                x: &Tensor,
                indices: &impl AsRef<Tensor>,
                segment_ids: impl Into<SegmentIds<'a>>,
            ) -> Result<Tensor> {
                let rec = x.recorder(stringify!($name));
                gathered(rec, x, indices.as_ref(), segment_ids.into(), Aggregate::$what)
            }
        )*
    };
}

/// The aggregates of the rows of `x` at `indices`.
#[track_caller]
pub(super) fn gathered(
    rec: Recorder<'_>,
    x: &Tensor,
    indices: &Tensor,
    SegmentIds { ids, num_segments }: SegmentIds<'_>,
    aggregate: Aggregate,
) -> Result<Tensor> {
    if indices.rank() != 1 {
        return Err(rec.argument(format!("indices must be a vector, but have the shape {}", indices.shape_text())));
    }
    let rows = x.gather(indices).map_err(|e| e.of(rec.op))?;
    rows.sorted_segments(rec, ids, num_segments, aggregate)
}

gathered! {
    sparse_segment_sum, "tf.sparse.segment_sum", Sum => T, "The sum of each segment", "Same dtype; integers wrap.",
        "[[6.0, 8.0], [3.0, 4.0], [0.0, 0.0]]";
    sparse_segment_mean, "tf.sparse.segment_mean", Mean => (T::Mean), "The mean of each segment",
        "Floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64.",
        "[[3.0, 4.0], [3.0, 4.0], [0.0, 0.0]]";
    sparse_segment_sqrt_n, "tf.sparse.segment_sqrt_n", SqrtN => (T::Mean),
        "The sum, divided by the square root of the number of rows, of each segment",
        "Floats keep their dtype, integers of 8 and 16 bits give f32, wider ones f64.",
        "[[4.242641, 5.656854], [3.0, 4.0], [0.0, 0.0]]";
}
