//! Files as tables.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
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
    let extension = format!(".{extension}");
    if kind == Kind::Arrow {
        paths.iter().try_for_each(|path| whole_arrow_file(path))?;
    }
    let frame = read(session, kind, &extension, paths.to_vec()).await;
    let frame = frame.map_err(|error| unreadable(paths, &error))?;
    let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
    // DataFusion takes the schema of the first.
    for path in &paths[1..] {
        let other = read(session, kind, &extension, vec![path.clone()]).await;
        let other = other.map_err(|error| unreadable(std::slice::from_ref(path), &error))?;
        let columns = |schema: &Schema| -> Vec<(String, DataType)> {
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
        };
        if columns(&schema) != columns(other.schema().as_arrow()) {
            return Err(Failure::usage(format!("{} and {path} have other columns", paths[0])));
        }
    }
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
        // Types are those of all rows: the first ones may have whole numbers only.
        Kind::Csv => {
            let options = CsvReadOptions::default().file_extension(extension).schema_infer_max_records(usize::MAX);
            session.read_csv(paths, options).await
        }
        Kind::Lines => {
            let options = JsonReadOptions::default().file_extension(extension).schema_infer_max_records(usize::MAX);
            session.read_json(paths, options).await
        }
        Kind::Arrow => {
            session.read_arrow(paths, ArrowReadOptions { file_extension: extension, ..Default::default() }).await
        }
    }
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

fn kind(path: &str) -> Result<(Kind, String), Failure> {
    let is_pattern = is_pattern(path);
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

/// Whether a file of Arrow that begins as one ends as one; a stream has no such mark.
fn whole_arrow_file(path: &str) -> Result<(), Failure> {
    const MARK: [u8; 6] = *b"ARROW1";
    let ends = || -> std::io::Result<([u8; 6], [u8; 6])> {
        let mut file = File::open(path)?;
        let (mut first, mut last) = ([0; 6], [0; 6]);
        file.read_exact(&mut first)?;
        file.seek(SeekFrom::End(-6))?;
        file.read_exact(&mut last)?;
        Ok((first, last))
    };
    match ends() {
        Ok((first, last)) if first == MARK && last != MARK => {
            Err(Failure::data(format!("{path}: the file is cut: its end lacks the mark of Arrow files")))
        }
        // Patterns, folders, and files that are too short are left to the reader.
        _ => Ok(()),
    }
}

fn unreadable(paths: &[String], error: &DataFusionError) -> Failure {
    if matches!(error.find_root(), DataFusionError::Plan(_)) && paths.iter().any(|path| is_pattern(path)) {
        return Failure::usage(format!("{}: no file matches", paths.join(", ")));
    }
    Failure::data(format!("{}: {}", paths.join(", "), message(error.find_root())))
}
