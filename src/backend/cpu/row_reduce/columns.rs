//! Row reductions of values of several columns: consecutive values, or rows of a table (embedding bags), possibly
//! through a chain of element-wise operations. A leading scale and [`Clamp`] of the chain are applied to the rows as they
//! are read. If there are further steps, rows are copied tile by tile, and the steps are applied to the tiles.

use std::borrow::Cow;
use std::ops::Range;

use super::row_chain::{ChainStep, Clamp, RowChain};
use super::{RowFold, RowMonoid, ValuesOfColumns, merge_lanes};
use crate::backend::cpu::accumulate::Reducible;
use crate::backend::cpu::array::ArrayElement;
use crate::backend::cpu::compiled_expr::OpId;
use crate::backend::cpu::encoding::Dense;
use crate::backend::cpu::eval::Block;
use crate::backend::cpu::simd::{self, LINE, Loop};
use crate::graph::canonical_order::reduction::{COLUMNS_FOLD_LEN, block_len, wide_lanes};

/// Numbers of a tile.
const TILE: usize = 512;

/// Prefetch distance beyond the end of a row, in values. The arithmetic on a value may fill the processor's reorder
/// buffer, so that it does not reach the next values by itself.
const AHEAD: usize = 16;

/// Bytes of a table that the L2 cache holds, so that its rows are not prefetched.
const CACHED: usize = 1 << 20;

/// Values of several columns.
pub(in super::super) struct Columns<'a, V: Clone> {
    table: Cow<'a, [V]>,
    /// The first number of each value, in range with the rest of its row; `None` for consecutive values.
    firsts: Option<Dense<'a, u32>>,
    /// The scale of each value, a leading step of the chain; `None` for 1.
    scales: Option<Dense<'a, V>>,
    /// The steps after the scale that are applied to the values as they are read; `None` for none.
    clamp: Option<Clamp<V>>,
    /// The other steps, `None` if there are none and values are read in place.
    chain: Option<RowChain<'a, V>>,
    inner: usize,
}

impl<'a, V: Reducible + ArrayElement> Columns<'a, V> {
    /// Consecutive values.
    pub(in super::super) fn consecutive(values: &'a [V], inner: usize) -> Self {
        Self { table: values.into(), firsts: None, scales: None, clamp: None, chain: None, inner }
    }

    /// Rows of a table: the values of a block of value indices, whose first number is the operation `first`.
    pub(in super::super) fn of_table<'b: 'a>(
        table: &'a [V],
        inner: usize,
        block: &mut Block<'b>,
        first: OpId,
        chain: &[ChainStep<OpId>],
    ) -> Self {
        let firsts = block.values::<u32>(first);
        let scale = chain.first().filter(|step| step.is_scale()).and_then(|step| step.operand());
        let scales = scale.map(|&scale| block.values::<V>(scale));
        let mut chain = RowChain::new(&chain[usize::from(scales.is_some())..], block);
        let clamp = chain.take_clamp();
        let chain = (!chain.is_empty()).then_some(chain);
        if firsts.iter().max().is_none_or(|&first| first as usize + inner <= table.len()) {
            return Self { table: table.into(), firsts: Some(firsts), scales, clamp, chain, inner };
        }
        // Only a failed check leads here. An index out of range reads the last element.
        let element = |k: usize| {
            let at = firsts[k / inner].wrapping_add((k % inner) as u32);
            table[(at as usize).min(table.len() - 1)]
        };
        let values: Vec<V> = (0..firsts.len() * inner).map(element).collect();
        Self { table: values.into(), firsts: None, scales, clamp, chain, inner }
    }

