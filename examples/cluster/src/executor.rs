//! An executor: it computes tasks of queries on one device.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::prelude::SessionConfig;
use ragged::Device;

use crate::address::Address;
use crate::functions::Functions;
use crate::{Outcome, session};

/// How an executor runs.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The scheduler.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub scheduler: Address,
    /// Seconds to wait for the scheduler.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub wait: u64,
    /// The device: `cpu`, `gpu` (the first adapter), or a part of an adapter's name.
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
    /// Tasks at once; by default one for each core.
    #[arg(long, value_name = "NUMBER")]
    pub slots: Option<usize>,
    /// Threads of the CPU device; by default one for each core.
    #[arg(long, value_name = "NUMBER")]
    pub threads: Option<usize>,
    /// The address it listens on.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub listen: IpAddr,
    /// The name or address that others reach it by; by default the one that the scheduler sees.
    #[arg(long, value_name = "HOST")]
    pub advertise: Option<String>,
    /// The port that intermediate and final results are fetched from; 0 is a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Where it makes its folder of intermediate results; by default the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Of tests: the folder that `cluster_gate` waits at.
    #[arg(long, hide = true)]
    pub gate: Option<PathBuf>,
}

/// Computes tasks until the process is stopped.
///
/// # Errors
/// A device that is not there; no scheduler within `wait`; ports that are taken; those of Ballista.
pub async fn serve(options: &Options) -> Outcome<()> {
    let device = Device::named(&options.device)?;
    if let Some(threads) = options.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let functions = Functions::new(&device, options.gate.as_deref())?;
    let folder = match &options.folder {
        Some(parent) => tempfile::Builder::new().prefix("executor-").tempdir_in(parent),
        None => tempfile::Builder::new().prefix("executor-").tempdir(),
    };
    let folder = folder.map_err(|error| match &options.folder {
        Some(parent) => format!("cannot make a folder in {}: {error}", parent.display()),
        None => format!("cannot make a temporary folder: {error}"),
    })?;
    options.scheduler.wait(Duration::from_secs(options.wait), 0).await?;
    let port = port(options)?;
    let state = session::state(SessionConfig::new_with_ballista(), &functions)?;
    let spills = folder.path().to_owned();
    let config = ExecutorProcessConfig {
        bind_host: of_socket(options.listen),
        external_host: options.advertise.clone(),
        port,
        // It takes no orders.
        grpc_port: 0,
        task_scheduling_policy: session::SCHEDULING,
        scheduler_host: options.scheduler.host.clone(),
        scheduler_port: options.scheduler.port,
        vcores: options.slots.unwrap_or(0),
        work_dir: Some(folder.path().to_str().ok_or("the folder's name must be UTF-8")?.into()),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
        override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
        override_runtime_producer: Some(Arc::new(move |_| session::runtime(Some(&spills)))),
        ..ExecutorProcessConfig::default()
    };
    println!("executor on {}, port {port}", device.name());
    start_executor_process(Arc::new(config)).await?;
    Ok(())
}

/// The host of `HOST:PORT`, with brackets around an address of IPv6.
fn of_socket(listen: IpAddr) -> String {
    match listen {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// The port: the one that is asked for, or a free one.
fn port(options: &Options) -> Outcome<u16> {
    let address = SocketAddr::new(options.listen, options.port);
    let listener = TcpListener::bind(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    Ok(listener.local_addr()?.port())
}
