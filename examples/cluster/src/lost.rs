//! Queries end when an executor is lost, and are run again.
//!
//! Ballista 55.0 computes again what was lost with an executor, but then reads some results twice: a task that has ended hands
//! its result to the next stage at once; if its stage starts again, it hands over another one, and the first one stays
//! (`update_stage_output_links` and `rollback_running_stage` of `execution_graph.rs`). Rows are duplicated without an error.
//! Here no stage starts again: the scheduler ends the queries that run, before Ballista hears of the loss, and the client
//! runs them again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::ExecutorHeartbeat;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::{
    BallistaCluster, BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot, JobState,
};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};

/// The scheduler of Ballista.
pub(crate) type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Attempts of a stage: a result that cannot be fetched ends the query, too.
pub(crate) const STAGE_ATTEMPTS: usize = 1;

/// What an error says if the query can be run again: it was ended, or a result could not be fetched from an executor.
const SIGNS: [&str; 3] = ["failed: Cancelled", "Shuffle fetch partition error", "GrpcConnectionError"];

/// Whether the error of a query follows from the loss of an executor.
pub(crate) fn is_loss(error: &str) -> bool {
    SIGNS.iter().any(|sign| error.contains(sign))
}

/// The state of the cluster, which ends queries before an executor is removed.
pub(crate) struct EndsQueries {
    cluster: Arc<dyn ClusterState>,
    jobs: Arc<dyn JobState>,
    scheduler: OnceLock<Scheduler>,
}

impl EndsQueries {
    /// A cluster with this state instead of its own.
    pub(crate) fn of(cluster: &BallistaCluster) -> (Arc<Self>, BallistaCluster) {
        let (jobs, scheduler) = (cluster.job_state(), OnceLock::new());
        let state = Arc::new(Self { cluster: cluster.cluster_state(), jobs: jobs.clone(), scheduler });
        (state.clone(), BallistaCluster::new(state, jobs))
    }

    /// Names the scheduler, which is made of the cluster.
    pub(crate) fn is_of(&self, scheduler: &Scheduler) {
        // It is named once.
        let _ = self.scheduler.set(scheduler.clone());
    }

    async fn end_queries(&self) -> Result<()> {
        let Some(scheduler) = self.scheduler.get() else { return Ok(()) };
        for job in self.jobs.get_all_jobs().await? {
            let status = self.jobs.get_job_status(&job).await?;
            if matches!(status.and_then(|status| status.status), Some(Status::Running(_))) {
                scheduler.cancel_job(job).await?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl ClusterState for EndsQueries {
    /// The event that ends a query precedes that of the lost executor, which is sent after this.
    async fn remove_executor(&self, executor_id: &str) -> Result<()> {
        self.end_queries().await?;
        self.cluster.remove_executor(executor_id).await
    }

    async fn init(&self) -> Result<()> {
        self.cluster.init().await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        self.cluster.bind_schedulable_tasks(distribution, active_jobs, executors).await
    }

    async fn unbind_tasks(&self, executor_slots: Vec<ExecutorSlot>) -> Result<()> {
        self.cluster.unbind_tasks(executor_slots).await
    }

    async fn register_executor(&self, metadata: ExecutorMetadata, spec: ExecutorData) -> Result<()> {
        self.cluster.register_executor(metadata, spec).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.cluster.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor_id: &str) -> Result<ExecutorMetadata> {
        self.cluster.get_executor_metadata(executor_id).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.cluster.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.cluster.save_executor_heartbeat(heartbeat).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.cluster.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor_id: &str) -> Option<ExecutorHeartbeat> {
        self.cluster.get_executor_heartbeat(executor_id)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.cluster.cluster_state_events().await
    }
}
