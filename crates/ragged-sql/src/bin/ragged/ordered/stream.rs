//! The partitions of a plan in turn.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The rows of a plan, those of its first partition first; `threads` partitions are computed at a time. What waits for the
/// partitions before takes up to `most` bytes a partition, or one batch.
pub fn stream(
    plan: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
    threads: usize,
    most: usize,
) -> SendableRecordBatchStream {
    let parts = 0..plan.properties().partitioning.partition_count();
    let queue = Queue {
        plan: plan.clone(),
        context: context.clone(),
        parts,
        threads: threads.max(1),
        most,
        started: VecDeque::new(),
    };
    let rows = futures::stream::unfold(queue, |mut queue| async move { Some((queue.next().await?, queue)) });
    Box::pin(RecordBatchStreamAdapter::new(plan.schema(), rows.boxed()))
}

struct Queue {
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    /// Those that have not begun.
    parts: std::ops::Range<usize>,
    threads: usize,
    most: usize,
    started: VecDeque<Part>,
}

impl Queue {
    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        loop {
            while self.started.len() < self.threads {
                let Some(part) = self.parts.next() else { break };
                self.started.push_back(Part::start(self.plan.clone(), self.context.clone(), part, self.most));
            }
            let first = self.started.front_mut()?;
            if let Some((batch, _)) = first.batches.recv().await {
                return Some(batch);
            }
            if let Some(part) = self.started.pop_front() {
                // A panic goes on here.
                let ended = part.task.join_unwind().await;
                if let Err(error) = ended {
                    return Some(Err(datafusion::common::DataFusionError::ExecutionJoin(Box::new(error))));
                }
            }
        }
    }
}

type Batch = (Result<RecordBatch>, Option<OwnedSemaphorePermit>);

/// A partition that is computed, until it is dropped.
struct Part {
    batches: UnboundedReceiver<Batch>,
    task: SpawnedTask<()>,
}

impl Part {
    fn start(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>, part: usize, most: usize) -> Self {
        let (sender, batches) = unbounded_channel();
        Self { batches, task: SpawnedTask::spawn(send(plan, context, part, most, sender)) }
    }
}

/// Sends the batches of a partition, each when there is room for it.
async fn send(
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    part: usize,
    most: usize,
    sender: UnboundedSender<Batch>,
) {
    let most = most.clamp(1, Semaphore::MAX_PERMITS).min(u32::MAX as usize);
    let room = Arc::new(Semaphore::new(most));
    let mut rows = match plan.execute(part, context) {
        Ok(rows) => rows,
        Err(error) => {
            // Who received is gone.
            let _ = sender.send((Err(error), None));
            return;
        }
    };
    while let Some(batch) = rows.next().await {
        let bytes = batch.as_ref().map_or(0, RecordBatch::get_array_memory_size).min(most);
        let taken = room.clone().acquire_many_owned(u32::try_from(bytes).unwrap_or(u32::MAX)).await.ok();
        if sender.send((batch, taken)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::Int32Array;
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::prelude::SessionContext;
    use futures::TryStreamExt;

    use super::*;

    fn batch(values: std::ops::Range<i32>) -> RecordBatch {
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
}
