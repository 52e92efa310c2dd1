//! Fills empty rows with a default element.

use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::operations;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::operand::Operand;
use crate::shape::RowPartition;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

operations! {
    /// Default elements of empty rows.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// Fills every empty row with one default element, and tells which rows were empty.
    ///
    /// The rows are those of the innermost partition; all numbers of a new element are `default`. The dtype stays. The
    /// second result is a bool tensor with the partitions above; it is dense if the tensor has one partition.
    ///
    /// # Errors
    /// A dense tensor; a default of another dtype, on another device, or of rank 1 or more; 2^32 - 1 values or more.
    ///
    /// # Cost
    /// A scan over the rows and a map over the values. Waits only for the size of a string that only the device has;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let (filled, empty) = x.fill_empty_rows(-1)?;
    /// assert_eq!(filled.to_string(), "<ragged.RaggedTensor [[1, 2], [-1], [3]]>");
    /// assert_eq!(empty.to_vec()?, [false, true, false]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn fill_empty_rows<'a>(&self, default: impl IntoOperandOf<'a, T> as operand) -> (T, bool);
    alias "fill_none";
    tensorflow "tf.raw_ops.RaggedFillEmptyRows";
    waits "for the size of a default string that only the device has";
    gradient yes;
    row hand;
}

#[track_caller]
fn fill_empty_rows<'a>(x: &Tensor, default: impl IntoOperand<'a>) -> Result<(Tensor, Tensor)> {
    const OP: &str = "fill_empty_rows";
    let (default, backend) = (default.into().of_dtype(OP, x.dtype())?, x.backend());
    let rec = Recorder::new(backend, OP);
    let Some((rows, above)) = x.partitions().split_last() else {
        return Err(rec.argument("a dense tensor has no rows that could be empty"));
    };
    let (value, longest) = match &default {
        Operand::Value(value) => {
            let bytes = if let Fill::String(s) = value { s.len() as u64 } else { 0 };
            (Pick::Fill(value.clone()), bytes)
        }
        Operand::Tensor(t) => {
            Device::check_same(OP, backend, t.backend())?;
            if t.rank() > 0 {
                let what = format!("the default must be a scalar, but its shape is {}", t.shape_text());
                return Err(rec.argument(what));
            }
            (Pick::From(t.values_ref(), Expr::u32(0)), t.values_ref().bytes_capacity())
        }
    };
    let (nrows, one) = (rows.nrows_extent(), Expr::u32(1));
    // At most one new element per row. The partition stays where no row is empty.
    let most = rec.plus(rows.nvals_extent(), nrows)?;
    let length = rows.length(Expr::index()).max(one.clone());
    let lengths = rows.known_lengths().map(|(least, most)| (least.max(1), most.max(1)));
    let full = lengths.is_some_and(|_| rows.known_lengths().is_some_and(|(least, _)| least > 0));
    let filled = match rows.uniform_size() {
        Some(len) => RowPartition::uniform(len.max(1), nrows.clone())?,
        None if full => rows.clone(),
        None => rec.rows_of_lengths(nrows, length, most.size())?.with_lengths(lengths),
    };
    let width = Expr::size(&x.width_size().max(1));
    let (element, number) = (Expr::index().div(width.clone()), Expr::index().rem(width));
    let (row, offset) = (filled.row_of(element.clone()), filled.offset_of(element));
    let there = offset.clone().lt(rows.length(row.clone()));
    let own = Pick::From(x.values_ref(), x.flat(rows.within(row, offset), number));
    let outer = filled.nvals_extent().clone();
    let count = rec.times_size(&outer, &x.width_size())?;
    let new = u64::from(nrows.capacity()) * u64::from(x.width()) * longest;
    let bytes = x.values_ref().bytes_capacity().saturating_add(new);
    let bound = BytesBound::at_most(bytes);
    let values = rec.rearranged(&count, &Pick::either(there, own, value), bound, &[])?;
    let parts = above.iter().cloned().chain([filled]).collect();
    let out = rec.tensor(parts, Some(outer), x.inner().clone(), values)?;
    let empty = rows.length(Expr::index()).eq(Expr::u32(0));
    let empty = Values::Numbers(rec.map(nrows.clone(), empty, &[]));
    Ok((out, rec.tensor(above.to_vec(), Some(nrows.clone()), [], empty)?))
}
