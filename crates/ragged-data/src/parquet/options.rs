//! Options of reads and writes.

use std::ops::Range;

use crate::arrow::Nulls;

/// What to read of a Parquet file: all of it by default.
///
/// ```
/// use ragged_data::arrow::Nulls;
/// use ragged_data::parquet::ReadOptions;
/// let some = ReadOptions::new().columns(["id", "words"]).row_groups(0..2).nulls(Nulls::Empty);
/// # let _ = some;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    pub(super) columns: Option<Vec<String>>,
    pub(super) row_groups: Option<Range<usize>>,
    pub(super) nulls: Nulls,
    pub(super) batch_rows: Option<usize>,
    pub(super) batch_bytes: Option<u64>,
    pub(super) max_row_bytes: Option<u64>,
    pub(super) least_decoded: Option<u64>,
}

/// Setters.
impl ReadOptions {
    /// The whole file; nulls are errors.
    pub fn new() -> Self {
        Self::default()
    }

    /// These columns only, by name; other columns are not read. `a.b` is field `b` of struct `a`, whose other fields are not
    /// read either.
    #[must_use]
    pub fn columns<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { columns: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// These row groups only, numbered from 0; others are not read.
    #[must_use]
    pub fn row_groups(self, row_groups: Range<usize>) -> Self {
        Self { row_groups: Some(row_groups), ..self }
    }

    /// What nulls become.
    #[must_use]
    pub fn nulls(self, nulls: Nulls) -> Self {
        Self { nulls, ..self }
    }

    /// Rows that are decoded at a time, 65,536 by default: those of a batch of [`batches`](super::batches), except the last.
    /// Beside [`batch_bytes`](Self::batch_bytes), the most rows of a batch.
    #[must_use]
    pub fn batch_rows(self, rows: usize) -> Self {
        Self { batch_rows: Some(rows), ..self }
    }

    /// Batches of [`batches`](super::batches) have at most this number of bytes, or one row that has more. They may have
    /// fewer: row groups are not joined, and the bytes of strings are estimated before they are decoded.
    ///
    /// Bytes are those of the values, without row splits; numbers of 8 and 16 bits count as Parquet stores them, 4 bytes.
    #[must_use]
    pub fn batch_bytes(self, bytes: u64) -> Self {
        Self { batch_bytes: Some(bytes), ..self }
    }

    /// A row of more bytes is an error that names the file, the row and its bytes; the rows behind it follow. Rows of numbers
    /// are measured before they are decoded. Batches have 64 MiB unless [`batch_bytes`](Self::batch_bytes) says otherwise.
    #[must_use]
    pub fn max_row_bytes(self, bytes: u64) -> Self {
        Self { max_row_bytes: Some(bytes), ..self }
    }

    /// Bytes that are decoded at a time, at least: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn least_decoded(self, bytes: u64) -> Self {
        Self { least_decoded: Some(bytes), ..self }
    }
}

impl ReadOptions {
    #[cfg(feature = "dataset")]
    pub(crate) fn nulls_become(&self) -> Nulls {
        self.nulls
    }
}

/// Compression of the pages of a Parquet file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    None,
    /// Snappy, which every reader knows.
    #[default]
    Snappy,
    /// LZ4, as raw blocks.
    Lz4,
    /// Zstandard at its default level.
    Zstd,
    /// gzip.
    Gzip,
}

/// How to write a Parquet file.
///
/// ```
/// use ragged_data::parquet::{Compression, WriteOptions};
/// let small = WriteOptions::new().compression(Compression::Zstd).row_group_rows(100_000);
/// # let _ = small;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    pub(super) compression: Compression,
    pub(super) row_group_rows: Option<usize>,
}

/// Setters.
impl WriteOptions {
    /// Snappy, and row groups of 1,048,576 rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// The compression of the pages.
    #[must_use]
    pub fn compression(self, compression: Compression) -> Self {
        Self { compression, ..self }
    }

    /// Most rows of a row group.
    #[must_use]
    pub fn row_group_rows(self, rows: usize) -> Self {
        Self { row_group_rows: Some(rows), ..self }
    }
}
