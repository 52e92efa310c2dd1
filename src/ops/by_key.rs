//! Reductions of elements that share a key, wherever they stand: a stable sort brings them together, a row reduction
//! folds them in the order in which they stood.

use super::row_scan::{RowPlace, RowScan};
use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::graph::size::Size;

/// Elements in the order of their keys.
///
/// Costs one map (the keys), one sort of the keys' bits, and one search a key.
#[derive(Debug, Clone)]
pub(crate) struct ByKey {
    key: Node,
    order: Node,
    rows: Rows,
    nkeys: Extent,
    nvals: Extent,
}

impl ByKey {
    /// The `count` elements whose keys are `key` (an expression in the element); elements whose key is not below
    /// `nkeys` are left out.
    pub(crate) fn new(
        backend: &BackendRef,
        op: &'static str,
        count: &Extent,
        key: Expr,
        nkeys: &Extent,
    ) -> Result<Self> {
        let key = Node::map(backend, op, count.clone(), key.min(nkeys.expr()), &[]);
        if count.capacity() == 0 || nkeys.capacity() == 0 {
            let none = Extent::known(0);
            return Ok(Self {
                order: key.clone(),
                key,
                rows: Rows::Uniform(Size::Const(0)),
                nkeys: nkeys.clone(),
                nvals: none,
            });
        }
        let bits = key_bits(nkeys.capacity());
        let order = Node::sort(backend, op, count.clone(), Expr::load(&key, Expr::index()), bits);
        // A search gives the last entry that is not above a key: over 0 and the sorted keys plus 1, that is the number
        // of keys below it. All entries of the capacity are filled, so that they are sorted throughout.
        let at = Expr::index();
        let sorted = Expr::load(&key, Expr::load(&order, at.clone().sub(Expr::u32(1))));
        let bound = at.clone().le(count.expr()).select(sorted.add(Expr::u32(1)), Expr::u32(u32::MAX));
        let bound = at.eq(Expr::u32(0)).select(Expr::u32(0), bound);
        let bounds = Node::map(backend, op, count.whole().plus(op, &Extent::known(2))?, bound, &[]);
        let start = Expr::row_of(&bounds, Expr::index().min(nkeys.expr()));
        let splits = Node::map(backend, op, nkeys.whole().plus(op, &Extent::known(1))?, start, &[]);
        let total = Expr::load(&splits, Expr::size(nkeys.size()));
        let nvals = Extent::bounded(count.size(), total);
        Ok(Self { key, order, rows: Rows::Splits(splits), nkeys: nkeys.clone(), nvals })
    }

    /// For each key the reduction of `value` (an expression in the number `element * inner + d`), `inner` numbers an
    /// element, over its elements in the order in which they stand. No element: the identity of the operation.
    pub(crate) fn reduce(
        &self,
        backend: &BackendRef,
        name: &'static str,
        by: impl Into<Reducer>,
        inner: u32,
        value: &Expr,
    ) -> Result<Node> {
        reduce_rows(backend, name, by, (&self.rows, &self.nkeys), &self.nvals, inner, value.at(&self.sorted(inner)))
    }

    /// The numbers of all elements side by side by key, `inner` an element, as positions in the order in which they
    /// stand.
    fn sorted(&self, inner: u32) -> Expr {
        let width = Expr::u32(inner.max(1));
        let element = Expr::load(&self.order, Expr::index().div(width.clone()));
        element.mul(width.clone()).add(Expr::index().rem(width))
    }

    /// For each number (`inner` an element) the scan of `value`, an expression in the number, over the elements of its
    /// key: as a function of it, by that scan's rule. Costs another sort, which finds each element's place among its
    /// like.
    pub(crate) fn scan(
        &self,
        backend: &BackendRef,
        name: &'static str,
        inner: u32,
        value: &Expr,
        scan: &RowScan,
    ) -> Result<Expr> {
        let count = self.order.extent();
        let bits = key_bits(count.capacity());
        let places = Node::sort(backend, name, count.clone(), Expr::load(&self.order, Expr::index()), bits);
        let width = Expr::u32(inner.max(1));
        let element = Expr::index().div(width.clone());
        let place = Expr::load(&places, element.clone());
        let at = RowPlace { row: self.key(element), at: place, number: Expr::index().rem(width) };
        let value = value.at(&self.sorted(inner));
        scan.record(backend, name, (&self.rows, &self.nkeys), &self.nvals, inner, value, &at)
    }

    /// The positions of the elements in the order of their keys, equal ones as they stand.
    pub(crate) fn order(&self) -> &Node {
        &self.order
    }

    /// Where each key's elements lie in that order, how many keys there are, and how many elements.
    pub(crate) fn rows(&self) -> (&Rows, &Extent, &Extent) {
        (&self.rows, &self.nkeys, &self.nvals)
    }

    /// How many elements have that key.
    pub(crate) fn count(&self, key: Expr) -> Expr {
        self.rows.length(key)
    }

    /// The key of an element.
    pub(crate) fn key(&self, element: Expr) -> Expr {
        Expr::load(&self.key, element)
    }
}

/// How many low bits of keys up to `most` a sort looks at: whole digits, so that what is planned does not depend on the
/// exact number of keys.
pub(crate) fn key_bits(most: u32) -> u32 {
    (u32::BITS - most.leading_zeros()).next_multiple_of(8)
}

/// [`Node::reduce`], or the array of no numbers where there are none.
pub(crate) fn reduce_rows(
    backend: &BackendRef,
    name: &'static str,
    by: impl Into<Reducer>,
    (rows, nrows): (&Rows, &Extent),
    nvals: &Extent,
    inner: u32,
    value: Expr,
) -> Result<Node> {
    if inner == 0 || nrows.capacity() == 0 {
        let nothing = Expr::scalar(Scalar::from_i64(value.dtype(), 0));
        return Ok(Node::map(backend, name, Extent::known(0), nothing, &[]));
    }
    debug_assert!(value.dtype() == value.dtype().accumulator(), "bug: a reduction over packed numbers");
    Node::reduce(backend, name, by, (rows.clone(), nrows.clone()), nvals.clone(), inner, value)
}
