//! How many storage buffers a kernel binds, before there is one.

use super::node::{Node, Recipe};
use super::step::{HASH_SEAT, PlanLimits, Step};

/// Storage buffers that the templates of a recipe bind besides what it reads and the block of conditions: its output
/// and scratch.
fn own_buffers(recipe: &Recipe, limits: PlanLimits) -> u32 {
    match recipe {
        Recipe::Map { .. } | Recipe::Assert { .. } => 1,
        // The seats of long strings, in as many bindings as they take.
        Recipe::Hash { op, on, longest, .. } => match limits.hash_seats(*op, on.nvals.capacity(), longest.value()) {
            0 => 1,
            seats => 1 + limits.windows(u64::from(seats) * HASH_SEAT),
        },
        Recipe::Scan { .. } | Recipe::RowScan { .. } | Recipe::Reduce { .. } => 2,
        Recipe::Product(_) | Recipe::Marks { .. } | Recipe::Compact { .. } => 1,
        // Digits, keys, and the permutation, which is the output in the last pass.
        Recipe::Sort { .. } => 3,
        // As a sort, and the list of long rows.
        Recipe::RowSort { .. } => 4,
    }
}

/// Whether a kernel of the recipe can bind what it reads besides its outputs, its scratch and the block of conditions.
/// What `once` names takes one binding, however large it is.
pub(super) fn fits<'a>(
    recipe: &Recipe,
    outputs: impl Iterator<Item = &'a Node>,
    reads: impl Iterator<Item = &'a Node>,
    once: &dyn Fn(&Node) -> bool,
    status: u32,
    limits: PlanLimits,
) -> bool {
    let further = |n: &Node| limits.windows(n.bytes()) - 1;
    // One output is among the recipe's own.
    let mut arrays = own_buffers(recipe, limits) + status - 1;
    let mut windows = 0;
    for n in outputs {
        arrays += 1;
        windows += match recipe {
            Recipe::Map { .. } | Recipe::Assert { .. } => 0,
            // Keys and permutation of this pass, and of the one before; digits are an eighth as many.
            Recipe::Sort { .. } | Recipe::RowSort { .. } => {
                4 * further(n) + limits.windows(n.bytes() / 8 + (1 << 10)) - 1
            }
            _ => further(n),
        };
    }
    for n in reads {
        arrays += 1;
        windows += if once(n) { 0 } else { further(n) };
    }
    arrays <= limits.arrays && (arrays + windows <= limits.bindings)
}

impl Step {
    /// Whether a kernel can bind what it reads and writes.
    pub(super) fn fits(&self) -> bool {
        let status = u32::from(!self.checks.is_empty() || matches!(self.recipe, Recipe::Assert { .. }));
        let at_own = self.at_own_position();
        let once = |n: &Node| at_own.contains(&n.digest());
        fits(&self.recipe, self.outputs().into_iter(), self.reads.iter(), &once, status, self.limits)
    }
}
