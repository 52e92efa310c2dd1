//! Reads files of records.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ragged::{Error, Result};

use super::{Compression, FOOTER, HEADER, checksum, masked};
use crate::item::Call;

/// What a reader makes of damaged records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Damage {
    /// The first is an error with its position, and the end.
    #[default]
    Error,
    /// They are skipped and counted. After a damaged length, reading goes on at the next position that holds a whole
    /// record with its checksums.
    Skip,
}

/// A reader of a file of records: an iterator of their bytes. TensorFlow: `tf.data.TFRecordDataset`.
///
/// Both checksums of each record are compared. A length that the file does not have allocates nothing: memory grows with
/// the bytes that are there, up to [`max_record_bytes`](Self::max_record_bytes).
///
/// ```
/// use ragged_data::tf::{Compression, Damage, RecordReader, RecordWriter};
/// let mut writer = RecordWriter::new(Vec::new(), Compression::None);
/// for record in [&b"one"[..], b"two", b"three"] {
///     writer.write(record)?;
/// }
/// let mut bytes = writer.finish()?;
/// bytes[12] ^= 1;
/// let error = RecordReader::new(&bytes[..]).next().unwrap().unwrap_err().to_string();
/// assert!(error.contains("record 0 at byte 0: its content does not have its checksum"), "{error}");
///
/// let mut reader = RecordReader::new(&bytes[..]).damage(Damage::Skip);
/// let records = reader.by_ref().collect::<ragged::Result<Vec<_>>>()?;
/// assert_eq!((records, reader.skipped()), (vec![b"two".to_vec(), b"three".to_vec()], 1));
/// # Ok::<(), ragged::Error>(())
/// ```
pub struct RecordReader<R> {
    source: Source<R>,
    call: Call,
    /// The file, for errors.
    name: String,
    damage: Damage,
    max_record_bytes: u64,
    /// Bytes that are read and not used: `buffer[start..]`.
    buffer: Vec<u8>,
    start: usize,
    /// The position of `buffer[start]` in the uncompressed file.
    at: u64,
    at_end: bool,
    /// The system's message, until the records before the failed read are given.
    failed: Option<String>,
    done: bool,
    records: u64,
    skipped: u64,
}

enum Source<R> {
    Plain(R),
    Gzip(Box<MultiGzDecoder<R>>),
    Zlib(Box<ZlibDecoder<R>>),
    Taken,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(r) => r.read(out),
            Self::Gzip(r) => r.read(out),
            Self::Zlib(r) => r.read(out),
            Self::Taken => Ok(0),
        }
    }
}

impl<R> std::fmt::Debug for RecordReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordReader").field("name", &self.name).field("at", &self.at).finish_non_exhaustive()
    }
}

/// Files.
impl RecordReader<File> {
    /// A reader of a file, which is opened now and read in parts.
    ///
    /// # Errors
    /// A file that cannot be opened.
    ///
    /// ```
    /// use ragged_data::tf::RecordReader;
    /// let error = RecordReader::open("no such file").unwrap_err().to_string();
    /// assert!(error.starts_with("RecordReader::open: no such file cannot be opened"));
    /// ```
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_for(Call::here("RecordReader::open"), path.as_ref())
    }

    pub(crate) fn open_for(call: Call, path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| call.io(format!("{name} cannot be opened: {e}")))?;
        Ok(Self { name, ..Self::new_for(Call { op: "RecordReader", ..call }, file) })
    }
}

/// Construction and options.
impl<R: Read> RecordReader<R> {
    /// A reader of anything that implements `std::io::Read`, which needs no buffer of its own.
    ///
    /// ```
    /// use ragged_data::tf::RecordReader;
    /// assert!(RecordReader::new(&b""[..]).next().is_none());
    /// ```
    #[track_caller]
    pub fn new(reader: R) -> Self {
        Self::new_for(Call::here("RecordReader"), reader)
    }

    fn new_for(call: Call, reader: R) -> Self {
        Self {
            source: Source::Plain(reader),
            call,
            name: "the input".into(),
            damage: Damage::Error,
            max_record_bytes: 1 << 30,
            buffer: Vec::new(),
            start: 0,
            at: 0,
            at_end: false,
            failed: None,
            done: false,
            records: 0,
            skipped: 0,
        }
    }

    /// The compression of the file. Positions in errors are those of the uncompressed bytes.
    ///
    /// ```
    /// use ragged_data::tf::{Compression, RecordReader};
    /// let mut reader = RecordReader::new(&b"not compressed"[..]).compression(Compression::Gzip);
    /// assert!(reader.next().unwrap().is_err());
    /// ```
    pub fn compression(mut self, compression: Compression) -> Self {
        let source = match std::mem::replace(&mut self.source, Source::Taken) {
            Source::Plain(r) => r,
            Source::Gzip(r) => r.into_inner(),
            Source::Zlib(r) => r.into_inner(),
            Source::Taken => return self,
        };
        self.source = match compression {
            Compression::None => Source::Plain(source),
            Compression::Gzip => Source::Gzip(Box::new(MultiGzDecoder::new(source))),
            Compression::Zlib => Source::Zlib(Box::new(ZlibDecoder::new(source))),
        };
        self
    }

