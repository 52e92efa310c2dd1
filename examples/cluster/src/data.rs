//! Parquet files of rows of skewed lengths, for measurements and tests.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float32Array, Int32Array, Int64Array, ListArray, RecordBatch};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::parquet::arrow::ArrowWriter;

use crate::Outcome;

/// Keys of the column `key`.
pub const KEYS: u64 = 100;

/// Longest list.
const LONGEST: f64 = 1000.0;

/// Rows of one batch.
const BATCH: usize = 8192;

/// Bits of `n` that look random: the finaliser of SplitMix64.
fn scrambled(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// The same in `(0, 1]`.
fn uniform(n: u64) -> f64 {
    ((scrambled(n) >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// The length of the list of a row: of a Pareto distribution, six values on average, 0 for a ninth of the rows.
fn length(id: u64) -> usize {
    let pareto = 4.0 * uniform(id.wrapping_mul(2) + 1).powf(-0.6) - 4.0;
    pareto.min(LONGEST) as usize
}

/// The rows from `first`: `id`, `key`, and `x`, a list of floats.
pub fn batch(first: u64, rows: usize) -> Outcome<RecordBatch> {
    let ids = first..first + rows as u64;
    let lengths: Vec<usize> = ids.clone().map(length).collect();
    let values = ids
        .clone()
        .zip(&lengths)
        .flat_map(|(id, length)| (0..*length as u64).map(move |k| (uniform((id << 12) + k) * 2.0 - 1.0) as f32));
    let values = Arc::new(Float32Array::from_iter_values(values));
    let item = Arc::new(Field::new_list_field(DataType::Float32, true));
    let lists = ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), values, None)?;
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone().map(|id| id as i64)))),
        ("key", Arc::new(Int32Array::from_iter_values(ids.map(|id| (scrambled(!id) % KEYS) as i32)))),
        ("x", Arc::new(lists)),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// Writes so many rows, in files of about equal sizes, to a folder.
///
/// # Errors
/// Files that cannot be written.
pub fn write(folder: &Path, rows: usize, files: usize) -> Outcome<()> {
    std::fs::create_dir_all(folder)?;
    for file in 0..files {
        let [from, to] = [file, file + 1].map(|k| k * rows / files);
        let to_file = File::create(folder.join(format!("part-{file:03}.parquet")))?;
        let mut writer = ArrowWriter::try_new(to_file, batch(0, 0)?.schema(), None)?;
        for first in (from..to).step_by(BATCH) {
            writer.write(&batch(first as u64, BATCH.min(to - first))?)?;
        }
        writer.close()?;
    }
    Ok(())
}
