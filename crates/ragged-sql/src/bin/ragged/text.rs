//! Files of lines, CSV and JSON, that this program reads by itself: compressed ones, and those whose fault is sought.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json;
use ragged_data::json::order_fields;

use crate::counted::Count;

/// A format of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Csv,
    Json,
}

/// The end of the name of a file that is compressed, if it is.
pub fn compression(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    ["gz", "zst"].into_iter().find(|known| *known == extension)
}

/// The lines of a file.
///
/// # Errors
/// A file that cannot be read.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    decompressed(path, File::open(path)?)
}

/// The lines of a file, whose bytes are counted as they are read.
///
/// # Errors
/// A file that cannot be read.
pub fn open_counted(path: &Path, count: &Arc<Count>) -> io::Result<Box<dyn BufRead + Send>> {
    decompressed(path, CountedFile { file: File::open(path)?, count: count.clone() })
}

/// A file that counts its bytes as they are read.
struct CountedFile {
    file: File,
    count: Arc<Count>,
}

impl Read for CountedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.count.add(read);
        Ok(read)
    }
}

fn decompressed(path: &Path, file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let file = BufReader::with_capacity(1 << 16, file);
    Ok(match compression(path) {
        Some("gz") => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(file))),
        Some(_) => Box::new(BufReader::new(zstd::Decoder::with_buffer(file)?)),
        None => Box::new(file),
    })
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The rows of lines.
///
/// # Errors
/// Lines that cannot be read. The items have the faults of rows.
pub fn batches(
    lines: Box<dyn BufRead + Send>,
    text: Text,
    schema: &SchemaRef,
    rows: usize,
) -> Result<Batches, ArrowError> {
    Ok(match text {
        Text::Csv => Box::new(
            csv::ReaderBuilder::new(schema.clone()).with_header(true).with_batch_size(rows).build_buffered(lines)?,
        ),
        Text::Json => Box::new(json::ReaderBuilder::new(schema.clone()).with_batch_size(rows).build(lines)?),
    })
}

/// The types of all rows of files.
///
/// # Errors
/// A fault of a file, with its name; other columns.
pub fn schema(files: &[PathBuf], text: Text) -> Result<Schema, String> {
    let failed = |error: ArrowError| {
        let found = files.iter().find_map(|file| fault(file, text, None));
        found.unwrap_or_else(|| format!("{}: {}", names(files), without_kind(&error.to_string())))
    };
    match text {
        Text::Json => {
            let (schema, _) = json::reader::infer_json_schema(all(files).map_err(failed)?, None).map_err(failed)?;
            Ok(order_fields(all(files).map_err(failed)?, &schema))
        }
        Text::Csv => {
            let mut merged: Option<Schema> = None;
            for file in files {
                let next = of_csv(file).map_err(failed)?;
                merged = Some(match merged {
                    None => next,
                    Some(before) => widened(&before, &next)
                        .ok_or_else(|| format!("{} and {} have other columns", name(&files[0]), name(file)))?,
                });
            }
            Ok(merged.unwrap_or_else(Schema::empty))
        }
    }
}

/// The lines of files, one after the other.
fn all(files: &[PathBuf]) -> Result<Box<dyn BufRead + Send>, ArrowError> {
    let mut all: Box<dyn BufRead + Send> = Box::new(Cursor::new(""));
    for file in files {
        all = Box::new(all.chain(Cursor::new("\n")).chain(open(file)?));
    }
    Ok(all)
}

fn of_csv(file: &Path) -> Result<Schema, ArrowError> {
    Ok(csv::reader::Format::default().with_header(true).infer_schema(open(file)?, None)?.0)
}

/// The types that hold the values of both; `None` if the names differ.
fn widened(a: &Schema, b: &Schema) -> Option<Schema> {
    let both = |(a, b): (&Arc<Field>, &Arc<Field>)| {
        let kind = match (a.data_type(), b.data_type()) {
            (a, b) if a == b => a.clone(),
            (DataType::Null, other) | (other, DataType::Null) => other.clone(),
            (DataType::Int64, DataType::Float64) | (DataType::Float64, DataType::Int64) => DataType::Float64,
            _ => DataType::Utf8,
        };
        (a.name() == b.name()).then(|| Field::new(a.name(), kind, true))
    };
    let fields = a.fields().iter().zip(b.fields()).map(both).collect::<Option<Vec<_>>>()?;
    (a.fields().len() == b.fields().len()).then(|| Schema::new(fields))
}

