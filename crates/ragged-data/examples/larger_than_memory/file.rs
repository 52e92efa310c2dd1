//! A Parquet file of short rows of numbers, and a long one among them.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// Bytes of values in a row group.
pub const ROW_GROUP: u64 = 8 << 20;

/// The sizes of a file, in bytes of 4 per number.
pub struct Shape {
    /// All short rows, which have 0 to 63 numbers.
    pub bytes: u64,
    /// The long row in the middle of them.
    pub longest: u64,
}

/// The numbers of row groups of short rows, and of the rows of each.
fn groups(shape: &Shape) -> (u64, u64) {
    (shape.bytes.div_ceil(ROW_GROUP), ROW_GROUP / 4 / 32)
}

/// The number of the long row.
#[allow(dead_code, reason = "the test compares with it")]
pub fn longest_row(shape: &Shape) -> u64 {
    let (groups, rows) = groups(shape);
    groups / 2 * rows + rows / 2
}

/// The number of all rows.
pub fn rows(shape: &Shape) -> u64 {
    let (groups, rows) = groups(shape);
    groups * rows + 1
}

/// The length of short row `r`: 31.5 on average.
fn length(r: u64) -> usize {
    (r * 37 % 64) as usize
}

/// Number `k`, which does not compress.
fn number(k: u64) -> i32 {
    let z = k.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 31)) >> 16) as i32
}

/// The rows of a row group, with numbers from `k` on, as lists.
fn group(shape: &Shape, group: u64, k: &mut u64) -> Vec<usize> {
    let (count, rows) = groups(shape);
    let mut lengths: Vec<usize> = (group * rows..(group + 1) * rows).map(length).collect();
    if group == count / 2 {
        lengths.insert((rows / 2) as usize, (shape.longest / 4) as usize);
    }
    *k += lengths.iter().sum::<usize>() as u64;
    lengths
}

/// Writes the file, one row group at a time.
pub fn write(path: &Path, shape: &Shape) -> Result<(), Box<dyn std::error::Error>> {
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let item = Arc::new(Field::new_list_field(DataType::Int32, false));
    let (mut writer, mut k, mut row) = (None, 0, 0i64);
    for g in 0..groups(shape).0 {
        let first = k;
        let lengths = group(shape, g, &mut k);
        let values = Int32Array::from((first..k).map(number).collect::<Vec<i32>>());
        let mut ends = vec![0i32];
        ends.extend(lengths.iter().scan(0, |end, n| {
            *end += *n as i32;
            Some(*end)
        }));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let lists: ArrayRef = Arc::new(ListArray::try_new(item.clone(), offsets, Arc::new(values), None)?);
        let id: ArrayRef = Arc::new(Int64Array::from_iter_values(row..row + lengths.len() as i64));
        row += lengths.len() as i64;
        let batch = RecordBatch::try_from_iter([("values", lists), ("id", id)])?;
        if writer.is_none() {
            writer = Some(ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties.clone()))?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch)?;
            writer.flush()?;
        }
    }
    writer.ok_or("no rows")?.close()?;
    Ok(())
}

/// The number of all values, and their sum.
#[allow(dead_code, reason = "the test compares with it")]
pub fn sums(shape: &Shape) -> (u64, i64) {
    let mut count = 0;
    (0..groups(shape).0).for_each(|g| drop(group(shape, g, &mut count)));
    (count, (0..count).map(|k| i64::from(number(k))).sum())
}
