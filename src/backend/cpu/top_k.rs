//! Selection of the smallest keys of rows, on all cores. Twin of `shaders/top_k.wgsl`.
//!
//! An entry is a key in the upper bits of an integer and its position in the lower bits. Entries are distinct, so that
//! the smallest entries are the same for every algorithm: those of a stable sort.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::Value;
use super::eval::Block;
use super::parallel;
use super::simd::{self, Loop};
use super::work_items::{RowStarts, WorkItem};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan, Rows};
use crate::graph::primitive::TopK;

/// Most elements, and most rows, per work item. A longer row is divided into blocks of this length.
const CHUNK: usize = 4096;

/// Blocks of a long row per core.
const PARTS: usize = 4;

/// Keys that are compared with the greatest selected key at once.
const GROUP: usize = 16;

/// A key and its position.
trait Entry: Copy + Ord + Send + Sync {
    /// The key.
    type Key: Value + Copy + PartialOrd;
    /// Greater than every entry.
    const NONE: Self;
    fn new(key: Self::Key, at: u32) -> Self;
    /// The key; the greatest one for [`Self::NONE`].
    fn key(self) -> Self::Key;
    fn at(self) -> u32;
}

macro_rules! entry {
    ($entry:ty, $key:ty) => {
        impl Entry for $entry {
            type Key = $key;
            const NONE: Self = <$entry>::MAX;
            #[inline(always)]
            fn new(key: $key, at: u32) -> Self {
                Self::from(key) << 32 | Self::from(at)
            }
            #[inline(always)]
            fn key(self) -> $key {
                (self >> 32) as $key
            }
            #[inline(always)]
            fn at(self) -> u32 {
                self as u32
            }
        }
    };
}
entry!(u64, u32);
entry!(u128, u64);

impl CpuPrimitive for TopK<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let nrows = inputs.count(&self.on.nrows);
        top_k(inputs, &self.on.rows, nrows, &self.key, self.k as usize, &mut outputs[0]);
        Ok(())
    }
}

/// Fills `out` with the positions of the `k` smallest keys of each of the first `nrows` rows, in order, and with 0 for
/// the elements that a row lacks.
pub(crate) fn top_k(inputs: &Inputs, rows: &Rows, nrows: usize, key: &Expr, k: usize, out: &mut Array) {
    let (rows, expr) = (RowStarts::new(inputs, rows), CompiledExpr::new(inputs, key));
    let out = &mut out.slice_mut::<u32>()[..nrows * k];
    macro_rules! select {
        ($entry:ty: $($k:literal)*) => {
            match k {
                $(..=$k => select::<$entry, $k>(&expr, &rows, k, out),)*
                _ => unreachable!("bug: a selection of {k}"),
            }
        };
    }
    match key.dtype() {
        DType::U64 => select!(u128: 1 2 4 8 16),
        _ => select!(u64: 1 2 3 4 5 6 8 10 12 16),
    }
}

/// As [`top_k`], with room for `K` entries, at least `k`.
fn select<E: Entry, const K: usize>(expr: &CompiledExpr<'_>, rows: &RowStarts<'_>, k: usize, out: &mut [u32]) {
    parallel::for_each(rows.work_items(k, CHUNK * k, out), &|WorkItem { first, end, out }| {
        let (from, to) = (rows.at(first), rows.at(end));
        if to - from > CHUNK {
            // A single row.
            return select_long::<E, K>(expr, from, to).store(from, to, out);
        }
        let keys = Block::consecutive(expr, from as u32, to - from).eval_as::<E::Key>();
        for (row, out) in (first..end).zip(out.chunks_exact_mut(k)) {
            let (start, end) = (rows.at(row), rows.at(row + 1));
            let mut smallest = Smallest::<E, K>::new();
            simd::run(Push { smallest: &mut smallest, keys: &keys[start - from..end - from], start: start as u32 });
            smallest.store(start, end, out);
        }
    });
}

