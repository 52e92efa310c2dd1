//! The `segment` family.

use ragged::{Device, Result, Tensor};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let (x, ids) = (case.tensor(0, device)?, case.tensor(1, device)?);
    let unsorted: fn(&Tensor, &Tensor, i64) -> Result<Tensor> = match case.op.as_str() {
        "unsorted_segment_sum" => Tensor::unsorted_segment_sum,
        "unsorted_segment_prod" => Tensor::unsorted_segment_prod,
        "unsorted_segment_min" => Tensor::unsorted_segment_min,
        "unsorted_segment_max" => Tensor::unsorted_segment_max,
        "unsorted_segment_mean" => Tensor::unsorted_segment_mean,
        "unsorted_segment_sqrt_n" => Tensor::unsorted_segment_sqrt_n,
        "segment_sum" => return Ok(x.segment_sum(&ids)?.into()),
        "segment_prod" => return Ok(x.segment_prod(&ids)?.into()),
        "segment_min" => return Ok(x.segment_min(&ids)?.into()),
        "segment_max" => return Ok(x.segment_max(&ids)?.into()),
        "segment_mean" => return Ok(x.segment_mean(&ids)?.into()),
        other => return Got::unsupported(other),
    };
    Ok(unsorted(&x, &ids, case.attr_i64("num").expect("num"))?.into())
}
