//! Operations on rows against naive loops over nested lists.

#[path = "../common/mod.rs"]
mod common;

mod concat;
mod mask;
mod nest;
mod range;
mod reduce;
mod scan;
mod softmax;
mod sort;
mod tile;

use ragged::Device;

/// Both CPU devices and every GPU.
fn devices() -> Vec<Device> {
    common::devices_and_unfused_cpu().iter().map(|(_, device)| device.clone()).collect()
}
