//! Look-ups by index, their defaults, bounds and tables in shards; sparse tensors as rows and counts of their entries;
//! products of rows; extremes of bools. Compared with loops over nested lists on every device.

#[path = "../common/mod.rs"]
mod common;

mod bools;
mod counts;
mod embeddings;
mod gathers;
mod integers;
mod means;
mod padding;
mod products;
mod sparse_rows;

use ragged::arguments::{FromNested, IntoNested};
use ragged::{Device, Element, RaggedTensor, Result, Tensor};

/// Every device: the CPU with and without fusion, and the GPUs.
fn each_device() -> impl Iterator<Item = (&'static str, &'static Device)> {
    common::devices_and_unfused_cpu().iter().map(|(name, device)| (name.as_str(), device))
}

/// Numbers of rows and values at the edges of tiles.
const SIZES: [usize; 6] = [0, 1, 7, 1030, 4100, 66_000];

/// The elements of a tensor as nested lists.
fn list<T: Element, N: FromNested<T>>(x: Result<Tensor>) -> Result<N> {
    RaggedTensor::<T>::try_from(x?)?.to_nested_vec()
}

/// Nested lists as a tensor.
fn tensor<T: Element>(list: impl IntoNested<T>, device: &Device) -> Result<Tensor> {
    Ok(RaggedTensor::from_nested(list, device)?.into_erased())
}
