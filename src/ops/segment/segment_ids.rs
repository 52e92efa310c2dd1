//! Conversions between row splits and segment ids, both as tensors.

use crate::dtype::DType;
use crate::element::IntegerElement;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::operations;
use crate::shape::Encoding;
use crate::tensor::{Making, Tensor, Trust, Values, clamped_to, counts_below, encoded, is_not_negative};

operations! {
    /// Conversions between row splits and segment ids.
    const OPERATIONS: family "Parts, sizes and copies" on RaggedTensor<T> where T: IntegerElement;

    /// The segment id of each value, from the row splits in this tensor.
    ///
    /// An i64 vector of as many ids as the last split says: ids of segments without values do not occur.
    ///
    /// # Errors
    /// Not a dense tensor of integers of rank 1; a tensor without splits. At the read: splits that do not start at
    /// 0 or that decrease.
    ///
    /// # Cost
    /// One prefix sum and one map. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let splits = RaggedTensor::from_nested([0i64, 2, 2, 3], &Device::cpu())?;
    /// assert_eq!(splits.row_splits_to_segment_ids()?.to_string(), "tensor([0, 0, 2], shape=(3,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn row_splits_to_segment_ids(&self) -> i64;
    tensorflow "tf.ragged.row_splits_to_segment_ids";
    gradient none "it takes integers";
    row none "ids and splits are those of all rows";

    /// Row splits of the segments, from the segment ids in this tensor.
    ///
    /// An i64 vector with one entry more than there are segments, whose number is the greatest id plus 1; a segment
    /// without ids has equal splits. Ids need not ascend. They are counted as if sorted: `[2, 0, 1, 0]` gives
    /// `[0, 2, 3, 4]`.
    ///
    /// # Errors
    /// Not a dense tensor of integers of rank 1; at the read, a negative id.
    ///
    /// # Cost
    /// A stable sort and a map. Waits for the number of segments; [`record_async`](crate::record_async) awaits it, and
    /// [`segment_ids_to_row_splits_of`](Tensor::segment_ids_to_row_splits_of) takes it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let ids = RaggedTensor::from_nested([0i64, 0, 2], &Device::cpu())?;
    /// let splits = ids.segment_ids_to_row_splits()?;
    /// assert_eq!(splits.to_string(), "tensor([0, 2, 2, 3], shape=(4,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn segment_ids_to_row_splits(&self) -> i64;
    tensorflow "tf.ragged.segment_ids_to_row_splits";
    waits "for the number of segments";
    gradient none "it takes integers";
    row none "ids and splits are those of all rows";

    /// Row splits of `num_segments` segments, from the segment ids in this tensor.
    ///
    /// An i64 vector of `num_segments + 1` entries; a segment without ids has equal splits. Ids of `num_segments` or
    /// more are ignored. Ids need not ascend: they are counted as if sorted.
    ///
    /// # Errors
    /// Not a dense tensor of integers of rank 1; a negative `num_segments`; at the read, a negative id.
    ///
    /// # Cost
    /// A stable sort and a map. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let ids = RaggedTensor::from_nested([0, 0, 2], &Device::cpu())?;
    /// assert_eq!(ids.segment_ids_to_row_splits_of(4)?.to_string(), "tensor([0, 2, 2, 3, 3], shape=(5,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn segment_ids_to_row_splits_of(&self, num_segments: impl Integer as integer) -> i64;
    tensorflow "tf.ragged.segment_ids_to_row_splits(…, num_segments)";
    gradient none "it takes integers";
    row none "ids and splits are those of all rows";
}

#[track_caller]
fn row_splits_to_segment_ids(x: &Tensor) -> Result<Tensor> {
    let m = Making::new(x.backend(), "row_splits_to_segment_ids", Trust::Check);
    encoded(m, Encoding::Splits, x.into(), None)?.value_rowids_on(x.backend())
}

#[track_caller]
fn segment_ids_to_row_splits(x: &Tensor) -> Result<Tensor> {
    x.splits_of_segment_ids("segment_ids_to_row_splits", None)
}

#[track_caller]
fn segment_ids_to_row_splits_of(x: &Tensor, num_segments: impl Integer) -> Result<Tensor> {
    x.splits_of_segment_ids("segment_ids_to_row_splits_of", Some(num_segments.saturating_i64()))
}

impl Tensor {
    #[track_caller]
    fn splits_of_segment_ids(&self, op: &'static str, num_segments: Option<i64>) -> Result<Self> {
        /// Clamp for ids: beyond every segment, below the sentinel of the search.
        const MOST: u32 = u32::MAX - 3;
        let (1, 0, Some(count)) = (self.rank(), self.ragged_rank(), self.outer()) else {
            let what = format!("ids must be dense of rank 1, but their shape is {}", self.shape_text());
            return Err(Error::argument(op, what));
        };
        let id = Expr::load(&self.index_node(op, "ids")?, Expr::index());
        let (backend, not_negative) = (self.backend(), is_not_negative(&id));
        let rec = Recorder::new(backend, op);
        let key = clamped_to(id, Expr::u32(MOST));
        let check = rec.check("segment ids must not be negative");
        let asserts = [rec.assert(count.clone(), not_negative, check)];
        let order = rec.sort(count.clone(), key.clone(), u32::BITS);
        let sorted = |at: Expr| key.at(&Expr::load(&order, at));
        let segments = match num_segments {
            Some(n) if n < 0 => {
                return Err(rec.argument(format!("num_segments must not be negative, but is {n}")));
            }
            Some(n) => rec.given(n as u64)?,
            None if count.capacity() == 0 => Extent::known(0),
            None => {
                let greatest = sorted(count.expr().sub(Expr::u32(1))).add(Expr::u32(1));
                let none = count.expr().eq(Expr::u32(0));
                Extent::given(rec.read(none.select(Expr::u32(0), greatest))?)
            }
        };
        let below = counts_below(rec, count, sorted)?;
        let entries = rec.plus(&segments, &Extent::known(1))?;
        let splits = rec.map(entries.clone(), Expr::row_of(&below, Expr::index()).cast(DType::I64), &asserts);
        Self::new(backend, Vec::new(), Some(entries), [], Values::Numbers(splits))
    }
}
