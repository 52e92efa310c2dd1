//! The planner: turns the arrays that a program requests into steps in execution order, and decides what is fused.
//!
//! Planning proceeds backwards from the requested arrays. A map is inlined into the expressions that read it, unless
//! storing it is cheaper. Every other recipe is a step of its own. Both backends run the same steps, so that the bits
//! of a row do not depend on the backend.
//!
//! The planner works on the definitions of the plan's [`Arena`]: those of the program, which keep their numbers, and the
//! arrays that the planner appends. A definition is shared by reference, and equal ones have equal digests, which are made
//! of numbers of the program. The facts that the planner asks of a definition (dtype, cost, conditions, access) are
//! computed once and kept with it.

mod cache;
#[cfg(test)]
mod for_tests;
mod inline;
mod last_counts;
mod linked;
mod narrow;
mod resolve;
mod row_numbers;

pub(crate) use cache::PlanCache;
#[cfg(test)]
pub(crate) use for_tests::PlanOf;
pub(crate) use last_counts::{CountKey, LastCount, LastCounts};
pub(crate) use linked::{ArraySource, CountLink, LinkedPlan};

use std::borrow::Cow;

use super::digest::{DigestMap, DigestSet};
use super::planned::{Arena, Expr, Node, Recipe, SizeView};
use super::primitive::append;
use super::row_fusion;
use super::step::fusion::Fusion;
use super::step::recomputed::{exceeds_operands, is_recomputable};
pub(crate) use super::step::{Float64Repr, Int64Repr, Kernels, Plan, PlanLimits, ProductRepr, SizedLimits, Step};
use super::walk::{arrays, for_each_node};
use crate::trace::span;
use row_numbers::RowNumbers;

/// Number of maps that are stored, one by one, before a recipe with too many arrays of its own is narrowed.
const MAX_ATTEMPTS: usize = 8;

/// Plans the evaluation of `roots`, which are distinct. The plan depends on `sizes` only as far as arrays
/// exceed a binding: see [`Validity`](linked::Validity).
pub(crate) fn plan(arena: &mut Arena, roots: &[Node], limits: PlanLimits, sizes: SizeView<'_>) -> Plan {
    let _span = span!("plan", arrays = roots.len());
    let products = limits.least_products().map_or_else(Vec::new, |least| {
        let exceeds = |n: Node| (exceeds_operands(&n, least, sizes), n);
        recomputable(roots).into_iter().map(exceeds).map(|(exceeds, n)| (n, exceeds)).collect()
    });
    let mut plan = Plan { steps: Vec::new(), products };
    let mut unstored: Vec<Node> =
        plan.products.iter().filter(|(_, exceeds)| *exceeds).map(|(n, _)| n.clone()).collect();
    loop {
        plan.steps = steps(arena, roots, (limits, sizes), &unstored);
        // What some step must store anyway is loaded by all, and so is what a kernel has too many arrays to compute.
        let mut stored: DigestSet = plan.steps.iter().flat_map(Step::outputs).map(Node::digest).collect();
        for step in plan.steps.iter().filter(|step| !step.fits(sizes)) {
            stored.extend(step.recomputed.iter().map(|of| of.node.digest()));
        }
        let before = unstored.len();
        unstored.retain(|n| !stored.contains(&n.digest()));
        if unstored.len() == before {
            return plan;
        }
    }
}

/// The products that kernels can compute where they read them, if no step stores them.
fn recomputable(roots: &[Node]) -> Vec<Node> {
    let mut out = Vec::new();
    let requested: DigestSet = roots.iter().map(Node::digest).collect();
    let (mut visited, mut stack) = (DigestSet::default(), roots.to_vec());
    while let Some(node) = stack.pop() {
        if !visited.insert(node.digest()) {
            continue;
        }
        let Some(recipe) = node.recipe() else { continue };
        recipe.exprs().into_iter().for_each(|e| for_each_node(e, &mut |n| stack.push(n.clone())));
        stack.extend(recipe.array().into_iter().chain(node.asserts()).cloned());
        if is_recomputable(&node) && !requested.contains(&node.digest()) {
            out.push(node);
        }
    }
    out
}

/// The steps of a plan in which no step stores the products `unstored`, as far as their readers allow.
fn steps(
    arena: &mut Arena,
    roots: &[Node],
    (limits, sizes): (PlanLimits, SizeView<'_>),
    unstored: &[Node],
) -> Vec<Step> {
    let row_numbers = RowNumbers::new(roots, arena);
    let mut planner = Planner {
        arena,
        row_numbers,
        limits,
        sizes,
        products: unstored.iter().map(Node::digest).collect(),
        extents: unstored.iter().map(|n| n.extent().size().digest()).collect(),
        uses: DigestMap::default(),
        chain_ends: DigestSet::default(),
        barred: DigestSet::default(),
        roots: roots.iter().map(Node::digest).collect(),
        done: DigestSet::default(),
        added: DigestSet::default(),
        steps: Vec::new(),
    };
    planner.count_uses(roots);
    planner.find_chain_ends(roots);
    for root in roots {
        planner.require(root);
    }
    let mut steps = planner.steps;
    if limits.fusion != Fusion::Nothing {
        steps = row_fusion::fuse_rows(steps, &planner.roots, SizedLimits { limits, sizes });
    }
    steps.iter_mut().for_each(|step| step.settle_windows(sizes));
    steps
}

/// What remains to be planned, the next last.
enum Required {
    /// An array and its inputs.
    Node(Node),
    /// A step whose inputs are planned.
    Step(Box<Step>),
}

/// State of the planner.
struct Planner<'a> {
    /// The definitions, to which the planner appends.
    arena: &'a mut Arena,
    row_numbers: RowNumbers,
    limits: PlanLimits,
    sizes: SizeView<'a>,
    /// Number of reads of each array, by distinct index expressions over all recipes.
    uses: DigestMap<u32>,
    /// Maps with several readers that are stored because a chain of such maps ends with each: see
    /// [`Planner::find_chain_ends`].
    chain_ends: DigestSet,
    /// Maps with conditions that a step would both inline and load, which are loaded everywhere.
    barred: DigestSet,
    roots: DigestSet,
    /// Products that are computed where they are read, and the sizes of their results.
    products: DigestSet,
    extents: DigestSet,
    done: DigestSet,
    /// Maps that the planner added, which are stored so that their readers fit the limits.
    added: DigestSet,
    steps: Vec<Step>,
}

