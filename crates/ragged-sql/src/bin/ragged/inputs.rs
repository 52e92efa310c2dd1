//! Files as tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::prelude::{CsvReadOptions, DataFrame, JsonReadOptions, ParquetReadOptions, SessionContext};

use futures::TryStreamExt;
use object_store::local::LocalFileSystem;

use crate::counted::Count;
use crate::exit::{Failure, message};
use crate::quoted::has_quoted_breaks;
use crate::text::{self, Text};
use crate::{ipc, streamed};

/// A table of a query.
#[derive(Debug)]
pub struct Table {
    /// `None` for the only input of a select list.
    pub name: Option<String>,
    pub paths: Vec<String>,
    pub schema: SchemaRef,
    /// Of which lines the files are, if they are.
    pub text: Option<Text>,
    /// The files that the paths name.
    pub files: Vec<PathBuf>,
    /// Where this program reads the files by itself: bytes and rows, if they are known.
    pub extent: Option<(u64, Option<u64>)>,
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
    /// The same, read from the start of each file to its end: compressed, or CSV with line breaks within quotes, which DataFusion
    /// cuts there.
    Streamed(Text),
    Arrow,
}

impl Kind {
    fn text(self) -> Option<Text> {
        match self {
            Self::Text(text) | Self::Streamed(text) => Some(text),
            Self::Parquet | Self::Arrow => None,
        }
    }
}

/// Makes files a table: single ones, patterns and folders of one kind. The bytes that are read of them are counted.
///
/// # Errors
/// Files that do not exist, of unknown or several kinds; a schema that cannot be read.
pub async fn register(
    session: &SessionContext,
    name: Option<&str>,
    paths: &[String],
    count: &Arc<Count>,
) -> Result<Table, Failure> {
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
    let files = files(session, paths, &extension).await.map_err(|error| unreadable(paths, &error))?;
    if files.is_empty() {
        return Err(Failure::usage(format!("{}: no file matches", paths.join(", "))));
    }
    let kind = match kind {
        Kind::Text(Text::Csv) if has_breaks(&files).await? => Kind::Streamed(Text::Csv),
        kind => kind,
    };
    let (frame, extent) = match kind {
        Kind::Arrow => {
            let (read, of) = (files.clone(), count.clone());
            let table = tokio::task::spawn_blocking(move || ipc::table(&read, &of)).await.map_err(Failure::data)?;
            let table = table?;
            let extent = (table.bytes(), Some(table.rows()));
            (session.read_table(Arc::new(table)), Some(extent))
        }
        Kind::Streamed(text) => {
            let schema = schema(&files, text).await?;
            let table = streamed::table(&files, text, &schema, count);
            let bytes = files.iter().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum();
            (table.and_then(|table| session.read_table(Arc::new(table))), Some((bytes, None)))
        }
        Kind::Text(Text::Json) => {
            // DataFusion itself sorts the fields by name.
            let schema = schema(&files, Text::Json).await?;
            (read(session, kind, &extension, paths.to_vec(), Some(&schema)).await, None)
        }
        _ => (read(session, kind, &extension, paths.to_vec(), None).await, None),
    };
    let frame = frame.map_err(|error| fault_of_file(kind, &files).unwrap_or_else(|| unreadable(paths, &error)))?;
    let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
    // DataFusion takes the schema of the first.
    for path in paths[1..].iter().filter(|_| matches!(kind, Kind::Parquet | Kind::Text(Text::Csv))) {
        let other = read(session, kind, &extension, vec![path.clone()], None).await;
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
    let table =
        Table { name: name.map(str::to_owned), paths: paths.to_vec(), schema, text: kind.text(), files, extent };
    session
        .register_table(name.unwrap_or(INPUT), frame.into_view())
        .map_err(|error| Failure::usage(message(error.find_root())))?;
    Ok(table)
}

/// The name of the only input.
pub const INPUT: &str = "input";

/// The rows of files that DataFusion reads.
async fn read(
    session: &SessionContext,
    kind: Kind,
    extension: &str,
    paths: Vec<String>,
    schema: Option<&SchemaRef>,
) -> Result<DataFrame, DataFusionError> {
    match kind {
        // Types are those of all rows: the first ones may have whole numbers only.
        Kind::Text(Text::Csv) => {
            let options = CsvReadOptions::default().file_extension(extension).schema_infer_max_records(usize::MAX);
            session.read_csv(paths, options).await
        }
        Kind::Text(Text::Json) => {
            let mut options = JsonReadOptions::default().file_extension(extension);
            options.schema = schema.map(|schema| &**schema);
            session.read_json(paths, options).await
        }
        _ => session.read_parquet(paths, ParquetReadOptions::default().file_extension(extension)).await,
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

/// Whether line breaks of files of CSV may be within quotes.
async fn has_breaks(files: &[PathBuf]) -> Result<bool, Failure> {
    let files = files.to_vec();
    // Files that cannot be read are reported by their reader.
    let any = move || files.iter().any(|file| has_quoted_breaks(file).unwrap_or_default());
    tokio::task::spawn_blocking(any).await.map_err(Failure::data)
}

/// The types of all lines of files.
async fn schema(files: &[PathBuf], text: Text) -> Result<SchemaRef, Failure> {
    let files = files.to_vec();
    let schema = tokio::task::spawn_blocking(move || text::schema(&files, text)).await.map_err(Failure::data)?;
    schema.map(Arc::new).map_err(Failure::data)
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
        "csv" if compression.is_some() => Kind::Streamed(Text::Csv),
        "jsonl" | "ndjson" if compression.is_some() => Kind::Streamed(Text::Json),
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

fn unreadable(paths: &[String], error: &DataFusionError) -> Failure {
    if matches!(error.find_root(), DataFusionError::Plan(_)) && paths.iter().any(|path| is_pattern(path)) {
        return Failure::usage(format!("{}: no file matches", paths.join(", ")));
    }
    Failure::data(format!("{}: {}", paths.join(", "), message(error.find_root())))
}