    /// Reduces consecutive rows of values. The values of row `k` begin at value `start(k)`.
    pub(in super::super) fn rows<M: RowMonoid<V>>(
        &self,
        monoid: M,
        start: impl Fn(usize) -> usize,
        out: &mut [M::State],
    ) {
        let mut reduction = Reduction::new(self, monoid);
        let is_far = self.firsts.is_some() && size_of_val::<[V]>(&self.table) > CACHED;
        let (mut at, mut fetched) = (start(0), 0);
        for (row, out) in out.chunks_exact_mut(self.inner).enumerate() {
            let end = start(row + 1);
            if is_far && end - at <= block_len(self.inner) {
                fetched = reduction.rows.prefetch(fetched.max(at), end + AHEAD);
            }
            reduction.row(at..end, out);
            at = end;
        }
    }

    /// Reduces each block of the values of a row of several blocks.
    pub(in super::super) fn blocks<M: RowMonoid<V>>(&self, monoid: M, out: &mut [M::State]) {
        let mut reduction = Reduction::new(self, monoid);
        let len = self.firsts.as_ref().map_or(self.table.len() / self.inner, |firsts| firsts.len());
        for (picked, out) in blocks(0..len, self.inner).zip(out.chunks_exact_mut(self.inner)) {
            reduction.block(picked, out);
        }
    }
}

/// A reduction of values of several columns.
struct Reduction<'c, 'a, V: Reducible, M: RowMonoid<V>> {
    monoid: M,
    rows: Rows<'c, V>,
    chain: Option<&'c RowChain<'a, V>>,
    /// Memory for the lanes of a block.
    lanes: Vec<M::State>,
    /// Memory for the values to which the chain is applied, or for scaled or clamped integers; empty if rows are folded
    /// as they are read.
    tile: Vec<V>,
}

impl<'c, 'a, V: Reducible + ArrayElement, M: RowMonoid<V>> Reduction<'c, 'a, V, M> {
    fn new(of: &'c Columns<'a, V>, monoid: M) -> Self {
        let inner = of.inner;
        let (firsts, scales) = (of.firsts.as_deref(), of.scales.as_deref());
        let is_tiled = of.chain.is_some() || !V::IS_FLOAT && (scales.is_some() || of.clamp.is_some());
        let tiled = if is_tiled { (TILE / inner).max(1) } else { 0 };
        Self {
            monoid,
            rows: Rows { table: &of.table, firsts, scales, clamp: of.clamp, inner },
            chain: of.chain.as_ref(),
            lanes: vec![monoid.identity(); wide_lanes(inner) * inner],
            tile: vec![V::default(); tiled * inner],
        }
    }

    /// Reduces one row.
    fn row(&mut self, picked: Range<usize>, out: &mut [M::State]) {
        let (inner, len) = (self.rows.inner, picked.len());
        if len <= COLUMNS_FOLD_LEN {
            out.fill(self.monoid.identity());
            self.fold((picked, 1), out);
        } else if len <= block_len(inner) {
            self.block(picked, out);
        } else {
            let mut fold = RowFold::new(len, inner, self.monoid);
            for picked in blocks(picked, inner) {
                self.block(picked, out);
                fold.push(out);
            }
            fold.finish(out);
        }
    }

    /// Reduces one block.
    fn block(&mut self, picked: Range<usize>, out: &mut [M::State]) {
        let (step, inner) = (wide_lanes(self.rows.inner), self.rows.inner);
        let mut lanes = std::mem::take(&mut self.lanes);
        lanes.fill(self.monoid.identity());
        if let (Rows { firsts: None, scales: None, clamp: None, table, .. }, None) = (self.rows, self.chain) {
            // The lanes are columns of rows of `step` values. The last such row may be shorter.
            let values = &table[picked.start * inner..picked.end * inner];
            let (whole, rest) = values.split_at(picked.len() / step * step * inner);
            let rows = |table, inner| Rows { table, firsts: None, scales: None, clamp: None, inner };
            fold_rows(self.monoid, rows(whole, step * inner), (0..picked.len() / step, 1), &mut lanes);
            fold_rows(self.monoid, rows(rest, rest.len()), (0..1, 1), &mut lanes[..rest.len()]);
        } else {
            for (lane, states) in lanes.chunks_exact_mut(inner).enumerate() {
                self.fold((lane + picked.start..picked.end, step), states);
            }
        }
        merge_lanes(&mut lanes, self.monoid, out);
        self.lanes = lanes;
    }

