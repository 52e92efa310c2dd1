//! Sums of cotangents by the row that positions look up; only of rows that are looked up.

use super::given::Given;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::record::by_key::key_bits;

/// The cotangents of the rows of a table that positions look up.
pub(super) struct UniqueRows {
    /// Number of rows that are looked up.
    pub(super) count: Extent,
    /// The first position of each row in the order of the rows, and the row of a position in that order; `None` without
    /// positions.
    runs: Option<(RankBitmap, Expr)>,
    /// The sums of the cotangents, an expression in the number within these rows.
    pub(super) rows: Expr,
    /// Numbers per row.
    pub(super) width: u32,
}

impl UniqueRows {
    /// The sums over the positions of each row, in their order, as [`Given::by_key`] adds them. Position `k` of `count` looks
    /// up row `key`, an expression in the position, of `width` numbers. No key is `nrows` or more, unless a condition has
    /// failed on which the cotangents depend: such positions have no row of their own.
    ///
    /// Costs the keys, one sort, and passes over the positions: nothing in the number of rows of the table.
    pub(super) fn new(given: &Given<'_>, (key, count): (&Expr, &Extent), nrows: &Extent, width: u32) -> Result<Self> {
        let (rec, at, one) = (given.rec, Expr::index(), Expr::u32(1));
        if count.as_known() == Some(0) || nrows.as_known() == Some(0) {
            let none = Extent::known(0);
            return Ok(Self { count: none, runs: None, rows: super::scalar::zero(given.ct.dtype()), width });
        }
        let key = rec.map(count.clone(), key.clone().min(nrows.expr()), &[]);
        let order = rec.sort(count.clone(), Expr::load(&key, at.clone()), key_bits(nrows.capacity()));
        let sorted = |place: Expr| Expr::load(&key, Expr::load(&order, place));
        // Runs of equal keys. Keys beyond the rows are sorted last, and begin no run.
        let before = at.clone().max(one.clone()).sub(one);
        let is_new = at.clone().eq(Expr::u32(0)).or(sorted(at.clone()).ne(sorted(before)));
        let runs = RankBitmap::new(rec, count, is_new.and(sorted(at.clone()).lt(nrows.expr())));
        let found = runs.total();
        let starts = rec.kept(&runs, found.clone());
        let start = at.clone().lt(found.expr()).select(Expr::load(&starts, at.clone()), count.expr());
        let splits = rec.splits(&found, &start, &[])?;
        let nvals = Extent::bounded(count.size(), splits.last_entry());
        let on = RowDomain { rows: Rows::Splits(splits), nrows: found.clone(), nvals, inner: width };
        let wide = Expr::u32(width);
        let number = Expr::load(&order, at.clone().div(wide.clone())).mul(wide.clone()).add(at.rem(wide));
        let rows = given.sum(on, given.ct.at(&number))?;
        Ok(Self { count: found, runs: Some((runs, sorted(Expr::index()))), rows, width })
    }

    /// The numbers of the rows, ascending, under conditions.
    pub(super) fn ids(&self, rec: Recorder<'_>, conditions: &[Node]) -> Node {
        match &self.runs {
            Some((runs, row)) => rec.compact_if(runs, (row.clone(), 1), self.count.clone(), conditions),
            None => rec.map(self.count.clone(), Expr::u32(0), conditions),
        }
    }
}
