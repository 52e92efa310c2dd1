//! The command line.

use clap::{Parser, Subcommand};

/// Queries over files of lists, on any GPU or on the CPU.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Computes columns of a table, or the rows of a query.
    Run(Run),
}

/// `ragged run 'id, ragged_mean(x) AS m' in.parquet -o out.parquet`
#[derive(Debug, clap::Args)]
pub struct Run {
    /// The columns to compute, as a select list over the input.
    #[arg(required_unless_present = "sql")]
    pub select: Option<String>,
    /// The input: files of one kind (Parquet, Arrow, CSV, JSON lines) or a pattern.
    pub inputs: Vec<String>,
    /// The rows to keep.
    #[arg(long = "where", value_name = "CONDITION", conflicts_with = "sql")]
    pub condition: Option<String>,
    /// A query over the tables of `--table`, instead of a select list.
    #[arg(long, value_name = "QUERY")]
    pub sql: Option<String>,
    /// A table of a query: NAME=FILE.
    #[arg(short, long = "table", value_name = "NAME=FILE", requires = "sql")]
    pub tables: Vec<String>,
    /// The output: FILE.parquet, FILE.arrow, FILE.jsonl, or `-`: a table on a terminal, else Arrow IPC.
    #[arg(short, long, default_value = "-")]
    pub output: String,
    /// `cpu`, `gpu`, or the name of an adapter.
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// The plan instead of the rows.
    #[arg(long)]
    pub explain: bool,
}