    /// Adds every `step`-th of the values `picked` to the states of their columns.
    fn fold(&mut self, (picked, step): (Range<usize>, usize), states: &mut [M::State]) {
        let Self { monoid, rows, chain, ref mut tile, .. } = *self;
        if tile.is_empty() {
            return fold_rows(monoid, rows, (picked, step), states);
        }
        let (mut at, inner) = (picked.start, rows.inner);
        while at < picked.end {
            let n = (tile.len() / inner).min((picked.end - at).div_ceil(step));
            let tile = &mut tile[..n * inner];
            simd::run(CopyRows { rows, from: at, step, out: tile });
            if let Some(chain) = chain {
                chain.apply(tile, inner, (at, step));
            }
            fold_rows(monoid, Rows { table: tile, firsts: None, scales: None, clamp: None, inner }, (0..n, 1), states);
            at += n * step;
        }
    }
}

/// The blocks of consecutive values.
fn blocks(of: Range<usize>, inner: usize) -> impl Iterator<Item = Range<usize>> {
    let len = block_len(inner);
    of.clone().step_by(len).map(move |at| at..(at + len).min(of.end))
}

/// Rows of numbers: row `k` starts at number `firsts[k]` of the table, or follows row `k - 1` if there are no `firsts`.
#[derive(Clone, Copy)]
struct Rows<'v, V> {
    table: &'v [V],
    firsts: Option<&'v [u32]>,
    /// The factor of each row, `None` for 1.
    scales: Option<&'v [V]>,
    /// Applied to all numbers, after the factors.
    clamp: Option<Clamp<V>>,
    /// Numbers per row.
    inner: usize,
}

impl<V: Reducible> Rows<'_, V> {
    /// Prefetches the rows `from..to`, as far as there are that many. Returns the end.
    #[inline]
    fn prefetch(&self, from: usize, to: usize) -> usize {
        let firsts = self.firsts.unwrap_or_default();
        let to = to.min(firsts.len()).max(from);
        for &first in &firsts[from..to] {
            for k in (0..self.inner).step_by(LINE / size_of::<V>()) {
                simd::prefetch(self.table, first as usize + k);
            }
        }
        to
    }

    /// The first number of row `k`.
    #[inline(always)]
    fn first(&self, k: usize) -> usize {
        self.firsts.map_or(k * self.inner, |firsts| firsts[k] as usize)
    }
}

/// Adds every `step`-th of the rows `picked` to the states of their columns.
fn fold_rows<V: Reducible, M: RowMonoid<V>>(
    monoid: M,
    rows: Rows<'_, V>,
    (picked, step): (Range<usize>, usize),
    states: &mut [M::State],
) {
    simd::run(FoldRows { monoid, rows, picked, step, states });
}

/// See [`fold_rows`]. The rows are read once for each group of up to 64 columns, whose states stay in registers.
struct FoldRows<'a, V: Reducible, M: RowMonoid<V>> {
    monoid: M,
    rows: Rows<'a, V>,
    picked: Range<usize>,
    step: usize,
    states: &'a mut [M::State],
}

