//! Rows to a file, a pipe or a terminal.

mod npy;
mod rows;
mod table;

use std::fs::File;
use std::io::{IsTerminal, Write, stdout};
use std::path::Path;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use crate::arguments::Format;
use crate::beside::Beside;
use crate::exit::Failure;
use crate::progress::{PERIOD, Progress};
use rows::Rows;

enum To {
    Standard,
    /// A device or a named pipe, which is written to and not replaced.
    Open(File),
    File(Beside),
}

/// Where the rows of a query go.
pub struct Output {
    place: String,
    format: Format,
    to: To,
    schema: SchemaRef,
}

impl Output {
    /// The output of the command, opened.
    ///
    /// # Errors
    /// A name without a known format; rows that the format cannot hold; a file that cannot be written.
    pub fn new(place: &str, format: Option<Format>, schema: &SchemaRef) -> Result<Self, Failure> {
        let is_pipe = place == "-";
        let named = Path::new(place).extension().and_then(|extension| of_extension(&extension.to_string_lossy()));
        let format = match format.or(named) {
            Some(format) => format,
            None if is_pipe && stdout().is_terminal() => Format::Table,
            None if is_pipe => Format::Arrow,
            None => {
                return Err(Failure::usage(format!(
                    "-o {place}: the name must end in .parquet, .arrow, .jsonl or .npy, or --format must say what it is"
                )));
            }
        };
        if format == Format::Arrow && is_pipe && stdout().is_terminal() {
            return Err(Failure::usage("Arrow IPC is not for terminals; use -o FILE"));
        }
        rows::check(format, schema)?;
        let to = match is_pipe {
            true => To::Standard,
            false => open(Path::new(place)).map_err(|error| Failure::usage(format!("-o {place}: {error}")))?,
        };
        Ok(Self { place: place.into(), format, to, schema: schema.clone() })
    }

    /// Writes the rows. A file appears at the end only.
    ///
    /// # Errors
    /// Faults of the rows and of the output.
    pub async fn write(self, rows: SendableRecordBatchStream, progress: &Progress) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::data(format!("-o {}: {error}", self.place));
        let (pipe, beside): (Box<dyn Write + Send>, _) = match self.to {
            To::Standard => (Box::new(stdout()), None),
            To::Open(file) => (Box::new(file), None),
            To::File(beside) => (Box::new(beside.file().map_err(failed)?), Some(beside)),
        };
        let writer = Rows::new(self.format, beside.is_some(), std::io::BufWriter::new(pipe), &self.schema);
        match stream(rows, writer.map_err(failed)?, progress).await? {
            // The reader of the pipe ended: `| head`.
            Err(error) if beside.is_none() && error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(failed(error)),
            Ok(()) => beside.map_or(Ok(()), Beside::finish).map_err(failed),
        }
    }
}

fn open(path: &Path) -> std::io::Result<To> {
    match path.metadata() {
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(To::Open(File::options().write(true).open(path)?)),
        // What a link names is replaced, not the link.
        Ok(_) => Ok(To::File(Beside::new(&path.canonicalize()?)?)),
        Err(_) => Ok(To::File(Beside::new(path)?)),
    }
}

/// Writes rows as they come. The outer error is that of the rows.
async fn stream<W: Write + Send>(
    mut rows: SendableRecordBatchStream,
    mut writer: Rows<W>,
    progress: &Progress,
) -> Result<std::io::Result<()>, Failure> {
    // A task of its own computes the next batches while one is written and the progress is shown.
    let (sender, mut batches) = tokio::sync::mpsc::channel(2);
    let computing = AbortOnDrop(tokio::spawn(async move {
        while let Some(batch) = rows.next().await {
            if sender.send(batch).await.is_err() {
                break;
            }
        }
    }));
    let mut clock = tokio::time::interval(PERIOD);
    loop {
        tokio::select! {
            batch = batches.recv() => match batch {
                Some(batch) => {
                    if let Err(error) = writer.write(&batch.map_err(|error| Failure::of_rows(&error))?) {
                        return Ok(Err(error));
                    }
                    if writer.is_full() {
                        break;
                    }
                }
                None => break,
            },
            _ = clock.tick() => progress.show(),
        }
    }
    drop(batches);
    computing.ended().await?;
    progress.finish();
    writer.finish()
}

/// A task that ends with the value.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl AbortOnDrop {
    /// Waits for the end.
    ///
    /// # Errors
    /// A panic of the task.
    async fn ended(mut self) -> Result<(), Failure> {
        (&mut self.0).await.map_err(Failure::data)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn of_extension(extension: &str) -> Option<Format> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "parquet" => Format::Parquet,
        "arrow" | "ipc" | "feather" => Format::Arrow,
        "jsonl" | "ndjson" => Format::Jsonl,
        "npy" => Format::Npy,
        _ => return None,
    })
}

/// Prints text.
///
/// # Errors
/// An output that cannot be written; a reader that went away is none.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::data(error)),
        _ => Ok(()),
    }
}
