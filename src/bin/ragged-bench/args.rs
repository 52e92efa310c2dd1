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
use crate::rows::Distribution;
use crate::tune;
use crate::workloads;

/// Runs text through the engine on every device of this machine, compares the results bit for bit, and measures the
/// operations on rows of several distributions of lengths.
#[derive(Debug, Parser)]
#[command(name = "ragged-bench", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// A command other than measuring
    #[command(subcommand)]
    pub command: Option<Command>,
    /// A text file, or a folder of them; may be repeated [default: the texts and sources of this repository]
    #[arg(long, value_name = "PATH")]
    pub input: Vec<PathBuf>,
    /// Where to compute: `all`, `cpu`, `gpu` (the first adapter) or any part of an adapter's name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub device: Vec<String>,
    /// Run only one of the two parts
    #[arg(long, value_name = "PART")]
    pub only: Option<Part>,
    /// Rows of the embedding table, to which words and pairs of words are hashed
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = count::<{ 1 << 24 }>)]
    pub buckets: u32,
    /// Numbers per embedding
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count::<1024>)]
    pub embedding: u32,
    /// Values per workload [default: 65536 on the CPU and on software adapters, 4194304 on GPUs]
    #[arg(long, value_name = "N", value_parser = count::<{ 1 << 30 }>)]
    pub values: Option<u32>,
    /// Distributions of row lengths [default: all, unless --row-lengths or --sweep is there]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub dist: Vec<Distribution>,
    /// A file with one row length per line; they are shuffled, and repeated up to --values; may be repeated
    #[arg(long, value_name = "FILE")]
    pub row_lengths: Vec<PathBuf>,
    /// Rows of six mean lengths and five skews, for the heat map of `report`
    #[arg(long)]
    pub sweep: bool,
    /// Operations [default: all; with --sweep alone, sum]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = workload_names())]
    pub op: Vec<String>,
    /// Timed runs of each workload and of the text (there fewer once they took 5 s), after a warm-up run and, with
    /// several runs, 30 ms more per workload; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<10_000>)]
    pub repeat: u32,
    /// Writes the measurements of the workloads as a list of objects; a run with failures leaves the file as it was
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Commands other than measuring.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Draws measurements as one HTML file: the share of its copy bandwidth that a device reaches, its dependence on
    /// the row lengths, and a comparison with other libraries
    Report {
        /// The output of --json, and of the scripts for other libraries
        #[arg(required = true, value_name = "FILE")]
        input: Vec<PathBuf>,
        /// The HTML file
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Measures the peak performance of adapters: copies, reads and writes by kernels that do nothing else, the cost of
    /// dispatches and compilation, message passing between workgroups, limits and features
    Ceilings(ceilings::Options),
    /// Measures users' jobs (those of `examples/`), end to end, next to plain loops
    Jobs(jobs::Options),
    /// Measures which tile sizes and thresholds suit an adapter, for `DeviceOptions::tuning`
    Tune(tune::Options),
}

/// The values of `--op`.
fn workload_names() -> PossibleValuesParser {
    workloads::ALL.map(|w| w.name).into()
}

/// A part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The text: lines, words, hashes, embeddings and their means
    Text,
    /// The operations, one by one
    Workloads,
}

const AFTER_HELP: &str = "\
The text is uploaded as one buffer of bytes and becomes rows of words on the device. Each word and each pair of
neighbouring words (with `#` at both ends of a line) is hashed to a row of a table of embeddings; a line's result is
the mean of its embeddings. The same runs on each device, and the results must be equal bit for bit.

The workloads are those of TensorFlow's, NumPy's and others' users: reductions, slices, gathers and so on of rows whose
lengths are
  uniform  0 to 31
  pareto   4 / u for a uniform u, 4096 at most
  giant    0 to 15, but one row as long as all others together
  empty    none in 15 rows of 16, up to 255 in the other
A workload is timed from its recording to the end of its last kernel; its inputs are on the device before. `bytes` is
what its kernels move, at the sizes that the host knows; `least` is what any implementation has to move for these very rows:
each operand as often as it is named, what is looked up as often as it is used, each output once, splits once. `GB/s`
counts the least; `of copy` divides that by the GB/s of a plain copy of as many values through the same API.

The sweep's row lengths are log-normal: the mean, and the standard deviation of the logarithms.

  ragged-bench --input notes/ --only text
  ragged-bench --only workloads --values 16777216 --device gpu --json gpu.json
  ragged-bench --only workloads --row-lengths lengths.txt --sweep --json sweep.json
  ragged-bench report gpu.json sweep.json -o report.html
  ragged-bench jobs --device all --values 4194304
  ragged-bench ceilings --device gpu --json ceilings.json
  ragged-bench tune --device gpu";

impl Args {
    /// Checks that its parts fit together.
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
                let what = format!("{option} says something about what --only {only} leaves out");
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
    /// A file of lengths cannot be read, has no values, or has the name of other lengths.
    pub fn lengths(&self) -> Result<Vec<Lengths>> {
        let is_default = self.dist.is_empty() && self.row_lengths.is_empty() && !self.sweep;
        let dists = if is_default { &Distribution::ALL[..] } else { &self.dist };
        let mut out = Lengths::asked(dists, &self.row_lengths)?;
        if self.sweep {
            out.extend(Sweep::cells().map(Lengths::Swept));
        }
        Ok(out)
    }

    /// Whether that part runs.
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
    fn rows_are_those_asked_for() -> Result<()> {
        let asked = |more: &[&str]| -> Result<(usize, usize)> {
            let args = Args::try_parse_from([&["ragged-bench"], more].concat())?;
            Ok((args.lengths()?.len(), args.ops().len()))
        };
        assert_eq!(asked(&[])?, (4, 14));
        assert_eq!(asked(&["--dist", "giant,empty"])?, (2, 14));
        assert_eq!(asked(&["--sweep"])?, (30, 1));
        assert_eq!(asked(&["--sweep", "--op", "max,sort"])?, (30, 2));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/row_lengths/wikitext2_line_words.txt");
        assert_eq!(asked(&["--row-lengths", file, "--dist", "giant"])?, (2, 14));
        assert!(asked(&["--row-lengths", "no such file"]).is_err());
        assert_eq!(asked(&["--dist", "giant,giant", "--op", "sum,sum"])?, (1, 1), "once is enough");
        let twice = asked(&["--row-lengths", file, "--row-lengths", file]).map_err(|e| e.to_string());
        assert!(
            twice.as_ref().is_err_and(|e| e.ends_with("\"wikitext2_line_words\" are other row lengths already")),
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
