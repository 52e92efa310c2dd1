//! Rows to a file or to standard output.

use std::fs::File;
use std::path::Path;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::writer::FileWriter;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::parquet::arrow::ArrowWriter;
use futures::StreamExt;
use tempfile::NamedTempFile;

use crate::Outcome;
use crate::query::of_query;

enum Writer {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<File>>),
}

impl Writer {
    fn new(path: &Path, file: File, schema: &SchemaRef) -> Outcome<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Ok(Self::Parquet(Box::new(ArrowWriter::try_new(file, schema.clone(), None)?))),
            Some("arrow") => Ok(Self::Arrow(Box::new(FileWriter::try_new(file, schema)?))),
            _ => Err(format!("{}: outputs are FILE.parquet, FILE.arrow or `-`", path.display()).into()),
        }
    }

    fn write(&mut self, rows: &RecordBatch) -> Outcome<()> {
        match self {
            Self::Parquet(writer) => Ok(writer.write(rows)?),
            Self::Arrow(writer) => Ok(writer.write(rows)?),
        }
    }

    fn finish(self) -> Outcome<()> {
        match self {
            Self::Parquet(writer) => Ok(writer.close().map(drop)?),
            Self::Arrow(mut writer) => Ok(writer.finish()?),
        }
    }
}

/// Writes the rows and counts them. A file appears once it is whole.
///
/// # Errors
/// A file that cannot be written; those of the query.
pub async fn write(mut rows: SendableRecordBatchStream, to: &str) -> Outcome<usize> {
    let mut count = 0;
    if to == "-" {
        let mut all = Vec::new();
        while let Some(batch) = rows.next().await {
            all.push(batch.map_err(|error| of_query(&error))?);
            count += all.last().map_or(0, RecordBatch::num_rows);
        }
        println!("{}", pretty_format_batches(&all)?);
        return Ok(count);
    }
    let path = Path::new(to);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = NamedTempFile::new_in(folder).map_err(|error| format!("{to}: {error}"))?;
    let mut writer = Writer::new(path, file.reopen()?, &rows.schema())?;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|error| of_query(&error))?;
        count += batch.num_rows();
        writer.write(&batch)?;
    }
    writer.finish()?;
    file.persist(path).map_err(|error| format!("{to}: {error}"))?;
    Ok(count)
}
