//! Row fusion: combines row reductions and maps into row kernels.
//!
//! Three kinds of steps become one:
//!
//! - *epilogues*: a map of the results of a reduction, such as the quotient of a mean, becomes part of the stores;
//! - *merged reductions*: reductions over the same rows, such as mean, variance and maximum, read the values once;
//! - *element maps*: the workgroup that reduces a row also maps its elements, as in a softmax or a standardization.
//!
//! Fusion changes no bits: each reduction keeps its canonical order, and a store and a load preserve a number.

mod element_map;
mod epilogue;
mod merge;
mod steps;

pub(super) use epilogue::is_epilogue_candidate;

use super::digest::DigestSet;
use super::plan::{SizedLimits, Step};
use super::planned::Node;
use epilogue::Candidates;
use steps::Steps;

/// Merges reductions over the same rows into one step, and fuses maps into the reductions that they read.
///
/// Maps of several reductions become epilogues only after reductions are merged. As an epilogue of one reduction, such a
/// map would make it depend on the others and prevent the merge.
pub(super) fn fuse_rows(steps: Vec<Step>, roots: &DigestSet, limits: SizedLimits<'_>) -> Vec<Step> {
    if !steps.iter().any(|s| s.row_kernel.is_some()) {
        return steps;
    }
    let mut all = Steps::new(steps);
    let mut changed = all.fuse_epilogues(Candidates::OfOneKernel, roots, limits);
    changed |= all.merge_reductions(limits);
    changed |= all.fuse_epilogues(Candidates::All, roots, limits);
    changed |= all.fuse_element_maps(roots, limits);
    if changed { all.in_order() } else { all.into_steps() }
}

/// Whether the map depends on conditions on which the row kernel does not depend.
fn adds_conditions(reduction: &Step, map: &Step) -> bool {
    let is_known = |n: &Node| !n.is_fallible() || reduction.after.contains(n) || reduction.reads.contains(n);
    let is_read = |n: &Node| !n.is_fallible() || reduction.reads.contains(n) || reduction.outputs().contains(&n);
    !(map.checks.is_empty() && map.after.iter().all(is_known) && map.reads.iter().all(is_read))
}
