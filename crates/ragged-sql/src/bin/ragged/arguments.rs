//! The command line.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Queries over files of lists, on any GPU or on the CPU.
#[derive(Debug, Parser)]
#[command(version, about, styles = STYLES, after_help = "Exit codes: 0; 1 data; 2 usage or schema, before anything is read; 3 memory or a limit of the device; 130 interrupted.")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Computes columns of files, or the rows of a query over tables.
    Run(Run),
    /// Prints the columns of a file, their statistics, and how long their lists are.
    Inspect(Inspect),
    /// Prints the functions, or those whose names contain a word.
    Functions(Functions),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ragged run 'id, ragged_mean(tokens) AS m' in.parquet -o out.parquet
  ragged run 'user, ragged_top_k(scores, 10) AS best' --where 'ragged_length(scores) >= 10' events.jsonl -o best.parquet
  ragged run --sql 'SELECT u.name, ragged_softmax(s.logits) AS p FROM s JOIN u USING (id)' -t s=scores.parquet -t u=users.csv
  ragged run --program model.json#predict 'words, tags' in.parquet -o out.parquet")]
pub struct Run {
    /// The columns to compute: a select list over the input.
    #[arg(value_name = "SELECT", required_unless_present = "sql")]
    pub select: Option<String>,
    /// The input: .parquet, .arrow, .csv or .jsonl files of one kind; patterns such as 'logs/*.parquet' are allowed.
    #[arg(value_name = "FILE")]
    pub inputs: Vec<String>,
    /// The rows of the input to compute.
    #[arg(long = "where", value_name = "CONDITION", conflicts_with = "sql")]
    pub condition: Option<String>,
    /// A query over the tables of `--table`, instead of a select list.
    #[arg(long, value_name = "QUERY")]
    pub sql: Option<String>,
    /// A table of the query.
    #[arg(short, long = "table", value_name = "NAME=FILE", requires = "sql")]
    pub tables: Vec<String>,
    /// A saved program, FILE.json#NAME, which computes the column `result` of the columns of the select list.
    #[arg(long, value_name = "FILE", conflicts_with = "sql")]
    pub program: Option<String>,
    /// Where the rows go: a file, which appears once it is whole, or `-`: a table on a terminal, else Arrow IPC.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
    /// The format of the output, where it does not follow from the name.
    #[arg(short, long, value_enum)]
    pub format: Option<Format>,
    /// `cpu`, `gpu` (the first adapter), `best` (a real GPU, else the CPU), or a part of the name of an adapter.
    #[arg(short, long, value_name = "DEVICE", default_value = "cpu")]
    pub device: String,
    /// Most memory of the query and of the device each, such as 512MB or 2GB.
    #[arg(short, long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// How many threads read and compute; all processors by default.
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Prints the plan and computes nothing.
    #[arg(long)]
    pub explain: bool,
    /// Progress as lines of JSON on standard error, also where that is no terminal.
    #[arg(long)]
    pub json_progress: bool,
}

#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// .parquet, .arrow, .csv, .jsonl, .npy, .npz or .safetensors.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct Functions {
    /// A part of a name.
    #[arg(value_name = "WORD")]
    pub word: Option<String>,
}

/// A format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Parquet,
    /// Arrow IPC: a file, or a stream in a pipe.
    Arrow,
    /// A line of JSON for each row.
    Jsonl,
    /// One column, dense.
    Npy,
    /// For readers.
    Table,
}

/// A number of bytes with an optional unit.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        "KIB" => 1024.0,
        "MIB" => 1024.0 * 1024.0,
        "GIB" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err("a size is a number with a unit: 512MB, 2GB, 1.5GiB".into()),
    };
    match number.parse::<f64>() {
        Ok(number) if number * scale >= 1.0 => Ok((number * scale) as u64),
        _ => Err("a size is a positive number with a unit: 512MB, 2GB, 1.5GiB".into()),
    }
}
