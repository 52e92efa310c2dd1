//! The host side of `shaders/sort.wgsl`.

use super::codegen::{Binding, Element, ModuleBuilder, StorageArray};
use super::launch::{Lowered, Lowering, WORKGROUP_SCAN, check_elements, live_function};
use super::scan;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::plan::Step;

/// Elements sorted per workgroup.
pub const TILE: u32 = 2048;

/// Bits of the key per pass.
pub const DIGIT_BITS: u32 = 8;

/// Maximum number of keys: the digit counts must fit one scan.
pub const MAX_CAPACITY: u32 = u32::MAX - (1 << 15);

/// Number of tiles, and of workgroups of `count` and `scatter`.
pub const fn tiles(capacity: u32) -> u32 {
    capacity.div_ceil(TILE)
}

/// Number of digit counts: the capacity of the scan between `count` and `scatter`. The scratch buffer `digits` is one
/// word longer.
pub const fn counts_len(capacity: u32) -> u32 {
    tiles(capacity) << DIGIT_BITS
}

/// Number of passes for keys of that many bits; 0 for keys of 0 bits, whose permutation is the identity.
pub const fn passes(key_bits: u32) -> u32 {
    key_bits.div_ceil(DIGIT_BITS)
}

/// The template's parameter words for a pass, counted from 0.
pub const fn head(capacity: u32, pass: u32) -> [u32; 8] {
    [capacity, pass * DIGIT_BITS, 0, 0, 0, 0, 0, 0]
}

/// Index of the scratch buffer of digit counts.
pub(super) const DIGITS: usize = 0;

pub(super) const SORT: &str = include_str!("../../../shaders/sort.wgsl");

/// Lowers a radix sort with one pass per byte of the keys. Keys and permutation alternate between two pairs of scratch
/// buffers.
pub(super) fn lower(step: &Step, key: &Expr, count: &Extent, bits: u32, to: Lowering<'_>) -> Result<Lowered> {
    let Lowering { first_slot, sizes, modules } = to;
    check_elements(step, sizes.capacity(count), MAX_CAPACITY, "a sort")?;
    let n = sizes.capacity(count);
    if n == 0 {
        return Ok(Lowered::default());
    }
    let passes = passes(bits).max(1);
    let tiles = tiles(n);
    let digits = counts_len(n);
    // Scratch buffers: digit counts, tile sums of their scan, two for keys, two for permutations.
    let (digits_at, tiles_at, keys_at, perm_at) = (DIGITS, 1, [2, 3], [4, 5]);
    let mut launches = Vec::new();
    for pass in 0..passes {
        let is_first = pass == 0;
        let is_last = pass + 1 == passes;
        let (to, from) = (pass as usize % 2, 1 - pass as usize % 2);
        let g = modules.get(step, ("sort", pass), || {
            let mut m = ModuleBuilder::new(step, first_slot).without_row_context();
            let capacity = "fn capacity() -> u32 {\n    return p.head[0].x;\n}";
            let words = |name: &'static str, binding| StorageArray::new(name, Element::WORD, binding);
            let mut scratch = vec![words("digits", Binding::Scratch(digits_at))];
            if is_first {
                live_function(&mut m, "live", count);
                m.value_function("value", key);
                m.push("fn load(i: u32) -> u32 {\n    return value(i, 0u);\n}");
                m.push("fn index(i: u32) -> u32 {\n    return i;\n}");
            } else {
                m = ModuleBuilder::empty(step, first_slot);
                m.push("fn live() -> u32 {\n    return capacity();\n}");
                m.push("fn load(i: u32) -> u32 {\n    return load_keys_in(i);\n}");
                m.push("fn index(i: u32) -> u32 {\n    return load_perm_in(i);\n}");
                scratch.push(words("keys_in", Binding::ScratchRead(keys_at[from])));
                scratch.push(words("perm_in", Binding::ScratchRead(perm_at[from])));
            }
            m.push(capacity);
            m.push("fn store(i: u32, key: u32, index: u32) {\n    store_keys_out(i, key);\n    store_perm_out(i, index);\n}");
            scratch.push(words("keys_out", Binding::Scratch(keys_at[to])));
            let perm_out = if is_last { Binding::Output(0) } else { Binding::Scratch(perm_at[to]) };
            scratch.push(words("perm_out", perm_out));
            m.finish(&[SORT, WORKGROUP_SCAN], "u32", None, scratch)
        });
        let head = head(n, pass);
        launches.push(g.launch(sizes, "count", head, tiles, 1));
        let sums = modules.get(step, ("sort digits", 0), || {
            let mut m = ModuleBuilder::empty(step, first_slot);
            m.push("fn live() -> u32 {\n    return p.head[0].x;\n}");
            m.push("fn load(i: u32) -> u32 {\n    return load_out(i);\n}");
            m.push(scan::LOADS_TWICE);
            let scratch = [("out", Binding::Scratch(digits_at)), ("tiles", Binding::Scratch(tiles_at))];
            let scratch = scratch.map(|(name, binding)| StorageArray::new(name, Element::WORD, binding));
            m.finish(&[scan::SCAN, WORKGROUP_SCAN], "u32", None, scratch.into())
        });
        launches.extend(scan::launches(sizes, &sums, digits));
        launches.push(g.launch(sizes, "scatter", head, tiles, 1));
    }
    let array = u64::from(n) * 4;
    let spare = if passes > 1 { array } else { 4 };
    let scratch = vec![u64::from(digits + 1) * 4, u64::from(scan::scratch_len(digits)) * 4, array, spare, array, spare];
    Ok(Lowered { launches, scratch, ..Lowered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::scan;

    #[test]
    fn counts_fit_a_scan() {
        assert!(counts_len(MAX_CAPACITY) < scan::MAX_CAPACITY);
        assert_eq!(counts_len(0), 0);
        assert_eq!(counts_len(1), 256);
        assert_eq!(counts_len(2049), 512);
    }

    #[test]
    fn passes_cover_the_bits() {
        assert_eq!([0, 1, 8, 9, 31, 32].map(passes), [0, 1, 1, 2, 4, 4]);
    }
}
