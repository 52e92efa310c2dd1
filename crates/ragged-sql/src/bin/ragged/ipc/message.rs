//! Messages of Arrow IPC whose lengths fit the file.

use std::io::{Read, Seek};

use datafusion::arrow::ipc::{self, Block, BodyCompressionMethod, CompressionType, MessageHeader, MetadataVersion};

use super::{PREFIX, first_line, read_at};

/// The marker before the length of a message.
const CONTINUES: [u8; 4] = [0xff; 4];

/// Most rows of a batch: those of a tensor.
const MOST_ROWS: i64 = u32::MAX as i64 - 1;

/// The bytes before the metadata of a message of a stream, and those of the metadata; `None` at the end.
pub fn length<R: Read + Seek>(file: &mut R, at: u64, bytes: u64) -> Result<Option<(u64, u64)>, String> {
    let left = bytes - at;
    if left == 0 {
        return Ok(None);
    }
    let cut = || format!("at byte {at}: the file is cut");
    let mut prefix = PREFIX / 2;
    let mut length = read_at(file, at, prefix.min(left))?;
    if length == CONTINUES {
        length = read_at(file, at + prefix, prefix.min(left - prefix))?;
        prefix = PREFIX;
    }
    let length = i32::from_le_bytes(length.try_into().map_err(|_| cut())?);
    match u64::try_from(length) {
        Ok(0) => Ok(None),
        Ok(length) if length <= left - prefix => Ok(Some((prefix, length))),
        _ => Err(format!(
            "at byte {at}: the metadata of a message is of {length} bytes, of which the file has {}",
            left - prefix
        )),
    }
}

/// What a message is, and how many rows it has if it is a batch. The block lies within the file.
pub fn check<R: Read + Seek>(
    file: &mut R,
    block: &Block,
    version: MetadataVersion,
) -> Result<(MessageHeader, Option<u64>), String> {
    // As the caller has compared with the size of the file.
    let (offset, metadata) = (block.offset() as u64, block.metaDataLength() as u64);
    let bytes = read_at(file, offset, metadata)?;
    let prefix = if bytes.starts_with(&CONTINUES) { PREFIX } else { PREFIX / 2 } as usize;
    let message = bytes.get(prefix..).ok_or("it is cut")?;
    let message = ipc::root_as_message(message).map_err(|error| first_line(&error))?;
    if version != MetadataVersion::V1 && message.version() != version {
        return Err("its version is not that of the schema".into());
    }
    let body = u64::try_from(message.bodyLength()).ok().filter(|body| *body <= block.bodyLength() as u64);
    let body =
        body.ok_or_else(|| format!("its body is of {} bytes, where {} are", message.bodyLength(), block.bodyLength()))?;
    let (batch, rows) = match message.header_type() {
        MessageHeader::RecordBatch => {
            let batch = message.header_as_record_batch().ok_or("it has no batch")?;
            (batch, Some(batch.length()))
        }
        MessageHeader::DictionaryBatch => {
            let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
            (dictionary.ok_or("it has no dictionary")?, None)
        }
        _ => return Err("it is neither a batch nor a dictionary".into()),
    };
    let is_length = |length: i64| (0..=MOST_ROWS).contains(&length);
    if !is_length(batch.length()) {
        return Err(format!("it has {} rows, of which a batch has at most {MOST_ROWS}", batch.length()));
    }
    for (k, node) in batch.nodes().into_iter().flatten().enumerate() {
        if !is_length(node.length()) || !(0..=node.length()).contains(&node.null_count()) {
            return Err(format!("array {k} has {} values, of which {} are NULL", node.length(), node.null_count()));
        }
    }
    let codec = match batch.compression() {
        Some(compression) if compression.method() == BodyCompressionMethod::BUFFER => Some(compression.codec()),
        Some(_) => return Err("its compression is not known".into()),
        None => None,
    };
    let start = offset + metadata;
    for (k, buffer) in batch.buffers().into_iter().flatten().enumerate() {
        let (at, length) = (buffer.offset(), buffer.length());
        let end = (at >= 0 && length >= 0).then(|| at.checked_add(length)).flatten();
        if end.is_none_or(|end| end as u64 > body) {
            return Err(format!("buffer {k} has {length} bytes at byte {at} of a body of {body} bytes"));
        }
        if let Some(codec) = codec.filter(|_| length > 0) {
            decompressed(file, start + at as u64, length as u64, codec).map_err(|why| format!("buffer {k}: {why}"))?;
        }
    }
    Ok((message.header_type(), rows.map(|rows| rows as u64)))
}

/// Bytes of the head of a frame of Zstandard.
const HEAD: u64 = 18;

/// Bytes that a byte of LZ4 stands for at most.
const LZ4_MOST: u64 = 255;

/// Bytes of a block of Zstandard, and the least that it takes.
const ZSTD_BLOCK: (u64, u64) = (1 << 17, 3);

/// Compares the length that a compressed buffer says it has with what its bytes can stand for.
fn decompressed<R: Read + Seek>(file: &mut R, at: u64, bytes: u64, codec: CompressionType) -> Result<(), String> {
    let head = read_at(file, at, bytes.min(PREFIX + HEAD))?;
    let Some((length, frame)) = head.split_first_chunk::<8>() else {
        return Err(format!("{bytes} bytes are no compressed bytes"));
    };
    let length = i64::from_le_bytes(*length);
    // -1: not compressed.
    if length == -1 {
        return Ok(());
    }
    let packed = bytes - PREFIX;
    let most = match codec {
        CompressionType::LZ4_FRAME => packed.saturating_mul(LZ4_MOST),
        _ => match zstd::zstd_safe::get_frame_content_size(frame) {
            Ok(Some(content)) => content.min((packed / ZSTD_BLOCK.1 + 1).saturating_mul(ZSTD_BLOCK.0)),
            _ => (packed / ZSTD_BLOCK.1 + 1).saturating_mul(ZSTD_BLOCK.0),
        },
    };
    if u64::try_from(length).is_ok_and(|length| length <= most) {
        return Ok(());
    }
    Err(format!("{packed} compressed bytes are said to be {length} bytes, and are at most {most}"))
}
