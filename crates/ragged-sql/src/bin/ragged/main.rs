//! `ragged`: queries over files, with the operations of rows.

mod arguments;
mod beside;
mod calls;
mod counted;
mod execution;
mod exit;
mod fault;
mod functions;
mod guarded;
mod inputs;
mod inspect;
mod ipc;
mod located;
mod ordered;
mod output;
mod place;
mod plan;
mod progress;
mod query;
mod quoted;
mod runtime_folder;
mod session;
mod short_names;
mod streamed;
mod text;
mod written;

#[cfg(test)]
#[path = "../../../../ragged-data/tests/data/allocations.rs"]
mod allocations;
#[cfg(test)]
#[path = "../../../../ragged-data/tests/data/mutate.rs"]
#[allow(dead_code, reason = "a part of it is about formats that take long")]
mod mutate;
#[cfg(test)]
mod mutations;

/// Counts what damaged files take.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::Failure;

/// Makes a thread compute its batches by itself: the partitions of a query use the other threads. Batches of many values are
/// divided nevertheless. Without it, a mean of ten values a row took 1.05 times as long on two cores.
fn computes_by_itself() {
    // Whether or not it succeeds, the results are the same.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    // The pool of a thread ends with it.
    std::mem::forget(pool);
}

fn main() -> ExitCode {
    guarded::keep_panics();
    let Arguments { command } = Arguments::parse();
    let uses_driver = matches!(&command, Command::Run(run) if run.device != "cpu");
    // SAFETY: no other thread runs yet.
    let _folder = uses_driver.then(|| unsafe { runtime_folder::set() });
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().on_thread_start(computes_by_itself).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return Failure::data(error).report(),
        };
    let done = runtime.block_on(async {
        // A task of its own, so that a long computation does not delay the signal.
        let work = tokio::spawn(async move {
            match &command {
                Command::Run(run) => query::run(run).await,
                Command::Inspect(inspect) => inspect::inspect(inspect).await,
                Command::Functions(functions) => functions::list(functions),
            }
        });
        tokio::select! {
            done = work => done.unwrap_or_else(|error| Err(Failure::data(error))),
            _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
        }
    });
    // Threads that still compute a batch are not waited for.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
