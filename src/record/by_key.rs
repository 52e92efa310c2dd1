//! Reductions and scans by key: a stable sort groups the elements of equal keys, and a row reduction folds each group
//! in the original order of its elements. Reductions by few keys may fold the values in tiles instead, without a sort.

use crate::error::Result;
use crate::graph::conditions::conditional_arrays;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::reducer::{Empty, Reducer};
use crate::graph::scalar::Scalar;
use crate::graph::size::{RecordedSize, Size};
use crate::graph::tile_fold::{self, MAX_SLOTS};
use crate::record::row_scan::{RowPlace, RowScan, Terms};

/// Elements sorted by key.
///
/// Costs one map (the keys), one sort of the keys' bits, and one search per key.
#[derive(Debug, Clone)]
pub(crate) struct ByKey {
    key: Node,
    order: Node,
    /// A row per key: its elements in key order.
    rows: RowDomain,
    /// See [`Self::in_tiles`].
    tiled: Option<Tiled>,
}

/// Elements of few keys.
#[derive(Debug, Clone)]
struct Tiled {
    /// Number of elements.
    count: Extent,
    /// Number of keys.
    nkeys: u32,
    /// Number of elements of each key.
    counts: Node,
}

impl ByKey {
    /// Groups `count` elements by `key`, an expression in the element. Elements whose key is not below `nkeys` are left
    /// out.
    pub(crate) fn new(rec: Recorder<'_>, count: &Extent, key: Expr, nkeys: &Extent) -> Result<Self> {
        let key = rec.map(count.clone(), key.min(nkeys.expr()), &[]);
        if count.as_known() == Some(0) || nkeys.as_known() == Some(0) {
            return Ok(Self {
                order: key.clone(),
                key,
                rows: RowDomain {
                    rows: Rows::Uniform(Size::Const(0)),
                    nrows: nkeys.clone(),
                    nvals: Extent::known(0),
                    inner: 1,
                },
                tiled: None,
            });
        }
        let bits = key_bits(nkeys.capacity());
        let order = rec.sort(count.clone(), Expr::load(&key, Expr::index()), bits);
        // A search returns the last entry that does not exceed a key. Over 0 followed by the sorted keys plus 1, the
        // index of that entry is the number of keys below. Entries beyond the count are filled too, so that the array
        // is sorted up to its capacity.
        let at = Expr::index();
        let sorted = Expr::load(&key, Expr::load(&order, at.clone().sub(Expr::u32(1))));
        let bound = at.clone().le(count.expr()).select(sorted.add(Expr::u32(1)), Expr::u32(u32::MAX));
        let bound = at.eq(Expr::u32(0)).select(Expr::u32(0), bound);
        let bounds = rec.map(rec.plus(&count.whole(), &Extent::known(2))?, bound, &[]);
        let start = Expr::row_of(&bounds, Expr::index().min(nkeys.expr()));
        let splits = rec.splits(nkeys, &start, &[])?;
        let nvals = Extent::bounded(count.size(), splits.last_entry());
        let rows = RowDomain { rows: Rows::Splits(splits), nrows: nkeys.clone(), nvals, inner: 1 };
        Ok(Self { key, order, rows, tiled: None })
    }

    /// The same elements; reductions by few keys, at most [`MAX_SLOTS`] results of which the host knows the number, are
    /// folds of tiles ([`tile_fold`]), and counts a histogram. Neither needs the sort. The order of combination then
    /// depends on the positions of a key's elements.
    pub(crate) fn in_tiles(mut self, rec: Recorder<'_>, count: &Extent) -> Self {
        let few = self.rows.nrows.as_known().filter(|&n| (1..=MAX_SLOTS).contains(&n));
        if let Some(nkeys) = few.filter(|_| count.capacity() > 0) {
            let key = Expr::load(&self.key, Expr::index());
            let counts = rec.histogram(count.clone(), key, self.rows.nrows.clone());
            self.tiled = Some(Tiled { count: count.clone(), nkeys, counts });
        }
        self
    }

    /// Reduces `value` over the elements of each key, in their original order. `value` is an expression in the number
    /// `element * inner + d`: each element has `inner` numbers. A key without elements gives the identity element.
    pub(crate) fn reduce(&self, rec: Recorder<'_>, by: impl Into<Reducer>, inner: u32, value: &Expr) -> Result<Node> {
        let by = by.into();
        // Floats that share an extreme share its gradient across tiles, which only the rows tell. Extremes have the same
        // bits in any order.
        let is_extreme = matches!(by, Reducer::Op(ReduceOp::Min | ReduceOp::Max)) && value.dtype().is_float();
        let is_tiled = !(is_extreme && value.is_differentiable());
        if let (Some(tiled), Reducer::Op(op), true) = (&self.tiled, by, is_tiled)
            && inner > 0
            && let Some(slots) = tiled.nkeys.checked_mul(inner).filter(|&slots| slots <= MAX_SLOTS)
        {
            let folded = self.fold_tiles(rec, op, &tiled.count, inner, slots, value)?;
            if !(value.dtype().is_float() && matches!(op, ReduceOp::Min | ReduceOp::Max)) {
                return Ok(folded);
            }
            // The fold of no floats is an infinity.
            let at = Expr::index();
            let is_empty = Expr::load(&tiled.counts, at.clone().div(Expr::u32(inner))).eq(Expr::u32(0));
            let found = is_empty.select(Expr::scalar(Empty::Finite.value(op, value.dtype())), Expr::load(&folded, at));
            return Ok(rec.map(folded.extent().clone(), found, &[]));
        }
        reduce_rows(rec, by, self.rows(inner), value.at(&self.sorted(inner)))
    }

