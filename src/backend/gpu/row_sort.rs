//! The host side of `shaders/row_sort.wgsl`. One kernel sorts all short rows. If long rows are possible, radix passes
//! of `shaders/sort.wgsl` sort their elements, by key and then by row. The number of these elements is device-known; if
//! it is 0, the passes return immediately.

use super::codegen::{Binding, Element, Kernel, KernelModule, ModuleBuilder, StorageArray};
use super::driver_limits::DriverLimits;
use super::launch::{Launch, Lowered, Lowering, TILE_SORT, WORKGROUP_SCAN, check_elements, partition_functions};
use super::legalize::Legalizer;
use super::primitive::GpuPrimitive;
use super::scan::{self, SCAN};
use super::sort::{self, SORT};
use crate::error::Result;
use crate::graph::plan::{SizedLimits, Step};
use crate::graph::planned::{Expr, Extent, InPlan, Node, Recipe, RowDomain};
use crate::graph::primitive::RowSort;
pub(crate) use crate::graph::primitive::row_sort::STRETCH;
use crate::graph::primitive::row_sort::row_bits;

const ROW_SORT: &str = include_str!("../../../shaders/row_sort.wgsl");
const LONG_ROWS: &str = include_str!("../../../shaders/lib/long_rows.wgsl");

/// Number of stretches, one per workgroup.
pub const fn stretches(nvals: u32) -> u32 {
    nvals.div_ceil(STRETCH)
}

/// Words in the scratch buffer `longs`: the lengths of the long rows, their total, and their starts.
pub const fn longs_len(nvals: u32) -> u32 {
    2 * stretches(nvals) + 1
}

/// The parameter words of `row_sort.wgsl`.
pub const fn head(nvals: u32, nrows: u32) -> [u32; 8] {
    [nrows, nvals, stretches(nvals), 0, 0, 0, 0, 0]
}

/// The parameter words of a radix pass over the long rows. Passes by key and passes by row are numbered from 0 each.
pub const fn pass_head(nvals: u32, pass: u32) -> [u32; 8] {
    let mut head = sort::head(nvals, pass);
    head[2] = stretches(nvals);
    head
}

/// The sort key of a pass over the elements of long rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PassKey {
    /// The keys, evaluated by the pass.
    Key,
    /// The number of the element's row, found by a search.
    Row,
    /// The keys that the previous pass stored.
    Stored,
}

/// Indices of the scratch buffers.
const LONGS: usize = 0;
const TILES: usize = 1;
const DIGITS: usize = 2;
const KEYS: [usize; 2] = [3, 4];
const PERM: [usize; 2] = [5, 6];

/// An array of words.
fn words(name: &'static str, binding: Binding) -> StorageArray {
    StorageArray::new(name, Element::WORD, binding)
}

/// The kernels of a sort of rows besides its passes over long rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RowSortKernel {
    /// Sorts short rows.
    Stretches {
        /// Whether rows may be longer than a stretch.
        has_long: bool,
    },
    /// Sums the lengths of the long rows.
    SumLongs,
    /// Sums the counts of a digit.
    SumDigits,
}

impl Kernel for RowSortKernel {
    fn name(self) -> &'static str {
        match self {
            Self::Stretches { .. } => "row_sort",
            Self::SumLongs => "row_sort longs",
            Self::SumDigits => "row_sort digits",
        }
    }
}

