//! The `concat` family.

use ragged::{Device, Result, Tensor};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let all = case.tensors(device)?;
    let axis = case.attr_i64("axis").unwrap_or(0);
    let refs: Vec<&Tensor> = all.iter().collect();
    Ok(match case.op.as_str() {
        "concat" => Tensor::concat(&refs, axis)?.into(),
        "stack" => Tensor::stack(&refs, axis)?.into(),
        "make_palindrome" => Tensor::concat(&[&all[0], &all[0].reverse(axis)?], axis)?.into(),
        op => return Got::unsupported(op),
    })
}
