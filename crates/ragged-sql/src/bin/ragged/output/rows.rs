//! Rows in each format.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::{FileWriter, StreamWriter};
use datafusion::arrow::json::{LineDelimitedWriter, WriterBuilder};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

use super::npy::Npy;
use super::table::Table;
use crate::arguments::Format;
use crate::exit::Failure;

/// A writer of rows.
pub enum Rows<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
    Lines(LineDelimitedWriter<W>),
    Npy(Npy<W>),
    Table(Table<W>),
}

/// Whether the format can hold such rows.
///
/// # Errors
/// More than one column, lists of any length, or a type that has no dtype, in an npy file.
pub fn check(format: Format, schema: &SchemaRef) -> Result<(), Failure> {
    match format {
        Format::Npy => Npy::<io::Sink>::check(schema),
        _ => Ok(()),
    }
}

impl<W: Write + Send> Rows<W> {
    /// # Errors
    /// Those of `to`.
    pub fn new(format: Format, is_file: bool, to: W, schema: &SchemaRef) -> io::Result<Self> {
        Ok(match format {
            Format::Parquet => {
                let properties =
                    WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
                Self::Parquet(Box::new(
                    ArrowWriter::try_new(to, schema.clone(), Some(properties)).map_err(io::Error::other)?,
                ))
            }
            Format::Arrow if is_file => Self::File(FileWriter::try_new(to, schema).map_err(of_arrow)?),
            Format::Arrow => Self::Stream(StreamWriter::try_new(to, schema).map_err(of_arrow)?),
            Format::Jsonl => Self::Lines(WriterBuilder::new().with_explicit_nulls(true).build(to)),
            Format::Npy => Self::Npy(Npy::new(to, schema)),
            Format::Table => Self::Table(Table::new(to, schema)),
        })
    }

    /// # Errors
    /// Those of the output.
    pub fn write(&mut self, rows: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(rows).map_err(|error| of_arrow(error.into())),
            Self::File(writer) => writer.write(rows).map_err(of_arrow),
            Self::Stream(writer) => writer.write(rows).map_err(of_arrow),
            Self::Lines(writer) => writer.write(rows).map_err(of_arrow),
            Self::Npy(writer) => {
                writer.write(rows);
                Ok(())
            }
            Self::Table(writer) => {
                writer.write(rows);
                Ok(())
            }
        }
    }

    /// Whether further rows would not be shown.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Table(table) if table.is_full())
    }

    /// The end of the file.
    ///
    /// # Errors
    /// Rows that the format cannot hold; within, those of the output.
    pub fn finish(self) -> Result<io::Result<()>, Failure> {
        Ok(match self {
            Self::Parquet(writer) => {
                writer.into_inner().map_err(|error| of_arrow(error.into())).and_then(|mut to| to.flush())
            }
            Self::File(writer) => writer.into_inner().map_err(of_arrow).and_then(|mut to| to.flush()),
            Self::Stream(writer) => writer.into_inner().map_err(of_arrow).and_then(|mut to| to.flush()),
            Self::Lines(mut writer) => writer.finish().map_err(of_arrow).and_then(|()| writer.into_inner().flush()),
            Self::Npy(writer) => writer.finish()?,
            Self::Table(writer) => writer.finish(),
        })
    }
}

fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}
