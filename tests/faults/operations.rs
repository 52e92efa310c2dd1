//! Operations with distinct kernels, scratch memory or waits, and their inputs.

use ragged::opt::{any_of, descending, exclusive, reversed};
use ragged::{DType, HostTensor, HostValues, Result, Tensor};

use crate::common::seeded_rows;

pub fn ints(values: Vec<i32>) -> HostTensor {
    HostTensor::dense(&[values.len()], HostValues::I32(values))
}

/// Rows of 0 to 4 numbers.
pub fn rows(nrows: u32, seed: i32) -> HostTensor {
    seeded_rows(nrows, 5, seed)
}

/// Operations with distinct kernels, scratch memory or waits.
type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);
pub const KERNELS: &[Op] = &[
    ("row_scan", |x| x.cumsum(reversed(1))),
    ("row_sort", |x| x.sort(1)),
    ("a sort of all", |x| x.flat_values()?.argsort(descending(0))),
    ("compact", |x| x.boolean_mask(&x.greater(7)?)),
    ("where_indices", |x| x.where_indices()),
    ("matmul", |x| x.expand_dims(2)?.t().matmul(&x.expand_dims(2)?)),
    ("segments", |x| x.flat_values()?.unsorted_segment_sum(&x.flat_values()?.floormod(5)?, 5)),
    ("unique", |x| x.unique(1)),
    ("softmax", |x| x.cast(DType::F32)?.softmax(1)),
    ("ranges", |x| x.flat_values()?.floormod(3)?.range()),
    ("to_tensor", |x| x.to_tensor(0)),
    ("map_rows", |x| x.map_rows(|row| row.sort(descending(0))?.cumsum(exclusive(0)))),
];

/// Empty, short and long strings.
pub fn strings() -> HostTensor {
    HostTensor::dense(&[500], HostValues::Str((0..500).map(|k| vec![b'a' + k as u8 % 26; k % 70]).collect()))
}
pub const OF_STRINGS: &[Op] = &[
    ("row_hash", |x| x.fingerprint64()),
    ("words", |x| x.string_split(any_of("abc"))),
    ("strings reversed", |x| x.reverse(0)),
];
