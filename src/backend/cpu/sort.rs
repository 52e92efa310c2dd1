//! Stable radix sort of u32 keys. CPU counterpart of `shaders/sort.wgsl`.
//!
//! An entry is a key in the upper half of a u64 and its index in the lower half. Entries are distinct, so that sorting
//! them by any algorithm gives the stable order of the keys.

use std::ops::{Deref, Range};
use std::sync::Arc;

use rayon::prelude::*;

use super::array::Array;
use super::compiled_expr::Inputs;
use super::compute::CpuPrimitive;
use super::map;
use super::pool::Pool;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::InPlan;
use crate::graph::primitive::Sort;

const DIGITS: usize = 256;

/// Most keys sorted on one core. More keys are sorted in halves, which are merged.
const SEQUENTIAL_SORT_LEN: usize = 1 << 16;

/// Most entries merged on one core.
const SEQUENTIAL_MERGE_LEN: usize = 1 << 14;

/// Keys per evaluated block.
const BLOCK: usize = 1 << 13;

impl CpuPrimitive for Sort<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let (op, n, out) = (step.out.op(), inputs.count(&self.count), &mut outputs[0]);
        let mut keys = Array::uninit(&inputs.pool, op, DType::U32, n)?;
        map::map(inputs, &self.key, n, &mut keys);
        sort_indices(&inputs.pool, op, |at| &keys.slice()[at], self.bits, 0, &mut out.slice_mut()[..n])?;
        out.zero_rest(n);
        Ok(())
    }
}

/// The permutation that sorts the keys, stably. Only the lowest `key_bits` bits of a key may be set.
#[cfg(test)]
pub fn sort_permutation(keys: &[u32], key_bits: u32) -> Vec<u32> {
    let mut out = vec![0; keys.len()];
    sort_indices(&Arc::default(), "sort", |indices| &keys[indices], key_bits, 0, &mut out).expect("small enough");
    out
}

/// Fills `out` with the permutation that sorts `out.len()` keys, plus `first`. `keys` returns the keys of a block.
///
/// # Errors
/// The memory for the entries, 16 bytes per key, is not available.
pub(super) fn sort_indices<K: Deref<Target = [u32]>>(
    pool: &Arc<Pool>,
    op: &str,
    keys: impl Fn(Range<usize>) -> K + Sync,
    key_bits: u32,
    first: u32,
    out: &mut [u32],
) -> Result<()> {
    let n = out.len();
    let mut entries = Array::uninit(pool, op, DType::U64, n)?;
    let entries: &mut [u64] = entries.slice_mut();
    let pack = |k: usize, entries: &mut [u64]| {
        let start = k * BLOCK;
        let keys = keys(start..start + entries.len());
        for ((entry, &key), index) in entries.iter_mut().zip(&keys[..]).zip(start as u64..) {
            *entry = u64::from(key) << 32 | index;
        }
    };
    let index = |out: &mut [u32], entries: &[u64]| {
        for (out, &entry) in out.iter_mut().zip(entries) {
            *out = first + entry as u32;
        }
    };
    if n <= SEQUENTIAL_SORT_LEN {
        entries.chunks_mut(BLOCK).enumerate().for_each(|(k, entries)| pack(k, entries));
        if n < DIGITS {
            entries.sort_unstable();
            index(out, entries);
            return Ok(());
        }
    } else {
        entries.par_chunks_mut(BLOCK).enumerate().for_each(|(k, entries)| pack(k, entries));
    }
    let mut spare = Array::uninit(pool, op, DType::U64, n)?;
    let spare: &mut [u64] = spare.slice_mut();
    let in_spare = sort(entries, spare, key_bits, rayon::current_num_threads());
    let sorted: &[u64] = if in_spare { spare } else { entries };
    if n <= SEQUENTIAL_SORT_LEN {
        index(out, sorted);
    } else {
        out.par_chunks_mut(BLOCK).zip(sorted.par_chunks(BLOCK)).for_each(|(out, entries)| index(out, entries));
    }
    Ok(())
}

/// Sorts on `cores` cores. Returns whether the result lies in `spare`.
fn sort(entries: &mut [u64], spare: &mut [u64], key_bits: u32, cores: usize) -> bool {
    if cores < 2 || entries.len() <= SEQUENTIAL_SORT_LEN {
        return radix_sort(entries, spare, key_bits);
    }
    let half = entries.len() / 2;
    let (low, high) = entries.split_at_mut(half);
    let (spare_low, spare_high) = spare.split_at_mut(half);
    let (low_in_spare, high_in_spare) = rayon::join(
        || sort(low, spare_low, key_bits, cores / 2),
        || sort(high, spare_high, key_bits, cores - cores / 2),
    );
    // The halves may differ in their number of passes: a digit that is equal in all keys of a half needs no pass.
    match (low_in_spare, high_in_spare) {
        (true, false) => low.copy_from_slice(spare_low),
        (false, true) => high.copy_from_slice(spare_high),
        _ => {}
    }
    let in_spare = low_in_spare && high_in_spare;
    if in_spare {
        merge(spare_low, spare_high, entries);
    } else {
        merge(low, high, spare);
    }
    !in_spare
}

