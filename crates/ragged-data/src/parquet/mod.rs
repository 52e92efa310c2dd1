//! Parquet files: records by column and row group.
//!
//! ```
//! use ragged::{Device, RaggedTensor, StructuredTensor};
//! use ragged_data::parquet::{self, ReadOptions};
//! let device = Device::cpu();
//! let words = RaggedTensor::from_nested([vec!["to", "be"], vec![]], &device)?.into_erased();
//! let id = RaggedTensor::from_nested([7, 8], &device)?.into_erased();
//! let records = StructuredTensor::from_fields_and_rank([("words", &words), ("id", &id)], 1)?;
//! let path = std::env::temp_dir().join("ragged-data-example.parquet");
//! parquet::write(&path, &records)?;
//! assert!(parquet::read(&path, &ReadOptions::new(), &device)?.equals(&records)?);
//! let ids = parquet::read(&path, &ReadOptions::new().columns(["id"]), &device)?;
//! assert_eq!(ids.field_names().collect::<Vec<_>>(), ["id"]);
//! # std::fs::remove_file(&path).ok();
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! Columns have the types of the [table of Arrow's types](crate::arrow#types). Pages may be compressed by Snappy, LZ4, Zstandard
//! or gzip, but not by Brotli. Only the pages of the columns and row groups that are asked for are read.

mod batches;
pub(crate) mod by_bytes;
mod options;
mod reader;
mod writer;

use std::panic::Location;
use std::path::Path;

use ragged::operation::named;
use ragged::{Device, Result, StructuredTensor};

use crate::file::{in_file, unreadable};
use reader::Reader;

pub use batches::Batches;
pub use options::{Compression, ReadOptions, WriteOptions};
pub use reader::Layout;
pub use writer::{to_bytes, write, write_with};

/// Reads records of a Parquet file, with a field for each column.
///
/// # Errors
/// A file that cannot be read, or that is damaged; a column or a row group that does not exist, with those that do; a null,
/// unless the options say what it becomes; a type that is not in the [table](crate::arrow#types); more than 2^32 - 2 values of a
/// column (read [`batches`], or fewer row groups); no memory.
///
/// # Cost
/// The pages are decoded once. Files of more than 65,536 rows ([`ReadOptions::batch_rows`]) are decoded in parts, which are
/// joined on the device by one more copy.
///
/// ```
/// use ragged::Device;
/// use ragged_data::parquet::{self, ReadOptions};
/// let e = parquet::read("no/such/file.parquet", &ReadOptions::new(), &Device::cpu()).unwrap_err();
/// assert!(e.to_string().starts_with("parquet::read: no/such/file.parquet: "));
/// ```
#[track_caller]
pub fn read(path: impl AsRef<Path>, options: &ReadOptions, device: &Device) -> Result<StructuredTensor> {
    let path = path.as_ref();
    named("parquet::read", || open(path).and_then(|file| whole(file, options, device)).map_err(in_file(path)))
}

/// Reads records of a Parquet file whose bytes are in memory; see [`read`].
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// As [`read`].
///
/// ```
/// use ragged::Device;
/// use ragged_data::parquet::{self, ReadOptions};
/// let e = parquet::from_bytes(b"PAR1".to_vec(), &ReadOptions::new(), &Device::cpu()).unwrap_err();
/// assert!(e.to_string().starts_with("parquet::from_bytes: this is no Parquet file"));
/// ```
#[track_caller]
pub fn from_bytes(
    bytes: impl AsRef<[u8]> + Send + 'static,
    options: &ReadOptions,
    device: &Device,
) -> Result<StructuredTensor> {
    named("parquet::from_bytes", || whole(bytes::Bytes::from_owner(bytes), options, device))
}

/// Reads records of a Parquet file batch by batch: an iterator of records of [`ReadOptions::batch_rows`] rows, the last ones of
/// fewer, or of [`ReadOptions::batch_bytes`] bytes.
///
/// # Errors
/// As [`read`], from this call or from the iterator, which ends after an error. A row of more than
/// [`ReadOptions::max_row_bytes`] is an error that names it, after which the rows behind it follow.
///
/// # Cost
/// The pages of a batch are decoded when it is asked for. By bytes, the host holds at most three times the bytes of a batch, or
/// of one longer row, and a page of each column; the levels of nested values are 4 of the bytes of each.
///
/// ```
/// use ragged::{Device, RaggedTensor, StructuredTensor};
/// use ragged_data::parquet::{self, ReadOptions};
/// let device = Device::cpu();
/// let id = RaggedTensor::from_nested([7, 8, 9], &device)?.into_erased();
/// let path = std::env::temp_dir().join("ragged-data-batches.parquet");
/// parquet::write(&path, &StructuredTensor::from_fields([("id", &id)], [3])?)?;
/// let mut sizes = Vec::new();
/// for records in parquet::batches(&path, &ReadOptions::new().batch_rows(2), &device)? {
///     sizes.push(records?.len()?);
/// }
/// assert_eq!(sizes, [2, 1]);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn batches(path: impl AsRef<Path>, options: &ReadOptions, device: &Device) -> Result<Batches> {
    let path = path.as_ref();
    let line = Location::caller();
    named("parquet::batches", || Batches::open(path, options, device, line))
}

/// The columns, row groups and rows of a Parquet file, of which only the footer is read.
///
/// # Errors
/// A file that cannot be read, or whose footer is damaged.
///
/// # Cost
/// One read of the footer.
///
/// ```
/// use ragged::{Device, RaggedTensor, StructuredTensor};
/// use ragged_data::parquet::{self, WriteOptions};
/// let id = RaggedTensor::from_nested([7, 8, 9], &Device::cpu())?.into_erased();
/// let path = std::env::temp_dir().join("ragged-data-layout.parquet");
/// let records = StructuredTensor::from_fields([("id", &id)], [3])?;
/// parquet::write_with(&path, &records, &WriteOptions::new().row_group_rows(2))?;
/// let layout = parquet::layout(&path)?;
/// assert_eq!((layout.columns, layout.row_groups), (vec!["id".to_owned()], vec![2, 1]));
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn layout(path: impl AsRef<Path>) -> Result<Layout> {
    let path = path.as_ref();
    named("parquet::layout", || open(path).and_then(Layout::of).map_err(in_file(path)))
}

fn open(path: &Path) -> Result<std::fs::File> {
    std::fs::File::open(path).map_err(|e| unreadable(e.to_string()))
}

/// All records that the options ask for.
fn whole(
    file: impl ::parquet::file::reader::ChunkReader + 'static,
    options: &ReadOptions,
    device: &Device,
) -> Result<StructuredTensor> {
    let mut reader = Reader::new(file, options)?;
    let mut parts = Vec::new();
    while let Some(records) = reader.records(options.nulls, device)? {
        parts.push(records);
    }
    match (parts.pop(), parts.is_empty()) {
        (None, _) => reader.none(device),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            parts.push(last);
            StructuredTensor::concat(&parts, 0)
        }
    }
}
