//! `ragged-bench`: runs a text pipeline on every device of the machine, and measures the engine's operations.

mod args;
mod ceilings;
mod count;
mod devices;
mod embed;
mod failures;
mod inputs;
mod jobs;
mod least;
mod length_file;
mod lengths;
mod measure;
mod median;
mod operations;
mod output_file;
mod progress;
mod records;
mod report;
mod rows;
mod table;
mod text;
mod tune;
mod use_case;
mod workloads;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use args::{Args, Command, Part};
use failures::Failures;
use output_file::OutputFile;

/// Sets `XDG_RUNTIME_DIR`, without which Mesa's drivers print warnings to standard error.
fn quiet_mesa() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: `main` calls this first, when no other thread exists.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

fn main() -> ExitCode {
    quiet_mesa();
    let args = Args::parse().checked().unwrap_or_else(|e| e.exit());
    match run(&args, &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of standard output has closed the pipe.
        Err(e) if e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the selected parts on the devices. A failure on one device is reported at once; the other devices continue.
///
/// # Errors
/// Errors that affect all devices; at the end, an error if there were failures.
fn run(args: &Args, out: &mut impl Write) -> Result<()> {
    match &args.command {
        Some(Command::Report { input, output }) => return report::run(input, output, out),
        Some(Command::Jobs(options)) => return jobs::run(options, out),
        Some(Command::Operations(options)) => return operations::run(options, out),
        Some(Command::Ceilings(options)) => return ceilings::run(options, out),
        Some(Command::Tune(options)) => return tune::run(options, out),
        None => {}
    }
    let mut failures = Failures::default();
    let lengths = args.lengths()?;
    let devices = devices::select(&args.device, &mut failures)?;
    // Checked before the measurements, which take long.
    let json = args.json.as_deref().map(OutputFile::for_json).transpose()?;
    devices::describe(&devices, out)?;
    if args.runs(Part::Text) {
        writeln!(out)?;
        let text = text::read(&args.input)?;
        use_case::run(&text, args, &devices, &mut failures, out)?;
    }
    if args.runs(Part::Workloads) {
        writeln!(out)?;
        let records = measure::run(args, &lengths, &devices, &mut failures, out)?;
        if let Some(target) = json {
            let path = target.path().display().to_string();
            if failures.count() > 0 {
                eprintln!("{path} is not written, because of failures");
            } else {
                target.replace(|file| records::write(file, &records)).with_context(|| format!("--json {path}"))?;
                writeln!(out, "\n{} measurements written to {path}", records.len())?;
            }
        }
    }
    failures.outcome()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ragged::{Device, DeviceOptions};

    #[test]
    fn a_lost_device_does_not_affect_the_other_devices() -> Result<()> {
        if Device::names().len() == 1 && std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1") {
            return Ok(());
        }
        let lost = Device::gpu_with(&DeviceOptions::default())?;
        lost.lose();
        let devices = [lost, Device::cpu()];
        let args = Args::try_parse_from(["ragged-bench", "--repeat", "1", "--values", "64", "--op", "sum"])?;
        let text = text::Text { bytes: b"a b\nc".to_vec(), files: 1, skipped: 0 };

        let (mut failures, mut out) = (Failures::default(), Vec::new());
        use_case::run(&text, &args, &devices, &mut failures, &mut out)?;
        assert_eq!(failures.count(), 1);
        let shown = String::from_utf8_lossy(&out);
        assert!(shown.lines().any(|line| line.trim_start().starts_with("cpu ")), "{shown}");

        let records = measure::run(&args, &args.lengths()?, &devices, &mut failures, &mut out)?;
        assert_eq!(failures.count(), 2);
        assert_eq!(records.iter().filter(|r| r.device == "cpu").count(), 4);
        Ok(())
    }
}
