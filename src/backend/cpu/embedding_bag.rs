//! Embedding bags: row reductions whose values are rows of a table, of several contiguous columns, possibly scaled by a
//! number each, as in the product of a sparse and a dense matrix. The index of a table row and its scale must depend on
//! the value's index alone. They are computed once per value instead of once per column, and table rows are read in
//! place.
//!
//! The order of operations is that of `row_reduce`.

use std::borrow::Cow;
use std::ops::Range;

use super::array::ArrayElement;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::encoding::Dense;
use super::eval::Block;
use super::number::Number;
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
    /// The scale of the table row, likewise; none for 1.
    scale: Option<CompiledExpr<'a>>,
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

impl<'a, V: Number + ArrayElement> EmbeddingBag<'a, V> {
    /// The values of the expression, if they are rows of a table, scaled or not. The expression must have the element
    /// type `V`.
    pub(super) fn new(inputs: &'a Inputs, e: &Expr, inner: usize) -> Option<Self> {
        match e.kind() {
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                Self::scaled(inputs, a, b, inner).or_else(|| Self::scaled(inputs, b, a, inner))
            }
            _ => Self::unscaled(inputs, e, inner),
        }
    }

    /// The rows of a table `e`, scaled by `scale`.
    fn scaled(inputs: &'a Inputs, e: &Expr, scale: &Expr, inner: usize) -> Option<Self> {
        let scale = of_value(scale, inner, &mut DigestMap::default())?;
        let rows = Self::unscaled(inputs, e, inner)?;
        Some(Self { scale: Some(CompiledExpr::new(inputs, &scale)), ..rows })
    }

    fn unscaled(inputs: &'a Inputs, e: &Expr, inner: usize) -> Option<Self> {
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
        Some(Self { table: table.slice(), inner, first, scale: None })
    }

    /// The table rows of `len` values from value `from` on.
    fn find(&self, from: usize, len: usize) -> TableRows<'_, V> {
        let inner = self.inner;
        let firsts = Block::strided(&self.first, from as u32, len, inner as u32).eval_as::<u32>();
        let scale = |scale| Block::strided(scale, from as u32, len, inner as u32).eval_as::<V>();
        let scales = self.scale.as_ref().map(scale);
        let table = self.table;
        if firsts.iter().max().is_none_or(|&first| first as usize + inner <= table.len()) {
            return TableRows { table: table.into(), firsts, scales, inner };
        }
        // Only a failed check leads here. An index out of range reads the last element.
        let element = |k: usize| {
            let at = firsts[k / inner].wrapping_add((k % inner) as u32);
            table[(at as usize).min(table.len() - 1)]
        };
        let values: Vec<V> = (0..len * inner).map(element).collect();
        let firsts: Vec<u32> = (0..len).map(|value| (value * inner) as u32).collect();
        TableRows { table: values.into(), firsts: firsts.into(), scales, inner }
    }

    /// Reduces consecutive rows of values. The values of row `k` begin at value `start(k)`.
    pub(super) fn rows<M: Monoid<V>>(&self, monoid: M, start: impl Fn(usize) -> usize, out: &mut [M::State]) {
        let (nrows, from) = (out.len() / self.inner, start(0));
        let values = self.find(from, start(nrows) - from);
        let mut lanes = vec![monoid.identity(); wide_lanes(self.inner) * self.inner];
        let mut at = 0;
        for (row, out) in out.chunks_exact_mut(self.inner).enumerate() {
            let end = start(row + 1) - from;
            values.row(values.picked().range(at..end), monoid, &mut lanes, out);
            at = end;
        }
    }

    /// Reduces each block of `len` values of a row, from value `from` on.
    pub(super) fn blocks<M: Monoid<V>>(&self, monoid: M, from: usize, len: usize) -> Vec<M::State> {
        let (inner, values) = (self.inner, self.find(from, len));
        let mut lanes = vec![monoid.identity(); wide_lanes(inner) * inner];
        let mut out = vec![monoid.identity(); len.div_ceil(block_len(inner)) * inner];
        for (picked, out) in values.picked().chunks(block_len(inner)).zip(out.chunks_exact_mut(inner)) {
            values.block(picked, monoid, &mut lanes, out);
        }
        out
    }
}

/// A range of the values, by the first elements of their table rows, all of which are in range.
struct TableRows<'a, V: Clone> {
    table: Cow<'a, [V]>,
    firsts: Dense<'a, u32>,
    scales: Option<Dense<'a, V>>,
    inner: usize,
}

/// Consecutive values: the first elements of their table rows, and their scales; no scales for 1.
#[derive(Clone, Copy)]
struct Picked<'l, V> {
    firsts: &'l [u32],
    scales: &'l [V],
}

