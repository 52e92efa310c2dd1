//! The scheduler: it plans queries, and gives their tasks to executors.

use std::path::PathBuf;
use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::prelude::SessionConfig;
use ragged::Device;
use tokio::net::TcpListener;

use crate::address::Address;
use crate::functions::Functions;
use crate::lost::{self, EndsQueries, Scheduler};
use crate::{Outcome, session};

/// How the scheduler runs.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Where it listens; port 0 is a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub listen: Address,
    /// The name or address that executors report to, if it is not the one it listens on.
    #[arg(long, value_name = "HOST")]
    pub advertise: Option<String>,
    /// Seconds after which an executor that does not ask for tasks is lost. A busy one asks every 5 seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(6..))]
    pub timeout: u64,
    /// Seconds between two searches for lost executors.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub sweep: u64,
    /// Of tests: the folder that `cluster_gate` waits at.
    #[arg(long, hide = true)]
    pub gate: Option<PathBuf>,
}

/// Serves until the process is stopped. Prints the address once it listens.
///
/// # Errors
/// An address that cannot be listened on; those of Ballista.
pub async fn serve(options: &Options) -> Outcome<()> {
    let Address { host, port } = &options.listen;
    let host = host.trim_matches(['[', ']']);
    let listener = TcpListener::bind((host, *port))
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
    let bound = listener.local_addr()?;
    let advertised = match &options.advertise {
        Some(name) => name.clone(),
        None if bound.ip().is_unspecified() => {
            return Err(format!("{} is all addresses of this machine; name one by --advertise", options.listen).into());
        }
        None => options.listen.host.clone(),
    };
    // Plans are made on the CPU; no row is computed here.
    let functions = Functions::new(&Device::cpu(), options.gate.as_deref())?;
    let config = SchedulerConfig {
        bind_host: host.into(),
        bind_port: bound.port(),
        external_host: advertised.clone(),
        scheduling_policy: session::SCHEDULING,
        executor_timeout_seconds: options.timeout,
        expire_dead_executor_interval_seconds: options.sweep,
        no_executors_grace_period_seconds: options.timeout,
        stage_max_failures: lost::STAGE_ATTEMPTS,
        override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
        override_session_builder: Some(Arc::new(move |config| session::state(config, &functions))),
        ..SchedulerConfig::default()
    };
    config.validate()?;
    let (state, cluster) = EndsQueries::of(&BallistaCluster::new_from_config(&config).await?);
    let scheduler: Scheduler = create_scheduler(cluster, Arc::new(config)).await?;
    state.is_of(&scheduler);
    println!("scheduler {advertised}:{}", bound.port());
    Ok(start_grpc_service_with_listener(listener, scheduler).await?)
}
