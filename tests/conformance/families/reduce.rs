//! The `reduce` family.

use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = false;

pub fn run(case: &Case, _device: &Device) -> Result<Got> {
    Got::unsupported(&case.op)
}
