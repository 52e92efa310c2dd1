//! Lines of a tensor along one axis, and their sort order.
//!
//! A line holds the numbers along the axis at fixed indices of all other axes: a row for the innermost axis, a column
//! for an axis with dimensions below. Places enumerate the numbers line by line, so that each line is contiguous.
//! Numbers and places map one to one; along the innermost axis both are equal.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::graph::top_k::MAX_K;
use crate::record::by_key::{ByKey, key_bits};
use crate::record::levels::{Levels, Stage};
use crate::record::sort_key::{sort_key, whole_sort_key};

/// The lines along one axis.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    rec: Recorder<'a>,
    /// A row per line, of places.
    rows: RowDomain,
    /// Upper bound on the length of a line.
    longest: u32,
    /// Maps a place to its number.
    number: Expr,
    /// Maps a number to its place.
    place: Expr,
    /// Index of a number along the axis, if it differs from the offset in the line.
    along: Option<Expr>,
}

impl<'a> Lines<'a> {
    /// The lines along `axis`, which `stage` reduces.
    ///
    /// Costs nothing along the innermost axis. Lines of uniform dimensions are index arithmetic. Lines of ragged rows
    /// with inner dimensions below have splits of their own. Ragged dimensions below need an alignment and its inverse,
    /// a sort.
    pub(crate) fn new(rec: Recorder<'a>, levels: &Levels, stage: &Stage, axis: usize) -> Result<Self> {
        let at = Expr::index();
        let width = stage.inner();
        let mut this = match (stage.as_rows(), stage.as_keys()) {
            (Some(rows), _) => {
                let mut this = Self::of_rows(rec, rows)?;
                let bound = axis.checked_sub(1).and_then(|above| levels.parts()[above].known_lengths());
                this.longest = bound.map_or(this.longest, |(_, longest)| longest.min(this.longest));
                this
            }
            (_, Some(keys)) => {
                let mut this = Self::of_keys(rec, keys, width)?;
                let by = Expr::u32(width.max(1));
                let nvals = keys.rows(1).nvals;
                let bits = key_bits(nvals.capacity());
                let back = rec.sort(nvals, Expr::load(keys.order(), at.clone()), bits.max(1));
                let moved = Expr::load(&back, at.clone().div(by.clone())).mul(by.clone()).add(at.clone().rem(by));
                this.place = this.place.at(&moved);
                this
            }
            (None, None) => unreachable!("bug: a stage of neither kind"),
        };
        if stage.as_keys().is_some() {
            let element = levels.parts()[axis..].iter().rev().fold(at, |at, p| p.row_of(at));
            let along = axis.checked_sub(1).map_or(element.clone(), |above| levels.parts()[above].offset_of(element));
            this.along = Some(along);
        }
        Ok(this)
    }

    /// The lines of the elements of each key, with `width` numbers per element. A number has no place yet.
    pub(crate) fn of_keys(rec: Recorder<'a>, keys: &ByKey, width: u32) -> Result<Self> {
        let mut this = Self::of_rows(rec, &keys.rows(width))?;
        // So far numbers refer to the elements in key order.
        let by = Expr::u32(width.max(1));
        let (element, number) = (this.number.clone().div(by.clone()), this.number.clone().rem(by.clone()));
        this.number = Expr::load(keys.order(), element).mul(by).add(number);
        Ok(this)
    }

    /// The lines of rows whose elements have `width` numbers: `width` lines per row.
    pub(crate) fn of_rows(
        rec: Recorder<'a>,
        RowDomain { rows, nrows, nvals, inner: width }: &RowDomain,
    ) -> Result<Self> {
        let at = Expr::index();
        let (nlines, count) = (rec.times(nrows, *width)?, rec.times(nvals, *width)?);
        let longest = match rows {
            Rows::Uniform(len) => len.capacity(),
            Rows::Splits(_) => nvals.capacity(),
        };
        let whole = |rows: Rows, number, place| {
            let rows = RowDomain { rows, nrows: nlines.clone(), nvals: count.clone(), inner: 1 };
            Self { rec, rows, longest, number, place, along: None }
        };
        if *width <= 1 {
            return Ok(whole(rows.clone(), at.clone(), at));
        }
        let by = Expr::u32(*width);
        let (element, column) = (at.clone().div(by.clone()), at.clone().rem(by.clone()));
        match rows {
            Rows::Uniform(len) => {
                let long = Expr::size(&len.max(1));
                let (line, offset) = (at.clone().div(long.clone()), at.rem(long.clone()));
                let (row, line_column) = (line.clone().div(by.clone()), line.rem(by.clone()));
                let number = row.mul(long.clone()).add(offset).mul(by.clone()).add(line_column);
                let (row, offset) = (element.clone().div(long.clone()), element.rem(long.clone()));
                let place = row.mul(by).add(column).mul(long).add(offset);
                Ok(whole(rows.clone(), number, place))
            }
            Rows::Splits(splits) => {
                let start = |row: Expr| Expr::load(splits, row);
                let length = |row: Expr| start(row.clone().add(Expr::u32(1))).sub(start(row));
                let line_start = |line: Expr| {
                    let (row, column) = (line.clone().div(by.clone()), line.rem(by.clone()));
                    start(row.clone()).mul(by.clone()).add(column.mul(length(row)))
                };
                let lines = rec.splits(&nlines, &line_start(at.clone()), &[])?;
                let line = Expr::row_of(&lines, at.clone());
                let offset = at.sub(Expr::load(&lines, line.clone()));
                let (row, line_column) = (line.clone().div(by.clone()), line.rem(by.clone()));
                let number = Expr::within(splits, row, offset).mul(by.clone()).add(line_column);
                let row = Expr::row_of(splits, element.clone());
                let offset = element.sub(start(row.clone()));
                let place = Expr::within(&lines, row.mul(by).add(column), offset);
                Ok(whole(Rows::Splits(lines), number, place))
            }
        }
    }