/// The smallest entries of a row that starts at `from`, on all cores.
fn select_long<E: Entry, const K: usize>(expr: &CompiledExpr<'_>, from: usize, to: usize) -> Smallest<E, K> {
    let blocks = (to - from).div_ceil(CHUNK);
    let parts = (PARTS * rayon::current_num_threads()).min(blocks);
    let found = parallel::collect(parts, &|part| {
        let mut smallest = Smallest::<E, K>::new();
        for block in blocks * part / parts..blocks * (part + 1) / parts {
            let start = from + block * CHUNK;
            let keys = Block::consecutive(expr, start as u32, CHUNK.min(to - start)).eval_as::<E::Key>();
            simd::run(Push { smallest: &mut smallest, keys: &keys, start: start as u32 });
        }
        smallest
    });
    let mut all = Smallest::new();
    found.iter().flat_map(|part| part.0).for_each(|entry| all.insert(entry));
    all
}

/// The `K` smallest entries so far, in ascending order.
#[derive(Clone, Copy)]
struct Smallest<E, const K: usize>([E; K]);

impl<E: Entry, const K: usize> Smallest<E, K> {
    fn new() -> Self {
        Self([E::NONE; K])
    }

    /// Inserts the entry. One comparison per entry and no branch, since the place of an entry cannot be predicted.
    #[inline(always)]
    fn insert(&mut self, mut entry: E) {
        for slot in &mut self.0 {
            let (low, high) = if entry < *slot { (entry, *slot) } else { (*slot, entry) };
            (*slot, entry) = (low, high);
        }
    }

    /// Stores the positions of a row `start..end`, then 0.
    fn store(&self, start: usize, end: usize, out: &mut [u32]) {
        let found = out.len().min(end - start);
        let (positions, rest) = out.split_at_mut(found);
        for (slot, entry) in positions.iter_mut().zip(&self.0) {
            *slot = entry.at();
        }
        rest.fill(0);
    }
}

/// Inserts the keys at the positions from `start` on.
struct Push<'l, E: Entry, const K: usize> {
    smallest: &'l mut Smallest<E, K>,
    keys: &'l [E::Key],
    start: u32,
}

impl<E: Entry, const K: usize> Loop for Push<'_, E, K> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { smallest: into, keys, start } = self;
        // A copy, which stays in registers.
        let mut smallest = *into;
        for (group, start) in keys.chunks(GROUP).zip((start..).step_by(GROUP)) {
            let limit = smallest.0[K - 1];
            if !group.iter().fold(false, |any, &key| any | (key <= limit.key())) {
                continue;
            }
            for (&key, at) in group.iter().zip(start..) {
                let entry = E::new(key, at);
                if entry < smallest.0[K - 1] {
                    smallest.insert(entry);
                }
            }
        }
        *into = smallest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_entries_are_those_of_a_stable_sort() {
        for len in [0usize, 1, 4, 5, 6, 15, 16, 17, 100, 1000] {
            for spread in [0, 28, 31] {
                let key = |k: u32| if k % 7 == 3 { u32::MAX } else { k.wrapping_mul(0x9e37_79b9) >> spread };
                let keys: Vec<u32> = (0..len as u32).map(key).collect();
                let mut expected: Vec<u32> = (9..9 + len as u32).collect();
                expected.sort_by_key(|&at| keys[at as usize - 9]);
                expected.resize(len.max(5), 0);
                let mut smallest = Smallest::<u64, 5>::new();
                simd::run(Push { smallest: &mut smallest, keys: &keys, start: 9 });
                let mut found = [7; 5];
                smallest.store(9, 9 + len, &mut found);
                assert_eq!(found, expected[..5], "{len} keys of {} bits", 32 - spread);
                let wide: Vec<u64> = keys.iter().map(|&key| u64::from(key) << 20).collect();
                let mut smallest = Smallest::<u128, 8>::new();
                simd::run(Push { smallest: &mut smallest, keys: &wide, start: 9 });
                smallest.store(9, 9 + len, &mut found);
                assert_eq!(found, expected[..5], "{len} wide keys");
            }
        }
    }
}
