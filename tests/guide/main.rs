//! The code of TensorFlow's guide to ragged tensors, cell by cell, compared with its printed results.
//!
//! `current.rs` is the guide as of TensorFlow 2.11, `older.rs` an earlier version without printed results; `shared.rs`
//! contains the sections of both. `apis.rs` covers the section on protocol buffers, datasets and Keras as far as its
//! cells compute with tensors: words and hashes of a model's input, elements, batches and functions of a dataset;
//! `functions.rs` those on `tf.function`, concrete functions and saved modules. Not covered: parsing of `tf.Example`, the
//! objects of `tf.data`, Keras layers and training.
//!
//! Differences from the printed results: random embeddings are replaced by a fixed table, with recomputed results;
//! errors are compared by kind, without TensorFlow's wording; sizes are i64; means of dense integers are floats.

#[path = "../common/mod.rs"]
mod common;

mod apis;
mod current;
mod functions;
mod older;
mod shared;

use ragged::opt::ConstantOptions;
use ragged::{DType, Device, Nested, Result, Tensor};
use serde_json::Value as Json;

/// `tf.ragged.constant` of the cell's literal.
fn constant(rows: Json, device: &Device) -> Tensor {
    constant_of_rank(rows, None, device)
}

/// `tf.ragged.constant(…, ragged_rank=…)`.
fn constant_of_rank(rows: Json, ragged_rank: Option<usize>, device: &Device) -> Tensor {
    let options = ConstantOptions::default().ragged_rank(ragged_rank);
    Tensor::constant(&nested(&rows), &options, device).expect("a constant")
}

/// `tf.constant` of the cell's literal.
fn dense(rows: Json, device: &Device) -> Tensor {
    constant_of_rank(rows, Some(0), device)
}

fn nested(v: &Json) -> Nested {
    match v {
        Json::Bool(b) => (*b).into(),
        Json::String(s) => s.as_str().into(),
        Json::Array(all) => Nested::List(all.iter().map(nested).collect()),
        n => n.as_i64().map_or_else(|| n.as_f64().expect("a number").into(), Nested::from),
    }
}

/// Compares with the printed form of a ragged tensor.
#[track_caller]
fn prints(t: &Tensor, printed: &str) {
    assert_eq!(t.to_string(), printed.replace("tf.RaggedTensor", "ragged.RaggedTensor"), "on {:?}", t.device());
}

/// Compares with a dense tensor of the given dtype and values.
#[track_caller]
fn is_dense(t: &Tensor, dtype: DType, values: Json) {
    assert_eq!((t.ragged_rank(), t.dtype()), (0, dtype), "{t}");
    let want = Tensor::constant(
        &nested(&values),
        &ConstantOptions::default().dtype(Some(dtype)).ragged_rank(Some(0)),
        &Device::cpu(),
    );
    assert_eq!(t.to_string(), want.expect("a constant").to_string(), "on {:?}", t.device());
}

/// Compares with the buckets of the strings, computed with the crate `farmhash`.
#[track_caller]
fn is_hashed(buckets: &Tensor, strings: &[Vec<&str>], num_buckets: u64) {
    let bucket = |s: &&str| (farmhash::fingerprint64(s.as_bytes()) % num_buckets) as i64;
    let want: Vec<Vec<i64>> = strings.iter().map(|row| row.iter().map(bucket).collect()).collect();
    let got = common::naive::rows::<i64>(&buckets.to_host().expect("buckets"));
    assert_eq!(got, want, "on {:?}", buckets.device());
}

/// The cells of a section of the guide, on one device.
type Section = fn(&Device) -> Result<()>;

/// Runs the named sections on every device.
#[track_caller]
fn in_order(sections: &[(&str, Section)]) {
    for (name, device) in common::devices() {
        for (title, section) in sections {
            section(&device).unwrap_or_else(|e| panic!("{title} on {name}: {e}"));
        }
    }
}
