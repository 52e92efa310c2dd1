//! Row fusion: what one pass over rows computes.
//!
//! Three kinds of steps become one:
//!
//! - *epilogues*: a map of a reduction's results is computed where the results are stored, as the quotient of a mean;
//! - *shared passes*: reductions over the same rows read the values once, as mean, variance and maximum do;
//! - *element maps*: the workgroup that has just reduced a row also writes its softmax or its standardized values.
//!
//! Fusion changes no bits: each reduction keeps its order, and storing and loading a number preserves it.

mod element_map;
mod epilogue;
mod merge;
mod steps;

use super::Node;
use super::digest::DigestSet;
use super::plan::{PlanLimits, Step};
use epilogue::Candidates;
use steps::Steps;

/// Merges reductions over the same rows into one step, and fuses maps into the reductions that they read.
///
/// A map of several reductions becomes an epilogue only after the reductions were merged: as an epilogue of one of
/// them, it would make that one depend on the others, and the values would be read again for each.
pub(super) fn fuse_rows(steps: Vec<Step>, roots: &DigestSet, limits: PlanLimits) -> Vec<Step> {
    if !steps.iter().any(|s| s.pass.is_some()) {
        return steps;
    }
    let mut all = Steps { steps: steps.into_iter().map(Some).collect() };
    let mut changed = all.fuse_epilogues(Candidates::OfOnePass, roots, limits);
    changed |= all.merge_reductions(limits);
    changed |= all.fuse_epilogues(Candidates::All, roots, limits);
    changed |= all.fuse_element_maps(roots, limits);
    if changed { all.in_order() } else { all.steps.into_iter().flatten().collect() }
}

/// Whether the map depends on conditions on which the pass does not depend.
fn adds_conditions(pass: &Step, map: &Step) -> bool {
    let is_known = |n: &Node| !n.is_fallible() || pass.after.contains(n) || pass.reads.contains(n);
    let is_read = |n: &Node| !n.is_fallible() || pass.reads.contains(n) || pass.outputs().contains(&n);
    !(map.checks.is_empty() && map.after.iter().all(is_known) && map.reads.iter().all(is_read))
}
