//! Writes files of records.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression as Level;
use flate2::write::{GzEncoder, ZlibEncoder};
use ragged::Result;

use super::{Compression, masked};
use crate::item::Call;

/// A writer of a file of records. TensorFlow: `tf.io.TFRecordWriter`.
///
/// ```
/// use ragged_data::tf::{Compression, RecordReader, RecordWriter};
/// let mut writer = RecordWriter::new(Vec::new(), Compression::Gzip);
/// writer.write(b"a record")?;
/// let bytes = writer.finish()?;
/// let mut records = RecordReader::new(&bytes[..]).compression(Compression::Gzip);
/// assert_eq!(records.next().transpose()?, Some(b"a record".to_vec()));
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    out: Out<W>,
}

#[derive(Debug)]
enum Out<W: Write> {
    Plain(BufWriter<W>),
    Gzip(GzEncoder<BufWriter<W>>),
    Zlib(ZlibEncoder<BufWriter<W>>),
}

/// Files.
impl RecordWriter<File> {
    /// A writer of a new file. A file of that name is replaced.
    ///
    /// # Errors
    /// A file that cannot be created.
    ///
    /// ```
    /// use ragged_data::tf::{Compression, RecordWriter};
    /// assert!(RecordWriter::create("no such folder/file", Compression::None).is_err());
    /// ```
    #[track_caller]
    pub fn create(path: impl AsRef<Path>, compression: Compression) -> Result<Self> {
        let (call, path) = (Call::here("RecordWriter::create"), path.as_ref());
        let file = File::create(path).map_err(|e| call.io(format!("{} cannot be created: {e}", path.display())))?;
        Ok(Self::new(file, compression))
    }
}

/// Writing.
impl<W: Write> RecordWriter<W> {
    /// A writer to anything that implements `std::io::Write`, which needs no buffer of its own.
    ///
    /// ```
    /// use ragged_data::tf::{Compression, RecordWriter};
    /// assert!(RecordWriter::new(Vec::new(), Compression::None).finish()?.is_empty());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn new(out: W, compression: Compression) -> Self {
        let out = BufWriter::new(out);
        Self {
            out: match compression {
                Compression::None => Out::Plain(out),
                Compression::Gzip => Out::Gzip(GzEncoder::new(out, Level::default())),
                Compression::Zlib => Out::Zlib(ZlibEncoder::new(out, Level::default())),
            },
        }
    }

    /// Writes a record.
    ///
    /// # Errors
    /// A failed write.
    ///
    /// ```
    /// use ragged_data::tf::{Compression, RecordWriter};
    /// let mut writer = RecordWriter::new(Vec::new(), Compression::None);
    /// writer.write(b"abc")?;
    /// assert_eq!(writer.finish()?.len(), 12 + 3 + 4);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn write(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        let (call, record) = (Call::here("RecordWriter::write"), record.as_ref());
        let length = (record.len() as u64).to_le_bytes();
        let out: &mut dyn Write = match &mut self.out {
            Out::Plain(out) => out,
            Out::Gzip(out) => out,
            Out::Zlib(out) => out,
        };
        let parts = [&length[..], &masked(&length).to_le_bytes(), record, &masked(record).to_le_bytes()];
        parts.iter().try_for_each(|part| out.write_all(part)).map_err(|e| call.io(format!("a write failed: {e}")))
    }

    /// Writes what is left, and gives the output back. A writer that is dropped ignores errors of this.
    ///
    /// # Errors
    /// A failed write.
    ///
    /// ```
    /// use ragged_data::tf::{Compression, RecordWriter};
    /// let bytes = RecordWriter::new(Vec::new(), Compression::Zlib).finish()?;
    /// assert!(!bytes.is_empty());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn finish(self) -> Result<W> {
        let call = Call::here("RecordWriter::finish");
        let out = match self.out {
            Out::Plain(out) => Ok(out),
            Out::Gzip(out) => out.finish(),
            Out::Zlib(out) => out.finish(),
        };
        let inner = out.and_then(|out| out.into_inner().map_err(std::io::IntoInnerError::into_error));
        let mut inner = inner.map_err(|e| call.io(format!("a write failed: {e}")))?;
        inner.flush().map_err(|e| call.io(format!("a write failed: {e}")))?;
        Ok(inner)
    }
}
