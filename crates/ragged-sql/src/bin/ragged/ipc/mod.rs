//! Files of Arrow IPC: with a footer, or streams.
//!
//! Lengths and offsets are compared with the size of the file before memory is allocated for what they describe.

mod batches;
mod message;
mod table;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::convert::fb_to_schema;
use datafusion::arrow::ipc::{self, Block, MessageHeader, MetadataVersion};

use crate::guarded::guarded;

pub use batches::Batches;
pub use table::table;

/// The mark at both ends of a file with a footer.
const MARK: [u8; 6] = *b"ARROW1";

/// The length of the footer, and the mark.
const END: u64 = 10;

/// Bytes before the metadata of a message: a marker and the length.
const PREFIX: u64 = 8;

/// Where the messages of a file are.
#[derive(Debug, Clone)]
pub struct Contents {
    pub schema: SchemaRef,
    version: MetadataVersion,
    /// In the order in which they are read: of a file with a footer, the dictionaries first.
    messages: Vec<Message>,
    pub bytes: u64,
}

/// A message with a body.
#[derive(Debug, Clone, Copy)]
struct Message {
    block: Block,
    /// Of a batch; `None` for a dictionary.
    rows: Option<u64>,
}

impl Contents {
    /// Rows of all batches.
    pub fn rows(&self) -> u64 {
        self.messages.iter().filter_map(|message| message.rows).sum()
    }

    /// How many messages there are: dictionaries and batches.
    #[cfg(test)]
    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// Whether batches can be read without those before them: the dictionaries come first.
    fn is_divisible(&self) -> bool {
        self.messages.is_sorted_by_key(|message| message.rows.is_some())
    }
}

/// The schema and the places of the batches of a file.
///
/// # Errors
/// The fault of the file, with its place: a byte, and the message.
pub fn open(path: &Path) -> Result<Contents, String> {
    contents(&mut File::open(path).map_err(|error| error.to_string())?)
}

/// The same of any source of bytes.
///
/// # Errors
/// Those of [`open`].
pub fn contents<R: Read + Seek>(file: &mut R) -> Result<Contents, String> {
    let failed = |error: io::Error| error.to_string();
    let bytes = file.seek(SeekFrom::End(0)).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let mut first = Vec::new();
    file.by_ref().take(MARK.len() as u64).read_to_end(&mut first).map_err(failed)?;
    if first == MARK { of_footer(file, bytes) } else { of_stream(file, bytes) }
}

fn of_footer<R: Read + Seek>(file: &mut R, bytes: u64) -> Result<Contents, String> {
    let cut = || "the file is cut: its end lacks the mark of Arrow files".to_owned();
    let end = read_at(file, bytes.checked_sub(END).ok_or_else(cut)?, END)?;
    if end[4..] != MARK {
        return Err(cut());
    }
    let length = i64::from(i32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    // The file begins with the mark as well, and two bytes of padding.
    let most = bytes.saturating_sub(END + PREFIX);
    let length = u64::try_from(length).ok().filter(|length| (1..=most).contains(length)).ok_or_else(|| {
        format!("the footer, at byte {}: its length is {length} bytes, of a file of {bytes}", bytes - END)
    })?;
    let start = bytes - END - length;
    let at_footer = |why: String| format!("the footer, at byte {start}: {why}");
    let footer = read_at(file, start, length)?;
    let footer = ipc::root_as_footer(&footer).map_err(|error| at_footer(first_line(&error)))?;
    let schema = footer.schema().ok_or_else(|| at_footer("it has no schema".into()))?;
    let schema = schema_of(schema).map_err(at_footer)?;
    let version = footer.version();
    let dictionaries = footer.dictionaries().into_iter().flatten().map(|block| (MessageHeader::DictionaryBatch, block));
    let batches = footer.recordBatches().into_iter().flatten().map(|block| (MessageHeader::RecordBatch, block));
    let mut messages = Vec::new();
    for (k, (header, block)) in dictionaries.chain(batches).enumerate() {
        let at = |why: String| at_message(k, block.offset(), &why);
        let (offset, metadata, body) = (block.offset(), i64::from(block.metaDataLength()), block.bodyLength());
        let end = (offset >= PREFIX as i64 && metadata > PREFIX as i64 && body >= 0)
            .then(|| offset.checked_add(metadata).and_then(|end| end.checked_add(body)))
            .flatten();
        if end.is_none_or(|end| end as u64 > start) {
            return Err(at(format!(
                "the footer gives it {metadata} bytes of metadata and {body} of a body, and the footer begins at byte {start}"
            )));
        }
        let (found, rows) = message::check(file, block, version).map_err(at)?;
        if found != header {
            return Err(at("it is of another kind than the footer says".into()));
        }
        messages.push(Message { block: *block, rows });
    }
    Ok(Contents { schema, version, messages, bytes })
}

fn of_stream<R: Read + Seek>(file: &mut R, bytes: u64) -> Result<Contents, String> {
    let mut contents: Option<Contents> = None;
    let mut at = 0;
    let mut count = 0;
    while let Some((prefix, metadata)) = message::length(file, at, bytes)? {
        let of = |why: String| at_message(count, at as i64, &why);
        let bytes_of = read_at(file, at + prefix, metadata)?;
        let found = ipc::root_as_message(&bytes_of).map_err(|error| of(first_line(&error)))?;
        let behind = at + prefix + metadata;
        let body = u64::try_from(found.bodyLength()).ok().filter(|body| *body <= bytes - behind).ok_or_else(|| {
            of(format!("its body is of {} bytes, of which the file has {}", found.bodyLength(), bytes - behind))
        })?;
        match &mut contents {
            None => {
                let schema =
                    found.header_as_schema().ok_or_else(|| of("no schema: this is no file of Arrow".into()))?;
                let schema = schema_of(schema).map_err(of)?;
                contents = Some(Contents { schema, version: found.version(), messages: Vec::new(), bytes });
            }
            Some(contents) => {
                // The length of metadata was an i32, that of the body an i64.
                let block = Block::new(at as i64, (prefix + metadata) as i32, body as i64);
                let (_, rows) = message::check(file, &block, contents.version).map_err(of)?;
                contents.messages.push(Message { block, rows });
            }
        }
        count += 1;
        at = behind + body;
    }
    contents.ok_or_else(|| "there is no schema: this is no file of Arrow".into())
}

fn schema_of(schema: ipc::Schema<'_>) -> Result<SchemaRef, String> {
    if schema.fields().is_none() {
        return Err("its schema has no fields".into());
    }
    if !schema.endianness().equals_to_target_endianness() {
        return Err("its numbers have the other order of bytes".into());
    }
    // Types that are not known are panics of the conversion.
    guarded(|| fb_to_schema(schema)).map(Arc::new).map_err(|why| format!("its schema is {why}"))
}

/// Bytes of the file, which has them.
fn read_at<R: Read + Seek>(file: &mut R, at: u64, bytes: u64) -> Result<Vec<u8>, String> {
    let mut read = || -> io::Result<Vec<u8>> {
        let mut out = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut out)?;
        Ok(out)
    };
    read().map_err(|error| format!("at byte {at}: {error}"))
}

fn at_message(k: usize, offset: i64, why: &str) -> String {
    format!("message {}, at byte {offset}: {why}", k + 1)
}

/// An error in one line.
fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end().to_owned()
}