    /// Number of lines.
    pub(crate) fn nlines(&self) -> &Extent {
        &self.rows.nrows
    }

    /// Number of places.
    pub(crate) fn count(&self) -> &Extent {
        &self.rows.nvals
    }

    /// The lines as rows of places.
    pub(crate) fn domain(&self) -> &RowDomain {
        &self.rows
    }

    /// Start of each line, in places.
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows.rows
    }

    /// Upper bound on the length of a line.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    /// The number at place `Index`.
    pub(crate) fn number(&self) -> &Expr {
        &self.number
    }

    /// The place of number `Index`.
    pub(crate) fn place(&self) -> &Expr {
        &self.place
    }

    /// The line of place `at`.
    pub(crate) fn line_of(&self, at: Expr) -> Expr {
        self.rows.rows.row_of(at)
    }

    /// Index along the axis of the number at place `at`; `near` is a place in the same line.
    pub(crate) fn along(&self, at: Expr, near: &Expr) -> Expr {
        match &self.along {
            Some(along) => along.at(&self.number.at(&at)),
            None => at.sub(self.rows.rows.start(self.line_of(near.clone()))),
        }
    }

    /// As [`Self::order`], for the first `k` places of each line only, as an expression in the place: later places repeat
    /// the `k`-th one. `None` for a `k` that a selection does not support.
    ///
    /// Costs one selection, which evaluates the values in its kernel.
    pub(crate) fn first(&self, value: &Expr, descending: bool, k: u32) -> Option<Result<Expr>> {
        if !(1..=MAX_K).contains(&k) {
            return None;
        }
        let key = whole_sort_key(&value.at(&self.number), descending).0;
        let best = self.rec.top_k(self.rows.clone(), (key, k), self.longest);
        let (at, last) = (Expr::index(), Expr::u32(k - 1));
        let line = self.line_of(at.clone());
        let offset = at.sub(self.rows.rows.start(line.clone()));
        let first = line.mul(Expr::u32(k));
        // A choice rather than a minimum, so that gradients see the entries that are read once.
        let entry = last.clone().lt(offset.clone()).select(first.clone().add(last), first.add(offset));
        Some(best.map(|best| Expr::load(&best, entry)))
    }

    /// Stable sort permutation of each line by `value`, an expression in the number: for each sorted place the place of
    /// its number.
    pub(crate) fn order(&self, value: &Expr, descending: bool) -> Node {
        self.order_by(&[(value.clone(), descending)])
    }

    /// As [`Self::order`], by one value or several, the most significant first, each with whether its greatest value
    /// comes first.
    ///
    /// Costs one row sort for numbers of up to 4 bytes and for wider ones converted from such, as row lengths are; two
    /// row sorts for other wider numbers.
    pub(crate) fn order_by(&self, values: &[(Expr, bool)]) -> Node {
        let at = Expr::index();
        let mut order: Option<Node> = None;
        // The least significant word first: each sort is stable.
        let words = values.iter().rev().flat_map(|(value, descending)| sort_key(&value.at(&self.number), *descending));
        for (word, bits) in words {
            // A separate node, so that a key that is expensive to compute is stored.
            let word = self.rec.map(self.rows.nvals.clone(), word, &[]);
            let before = order.as_ref().map_or(at.clone(), |o| Expr::load(o, at.clone()));
            let key = Expr::load(&word, before.clone());
            let sorted = self.rec.row_sort(self.rows.clone(), (key, bits), self.longest);
            let from = before.at(&Expr::load(&sorted, at.clone()));
            order = Some(self.rec.map(self.rows.nvals.clone(), from, &[]));
        }
        order.expect("a key has a word")
    }
}
