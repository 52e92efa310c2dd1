//! Runs of traced programs: nothing is recorded, and the results of a run are its own.

use std::sync::{Arc, Mutex, PoisonError};

use super::plan::LinkedPlan;
use super::program::{ArrayId, Bindings, Program};
use super::size::RunTable;
use super::stored::Stored;

/// A program with its plans, one for each backend that has run it.
#[derive(Debug)]
pub(crate) struct TracedProgram {
    pub(crate) program: Arc<Program>,
    /// The trace: its nodes have no values.
    pub(crate) trace: Bindings,
    /// Per array whether an output refers to it.
    pub(crate) is_output: Vec<bool>,
    plans: Mutex<Vec<(u64, Arc<LinkedPlan>)>>,
}

impl TracedProgram {
    pub(crate) fn new(program: Program, trace: Bindings, is_output: Vec<bool>) -> Self {
        Self { program: Arc::new(program), trace, is_output, plans: Mutex::default() }
    }

    /// The plan of a backend, made at the first call.
    pub(crate) fn plan(&self, backend: u64, make: impl FnOnce() -> LinkedPlan) -> Arc<LinkedPlan> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = plans.iter().find(|(of, _)| *of == backend) {
            return plan.clone();
        }
        let plan = Arc::new(make());
        plans.push((backend, plan.clone()));
        plan
    }
}

/// The state of one run: inputs and sizes before, outputs and exact sizes after.
#[derive(Debug)]
pub(crate) struct TracedRun {
    /// The inputs, and the outputs once they are computed, by the number of the array.
    pub(crate) arrays: Vec<Option<Stored>>,
    pub(crate) table: RunTable,
    /// Whether a count is undefined, since a condition of its array failed.
    pub(crate) has_failed: bool,
}

/// Where a run finds its inputs, and what becomes of its results.
pub(crate) trait RunArrays {
    fn input(&self, array: ArrayId) -> Option<&Stored>;
    fn publish(&mut self, array: ArrayId, stored: Stored);
    /// A count has this value; none if one of its conditions failed.
    fn count(&mut self, size: usize, value: Option<u32>);
}

impl RunArrays for Bindings {
    fn input(&self, array: ArrayId) -> Option<&Stored> {
        self.stored(array)
    }
    fn publish(&mut self, array: ArrayId, stored: Stored) {
        self.node(array).set_stored(stored);
    }
    fn count(&mut self, size: usize, value: Option<u32>) {
        if let Some(value) = value {
            self.set_count(size, value);
        }
    }
}

impl RunArrays for TracedRun {
    fn input(&self, array: ArrayId) -> Option<&Stored> {
        self.arrays[array.index()].as_ref()
    }
    fn publish(&mut self, array: ArrayId, stored: Stored) {
        self.arrays[array.index()] = Some(stored);
    }
    fn count(&mut self, _: usize, value: Option<u32>) {
        self.has_failed |= value.is_none();
    }
}
