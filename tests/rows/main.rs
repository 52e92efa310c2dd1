//! Operations on rows, compared with naive loops over nested lists.

#[path = "../common/mod.rs"]
mod common;

mod concat;
mod every;
mod mask;
mod nest;
mod range;
mod reduce;
mod scan;
mod skew;
mod softmax;
mod sort;
mod tile;

use ragged::Device;

/// The CPU with and without fusion, and every GPU.
fn devices() -> Vec<Device> {
    common::devices_and_unfused_cpu().iter().map(|(_, device)| device.clone()).collect()
}

/// The shape and the bits of a result, or the kind of its error.
fn outcome(t: ragged::Result<ragged::Tensor>) -> String {
    common::outcome::outcome(&t.and_then(|t| t.to_host()), common::outcome::bits)
}
