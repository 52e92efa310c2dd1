//! Command-line arguments.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::ceilings;
use crate::count::count;
use crate::jobs;
use crate::lengths::{Lengths, Sweep};
use crate::operations;
use crate::rows::Distribution;
use crate::tune;
use crate::workloads;

/// Runs a text pipeline on every device of this machine, compares the results bit for bit, and measures operations on
/// rows with several length distributions.
#[derive(Debug, Parser)]
#[command(name = "ragged-bench", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Other commands
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Text file, or folder of text files; may be repeated [default: the texts and sources of this repository]
    #[arg(long, value_name = "PATH")]
    pub input: Vec<PathBuf>,
    /// Device: `all`, `cpu`, `gpu` (the first adapter) or a part of an adapter's name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub device: Vec<String>,
    /// Part to run [default: both]
    #[arg(long, value_name = "PART")]
    pub only: Option<Part>,
    /// Rows of the embedding table, the hash buckets of words and pairs of words
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = count::<{ 1 << 24 }>)]
    pub buckets: u32,
    /// Numbers per embedding
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count::<1024>)]
    pub embedding: u32,
    /// Values per workload [default: 65536 on the CPU and on software adapters, 4194304 on GPUs]
    #[arg(long, value_name = "N", value_parser = count::<{ 1 << 30 }>)]
    pub values: Option<u32>,
    /// Distributions of row lengths [default: all, or none with --row-lengths or --sweep]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub dist: Vec<Distribution>,
    /// File with one row length per line, shuffled, and repeated up to --values; may be repeated
    #[arg(long, value_name = "FILE")]
    pub row_lengths: Vec<PathBuf>,
    /// Rows of six mean lengths and five skews, for the heat map of `report`
    #[arg(long)]
    pub sweep: bool,
    /// Operations [default: all; with --sweep alone, sum]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = workload_names())]
    pub op: Vec<String>,
    /// Timed runs, of which the median is reported, after a warm-up run; of the text, fewer runs if they take more than
    /// 5 s in total. With several runs, the warm-up of a workload takes 30 ms more
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<10_000>)]
    pub repeat: u32,
    /// Output file for the measurements of the workloads, a JSON list; not written if there are failures
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Draws measurements as one HTML file: throughput relative to a copy, its dependence on row lengths, and a
    /// comparison with other libraries
    Report {
        /// Output of --json, or of the scripts for other libraries
        #[arg(required = true, value_name = "FILE")]
        input: Vec<PathBuf>,
        /// HTML file
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Measures the peak performance of adapters: bandwidth of copies, reads and writes, cost of dispatches and
    /// compilation, message passing between workgroups, limits and features
    Ceilings(ceilings::Options),
    /// Measures the jobs of `examples/` end to end, next to plain loops
    Jobs(jobs::Options),
    /// Measures operations on text, counts and combinations
    Operations(operations::Options),
    /// Measures the best tile sizes and thresholds for an adapter, for `DeviceOptions::tuning`
    Tune(tune::Options),
}

/// The values of `--op`.
fn workload_names() -> PossibleValuesParser {
    workloads::ALL.map(|w| w.name).into()
}

/// A part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The text pipeline: lines, words, hashes, embeddings and their means
    Text,
    /// The single operations
    Workloads,
}

const AFTER_HELP: &str = "\
The text is uploaded as one buffer of bytes and split into rows of words on the device. Each word and each pair of
neighbouring words (with `#` at both ends of a line) is hashed to a row of an embedding table; the result of a line is
the mean of its embeddings. The results of all devices must be equal bit for bit.

The workloads are reductions, slices, gathers and other operations on rows whose lengths are
  uniform  0 to 31
  pareto   4 / u for a uniform u, 4096 at most
  giant    0 to 15, but one row as long as all others together
  empty    0 in 15 of 16 rows, else up to 255
The time of a workload starts with its recording and ends with its last kernel; its inputs are on the device before.
`bytes` are the bytes that its kernels move, at the sizes that the host knows. `least` is a lower bound for any
implementation, at the actual row lengths: each operand once per mention, gathered data once per use, each output once,
splits once. `GB/s` is `least` per second; `of copy` is its ratio to the GB/s of a plain copy of as many values through
the same API.

The row lengths of the sweep are log-normal, with the given mean and standard deviation of the logarithms (skew).

  ragged-bench --input notes/ --only text
  ragged-bench --only workloads --values 16777216 --device gpu --json gpu.json
  ragged-bench --only workloads --row-lengths lengths.txt --sweep --json sweep.json
  ragged-bench report gpu.json sweep.json -o report.html
  ragged-bench jobs --device all --values 4194304
  ragged-bench operations --input notes/ --copies 12 --json operations.json
  ragged-bench ceilings --device gpu --json ceilings.json
  ragged-bench tune --device gpu";

