//! Records of named fields: the reference of `tf.experimental.StructuredTensor` (`reference.rs`), construction and
//! operations (`operations.rs`), round trips of random records (`round_trips.rs`), bad input (`bad_input.rs`), JSON text
//! (`json_text.rs`), equality and numbers of records (`equality.rs`), schemas
//! (`schema.rs`), nulls in JSON lines (`nulls.rs`).

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod equality;
mod json_text;
mod nulls;
mod operations;
mod reference;
mod round_trips;
mod schema;

use ragged::{Device, FieldValue, HostTensor, HostValues, StructuredTensor, Tensor};
use serde_json::Value;

/// Records of a literal.
#[track_caller]
fn records(value: &Value, device: &Device) -> StructuredTensor {
    StructuredTensor::from_serialize(value, device).unwrap_or_else(|e| panic!("{value}: {e}"))
}

/// A dense vector of i32.
fn vector(values: &[i32], device: &Device) -> Tensor {
    HostTensor::dense(&[values.len()], HostValues::I32(values.to_vec())).to_device(device).expect("a vector")
}

/// Rows of i32 with the given splits.
fn rows(splits: &[u32], device: &Device) -> Tensor {
    let n = splits.last().copied().unwrap_or(0) as i32;
    let host = HostTensor::from_row_splits(splits.to_vec(), HostValues::I32((0..n).collect()));
    host.to_device(device).expect("valid splits")
}

/// Compares the printed form.
#[track_caller]
fn prints(value: &FieldValue, printed: &str) {
    assert_eq!(value.to_string(), printed, "on {:?}", value.device());
}

/// The message of an error, which must name the line of a test.
#[track_caller]
fn message<T: std::fmt::Debug>(outcome: ragged::Result<T>) -> String {
    let e = outcome.expect_err("an error");
    let file = e.location().map(|location| location.file()).unwrap_or_default();
    assert!(file.contains("structured"), "the error is at {file}: {e}");
    e.to_string()
}