    /// As [`Self::reduce`], by folds of tiles of elements of `inner` numbers each.
    fn fold_tiles(
        &self,
        rec: Recorder<'_>,
        op: ReduceOp,
        count: &Extent,
        inner: u32,
        slots: u32,
        value: &Expr,
    ) -> Result<Node> {
        let (width, at) = (Expr::u32(inner), Expr::index());
        // The key of an element that is left out is the number of keys, whose slots are out of range.
        let slot = self.key(at.clone().div(width.clone())).mul(width.clone()).add(at.clone().rem(width));
        let numbers = rec.times(count, inner)?;
        let tiles = rec.at(tile_fold::tiles(&numbers))?;
        let folded = rec.tile_fold(op, numbers, (slot, slots), value.clone())?;
        let by = match op {
            ReduceOp::Min | ReduceOp::Max if value.dtype().is_float() => Reducer::Extreme(op, Empty::Infinite),
            op => op.into(),
        };
        let row = RowDomain { inner: slots, ..one_row(rec, &tiles)? };
        reduce_rows(rec, by, row, Expr::load(&folded, at))
    }

    /// Original position of each number in key order, with `inner` numbers per element.
    fn sorted(&self, inner: u32) -> Expr {
        let width = Expr::u32(inner.max(1));
        let element = Expr::load(&self.order, Expr::index().div(width.clone()));
        element.mul(width.clone()).add(Expr::index().rem(width))
    }

    /// Scans `terms`, expressions in the number, over the elements of each key. Returns the result of `scan` as an
    /// expression in the number, with `inner` numbers per element. Costs a scatter, which inverts the order: the position
    /// of each element in key order.
    pub(crate) fn scan(&self, rec: Recorder<'_>, inner: u32, terms: impl Into<Terms>, scan: &RowScan) -> Result<Expr> {
        let count = self.order.extent();
        let element = Expr::load(&self.order, Expr::index());
        let places = rec.unique_scatter(count.clone(), (element, Expr::index()), count.clone());
        let (width, rows, at) = (Expr::u32(inner.max(1)), self.rows(inner), Expr::index());
        let (element, number) = (at.clone().div(width.clone()), at.rem(width.clone()));
        // In key order first, so that elements are read at their places and nowhere else.
        let row = rows.rows.row_of(element.clone());
        let at = RowPlace { row, at: element.clone(), number: number.clone() };
        let scanned = scan.record(rec, rows, terms.into().at(&self.sorted(inner)), &at)?;
        let place = Expr::load(&places, element).mul(width).add(number);
        Ok(match scanned.own_load() {
            Some(scanned) => Expr::load(scanned, place),
            None => Expr::load(&rec.map(rec.times(count, inner)?, scanned, &[]), place),
        })
    }

    /// Positions of the elements in key order; the sort is stable.
    pub(crate) fn order(&self) -> &Node {
        &self.order
    }

    /// The place of an element in key order.
    pub(crate) fn place(&self, rec: Recorder<'_>, element: Expr) -> Expr {
        let (count, at) = (self.order.extent(), Expr::load(&self.order, Expr::index()));
        Expr::load(&rec.unique_scatter(count.clone(), (at, Expr::index()), count.clone()), element)
    }

    /// The rows of each key in that order, with `inner` numbers per element.
    pub(crate) fn rows(&self, inner: u32) -> RowDomain {
        RowDomain { inner, ..self.rows.clone() }
    }

    /// Number of elements with that key.
    pub(crate) fn count(&self, key: Expr) -> Expr {
        match &self.tiled {
            Some(tiled) => Expr::load(&tiled.counts, key),
            None => self.rows.rows.length(key),
        }
    }

    /// The key of an element.
    pub(crate) fn key(&self, element: Expr) -> Expr {
        Expr::load(&self.key, element)
    }
}

/// A given number of keys, of which each has `inner` numbers. The kernel of [`tile_fold`] has the number of its slots as
/// a constant; any other number of keys is a parameter.
pub(crate) fn number_of_keys(rec: Recorder<'_>, n: u64, inner: u32) -> Result<Extent> {
    let is_folded = n.saturating_mul(inner.max(1).into()) <= MAX_SLOTS.into();
    if is_folded { rec.known(n) } else { rec.given(n) }
}

/// Number of low bits that a sort compares for keys up to `most`: whole digits, so that the plan does not depend on the
/// exact number of keys.
pub(crate) fn key_bits(most: u32) -> u32 {
    (u32::BITS - most.leading_zeros()).next_multiple_of(8)
}

/// One row of all `count` elements, a count that only the device may know.
pub(crate) fn one_row(rec: Recorder<'_>, count: &Extent) -> Result<RowDomain> {
    let one = Extent::known(1);
    let rows = if count.as_known().is_some() {
        Rows::Uniform(count.size().clone())
    } else {
        let start = Expr::index().eq(Expr::u32(0)).select(Expr::u32(0), count.expr());
        Rows::Splits(rec.splits(&one, &start, &[])?)
    };
    Ok(RowDomain { rows, nrows: one, nvals: count.clone(), inner: 1 })
}

/// [`Recorder::reduce`], or an empty array where no results exist.
pub(crate) fn reduce_rows(rec: Recorder<'_>, by: impl Into<Reducer>, on: RowDomain, value: Expr) -> Result<Node> {
    if on.inner == 0 || on.nrows.capacity() == 0 {
        let nothing = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
        let splits = if let Rows::Splits(splits) = &on.rows { Some(splits) } else { None };
        let conditions = conditional_arrays(&value, splits);
        return Ok(rec.map(Extent::known(0), nothing, &conditions));
    }
    debug_assert!(value.dtype() == value.dtype().accumulator(), "bug: a reduction over packed numbers");
    rec.reduce(by, on, value)
}
