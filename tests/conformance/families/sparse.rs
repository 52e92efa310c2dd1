//! The `sparse` family.

use ragged::arguments::Axes;
use ragged::arguments::Fill;
use ragged::opt::{expanding, keep, with_nrows};
use ragged::{DType, Device, HostTensor, HostValues, Result, Scalar, SparseTensor, Tensor};
use serde_json::Value as Json;

use super::convert::sparse;
use crate::case::{Case, Value};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// The sparse inputs of the case, which come before the dense ones.
fn operands(case: &Case, device: &Device) -> Result<Vec<SparseTensor>> {
    let inputs = case.inputs.iter().filter_map(|v| match v {
        Value::Sparse(s) => Some(sparse(s, device)),
        _ => None,
    });
    inputs.collect()
}

fn answer(x: &SparseTensor) -> Got {
    Got::Sparse {
        indices: x.indices().clone(),
        values: x.values().clone(),
        dense_shape: x.dense_shape().iter().map(|&d| d as i64).collect(),
    }
}

/// The attribute as a value in the dtype.
fn fill(v: &Json, dtype: DType) -> Fill {
    match v {
        Json::String(s) => s.as_str().into(),
        v => Scalar::from_f64(dtype, v.as_f64().expect("a number")).into(),
    }
}

/// The attribute `default_value` in the dtype; zero by default.
fn default(case: &Case, dtype: DType) -> Fill {
    case.attr("default_value").map_or_else(|| Fill::zero(dtype), |v| fill(v, dtype))
}

fn axes(case: &Case) -> Axes {
    case.attr_ints("axis").map_or(Axes::All, Axes::List)
}

fn reduced(case: &Case, x: &SparseTensor) -> Result<Got> {
    let axes = if case.attr_bool("keepdims") { keep(axes(case)) } else { axes(case).into() };
    let is_sum = case.op == "sparse.reduce_sum";
    Ok(match (is_sum, case.attr_bool("output_is_sparse")) {
        (true, false) => x.reduce_sum(axes)?.into(),
        (false, false) => x.reduce_max(axes)?.into(),
        (true, true) => answer(&x.reduce_sum_sparse(axes)?),
        (false, true) => answer(&x.reduce_max_sparse(axes)?),
    })
}

fn concatenated(case: &Case, all: &[SparseTensor]) -> Result<Got> {
    let all: Vec<_> = all.iter().collect();
    let axis = case.attr_i64("axis").expect("an axis");
    let joined = match case.attr_bool("expand_nonconcat_dims") {
        true => SparseTensor::concat(&all, expanding(axis)),
        false => SparseTensor::concat(&all, axis),
    };
    Ok(answer(&joined?))
}

fn filled(case: &Case, x: &SparseTensor, device: &Device) -> Result<Got> {
    let default = case.tensor(1, device)?;
    let (filled, empty) = x.fill_empty_rows(&default)?;
    Ok(Got::List(vec![answer(&filled), empty.into()]))
}

/// `x` in another dense shape, or the smallest.
fn reset(case: &Case, x: &SparseTensor) -> Result<SparseTensor> {
    match case.attr_ints("new_shape") {
        Some(shape) => x.reset_shape(&shape),
        None => x.shrink_shape(),
    }
}

