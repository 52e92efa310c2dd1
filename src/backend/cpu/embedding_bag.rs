//! Embedding bags: row reductions whose values are rows of a table, of several contiguous columns, possibly through a
//! chain of element-wise operations, such as the scales of the product of a sparse and a dense matrix. The index of a
//! table row and the operands of the chain must depend on the value's index alone. They are computed once per value
//! instead of once per column, and table rows are read in place, or tile by tile if there is a chain.
//!
//! The order of operations is that of `row_reduce`.

use std::borrow::Cow;
use std::ops::Range;

use super::array::ArrayElement;
use super::compiled_expr::{Inputs, OpId};
use super::encoding::Dense;
use super::eval::Block;
use super::number::Number;
use super::row_chain::{ChainStep, RowChain, chain_of};
use super::row_reduce::{Monoid, RowFold, TableRows, Unscaled, fold_rows, merge_lanes};
use super::simd::{self, LINE, Loop};
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

/// Values of an element's expression that are rows of a table: the table, and the first element of the table row and the
/// steps of the chain, as expressions of the value's index.
pub(super) struct TableExpr {
    pub(super) table: Node,
    pub(super) first: Expr,
    pub(super) chain: Vec<ChainStep<Expr>>,
}

impl TableExpr {
    /// `None` for other expressions of an element.
    pub(super) fn of(inputs: &Inputs, e: &Expr, inner: usize) -> Option<Self> {
        let of_value = |e: &Expr| of_value(e, inner, &mut DigestMap::default());
        let ((table, first), chain) = chain_of(e, &|e| row_of_table(inputs, e, inner), &of_value)?;
        Some(Self { table, first, chain })
    }
}

/// The table of which `e` is an element, and the first element of the value's row.
fn row_of_table(inputs: &Inputs, e: &Expr, inner: usize) -> Option<(Node, Expr)> {
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
    /// The scale of each row, a leading step of the chain; none for 1.
    scales: Option<Dense<'a, V>>,
    /// The other steps.
    chain: RowChain<'a, V>,
    inner: usize,
}

/// The blocks of consecutive values.
fn blocks(of: Range<usize>, inner: usize) -> impl Iterator<Item = Range<usize>> {
    let len = block_len(inner);
    of.clone().step_by(len).map(move |at| at..(at + len).min(of.end))
}

/// Numbers of a tile.
const TILE: usize = 512;

/// Values that are prefetched before those of a row are reduced, beyond its end. The arithmetic on a value may fill the
/// processor's reorder buffer, so that it does not reach the next values by itself.
const AHEAD: usize = 16;

/// Bytes of a table that the L2 cache holds, so that its rows are not prefetched.
const CACHED: usize = 1 << 20;

/// Memory for the rows of a bag.
struct Scratch<V, S> {
    /// The states of the lanes of a block.
    lanes: Vec<S>,
    /// Rows of the table to which the chain is applied.
    tile: Vec<V>,
}

impl<'a, V: Number + ArrayElement> EmbeddingBag<'a, V> {
    /// The values of a block of value indices: `first` is the first element of the table row.
    pub(super) fn new<'b: 'a>(
        table: &'a [V],
        inner: usize,
        block: &mut Block<'b>,
        first: OpId,
        chain: &[ChainStep<OpId>],
    ) -> Self {
        let firsts = block.values::<u32>(first);
        let scale = chain.first().filter(|step| step.is_scale()).and_then(|step| step.operand());
        let scales = scale.map(|&scale| block.values::<V>(scale));
        let chain = RowChain::new(&chain[usize::from(scales.is_some())..], block);
        if firsts.iter().max().is_none_or(|&first| first as usize + inner <= table.len()) {
            return Self { table: table.into(), firsts, scales, chain, inner };
        }
        // Only a failed check leads here. An index out of range reads the last element.
        let element = |k: usize| {
            let at = firsts[k / inner].wrapping_add((k % inner) as u32);
            table[(at as usize).min(table.len() - 1)]
        };
        let len = firsts.len();
        let values: Vec<V> = (0..len * inner).map(element).collect();
        let firsts: Vec<u32> = (0..len).map(|value| (value * inner) as u32).collect();
        Self { table: values.into(), firsts: firsts.into(), scales, chain, inner }
    }

    /// Reduces consecutive rows of values. The values of row `k` begin at value `start(k)`.
    pub(super) fn rows<M: Monoid<V>>(&self, monoid: M, start: impl Fn(usize) -> usize, out: &mut [M::State]) {
        let mut scratch = self.scratch(monoid);
        let is_far = size_of_val::<[V]>(&self.table) > CACHED;
        let (mut at, mut fetched) = (0, 0);
        for (row, out) in out.chunks_exact_mut(self.inner).enumerate() {
            let end = start(row + 1);
            if is_far && end - at <= block_len(self.inner) {
                fetched = self.prefetch(fetched.max(at), end + AHEAD);
            }
            self.row(at..end, monoid, &mut scratch, out);
            at = end;
        }
    }