impl<V: Reducible, M: RowMonoid<V>> FoldRows<'_, V, M> {
    /// `HAS_ALL`: with loops for groups of all lengths, which take most of the time that this module takes to compile.
    #[inline(always)]
    fn fold<const HAS_ALL: bool>(self) {
        let Self { monoid, rows, picked, step, states } = self;
        // Not a division: it takes longer than a row of few values. The step is a power of two.
        let n = (picked.len() + step - 1) >> step.trailing_zeros();
        let mut column = 0;
        macro_rules! groups {
            ($($n:literal),*) => {$(
                while let Some(states) = states[column..].first_chunk_mut::<$n>() {
                    // A loop for each kind of rows, since the compiler does not move the conditions out of the loop.
                    macro_rules! fold {
                        ($kind:ident) => {{
                            let group = Group::<V, $kind> { rows, from: picked.start, step, column };
                            monoid.fold_columns(states, n, group);
                        }};
                    }
                    // Scaled and clamped integers are copied to a tile first: no loops for them.
                    if V::IS_FLOAT && rows.clamp.is_some() {
                        fold!(CLAMPED);
                    } else if V::IS_FLOAT && rows.scales.is_some() {
                        fold!(SCALED);
                    } else if rows.firsts.is_some() {
                        fold!(PICKED);
                    } else {
                        fold!(CONSECUTIVE);
                    }
                    column += $n;
                }
            )*};
        }
        if HAS_ALL {
            groups!(64);
        }
        groups!(16, 4);
        if HAS_ALL {
            groups!(3, 2);
        }
        groups!(1);
    }
}

impl<V: Reducible, M: RowMonoid<V>> Loop for FoldRows<'_, V, M> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.fold::<true>();
    }
    #[inline(always)]
    fn run_without_avx2(self) {
        self.fold::<false>();
    }
}

/// Consecutive rows.
const CONSECUTIVE: u8 = 0;
/// Rows at `firsts`.
const PICKED: u8 = 1;
/// Scaled rows, at `firsts` if there are any.
const SCALED: u8 = 2;
/// Clamped rows, scaled and at `firsts` if there are any.
const CLAMPED: u8 = 3;

/// Columns `column..column + N` of every `step`-th row from row `from` on, of a kind of rows.
struct Group<'v, V, const KIND: u8> {
    rows: Rows<'v, V>,
    from: usize,
    step: usize,
    column: usize,
}

impl<V: Reducible, const KIND: u8, const N: usize> ValuesOfColumns<V, N> for Group<'_, V, KIND> {
    #[inline(always)]
    fn get(&self, k: usize) -> [V; N] {
        let Self { rows, from, step, column } = self;
        let k = from + k * step;
        let first = if KIND == CONSECUTIVE { k * rows.inner } else { rows.first(k) };
        let mut values = *rows.table[first + column..].first_chunk().expect("bug: a row beyond the table");
        if KIND < SCALED {
            return values;
        }
        let scale = rows.scales.map_or(V::ONE, |scales| scales[k]);
        match rows.clamp {
            Some(clamp) if KIND == CLAMPED => clamp.scaled(values, scale),
            _ => {
                for x in &mut values {
                    *x = x.mul(scale);
                }
                values
            }
        }
    }
}

/// Copies rows, scaled and clamped: every `step`-th one from row `from` on.
struct CopyRows<'l, V> {
    rows: Rows<'l, V>,
    from: usize,
    step: usize,
    out: &'l mut [V],
}

impl<V: Reducible> Loop for CopyRows<'_, V> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { rows, from, step, out } = self;
        let clamp = rows.clamp.unwrap_or(Clamp::none());
        for (k, out) in out.chunks_exact_mut(rows.inner).enumerate() {
            let at = from + k * step;
            let row = &rows.table[rows.first(at)..][..rows.inner];
            let scale = rows.scales.map_or(V::ONE, |scales| scales[at]);
            // A compile-time length, so that the stores are as wide as the loads of the chain.
            let ((groups, rest), (of_row, last)) = (out.as_chunks_mut::<8>(), row.as_chunks::<8>());
            for (out, row) in groups.iter_mut().zip(of_row) {
                *out = clamp.scaled(*row, scale);
            }
            for (out, &x) in rest.iter_mut().zip(last) {
                *out = clamp.scaled([x], scale)[0];
            }
        }
    }
}
