//! Batches of a file, by rows or by bytes.

use std::panic::Location;
use std::path::{Path, PathBuf};

use arrow_array::StructArray;
use ragged::{Device, Result, StructuredTensor};

use super::ReadOptions;
use super::by_bytes::ByBytes;
use super::reader::Reader;
use crate::arrow::{FromArrow, Nulls};
use crate::fault::own;
use crate::file::in_file;

/// Records of a Parquet file, batch by batch.
pub struct Batches {
    source: Source,
    path: PathBuf,
    nulls: Nulls,
    device: Device,
    /// The line of the call.
    line: &'static Location<'static>,
}

/// Where batches come from.
enum Source {
    Rows(Box<Reader>),
    Bytes(Box<ByBytes>),
    /// The end, or an error.
    Done,
}

impl Batches {
    pub(super) fn open(
        path: &Path,
        options: &ReadOptions,
        device: &Device,
        line: &'static Location<'static>,
    ) -> Result<Self> {
        let by_bytes = options.batch_bytes.is_some() || options.max_row_bytes.is_some();
        let source = if by_bytes {
            Source::Bytes(Box::new(ByBytes::open(path, options)?))
        } else {
            let reader = super::open(path).and_then(|file| Reader::new(file, options)).map_err(in_file(path))?;
            Source::Rows(Box::new(reader))
        };
        Ok(Self { source, path: path.to_owned(), nulls: options.nulls, device: device.clone(), line })
    }

    fn records(&mut self) -> Option<Result<StructuredTensor>> {
        let next = match &mut self.source {
            Source::Rows(reader) => reader.records(self.nulls, &self.device).transpose(),
            Source::Bytes(batches) => {
                return Some(batches.next_batch()?.and_then(|batch| {
                    let records =
                        StructuredTensor::from_arrow_with(&StructArray::from(batch), self.nulls, &self.device);
                    records.map_err(in_file(&self.path))
                }));
            }
            Source::Done => None,
        };
        if !matches!(next, Some(Ok(_))) {
            self.source = Source::Done;
        }
        next.map(|next| next.map_err(in_file(&self.path)))
    }
}

impl Iterator for Batches {
    type Item = Result<StructuredTensor>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.line;
        Some(self.records()?.map_err(|e| own("parquet::batches", line, e)))
    }
}
