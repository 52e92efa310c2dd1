//! The `grad` family: the gradient of the sum of a result's flat values, each times a quarter of its number from 1 on.

use ragged::arguments::Axes;
use ragged::{Device, Result, Tensor, grad, s};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// The result of the operation; `None` if there is no such operation.
fn result(case: &Case, all: &[Tensor]) -> Option<Result<Tensor>> {
    let x = &all[0];
    let other = || &all[1];
    let axis = || case.attr_i64("axis").expect("an axis");
    let axes = || case.attr_ints("axis").map_or(Axes::All, Axes::List);
    let num = || case.attr_i64("num").expect("num");
    Some(match case.op.strip_prefix("grad.")? {
        "add" => x.add(other()),
        "subtract" => x.subtract(other()),
        "multiply" => x.multiply(other()),
        "truediv" => x.truediv(other()),
        "maximum" => x.maximum(other()),
        "exp" => x.exp(),
        "tanh" => x.tanh(),
        "sigmoid" => x.sigmoid(),
        "square" => x.square(),
        "relu" => x.relu(),
        "sqrt_abs1" => x.abs().and_then(|x| x.add(1)).and_then(|x| x.sqrt()),
        "abs" => x.abs(),
        "gelu" => x.gelu(),
        "softplus" => x.softplus(),
        "sin" => x.sin(),
        "reduce_sum" => x.reduce_sum(axes()),
        "reduce_mean" => x.reduce_mean(axes()),
        "reduce_max" => x.reduce_max(axes()),
        "reduce_min" => x.reduce_min(axes()),
        "reduce_prod" => x.reduce_prod(axes()),
        "softmax" => x.softmax(axis()),
        "cumsum" => x.cumsum(axis()),
        "concat" => Tensor::concat(all, axis()),
        "stack" => Tensor::stack(all, axis()),
        "gather" => x.gather(other()),
        "to_tensor" => x.to_tensor(0),
        "getitem_cols" => x.slice(s![.., 1..]),
        "getitem_rev" => x.reverse(0),
        "tile" => x.tile(&case.attr_ints("m").expect("multiples")),
        "reverse" => x.reverse(axes()),
        "boolean_mask" => x.boolean_mask(other()),
        "expand_dims" => x.expand_dims(case.attr_i64("axis").unwrap_or(0)),
        "merge_dims" => x.merge_dims(0, 1),
        "from_tensor" => Tensor::from_tensor_with_lengths(x, [2i64, 0, 1], 1),
        "unsorted_segment_sum" => x.unsorted_segment_sum(other(), num()),
        "unsorted_segment_mean" => x.unsorted_segment_mean(other(), num()),
        "unsorted_segment_max" => x.unsorted_segment_max(other(), num()),
        "unsorted_segment_prod" => x.unsorted_segment_prod(other(), num()),
        "unsorted_segment_sqrt_n" => x.unsorted_segment_sqrt_n(other(), num()),
        "matmul" => x.matmul(other()),
        "where" => x.select(other(), &all[2]),
        _ => return None,
    })
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let all = case.tensors(device)?;
    let wrt = case.attr_i64("wrt").expect("an input") as usize;
    let weighted = |x: &[Tensor]| -> Result<Tensor> {
        let mut all = all.clone();
        all[wrt] = x[0].clone();
        let y = result(case, &all).expect("an operation")?.flat_values()?;
        let y = y.reshape([-1])?;
        let numbers = y.ones_like()?.cumsum(0)?.multiply(0.25)?;
        y.multiply(&numbers)?.reduce_sum(..)
    };
    if result(case, &all).is_none() {
        return Got::unsupported(&case.op);
    }
    Ok(grad(weighted, [&all[wrt]])?[0].clone().into())
}
