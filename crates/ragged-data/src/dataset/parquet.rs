//! Batches of Parquet files.

use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, StructArray};
use ragged::{Device, FieldValue, Result, StructuredTensor};

use super::Dataset;
use super::sources::{failed, files, on_host};
use crate::arrow::{FromArrow, Nulls};
use crate::file::in_file;
use crate::item::{Call, Item};
use crate::parquet::ReadOptions;
use crate::parquet::by_bytes::ByBytes;

/// Columns of files.
impl Dataset {
    /// Batches of the rows of Parquet files, one file after the other: records with a field per column and a row per record.
    ///
    /// Batches have at most [`ReadOptions::batch_bytes`] (64 MiB by default) and [`ReadOptions::batch_rows`], and end with a row
    /// group. A list is a ragged dimension of its field, a struct a record; a list of structs is a record of ragged tensors. The
    /// options also choose columns, row groups of each file, what nulls become, and the longest row.
    /// [`unbatch`](Self::unbatch) gives the rows one by one, [`rebatch`](Self::rebatch) batches of another size.
    ///
    /// # Errors
    /// At the batch: a file that cannot be opened, or that is damaged: the next file follows; a row of more than
    /// [`ReadOptions::max_row_bytes`], with the file, the row and its bytes: the rows behind it follow; a null, unless the
    /// options say what it becomes; a type that is not in the [table](crate::arrow#types).
    ///
    /// # Cost
    /// Pages are decoded when their batch is asked for, and copied once. The host holds at most 3 × (the bytes of a batch + the
    /// longest row) and the pages that the next row lies in, whatever the size of the file; the levels of nested values are 4 of
    /// the bytes of each.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor};
    /// use ragged_data::dataset::Dataset;
    /// use ragged_data::parquet::{self, ReadOptions};
    /// let device = Device::cpu();
    /// let words = RaggedTensor::from_nested([vec!["to", "be"], vec![], vec!["or"]], &device)?;
    /// let path = std::env::temp_dir().join("ragged-data-rows.parquet");
    /// parquet::write(&path, &StructuredTensor::from_fields_and_rank([("words", &words)], 1)?)?;
    /// let options = ReadOptions::new().columns(["words"]).batch_bytes(16 << 20);
    /// let batches = Dataset::from_parquet([&path], &options).to_device(&device);
    /// let words = batches.iter().next().unwrap()?.field("words")?.tensor(&device)?;
    /// assert_eq!(words.to_string(), "<ragged.RaggedTensor [[b'to', b'be'], [], [b'or']]>");
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_parquet(paths: impl IntoIterator<Item = impl AsRef<Path>>, options: &ReadOptions) -> Self {
        let (call, options) = (Call::here("Dataset::from_parquet"), options.clone());
        files(paths, move |path| match ByBytes::open(path, &options) {
            Ok(batches) => Box::new(Batches { call, path: path.to_owned(), nulls: options.nulls_become(), batches }),
            Err(e) => failed(call.own(e)),
        })
    }
}

/// The batches of a file.
struct Batches {
    call: Call,
    path: PathBuf,
    nulls: Nulls,
    batches: ByBytes,
}

impl Iterator for Batches {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        let batch = self.batches.next_batch()?;
        let item = batch.and_then(|batch| item_of(batch, self.nulls).map_err(in_file(&self.path)));
        Some(item.map_err(|e| self.call.own(e)))
    }
}

/// The columns of a batch in host memory.
fn item_of(batch: RecordBatch, nulls: Nulls) -> Result<Item> {
    let records = StructuredTensor::from_arrow_with(&StructArray::from(batch), nulls, &Device::cpu())?;
    on_host(record(&records)?)
}

fn record(records: &StructuredTensor) -> Result<Item> {
    let fields = records.fields().map(|(name, field)| {
        let item = match field {
            FieldValue::Tensor(tensor) => tensor.into(),
            FieldValue::Records(records) => record(records)?,
            other => return Err(crate::fault::argument(format!("{other:?} is no item"))),
        };
        Ok((name, item))
    });
    Ok(Item::record(fields.collect::<Result<Vec<_>>>()?))
}
