//! Runs of traced programs: nothing is recorded, and the results of a run are its own.

use std::sync::Arc;

use crate::graph::program::{Bindings, Program};
use crate::graph::size::RunTable;
use crate::graph::stored::Stored;

/// A program that runs on inputs of its own.
#[derive(Debug)]
pub(crate) struct TracedProgram {
    pub(crate) program: Arc<Program>,
    /// The trace: its nodes have no values.
    pub(crate) trace: Bindings,
    /// Per array whether an output refers to it.
    pub(crate) is_output: Vec<bool>,
    /// Per array whether a size of an output is a count in it.
    pub(crate) holds_output_count: Vec<bool>,
}

/// The state of one run: inputs and sizes before, outputs and exact sizes after.
#[derive(Debug)]
pub(crate) struct TracedRun {
    /// The inputs, and the outputs once they are computed, by the number of the array.
    pub(crate) arrays: Vec<Option<Stored>>,
    /// Per array whether the run owns it: a step may overwrite the array if nothing else refers to its storage. Empty if
    /// the run owns none. What a run has overwritten is gone from `arrays`.
    pub(crate) donated: Vec<bool>,
    pub(crate) table: RunTable,
    /// Whether a count is undefined, since a condition of its array failed.
    pub(crate) has_failed: bool,
}
