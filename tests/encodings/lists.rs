//! Constructors from one list, invalid lists for them, and vectors on a device.

use ragged::arguments::Integers;
use ragged::opt::with_nrows;
use ragged::{Device, HostTensor, HostValues, Result, Tensor, s};

/// A dense vector of integers on a device.
pub fn vector(values: &[i64], device: &Device) -> Tensor {
    HostTensor::dense(&[values.len()], HostValues::I64(values.to_vec())).to_device(device).expect("a small tensor")
}

pub fn ints(t: &Tensor) -> Vec<i64> {
    match t.to_host().expect("a read").values {
        HostValues::I64(v) => v,
        other => panic!("{} where i64 belong", other.dtype()),
    }
}

/// `n` values in an array of device-known size.
pub fn unknown(n: i64, device: &Device) -> Tensor {
    let all: Vec<i64> = (-1..n).collect();
    let rows = Tensor::from_row_lengths(&vector(&all, device), [n + 1, 0]).expect("two rows");
    let out = rows.slice(s![.., 1..]).expect("a slice").values().expect("one partition");
    assert_eq!(out.shape(), [None], "the host must not know the size");
    out
}

/// The constructors from one list by name, checked and unchecked.
type Factory = (&'static str, fn(&Tensor, Integers<'_>) -> Result<Tensor>);
pub const CHECKED: [Factory; 5] = [
    ("row_splits", |v, g| Tensor::from_row_splits(v, g)),
    ("row_lengths", |v, g| Tensor::from_row_lengths(v, g)),
    ("row_starts", |v, g| Tensor::from_row_starts(v, g)),
    ("row_limits", |v, g| Tensor::from_row_limits(v, g)),
    ("value_rowids", |v, g| Tensor::from_value_rowids(v, g)),
];
pub const UNCHECKED: [Factory; 5] = [
    ("row_splits", |v, g| Tensor::from_row_splits_unchecked(v, g)),
    ("row_lengths", |v, g| Tensor::from_row_lengths_unchecked(v, g)),
    ("row_starts", |v, g| Tensor::from_row_starts_unchecked(v, g)),
    ("row_limits", |v, g| Tensor::from_row_limits_unchecked(v, g)),
    ("value_rowids", |v, g| Tensor::from_value_rowids_unchecked(v, with_nrows(g, 3))),
];

/// Invalid lists of each encoding for 4 values, and a part of the error message for a list on the host.
pub const REFUSED: [(usize, &[i64], &str); 24] = [
    (0, &[], "at least one entry"),
    (0, &[1, 4], "row_splits[0] is 1"),
    (0, &[0, 3, 2, 4], "row_splits[2] = 2 is below row_splits[1] = 3"),
    (0, &[0, 3], "ends at 3, but there are 4"),
    (0, &[0, 5], "ends at 5, but there are 4"),
    (0, &[-1, 4], "row_splits[0] is -1"),
    (0, &[0, i64::MAX], "but there are 4 values"),
    (1, &[2, -1, 3], "row_lengths[1] is -1"),
    (1, &[2, 1], "add up to 3, but there are 4"),
    (1, &[2, 3], "add up to 5, but there are 4"),
    (1, &[], "add up to 0, but there are 4"),
    (1, &[i64::MAX, i64::MAX], "needs"),
    (2, &[1, 2], "row_starts[0] is 1"),
    (2, &[0, 3, 2], "row_starts[2] = 2 is below row_starts[1] = 3"),
    (2, &[0, 5], "row_starts[1] is 5"),
    (2, &[], "is empty, but there are 4"),
    (3, &[-1, 4], "row_limits[0] is -1"),
    (3, &[3, 2, 4], "row_limits[1] = 2 is below row_limits[0] = 3"),
    (3, &[2, 3], "row_limits[1] is 3"),
    (3, &[], "is empty, but there are 4"),
    (4, &[0, 0, 1], "3 entries, but there are 4"),
    (4, &[0, 2, 1, 3], "value_rowids[2] = 1 is below 2"),
    (4, &[-1, 0, 0, 0], "value_rowids[0] is -1"),
    (4, &[0, 0, 0, 0, 0], "5 entries, but there are 4"),
];
