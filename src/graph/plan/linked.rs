//! Linked plans: plans whose array references are resolved to numbers, so that backends can run them repeatedly.

use std::sync::Arc;

use super::{CountKey, Plan, PlanLimits, plan};
use crate::graph::backend::BackendRef;
use crate::graph::digest::DigestMap;
use crate::graph::node::Node;
use crate::graph::program::{ArrayId, Bindings, Lifted, Program, SizeId};
use crate::graph::row_lengths;
use crate::graph::size::Size;
use crate::graph::step::Step;

/// Source of an array that a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArraySource {
    /// An input of the program.
    Input(ArrayId),
    /// An array that the plan computes, by number.
    Computed(usize),
}

/// An array that a plan computes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComputedArray {
    /// The array in the program; `None` for an array that the planner added.
    pub(crate) array: Option<ArrayId>,
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
}

/// A count that a plan computes.
#[derive(Debug)]
pub(crate) struct CountLink {
    /// The slot that holds the value.
    pub(crate) slot: Size,
    /// Index of the size in the program.
    pub(crate) number: usize,
    /// The array that holds the count, at index `at`.
    pub(crate) source: ArraySource,
    pub(crate) at: Size,
    /// Identity of the count.
    pub(crate) key: Arc<CountKey>,
}

/// A program with its plan.
#[derive(Debug)]
pub(crate) struct LinkedPlan {
    pub(crate) program: Arc<Program>,
    lifted: Lifted,
    pub(crate) steps: Vec<Step>,
    pub(crate) links: Vec<StepLinks>,
    pub(crate) computed: Vec<ComputedArray>,
    pub(crate) counts: Vec<CountLink>,
    /// The inputs that the plan reads.
    pub(crate) inputs: Vec<ArrayId>,
    limits: PlanLimits,
    /// The only signature for which the plan is valid, if an array may exceed a binding.
    exact: Option<Vec<u32>>,
}

impl LinkedPlan {
    /// Plans a program for the sizes of these bindings. `backend` is the placeholder backend of the planned nodes.
    pub(crate) fn new(program: Program, bindings: &Bindings, backend: &BackendRef, limits: PlanLimits) -> Self {
        let lifted = Lifted::new(&program, backend, bindings);
        lifted.assign(bindings);
        let roots: Vec<Node> = program.outputs().iter().map(|&a| lifted.node(a).clone()).collect();
        let Plan { steps } = plan(&roots, limits);
        let mut this = Self {
            program: Arc::new(program),
            lifted,
            steps: Vec::new(),
            links: Vec::with_capacity(steps.len()),
            computed: Vec::with_capacity(steps.len()),
            counts: Vec::new(),
            inputs: Vec::new(),
            limits,
            exact: None,
        };
        let mut producers: DigestMap<usize> = DigestMap::default();
        for (k, step) in steps.iter().enumerate() {
            let reads = step.reads.iter().map(|n| this.source(n, &producers, k)).collect();
            let after = step.after.iter().map(|n| this.source(n, &producers, k)).collect();
            let first_output = this.computed.len();
            for n in step.outputs() {
                producers.insert(n.digest(), this.computed.len());
                this.computed.push(ComputedArray { array: this.lifted.array(n), last_step: k });
            }
            this.links.push(StepLinks { reads, after, first_output });
        }
        let counts: Vec<(SizeId, Size)> = this.lifted.counts().map(|(id, slot)| (id, slot.clone())).collect();
        for (id, slot) in counts {
            let Some(count) = slot.slot_count().cloned() else { continue };
            // A count that no step depends on is not computed.
            let producer = producers.get(&count.node.digest()).copied();
            if producer.is_some() || count.node.stored().is_some() {
                let last = producer.map_or(0, |computed| this.computed[computed].last_step);
                let source = this.source(&count.node, &producers, last);
                if let Some(key) = CountKey::new(&this.program, bindings, id) {
                    let (number, key) = (id.index(), Arc::new(key));
                    this.counts.push(CountLink { slot, number, source, at: count.at, key });
                }
            }
        }
        this.steps = steps;
        if !this.is_small() {
            this.exact = Some(this.signature(bindings));
        }
        this
    }