/// The first fault of a file, with its name, and its line if it is known: of rows of these types, or of the types.
pub fn fault(path: &Path, text: Text, schema: Option<&SchemaRef>) -> Option<String> {
    let why = match (text, schema) {
        (_, _) if is_compressed(path) => {
            "the file is compressed; its name must end in .gz or .zst, as that of one that is".to_owned()
        }
        (Text::Csv, None) => of_csv(path).err()?.to_string(),
        (Text::Csv, Some(schema)) => {
            match open(path).map_err(Into::into).and_then(|lines| batches(lines, text, schema, CHUNK)) {
                Ok(mut batches) => batches.find_map(Result::err)?.to_string(),
                Err(error) => error.to_string(),
            }
        }
        (Text::Json, None) => of_json_types(path)?,
        (Text::Json, Some(schema)) => of_json_rows(path, schema)?,
    };
    Some(format!("{}: {}", name(path), without_kind(&why)))
}

/// Whether a file that has not the name of a compressed one is one.
fn is_compressed(path: &Path) -> bool {
    let mut first = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    compression(path).is_none() && read.is_ok() && (first[..2] == [0x1f, 0x8b] || first == [0x28, 0xb5, 0x2f, 0xfd])
}

fn of_json_types(path: &Path) -> Option<String> {
    let mut lines = match open(path) {
        Ok(lines) => Numbered { lines, ends: 0, is_within: false },
        Err(error) => return Some(error.to_string()),
    };
    let error = json::reader::infer_json_schema(&mut lines, None).err()?;
    let why = without_kind(&error.to_string()).replace(" at line 1 column ", " at column ");
    Some(format!("line {}: {why}", lines.line()))
}

/// Lines that are tried together.
const CHUNK: usize = 1024;

fn of_json_rows(path: &Path, schema: &SchemaRef) -> Option<String> {
    let try_lines = |lines: &[u8]| -> Result<(), ArrowError> {
        let mut decoder = json::ReaderBuilder::new(schema.clone()).with_batch_size(CHUNK + 1).build_decoder()?;
        decoder.decode(lines)?;
        decoder.flush().map(|_| ())
    };
    let mut lines = match open(path) {
        Ok(lines) => lines,
        Err(error) => return Some(error.to_string()),
    };
    let mut first = 1;
    loop {
        let mut chunk = Vec::new();
        let mut ends = vec![0];
        while ends.len() <= CHUNK {
            match lines.read_until(b'\n', &mut chunk) {
                Ok(0) => break,
                Ok(_) => ends.push(chunk.len()),
                Err(error) => return Some(format!("line {}: {error}", first + ends.len() - 1)),
            }
        }
        if let Err(error) = try_lines(&chunk) {
            let of_line = |k: usize| Some((k, try_lines(&chunk[ends[k]..ends[k + 1]]).err()?));
            let found = (0..ends.len() - 1).find_map(of_line);
            return Some(match found {
                Some((k, error)) => format!("line {}: {}", first + k, without_kind(&error.to_string())),
                None => error.to_string(),
            });
        }
        if ends.len() == 1 {
            return None;
        }
        first += ends.len() - 1;
    }
}

/// Lines that are counted as they are read.
struct Numbered<R> {
    lines: R,
    ends: usize,
    is_within: bool,
}

impl<R> Numbered<R> {
    /// The line that has been read last.
    fn line(&self) -> usize {
        self.ends + usize::from(self.is_within)
    }
}

impl<R: BufRead> Read for Numbered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Numbered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.lines.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // What is consumed has been read, so that it is in the buffer.
        if let Ok(read) = self.lines.fill_buf()
            && count > 0
        {
            self.ends += read[..count].iter().filter(|byte| **byte == b'\n').count();
            self.is_within = read[count - 1] != b'\n';
        }
        self.lines.consume(count);
    }
}

/// The message of an error of Arrow without its kind.
pub fn without_kind(message: &str) -> &str {
    let kinds = ["Csv error: ", "Json error: ", "Parser error: ", "Io error: "];
    kinds.iter().find_map(|kind| message.strip_prefix(kind)).unwrap_or(message)
}

/// The name of a file as messages have it: below the current folder, from there.
pub fn name(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

fn names(files: &[PathBuf]) -> String {
    files.iter().map(|file| name(file)).collect::<Vec<_>>().join(", ")
}
