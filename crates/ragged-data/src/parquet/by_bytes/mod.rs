//! Batches of a size in bytes.
//!
//! The reader of the crate `parquet` takes a number of rows, whatever their length. Here the lengths of rows are known first,
//! from the repetition levels of the decompressed pages ([`pages`]); pages of as many rows as fit are then given to that reader
//! ([`feed`]), and its batch is cut where the bytes of its strings ask for it ([`rows`]). So a file is read with the memory of
//! a batch, or of one long row, beside the pages that they lie in.

mod feed;
mod group;
mod levels;
mod pages;
mod rows;
mod source;

use std::ops::Range;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::arrow::{FieldLevels, parquet_to_arrow_field_levels};
use ::parquet::file::metadata::ParquetMetaData;
use arrow_array::RecordBatch;
use ragged::Result;

use super::ReadOptions;
use super::reader::{Footer, guarded};
use crate::file::in_file;
use group::{Group, Next};
use rows::bytes_between;

pub(super) use source::Source;

/// Bytes of a batch where the options do not say.
const BATCH_BYTES: u64 = 64 << 20;

/// Rows are decoded in at least this number of bytes: a page is decoded from its start each time.
const LEAST_DECODED: u64 = 1 << 20;

/// Batches of the rows of a file.
pub(crate) struct ByBytes {
    path: PathBuf,
    source: Arc<Source>,
    metadata: Arc<ParquetMetaData>,
    levels: FieldLevels,
    /// Whether each column is read.
    is_read: Vec<bool>,
    groups: Range<usize>,
    group: Option<Group>,
    /// Decoded rows, from the next one on.
    decoded: Option<RecordBatch>,
    /// The number of the next row in the file.
    row: u64,
    rows: usize,
    bytes: u64,
    row_bytes: u64,
    decoded_bytes: u64,
    done: bool,
}

impl ByBytes {
    /// The rows that the options ask for, in batches of their size.
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        Self::new(path, options).map_err(in_file(path))
    }

    fn new(path: &Path, options: &ReadOptions) -> Result<Self> {
        let file = super::open(path)?;
        let source = Source::new(file).map_err(|e| crate::file::unreadable(e.to_string()))?;
        let footer = Footer::new(source, options)?;
        let (source, metadata) = (Arc::new(footer.file), footer.metadata);
        let schema = metadata.file_metadata().schema_descr();
        let levels =
            guarded(|| parquet_to_arrow_field_levels(schema, footer.columns.clone(), Some(footer.schema.fields())))?;
        let is_read = (0..schema.num_columns()).map(|k| footer.columns.leaf_included(k)).collect();
        let before = metadata.row_groups().iter().take(footer.groups.start);
        let row = before.map(|group| group.num_rows().max(0) as u64).fold(0, u64::saturating_add);
        Ok(Self {
            path: path.to_owned(),
            source,
            levels,
            is_read,
            groups: footer.groups,
            group: None,
            decoded: None,
            row,
            rows: options.batch_rows.unwrap_or(usize::MAX).max(1),
            bytes: options.batch_bytes.unwrap_or(BATCH_BYTES),
            row_bytes: options.max_row_bytes.unwrap_or(u64::MAX),
            decoded_bytes: options
                .batch_bytes
                .unwrap_or(BATCH_BYTES)
                .max(options.least_decoded.unwrap_or(LEAST_DECODED)),
            done: false,
            metadata,
        })
    }

    /// The next batch; none at the end. After the error of a row that is too long, the rows behind it follow; after another
    /// error, none do.
    pub(crate) fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        if self.done {
            return None;
        }
        let next = self.batch();
        self.done = !matches!(next, Ok(Some(Cut::Batch(_) | Cut::Refused(_))));
        match next.map_err(in_file(&self.path)).transpose()? {
            Ok(Cut::Batch(batch)) => Some(Ok(batch)),
            Ok(Cut::Refused(bytes)) => Some(Err(self.refused(bytes))),
            Err(e) => Some(Err(e)),
        }
    }

    /// The error of the row before the next one.
    fn refused(&self, bytes: u64) -> ragged::Error {
        ragged::Error::Limit {
            what: format!("parquet (row {} of {})", self.row - 1, self.path.display()),
            requested: bytes,
            unit: "bytes",
            limit: self.row_bytes,
            whose: "max_row_bytes".into(),
            location: Location::caller(),
        }
    }

    fn batch(&mut self) -> Result<Option<Cut>> {
        loop {
            if let Some(batch) = self.decoded.take() {
                return Ok(Some(self.cut(&batch)));
            }
            let Some(group) = &mut self.group else {
                let Some(number) = self.groups.next() else { return Ok(None) };
                self.group = Some(Group::new(&self.source, &self.metadata, number, |k| self.is_read[k])?);
                continue;
            };
            match group.next(&self.levels, self.decoded_bytes, self.row_bytes)? {
                None => self.group = None,
                Some(Next::Rows(batch)) => self.decoded = Some(batch),
                Some(Next::Refused(bytes)) => {
                    self.row += 1;
                    return Ok(Some(Cut::Refused(bytes)));
                }
            }
        }
    }

    /// The first rows of decoded ones, as many as a batch has; the others are kept.
    fn cut(&mut self, batch: &RecordBatch) -> Cut {
        let columns: Vec<_> = batch.columns().iter().map(|column| bytes_between(column)).collect();
        let bytes =
            |start: usize, end: usize| columns.iter().fold(0u64, |sum, column| sum.saturating_add(column(start, end)));
        let n = batch.num_rows();
        let (mut end, mut total) = (0, 0u64);
        while end < n.min(self.rows) {
            let own = bytes(end, end + 1);
            if own > self.row_bytes && end == 0 {
                self.keep(batch, 1);
                return Cut::Refused(own);
            }
            total = total.saturating_add(own);
            if end > 0 && (total > self.bytes || own > self.row_bytes) {
                break;
            }
            end += 1;
        }
        self.keep(batch, end);
        Cut::Batch(batch.slice(0, end))
    }

    /// Keeps the rows from `end` on.
    fn keep(&mut self, batch: &RecordBatch, end: usize) {
        self.row += end as u64;
        self.decoded = (end < batch.num_rows()).then(|| batch.slice(end, batch.num_rows() - end));
    }
}

/// A batch, or the bytes of a row that has too many.
enum Cut {
    Batch(RecordBatch),
    Refused(u64),
}
