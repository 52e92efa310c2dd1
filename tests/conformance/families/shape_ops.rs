//! The `shape_ops` family.

use ragged::arguments::{Axes, NewShape};
use ragged::opt::along;
use ragged::{Device, Lengths, RaggedShape, Result, RowPartition, Scalar, Tensor};
use serde_json::{Value as Json, json};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// The result of a shape, in the form of the cases: that of a tensor of zeros.
fn ragged_shape(shape: &RaggedShape) -> Result<Got> {
    let host = Tensor::zeros(shape, ragged::DType::I32)?.to_host()?;
    Ok(Got::RaggedShape {
        uniform: host.uniform_row_lengths.iter().map(Option::is_some).collect(),
        row_splits: host.nested_row_splits,
        inner_shape: host.inner_shape.iter().map(|&d| d as i64).collect(),
    })
}

/// The argument of `from_lengths`.
pub fn lengths(v: &Json) -> Vec<Lengths> {
    let int = |v: &Json| v.as_i64().expect("a length");
    let one = |v: &Json| match v.as_array() {
        Some(all) => Lengths::Ragged(all.iter().map(int).collect()),
        None => Lengths::Uniform(int(v)),
    };
    v.as_array().expect("lengths").iter().map(one).collect()
}

/// The lengths of a shape.
fn static_lengths(shape: &RaggedShape) -> Result<Json> {
    let one = |l: Lengths| match l {
        Lengths::Uniform(n) => json!(n),
        Lengths::Ragged(all) => json!(all),
    };
    Ok(shape.lengths()?.into_iter().map(one).collect())
}

/// The dimensions of a shape.
fn ranks(shape: &RaggedShape) -> Result<Got> {
    let uniform = (0..shape.rank() as i64).map(|d| shape.is_uniform(d).map(|u| Got::Json(json!(u))));
    Ok(Got::List(vec![
        Got::Json(json!(shape.inner_rank())),
        Got::Json(json!(shape.ragged_rank())),
        Got::Json(json!(shape.rank())),
        Got::List(uniform.collect::<Result<_>>()?),
    ]))
}

/// An operation on a shape; `None` if the operation is on tensors.
fn on_shapes(case: &Case, device: &Device) -> Result<Option<Got>> {
    let shape = |i: usize| -> Result<RaggedShape> { Ok(case.tensor(i, device)?.ragged_shape().clone()) };
    let int = |key: &str| case.attr_i64(key);
    Ok(Some(match case.op.as_str() {
        "drs.from_lengths" => {
            let lengths = lengths(case.attr("lengths").expect("lengths"));
            ragged_shape(&RaggedShape::from_lengths(&lengths, device)?)?
        }
        "drs.from_row_partitions_inner" => {
            let rows = RowPartition::from_row_lengths(case.ints(0), device)?;
            let inner = case.attr_ints("inner_shape").expect("inner_shape");
            let inner: Vec<u64> = inner.into_iter().map(|d| d as u64).collect();
            ragged_shape(&RaggedShape::from_row_partitions(&[rows], &inner, device)?)?
        }
        "drs_static_lengths" => Got::Json(static_lengths(&shape(0)?)?),
        "drs.getitem" => Got::Index(shape(0)?.size(int("i").expect("i"))?),
        "drs.slice" => {
            let (shape, start) = (shape(0)?, int("a").unwrap_or(0));
            ragged_shape(&match int("b") {
                Some(stop) => shape.slice(start..stop)?,
                None => shape.slice(start..)?,
            })?
        }
        "drs.inner_rank_num" => ranks(&shape(0)?)?,
        "dynamic_shape" => ragged_shape(&shape(0)?)?,
        "broadcast_dynamic_shape" => ragged_shape(&shape(0)?.broadcast(&shape(1)?)?)?,
        "zeros_shape_of" => Tensor::zeros(&shape(0)?, ragged::DType::F32)?.into(),
        "ones_shape_of" => Tensor::ones(&shape(0)?, ragged::DType::F32)?.into(),
        "fill_shape_of" => Tensor::fill(&shape(0)?, &case.tensor(1, device)?)?.into(),
        _ => return Ok(None),
    }))
}

fn one_hot(case: &Case, x: &Tensor) -> Result<Tensor> {
    let depth = case.attr_i64("depth").expect("depth") as u32;
    let axis = case.attr_i64("axis").unwrap_or(-1);
    let given = |key: &str| case.attr_i64(key).map(|v| Scalar::I32(v as i32));
    let (on, off) = (given("on").unwrap_or(Scalar::F32(1.0)), given("off").unwrap_or(Scalar::F32(0.0)));
    x.one_hot(along(depth, axis), on, off)
}

fn list(all: Vec<Tensor>) -> Got {
    Got::List(all.into_iter().map(Got::Tensor).collect())
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    if let Some(got) = on_shapes(case, device)? {
        return Ok(got);
    }
    let x = case.tensor(0, device)?;
    let axis = || case.attr_i64("axis").expect("an axis");
    let axes = || case.attr_ints("axis").map_or(Axes::All, Axes::List);
    let num = || case.attr_i64("num").expect("num") as u32;
    Ok(match case.op.as_str() {
        "reverse" => x.reverse(axes())?.into(),
        "expand_dims" => x.expand_dims(axis())?.into(),
        "merge_dims" => {
            x.merge_dims(case.attr_i64("o").expect("an axis"), case.attr_i64("i").expect("an axis"))?.into()
        }
        "rank" => Got::Json(json!(x.rank())),
        "size" => Got::Index(x.size()?),
        "squeeze" => x.squeeze(axes())?.into(),
        "reshape" => x.reshape(NewShape::from(case.attr_ints("shape").expect("a shape")))?.into(),
        "reshape_like" => x.reshape_like(&case.tensor(1, device)?)?.into(),
        "broadcast_to" => x.broadcast_to(case.tensor(1, device)?.ragged_shape())?.into(),
        "one_hot" => one_hot(case, &x)?.into(),
        "split" if case.attr("n").is_some_and(Json::is_i64) => list(x.split(case.attr_i64("n").expect("n"), axis())?),
        "split" => list(x.split(case.attr_ints("n").expect("sizes"), axis())?),
        "dynamic_partition" => list(x.dynamic_partition(&case.tensor(1, device)?, num())?),
        "stack_dynamic_partitions" => x.stack_dynamic_partitions(&case.tensor(1, device)?, num())?.into(),
        "fill_empty_rows" => {
            let (filled, empty) = x.fill_empty_rows(&case.tensor(1, device)?)?;
            list(vec![filled, empty])
        }
        other => return Got::unsupported(other),
    })
}
