//! `cluster`: the scheduler, the executors and the client of a cluster.

use std::io::Read;
use std::process::{ExitCode, exit};

use clap::{Parser, Subcommand};
use cluster::{Outcome, executor, measure, query, scheduler};

/// Queries with the functions of ragged, on several machines.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// End when standard input does, which is when the process that started this one ends.
    #[arg(long, global = true, hide = true)]
    with_parent: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plans queries, and gives their tasks to executors.
    Scheduler(scheduler::Options),
    /// Computes tasks on one device.
    Executor(executor::Options),
    /// Runs a query on the executors, or in this process.
    Run(query::Options),
    /// Measures the cost of a query against rows and processes, on this machine.
    Measure(measure::Options),
}

/// What is logged if `RUST_LOG` does not say: errors, but not that a lost executor cannot be told to stop.
const LOG: &str = "error,cluster=warn,ballista_scheduler::state=off";

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(LOG)).init();
    let arguments = Arguments::parse();
    if arguments.with_parent {
        std::thread::spawn(|| {
            // A failure to read is an end, too.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            exit(1)
        });
    }
    match run(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            Command::Scheduler(options) => scheduler::serve(options).await,
            Command::Executor(options) => executor::serve(options).await,
            Command::Run(options) => query::run(options).await,
            Command::Measure(options) => measure::run(options).await,
        }
    })
}
