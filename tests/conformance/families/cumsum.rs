//! The `cumsum` family.

use ragged::opt::ScanAxis;
use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    Ok(match case.op.as_str() {
        "cumsum" => {
            let axis = case.attr_i64("axis").unwrap_or(0);
            let (exclusive, reversed) = (case.attr_bool("exclusive"), case.attr_bool("reverse"));
            x.cumsum(ScanAxis::from(axis).exclusive(exclusive).reversed(reversed))?.into()
        }
        other => return Got::unsupported(other),
    })
}
