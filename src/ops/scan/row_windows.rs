//! Sliding windows over rows, and rows padded to a minimum length.

use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::upper_bound;
use crate::graph::size::{RecordedSize, Size};
use crate::integer::{Integer, non_negative};
use crate::ops::IntoOperand;
use crate::ops::operations;
use crate::ops::scan::row_shift::fill_value;
use crate::record::axis_rows::AxisRows;
use crate::record::rows::Repeats;
use crate::shape::{RowPartition, width_of};
use crate::tensor::{BytesBound, Pick, Tensor};

operations! {
    /// Sliding windows and padding of rows.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// All windows of `size` successive elements of each row along `axis`: the n-grams of the row.
    ///
    /// A row of `n` elements has `n - size + 1` windows; a shorter one has none, and becomes an empty row. The windows
    /// take the place of the axis; their elements are a new, uniform dimension after it. Any dtype. For windows at
    /// every `k`-th position, slice the result: `x.sliding_windows(3, 1)?.slice(s![.., ..;2])`.
    ///
    /// # Errors
    /// `size` is not positive, or 2^32 - 1 or more; `axis` out of range. At the read where only the device knows the
    /// sizes: 2^32 values or more.
    ///
    /// # Cost
    /// A prefix sum over the rows, and a map over the windows' values, which fuses into its consumer: windows that are
    /// only reduced are not stored. A prefix sum per ragged dimension below the axis. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3, 4], vec![5], vec![6, 7]], &Device::cpu())?;
    /// let pairs = x.sliding_windows(2, 1)?;
    /// assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[[1, 2], [2, 3], [3, 4]], [], [[6, 7]]]>");
    /// assert_eq!(pairs.reduce_max(2)?.to_string(), "<ragged.RaggedTensor [[2, 3, 4], [], [7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn sliding_windows(&self, size: impl Integer as integer, axis: impl Integer as axis) -> T;
    alias "ngrams", "sliding_window_view", "unfold", "rolling";
    gradient yes;

    /// Each row along `axis` padded at its end with `fill`, to at least `min_length` elements.
    ///
    /// Longer rows stay as they are; no row is cut. Any dtype. Uniform dimensions stay uniform. [`Tensor::to_tensor`]
    /// pads all rows to one length. Awkward pads with `None`, which `ak.fill_none` replaces.
    ///
    /// # Errors
    /// A `min_length` that is negative, or 2^32 - 1 or more; `axis` out of range, or with ragged dimensions below it; a
    /// fill value that is not one value of the dtype. At the read where only the device knows the sizes: 2^32 values or
    /// more.
    ///
    /// # Cost
    /// A prefix sum over the rows, and one map over the result, which fuses into its consumer; strings add a prefix
    /// sum. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// assert_eq!(x.pad_rows(2, 0, 1)?.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [0, 0], [4, 0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn pad_rows<'a>(
        &self,
        min_length: impl Integer as integer,
        fill: impl IntoOperand<'a> as value,
        axis: impl Integer as axis,
    ) -> T;
    alias "pad";
    awkward "ak.pad_none";
    gradient yes;
}

#[track_caller]
fn sliding_windows(x: &Tensor, size: impl Integer, axis: impl Integer) -> Result<Tensor> {
    let rec = x.recorder("sliding_windows");
    let size = rec.known(non_negative(rec.op, "size", size)?)?.capacity();
    if size == 0 {
        return Err(rec.argument("size must be at least 1, but is 0"));
    }
    let along = AxisRows::new(rec, x, axis.saturating_i64())?;
    let (rows, at) = (&along.rows, Expr::index());
    let fewer = Expr::u32(size - 1);
    let length = rows.length(at.clone()).max(fewer.clone()).sub(fewer);
    let lengths = rows.known_lengths().map(|(a, b)| (a.saturating_sub(size - 1), b.saturating_sub(size - 1)));
    let windows = along.resized(length, rows.nvals_extent().size().clone())?.with_lengths(lengths);
    let items = rec.uniform_rows(size, windows.nvals_extent().clone())?;
    let (window, item) = (at.clone().div(Expr::u32(size)), at.rem(Expr::u32(size)));
    let offset = windows.offset_of(window.clone()).add(item);
    let from = rows.within(windows.row_of(window), offset);
    let count = items.nvals_extent().clone();
    let elements = along.elements.take_rows(rec, count, from, Repeats::Maybe, &[])?;
    let are_inner = elements.partitions().is_empty();
    let mut elements = elements.under(items)?;
    if are_inner {
        elements = rec.at(elements.partitions_to_inner(rec.op, 0))?;
    }
    along.with(windows, &elements)
}

#[track_caller]
fn pad_rows<'a>(
    x: &Tensor,
    min_length: impl Integer,
    fill: impl IntoOperand<'a>,
    axis: impl Integer,
) -> Result<Tensor> {
    let rec = x.recorder("pad_rows");
    let least = rec.known(non_negative(rec.op, "min_length", min_length)?)?.capacity();
    let fill = fill_value(rec, fill.into(), x.dtype())?;
    let along = AxisRows::new(rec, x, axis.saturating_i64())?;
    along.check_uniform_elements()?;
    let (rows, at) = (&along.rows, Expr::index());
    let length = rows.length(at.clone()).max(Expr::u32(least));
    let most = rows.nrows_extent().size().mul(least).add(rows.nvals_extent().size());
    let padded = along.resized(length, most.min(upper_bound(u64::MAX)))?;
    let padded = padded.with_lengths(rows.known_lengths().map(|(a, b)| (a.max(least), b.max(least))));
    let width = along.elements.numbers_per_row()?;
    let (element, number) = (at.clone().div(Expr::size(&width)), at.rem(Expr::size(&width)));
    let (row, offset) = (padded.row_of(element.clone()), padded.offset_of(element));
    let from = rows.within(row.clone(), offset.clone()).mul(Expr::size(&width)).add(number);
    let pick = Pick::either(offset.lt(rows.length(row)), Pick::From(x.values_ref(), from), Pick::Fill(fill));
    // Uniform partitions below the axis; for axis 0 the elements are the tensor itself.
    let uniform = along.elements.ragged_rank();
    let lengths = along.elements.partitions().iter().filter_map(RowPartition::uniform_size);
    let inner: Vec<Size> = lengths.chain(along.elements.inner().sizes()).cloned().collect();
    let count = rec.times_size(padded.nvals_extent(), &width_of(&inner))?;
    let values = rec.rearranged(&count, &pick, BytesBound::Unknown, &[])?;
    let outer = Some(padded.nvals_extent().clone());
    let elements = rec.tensor(Vec::new(), outer, inner, values)?;
    along.with(padded, &elements.inner_to_partitions(uniform)?)
}
