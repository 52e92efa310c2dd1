//! The time of each step.

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::graph::node::Stored;
use crate::graph::run::driver::{CountState, Execution, StepRun};

/// Times the steps of an execution that computes each step at once.
pub(crate) struct Timed<'a> {
    pub(crate) execution: &'a mut dyn Execution,
    pub(crate) times: Vec<Duration>,
}

impl Execution for Timed<'_> {
    fn step(&mut self, step: StepRun<'_>) -> Result<Vec<Stored>> {
        let start = Instant::now();
        let outputs = self.execution.step(step);
        self.times.push(start.elapsed());
        outputs
    }

    fn count(&mut self, number: usize, array: &Stored, at: u32) -> CountState {
        self.execution.count(number, array, at)
    }
}
