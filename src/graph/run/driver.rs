//! The driver: runs plans on any backend.
//!
//! A run looks up the plan of its program, binds the stored inputs to the steps, and hands the steps to the backend in
//! order ([`Execution`]): the CPU backend computes a step, a GPU backend appends its commands. The driver inherits the
//! conditions of the arrays that a step reads, sets the counts that the host knows, frees each array after its last
//! reader, and collects the arrays that are kept ([`Outcome`]). The caller publishes them: a GPU backend after the
//! submission, since another thread could submit a reader first.
//!
//! ```text
//! recorded nodes ──trace──> program + bindings ┐
//!                                              ├──plan──> Run ──Execution::step──> Outcome ──> nodes, or tensors
//! traced program + inputs of the run ──────────┘
//! ```

use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::graph::backend::Backend;
use crate::graph::plan::{ArraySource, CountLink, LastCounts, LinkedPlan, PlanCache};
use crate::graph::planned::SizeView;
use crate::graph::program::{ArrayId, Bindings, Locations, Program};
use crate::graph::run::traced_run::{TracedProgram, TracedRun};
use crate::graph::size::RunTable;
use crate::graph::stored::{Status, Stored};

/// What a backend keeps from run to run: its plans, and the counts of their last runs.
#[derive(Debug, Default)]
pub(crate) struct Driver {
    plans: PlanCache,
    plans_made: AtomicU64,
    pub(crate) last_counts: LastCounts,
}

/// A plan with the inputs of one run.
pub(crate) struct Run<'a> {
    last_counts: &'a LastCounts,
    pub(crate) plan: Arc<LinkedPlan>,
    /// Per computed array of the plan whether it is kept after the run.
    pub(crate) kept: Vec<bool>,
    /// The sizes and scalars. Shared with the steps, and changed between them only.
    pub(crate) table: Arc<RunTable>,
    locations: &'a Locations,
    inputs: Inputs<'a>,
    /// Per step whether it overwrites its base.
    pub(crate) in_place: Vec<bool>,
}

/// The inputs of a run, by the number of the array.
enum Inputs<'a> {
    /// Of recorded nodes.
    Shared(&'a [Option<Stored>]),
    /// Of a traced program, which steps may overwrite.
    Own(&'a mut [Option<Stored>]),
}

impl Inputs<'_> {
    fn get(&self, array: ArrayId) -> Option<&Stored> {
        let all: &[Option<Stored>] = match self {
            Self::Shared(all) => all,
            Self::Own(all) => all,
        };
        all[array.index()].as_ref()
    }

    /// The array, which no later step reads.
    fn take(&mut self, array: ArrayId) -> Option<Stored> {
        match self {
            Self::Shared(_) => None,
            Self::Own(all) => all[array.index()].take(),
        }
    }
}

/// The results of a run.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The kept arrays.
    pub(crate) arrays: Vec<(ArrayId, Stored)>,
    /// The counts that the host knows, by the number of the size; `None` if one of their conditions failed.
    pub(crate) counts: Vec<(usize, Option<u32>)>,
    /// The sizes of the run, with the exact counts.
    pub(crate) table: RunTable,
}

/// One step of a run.
pub(crate) struct StepRun<'a> {
    pub(crate) plan: &'a LinkedPlan,
    pub(crate) number: usize,
    /// The arrays of [`Step::reads`](crate::graph::plan::Step::reads), in order.
    pub(crate) reads: Vec<&'a Stored>,
    /// The base of the step, if it is to be overwritten: the output has its storage. Its place in `reads` has no storage.
    pub(crate) overwritten: Option<Stored>,
    /// The conditions of all arrays on which the step depends.
    pub(crate) inherited: Vec<Status>,
    pub(crate) table: &'a Arc<RunTable>,
    /// The checks and functions of the run.
    pub(crate) locations: &'a Locations,
}

/// What is known of a count once its array is computed.
pub(crate) enum CountState {
    Known(u32),
    /// One of the conditions of the array failed.
    Failed,
    OnDevice,
}

/// The steps of a run on a backend.
pub(crate) trait Execution {
    /// Computes a step, or appends its commands. Returns the outputs in order, with the conditions that they depend on.
    fn step(&mut self, step: StepRun<'_>) -> Result<Vec<Stored>>;
    /// The count of that number, at index `at` of an array.
    fn count(&mut self, number: usize, array: &Stored, at: u32) -> CountState;
}

impl Driver {
    /// Number of plans that were made.
    pub(crate) fn plans_made(&self) -> u64 {
        self.plans_made.load(Ordering::Relaxed)
    }

    /// The plan of a program for the sizes of a run: from the cache, or a new one.
    fn plan(&self, on: &dyn Backend, program: Arc<Program>, trace: &Bindings, table: &RunTable) -> Arc<LinkedPlan> {
        self.plans.get_or_make(
            program,
            |plan| plan.is_valid(table),
            |program| {
                self.plans_made.fetch_add(1, Ordering::Relaxed);
                LinkedPlan::new(program, (trace, table), on.plan_limits())
            },
        )
    }

    /// A run that computes recorded nodes.
    pub(crate) fn recorded<'a>(
        &'a self,
        on: &dyn Backend,
        program: Program,
        (bindings, table): (&'a Bindings, RunTable),
    ) -> Run<'a> {
        let plan = self.plan(on, Arc::new(program), bindings, &table);
        let kept = plan.kept(bindings, SizeView::of(&table), on.is_cpu());
        let (locations, inputs) = (&bindings.locations, Inputs::Shared(&bindings.inputs));
        let in_place = vec![false; plan.steps.len()];
        Run { last_counts: &self.last_counts, plan, kept, table: Arc::new(table), locations, inputs, in_place }
    }

