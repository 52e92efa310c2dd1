//! The `range` family.

use ragged::{Device, Result, Tensor};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    if !["range", "range_splits"].contains(&case.op.as_str()) {
        return Got::unsupported(&case.op);
    }
    Ok(match &case.tensors(device)?[..] {
        [limits] => limits.range()?.into(),
        [starts, limits] => Tensor::ranges(starts, limits, 1)?.into(),
        [starts, limits, deltas] => Tensor::ranges(starts, limits, deltas)?.into(),
        other => panic!("{} inputs", other.len()),
    })
}
