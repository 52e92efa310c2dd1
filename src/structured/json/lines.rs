//! A streaming reader of JSON lines into records.

use std::fs::File;
use std::io::Read;
use std::panic::Location;
use std::path::Path;

use memchr::{memchr, memrchr};

use super::assemble::{Dims, Dtypes};
use super::batch::Parsing;
use super::column::{Column, Data};
use super::growth::Growth;
use super::json_type::JsonType;
use super::misfit::Misfit;
use super::options::JsonOptions;
use crate::device::Device;
use crate::error::{Error, Result, caller, here};
use crate::structured::{FieldValue, StructuredTensor};

const OP: &str = "JsonLines";

/// Reader of JSON lines: one record, in braces, per line. Fields may hold numbers, truth values, strings, lists of any
/// depth, and records.
///
/// The reader holds one batch of text in memory and parses it straight into columns, in parallel. Types are inferred
/// unless a [schema](Self::with_schema) is given: the first record names the fields of all. Integers are i64 (u64 if one
/// needs it), floats f64, a field of both f64. A list field that is always empty has elements of f32. An empty line is
/// no record.
///
/// A line does not fit if it is not valid JSON, if a field is missing, unknown, null or given twice, or if a value has another
/// type. That is an error with the line and the path, unless such lines are [skipped](Self::skip_misfits); nulls and
/// missing fields can be [default values](Self::default_nulls) instead. An integer
/// of more than 64 bits does not fit, nor does text that is nested deeper than 128 levels. Integers beyond 2^53 are
/// rounded in a field that also holds floats, and integers beyond 2^24 in a field of f32. `-0` is the integer 0, and
/// `-0.0` a float.
///
/// ```
/// use ragged::{Device, JsonLines};
/// let text = r#"{"id": 1, "words": ["a", "b"]}
/// {"id": 2, "words": []}"#;
/// let records = JsonLines::new(text.as_bytes()).read(&Device::cpu())?;
/// assert_eq!(records.shape(), [Some(2)]);
/// assert_eq!(records.field_value("words")?.tensor()?.to_string(), "<ragged.RaggedTensor [[b'a', b'b'], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonLines<R> {
    reader: R,
    batch_bytes: usize,
    schema: JsonType,
    parsing: Parsing,
    /// Text that is read, but not parsed: at the start of a batch, its first part.
    text: Vec<u8>,
    at_end: bool,
    /// Lines parsed.
    lines: u64,
    skipped: u64,
    misfits: Vec<Misfit>,
}

impl JsonLines<File> {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be opened.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = File::open(path).map_err(|e| io_error(&format!("{} cannot be opened: {e}", path.display())));
        Ok(Self::new(opened.map_err(here())?))
    }
}

#[track_caller]
fn io_error(what: &str) -> Error {
    Error::Io { op: OP, what: what.into(), location: caller() }
}

