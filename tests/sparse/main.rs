//! Sparse tensors, compared with loops over lists of entries, on every backend.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod chains;
mod dense;
mod entries;
mod floats;
mod host;
mod large;
mod seed;
mod twin;

use proptest::prelude::*;
use ragged::{Device, Result, SparseTensor, Tensor};
use twin::{Twin, Value};

/// Every device: the CPU with and without fusion, and the GPUs.
fn each_device() -> impl Iterator<Item = (&'static str, &'static Device)> {
    common::devices_and_unfused_cpu().iter().map(|(name, device)| (name.as_str(), device))
}

/// Compares a result with its twin on every device.
#[track_caller]
fn gives<V: Value>(want: &Twin<V>, of: impl Fn(&Device) -> Result<SparseTensor>) {
    for (name, device) in each_device() {
        let got = of(device).and_then(|x| Twin::read(&x)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(got, *want, "{name}");
    }
}

/// Compares a dense result with its shape and values on every device.
#[track_caller]
fn gives_dense<V: Value>(shape: &[usize], want: &[V], of: impl Fn(&Device) -> Result<Tensor>) {
    for (name, device) in each_device() {
        let got = of(device).and_then(|x| x.to_host()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(got.nested_row_splits.is_empty(), "{name}: {got:?}");
        assert_eq!((got.inner_shape.as_slice(), V::of(got.values)), (shape, want.to_vec()), "{name}");
    }
}

/// Entries at random coordinates, in any order; some coordinates occur more than once.
fn twins(ranks: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Twin<i32>> {
    let dims = ranks.prop_flat_map(|rank| proptest::collection::vec(prop_oneof![1 => 0..2u64, 8 => 1..6u64], rank));
    dims.prop_flat_map(|shape| {
        let at: Vec<_> = shape.iter().map(|&d| 0..(d.max(1) as i64)).collect();
        let most = if shape.contains(&0) { 0 } else { 40 };
        let entry = (at, prop_oneof![1 => Just(0), 9 => -99..99i32]);
        (Just(shape), proptest::collection::vec(entry, 0..=most))
    })
    .prop_map(|(shape, entries)| {
        let (coordinates, values) = entries.into_iter().unzip();
        Twin { coordinates, values, shape }
    })
}

/// The number of random tensors per property.
fn some() -> ProptestConfig {
    ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 64, ..ProptestConfig::default() }
}