impl Args {
    /// Checks that every option applies to a part that runs.
    ///
    /// # Errors
    /// An option of a part that does not run.
    pub fn checked(self) -> Result<Self, clap::Error> {
        let of_workloads = [
            ("--json", self.json.is_some()),
            ("--values", self.values.is_some()),
            ("--dist", !self.dist.is_empty()),
            ("--row-lengths", !self.row_lengths.is_empty()),
            ("--sweep", self.sweep),
            ("--op", !self.op.is_empty()),
        ];
        let of_text = [("--input", !self.input.is_empty())];
        for (part, only, options) in [(Part::Workloads, "text", &of_workloads[..]), (Part::Text, "workloads", &of_text)]
        {
            if let Some((option, _)) = options.iter().find(|(_, is_given)| *is_given && !self.runs(part)) {
                let what = format!("{option} applies to a part that --only {only} excludes");
                return Err(Self::command().error(ErrorKind::ArgumentConflict, what));
            }
        }
        Ok(self)
    }

    /// The operations to measure.
    pub fn ops(&self) -> Vec<&str> {
        match self.op.is_empty() {
            false => {
                let mut named = HashSet::new();
                self.op.iter().map(String::as_str).filter(|op| named.insert(*op)).collect()
            }
            true if self.sweep && self.dist.is_empty() && self.row_lengths.is_empty() => vec!["sum"],
            true => workloads::ALL.map(|w| w.name).to_vec(),
        }
    }

    /// The row lengths to measure.
    ///
    /// # Errors
    /// A file of lengths cannot be read, has no values, or has the name of a distribution or another file.
    pub fn lengths(&self) -> Result<Vec<Lengths>> {
        let is_default = self.dist.is_empty() && self.row_lengths.is_empty() && !self.sweep;
        let dists = if is_default { &Distribution::ALL[..] } else { &self.dist };
        let mut out = Lengths::select(dists, &self.row_lengths)?;
        if self.sweep {
            out.extend(Sweep::cells().map(Lengths::Swept));
        }
        Ok(out)
    }

    /// Whether the part runs.
    pub fn runs(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_need_their_part() -> Result<(), clap::Error> {
        let checked =
            |more: &[&str]| Args::try_parse_from([&["ragged-bench", "--json", "m.json"], more].concat())?.checked();
        checked(&[])?;
        checked(&["--only", "workloads"])?;
        checked(&["--only", "workloads", "--sweep", "--values", "9"])?;
        let refused = |args: &[&str]| -> Result<bool, clap::Error> {
            let args = Args::try_parse_from([&["ragged-bench"], args].concat())?;
            Ok(args.checked().map_err(|e| e.kind()).err() == Some(ErrorKind::ArgumentConflict))
        };
        assert!(refused(&["--only", "text", "--json", "m.json"])?);
        assert!(refused(&["--only", "text", "--sweep"])?);
        assert!(refused(&["--only", "text", "--op", "sum"])?);
        assert!(refused(&["--only", "workloads", "--input", "."])?);
        assert!(!refused(&["--only", "text", "--input", "."])?);
        Ok(())
    }

    #[test]
    fn options_select_the_rows() -> Result<()> {
        let asked = |more: &[&str]| -> Result<(usize, usize)> {
            let args = Args::try_parse_from([&["ragged-bench"], more].concat())?;
            Ok((args.lengths()?.len(), args.ops().len()))
        };
        assert_eq!(asked(&[])?, (4, 14));
        assert_eq!(asked(&["--dist", "giant,empty"])?, (2, 14));
        assert_eq!(asked(&["--sweep"])?, (30, 1));
        assert_eq!(asked(&["--sweep", "--op", "max,sort"])?, (30, 2));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/row_lengths/wikitext2_line_words.txt");
        assert_eq!(asked(&["--row-lengths", file, "--dist", "giant"])?, (2, 14));
        assert!(asked(&["--row-lengths", "no such file"]).is_err());
        assert_eq!(asked(&["--dist", "giant,giant", "--op", "sum,sum"])?, (1, 1), "once is enough");
        let twice = asked(&["--row-lengths", file, "--row-lengths", file]).map_err(|e| e.to_string());
        assert!(
            twice.as_ref().is_err_and(|e| e.ends_with("\"wikitext2_line_words\" is taken by other row lengths")),
            "{twice:?}"
        );
        for values in ["0", "4M", "1e6", "1073741825", "-1"] {
            let refused = asked(&[&format!("--values={values}")]).map_err(|e| e.to_string());
            assert!(refused.as_ref().is_err_and(|e| e.contains("from 1 to 1073741824")), "{refused:?}");
        }
        assert!(asked(&["--sweep", "report", "m.json", "-o", "m.html"]).is_err(), "either, or");
        Ok(())
    }
}
