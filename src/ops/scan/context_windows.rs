//! The window of elements around each element of a row.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::integer::{Integer, non_negative};
use crate::ops::operations;
use crate::ops::options::Context;
use crate::ops::scan::row_shift::fill_value;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::axis_rows::AxisRows;
use crate::shape::{RowPartition, width_of};
use crate::tensor::{BytesBound, Fill, Pick, Tensor};

operations! {
    /// Windows around elements.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// The window of elements around each element of a row.
    ///
    /// A window has `size` elements along `axis`, from the element itself on, or from
    /// [`starting_at`](crate::opt::starting_at)`(size, start)` on. `fill` stands where the window leaves the row. A row
    /// of `n` elements has `n` windows, each a new, uniform dimension of `size` after the axis; an empty row has none.
    /// Any dtype, which stays. [`Tensor::sliding_windows`] gives only the windows that lie within the row.
    ///
    /// Paddle's names are `sequence_enumerate`, and the context of `sequence_conv`.
    ///
    /// # Errors
    /// A size below 1; `axis` out of range, or with ragged dimensions below it; a fill value that is not one value of
    /// the dtype; 2^32 values or more.
    ///
    /// # Cost
    /// One map over the result, which fuses into its consumer; strings add a prefix sum. Never waits.
    ///
    /// ```
    /// use ragged::opt::starting_at;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// let pairs = x.context_windows(2, 0, 1)?;
    /// assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[[1, 2], [2, 3], [3, 0]], [], [[4, 0]]]>");
    /// let around = x.context_windows(starting_at(3, -1), 0, 1)?;
    /// assert_eq!(around.reduce_sum(2)?.to_string(), "<ragged.RaggedTensor [[3, 6, 5], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn context_windows<'a>(
        &self,
        context: impl Into<Context> as Context,
        fill: impl IntoOperandOf<'a, T> as operand,
        axis: impl Integer as axis,
    ) -> T;
    alias "sequence_enumerate", "rolling";
    gradient yes;
}

#[track_caller]
fn context_windows<'a>(
    x: &Tensor,
    context: impl Into<Context>,
    fill: impl IntoOperand<'a>,
    axis: impl Integer,
) -> Result<Tensor> {
    let rec = x.recorder("context_windows");
    let fill = fill_value(rec, fill.into(), x.dtype())?;
    x.contexts(rec, context.into(), fill, axis.saturating_i64())
}

impl Tensor {
    /// [`Tensor::context_windows`] of an operation with another name.
    pub(crate) fn contexts(&self, rec: Recorder<'_>, context: Context, fill: Fill, axis: i64) -> Result<Self> {
        let size = rec.known(rec.at(non_negative(rec.op, "the size of the window", context.size))?)?.capacity();
        if size == 0 {
            return Err(rec.argument("the size of the window must be at least 1, but is 0"));
        }
        let along = AxisRows::new(rec, self, axis)?;
        along.check_uniform_elements()?;
        let rows = &along.rows;
        let width = Expr::size(&rec.at(along.elements.numbers_per_row())?);
        let (place, number) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
        let (element, item) = (place.clone().div(Expr::u32(size)), place.rem(Expr::u32(size)));
        let (inside, from) = neighbour(&along, context.start.unwrap_or(0), size, &element, &item);
        let taken = Pick::From(self.values_ref(), from.mul(width).add(number));
        let pick = Pick::either(inside, taken, Pick::Fill(fill));
        let uniform = along.elements.ragged_rank();
        let lengths = along.elements.partitions().iter().filter_map(RowPartition::uniform_size);
        let lengths = lengths.chain(along.elements.inner().sizes()).cloned();
        let inner: Vec<Size> = std::iter::once(size.into()).chain(lengths).collect();
        let outer = rows.nvals_extent();
        let count = rec.times_size(outer, &width_of(&inner))?;
        let values = rec.rearranged(&count, &pick, BytesBound::Unknown, &[])?;
        let windows = rec.tensor(Vec::new(), Some(outer.clone()), inner, values)?;
        let windows = if uniform == 0 { windows } else { rec.at(windows.inner_to_partitions(1 + uniform))? };
        along.with(rows.clone(), &windows)
    }
}

/// Whether the row of `element` has the element `start + item` positions after it, and the position of that element.
fn neighbour(along: &AxisRows<'_>, start: i64, size: u32, element: &Expr, item: &Expr) -> (Expr, Expr) {
    let rows = &along.rows;
    let offset = rows.offset_of(element.clone());
    let rest = |offset: Expr| rows.length(rows.row_of(element.clone())).sub(offset);
    let distance = u32::try_from(start.unsigned_abs()).unwrap_or(u32::MAX);
    let away = Expr::u32(distance);
    if start >= 0 {
        // A distance that leaves every row, so that the sum of distance and item cannot wrap.
        let Some(_) = distance.checked_add(size) else { return (Expr::scalar(false), Expr::u32(0)) };
        let ahead = away.add(item.clone());
        return (ahead.clone().lt(rest(offset)), element.clone().add(ahead));
    }
    let behind = item.clone().lt(away.clone());
    let back = away.clone().sub(item.clone());
    let ahead = item.clone().sub(away);
    let inside = behind.clone().select(back.clone().le(offset.clone()), ahead.clone().lt(rest(offset)));
    (inside, behind.select(element.clone().sub(back), element.clone().add(ahead)))
}
