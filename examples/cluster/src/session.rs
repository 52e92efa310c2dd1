//! Sessions of queries: in this process, and of the three kinds of processes of a cluster.

use std::path::Path;
use std::sync::Arc;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::{ballista_aggregate_functions, ballista_scalar_functions, ballista_window_functions};
use ballista_core::optimizer::ballista_default_optimizer_rules;
use datafusion::common::Result;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::address::Address;
use crate::functions::Functions;

/// Executors ask for tasks: they need no port for them, and one that was taken for lost goes on, where the scheduler would
/// tell it to stop.
pub const SCHEDULING: TaskSchedulingPolicy = TaskSchedulingPolicy::PullStaged;

/// The configuration of a query whose stages have up to so many tasks.
///
/// Ballista's adaptive planner, its default, can wait forever (<https://github.com/apache/datafusion-ballista/issues/2063>);
/// this is the static one.
pub fn configuration(partitions: usize) -> SessionConfig {
    SessionConfig::new_with_ballista().with_target_partitions(partitions).with_ballista_adaptive_query_planner(false)
}

/// Where files are read from, and where operators that spill write to.
///
/// A cluster that reads from an object store registers it here (`RuntimeEnv::register_object_store`), for all processes.
///
/// # Errors
/// The folder cannot be used.
pub fn runtime(folder: Option<&Path>) -> Result<Arc<RuntimeEnv>> {
    let builder = RuntimeEnvBuilder::new();
    let builder = match folder {
        Some(folder) => builder.with_temp_file_path(folder),
        None => builder,
    };
    builder.build_arc()
}

/// The state of a session with the functions: what the scheduler plans with, and what executors take functions from.
///
/// # Errors
/// Those of DataFusion.
pub fn state(config: SessionConfig, functions: &Functions) -> Result<SessionState> {
    let mut state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .with_runtime_env(runtime(None)?)
        .with_optimizer_rules(ballista_default_optimizer_rules())
        .with_scalar_functions(ballista_scalar_functions())
        .with_aggregate_functions(ballista_aggregate_functions())
        .with_window_functions(ballista_window_functions())
        .build();
    functions.register(&mut state)?;
    Ok(state)
}

/// A session that computes in this process.
///
/// # Errors
/// Those of DataFusion.
pub fn local(config: SessionConfig, functions: &Functions) -> Result<SessionContext> {
    Ok(SessionContext::new_with_state(state(config, functions)?))
}

/// A session that computes on the executors of a scheduler.
///
/// # Errors
/// Those of DataFusion. The scheduler is first asked when a query runs.
pub async fn remote(state: SessionState, scheduler: &Address, functions: &Functions) -> Result<SessionContext> {
    let mut session = SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await?;
    // Ballista replaces the functions of the state by its own.
    functions.register(&mut session)?;
    Ok(session)
}
