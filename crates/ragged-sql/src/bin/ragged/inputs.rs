//! Files as tables.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::options::ArrowReadOptions;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::prelude::{CsvReadOptions, DataFrame, JsonReadOptions, ParquetReadOptions, SessionContext};

use futures::TryStreamExt;
use object_store::local::LocalFileSystem;

use crate::exit::{Failure, message};
use crate::streamed;
use crate::text::{self, Text};

/// A table of a query.
#[derive(Debug)]
pub struct Table {
    /// `None` for the only input of a select list.
    pub name: Option<String>,
    pub paths: Vec<String>,
    pub schema: SchemaRef,
    /// Of which lines the files are, if they are.
    pub text: Option<Text>,
    /// The files of lines that the paths name.
    pub files: Vec<PathBuf>,
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
    Text(Text),
    /// The same, compressed.
    Compressed(Text),
    Arrow,
}

impl Kind {
    fn text(self) -> Option<Text> {
        match self {
            Self::Text(text) | Self::Compressed(text) => Some(text),
            Self::Parquet | Self::Arrow => None,
        }
    }
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
    let files = match kind.text() {
        Some(_) => files(session, paths, &extension).await.map_err(|error| unreadable(paths, &error))?,
        None => Vec::new(),
    };
    let frame = match kind {
        Kind::Compressed(text) => streamed(session, paths, &files, text).await?,
        _ => {
            let frame = read(session, kind, &extension, paths.to_vec()).await;
            frame.map_err(|error| fault_of_file(kind, &files).unwrap_or_else(|| unreadable(paths, &error)))?
        }
    };
    let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
    // DataFusion takes the schema of the first.
    for path in paths[1..].iter().filter(|_| !matches!(kind, Kind::Compressed(_))) {
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
    let table = Table { name: name.map(str::to_owned), paths: paths.to_vec(), schema, text: kind.text(), files };
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
        Kind::Text(Text::Csv) | Kind::Compressed(Text::Csv) => {
            let options = CsvReadOptions::default().file_extension(extension).schema_infer_max_records(usize::MAX);
            session.read_csv(paths, options).await
        }
        Kind::Text(Text::Json) | Kind::Compressed(Text::Json) => {
            let options = JsonReadOptions::default().file_extension(extension).schema_infer_max_records(usize::MAX);
            session.read_json(paths, options).await
        }
        Kind::Arrow => {
            session.read_arrow(paths, ArrowReadOptions { file_extension: extension, ..Default::default() }).await
        }
    }
}

/// The files that paths name, with the names that messages have.
async fn files(session: &SessionContext, paths: &[String], extension: &str) -> Result<Vec<PathBuf>, DataFusionError> {
    let (state, local) = (session.state(), LocalFileSystem::new());
    let mut files = Vec::new();
    for path in paths {
        let url = ListingTableUrl::parse(path)?;
        let store = session.runtime_env().object_store(&url)?;
        let found = url.list_all_files(&state, &*store, extension).await?;
        let mut found: Vec<PathBuf> = found
            .and_then(|file| std::future::ready(local.path_to_filesystem(&file.location).map_err(Into::into)))
            .try_collect()
            .await?;
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

/// The rows of compressed files.
async fn streamed(
    session: &SessionContext,
    paths: &[String],
    files: &[PathBuf],
    text: Text,
) -> Result<DataFrame, Failure> {
    if files.is_empty() {
        return Err(Failure::usage(format!("{}: no file matches", paths.join(", "))));
    }
    let read = files.to_vec();
    let schema = tokio::task::spawn_blocking(move || text::schema(&read, text)).await.map_err(Failure::data)?;
    let schema: SchemaRef = Arc::new(schema.map_err(Failure::data)?);
    let table = streamed::table(files, text, &schema);
    let frame = table.and_then(|table| session.read_table(Arc::new(table)));
    frame.map_err(|error| unreadable(paths, &error))
}

/// The first fault of the files of lines, with its place.
fn fault_of_file(kind: Kind, files: &[PathBuf]) -> Option<Failure> {
    let text = kind.text()?;
    files.iter().find_map(|file| text::fault(file, text, None)).map(Failure::data)
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

fn kind(path: &str) -> Result<(Kind, String), Failure> {
    let is_pattern = is_pattern(path);
    if !is_pattern && !path.contains("://") && !Path::new(path).exists() {
        return Err(Failure::usage(format!("{path}: there is no such file")));
    }
    let extension = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let compression = text::compression(Path::new(path)).map(|_| extension(Path::new(path)));
    let inner = match &compression {
        Some(_) => extension(&Path::new(path).with_extension("")),
        None => extension(Path::new(path)),
    };
    let kind = match inner.to_ascii_lowercase().as_str() {
        "csv" if compression.is_some() => Kind::Compressed(Text::Csv),
        "jsonl" | "ndjson" if compression.is_some() => Kind::Compressed(Text::Json),
        _ if compression.is_some() => {
            return Err(Failure::usage(format!("{path}: of compressed files, .csv and .jsonl are read")));
        }
        "parquet" => Kind::Parquet,
        "csv" => Kind::Text(Text::Csv),
        "jsonl" | "ndjson" => Kind::Text(Text::Json),
        "arrow" | "ipc" | "feather" => Kind::Arrow,
        "" if is_pattern || Path::new(path).is_dir() => {
            return Err(Failure::usage(format!(
                "{path}: say of which kind, as in '{}'",
                Path::new(path).join("*.parquet").display()
            )));
        }
        _ => {
            return Err(Failure::usage(format!(
                "{path}: inputs are .parquet, .arrow, .csv or .jsonl, of lines also .gz and .zst; tables of numbers (.npy, .npz, .safetensors) are \
                 arguments of functions"
            )));
        }
    };
    Ok((kind, compression.map_or(inner.clone(), |compression| format!("{inner}.{compression}"))))
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
