//! Linked plans: plans whose array references are resolved to numbers, so that backends can run them repeatedly.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{CountKey, Plan, PlanLimits, plan};
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::planned::{Arena, DeviceCount, Node, Size, SizeView};
use crate::graph::program::{ArrayId, Bindings, Program, SizeId};
use crate::graph::size::RunTable;
use crate::graph::step::Step;
use crate::graph::step::recomputed::exceeds_operands;
use crate::graph::walk::arrays;

/// Source of an array that a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArraySource {
    /// An input of the program.
    Input(ArrayId),
    /// An array that the plan computes, by number.
    Computed(usize),
}

/// An array that a plan computes.
#[derive(Debug)]
pub(crate) struct ComputedArray {
    /// The array in the program; `None` for an array that the planner added.
    pub(crate) array: Option<ArrayId>,
    /// The counts that the array holds, as indices of [`LinkedPlan::counts`].
    pub(crate) counts: Vec<usize>,
    /// The last step that reads the array, or the step that computes it if no step reads it.
    pub(crate) last_step: usize,
}

/// Sources and outputs of a step.
#[derive(Debug)]
pub(crate) struct StepLinks {
    /// Sources of [`Step::reads`], in order.
    pub(crate) reads: Vec<ArraySource>,
    /// Sources of [`Step::after`], in order.
    pub(crate) after: Vec<ArraySource>,
    /// Index of the step's first output in [`LinkedPlan::computed`].
    pub(crate) first_output: usize,
    /// The computed arrays whose last step this is.
    pub(crate) released: Vec<usize>,
    /// The input that the step may overwrite in a run that owns it, and its index among the reads: the base of a scatter,
    /// which no expression of the step reads, no later step, and no output.
    pub(crate) overwritten: Option<(usize, ArrayId)>,
}

/// A count that a plan computes.
#[derive(Debug)]
pub(crate) struct CountLink {
    /// Index of the size in the program.
    pub(crate) number: usize,
    /// The array that holds the count, at index `at`.
    pub(crate) source: ArraySource,
    pub(crate) at: Size,
    /// Identity of the count, if its value is remembered.
    pub(crate) key: Option<Arc<CountKey>>,
}

/// The runs for which a plan is valid.
#[derive(Debug)]
pub(crate) enum Validity {
    /// Every run whose arrays have at most half the bytes of a binding. Such a plan depends on no size.
    Any,
    /// The runs with these sizes: see [`RunTable::signature`]. An array may exceed a binding.
    Exact(Vec<u32>),
}

/// A program with its plan. Immutable, so that any number of threads run it at once, each with sizes and arrays of its
/// own.
#[derive(Debug)]
pub(crate) struct LinkedPlan {
    pub(crate) program: Arc<Program>,
    pub(crate) steps: Vec<Step>,
    pub(crate) links: Vec<StepLinks>,
    pub(crate) computed: Vec<ComputedArray>,
    /// The counts, by ascending number.
    pub(crate) counts: Vec<CountLink>,
    /// The inputs that the plan reads.
    pub(crate) inputs: Vec<ArrayId>,
    limits: PlanLimits,
    validity: Validity,
    /// See [`Plan::products`]: a run for which one of these differs needs another plan.
    products: Vec<(Node, bool)>,
    /// What a backend prepares for all runs.
    prepared: OnceLock<Box<dyn Any + Send + Sync>>,
    /// The definitions of the plan. The last field, since they are dropped after what refers to them.
    arena: Arena,
}

/// The arrays that were seen while a plan is linked.
struct Linked {
    /// The computed array of a node.
    producers: DigestMap<usize>,
    /// Whether an array of the program is an input of the plan.
    is_input: Vec<bool>,
}

/// The steps, those last that may overwrite an array and whose results no step reads: a run that fails before has all its
/// inputs.
fn overwriting_last(steps: Vec<Step>) -> Vec<Step> {
    let read: DigestSet =
        steps.iter().flat_map(|step| step.reads.iter().chain(&step.after)).map(Node::digest).collect();
    let is_last = |step: &Step| step.recipe.base().is_some() && !read.contains(&step.out.digest());
    let (last, mut first): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(is_last);
    first.extend(last);
    first
}

