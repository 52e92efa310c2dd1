//! Embedding bags: row reductions whose values are rows of a table, of several contiguous columns, possibly scaled by a
//! number each, as in the product of a sparse and a dense matrix. The index of a table row and its scale must depend on
//! the value's index alone. They are computed once per value instead of once per column, and table rows are read in
//! place.
//!
//! The order of operations is that of `row_reduce`.

use std::borrow::Cow;
use std::ops::Range;

use super::array::ArrayElement;
use super::compiled_expr::{Inputs, OpId};
use super::encoding::Dense;
use super::eval::Block;
use super::number::Number;
use super::row_reduce::{Monoid, RowFold, fold_rows, merge_lanes};
use super::simd::{self, Loop};
use crate::graph::Node;
use crate::graph::canonical_order::reduction::{COLUMNS_FOLD_LEN, block_len, wide_lanes};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::opcode::BinaryOp;

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

/// The values of the expression of an element, if they are rows of a table, scaled or not: the table, the first element
/// of the table row, and the scale if any, as expressions of the value's index.
pub(super) fn of_table(inputs: &Inputs, e: &Expr, inner: usize) -> Option<(Node, Expr, Option<Expr>)> {
    let scaled = |e: &Expr, scale: &Expr| {
        let scale = of_value(scale, inner, &mut DigestMap::default())?;
        let (table, first) = unscaled(inputs, e, inner)?;
        Some((table, first, Some(scale)))
    };
    match e.kind() {
        ExprKind::Binary(BinaryOp::Mul, a, b) => scaled(a, b).or_else(|| scaled(b, a)),
        _ => unscaled(inputs, e, inner).map(|(table, first)| (table, first, None)),
    }
}

fn unscaled(inputs: &Inputs, e: &Expr, inner: usize) -> Option<(Node, Expr)> {
    let is_column = |e: &Expr| match e.kind() {
        ExprKind::Binary(BinaryOp::IndexRem, i, by) => i.is_index() && by.as_u32() == Some(inner as u32),
        _ => false,
    };
    let ExprKind::Load(table, at) = e.kind() else { return None };
    let ExprKind::Binary(BinaryOp::Add, first, column) = at.kind() else { return None };
    if inner < 2 || inputs.array(table).len() == 0 || !is_column(column) {
        return None;
    }
    Some((table.clone(), of_value(first, inner, &mut DigestMap::default())?))
}

/// Consecutive values of several columns that are rows of a table, by the first elements of their rows, all of which are
/// in range.
pub(super) struct EmbeddingBag<'a, V: Clone> {
    table: Cow<'a, [V]>,
    firsts: Dense<'a, u32>,
    scales: Option<Dense<'a, V>>,
    inner: usize,
}

impl<'a, V: Number + ArrayElement> EmbeddingBag<'a, V> {
    /// The values of a block of value indices: `first` is the first element of the table row, and `scale` its scale.
    pub(super) fn new<'b: 'a>(
        table: &'a [V],
        inner: usize,
        block: &mut Block<'b>,
        first: OpId,
        scale: Option<OpId>,
    ) -> Self {
        let firsts = block.values::<u32>(first);
        let scales = scale.map(|scale| block.values::<V>(scale));
        if firsts.iter().max().is_none_or(|&first| first as usize + inner <= table.len()) {
            return Self { table: table.into(), firsts, scales, inner };
        }
        // Only a failed check leads here. An index out of range reads the last element.
        let element = |k: usize| {
            let at = firsts[k / inner].wrapping_add((k % inner) as u32);
            table[(at as usize).min(table.len() - 1)]
        };
        let len = firsts.len();
        let values: Vec<V> = (0..len * inner).map(element).collect();
        let firsts: Vec<u32> = (0..len).map(|value| (value * inner) as u32).collect();
        Self { table: values.into(), firsts: firsts.into(), scales, inner }
    }

    /// Reduces consecutive rows of values. The values of row `k` begin at value `start(k)`.
    pub(super) fn rows<M: Monoid<V>>(&self, monoid: M, start: impl Fn(usize) -> usize, out: &mut [M::State]) {
        let mut lanes = vec![monoid.identity(); wide_lanes(self.inner) * self.inner];
        let mut at = 0;
        for (row, out) in out.chunks_exact_mut(self.inner).enumerate() {
            let end = start(row + 1);
            self.row(self.picked().range(at..end), monoid, &mut lanes, out);
            at = end;
        }
    }

    /// Reduces each block of the values.
    pub(super) fn blocks<M: Monoid<V>>(&self, monoid: M, out: &mut [M::State]) {
        let mut lanes = vec![monoid.identity(); wide_lanes(self.inner) * self.inner];
        for (picked, out) in self.picked().chunks(block_len(self.inner)).zip(out.chunks_exact_mut(self.inner)) {
            self.block(picked, monoid, &mut lanes, out);
        }
    }
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

impl<V: Number + ArrayElement> EmbeddingBag<'_, V> {
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
    values: &'l EmbeddingBag<'a, V>,
    picked: Picked<'l, V>,
    monoid: M,
    lanes: &'l mut [M::State],
}

impl<V: Number + ArrayElement, M: Monoid<V>> Loop for Fold<'_, '_, V, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, picked, monoid, lanes } = self;
        let step = lanes.len() / values.inner;
        for (lane, states) in lanes.chunks_exact_mut(values.inner).enumerate() {
            let own = lane.min(picked.firsts.len());
            let rows = picked.firsts[own..].iter().step_by(step).map(|&first| &values.table[first as usize..]);
            match picked.scales.get(own..) {
                Some(scales) if !picked.scales.is_empty() => {
                    fold_rows(monoid, states, rows.zip(scales.iter().copied().step_by(step)), V::mul);
                }
                _ => fold_rows(monoid, states, rows.map(|row| (row, ())), |x, ()| x),
            }
        }
    }
}
