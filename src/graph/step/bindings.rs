//! Predicts the number of storage buffers that a kernel binds, before the kernel is generated.

use crate::graph::planned::{ExprKind, Node, Recipe, SizeView};
use crate::graph::step::{SizedLimits, Step};
use crate::graph::walk::arrays;

/// Whether a kernel of the recipe can bind its reads, outputs, scratch and the status block. An array for which
/// `is_bound_once` holds takes one binding, regardless of its size.
pub(in crate::graph) fn fits<'a>(
    recipe: &Recipe,
    outputs: impl Iterator<Item = &'a Node>,
    reads: impl Iterator<Item = &'a Node>,
    is_bound_once: &dyn Fn(&Node) -> bool,
    status: u32,
    all: SizedLimits<'_>,
) -> bool {
    let limits = all.limits;
    // The buffers include one output.
    let mut arrays = limits.kernels.buffers(recipe, all) + status - 1;
    let mut windows = 0;
    for n in outputs {
        arrays += 1;
        windows += limits.kernels.output_windows(recipe, n, all);
    }
    for n in reads {
        arrays += 1;
        windows += if is_bound_once(n) { 0 } else { all.extra_windows(n) };
    }
    arrays <= limits.arrays && (arrays + windows <= limits.bindings)
}

impl Step {
    /// The bindings of the status block.
    fn status(&self) -> u32 {
        u32::from(self.all_checks().next().is_some())
    }

    /// Number of arrays that a kernel of the step binds, each counted once regardless of its size.
    pub(in crate::graph) fn bound_arrays(&self, sizes: SizeView<'_>) -> u32 {
        let limits = SizedLimits { limits: self.limits, sizes };
        limits.limits.kernels.buffers(&self.recipe, limits) + self.status() - 1
            + (self.outputs().len() + self.reads.len()) as u32
    }

    /// As [`Self::bound_arrays`], without the arrays that only the expressions read.
    pub(in crate::graph) fn other_arrays(&self, sizes: SizeView<'_>) -> u32 {
        let array = self.recipe.array();
        self.bound_arrays(sizes) - self.value_reads().iter().filter(|n| Some(*n) != array).count() as u32
    }

    /// Whether a kernel can bind what it reads and writes.
    pub(in crate::graph) fn fits(&self, sizes: SizeView<'_>) -> bool {
        // Storing an array instead would take far more memory than fusion costs.
        let takes_any = matches!(self.recipe, Recipe::Append(_)) || !self.recomputed.is_empty();
        if self.limits.reads_any_number && takes_any {
            return true;
        }
        let mut limits = SizedLimits { limits: self.limits, sizes };
        if !self.recomputed.is_empty() {
            limits.limits.arrays = limits.limits.bindings;
        }
        let status = self.status();
        let at_own = self.at_own_position();
        let is_bound_once = |n: &Node| at_own.contains(&n.digest());
        fits(&self.recipe, self.outputs().into_iter(), self.reads.iter(), &is_bound_once, status, limits)
    }

    /// Whether an array exceeds one binding and the windows of all arrays exceed the bindings of a kernel.
    pub(crate) fn exceeds_bindings(&self, sizes: SizeView<'_>) -> bool {
        let is_large = |n: &Node| self.limits.windows(sizes.bytes(n)) > 1;
        self.reads.iter().chain(self.outputs()).any(is_large) && !self.fits(sizes)
    }

    /// The large array of a fetch: see [`Step::fetches`].
    pub(crate) fn fetches_in(&self, sizes: SizeView<'_>) -> Option<&Node> {
        let Recipe::Map(map) = &self.recipe else { return None };
        let (node, at) = match map.value.kind() {
            ExprKind::Load(n, at) if !at.is_own_position() => (n, at),
            ExprKind::RowOf(n, at) => (n, at),
            _ => return None,
        };
        let is_read_once = !arrays(at).contains(&node.digest());
        (is_read_once && self.limits.windows(sizes.bytes(node)) > 1 && self.exceeds_bindings(sizes)).then_some(node)
    }
}
