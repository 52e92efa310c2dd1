//! The partitions of a plan in turn.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Partitions that may be done, or wait for a thread, before the first one is done.
const AHEAD: usize = 64;

/// The rows of a plan, those of its first partition first; `threads` partitions are computed at a time. The batches that wait for
/// the partitions before theirs take up to `most` bytes.
pub fn stream(
    plan: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
    threads: usize,
    most: usize,
) -> SendableRecordBatchStream {
    let threads = threads.clamp(1, Semaphore::MAX_PERMITS);
    let most = most.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
    let shared = Shared {
        plan: plan.clone(),
        context: context.clone(),
        threads: Arc::new(Semaphore::new(threads)),
        room: Arc::new(Semaphore::new(most)),
        most,
    };
    let queue = Queue {
        shared: Arc::new(shared),
        parts: 0..plan.properties().partitioning.partition_count(),
        ahead: threads.saturating_add(AHEAD),
        started: VecDeque::new(),
    };
    let rows = futures::stream::unfold(queue, |mut queue| async move { Some((queue.next().await?, queue)) });
    Box::pin(RecordBatchStreamAdapter::new(plan.schema(), rows.boxed()))
}

/// What all partitions share.
struct Shared {
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    /// Partitions take them in their order: the first one always has one.
    threads: Arc<Semaphore>,
    /// Bytes of batches that wait.
    room: Arc<Semaphore>,
    /// All of `room`.
    most: usize,
}

struct Queue {
    shared: Arc<Shared>,
    /// Those that have not begun.
    parts: Range<usize>,
    ahead: usize,
    started: VecDeque<Part>,
}

impl Queue {
    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        loop {
            while self.started.len() < self.ahead {
                let Some(part) = self.parts.next() else { break };
                self.started.push_back(Part::start(&self.shared, part));
            }
            let first = self.started.front_mut()?;
            first.is_first.send_replace(true);
            if let Some((batch, _)) = first.batches.recv().await {
                return Some(batch);
            }
            if let Some(part) = self.started.pop_front() {
                // A panic goes on here.
                let ended = part.task.join_unwind().await;
                if let Err(error) = ended {
                    return Some(Err(DataFusionError::ExecutionJoin(Box::new(error))));
                }
            }
        }
    }
}

/// A batch, and the room that it takes while it waits.
type Waiting = (Result<RecordBatch>, Option<OwnedSemaphorePermit>);

/// A partition that is computed, until it is dropped.
struct Part {
    batches: UnboundedReceiver<Waiting>,
    is_first: watch::Sender<bool>,
    task: SpawnedTask<()>,
}

impl Part {
    fn start(shared: &Arc<Shared>, part: usize) -> Self {
        let (sender, batches) = unbounded_channel();
        let (is_first, first) = watch::channel(false);
        Self { batches, is_first, task: SpawnedTask::spawn(send(shared.clone(), part, sender, first)) }
    }
}

/// Sends the batches of a partition, each when there is room for it. Those of the first partition need none.
async fn send(shared: Arc<Shared>, part: usize, sender: UnboundedSender<Waiting>, mut first: watch::Receiver<bool>) {
    // The semaphores are not closed.
    let Ok(_thread) = shared.threads.acquire().await else { return };
    let mut rows = match shared.plan.execute(part, shared.context.clone()) {
        Ok(rows) => rows,
        Err(error) => {
            // Who received is gone.
            let _ = sender.send((Err(error), None));
            return;
        }
    };
    while let Some(batch) = rows.next().await {
        let Ok(rows) = &batch else {
            let _ = sender.send((batch, None));
            return;
        };
        let taken = u32::try_from(bytes(rows).min(shared.most)).unwrap_or(u32::MAX);
        let room = tokio::select! {
            biased;
            _ = first.wait_for(|is_first| *is_first) => None,
            room = shared.room.clone().acquire_many_owned(taken) => room.ok(),
        };
        if sender.send((batch, room)).is_err() {
            return;
        }
    }
}

/// The bytes of the rows, without those of other batches in the same memory.
fn bytes(rows: &RecordBatch) -> usize {
    let of = |column: &Arc<dyn Array>| column.to_data().get_slice_memory_size().unwrap_or_default();
    rows.columns().iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::Int32Array;
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_plan::expressions::{binary, col, lit};
    use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
    use datafusion::prelude::SessionContext;
    use futures::TryStreamExt;

    use super::*;

    fn batch(values: Range<i32>) -> RecordBatch {
        RecordBatch::try_from_iter([("x", Arc::new(Int32Array::from_iter_values(values)) as _)]).expect("a batch")
    }

    #[tokio::test]
    async fn rows_are_those_of_the_partitions_in_turn() {
        // Partitions of one batch to three, and of none.
        let parts: Vec<Vec<RecordBatch>> =
            (0..20).map(|part| (0..part % 4).map(|k| batch(100 * part + k..100 * part + k + 2)).collect()).collect();
        let want: Vec<RecordBatch> = parts.iter().flatten().cloned().collect();
        let plan: Arc<dyn ExecutionPlan> =
            MemorySourceConfig::try_new_exec(&parts, batch(0..1).schema(), None).expect("a plan");
        let context = SessionContext::new().task_ctx();
        for (threads, most) in [(1, 1), (2, 1), (3, 1 << 20), (50, 1 << 20), (0, 0)] {
            let found: Vec<RecordBatch> = stream(&plan, &context, threads, most).try_collect().await.expect("rows");
            assert_eq!(found, want, "{threads} threads, {most} bytes");
        }
    }

    #[tokio::test]
    async fn the_first_fault_follows_the_rows_before_it() {
        // 0 / -2, 1 / -1, 2 / 0, and so on.
        let parts: Vec<Vec<RecordBatch>> = (0..200).map(|part| vec![batch(part..part + 1)]).collect();
        let source = MemorySourceConfig::try_new_exec(&parts, batch(0..1).schema(), None).expect("a plan");
        let x = col("x", &source.schema()).expect("a column");
        let two = lit(2i32);
        let zero = binary(x.clone(), Operator::Minus, two, &source.schema());
        let quotient = binary(x, Operator::Divide, zero.expect("a difference"), &source.schema());
        let columns = vec![ProjectionExpr::new(quotient.expect("a quotient"), "y")];
        let plan: Arc<dyn ExecutionPlan> = Arc::new(ProjectionExec::try_new(columns, source).expect("a plan"));
        let context = SessionContext::new().task_ctx();
        let mut rows = stream(&plan, &context, 3, 1);
        for _ in 0..2 {
            assert_eq!(rows.next().await.expect("a batch").expect("rows").num_rows(), 1);
        }
        let fault = rows.next().await.expect("a batch").expect_err("a quotient by 0");
        assert!(fault.to_string().contains("Divide by zero"), "{fault}");
        // The tasks of the others end with the rows.
        drop(rows);
    }
}
