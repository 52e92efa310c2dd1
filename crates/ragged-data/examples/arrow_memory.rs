//! Speed of Arrow arrays to tensors and back, next to a copy:
//! `cargo run --release --package ragged-data --example arrow_memory -- [MEGABYTES]`.
//!
//! Each line is the least of five runs, and its ratio to the time of a copy of the values to new memory in the same run.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array, LargeListArray, ListArray, ListViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use ragged::{Device, Result, Tensor};
use ragged_data::arrow::{FromArrow, Nulls, ToArrow};

/// The values of a row.
const LENGTH: usize = 16;

fn seconds<T>(run: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    let result = black_box(run());
    let seconds = start.elapsed().as_secs_f64();
    drop(result);
    seconds
}

/// The array as a tensor and back, next to a copy of `bytes`.
fn report(what: &str, array: &ArrayRef, bytes: &[u8]) -> Result<()> {
    let device = Device::cpu();
    let run = |source: &ArrayRef| -> Result<ArrayRef> {
        Tensor::from_arrow_with(&**source, Nulls::Empty, &device)?.to_arrow()
    };
    assert_eq!(run(array)?.len(), array.len());
    let (mut least, mut copied) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        least = least.min(seconds(|| run(array)));
        copied = copied.min(seconds(|| bytes.to_vec()));
    }
    println!("{what:52} {:9.3} ms {:9.3} of a copy", least * 1e3, least / copied);
    Ok(())
}

fn main() -> Result<()> {
    let megabytes: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1000);
    let rows = megabytes * 1_000_000 / 4 / LENGTH;
    let values: ScalarBuffer<f32> = (0..rows * LENGTH).map(|i| i as f32).collect();
    let bytes = values.inner().clone();
    let some = NullBuffer::new(BooleanBuffer::collect_bool(values.len(), |i| i % 100 != 7));
    let field = Arc::new(Field::new_list_field(DataType::Float32, true));
    let offsets = OffsetBuffer::<i32>::from_repeated_length(LENGTH, rows);
    let wide = OffsetBuffer::<i64>::from_repeated_length(LENGTH, rows);
    let full = Arc::new(Float32Array::new(values.clone(), None));
    let holes = Arc::new(Float32Array::new(values, Some(some)));
    let reversed: ScalarBuffer<i32> = (0..rows).rev().map(|row| (row * LENGTH) as i32).collect();
    let sizes: ScalarBuffer<i32> = std::iter::repeat_n(LENGTH as i32, rows).collect();
    let lists = |values: &Arc<Float32Array>| ListArray::new(field.clone(), offsets.clone(), values.clone(), None);

    println!("{} MB of 32-bit floats in rows of {LENGTH}", bytes.len() / 1_000_000);
    report("lists", &(Arc::new(lists(&full)) as ArrayRef), &bytes)?;
    report("lists, without the first row", &(Arc::new(lists(&full).slice(1, rows - 1)) as ArrayRef), &bytes)?;
    let large = LargeListArray::new(field.clone(), wide, full.clone(), None);
    report("lists with offsets of 64 bits", &(Arc::new(large) as ArrayRef), &bytes)?;
    report("lists, 1 of 100 values null, as 0", &(Arc::new(lists(&holes)) as ArrayRef), &bytes)?;
    let views = ListViewArray::new(field.clone(), reversed, sizes, full, None);
    report("list views in reverse order", &(Arc::new(views) as ArrayRef), &bytes)?;
    let bits = BooleanArray::new(BooleanBuffer::collect_bool(bytes.len(), |i| i % 3 == 0), None);
    report("bools, of as many bytes as tensors", &(Arc::new(bits) as ArrayRef), &bytes)
}