    /// A run of a traced program.
    pub(crate) fn traced<'a>(&'a self, on: &dyn Backend, traced: &'a TracedProgram, run: &'a mut TracedRun) -> Run<'a> {
        let table = take(&mut run.table);
        let plan = self.plan(on, traced.program.clone(), &traced.trace, &table);
        let is_kept = |array: ArrayId| {
            traced.is_output[array.index()] || !on.is_cpu() && traced.holds_output_count[array.index()]
        };
        let kept = plan.computed.iter().map(|computed| computed.array.is_some_and(is_kept)).collect();
        // Nothing else can begin to refer to what has a sole owner.
        let is_owned = |array: ArrayId| {
            let stored = run.arrays[array.index()].as_ref();
            run.donated.get(array.index()) == Some(&true) && stored.is_some_and(|stored| on.is_sole_owner(stored))
        };
        let in_place = plan.links.iter().map(|links| links.overwritten.is_some_and(|(_, array)| is_owned(array)));
        let in_place = in_place.collect();
        let (locations, inputs) = (&traced.trace.locations, Inputs::Own(&mut run.arrays));
        Run { last_counts: &self.last_counts, plan, kept, table: Arc::new(table), locations, inputs, in_place }
    }
}

impl Run<'_> {
    /// Runs all steps. After an error the outcome has what was computed before.
    pub(crate) fn execute(mut self, execution: &mut dyn Execution) -> (Outcome, Result<()>) {
        let mut outcome = Outcome::default();
        let result = self.steps(execution, &mut outcome);
        outcome.table = Arc::unwrap_or_clone(self.table);
        (outcome, result)
    }

    fn steps(&mut self, execution: &mut dyn Execution, outcome: &mut Outcome) -> Result<()> {
        let plan = self.plan.clone();
        let mut inputs = std::mem::replace(&mut self.inputs, Inputs::Shared(&[]));
        // A count that another thread has stored in the meantime is an input.
        for count in &plan.counts {
            if let ArraySource::Input(array) = count.source
                && let Some(stored) = inputs.get(array)
            {
                self.count(count, stored, execution, outcome);
            }
        }
        let mut made: Vec<Option<Stored>> = vec![None; plan.computed.len()];
        for (number, links) in plan.links.iter().enumerate() {
            // After a check that failed, a run of the same inputs reports it.
            let has_failed = outcome.counts.iter().any(|(_, value)| value.is_none());
            let (base, array) = links.overwritten.filter(|_| self.in_place[number] && !has_failed).unzip();
            let overwritten = array.and_then(|array| inputs.take(array));
            let placeholder = overwritten.as_ref().map(Stored::without_storage);
            let find = |source: &ArraySource| {
                let found = match source {
                    ArraySource::Input(array) => inputs.get(*array),
                    ArraySource::Computed(m) => made[*m].as_ref(),
                };
                found.expect("bug: a step before its inputs")
            };
            let find_read = |(k, source): (usize, &ArraySource)| match &placeholder {
                Some(placeholder) if Some(k) == base => placeholder,
                _ => find(source),
            };
            let reads: Vec<&Stored> = links.reads.iter().enumerate().map(find_read).collect();
            let mut inherited = Vec::new();
            let of_arrays = reads.iter().copied().chain(links.after.iter().map(find));
            of_arrays.for_each(|stored| Status::inherit(&mut inherited, &stored.status));
            let (table, locations) = (&self.table, self.locations);
            let run = StepRun { plan: &plan, number, reads, overwritten, inherited, table, locations };
            let outputs = execution.step(run)?;
            for (m, stored) in (links.first_output..).zip(outputs) {
                // The sizes that this array holds are exact from here on.
                for &count in &plan.computed[m].counts {
                    self.count(&plan.counts[count], &stored, execution, outcome);
                }
                made[m] = Some(stored);
            }
            for &m in &links.released {
                if let (Some(stored), Some(array), true) = (made[m].take(), plan.computed[m].array, self.kept[m]) {
                    outcome.arrays.push((array, stored));
                }
            }
        }
        Ok(())
    }

    /// Sets a count whose array is computed, unless only the device knows it.
    fn count(&mut self, count: &CountLink, array: &Stored, execution: &mut dyn Execution, outcome: &mut Outcome) {
        let at = SizeView::of(&self.table).value(&count.at);
        let known = match execution.count(count.number, array, at) {
            CountState::Known(value) => Some(value),
            CountState::Failed => None,
            CountState::OnDevice => return,
        };
        let size = &mut Arc::make_mut(&mut self.table).sizes[count.number];
        let bound = size.bound;
        debug_assert!(known.is_none_or(|value| value <= bound), "bug: a count of {known:?} exceeds its bound {bound}");
        let known = known.map(|value| value.min(bound));
        // The value of a count is undefined if one of its conditions failed. Zero then avoids a large allocation: the
        // arrays of that size inherit the condition, and reading them returns the error. The host does not record such
        // a count.
        size.exact = Some(known.unwrap_or(0));
        outcome.counts.push((count.number, known));
        if let (Some(value), Some(key)) = (known, &count.key) {
            self.last_counts.put(key, bound, value);
        }
    }
}

impl Outcome {
    /// Publishes the results of recorded nodes.
    pub(crate) fn publish(self, bindings: &Bindings) {
        for (array, stored) in self.arrays {
            bindings.node(array).set_stored(stored);
        }
        for (size, value) in self.counts {
            value.into_iter().for_each(|value| bindings.set_count(size, value));
        }
    }

    /// Makes the results those of a run of a traced program.
    pub(crate) fn finish(self, run: &mut TracedRun) {
        for (array, stored) in self.arrays {
            run.arrays[array.index()] = Some(stored);
        }
        run.has_failed = self.counts.iter().any(|(_, value)| value.is_none());
        run.table = self.table;
    }
}
