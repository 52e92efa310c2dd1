//! `ragged-bench`: runs a whole text through the engine on every device of the machine, and measures its operations.

mod args;
mod devices;
mod measure;
mod records;
mod rows;
mod table;
mod text;
mod use_case;
mod workloads;

use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use args::{Args, Part};

/// Mesa's drivers complain on standard error where there is no folder for the sockets of a desktop session.
fn quiet_mesa() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the first thing that main does, so that no other thread exists that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

fn main() -> ExitCode {
    quiet_mesa();
    match run(&Args::parse(), &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has had enough of it.
        Err(e) if e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args, out: &mut impl Write) -> Result<()> {
    let devices = devices::select(&args.device)?;
    // Before anything long runs.
    let json = args.json.as_ref().map(|path| {
        let named = || format!("--json {}", path.display());
        Ok::<_, anyhow::Error>((File::create(path).with_context(named)?, path))
    });
    let json = json.transpose()?;
    devices::describe(&devices, out)?;
    if args.runs(Part::Text) {
        writeln!(out)?;
        let text = text::read(&args.input)?;
        use_case::run(&text, args, &devices, out)?;
    }
    if args.runs(Part::Workloads) {
        writeln!(out)?;
        let records = measure::run(args, &devices, out)?;
        if let Some((file, path)) = json {
            records::write(file, &records).with_context(|| format!("--json {}", path.display()))?;
            writeln!(out, "\n{} measurements written to {}", records.len(), path.display())?;
        }
    }
    Ok(())
}