impl Planner<'_> {
    fn count_uses(&mut self, roots: &[Node]) {
        let mut visited = DigestSet::default();
        let mut stack: Vec<Node> = roots.to_vec();
        while let Some(node) = stack.pop() {
            if !visited.insert(node.digest()) {
                continue;
            }
            let Some(recipe) = node.recipe() else { continue };
            let mut loads = DigestSet::default();
            let live_counts: Vec<Expr> = recipe.live_counts().chain(node.extent().live()).collect();
            for e in recipe.exprs().into_iter().chain(&live_counts) {
                let mut exprs = vec![e];
                while let Some(e) = exprs.pop() {
                    if !loads.insert(e.digest()) {
                        continue;
                    }
                    if let Some(n) = e.node() {
                        *self.uses.entry(n.digest()).or_default() += 1;
                        stack.push(n.clone());
                    }
                    exprs.extend(e.operands());
                }
            }
            stack.extend(recipe.array().cloned());
            stack.extend(node.asserts().iter().cloned());
        }
    }

    /// Adds steps to the plan so that it stores `node`: those of its inputs first.
    fn require(&mut self, node: &Node) {
        let mut stack = vec![Required::Node(node.clone())];
        while let Some(next) = stack.pop() {
            let step = match next {
                Required::Node(node) => match self.step_of(&node) {
                    Some(step) => step,
                    None => continue,
                },
                Required::Step(step) if step.recomputed.is_empty() && step.exceeds_bindings(self.sizes) => {
                    self.steps.extend(self.limits.kernels.legalize(*step, self.sizes, self.arena, &mut self.done));
                    continue;
                }
                Required::Step(step) => {
                    self.steps.push(*step);
                    continue;
                }
            };
            let inputs: Vec<Node> = step.reads.iter().chain(&step.after).cloned().collect();
            stack.push(Required::Step(Box::new(step)));
            stack.extend(inputs.into_iter().rev().map(Required::Node));
        }
    }

    /// The step that stores `node`; `None` if the node is stored, or the plan has that step.
    fn step_of(&mut self, node: &Node) -> Option<Step> {
        if node.is_input() || !self.done.insert(node.digest()) {
            return None;
        }
        let recipe = node.recipe()?;
        Some(match &*recipe {
            Recipe::Append(append) if !self.limits.reads_any_number => {
                let map = append::as_map(node, &append.parts, self.limits, (self.arena, &mut self.added));
                self.fitting_step(node, &map)
            }
            recipe => self.fitting_step(node, recipe),
        })
    }

    /// Resolves the recipe's expressions. Maps are stored instead of inlined, one by one, until the step fits the
    /// limits. A recipe that itself reads more arrays than a kernel can bind is narrowed.
    fn fitting_step(&mut self, node: &Node, recipe: &Recipe) -> Step {
        let mut stored = DigestSet::default();
        let mut recipe = Cow::Borrowed(recipe);
        let mut attempts = 0;
        loop {
            let (step, inlined, barred) = self.resolve_recipe(node, &recipe, &stored);
            // A map that the step loads at a place where only some positions are evaluated is stored in any case.
            if inlined.iter().any(|n| barred.contains(&n.digest())) {
                self.barred.extend(barred);
                continue;
            }
            if step.fits(self.sizes) {
                return step;
            }
            // Store the map that reads the largest number of arrays, which replaces these by one array.
            let widest = inlined.iter().filter(|n| !stored.contains(&n.digest())).max_by_key(|n| width(n));
            attempts += 1;
            if matches!(recipe, Cow::Borrowed(_))
                && !self.limits.reads_any_number
                && step.bound_arrays(self.sizes) > self.limits.bindings
                && (attempts >= MAX_ATTEMPTS || widest.is_none_or(|n| width(n) <= 1))
            {
                let read: DigestSet = recipe.exprs().into_iter().flat_map(arrays).collect();
                let free = self.limits.arrays.min(self.limits.bindings).saturating_sub(step.other_arrays(self.sizes));
                if read.len() > free as usize {
                    recipe =
                        Cow::Owned(narrow::narrowed(node, &recipe, free, self.limits, (self.arena, &mut self.added)));
                    stored.clear();
                    continue;
                }
            }
            match widest {
                Some(n) => stored.insert(n.digest()),
                None => return step,
            };
        }
    }
}

/// Number of arrays that a map reads directly.
fn width(n: &Node) -> usize {
    match n.recipe().as_deref() {
        Some(Recipe::Map(map)) => arrays(&map.value).len(),
        _ => 0,
    }
}
