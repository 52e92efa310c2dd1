//! The command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};

use crate::rows::Distribution;
use crate::workloads;

/// Runs text through the engine on every device of this machine, compares the results bit for bit, and measures the
/// operations on rows of several distributions of lengths.
#[derive(Debug, Parser)]
#[command(name = "ragged-bench", version, after_help = AFTER_HELP)]
pub struct Args {
    /// A text file, or a folder of them; may be repeated [default: the texts and sources of this repository]
    #[arg(long, value_name = "PATH")]
    pub input: Vec<PathBuf>,
    /// Where to compute: `all`, `cpu`, `gpu` (the first adapter) or any part of an adapter's name; may be repeated
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub device: Vec<String>,
    /// Only one of the two parts
    #[arg(long, value_name = "PART")]
    pub only: Option<Part>,
    /// Rows of the embedding table, which words and pairs of words are hashed to
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub buckets: u32,
    /// Numbers of an embedding
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub embedding: u32,
    /// Values of a workload [default: 65536 on the CPU and on software adapters, 4194304 on GPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub values: Option<u32>,
    /// Distributions of row lengths
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "uniform,pareto,giant,empty")]
    pub dist: Vec<Distribution>,
    /// Operations [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = PossibleValuesParser::new(workloads::names()))]
    pub op: Vec<String>,
    /// Timed runs of each workload and of the text (there fewer once they took 5 s), after one to warm up; the median
    /// counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Writes the measurements of the workloads as a list of objects; a run with failures leaves the file as it was
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
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
A workload is timed from its recording to the end of its last kernel; its inputs are on the device before. `GB/s` counts
the bytes that any implementation has to move.

  ragged-bench --input notes/ --only text
  ragged-bench --only workloads --values 16777216 --device gpu --json gpu.json";

impl Args {
    /// Itself, if its parts fit together.
    ///
    /// # Errors
    /// A file for the measurements of a part that is not to run.
    pub fn checked(self) -> Result<Self, clap::Error> {
        if self.json.is_some() && !self.runs(Part::Workloads) {
            let what = "--json writes the measurements of the workloads, which --only text leaves out";
            return Err(Self::command().error(ErrorKind::ArgumentConflict, what));
        }
        Ok(self)
    }

    /// Whether that part is to run.
    pub fn runs(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_need_the_workloads() -> Result<(), clap::Error> {
        let checked =
            |more: &[&str]| Args::try_parse_from([&["ragged-bench", "--json", "m.json"], more].concat())?.checked();
        checked(&[])?;
        checked(&["--only", "workloads"])?;
        assert_eq!(checked(&["--only", "text"]).map_err(|e| e.kind()).err(), Some(ErrorKind::ArgumentConflict));
        Ok(())
    }
}