    /// What is made of damaged records.
    ///
    /// ```
    /// use ragged_data::tf::{Damage, RecordReader};
    /// assert!(RecordReader::new(&b"short"[..]).damage(Damage::Skip).next().is_none());
    /// ```
    pub fn damage(mut self, damage: Damage) -> Self {
        self.damage = damage;
        self
    }

    /// The most bytes of a record; by default 2^30. A longer one is an error, or skipped as damaged.
    ///
    /// ```
    /// use ragged_data::tf::RecordReader;
    /// let reader = RecordReader::new(&b""[..]).max_record_bytes(1 << 20);
    /// # let _ = reader;
    /// ```
    pub fn max_record_bytes(mut self, bytes: u64) -> Self {
        self.max_record_bytes = bytes;
        self
    }

    /// Damaged places that were skipped so far: records, or stretches of bytes without one.
    ///
    /// ```
    /// use ragged_data::tf::RecordReader;
    /// assert_eq!(RecordReader::new(&b""[..]).skipped(), 0);
    /// ```
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The bytes that are read and not used.
    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads until there are `n` unused bytes, or the input ends.
    fn fill(&mut self, n: usize) {
        /// Bytes of a read.
        const PART: u64 = 256 << 10;
        if self.rest().len() >= n || self.at_end {
            return;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        while self.buffer.len() < n && !self.at_end {
            let filled = self.buffer.len();
            let read = self.source.by_ref().take(PART).read_to_end(&mut self.buffer);
            self.at_end = self.buffer.len() < filled + PART as usize;
            if let Err(e) = read {
                self.failed = Some(e.to_string());
                self.at_end = true;
            }
        }
    }

    fn advance(&mut self, n: usize) {
        self.start += n;
        self.at += n as u64;
    }

    /// The record at the position; none at the end. An error says what is wrong with it, and whether the length can be
    /// trusted.
    fn parse(&mut self) -> Result<Option<usize>, (String, Option<usize>)> {
        self.fill(HEADER);
        let Some(&[a, b, c, d, e, f, g, h]) = self.rest().first_chunk() else {
            return match self.rest().len() {
                0 => Ok(None),
                n => Err((format!("it ends after {n} of the {HEADER} bytes of a header"), None)),
            };
        };
        let length = [a, b, c, d, e, f, g, h];
        if checksum(&self.rest()[8..]) != Some(masked(&length)) {
            return Err(match self.rest().len() < HEADER {
                true => (format!("it ends after {} of the {HEADER} bytes of a header", self.rest().len()), None),
                false => ("its length does not have its checksum".into(), None),
            });
        }
        let length = u64::from_le_bytes(length);
        if length > self.max_record_bytes {
            let most = self.max_record_bytes;
            return Err((
                format!("its {length} bytes are above the limit of {most} bytes: see max_record_bytes"),
                None,
            ));
        }
        let length = length as usize;
        let whole = HEADER + length + FOOTER;
        self.fill(whole);
        let Some(record) = self.rest().get(HEADER..whole) else {
            let there = self.rest().len().saturating_sub(HEADER).min(length);
            return Err((format!("it ends after {there} of {length} bytes, or in their checksum"), None));
        };
        match checksum(&record[length..]) == Some(masked(&record[..length])) {
            true => Ok(Some(length)),
            false => Err(("its content does not have its checksum".into(), Some(whole))),
        }
    }

    fn error(&self, what: &str) -> Error {
        let (name, record, at) = (&self.name, self.records + self.skipped, self.at);
        match &self.failed {
            Some(failed) => self.call.io(format!("{name} cannot be read at byte {at}: {failed}")),
            None => self.call.io(format!("{name}, record {record} at byte {at}: {what}")),
        }
    }

    fn end(&mut self, error: Error) -> Option<Result<Vec<u8>>> {
        self.done = true;
        Some(Err(error))
    }
}

impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        // Whether the position is in a stretch that is already counted as damaged.
        let mut lost = false;
        while !self.done {
            match self.parse() {
                Ok(Some(length)) => {
                    let record = self.rest()[HEADER..HEADER + length].to_vec();
                    self.advance(HEADER + length + FOOTER);
                    self.records += 1;
                    return Some(Ok(record));
                }
                Ok(None) => {
                    let failed = self.failed.is_some();
                    self.done = true;
                    return failed.then(|| Err(self.error("")));
                }
                Err((what, _)) if self.damage == Damage::Error => {
                    let error = self.error(&what);
                    return self.end(error);
                }
                Err((_, Some(whole))) => {
                    self.advance(whole);
                    self.skipped += u64::from(!lost);
                    lost = false;
                }
                Err((_, None)) => {
                    self.skipped += u64::from(!lost);
                    lost = true;
                    let n = self.rest().len().min(1);
                    self.advance(n);
                }
            }
        }
        None
    }
}
