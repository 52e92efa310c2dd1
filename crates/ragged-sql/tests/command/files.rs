//! Inputs of queries, in a folder of their own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow::array::{
    ArrayRef, Float32Array, Int32Array, Int64Array, ListArray, RecordBatch, RecordBatchReader as _, StringArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::Field;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use ragged::{Device, RaggedTensor};
use ragged_data::safetensors;

/// A folder with inputs, which is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ragged-command-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("logs")).expect("a folder");
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The names of all that is in the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("reads");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("reads").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// `in.parquet`: `id`, `tokens`, `words`.
    pub fn with_table(self) -> Self {
        self.write("in.parquet", &table(0..6));
        self
    }

    /// `logs/*.parquet`: `words`, in three files.
    pub fn with_logs(self) -> Self {
        for k in 0..3 {
            self.write(&format!("logs/{k}.parquet"), &table(4 * k..4 * k + 4));
        }
        self
    }

    /// `emb.safetensors`: `table` of 64 rows of 2 floats.
    pub fn with_embeddings(self) -> Self {
        let rows: Vec<[f32; 2]> = (0..64).map(|k| [k as f32 * 0.5, -(k as f32)]).collect();
        let rows = RaggedTensor::from_nested(rows, &Device::cpu()).expect("a table");
        safetensors::write(self.0.join("emb.safetensors"), [("table", rows.erased())]).expect("writes");
        self
    }

    /// `events.jsonl`: `user`, `scores`.
    pub fn with_events(self) -> Self {
        let lines = [
            r#"{"user":"ann","scores":[0.5,1.5,-2.0,1.0]}"#,
            r#"{"user":"bob","scores":[3.0]}"#,
            r#"{"user":"eve","scores":[]}"#,
            r#"{"user":"joe","scores":[2.0,2.0,9.0]}"#,
        ];
        fs::write(self.0.join("events.jsonl"), lines.join("\n")).expect("writes");
        self
    }

    /// `scores.parquet`: `id`, `logits`; `users.csv`: `id`, `name`.
    pub fn with_users(self) -> Self {
        let logits = list(Arc::new(Float32Array::from(vec![0.0, 0.0, 1.0, 2.0, 3.0])), &[2, 0, 3]);
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
        self.write("scores.parquet", &RecordBatch::try_from_iter([("id", ids), ("logits", logits)]).expect("a batch"));
        fs::write(self.0.join("users.csv"), "id,name\n9,ann\n7,bob\n").expect("writes");
        self
    }

    /// `large.parquet`: `id`, `x`, of so many rows of a few values.
    pub fn with_rows(self, rows: usize) -> Self {
        let lengths: Vec<usize> = (0..rows).map(|k| k * 7 % 12).collect();
        let total = lengths.iter().sum::<usize>();
        let x = list(Arc::new(Float32Array::from_iter_values((0..total).map(|k| (k % 1000) as f32))), &lengths);
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
        self.write("large.parquet", &RecordBatch::try_from_iter([("id", ids), ("x", x)]).expect("a batch"));
        self
    }

    fn write(&self, name: &str, rows: &RecordBatch) {
        let file = File::create(self.0.join(name)).expect("a file");
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).expect("a writer");
        writer.write(rows).expect("writes");
        writer.close().expect("writes");
    }

    /// The rows of a Parquet file.
    pub fn read(&self, name: &str) -> RecordBatch {
        let file = File::open(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("Parquet");
        let schema = reader.schema();
        let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("reads")).collect();
        concat_batches(&schema, &batches).expect("one batch")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What remains is in the system's folder of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn list(values: ArrayRef, lengths: &[usize]) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths.iter().copied()), values, None))
}

/// Rows of 0 to 3 tokens and words.
fn table(ids: std::ops::Range<usize>) -> RecordBatch {
    let lengths: Vec<usize> = ids.clone().map(|id| id % 4).collect();
    let total: usize = lengths.iter().sum();
    let words = ["to", "be", "or", "not"];
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.map(|id| id as i64)))),
        ("tokens", list(Arc::new(Int32Array::from_iter_values((0..total).map(|k| k as i32))), &lengths)),
        ("words", list(Arc::new(StringArray::from_iter_values((0..total).map(|k| words[k % 4]))), &lengths)),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}
