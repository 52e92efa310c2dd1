//! Readers of files and of their footers.
//!
//! The crate `parquet` panics on some damaged files. Its calls run under `catch_unwind`, and such a panic is the error of the
//! file.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::ChunkReader;
use arrow_array::{RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{DataType, Fields, SchemaRef};
use ragged::{Device, Result, StructuredTensor};

use super::ReadOptions;
use crate::arrow::{FromArrow, Nulls};
use crate::fault::{argument, those_that_exist};
use crate::file::unreadable;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 16;

/// The result of a call of the crate `parquet`, whose panic is an error.
pub(super) fn guarded<T, E: std::fmt::Display>(call: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) => Err(unreadable(shortened(&e.to_string()))),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(unreadable(format!("the file is damaged: {}", shortened(text))))
        }
    }
}

/// The start of a message, which may repeat data of the file.
fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}

/// The footer of a file.
fn footer<R: ChunkReader + 'static>(file: &R) -> Result<ArrowReaderMetadata> {
    guarded(|| ArrowReaderMetadata::load(file, ArrowReaderOptions::default())).map_err(|e| match e {
        ragged::Error::Io { op, what, location } => {
            ragged::Error::Io { op, what: format!("this is no Parquet file: {what}"), location }
        }
        other => other,
    })
}

/// Columns and rows of a Parquet file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The names of the columns, in the order of the file.
    pub columns: Vec<String>,
    /// The number of rows of each row group.
    pub row_groups: Vec<u64>,
}

impl Layout {
    pub(super) fn of<R: ChunkReader + 'static>(file: R) -> Result<Self> {
        let footer = footer(&file)?;
        let columns = footer.schema().fields().iter().map(|field| field.name().clone()).collect();
        let rows = footer.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
        Ok(Self { columns, row_groups: rows.collect() })
    }
}

/// What options ask for of a file.
pub(super) struct Footer<R> {
    pub(super) file: R,
    pub(super) metadata: Arc<ParquetMetaData>,
    /// The types of all columns.
    pub(super) schema: SchemaRef,
    pub(super) columns: ProjectionMask,
    pub(super) groups: Range<usize>,
    arrow: ArrowReaderMetadata,
}

impl<R: ChunkReader + 'static> Footer<R> {
    /// # Errors
    /// A damaged footer; row groups or columns that do not exist.
    pub(super) fn new(file: R, options: &ReadOptions) -> Result<Self> {
        let arrow = footer(&file)?;
        let has = arrow.metadata().num_row_groups();
        let groups = options.row_groups.clone().unwrap_or(0..has);
        if groups.end > has || groups.start > groups.end {
            return Err(argument(format!("there are no row groups {groups:?}; there are {has}, from 0 on")));
        }
        let columns = match &options.columns {
            None => ProjectionMask::all(),
            Some(names) => {
                for name in names {
                    let path: Vec<&str> = name.split('.').collect();
                    check_column(name, arrow.schema().fields(), &path)?;
                }
                ProjectionMask::columns(arrow.parquet_schema(), names.iter().map(String::as_str))
            }
        };
        let (metadata, schema) = (arrow.metadata().clone(), arrow.schema().clone());
        Ok(Self { file, metadata, schema, columns, groups, arrow })
    }
}

/// A reader of the columns and row groups that options ask for.
pub(super) struct Reader {
    reader: ParquetRecordBatchReader,
    schema: SchemaRef,
}

impl Reader {
    pub(super) fn new<R: ChunkReader + 'static>(file: R, options: &ReadOptions) -> Result<Self> {
        let Footer { file, columns, groups, arrow, .. } = Footer::new(file, options)?;
        let rows = options.batch_rows.unwrap_or(BATCH_ROWS).max(1);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, arrow);
        let builder = builder.with_row_groups(groups.collect()).with_projection(columns);
        let reader = guarded(|| builder.with_batch_size(rows).build())?;
        Ok(Self { schema: reader.schema(), reader })
    }

    /// The next records; none at the end.
    pub(super) fn records(&mut self, nulls: Nulls, device: &Device) -> Result<Option<StructuredTensor>> {
        let Some(batch) = guarded(|| self.reader.next().transpose())? else { return Ok(None) };
        StructuredTensor::from_arrow_with(&StructArray::from(batch), nulls, device).map(Some)
    }

    /// No records.
    pub(super) fn none(&self, device: &Device) -> Result<StructuredTensor> {
        let batch = RecordBatch::new_empty(self.schema.clone());
        StructuredTensor::from_arrow(&StructArray::from(batch), device)
    }
}

/// Fails unless the path leads to a column of the fields.
fn check_column(name: &str, fields: &Fields, path: &[&str]) -> Result<()> {
    // A name may itself have dots.
    let whole = path.join(".");
    if path.is_empty() || fields.iter().any(|field| *field.name() == whole) {
        return Ok(());
    }
    let found = fields.iter().find(|field| field.name() == path[0]);
    match found.map(|field| field.data_type()) {
        Some(DataType::Struct(below)) => check_column(name, below, &path[1..]),
        Some(_) => Err(argument(format!("column {name:?}: {:?} has no fields", path[0]))),
        None => {
            let has = those_that_exist(path[0], fields.iter().map(|field| field.name().as_str()));
            Err(argument(format!("there is no column {name:?}; {has}")))
        }
    }
}
