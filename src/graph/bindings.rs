//! Predicts the number of storage buffers that a kernel binds, before the kernel is generated.

use super::node::{Node, Recipe};
use super::size::SizeView;
use super::step::{HashedStrings, PlanLimits, SizedLimits, Step};

/// Storage buffers that the kernels of a recipe bind for output and scratch. Excludes the arrays that they read and the
/// status block.
fn own_buffers(recipe: &Recipe, limits: PlanLimits, sizes: SizeView<'_>) -> u32 {
    match recipe {
        Recipe::Map { .. } | Recipe::Append { .. } | Recipe::Assert { .. } => 1,
        // The output, and one binding per window of the scratch state of long strings.
        Recipe::Hash { op, on, longest, .. } => {
            let strings = HashedStrings { op: *op, nbytes: sizes.capacity(&on.nvals), longest: sizes.value(longest) };
            match limits.hash_state_bytes(strings) {
                0 => 1,
                bytes => 1 + limits.windows(bytes),
            }
        }
        // Selections from long rows keep candidates per tile.
        Recipe::Scan { .. } | Recipe::RowScan { .. } | Recipe::Reduce { .. } | Recipe::TopK { .. } => 2,
        Recipe::Product(_)
        | Recipe::RankBitmap { .. }
        | Recipe::Compact { .. }
        | Recipe::Histogram { .. }
        | Recipe::TileFold { .. } => 1,
        // Digits, keys, and the permutation, which is the output in the last pass.
        Recipe::Sort { .. } => 3,
        // The buffers of a sort, and the list of long rows.
        Recipe::RowSort { .. } => 4,
    }
}

/// Whether a kernel of the recipe can bind its reads, outputs, scratch and the status block. An array for which
/// `is_bound_once` holds takes one binding, regardless of its size.
pub(super) fn fits<'a>(
    recipe: &Recipe,
    outputs: impl Iterator<Item = &'a Node>,
    reads: impl Iterator<Item = &'a Node>,
    is_bound_once: &dyn Fn(&Node) -> bool,
    status: u32,
    SizedLimits { limits, sizes }: SizedLimits<'_>,
) -> bool {
    let extra_windows = |n: &Node| limits.windows(sizes.bytes(n)) - 1;
    // `own_buffers` includes one output.
    let mut arrays = own_buffers(recipe, limits, sizes) + status - 1;
    let mut windows = 0;
    for n in outputs {
        arrays += 1;
        windows += match recipe {
            Recipe::Map { .. } | Recipe::Assert { .. } => 0,
            // Keys and permutations of this radix pass and of the previous one. Digit counts take an eighth of the
            // bytes.
            Recipe::Sort { .. } | Recipe::RowSort { .. } => {
                4 * extra_windows(n) + limits.windows(sizes.bytes(n) / 8 + (1 << 10)) - 1
            }
            _ => extra_windows(n),
        };
    }
    for n in reads {
        arrays += 1;
        windows += if is_bound_once(n) { 0 } else { extra_windows(n) };
    }
    arrays <= limits.arrays && (arrays + windows <= limits.bindings)
}

impl Step {
    /// The bindings of the status block.
    fn status(&self) -> u32 {
        u32::from(!self.checks.is_empty() || matches!(self.recipe, Recipe::Assert { .. }))
    }

    /// Number of arrays that a kernel of the step binds, each counted once regardless of its size.
    pub(super) fn bound_arrays(&self, sizes: SizeView<'_>) -> u32 {
        own_buffers(&self.recipe, self.limits, sizes) + self.status() - 1
            + (self.outputs().len() + self.reads.len()) as u32
    }

    /// As [`Self::bound_arrays`], without the arrays that only the expressions read.
    pub(super) fn other_arrays(&self, sizes: SizeView<'_>) -> u32 {
        let array = self.recipe.array();
        self.bound_arrays(sizes) - self.value_reads().iter().filter(|n| Some(*n) != array).count() as u32
    }

    /// Whether a kernel can bind what it reads and writes.
    pub(in crate::graph) fn fits(&self, sizes: SizeView<'_>) -> bool {
        if self.limits.reads_any_number && matches!(self.recipe, Recipe::Append { .. }) {
            return true;
        }
        let limits = SizedLimits { limits: self.limits, sizes };
        let status = self.status();
        let at_own = self.at_own_position();
        let is_bound_once = |n: &Node| at_own.contains(&n.digest());
        fits(&self.recipe, self.outputs().into_iter(), self.reads.iter(), &is_bound_once, status, limits)
    }
}
