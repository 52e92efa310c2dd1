//! Concatenation of strings by segment.

use super::rows_joined::StringRows;
use crate::element::Str;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::segment::Segments;
use crate::record::lines::Lines;
use crate::tensor::Tensor;

operations! {
    /// Concatenation of strings by segment.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Concatenates the strings of each segment, in their order, with `separator` in between.
    ///
    /// `segment_ids` gives the segment of each of the tensor's outermost elements, or of deeper elements if it has more
    /// dimensions: its shape must be a prefix of the tensor's. Ids, shapes and negative ids are those of
    /// [`Tensor::unsorted_segment_sum`]. A segment without strings gives an empty string.
    ///
    /// # Errors
    /// The tensor does not hold strings; a negative `num_segments`; ids that are not integers, or whose shape is not a
    /// prefix of the tensor's. At the read: ids that are not below `num_segments`, or negative ids of ragged rows.
    ///
    /// # Cost
    /// A sort of the ids, a prefix sum over the strings, and a copy of the bytes. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested(["a", "b", "c", "d"], &device)?;
    /// let ids = RaggedTensor::from_nested([0, 2, 0, 2], &device)?;
    /// let joined = x.unsorted_segment_join(&ids, 3, ":")?;
    /// assert_eq!(joined.to_string(), "tensor([b'a:c', b'', b'b:d'], shape=(3,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unsorted_segment_join(&self, segment_ids: &impl AsRef<Tensor> as tensor, num_segments: impl Integer as integer, separator: &str = "") -> Str;
    tensorflow "tf.strings.unsorted_segment_join";
    gradient none "it takes strings";
    row none "a segment spans rows";
}

#[track_caller]
fn unsorted_segment_join(
    x: &Tensor,
    segment_ids: &impl AsRef<Tensor>,
    num_segments: impl Integer,
    separator: &str,
) -> Result<Tensor> {
    const OP: &str = "unsorted_segment_join";
    let strings = x.strings(OP)?;
    let backend = x.backend();
    let rec = Recorder::new(backend, OP);
    let segments = Segments::new(rec, x, segment_ids.as_ref(), num_segments.saturating_i64())?;
    let lines = Lines::of_keys(rec, &segments.keys, segments.inner.iter().product())?;
    let rows = StringRows {
        rows: lines.rows(),
        nrows: lines.nlines(),
        nplaces: lines.count(),
        string: lines.number(),
        skips_leading_empty: true,
        asserts: &segments.asserts,
    };
    let values = rows.joined(rec, strings, separator.as_bytes())?;
    rec.tensor(segments.parts, Some(segments.outer), segments.inner, values)
}
