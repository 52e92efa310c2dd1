//! The host side of `shaders/sort.wgsl`.

use super::binding_windows::AccessPattern;
use super::codegen::{Binding, Element, Kernel, Misses, ModuleBuilder, StorageArray};
use super::driver_limits::DriverLimits;
use super::launch::{Lowered, Lowering, WORKGROUP_SCAN, check_elements, live_function};
use super::legalize::Legalizer;
use super::primitive::{Bound, GpuPrimitive};
use super::scan;
use crate::error::Result;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{InPlan, Node, Recipe};
use crate::graph::primitive::Sort;

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
const DIGITS: usize = 0;

/// The entry point that counts the digits of each tile.
const COUNT: &str = "count";

/// The entry point that moves keys and positions to their places by one digit.
const SCATTER: &str = "scatter";

/// Bindings beyond one for the windows of keys and permutations of this radix pass and of the previous one, and of the
/// digit counts, which take an eighth of the bytes.
pub(super) fn output_windows(out: &Node, limits: SizedLimits<'_>) -> u32 {
    4 * limits.extra_windows(out) + limits.limits.windows(limits.sizes.bytes(out) / 8 + (1 << 10)) - 1
}

pub(super) const SORT: &str = include_str!("../../../shaders/sort.wgsl");

/// The kernels of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SortKernel {
    /// Counts or scatters by the digit of that number.
    Pass(u32),
    /// Sums the counts of a digit.
    Digits,
}

impl Kernel for SortKernel {
    fn name(self) -> &'static str {
        match self {
            Self::Pass(_) => "sort",
            Self::Digits => "sort digits",
        }
    }
}

impl GpuPrimitive for Sort<InPlan> {
    /// A radix sort with one pass per byte of the keys. Keys and permutation alternate between two pairs of scratch
    /// buffers.
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Self { key, count, bits } = self;
        let Lowering { first_slot, sizes, modules, .. } = to;
        check_elements(step, sizes.capacity(count), MAX_CAPACITY, "a sort")?;
        let n = sizes.capacity(count);
        if n == 0 {
            return Ok(Lowered::default());
        }
        let passes = passes(*bits).max(1);
        let tiles = tiles(n);
        let digits = counts_len(n);
        // Scratch buffers: digit counts, tile sums of their scan, two for keys, two for permutations.
        let (digits_at, tiles_at, keys_at, perm_at) = (DIGITS, 1, [2, 3], [4, 5]);
        let mut launches = Vec::new();
        for pass in 0..passes {
            let is_first = pass == 0;
            let is_last = pass + 1 == passes;
            let (to, from) = (pass as usize % 2, 1 - pass as usize % 2);
            let g = modules.get(step, SortKernel::Pass(pass), || {
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
            launches.push(g.launch(sizes, COUNT, head, tiles, 1));
            let sums = modules.get(step, SortKernel::Digits, || {
                let mut m = ModuleBuilder::empty(step, first_slot);
                m.push("fn live() -> u32 {\n    return p.head[0].x;\n}");
                m.push("fn load(i: u32) -> u32 {\n    return load_out(i);\n}");
                m.push(scan::LOADS_TWICE);
                let scratch = [("out", Binding::Scratch(digits_at)), ("tiles", Binding::Scratch(tiles_at))];
                let scratch = scratch.map(|(name, binding)| StorageArray::new(name, Element::WORD, binding));
                m.finish(&[scan::SCAN, WORKGROUP_SCAN], "u32", None, scratch.into())
            });
            launches.extend(scan::launches(sizes, &sums, digits));
            launches.push(g.launch(sizes, SCATTER, head, tiles, 1));
        }
        let array = u64::from(n) * 4;
        let spare = if passes > 1 { array } else { 4 };
        let scratch =
            vec![u64::from(digits + 1) * 4, u64::from(scan::scratch_len(digits)) * 4, array, spare, array, spare];
        Ok(Lowered { launches, scratch, ..Lowered::default() })
    }
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let (key, count) = (to.stored_input(&self.key, &self.count, 1), to.count(&self.count));
        Recipe::Sort(Self { key, count, ..*self })
    }
    /// Digits, keys, and the permutation, which is the output in the last pass.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        3
    }
    fn output_windows(&self, out: &Node, limits: SizedLimits<'_>) -> u32 {
        output_windows(out, limits)
    }
    /// In each pass a workgroup reads its tile and the offsets of the tile's digits, and stores at any position.
    fn access_pattern(&self, at: &Bound<'_>) -> Option<AccessPattern> {
        let is_scatter = at.launch.entry == SCATTER;
        Some(match at.binding {
            // Prefix sum of the digit counts, in place.
            b if !matches!(at.launch.entry, COUNT | SCATTER) => {
                scan::access_pattern(at, matches!(b, Binding::Scratch(DIGITS)))
            }
            Binding::Read(n) => AccessPattern::tiles_of(TILE, n),
            Binding::ScratchRead(_) => AccessPattern::PerTile { bytes: u64::from(TILE) * 4, more: 0 },
            Binding::Scratch(DIGITS) => {
                AccessPattern::Random { axis: 0, misses: if is_scatter { Misses::Latest } else { Misses::Never } }
            }
            Binding::Scratch(_) | Binding::Output(_) if is_scatter => {
                AccessPattern::Random { axis: 1, misses: Misses::Never }
            }
            Binding::Scratch(_) | Binding::Output(_) => AccessPattern::Unused,
            Binding::Status => AccessPattern::Whole,
        })
    }
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
