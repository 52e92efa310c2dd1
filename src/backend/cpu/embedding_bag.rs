//! Embedding bags: row reductions whose values are rows of a table, of several contiguous columns. The index of a table
//! row must depend on the value's index alone. It is computed once per value instead of once per column, and table rows
//! are read in place.
//!
//! The order of operations is that of `row_reduce`.

use std::borrow::Cow;

use super::array::ArrayElement;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::encoding::{Dense, Value};
use super::eval::Block;
use super::row_reduce::{Monoid, RowFold, merge_lanes, push_each};
use super::simd::{self, Loop};
use crate::graph::canonical_order::reduction::{COLUMNS_FOLD_LEN, block_len, wide_lanes};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::opcode::BinaryOp;

/// Values of several columns that are rows of a table.
pub(super) struct EmbeddingBag<'a, V> {
    table: &'a [V],
    inner: usize,
    /// First element of the table row, as an expression of the value's index.
    first: CompiledExpr<'a>,
}

/// Rewrites an expression of an element's index as an expression of its value's index. `None` if the result may differ
/// among the `inner` elements of a value.
fn of_value(e: &Expr, inner: usize, known: &mut DigestMap<Option<Expr>>) -> Option<Expr> {
    if !e.has_index() {
        return Some(e.clone());
    }
    if let Some(known) = known.get(&e.digest()) {
        return known.clone();
    }
    let found = match e.kind() {
        ExprKind::Index => None,
        ExprKind::Binary(BinaryOp::IndexDiv, i, by) if i.is_index() && by.as_u32() == Some(inner as u32) => {
            Some(Expr::index())
        }
        _ => {
            let operands: Option<Vec<Expr>> = e.operands().map(|operand| of_value(operand, inner, known)).collect();
            operands.map(|operands| e.with_operands(operands.into_iter()))
        }
    };
    known.insert(e.digest(), found.clone());
    found
}

impl<'a, V: Value + ArrayElement> EmbeddingBag<'a, V> {
    /// The values of the expression, if they are rows of a table. The expression must have the element type `V`.
    pub(super) fn new(inputs: &'a Inputs, e: &Expr, inner: usize) -> Option<Self> {
        let is_column = |e: &Expr| match e.kind() {
            ExprKind::Binary(BinaryOp::IndexRem, i, by) => i.is_index() && by.as_u32() == Some(inner as u32),
            _ => false,
        };
        let ExprKind::Load(table, at) = e.kind() else { return None };
        let ExprKind::Binary(BinaryOp::Add, first, column) = at.kind() else { return None };
        let table = inputs.array(table);
        if inner < 2 || table.len() == 0 || !is_column(column) {
            return None;
        }
        let first = CompiledExpr::new(inputs, &of_value(first, inner, &mut DigestMap::default())?);
        Some(Self { table: table.slice(), inner, first })
    }

    /// The table rows of `len` values from value `from` on.
    fn find(&self, from: usize, len: usize) -> TableRows<'_, V> {
        let inner = self.inner;
        let firsts = Block::strided(&self.first, from as u32, len, inner as u32).eval_as::<u32>();
        let table = self.table;
        if firsts.iter().max().is_none_or(|&first| first as usize + inner <= table.len()) {
            return TableRows { table: table.into(), firsts, inner };
        }
        // Only a failed check leads here. An index out of range reads the last element.
        let element = |k: usize| {
            let at = firsts[k / inner].wrapping_add((k % inner) as u32);
            table[(at as usize).min(table.len() - 1)]
        };
        let values: Vec<V> = (0..len * inner).map(element).collect();
        let firsts: Vec<u32> = (0..len).map(|value| (value * inner) as u32).collect();
        TableRows { table: values.into(), firsts: firsts.into(), inner }
    }

    /// Reduces consecutive rows of values. The values of row `k` begin at value `start(k)`.
    pub(super) fn rows<M: Monoid<V>>(&self, monoid: M, start: impl Fn(usize) -> usize, out: &mut [M::State]) {
        let (nrows, from) = (out.len() / self.inner, start(0));
        let values = self.find(from, start(nrows) - from);
        let mut lanes = vec![monoid.identity(); wide_lanes(self.inner) * self.inner];
        let mut at = 0;
        for (row, out) in out.chunks_exact_mut(self.inner).enumerate() {
            let end = start(row + 1) - from;
            values.row(&values.firsts[at..end], monoid, &mut lanes, out);
            at = end;
        }
    }

    /// Reduces each block of `len` values of a row, from value `from` on.
    pub(super) fn blocks<M: Monoid<V>>(&self, monoid: M, from: usize, len: usize) -> Vec<M::State> {
        let (inner, values) = (self.inner, self.find(from, len));
        let mut lanes = vec![monoid.identity(); wide_lanes(inner) * inner];
        let mut out = vec![monoid.identity(); len.div_ceil(block_len(inner)) * inner];
        for (firsts, out) in values.firsts.chunks(block_len(inner)).zip(out.chunks_exact_mut(inner)) {
            values.block(firsts, monoid, &mut lanes, out);
        }
        out
    }
}