impl<'l, V: Copy> Picked<'l, V> {
    fn range(self, range: Range<usize>) -> Self {
        let scales = if self.scales.is_empty() { self.scales } else { &self.scales[range.clone()] };
        Self { firsts: &self.firsts[range], scales }
    }

    fn chunks(self, len: usize) -> impl Iterator<Item = Self> + use<'l, V> {
        let all = self.firsts.len();
        (0..all).step_by(len).map(move |at| self.range(at..(at + len).min(all)))
    }
}

impl<V: Number + ArrayElement> TableRows<'_, V> {
    fn picked(&self) -> Picked<'_, V> {
        Picked { firsts: &self.firsts, scales: self.scales.as_deref().unwrap_or_default() }
    }

    /// Reduces one block.
    fn block<M: Monoid<V>>(&self, picked: Picked<'_, V>, monoid: M, lanes: &mut [M::State], out: &mut [M::State]) {
        lanes.fill(monoid.identity());
        self.fold(picked, monoid, lanes);
        merge_lanes(lanes, monoid, out);
    }

    /// Folds the values into lanes of `inner` states each.
    fn fold<M: Monoid<V>>(&self, picked: Picked<'_, V>, monoid: M, lanes: &mut [M::State]) {
        simd::run(Fold { values: self, picked, monoid, lanes });
    }

    /// Reduces one row. `lanes` is scratch space.
    fn row<M: Monoid<V>>(&self, picked: Picked<'_, V>, monoid: M, lanes: &mut [M::State], out: &mut [M::State]) {
        let (inner, len) = (self.inner, picked.firsts.len());
        if len <= COLUMNS_FOLD_LEN {
            out.fill(monoid.identity());
            self.fold(picked, monoid, out);
        } else if len <= block_len(inner) {
            self.block(picked, monoid, lanes, out);
        } else {
            let mut fold = RowFold::new(len, inner, monoid);
            for picked in picked.chunks(block_len(inner)) {
                self.block(picked, monoid, lanes, out);
                fold.push_partial(out);
            }
            fold.finish(out);
        }
    }
}

/// Folds values into lanes of `inner` states each.
struct Fold<'l, 'a, V: Clone, M: Monoid<V>> {
    values: &'l TableRows<'a, V>,
    picked: Picked<'l, V>,
    monoid: M,
    lanes: &'l mut [M::State],
}

impl<V: Number + ArrayElement, M: Monoid<V>> Loop for Fold<'_, '_, V, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, picked, monoid, lanes } = self;
        match values.inner {
            // A compile-time width keeps the states in registers.
            2 => values.fold_columns::<M, 2>(picked, monoid, lanes),
            3 => values.fold_columns::<M, 3>(picked, monoid, lanes),
            4 => values.fold_columns::<M, 4>(picked, monoid, lanes),
            8 => values.fold_columns::<M, 8>(picked, monoid, lanes),
            16 => values.fold_columns::<M, 16>(picked, monoid, lanes),
            32 => values.fold_columns::<M, 32>(picked, monoid, lanes),
            64 => values.fold_columns::<M, 64>(picked, monoid, lanes),
            inner => {
                for picked in picked.chunks(lanes.len() / inner) {
                    for (k, states) in lanes.chunks_exact_mut(inner).take(picked.firsts.len()).enumerate() {
                        values.push(states, picked, k, monoid);
                    }
                }
            }
        }
    }
}

impl<V: Number + ArrayElement> TableRows<'_, V> {
    /// Adds value `k` to the states.
    #[inline(always)]
    fn push<M: Monoid<V>>(&self, states: &mut [M::State], picked: Picked<'_, V>, k: usize, monoid: M) {
        let row = &self.table[picked.firsts[k] as usize..][..states.len()];
        match picked.scales.get(k) {
            None => push_each(states, row, monoid),
            Some(&scale) => {
                for (state, &x) in states.iter_mut().zip(row) {
                    *state = monoid.push(*state, x.mul(scale));
                }
            }
        }
    }

    #[inline(always)]
    fn fold_columns<M: Monoid<V>, const N: usize>(&self, picked: Picked<'_, V>, monoid: M, lanes: &mut [M::State]) {
        match lanes.as_chunks_mut::<N>().0 {
            [states] => {
                let mut so_far = *states;
                for k in 0..picked.firsts.len() {
                    self.push(&mut so_far, picked, k, monoid);
                }
                *states = so_far;
            }
            lanes => {
                for picked in picked.chunks(lanes.len()) {
                    for (k, states) in lanes.iter_mut().take(picked.firsts.len()).enumerate() {
                        // A local copy stays in registers, since it cannot alias the table.
                        let mut so_far = *states;
                        self.push(&mut so_far, picked, k, monoid);
                        *states = so_far;
                    }
                }
            }
        }
    }
}
