//! Writes of files.

use std::io::Write;
use std::path::Path;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression as Codec;
use ::parquet::file::properties::WriterProperties;
use ragged::operation::named;
use ragged::{Result, StructuredTensor};

use super::{Compression, WriteOptions};
use crate::arrow::ToRecordBatch;
use crate::file::{self, in_file, unreadable};

/// Writes records of one dimension to a Parquet file, with a column for each field, in their order. A file of the
/// name is replaced once the new one is whole.
///
/// # Errors
/// Records of other than one dimension; a field that Arrow has no type for (bf16, strings that are not UTF-8); a file that
/// cannot be written; the first failed device-side check.
///
/// # Cost
/// One read of each field, and the encoding.
///
/// ```
/// use ragged::{Device, RaggedTensor, StructuredTensor};
/// let x = RaggedTensor::from_nested([[1], [2]], &Device::cpu())?;
/// let pairs = StructuredTensor::from_fields_and_rank([("x", &x)], 2)?;
/// let e = ragged_data::parquet::write("x.parquet", &pairs).unwrap_err();
/// assert!(e.to_string().starts_with("parquet::write: x.parquet: a record batch has records of 1 dimension"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn write(path: impl AsRef<Path>, records: &StructuredTensor) -> Result<()> {
    let path = path.as_ref();
    named("parquet::write", || to_file(path, records, &WriteOptions::new()))
}

/// As [`write()`], with options.
///
/// # Errors
/// As [`write()`].
///
/// # Cost
/// As [`write()`].
///
/// ```
/// use ragged::{Device, RaggedTensor, StructuredTensor};
/// use ragged_data::parquet::{self, Compression, ReadOptions, WriteOptions};
/// let device = Device::cpu();
/// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
/// let records = StructuredTensor::from_fields_and_rank([("x", &x)], 1)?;
/// let path = std::env::temp_dir().join("ragged-data-options.parquet");
/// parquet::write_with(&path, &records, &WriteOptions::new().compression(Compression::Zstd).row_group_rows(2))?;
/// let last = parquet::read(&path, &ReadOptions::new().row_groups(1..2), &device)?;
/// assert_eq!(last.field_value("x")?.to_string(), "<ragged.RaggedTensor [[3]]>");
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn write_with(path: impl AsRef<Path>, records: &StructuredTensor, options: &WriteOptions) -> Result<()> {
    let path = path.as_ref();
    named("parquet::write_with", || to_file(path, records, options))
}

/// The bytes of a Parquet file of records; see [`write()`].
///
/// # Errors
/// As [`write()`], but for the file.
///
/// # Cost
/// As [`write()`].
///
/// ```
/// use ragged::{Device, RaggedTensor, StructuredTensor};
/// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
/// let bytes = ragged_data::parquet::to_bytes(&StructuredTensor::from_fields([("x", &x)], [2])?)?;
/// assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_bytes(records: &StructuredTensor) -> Result<Vec<u8>> {
    named("parquet::to_bytes", || {
        let mut out = Vec::new();
        put(&mut out, records, &WriteOptions::new())?;
        Ok(out)
    })
}

fn to_file(path: &Path, records: &StructuredTensor, options: &WriteOptions) -> Result<()> {
    // Records that are no batch do not change the files.
    let batch = records.to_record_batch().map_err(in_file(path))?;
    file::write(path, |out| put_batch(out, &batch, options)).map_err(in_file(path))
}

fn put(out: &mut (impl Write + Send), records: &StructuredTensor, options: &WriteOptions) -> Result<()> {
    put_batch(out, &records.to_record_batch()?, options)
}

fn put_batch(out: &mut (impl Write + Send), batch: &arrow_array::RecordBatch, options: &WriteOptions) -> Result<()> {
    let codec = match options.compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Snappy => Codec::SNAPPY,
        Compression::Lz4 => Codec::LZ4_RAW,
        Compression::Zstd => Codec::ZSTD(Default::default()),
        Compression::Gzip => Codec::GZIP(Default::default()),
    };
    let mut properties = WriterProperties::builder().set_compression(codec);
    if let Some(rows) = options.row_group_rows {
        properties = properties.set_max_row_group_row_count(Some(rows.max(1)));
    }
    let failed = |e: ::parquet::errors::ParquetError| unreadable(e.to_string());
    let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties.build())).map_err(failed)?;
    writer.write(batch).map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(())
}