impl GpuPrimitive for RowSort<InPlan> {
    fn lower(&self, step: &Step, to: Lowering<'_>) -> Result<Lowered> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let Self { on, key, bits, longest } = self;
        let RowDomain { rows, nrows, nvals, .. } = on;
        let n = sizes.capacity(nvals);
        check_elements(step, n, sort::MAX_CAPACITY, "a sort")?;
        if n == 0 || sizes.capacity(nrows) == 0 {
            return Ok(Lowered::default());
        }
        let has_long = n.min(sizes.value(longest)) > STRETCH;
        let g = modules.get(step, RowSortKernel::Stretches { has_long }, || {
            // Binds only the arrays of the step that this kernel reads.
            let mut m = ModuleBuilder::empty(step, first_slot);
            partition_functions(&mut m, rows, nrows);
            m.value_function("value", key);
            m.push("fn load(i: u32) -> u32 {\n    return value(i, 0u);\n}");
            m.push("fn is_less(a: u32, b: u32) -> bool {\n    return a < b;\n}");
            m.push("fn store(i: u32, source: u32) {\n    store_out(i, source);\n}");
            let noted = "\n    store_longs(stretch, len);\n    store_longs(stretches() + 1u + stretch, at);\n";
            m.push(&format!("fn note_long(stretch: u32, at: u32, len: u32) {{{}}}", if has_long { noted } else { "" }));
            let longs = has_long.then(|| words("longs", Binding::Scratch(LONGS)));
            m.finish(&[ROW_SORT, TILE_SORT], "u32", Some(Element::WORD), longs.into_iter().collect())
        });
        let mut launches = vec![g.launch(sizes, "main", head(n, sizes.capacity(nrows)), stretches(n), 1)];
        if !has_long {
            return Ok(Lowered { launches, ..Lowered::default() });
        }
        launches.extend(sum_longs(step, n, to));
        let by_key = sort::passes(*bits).max(1);
        let passes = by_key + sort::passes(row_bits(n, sizes.capacity(nrows)));
        for pass in 0..passes {
            let by = match pass {
                0 => PassKey::Key,
                p if p == by_key => PassKey::Row,
                _ => PassKey::Stored,
            };
            let head = pass_head(n, if pass < by_key { pass } else { pass - by_key });
            let m = RadixPass { by, to: pass as usize % 2, is_first: pass == 0, is_last: pass + 1 == passes };
            launches.extend(m.launches(step, key, (head, nvals), to));
        }
        let (digits, array) = (sort::counts_len(n), u64::from(n) * 4);
        let tiles = scan::scratch_len(digits.max(stretches(n)));
        let spare = if passes > 1 { array } else { 4 };
        let second = if passes > 2 { array } else { 4 };
        let bytes = |n: u32| u64::from(n) * 4;
        let scratch = vec![bytes(longs_len(n)), bytes(tiles), bytes(digits + 1), spare, second, spare, second];
        Ok(Lowered { launches, scratch, ..Lowered::default() })
    }
    /// Sorts by key, then by row.
    fn legalized(&self, _: &Node, to: &mut Legalizer<'_>) -> Recipe {
        let RowDomain { rows, nrows, nvals, .. } = &self.on;
        let value = to.row_sort_by_sorts(rows, nrows, nvals, &[(self.key.clone(), self.bits)]);
        to.map_of(nvals, &value, false)
    }
    /// The buffers of a sort, and the list of long rows.
    fn buffers(&self, _: DriverLimits, _: SizedLimits<'_>) -> u32 {
        4
    }
    fn output_windows(&self, out: &Node, limits: SizedLimits<'_>) -> u32 {
        sort::output_windows(out, limits)
    }
}

/// Prefix sum of the long rows' lengths, in place.
fn sum_longs(step: &Step, n: u32, Lowering { first_slot, sizes, modules, .. }: Lowering<'_>) -> Vec<Launch> {
    let g = modules.get(step, RowSortKernel::SumLongs, || {
        let mut m = ModuleBuilder::empty(step, first_slot);
        m.push("fn live() -> u32 {\n    return p.head[0].x;\n}");
        m.push("fn load(i: u32) -> u32 {\n    return load_out(i);\n}");
        m.push(scan::LOADS_TWICE);
        let scratch = vec![words("out", Binding::Scratch(LONGS)), words("tiles", Binding::Scratch(TILES))];
        m.finish(&[SCAN, WORKGROUP_SCAN], "u32", None, scratch)
    });
    scan::launches(sizes, &g, stretches(n))
}

/// A pass over the elements of long rows, and its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RadixPass {
    by: PassKey,
    /// Index of the pair of arrays (keys and permutation) that the pass writes; it reads the other pair.
    to: usize,
    is_first: bool,
    /// Whether the pass writes the output of the step.
    is_last: bool,
}

impl Kernel for RadixPass {
    fn name(self) -> &'static str {
        "row_sort pass"
    }
}

