//! The `mask` family.

use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let all = case.tensors(device)?;
    Ok(match case.op.as_str() {
        "boolean_mask" => all[0].boolean_mask(&all[1])?.into(),
        "where1" => all[0].where_indices()?.into(),
        "where3" => all[0].select(&all[1], &all[2])?.into(),
        "where3_v1_rows" => all[0].select_rows(&all[1], &all[2])?.into(),
        op => return Got::unsupported(op),
    })
}
