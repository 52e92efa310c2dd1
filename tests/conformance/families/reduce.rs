//! The `reduce` family.

use ragged::arguments::Axes;
use ragged::opt::ReduceAxes;
use ragged::{Device, Result, Tensor};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let reduce: fn(&Tensor, ReduceAxes) -> Result<Tensor> = match case.op.as_str() {
        "reduce_sum" => Tensor::reduce_sum,
        "reduce_prod" => Tensor::reduce_prod,
        "reduce_min" => Tensor::reduce_min,
        "reduce_max" => Tensor::reduce_max,
        "reduce_mean" => Tensor::reduce_mean,
        "reduce_variance" => Tensor::reduce_variance,
        "reduce_std" => Tensor::reduce_std,
        "reduce_all" => Tensor::reduce_all,
        "reduce_any" => Tensor::reduce_any,
        op => return Got::unsupported(op),
    };
    let axes = case.attr_ints("axis").map_or(Axes::All, Axes::from);
    Ok(reduce(&case.tensor(0, device)?, ReduceAxes::from(axes).keep(case.attr_bool("keepdims")))?.into())
}