impl LinkedPlan {
    /// Plans a program for the sizes of a run.
    pub(crate) fn new(program: Arc<Program>, (bindings, run): (&Bindings, &RunTable), limits: PlanLimits) -> Self {
        let sizes = SizeView::of(run);
        let mut arena = Arena::new(&program, &bindings.locations);
        let roots: Vec<Node> = program.outputs().iter().map(|&a| arena.node(a).clone()).collect();
        let Plan { steps, products } = plan(&mut arena, &roots, limits, sizes);
        let steps = overwriting_last(steps);
        let mut this = Self {
            program,
            steps: Vec::new(),
            links: Vec::with_capacity(steps.len()),
            computed: Vec::with_capacity(steps.len()),
            counts: Vec::new(),
            inputs: Vec::new(),
            limits,
            validity: Validity::Any,
            products,
            prepared: OnceLock::new(),
            arena,
        };
        let mut arrays = Linked { producers: DigestMap::default(), is_input: vec![false; bindings.nodes.len()] };
        for (k, step) in steps.iter().enumerate() {
            let reads = step.reads.iter().map(|n| this.source(n, &mut arrays, k)).collect();
            let after = step.after.iter().map(|n| this.source(n, &mut arrays, k)).collect();
            let first_output = this.computed.len();
            for n in step.outputs() {
                arrays.producers.insert(n.digest(), this.computed.len());
                this.computed.push(ComputedArray { array: this.arena.in_program(n), counts: Vec::new(), last_step: k });
            }
            this.links.push(StepLinks { reads, after, first_output, released: Vec::new(), overwritten: None });
        }
        let mut keys: HashMap<SizeId, CountKey> = CountKey::of_program(&this.program, bindings).collect();
        let counts: Vec<(SizeId, DeviceCount)> = this.arena.counts().map(|(id, count)| (id, count.clone())).collect();
        for (id, count) in counts {
            // A count that no step depends on is not computed.
            let producer = arrays.producers.get(&count.node.digest()).copied();
            if producer.is_some() || count.node.is_input() {
                let last = producer.map_or(0, |computed| this.computed[computed].last_step);
                let source = this.source(&count.node, &mut arrays, last);
                let (number, key) = (id.index(), keys.remove(&id).map(Arc::new));
                if let Some(computed) = producer {
                    this.computed[computed].counts.push(this.counts.len());
                }
                this.counts.push(CountLink { number, source, at: count.at, key });
            }
        }
        for (m, of) in this.computed.iter().enumerate() {
            this.links[of.last_step].released.push(m);
        }
        this.steps = steps;
        for k in 0..this.steps.len() {
            this.links[k].overwritten = this.overwritten(k);
        }
        if !this.is_small(sizes) {
            this.validity = Validity::Exact(run.signature().collect());
        }
        this
    }

    /// See [`StepLinks::overwritten`].
    fn overwritten(&self, k: usize) -> Option<(usize, ArrayId)> {
        let (step, links) = (&self.steps[k], &self.links[k]);
        let base = step.recipe.base()?;
        let read = step.reads.iter().position(|n| n == base)?;
        let ArraySource::Input(array) = links.reads[read] else { return None };
        let is_input = |source: &ArraySource| *source == ArraySource::Input(array);
        let is_read_later = self.links[k + 1..].iter().any(|l| l.reads.iter().chain(&l.after).any(is_input));
        let is_read = step.recipe.exprs().into_iter().chain(&step.live).any(|e| arrays(e).contains(&base.digest()));
        let is_counted = self.counts.iter().any(|count| is_input(&count.source));
        let is_kept = is_read || is_read_later || is_counted || self.program.outputs().contains(&array);
        (!is_kept).then_some((read, array))
    }

    fn source(&mut self, node: &Node, arrays: &mut Linked, step: usize) -> ArraySource {
        if let Some(&computed) = arrays.producers.get(&node.digest()) {
            self.computed[computed].last_step = self.computed[computed].last_step.max(step);
            return ArraySource::Computed(computed);
        }
        let array = self.arena.in_program(node).expect("bug: an array that no step computes");
        if !std::mem::replace(&mut arrays.is_input[array.index()], true) {
            self.inputs.push(array);
        }
        ArraySource::Input(array)
    }

    /// The outputs of the program.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Node> {
        self.program.outputs().iter().map(|&a| self.arena.node(a))
    }

    /// What the backend prepares for all runs of the plan, made at the first call.
    pub(crate) fn prepared<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Self) -> T) -> &T {
        let prepared = self.prepared.get_or_init(|| Box::new(make(self)));
        prepared.downcast_ref().expect("bug: a plan of another backend")
    }

    /// Whether the plan is valid for a run.
    pub(crate) fn is_valid(&self, run: &RunTable) -> bool {
        let sizes = SizeView::of(run);
        let is_other = |least| self.products.iter().any(|(n, exceeds)| exceeds_operands(n, least, sizes) != *exceeds);
        if self.limits.least_products().is_some_and(is_other) {
            return false;
        }
        match &self.validity {
            Validity::Any => self.is_small(sizes),
            Validity::Exact(signature) => run.signature().eq(signature.iter().copied()),
        }
    }

    /// Whether each array has at most half the bytes of a binding.
    fn is_small(&self, sizes: SizeView<'_>) -> bool {
        let most = self.limits.max_binding / 2;
        most == u64::MAX / 2
            || (self.arena.nodes_of_program().iter().all(|n| sizes.bytes(n) <= most)
                && self.steps.iter().flat_map(Step::outputs).all(|n| sizes.bytes(n) <= most))
    }

    /// For each computed array, whether it is kept after the run: outputs, and arrays that are referenced from outside
    /// of this program. `counts_resolve`: whether counts become host-known in the run.
    pub(crate) fn kept(&self, bindings: &Bindings, sizes: SizeView<'_>, counts_resolve: bool) -> Vec<bool> {
        /// Maximum total bytes of arrays that are all kept, without counting references.
        const FEW_BYTES: u64 = 1 << 20;
        let mut is_computed = vec![false; bindings.nodes.len()];
        let mut bytes = 0;
        for array in self.computed.iter().filter_map(|computed| computed.array) {
            is_computed[array.index()] = true;
            bytes += sizes.bytes(self.arena.node(array));
        }
        if bytes <= FEW_BYTES {
            return self.computed.iter().map(|computed| computed.array.is_some()).collect();
        }
        let mut is_kept = bindings.shared(&is_computed, counts_resolve);
        self.program.outputs().iter().for_each(|array| is_kept[array.index()] = true);
        self.computed.iter().map(|computed| computed.array.is_some_and(|array| is_kept[array.index()])).collect()
    }
}
