//! Rows to a file, a pipe or a terminal.

use std::fs::File;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::parquet::arrow::ArrowWriter;
use futures::StreamExt;

use crate::exit::Failure;

/// A file that becomes `path` once it is whole, and is removed if it never is.
struct Beside {
    path: PathBuf,
    temporary: PathBuf,
    is_whole: bool,
}

impl Beside {
    fn new(path: &Path) -> std::io::Result<(Self, File)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let file = File::create_new(&temporary)?;
        Ok((Self { path: path.into(), temporary, is_whole: false }, file))
    }

    fn finish(mut self) -> std::io::Result<()> {
        std::fs::rename(&self.temporary, &self.path)?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_whole {
            // Nothing else can be done with what is left.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

enum Writer<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(StreamWriter<W>),
    Lines(LineDelimitedWriter<W>),
}

impl<W: Write + Send> Writer<W> {
    fn new(extension: &str, to: W, schema: &SchemaRef) -> Result<Self, Failure> {
        let data = |error: &dyn std::fmt::Display| Failure::data(error.to_string());
        Ok(match extension {
            "parquet" => Self::Parquet(Box::new(ArrowWriter::try_new(to, schema.clone(), None).map_err(|e| data(&e))?)),
            "arrow" | "ipc" => Self::Arrow(StreamWriter::try_new(to, schema).map_err(|e| data(&e))?),
            "jsonl" | "ndjson" => Self::Lines(LineDelimitedWriter::new(to)),
            other => return Err(Failure::usage(format!("outputs are .parquet, .arrow, .jsonl or `-`, not .{other}"))),
        })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Parquet(writer) => writer.write(rows).map_err(ArrowError::from),
            Self::Arrow(writer) => writer.write(rows),
            Self::Lines(writer) => writer.write(rows),
        }
    }

    fn finish(self) -> Result<(), ArrowError> {
        match self {
            Self::Parquet(writer) => writer.close().map(drop).map_err(ArrowError::from),
            Self::Arrow(mut writer) => writer.finish(),
            Self::Lines(mut writer) => writer.finish(),
        }
    }
}

pub async fn write(mut rows: SendableRecordBatchStream, to: &str) -> Result<(), Failure> {
    let schema = rows.schema();
    if to == "-" && stdout().is_terminal() {
        let mut all = Vec::new();
        while let Some(batch) = rows.next().await {
            all.push(batch.map_err(|error| Failure::of(&error))?);
        }
        let table = pretty_format_batches(&all).map_err(|error| Failure::data(error.to_string()))?;
        println!("{table}");
        return Ok(());
    }
    if to == "-" {
        return stream(rows, Writer::new("arrow", stdout().lock(), &schema)?).await;
    }
    let path = Path::new(to);
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| Failure::data(format!("{to}: {error}"));
    let (beside, file) = Beside::new(path).map_err(failed)?;
    stream(rows, Writer::new(&extension, file, &schema)?).await?;
    beside.finish().map_err(failed)
}

async fn stream<W: Write + Send>(mut rows: SendableRecordBatchStream, mut writer: Writer<W>) -> Result<(), Failure> {
    let failed = |error: ArrowError| Failure::data(error.to_string());
    while let Some(batch) = rows.next().await {
        writer.write(&batch.map_err(|error| Failure::of(&error))?).map_err(failed)?;
    }
    writer.finish().map_err(failed)
}
