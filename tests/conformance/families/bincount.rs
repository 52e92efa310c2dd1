//! The `bincount` family.

use ragged::arguments::Axes;
use ragged::opt::Bins;
use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    let axis = case.attr_i64("axis").map_or(Axes::All, Axes::from);
    let least = case.attr_i64("minlength").unwrap_or(0);
    let bins = Bins::from(..).least(least).most(case.attr_i64("maxlength")).binary(case.attr_bool("binary_output"));
    Ok(match case.op.as_str() {
        "bincount" => x.bincount(axis, bins)?.into(),
        "bincount_weighted" => x.bincount_weighted(&case.tensor(1, device)?, axis, bins)?.into(),
        "sparse_bincount" => {
            let counts = x.bincount_sparse(axis, bins)?;
            Got::Sparse {
                indices: counts.indices().clone(),
                values: counts.values().clone(),
                dense_shape: counts.dense_shape().iter().map(|&d| d as i64).collect(),
            }
        }
        other => return Got::unsupported(other),
    })
}
