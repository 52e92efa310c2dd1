//! Files of records: TFRecord.
//!
//! A record is its length in 8 bytes, a checksum of these in 4, the bytes, and their checksum in 4. Checksums are
//! CRC-32C, rotated and offset.

mod reader;
mod writer;

pub use reader::{Damage, RecordReader};
pub use writer::RecordWriter;

/// The compression of a file of records.
///
/// ```
/// use ragged_data::tf::Compression;
/// assert_eq!(Compression::default(), Compression::None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    #[default]
    None,
    /// A gzip file. TensorFlow: `"GZIP"`.
    Gzip,
    /// A zlib stream. TensorFlow: `"ZLIB"`.
    Zlib,
}

/// Bytes of a record before its content.
const HEADER: usize = 12;
/// Bytes of a record after its content.
const FOOTER: usize = 4;

/// The checksum that files have of these bytes.
fn masked(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// The first 4 bytes as a checksum.
fn checksum(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|&four| u32::from_le_bytes(four))
}