/// A range of the values, by the first elements of their table rows, all of which are in range.
struct TableRows<'a, V: Clone> {
    table: Cow<'a, [V]>,
    firsts: Dense<'a, u32>,
    inner: usize,
}

impl<V: Value + ArrayElement> TableRows<'_, V> {
    /// Reduces one block.
    fn block<M: Monoid<V>>(&self, firsts: &[u32], monoid: M, lanes: &mut [M::State], out: &mut [M::State]) {
        lanes.fill(monoid.identity());
        self.fold(firsts, monoid, lanes);
        merge_lanes(lanes, monoid, out);
    }

    /// Folds the values into lanes of `inner` states each.
    fn fold<M: Monoid<V>>(&self, firsts: &[u32], monoid: M, lanes: &mut [M::State]) {
        simd::run(Fold { values: self, firsts, monoid, lanes });
    }

    /// Reduces one row. `lanes` is scratch space.
    fn row<M: Monoid<V>>(&self, firsts: &[u32], monoid: M, lanes: &mut [M::State], out: &mut [M::State]) {
        let inner = self.inner;
        if firsts.len() <= COLUMNS_FOLD_LEN {
            out.fill(monoid.identity());
            self.fold(firsts, monoid, out);
        } else if firsts.len() <= block_len(inner) {
            self.block(firsts, monoid, lanes, out);
        } else {
            let mut fold = RowFold::new(firsts.len(), inner, monoid);
            for firsts in firsts.chunks(block_len(inner)) {
                self.block(firsts, monoid, lanes, out);
                fold.push_partial(out);
            }
            fold.finish(out);
        }
    }
}

/// Folds values into lanes of `inner` states each.
struct Fold<'l, 'a, V: Clone, M: Monoid<V>> {
    values: &'l TableRows<'a, V>,
    firsts: &'l [u32],
    monoid: M,
    lanes: &'l mut [M::State],
}

impl<V: Value + ArrayElement, M: Monoid<V>> Loop for Fold<'_, '_, V, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, firsts, monoid, lanes } = self;
        match values.inner {
            // A compile-time width keeps the states in registers.
            2 => values.fold_columns::<M, 2>(firsts, monoid, lanes),
            3 => values.fold_columns::<M, 3>(firsts, monoid, lanes),
            4 => values.fold_columns::<M, 4>(firsts, monoid, lanes),
            8 => values.fold_columns::<M, 8>(firsts, monoid, lanes),
            16 => values.fold_columns::<M, 16>(firsts, monoid, lanes),
            inner => {
                for firsts in firsts.chunks(lanes.len() / inner) {
                    for (states, &first) in lanes.chunks_exact_mut(inner).zip(firsts) {
                        push_each(states, &values.table[first as usize..][..inner], monoid);
                    }
                }
            }
        }
    }
}

impl<V: Value + ArrayElement> TableRows<'_, V> {
    #[inline(always)]
    fn fold_columns<M: Monoid<V>, const N: usize>(&self, firsts: &[u32], monoid: M, lanes: &mut [M::State]) {
        let table = &self.table[..];
        match lanes.as_chunks_mut::<N>().0 {
            [states] => {
                let mut so_far = *states;
                for &first in firsts {
                    push_each(&mut so_far, &table[first as usize..][..N], monoid);
                }
                *states = so_far;
            }
            lanes => {
                for firsts in firsts.chunks(lanes.len()) {
                    for (states, &first) in lanes.iter_mut().zip(firsts) {
                        // A local copy stays in registers, since it cannot alias the table.
                        let mut so_far = *states;
                        push_each(&mut so_far, &table[first as usize..][..N], monoid);
                        *states = so_far;
                    }
                }
            }
        }
    }
}