    /// Prefetches the table rows of values `from..to`, as far as there are that many. Returns the end.
    #[inline]
    fn prefetch(&self, from: usize, to: usize) -> usize {
        let to = to.min(self.firsts.len()).max(from);
        let table: &[V] = &self.table;
        for &first in &self.firsts[from..to] {
            for k in (0..self.inner).step_by(LINE / size_of::<V>()) {
                simd::prefetch(table, first as usize + k);
            }
        }
        to
    }

    /// Reduces each block of the values.
    pub(super) fn blocks<M: Monoid<V>>(&self, monoid: M, out: &mut [M::State]) {
        let mut scratch = self.scratch(monoid);
        for (picked, out) in blocks(0..self.firsts.len(), self.inner).zip(out.chunks_exact_mut(self.inner)) {
            self.block(picked, monoid, &mut scratch, out);
        }
    }
}

impl<V: Number + ArrayElement> EmbeddingBag<'_, V> {
    fn scratch<M: Monoid<V>>(&self, monoid: M) -> Scratch<V, M::State> {
        let rows = if self.chain.is_empty() { 0 } else { (TILE / self.inner).max(1) };
        Scratch {
            lanes: vec![monoid.identity(); wide_lanes(self.inner) * self.inner],
            tile: vec![V::default(); rows * self.inner],
        }
    }

    /// Reduces one block.
    fn block<M: Monoid<V>>(
        &self,
        picked: Range<usize>,
        monoid: M,
        scratch: &mut Scratch<V, M::State>,
        out: &mut [M::State],
    ) {
        let Scratch { lanes, tile } = scratch;
        lanes.fill(monoid.identity());
        let step = wide_lanes(self.inner);
        for (lane, states) in lanes.chunks_exact_mut(self.inner).enumerate() {
            self.fold(monoid, (lane + picked.start..picked.end, step), states, tile);
        }
        merge_lanes(lanes, monoid, out);
    }

    /// Reduces one row.
    fn row<M: Monoid<V>>(
        &self,
        picked: Range<usize>,
        monoid: M,
        scratch: &mut Scratch<V, M::State>,
        out: &mut [M::State],
    ) {
        let (inner, len) = (self.inner, picked.len());
        if len <= COLUMNS_FOLD_LEN {
            out.fill(monoid.identity());
            self.fold(monoid, (picked, 1), out, &mut scratch.tile);
        } else if len <= block_len(inner) {
            self.block(picked, monoid, scratch, out);
        } else {
            let mut fold = RowFold::new(len, inner, monoid);
            for picked in blocks(picked, inner) {
                self.block(picked, monoid, scratch, out);
                fold.push_partial(out);
            }
            fold.finish(out);
        }
    }
}

impl<V: Number + ArrayElement> EmbeddingBag<'_, V> {
    /// Adds every `step`-th of the values `picked` to the states of their columns.
    fn fold<M: Monoid<V>>(
        &self,
        monoid: M,
        (picked, step): (Range<usize>, usize),
        states: &mut [M::State],
        tile: &mut [V],
    ) {
        let inner = self.inner;
        if self.chain.is_empty() {
            let rows = TableRows { table: &self.table, firsts: Some(&self.firsts), inner };
            return match &self.scales {
                Some(scales) => fold_rows(monoid, rows, &scales[..], (picked, step), states),
                None => fold_rows(monoid, rows, Unscaled, (picked, step), states),
            };
        }
        let mut at = picked.start;
        while at < picked.end {
            let n = (tile.len() / inner).min((picked.end - at).div_ceil(step));
            let tile = &mut tile[..n * inner];
            simd::run(Copy { bag: self, from: at, step, out: tile });
            self.chain.apply(tile, inner, (at, step));
            fold_rows(monoid, TableRows { table: tile, firsts: None, inner }, Unscaled, (0..n, 1), states);
            at += n * step;
        }
    }
}

/// Copies values, scaled: every `step`-th one from value `from` on.
struct Copy<'l, 'a, V: Clone> {
    bag: &'l EmbeddingBag<'a, V>,
    from: usize,
    step: usize,
    out: &'l mut [V],
}

impl<V: Number + ArrayElement> Loop for Copy<'_, '_, V> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { bag, from, step, out } = self;
        for (k, out) in out.chunks_exact_mut(bag.inner).enumerate() {
            let at = from + k * step;
            let row = &bag.table[bag.firsts[at] as usize..][..bag.inner];
            // A compile-time length, so that the stores are as wide as the loads of the chain.
            let ((groups, rest), (rows, last)) = (out.as_chunks_mut::<8>(), row.as_chunks::<8>());
            match &bag.scales {
                Some(scales) => {
                    groups.iter_mut().zip(rows).for_each(|(out, row)| *out = row.map(|x| x.mul(scales[at])));
                    rest.iter_mut().zip(last).for_each(|(out, x)| *out = x.mul(scales[at]));
                }
                None => {
                    groups.iter_mut().zip(rows).for_each(|(out, row)| *out = *row);
                    rest.copy_from_slice(last);
                }
            }
        }
    }
}
