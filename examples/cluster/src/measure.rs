//! The cost of a query against rows and processes, on this machine.

use std::path::PathBuf;
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::prelude::SessionContext;
use ragged::Device;

use crate::functions::Functions;
use crate::processes::Cluster;
use crate::query::{of_query, register};
use crate::{Outcome, data, session};

/// What is measured: a softmax and a mean of each row, then a group of rows for each key.
const QUERY: &str = "SELECT key, count(*) AS n, min(m) AS least, max(m) AS most
    FROM (SELECT key, ragged_mean(ragged_softmax(x)) AS m FROM t WHERE ragged_length(x) > 0) GROUP BY key ORDER BY key";

/// Files of a table, of which a task reads one or more.
const FILES: usize = 16;

/// What is measured.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Numbers of rows.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000, 1_000_000, 10_000_000])]
    pub rows: Vec<usize>,
    /// Numbers of executors, each of one slot and one thread.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4])]
    pub executors: Vec<usize>,
    /// Runs of each, in alternation; the least time counts.
    #[arg(long, default_value_t = 5)]
    pub runs: usize,
    /// Where the tables are written; by default a temporary folder.
    #[arg(long)]
    pub folder: Option<PathBuf>,
}

/// The least cost of several runs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    seconds: f64,
    /// Of all cores, by the cluster's processes.
    cpu_seconds: f64,
}

impl Cost {
    const MOST: Self = Self { seconds: f64::INFINITY, cpu_seconds: f64::INFINITY };

    fn min(self, other: Self) -> Self {
        Self { seconds: self.seconds.min(other.seconds), cpu_seconds: self.cpu_seconds.min(other.cpu_seconds) }
    }
}

/// Measures, and prints a table: seconds of the query in this process, with one thread, and on each number of executors,
/// and the processor time of these.
///
/// # Errors
/// Those of the cluster and of the query; a result that differs.
pub async fn run(options: &Options) -> Outcome<()> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let temporary = tempfile::tempdir()?;
    let folder = options.folder.clone().unwrap_or_else(|| temporary.path().into());
    let mut clusters = Vec::new();
    for &count in &options.executors {
        clusters.push(start(count).await?);
    }
    print!("| rows | values | in this process |");
    options.executors.iter().for_each(|count| print!(" {count} × s | {count} × CPU s |"));
    println!("\n|{}", "---|".repeat(3 + 2 * options.executors.len()));
    for &rows in &options.rows {
        let table = folder.join(rows.to_string());
        data::write(&table, rows, FILES)?;
        let path = table.to_str().ok_or("the folder's name must be UTF-8")?;
        let costs = measured(path, &clusters, options.runs).await?;
        print!("| {rows} | {} | {:.3} |", values(path).await?, costs[0].seconds);
        for cost in &costs[1..] {
            print!(" {:.3} | {:.2} |", cost.seconds, cost.cpu_seconds);
        }
        println!();
    }
    Ok(())
}

/// The costs in this process, and of each cluster.
async fn measured(path: &str, clusters: &[Cluster], runs: usize) -> Outcome<Vec<Cost>> {
    let mut least = vec![Cost::MOST; 1 + clusters.len()];
    let mut first: Option<RecordBatch> = None;
    for _ in 0..runs {
        for (k, least) in least.iter_mut().enumerate() {
            let cluster = k.checked_sub(1).map(|k| &clusters[k]);
            let session = open(path, cluster).await?;
            let before = cluster.map_or(Ok(0.0), Cluster::cpu_seconds)?;
            let start = Instant::now();
            let rows = rows(&session).await?;
            let seconds = start.elapsed().as_secs_f64();
            let cpu_seconds = cluster.map_or(Ok(0.0), Cluster::cpu_seconds)? - before;
            *least = least.min(Cost { seconds, cpu_seconds });
            match &first {
                None => first = Some(rows),
                Some(first) if *first == rows => {}
                Some(_) => return Err(format!("{path}: the result differs, on cluster {k}").into()),
            }
        }
    }
    Ok(least)
}

async fn start(count: usize) -> Outcome<Cluster> {
    let options = ["--slots", "1", "--threads", "1"].map(String::from).to_vec();
    Cluster::start(&std::env::current_exe()?, &[], &vec![options; count]).await
}

/// A session with the table `t`.
async fn open(path: &str, cluster: Option<&Cluster>) -> Outcome<SessionContext> {
    let functions = Functions::new(&Device::cpu(), None)?;
    let session = match cluster {
        None => session::local(session::configuration(1), &functions)?,
        Some(cluster) => {
            let state = session::state(session::configuration(FILES), &functions)?;
            session::remote(state, &cluster.address, &functions).await?
        }
    };
    register(&session, "t", path).await?;
    Ok(session)
}

async fn rows(session: &SessionContext) -> Outcome<RecordBatch> {
    let frame = session.sql(QUERY).await.map_err(|error| of_query(&error))?;
    let batches = frame.collect().await.map_err(|error| of_query(&error))?;
    let schema = batches.first().ok_or("the query has no rows")?.schema();
    Ok(concat_batches(&schema, &batches)?)
}

/// The values of all lists.
async fn values(path: &str) -> Outcome<String> {
    let session = open(path, None).await?;
    let frame = session.sql("SELECT sum(ragged_length(x)) FROM t").await.map_err(|error| of_query(&error))?;
    let batches = frame.collect().await.map_err(|error| of_query(&error))?;
    let value = batches.first().ok_or("the query has no rows")?.column(0).clone();
    Ok(datafusion::arrow::util::display::array_value_to_string(&value, 0)?)
}