/// Merges two sorted slices.
fn merge(a: &[u64], b: &[u64], out: &mut [u64]) {
    if out.len() > SEQUENTIAL_MERGE_LEN {
        // Splits both slices at the middle value of the longer one; the lower parts come first.
        let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
        let (long_low, long_high) = long.split_at(long.len() / 2);
        let (short_low, short_high) = short.split_at(short.partition_point(|&entry| entry < long_high[0]));
        let (out_low, out_high) = out.split_at_mut(long_low.len() + short_low.len());
        rayon::join(|| merge(long_low, short_low, out_low), || merge(long_high, short_high, out_high));
        return;
    }
    let (mut i, mut j) = (0, 0);
    for out in out {
        // An exhausted slice yields `u64::MAX`, which exceeds every remaining entry.
        let (x, y) = (a.get(i).copied().unwrap_or(u64::MAX), b.get(j).copied().unwrap_or(u64::MAX));
        let takes_a = x < y;
        *out = if takes_a { x } else { y };
        i += usize::from(takes_a);
        j += usize::from(!takes_a);
    }
}

/// Radix sort, least significant digit first. Returns whether the result lies in `spare`.
fn radix_sort(entries: &mut [u64], spare: &mut [u64], key_bits: u32) -> bool {
    let (mut from, mut to) = (entries, spare);
    let mut swapped = false;
    for pass in 0..key_bits.div_ceil(8) {
        if sort_pass(from, to, 32 + 8 * pass) {
            std::mem::swap(&mut from, &mut to);
            swapped = !swapped;
        }
    }
    swapped
}

/// Counting sort by the 8 bits from `shift` on. Returns false and writes nothing if these bits are equal in all keys.
fn sort_pass(from: &[u64], to: &mut [u64], shift: u32) -> bool {
    let digit = |entry: u64| (entry >> shift) as usize % DIGITS;
    let mut starts = [0; DIGITS];
    for &entry in from {
        starts[digit(entry)] += 1;
    }
    if starts.contains(&from.len()) {
        return false;
    }
    let mut total = 0;
    for start in &mut starts {
        total += std::mem::replace(start, total);
    }
    for &entry in from {
        let at = &mut starts[digit(entry)];
        to[*at] = entry;
        *at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_comparison_sort() {
        for len in [0u32, 1, 2, 255, 256, 257, 5000, 70_000, 300_001] {
            for bits in [0, 1, 7, 8, 9, 20, 32] {
                let mask = u32::MAX.checked_shr(32 - bits).unwrap_or(0);
                let keys: Vec<_> =
                    (0..len).map(|k| (k ^ 0x55).wrapping_mul(0x9e37_79b9).reverse_bits() & mask).collect();
                let mut expected: Vec<u32> = (0..len).collect();
                expected.sort_by_key(|&k| keys[k as usize]);
                assert_eq!(sort_permutation(&keys, bits), expected, "{len} keys of {bits} bits");
            }
        }
    }

    #[test]
    fn parallel_sort_equals_the_sequential_sort() {
        for len in [SEQUENTIAL_SORT_LEN as u64 + 1, 300_001] {
            for bits in [3, 20] {
                let entry = |k: u64| ((k ^ 0x55).wrapping_mul(0x9e37_79b9) >> 7 & ((1 << bits) - 1)) << 32 | k;
                check(&(0..len).map(entry).collect::<Vec<u64>>(), bits);
            }
        }
    }

    fn check(entries: &[u64], bits: u32) {
        let mut expected = entries.to_vec();
        expected.sort_unstable();
        let (mut sorted, mut spare) = (entries.to_vec(), vec![0; entries.len()]);
        let in_spare = sort(&mut sorted, &mut spare, bits, 5);
        assert!(if in_spare { spare } else { sorted } == expected, "{} keys of {bits} bits", entries.len());
    }

    #[test]
    fn halves_with_different_numbers_of_passes_are_merged() {
        let n = 4 * SEQUENTIAL_SORT_LEN as u64;
        for constant in 0..4 {
            // The keys of one quarter differ in their lowest digit only.
            let key = |k: u64| if 4 * k / n == constant { k % 200 } else { k.wrapping_mul(0x9e37_79b9) & 0xffff };
            check(&(0..n).map(|k| key(k) << 32 | k).collect::<Vec<u64>>(), 16);
        }
    }
}