impl<R: Read> JsonLines<R> {
    /// Reads from a reader, which needs no buffer of its own.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            batch_bytes: 8 << 20,
            schema: JsonType::Inferred,
            parsing: Parsing::default(),
            text: Vec::new(),
            at_end: false,
            lines: 0,
            skipped: 0,
            misfits: Vec::new(),
        }
    }

    /// Sets the type of the records: a [`JsonType::Record`], or a list of it, as
    /// [`StructuredTensor::schema`] gives it. Parts that are [`JsonType::Inferred`] are inferred.
    #[must_use]
    pub fn with_schema(mut self, schema: JsonType) -> Self {
        self.schema = schema;
        self
    }

    /// Sets the schema and what becomes of nulls and misfits, as the methods below do one by one.
    ///
    /// ```
    /// use ragged::{Device, JsonLines, JsonOptions};
    /// let text = "{\"id\": 1}\n{\"id\": null}\n{\"id\": [2]}\n";
    /// let options = JsonOptions::default().default_nulls(true).skip_misfits(true);
    /// let records = JsonLines::new(text.as_bytes()).with_options(options).read(&Device::cpu())?;
    /// assert_eq!(records.field_value("id")?.to_string(), "tensor([1, 0], shape=(2,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn with_options(mut self, options: JsonOptions) -> Self {
        self.parsing = options.parsing();
        self.schema = options.schema;
        self
    }

    /// Skips lines that do not fit, and [counts](Self::skipped) them, instead of ending with an error.
    #[must_use]
    pub fn skip_misfits(mut self) -> Self {
        self.parsing.skip = true;
        self
    }

    /// Skips fields that the schema, or else the first record, does not have.
    #[must_use]
    pub fn ignore_unknown_fields(mut self) -> Self {
        self.parsing.rules.ignore_unknown = true;
        self
    }

    /// Reads null, and a field that is missing, as the default value of its type: 0, false, the empty string, the empty
    /// list, the record of default values. Without this they do not fit.
    ///
    /// A null before any value of an inferred field does not fit, since its type is not known: give a
    /// [schema](Self::with_schema). Without a schema the first record names all fields.
    ///
    /// ```
    /// use ragged::{DType, Device, JsonLines, JsonType};
    /// let text = r#"{"id": 1, "words": null}
    /// {"id": null, "words": ["a", null]}
    /// {}"#;
    /// let schema = JsonType::record([("id", JsonType::from(DType::U32)), ("words", JsonType::list(DType::Str))]);
    /// let records = JsonLines::new(text.as_bytes()).with_schema(schema).default_nulls().read(&Device::cpu())?;
    /// assert_eq!(records.field_value("id")?.to_string(), "tensor([1, 0, 0], shape=(3,), dtype=u32)");
    /// assert_eq!(records.field_value("words")?.to_string(), "<ragged.RaggedTensor [[], [b'a', b''], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn default_nulls(mut self) -> Self {
        self.parsing.rules.default_nulls = true;
        self
    }

    /// Sets the size of a batch of text, 8 MiB by default. A batch has at least one line, however long.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes.max(1);
        self
    }

    /// The schema: as given, or as inferred from the records that the last [`read`](Self::read) or the first batch of
    /// [`batches`](Self::batches) returned.
    pub fn schema(&self) -> &JsonType {
        &self.schema
    }

    /// Number of lines read so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Number of lines that were skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The first 100 lines that were skipped.
    pub fn misfits(&self) -> &[Misfit] {
        &self.misfits
    }

    /// Reads all lines as one list of records.
    ///
    /// # Errors
    /// A line that does not fit, with its number and the path; text without a record and without a schema; a failed
    /// read; more values than the device can hold, or than host memory can; a dtype that the device lacks, such as f64:
    /// give a schema with another one.
    #[track_caller]
    pub fn read(&mut self, device: &Device) -> Result<StructuredTensor> {
        let call = caller();
        let mut column = self.column().map_err(here())?;
        let mut growth = Growth::new(OP, device.backend());
        while self.next_batch(&mut column, &mut growth).map_err(|e| e.at(call))? {}
        self.schema = JsonType::of(&column);
        records(column, device).map_err(|e| e.at(call))
    }

    /// Reads the lines in batches: each is a list of the records of one batch of text.
    ///
    /// The types of the first batch hold for all: a float in a field of i64 does not fit. An iterator ends after an
    /// error.
    ///
    /// ```
    /// use ragged::{Device, JsonLines, StructuredTensor};
    /// let text = "{\"x\": 1}\n{\"x\": 2}\n{\"x\": 3}\n";
    /// let mut lines = JsonLines::new(text.as_bytes()).batch_bytes(18);
    /// let batches = lines.batches(&Device::cpu()).collect::<ragged::Result<Vec<StructuredTensor>>>()?;
    /// assert_eq!(batches.iter().map(StructuredTensor::shape).collect::<Vec<_>>(), [[Some(2)], [Some(1)]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn batches(&mut self, device: &Device) -> Batches<'_, R> {
        Batches { lines: self, device: device.clone(), call: caller(), is_done: false }
    }

    /// An empty column of the schema.
    #[track_caller]
    fn column(&self) -> Result<Column> {
        let column = match &self.schema {
            JsonType::Inferred | JsonType::Record(_) => self.schema.column(),
            JsonType::List(of) if matches!(**of, JsonType::Record(_)) => of.column(),
            other => Err(format!("the schema must be a record, but is {other}")),
        };
        column.map_err(|what| Error::argument(OP, what)).map_err(here())
    }

    /// Appends the records of the next batch of text to the column; false at the end of the text.
    #[track_caller]
    fn next_batch(&mut self, column: &mut Column, growth: &mut Growth<'_>) -> Result<bool> {
        let mut of_text = growth.sibling();
        let len = self.fill(&mut of_text).map_err(here())?;
        if len == 0 {
            return Ok(false);
        }
        let bom: &[u8] = b"\xef\xbb\xbf";
        let start = if self.lines == 0 && self.text.starts_with(bom) { bom.len() } else { 0 };
        let outcome = self.parsing.parse(&self.text[start..len], column, growth);
        let before = self.lines;
        let moved = |m: Misfit| Misfit { line: m.line + before, ..m };
        self.lines += outcome.lines;
        self.skipped += outcome.skipped;
        let room = super::batch::KEPT - self.misfits.len();
        self.misfits.extend(outcome.misfits.into_iter().take(room).map(moved));
        if outcome.failure.is_some() || outcome.refused.is_some() {
            self.at_end = true;
            self.text = Vec::new();
        }
        if let Some(refused) = outcome.refused {
            return Err(refused);
        }
        if let Some(Misfit { line, path, what }) = outcome.failure.map(moved) {
            return Err(Error::Record { op: OP, line: Some(line), path, what, location: caller() });
        }
        self.text.drain(..len);
        Ok(true)
    }

    /// Reads until the text holds a batch of whole lines, or the rest; returns its length.
    #[track_caller]
    fn fill(&mut self, growth: &mut Growth<'_>) -> Result<usize> {
        const CHUNK: usize = 64 << 10;
        let mut searched = self.batch_bytes;
        growth.up_to(self.text.len() as u64)?;
        loop {
            if let Some(first) = self.text.get(..self.batch_bytes) {
                let later = || memchr(b'\n', &self.text[searched..]).map(|at| searched + at);
                if let Some(end) = memrchr(b'\n', first).or_else(later) {
                    return Ok(end + 1);
                }
                searched = self.text.len();
            }
            if self.at_end {
                return Ok(self.text.len());
            }
            // The text at most doubles in one step, so that a short text takes little memory.
            let left = self.batch_bytes.saturating_sub(self.text.len());
            let want = if left == 0 { self.text.len() } else { left.min(self.text.len()) }.max(CHUNK);
            growth.up_to((self.text.len() + want) as u64)?;
            let mut reader = Bounded { reader: &mut self.reader, left: want };
            match reader.read_to_end(&mut self.text) {
                Ok(0) => self.at_end = true,
                Ok(_) => {}
                Err(e) => return Err(io_error(&format!("after line {} the text cannot be read: {e}", self.lines))),
            }
        }
    }
}

