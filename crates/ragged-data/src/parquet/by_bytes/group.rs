//! The rows of a row group, some at a time.

use std::cell::RefCell;
use std::sync::Arc;

use ::parquet::arrow::FieldLevels;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowSelection, RowSelector};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::{ChunkReader, SerializedPageReader};
use arrow_array::RecordBatch;
use ragged::Result;

use super::super::reader::guarded;
use super::feed::Window;
use super::pages::Column;
use crate::file::unreadable;

/// Most rows that are decoded at a time.
const MOST_ROWS: usize = 1 << 24;

/// A row group from the next row on.
pub(super) struct Group {
    metadata: Arc<ParquetMetaData>,
    number: usize,
    /// By number of the column; none where it is not read.
    columns: Vec<Option<Column>>,
    /// Rows that are left.
    left: u64,
}

/// What comes next.
pub(super) enum Next {
    /// Rows, decoded.
    Rows(RecordBatch),
    /// One row of more bytes than are allowed, which is left out.
    Refused(u64),
}

impl Group {
    pub(super) fn new<R: ChunkReader + 'static>(
        source: &Arc<R>,
        metadata: &Arc<ParquetMetaData>,
        number: usize,
        is_read: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let group = metadata.row_group(number);
        let left = u64::try_from(group.num_rows()).map_err(|_| unreadable("the file is damaged: a number of rows"))?;
        let column = |k: usize| {
            if !is_read(k) {
                return Ok(None);
            }
            let chunk = group.column(k);
            let pages = guarded(|| SerializedPageReader::new(source.clone(), chunk, left as usize, None))?;
            Ok(Some(Column::new(chunk.column_descr(), Box::new(pages))))
        };
        let columns = (0..group.num_columns()).map(column).collect::<Result<_>>()?;
        Ok(Self { metadata: metadata.clone(), number, columns, left })
    }

    /// As many of the next rows as have at most `target` bytes by the estimate, or one, unless it has more than `most`; none at
    /// the end.
    pub(super) fn next(&mut self, levels: &FieldLevels, target: u64, most: u64) -> Result<Option<Next>> {
        if self.columns.iter().all(Option::is_none) {
            let rows = self.left.min(MOST_ROWS as u64) as usize;
            self.left -= rows as u64;
            return if rows == 0 { Ok(None) } else { self.decode(levels, rows).map(|batch| Some(Next::Rows(batch))) };
        }
        let (mut rows, mut total) = (0usize, 0u64);
        while self.left > 0 && rows < MOST_ROWS {
            let (mut bytes, mut sure) = (0u64, 0u64);
            let mut is_whole = true;
            for column in self.columns.iter_mut().flatten() {
                let row = column.measure(most.saturating_sub(sure), false)?;
                (bytes, sure) = (bytes.saturating_add(row.bytes), sure.saturating_add(row.sure));
                is_whole &= row.whole;
                if sure > most {
                    break;
                }
            }
            if sure > most || !is_whole {
                if rows > 0 {
                    break;
                }
                return self.refuse().map(|bytes| Some(Next::Refused(bytes)));
            }
            total = total.saturating_add(bytes);
            if rows > 0 && total > target {
                break;
            }
            self.columns.iter_mut().flatten().for_each(Column::accept);
            rows += 1;
            self.left -= 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        self.decode(levels, rows).map(|batch| Some(Next::Rows(batch)))
    }

    /// Leaves the next row out, and gives its bytes.
    fn refuse(&mut self) -> Result<u64> {
        let mut bytes = 0u64;
        for column in self.columns.iter_mut().flatten() {
            let row = column.measure(0, true)?;
            bytes = bytes.saturating_add(row.sure);
            column.accept();
            column.skip();
        }
        self.left -= 1;
        Ok(bytes)
    }

    /// The rows before the next one, which were accepted.
    fn decode(&mut self, levels: &FieldLevels, rows: usize) -> Result<RecordBatch> {
        let passed = self.columns.iter().flatten().map(Column::passed).max().unwrap_or(0);
        let feed = |column: &mut Option<Column>| column.as_mut().map(|c| c.feed(passed - c.passed()));
        let feeds = RefCell::new(self.columns.iter_mut().map(feed).collect());
        let window = Window { metadata: &self.metadata, group: self.number, rows, feeds };
        let selection = RowSelection::from(vec![RowSelector::skip(passed), RowSelector::select(rows)]);
        let selection = (passed > 0).then_some(selection);
        let batch = guarded(|| {
            let mut reader = ParquetRecordBatchReader::try_new_with_row_groups(levels, &window, rows, selection)?;
            reader.next().transpose().map_err(::parquet::errors::ParquetError::from)
        })?;
        match batch {
            Some(batch) if batch.num_rows() == rows => Ok(batch),
            other => {
                let found = other.map_or(0, |batch| batch.num_rows());
                let what = format!("{found} of {rows} rows are in the pages of row group {}", self.number);
                Err(unreadable(format!("the file is damaged: {what}")))
            }
        }
    }
}