/// The operations of sparse tensors.
fn of_sparse(case: &Case, device: &Device) -> Result<Got> {
    let all = operands(case, device)?;
    let x = &all[0];
    let other = || case.tensor(1, device);
    Ok(match case.op.as_str() {
        "sparse.concat" => concatenated(case, &all)?,
        // Without validation, entries may have any order.
        "sparse.to_dense" if case.attr("validate_indices").is_some_and(|v| v == false) => {
            x.reorder()?.to_dense(default(case, x.dtype()))?.into()
        }
        "sparse.to_dense" => x.to_dense(default(case, x.dtype()))?.into(),
        "sparse.to_indicator" => x.to_indicator(case.attr_i64("v").expect("a size"))?.into(),
        "sparse.to_ragged" => x.to_ragged()?.into(),
        "sparse.components" => {
            let shape: Vec<i64> = x.dense_shape().iter().map(|&d| d as i64).collect();
            let shape = HostTensor::dense(&[shape.len()], HostValues::I64(shape)).to_device(device)?;
            Got::List(vec![x.indices().clone().into(), x.values().clone().into(), shape.into()])
        }
        "sparse.reorder" => answer(&x.reorder()?),
        "sparse.retain" => answer(&x.retain(&other()?)?),
        "sparse.fill_empty_rows" => filled(case, x, device)?,
        "sparse.reduce_sum" | "sparse.reduce_max" => reduced(case, x)?,
        "sparse.add" => answer(&x.add(&all[1])?),
        "sparse.maximum" => answer(&x.maximum(&all[1])?),
        "sparse.minimum" => answer(&x.minimum(&all[1])?),
        "sparse.add_dense" => x.add_dense(&other()?)?.into(),
        "sparse.sparse_dense_matmul" => x.matmul(&other()?)?.into(),
        "sparse.expand_dims" => answer(&x.expand_dims(case.attr_i64("axis").expect("an axis"))?),
        "sparse.reshape" => answer(&x.reshape(&case.attr_ints("shape").expect("a shape"))?),
        "sparse.map_values_abs" => answer(&x.map_values(Tensor::abs)?),
        "sparse.slice" => answer(&x.slice(&case.ints(1), &case.ints(2))?),
        "sparse.transpose" => answer(&x.transpose(case.attr_ints("perm").map_or(Axes::All, Axes::List))?),
        "sparse.softmax" => answer(&x.softmax()?),
        "sparse.split" => {
            let (n, axis) = (case.attr_i64("n").expect("a number"), case.attr_i64("axis").expect("an axis"));
            Got::List(x.split(n, axis)?.iter().map(answer).collect())
        }
        "sparse.reset_shape" => answer(&reset(case, x)?),
        "sparse.cross" => answer(&SparseTensor::cross(&all)?),
        "sparse.cross_hashed" => {
            answer(&SparseTensor::cross_hashed(&all, case.attr_i64("num_buckets").expect("a number"))?)
        }
        op => return Got::unsupported(op),
    })
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let ids = || case.tensor(2, device);
    let num = || case.attr_i64("num").expect("a number of segments");
    let rows = || Ok((case.tensor(0, device)?, case.tensor(1, device)?));
    Ok(match case.op.as_str() {
        "sparse_to_dense_v1" => {
            let (indices, values): (Tensor, Tensor) = rows()?;
            let shape = case.attr_ints("output_shape").expect("a shape");
            indices.sparse_to_dense(&shape, &values, default(case, values.dtype()))?.into()
        }
        "sparse.from_dense" => answer(&SparseTensor::from_dense(&case.tensor(0, device)?)?),
        "sparse.eye" => {
            let n = case.attr_i64("n").expect("a size");
            answer(&SparseTensor::eye(n, n, DType::F32, device)?)
        }
        op if op.starts_with("sparse.segment_") => {
            let (x, at) = rows()?;
            match op {
                "sparse.segment_sum" => x.sparse_segment_sum(&at, &ids()?)?,
                "sparse.segment_mean" => x.sparse_segment_mean(&at, &ids()?)?,
                "sparse.segment_sqrt_n" => x.sparse_segment_sqrt_n(&at, &ids()?)?,
                "sparse.segment_sum_num" => x.sparse_segment_sum(&at, with_nrows(&ids()?, num()))?,
                "sparse.segment_mean_num" => x.sparse_segment_mean(&at, with_nrows(&ids()?, num()))?,
                "sparse.segment_sqrt_n_num" => x.sparse_segment_sqrt_n(&at, with_nrows(&ids()?, num()))?,
                op => return Got::unsupported(op),
            }
            .into()
        }
        _ => of_sparse(case, device)?,
    })
}