    fn source(&mut self, node: &Node, producers: &DigestMap<usize>, step: usize) -> ArraySource {
        if let Some(&computed) = producers.get(&node.digest()) {
            self.computed[computed].last_step = self.computed[computed].last_step.max(step);
            return ArraySource::Computed(computed);
        }
        let array = self.lifted.array(node).expect("bug: an array that no step computes");
        if !self.inputs.contains(&array) {
            self.inputs.push(array);
        }
        ArraySource::Input(array)
    }

    /// The outputs of the program.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Node> {
        self.program.outputs().iter().map(|&a| self.lifted.node(a))
    }

    /// Assigns the sizes and scalars of a run to the plan, if the plan is valid for them; returns whether it is. A plan whose
    /// arrays stay below half a binding is valid for every run of the program; any other plan only for the sizes for
    /// which it was planned.
    pub(crate) fn assign_if_valid(&self, bindings: &Bindings) -> bool {
        if let Some(exact) = &self.exact {
            let is_same = *exact == self.signature(bindings);
            if is_same {
                self.lifted.assign(bindings);
            }
            return is_same;
        }
        self.lifted.assign(bindings);
        self.is_small()
    }

    /// Whether each array has at most half the bytes of a binding.
    fn is_small(&self) -> bool {
        let most = self.limits.max_binding / 2;
        most == u64::MAX / 2
            || (self.lifted.nodes().all(|n| n.bytes() <= most)
                && self.steps.iter().flat_map(Step::outputs).all(|n| n.bytes() <= most))
    }

    /// The values on which grids and buffers of a run depend: all sizes, the lengths of the inputs, and the length
    /// classes of their rows.
    pub(crate) fn signature(&self, bindings: &Bindings) -> Vec<u32> {
        let mut out: Vec<u32> = bindings.sizes.iter().map(|(_, value)| *value).collect();
        for (node, stored) in &bindings.arrays {
            if let Some(stored) = stored {
                out.extend([stored.len, row_lengths::class(node.longest_row())]);
            }
        }
        out
    }

    /// For each computed array, whether it is kept after the run: outputs, and arrays that are referenced from outside
    /// of this program. `counts_resolve`: whether counts become host-known in the run.
    pub(crate) fn kept(&self, bindings: &Bindings, counts_resolve: bool) -> Vec<bool> {
        /// Maximum total bytes of arrays that are all kept, without counting references.
        const FEW_BYTES: u64 = 1 << 20;
        let mut is_computed = vec![false; bindings.arrays.len()];
        let mut bytes = 0;
        for array in self.computed.iter().filter_map(|computed| computed.array) {
            is_computed[array.index()] = true;
            bytes += self.lifted.node(array).bytes();
        }
        if bytes <= FEW_BYTES {
            return self.computed.iter().map(|computed| computed.array.is_some()).collect();
        }
        let shared = bindings.shared(&is_computed, counts_resolve);
        let is_kept = |array: ArrayId| self.program.outputs().contains(&array) || shared[array.index()];
        self.computed.iter().map(|computed| computed.array.is_some_and(is_kept)).collect()
    }

    /// Whether the plan's inputs are stored, and the plan computes all outputs. False if another thread has stored an
    /// array between tracing and planning.
    pub(crate) fn matches(&self, bindings: &Bindings) -> bool {
        let is_stored = |array: ArrayId| bindings.stored(array).is_some();
        let is_computed = |array: ArrayId| self.computed.iter().any(|computed| computed.array == Some(array));
        self.inputs.iter().all(|&array| is_stored(array))
            && self.program.outputs().iter().all(|&array| is_computed(array))
    }
}
