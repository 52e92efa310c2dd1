//! A query, on a cluster or in this process.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use datafusion::common::DataFusionError;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use ragged::Device;

use crate::address::Address;
use crate::functions::Functions;
use crate::{Outcome, lost, output, session};

/// What a query computes, and where.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The query, in SQL.
    pub sql: String,
    /// A table of the query: a Parquet file, or a folder of such, under a path that is the same on all machines.
    #[arg(short, long = "table", value_name = "NAME=PATH")]
    pub tables: Vec<String>,
    /// Where the rows go: FILE.parquet, FILE.arrow, or `-`, which prints them.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// The scheduler.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub scheduler: Address,
    /// Seconds to wait for the scheduler and its executors, also after one was lost.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub wait: u64,
    /// Executors that it must have.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub executors: usize,
    /// Compute in this process, without a cluster.
    #[arg(long)]
    pub local: bool,
    /// The device of `--local`: `cpu`, `gpu`, or a part of an adapter's name.
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
    /// Tasks of a stage, at most: one to three for each slot of the cluster.
    #[arg(long, value_name = "NUMBER", default_value_t = 16)]
    pub partitions: usize,
    /// An option of DataFusion or Ballista.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Of tests: the folder that `cluster_gate` waits at.
    #[arg(long, hide = true)]
    pub gate: Option<PathBuf>,
}

/// Runs the query, writes its rows, and says on standard error how long it took.
///
/// # Errors
/// Options of another form; no scheduler, or none with enough executors; those of the query.
pub async fn run(options: &Options) -> Outcome<()> {
    let mut config = session::configuration(options.partitions);
    for setting in &options.settings {
        let (key, value) = pair(setting, "--set")?;
        config.options_mut().set(key, value).map_err(|error| of_query(&error))?;
    }
    let session = if options.local {
        let functions = Functions::new(&Device::named(&options.device)?, options.gate.as_deref())?;
        session::local(config, &functions)?
    } else {
        wait(options).await?;
        // Plans are made on the CPU; the executors compute.
        let functions = Functions::new(&Device::cpu(), options.gate.as_deref())?;
        session::remote(session::state(config, &functions)?, &options.scheduler, &functions).await?
    };
    for table in &options.tables {
        let (name, path) = pair(table, "--table")?;
        register(&session, name, path).await?;
    }
    let start = Instant::now();
    let mut attempts = 1;
    let rows = loop {
        match execute(&session, &options.sql, &options.output).await {
            Ok(rows) => break rows,
            Err(error) if attempts < MOST_ATTEMPTS && lost::is_loss(&error.to_string()) => {
                log::warn!("attempt {attempts}: {error}");
                wait(options).await.map_err(|why| format!("an executor was lost, and {why}"))?;
                attempts += 1;
            }
            Err(error) => return Err(error),
        }
    };
    eprintln!("{rows} rows in {:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Attempts of a query, of which each but the last ends with the loss of an executor.
const MOST_ATTEMPTS: usize = 10;

async fn wait(options: &Options) -> Outcome<()> {
    options.scheduler.wait(Duration::from_secs(options.wait), options.executors).await
}

async fn execute(session: &SessionContext, sql: &str, output: &str) -> Outcome<usize> {
    let frame = session.sql(sql).await.map_err(|error| of_query(&error))?;
    let stream = frame.execute_stream().await.map_err(|error| of_query(&error))?;
    output::write(stream, output).await
}

/// Makes a Parquet file, or the Parquet files of a folder, a table.
///
/// # Errors
/// A path without files; files of another kind.
pub async fn register(session: &SessionContext, name: &str, path: &str) -> Outcome<()> {
    if !path.contains("://") && !Path::new(path).exists() {
        return Err(format!("--table {name}: there is no {path}").into());
    }
    let registered = session.register_parquet(name, path, ParquetReadOptions::default()).await;
    registered.map_err(|error| format!("--table {name}: {}", of_query(&error)).into())
}

/// The message of an error, without the layers it passed.
pub fn of_query(error: &DataFusionError) -> String {
    error.find_root().strip_backtrace()
}

fn pair<'o>(text: &'o str, option: &str) -> Outcome<(&'o str, &'o str)> {
    text.split_once('=').ok_or_else(|| format!("{option} {text}: required: NAME=VALUE").into())
}
