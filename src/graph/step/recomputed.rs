//! Products that are not stored: the kernels that read them compute their numbers.

use super::fusion::LeastSizes;
use super::{Step, merge as merge_lists};
use crate::graph::canonical_order::product::BLOCK;
use crate::graph::planned::{Expr, InPlan, Node, Recipe, SizeView};
use crate::graph::primitive::{Facts, Positions, Product};

/// A product whose numbers a step computes where its expressions load them.
#[derive(Debug)]
pub(crate) struct RecomputedProduct {
    /// The node that the expressions of the step load.
    pub(crate) node: Node,
    /// The product, whose expressions read stored arrays only.
    pub(crate) product: Product<InPlan>,
}

impl RecomputedProduct {
    /// The operands, each with the positions at which it is evaluated once.
    pub(in crate::graph) fn operands(&self) -> impl Iterator<Item = (&Expr, Positions)> {
        self.product.operands.iter().zip(self.product.positions(self.node.extent()))
    }
}

/// Whether the node is a product whose sums all have one number of terms, which a run knows.
pub(crate) fn is_recomputable(node: &Node) -> bool {
    matches!(node.recipe().as_deref(), Some(Recipe::Product(p)) if p.sizes[1].as_size().is_some())
}

/// Whether the sums have few terms, and the product at least these sizes: storing it would take much more memory than its
/// operands do.
pub(crate) fn exceeds_operands(node: &Node, least: LeastSizes, sizes: SizeView<'_>) -> bool {
    let recipe = node.recipe();
    let Some(Recipe::Product(p)) = recipe.as_deref() else { return false };
    let results = u64::from(sizes.capacity(node.extent())).min(most_results(p, sizes));
    let operands: u64 = p.capacities.iter().map(|size| u64::from(sizes.value(size))).sum();
    let terms = p.sizes[1].as_size().map_or(u32::MAX, |size| sizes.value(&size));
    terms <= BLOCK && results >= least.results && results >= least.ratio * operands
}

/// The results of as many products of the longest rows: programs bound their number by that of one product of all rows.
fn most_results(p: &Product<InPlan>, sizes: SizeView<'_>) -> u64 {
    let [m, _, n] = p.sizes.each_ref().map(|size| sizes.bound(size).unwrap_or(u64::MAX));
    m.saturating_mul(n).saturating_mul(sizes.capacity(&p.batches).into())
}

impl Step {
    /// Adds a product, computed by the step `of` if it were stored, that this step loads although no step stores it.
    pub(in crate::graph) fn recompute(&mut self, of: Self) {
        let Recipe::Product(product) = of.recipe else { return };
        self.reads.retain(|n| *n != of.out);
        merge_lists(&mut self.reads, of.reads);
        merge_lists(&mut self.after, of.after);
        merge_lists(&mut self.checks, of.checks);
        self.after.retain(|n| *n != of.out);
        self.fused.extend(of.fused);
        self.barriers.extend(of.barriers);
        self.recomputed.push(RecomputedProduct { node: of.out, product });
    }
}

/// Appends the products that the list lacks.
pub(in crate::graph) fn merge(into: &mut Vec<RecomputedProduct>, more: Vec<RecomputedProduct>) {
    for product in more {
        if !into.iter().any(|other| other.node == product.node) {
            into.push(product);
        }
    }
}
