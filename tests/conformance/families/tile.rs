//! The `tile` family.

use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    Ok(match case.op.as_str() {
        "tile" => x.tile(&case.attr_ints("m").expect("multiples"))?.into(),
        "repeat" => {
            x.repeat(case.attr_i64("repeats").expect("repeats"), case.attr_i64("axis").unwrap_or(0))?.into()
        }
        op => return Got::unsupported(op),
    })
}
