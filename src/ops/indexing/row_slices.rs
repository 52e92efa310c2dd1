//! Slices of rows, each with a start and a length of its own.

use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::indexing::gather::in_range;
use crate::ops::operations;
use crate::record::axis_rows::AxisRows;
use crate::record::row_integers::RowIntegers;
use crate::record::rows::Repeats;
use crate::tensor::{Integers, Tensor};

operations! {
    /// Slices of individual rows.
    const OPERATIONS: family "Rows: pairs, windows, groups, sets, samples" on RaggedTensor<T> where T: Element;

    /// A part of each row of axis 1: `lengths[r]` successive elements of row `r`, from element `starts[r]` on.
    ///
    /// `[n, (len), ..]` gives `[n, (lengths), ..]`; everything below an element moves with it. Any dtype. Starts and
    /// lengths are lists on the host or vectors on the device (any integer dtype), one integer per row. Lists are
    /// checked at the call where the host knows the lengths of the rows. A length of 0 gives an empty row.
    /// [`slice`](Tensor::slice) takes the same part of every row. Paddle: `sequence_slice`.
    ///
    /// # Errors
    /// A scalar or a vector; not one start and one length per row; other dtypes; another device; a negative start or
    /// length; a slice that exceeds its row. Fails at the read where only the device knows.
    ///
    /// # Cost
    /// A prefix sum over the rows, another per ragged dimension below, and one map over the values, which fuses into
    /// its consumer. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.slice_rows(&[1, 0, 0], &[2, 0, 1])?.to_string(), "<ragged.RaggedTensor [[2, 3], [], [4]]>");
    /// let error = x.slice_rows(&[1, 0, 0], &[3, 0, 1]).unwrap_err();
    /// assert!(error.to_string().contains("row 0 has 3 elements, but its slice is 1..4"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn slice_rows<'a>(&self, starts: impl Into<Integers<'a>> as Integers, lengths: impl Into<Integers<'a>> as Integers) -> T;
    alias "sequence_slice";
    polars "list.slice";
    gradient yes;
    row hand;
}

#[track_caller]
fn slice_rows<'a>(x: &Tensor, starts: impl Into<Integers<'a>>, lengths: impl Into<Integers<'a>>) -> Result<Tensor> {
    x.rows_cut(x.recorder("slice_rows"), Some(("starts", starts.into())), ("lengths", lengths.into()))
}

impl Tensor {
    /// A part of each row of axis 1, of an operation with these names of its arguments. Without starts, the rows are
    /// cut from their first element on.
    pub(crate) fn rows_cut(
        &self,
        rec: Recorder<'_>,
        starts: Option<(&str, Integers<'_>)>,
        (length_name, lengths): (&str, Integers<'_>),
    ) -> Result<Self> {
        if self.rank() < 2 {
            let what = format!("it needs a tensor of rows, but the shape is {}", self.shape_text());
            return Err(rec.argument(what));
        }
        let along = AxisRows::new(rec, self, 1)?;
        let rows = &along.rows;
        let lengths = RowIntegers::new(rec, length_name, lengths, self, rows)?;
        let (start_name, starts) = match starts {
            Some((name, given)) => (name, Some(RowIntegers::new(rec, name, given, self, rows)?)),
            None => ("start", None),
        };
        check_known(rec, starts.as_ref().map(|s| (start_name, s)), (length_name, &lengths))?;
        let capacity = rows.nvals_extent().capacity().saturating_add(1);
        // Integers out of range are clamped, so that the partition is valid even where a condition fails.
        let clamped = |given: Expr, most: Expr| {
            let ok = in_range(&given, most.clone().add(Expr::u32(1)), capacity);
            (ok.clone(), ok.select(given.cast(DType::U32), most))
        };
        let (row, own) = (Expr::index(), rows.length(Expr::index()));
        let (starts_ok, start) = match &starts {
            Some(starts) => clamped(starts.of(row.clone()), own.clone()),
            None => (Expr::scalar(true), Expr::u32(0)),
        };
        let (lengths_ok, length) = clamped(lengths.of(row), own.sub(start.clone()));
        let mut length = rec.checked(&format!("{length_name} must lie within the rows"), lengths_ok, length);
        if starts.is_some() {
            length = rec.checked(&format!("{start_name} must lie within the rows"), starts_ok, length);
        }
        let counts: Vec<Node> = starts.iter().chain([&lengths]).filter_map(|given| given.condition.clone()).collect();
        if !counts.is_empty() {
            let checked = rec.map(rows.nrows_extent().clone(), length, &counts);
            length = Expr::load(&checked, Expr::index());
        }
        let cut = along.resized(length, rows.nvals_extent().size().clone())?;
        let cut = cut.with_lengths(rows.known_lengths().map(|(_, longest)| (0, longest)));
        let (row, offset) = (cut.row_of(Expr::index()), cut.offset_of(Expr::index()));
        let from = rows.within(row.clone(), start.at(&row).add(offset));
        let elements = along.elements.take_rows(rec, cut.nvals_extent().clone(), from, Repeats::Never, &[])?;
        along.with(cut, &elements)
    }
}

/// Checks the integers of the host against rows whose lengths the host knows.
fn check_known(
    rec: Recorder<'_>,
    starts: Option<(&str, &RowIntegers<'_>)>,
    (length_name, lengths): (&str, &RowIntegers<'_>),
) -> Result<()> {
    for (name, given) in starts.into_iter().chain([(length_name, lengths)]) {
        if let Some((row, n)) =
            (0..given.known_count()).filter_map(|r| Some((r, given.known(r)?))).find(|(_, n)| *n < 0)
        {
            return Err(rec.argument(format!("{name} must not be negative, but {name}[{row}] is {n}")));
        }
    }
    for row in 0..lengths.known_count().max(starts.map_or(0, |(_, s)| s.known_count())) {
        // An integer that only the device knows is 0 or more.
        let start = starts.and_then(|(_, s)| s.known(row)).unwrap_or(0);
        let end = start.saturating_add(lengths.known(row).unwrap_or(0));
        if let Some(own) = lengths.known_length(row).filter(|&own| end > i64::from(own)) {
            let what = format!("row {row} has {own} elements, but its slice is {start}..{end}");
            return Err(rec.argument(what));
        }
    }
    Ok(())
}
