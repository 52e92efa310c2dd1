//! Files as sources of pages.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

/// A file whose length bounds what is read: a damaged footer takes no more memory than that.
pub(in super::super) struct Source {
    file: File,
    len: u64,
}

impl Source {
    pub(in super::super) fn new(file: File) -> std::io::Result<Self> {
        Ok(Self { len: file.metadata()?.len(), file })
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Source {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        // Headers of pages are short.
        Ok(BufReader::with_capacity(1 << 10, file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            let what = format!("{length} bytes from byte {start} on exceed the file's {}", self.len);
            return Err(ParquetError::EOF(what));
        }
        self.file.get_bytes(start, length)
    }
}
