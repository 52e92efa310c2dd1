//! Runs whose steps are timed one by one.

use std::sync::Arc;
use std::time::Duration;

use crate::graph::plan::LinkedPlan;
use crate::graph::size::RunTable;

/// A plan that ran, with its sizes, and the time of each step.
pub(crate) struct TimedRun {
    pub(crate) plan: Arc<LinkedPlan>,
    pub(crate) table: RunTable,
    pub(crate) times: Vec<Duration>,
}
