//! Runs whose steps are timed one by one.

use std::sync::Arc;
use std::time::Duration;

use super::stage::EarlyCount;
use crate::graph::plan::LinkedPlan;
use crate::graph::size::RunTable;

/// A plan that ran, with its sizes, and the time of each step.
pub(crate) struct TimedRun {
    pub(crate) plan: Arc<LinkedPlan>,
    pub(crate) table: RunTable,
    pub(crate) times: Vec<Duration>,
}

/// The plans of the stages of a run, and the counts that were read between them.
#[derive(Default)]
pub(crate) struct TimedRuns {
    pub(crate) runs: Vec<TimedRun>,
    pub(crate) counts: Vec<EarlyCount>,
}
