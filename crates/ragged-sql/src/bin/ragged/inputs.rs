//! Files as tables.

use std::path::Path;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::options::ArrowReadOptions;
use datafusion::prelude::{CsvReadOptions, DataFrame, JsonReadOptions, ParquetReadOptions, SessionContext};

use crate::exit::{Failure, message};

/// A table of a query.
#[derive(Debug)]
pub struct Table {
    /// `None` for the only input of a select list.
    pub name: Option<String>,
    pub paths: Vec<String>,
    pub schema: SchemaRef,
}

impl Table {
    /// As messages name it.
    pub fn description(&self) -> String {
        let files = match &self.paths[..] {
            [one] => one.clone(),
            all => format!("{} and {} more files", all[0], all.len() - 1),
        };
        match &self.name {
            Some(name) => format!("{name} ({files})"),
            None => files,
        }
    }
}

/// A format of inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Parquet,
    Csv,
    Lines,
    Arrow,
}

/// Makes files a table: single ones, patterns and folders of one kind.
///
/// # Errors
/// Files that do not exist, of unknown or several kinds; a schema that cannot be read.
pub async fn register(session: &SessionContext, name: Option<&str>, paths: &[String]) -> Result<Table, Failure> {
    let mut kinds = paths.iter().map(|path| kind(path).map(|(kind, extension)| (kind, extension, path)));
    let Some(first) = kinds.next() else {
        return Err(Failure::usage("an input is required: files of one kind, or a pattern"));
    };
    let (kind, extension, first) = first?;
    for other in kinds {
        let (_, other, path) = other?;
        if other != extension {
            return Err(Failure::usage(format!("{first} and {path} are files of two kinds; a table has files of one")));
        }
    }
    let frame = read(session, kind, &format!(".{extension}"), paths.to_vec()).await;
    let frame = frame.map_err(|error| unreadable(paths, &error))?;
    let schema: SchemaRef = std::sync::Arc::new(frame.schema().as_arrow().clone());
    if schema.fields().is_empty() {
        return Err(Failure::data(format!("{}: there are no columns, or no files", paths.join(", "))));
    }
    let table = Table { name: name.map(str::to_owned), paths: paths.to_vec(), schema };
    session
        .register_table(name.unwrap_or(INPUT), frame.into_view())
        .map_err(|error| Failure::usage(message(error.find_root())))?;
    Ok(table)
}

/// The name of the only input.
pub const INPUT: &str = "input";

/// The rows of files of one kind.
async fn read(
    session: &SessionContext,
    kind: Kind,
    extension: &str,
    paths: Vec<String>,
) -> Result<DataFrame, DataFusionError> {
    match kind {
        Kind::Parquet => session.read_parquet(paths, ParquetReadOptions::default().file_extension(extension)).await,
        Kind::Csv => session.read_csv(paths, CsvReadOptions::default().file_extension(extension)).await,
        Kind::Lines => session.read_json(paths, JsonReadOptions::default().file_extension(extension)).await,
        Kind::Arrow => {
            session.read_arrow(paths, ArrowReadOptions { file_extension: extension, ..Default::default() }).await
        }
    }
}

fn kind(path: &str) -> Result<(Kind, String), Failure> {
    let is_pattern = path.contains(['*', '?', '[']);
    if !is_pattern && !path.contains("://") && !Path::new(path).exists() {
        return Err(Failure::usage(format!("{path}: there is no such file")));
    }
    let extension = Path::new(path).extension().unwrap_or_default().to_string_lossy().into_owned();
    let kind = match extension.to_ascii_lowercase().as_str() {
        "parquet" => Kind::Parquet,
        "csv" => Kind::Csv,
        "jsonl" | "ndjson" => Kind::Lines,
        "arrow" | "ipc" | "feather" => Kind::Arrow,
        "" if is_pattern || Path::new(path).is_dir() => {
            return Err(Failure::usage(format!(
                "{path}: say of which kind, as in '{}'",
                Path::new(path).join("*.parquet").display()
            )));
        }
        _ => {
            return Err(Failure::usage(format!(
                "{path}: inputs are .parquet, .arrow, .csv or .jsonl; tables of numbers (.npy, .npz, .safetensors) are \
                 arguments of functions"
            )));
        }
    };
    Ok((kind, extension))
}

fn unreadable(paths: &[String], error: &DataFusionError) -> Failure {
    Failure::data(format!("{}: {}", paths.join(", "), message(error.find_root())))
}
