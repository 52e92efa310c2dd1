//! `ragged`: queries over files, with the operations of rows.

mod arguments;
mod exit;
mod inputs;
mod output;
mod query;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::data(error.to_string()).report(),
    };
    let done = runtime.block_on(async {
        let work = async {
            match &arguments.command {
                Command::Run(run) => query::run(run).await,
            }
        };
        tokio::select! {
            done = work => done,
            _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