impl RadixPass {
    fn module(&self, step: &Step, first_slot: u32, key: &Expr) -> KernelModule {
        let from = 1 - self.to;
        let mut m = ModuleBuilder::empty(step, first_slot);
        let mut scratch = vec![words("digits", Binding::Scratch(DIGITS)), words("longs", Binding::ScratchRead(LONGS))];
        m.push("fn capacity() -> u32 {\n    return long_total();\n}");
        m.push("fn live() -> u32 {\n    return capacity();\n}");
        match self.by {
            PassKey::Key => {
                m.value_function("value", key);
                m.push("fn load(i: u32) -> u32 {\n    return value(long_position(i), 0u);\n}");
            }
            PassKey::Row => m.push("fn load(i: u32) -> u32 {\n    return long_row(load_perm_in(i));\n}"),
            PassKey::Stored => {
                m.push("fn load(i: u32) -> u32 {\n    return load_keys_in(i);\n}");
                scratch.push(words("keys_in", Binding::ScratchRead(KEYS[from])));
            }
        }
        if self.is_first {
            m.push("fn index(i: u32) -> u32 {\n    return long_position(i);\n}");
        } else {
            m.push("fn index(i: u32) -> u32 {\n    return load_perm_in(i);\n}");
            scratch.push(words("perm_in", Binding::ScratchRead(PERM[from])));
        }
        if self.is_last {
            m.push("fn store(i: u32, key: u32, index: u32) {\n    store_out(long_position(i), index);\n}");
            scratch.push(words("out", Binding::Output(0)));
        } else {
            m.push("fn store(i: u32, key: u32, index: u32) {\n    store_keys_out(i, key);\n    store_perm_out(i, index);\n}");
            scratch.push(words("keys_out", Binding::Scratch(KEYS[self.to])));
            scratch.push(words("perm_out", Binding::Scratch(PERM[self.to])));
        }
        m.finish(&[SORT, WORKGROUP_SCAN, LONG_ROWS], "u32", None, scratch)
    }

    fn launches(&self, step: &Step, key: &Expr, (head, nvals): ([u32; 8], &Extent), to: Lowering<'_>) -> Vec<Launch> {
        let Lowering { first_slot, sizes, modules, .. } = to;
        let n = head[0];
        let g = modules.get(step, *self, || self.module(step, first_slot, key));
        let mut launches = vec![g.launch(sizes, "count", head, sort::tiles(n), 1)];
        launches.extend(sum_digits(step, nvals, to));
        launches.push(g.launch(sizes, "scatter", head, sort::tiles(n), 1));
        launches
    }
}

/// Prefix sum of the digit counts that `count` wrote, in place.
fn sum_digits(step: &Step, nvals: &Extent, Lowering { first_slot, sizes, modules, .. }: Lowering<'_>) -> Vec<Launch> {
    let digits = sort::counts_len(sizes.capacity(nvals));
    let g = modules.get(step, RowSortKernel::SumDigits, || {
        let mut m = ModuleBuilder::empty(step, first_slot);
        // Tiles of sort.wgsl that hold elements, with 256 digits each.
        let total = m.size(&nvals.size().add(STRETCH - 1).div(STRETCH));
        m.push(&format!("fn live() -> u32 {{\n    return ((load_longs({total}) + 2047u) >> 11u) << 8u;\n}}"));
        m.push("fn load(i: u32) -> u32 {\n    return load_out(i);\n}");
        m.push(scan::LOADS_TWICE);
        let scratch = vec![
            words("out", Binding::Scratch(DIGITS)),
            words("tiles", Binding::Scratch(TILES)),
            words("longs", Binding::ScratchRead(LONGS)),
        ];
        m.finish(&[SCAN, WORKGROUP_SCAN], "u32", None, scratch)
    });
    scan::launches(sizes, &g, digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::row_lengths::class;

    #[test]
    fn every_position_has_a_stretch() {
        for nvals in [1, STRETCH - 1, STRETCH, STRETCH + 1, 1 << 20, sort::MAX_CAPACITY] {
            let covered = u64::from(stretches(nvals)) * u64::from(STRETCH);
            assert!(covered >= u64::from(nvals) && covered - u64::from(STRETCH) < u64::from(nvals));
            assert!(covered + u64::from(STRETCH) < 1 << 32, "the end of the next stretch fits");
        }
    }

    #[test]
    fn the_longest_sorted_row_is_a_length_class() {
        assert_eq!(class(STRETCH), STRETCH, "a plan for longer rows would be reused for these");
    }

    #[test]
    fn rows_are_numbered_with_enough_bits() {
        for (nvals, nrows, bits) in
            [(1, 9, 0), (STRETCH, 9, 0), (STRETCH + 1, 9, 1), (1 << 30, 1, 0), (300 * STRETCH, 2, 9)]
        {
            assert_eq!(row_bits(nvals, nrows), bits, "{nvals} elements");
        }
    }
}
