//! Sums of cotangents by the row that positions look up, of the rows that are looked up alone.

use super::given::Given;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::size::RecordedSize;
use crate::record::by_key::key_bits;
use crate::record::runs::settled;

/// The cotangents of the rows of a table that positions look up.
pub(super) struct UniqueRows {
    /// Number of rows that are looked up.
    pub(super) count: Extent,
    /// Their numbers, ascending.
    pub(super) ids: Node,
    /// The sums of the cotangents, an expression in the number within these rows.
    pub(super) rows: Expr,
    /// Numbers per row.
    pub(super) width: u32,
}

impl UniqueRows {
    /// The sums over the positions of each row, in their order, as [`Given::by_key`] adds them. Position `k` of `count` looks
    /// up row `key`, an expression in the position, of `width` numbers. Positions whose key is not below `nrows` are left
    /// out.
    ///
    /// Costs the keys, one sort, and passes over the positions: nothing in the number of rows of the table.
    pub(super) fn new(given: &Given<'_>, (key, count): (&Expr, &Extent), nrows: &Extent, width: u32) -> Result<Self> {
        let (rec, at, one) = (given.rec, Expr::index(), Expr::u32(1));
        if count.as_known() == Some(0) || nrows.as_known() == Some(0) {
            let none = Extent::known(0);
            let ids = rec.map(none.clone(), Expr::u32(0), &[]);
            return Ok(Self { count: none, ids, rows: super::scalar::zero(given.ct.dtype()), width });
        }
        let key = rec.map(count.clone(), key.clone().min(nrows.expr()), &[]);
        let order = rec.sort(count.clone(), Expr::load(&key, at.clone()), key_bits(nrows.capacity()));
        let sorted = |place: Expr| Expr::load(&key, Expr::load(&order, place));
        // Runs of equal keys; the positions that are left out are the last one.
        let before = at.clone().max(one.clone()).sub(one.clone());
        let is_first = at.clone().eq(Expr::u32(0)).or(sorted(at.clone()).ne(sorted(before)));
        let runs = RankBitmap::new(rec, count, is_first);
        let all = runs.total();
        let starts = rec.kept(&runs, all.clone());
        let last = count.expr().max(one.clone()).sub(one);
        let leaves_out = Expr::u32(0).lt(count.expr()).and(nrows.expr().le(sorted(last)));
        let found = all.expr().sub(leaves_out.select(Expr::u32(1), Expr::u32(0)));
        let found = Extent::bounded(count.size(), settled(rec, found));
        let start = at.clone().lt(all.expr()).select(Expr::load(&starts, at.clone()), count.expr());
        let splits = rec.splits(&found, &start, &[])?;
        let nvals = Extent::bounded(count.size(), splits.last_entry());
        let ids = rec.map(found.clone(), sorted(Expr::load(&starts, at.clone())), &[]);
        let on = RowDomain { rows: Rows::Splits(splits), nrows: found.clone(), nvals, inner: width };
        let wide = Expr::u32(width);
        let number = Expr::load(&order, at.clone().div(wide.clone())).mul(wide.clone()).add(at.rem(wide));
        let rows = given.sum(on, given.ct.at(&number))?;
        Ok(Self { count: found, ids, rows, width })
    }
}