/// A reader of at most `left` more bytes.
struct Bounded<'a, R> {
    reader: &'a mut R,
    left: usize,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(self.left);
        let read = self.reader.read(&mut into[..most])?;
        if read > most {
            // The standard library's adapters panic, since they rely on the contract of `Read`.
            let what = format!("the reader returned {read} bytes for a buffer of {most}");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what));
        }
        self.left -= read;
        Ok(read)
    }
}

/// Uploads a column of records.
#[track_caller]
fn records(column: Column, device: &Device) -> Result<StructuredTensor> {
    if let Data::Unknown = column.data {
        return Err(Error::argument(OP, "the text holds no record, and no schema is given"));
    }
    let dims = Dims::of_len(column.len())?;
    match column.into_field(dims, device, Dtypes::Wide).map_err(|e| e.of(OP))? {
        FieldValue::Records(records) => Ok(records),
        FieldValue::Tensor(_) => unreachable!("bug: a line is a record"),
    }
}

/// Iterator over batches of records: see [`JsonLines::batches`].
#[derive(Debug)]
pub struct Batches<'a, R> {
    lines: &'a mut JsonLines<R>,
    device: Device,
    /// Line of the call that made the iterator: errors name it.
    call: &'static Location<'static>,
    is_done: bool,
}

impl<R: Read> Batches<'_, R> {
    #[track_caller]
    fn batch(&mut self) -> Result<Option<StructuredTensor>> {
        let mut column = self.lines.column()?;
        let mut growth = Growth::new(OP, self.device.backend());
        loop {
            if !self.lines.next_batch(&mut column, &mut growth)? {
                return Ok(None);
            }
            if column.len() > 0 {
                break;
            }
        }
        self.lines.schema = JsonType::of(&column);
        records(column, &self.device).map(Some)
    }
}

impl<R: Read> Iterator for Batches<'_, R> {
    type Item = Result<StructuredTensor>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let batch = self.batch().map_err(|e| e.at(self.call)).transpose();
        self.is_done = !matches!(batch, Some(Ok(_)));
        batch
    }
}
