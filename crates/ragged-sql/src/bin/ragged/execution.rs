//! How the rows of a query are computed.

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::DataFrame;

use crate::arguments::Run;
use crate::inputs::Table;
use crate::ordered;

/// A plan, and in which order its partitions are read.
pub enum Plan {
    /// The partitions in turn have the rows in the order of the inputs.
    Ordered(Arc<dyn ExecutionPlan>),
    /// Partitions at once: SQL has no order but that of ORDER BY.
    Unordered(Arc<dyn ExecutionPlan>),
}

/// Of rows that wait for those before: the results of a few parts of files.
const WAITING_BYTES: usize = 256 << 20;

impl Plan {
    /// The plan of a query.
    ///
    /// # Errors
    /// Faults of the query.
    pub async fn new(run: &Run, frame: DataFrame, tables: &[Table]) -> Result<Self, DataFusionError> {
        // The rows of a select list are those of its input.
        if let ([table], None) = (tables, &run.sql)
            && let Some(plan) = ordered::plan(&frame, table).await?
        {
            return Ok(Self::Ordered(plan));
        }
        frame.create_physical_plan().await.map(Self::Unordered)
    }

    pub fn node(&self) -> &Arc<dyn ExecutionPlan> {
        match self {
            Self::Ordered(plan) | Self::Unordered(plan) => plan,
        }
    }

    /// The rows. Those that wait take a quarter of `--memory` at most.
    ///
    /// # Errors
    /// Partitions that cannot be begun.
    pub fn rows(&self, run: &Run, context: &Arc<TaskContext>) -> Result<SendableRecordBatchStream, DataFusionError> {
        match self {
            Self::Ordered(plan) => {
                let threads = context.session_config().target_partitions();
                let limit = run.memory.and_then(|memory| usize::try_from(memory).ok()).unwrap_or(usize::MAX);
                let most = WAITING_BYTES.min(limit / 4);
                Ok(ordered::stream(plan, context, threads, most))
            }
            Self::Unordered(plan) => execute_stream(plan.clone(), context.clone()),
        }
    }
}
