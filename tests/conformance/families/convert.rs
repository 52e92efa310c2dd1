//! The `convert` family.

use ragged::arguments::Padding;
use ragged::opt::{ConstantOptions, PaddedShape, with_ragged_rank};
use ragged::{DType, Device, HostTensor, HostValues, Nested, Result, SparseTensor, Tensor};
use serde_json::Value as Json;

use crate::case::{Case, Sparse, Value, cannot_be_written};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// An attribute as a dense tensor of the dtype.
fn dense(v: &Json, dtype: DType, device: &Device) -> Result<Tensor> {
    fn nested(v: &Json, dtype: DType) -> Nested {
        match v {
            Json::Array(all) => Nested::List(all.iter().map(|v| nested(v, dtype)).collect()),
            Json::Bool(b) => (*b).into(),
            Json::String(s) => s.as_str().into(),
            number if dtype.is_float() => number.as_f64().expect("a float").into(),
            // The file contains a float, for integers too.
            number => (number.as_f64().expect("a number") as i64).into(),
        }
    }
    let options = ConstantOptions::default().dtype(Some(dtype)).ragged_rank(Some(0));
    Tensor::constant(&nested(v, dtype), &options, device)
}

fn to_tensor(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    let shape = case.attr_dims("shape").map(|s| s.into_iter().map(|d| d.map_or(-1, |d| d)).collect());
    if case.attrs.get("_").is_some_and(|note| note == "default f32 for i32") {
        return Ok(x.to_tensor(PaddedShape::from(0.5f32).shape(shape))?.into());
    }
    let default = case.attr("default_value").map(|v| dense(v, x.dtype(), device)).transpose()?;
    let padding = default.as_ref().map_or(Padding::Zero, Padding::Tensor);
    Ok(x.to_tensor(PaddedShape::from(padding).shape(shape))?.into())
}

fn from_tensor(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    let Ok(ragged_rank) = usize::try_from(case.attr_i64("ragged_rank").unwrap_or(1)) else {
        return cannot_be_written("from_tensor", "a negative ragged_rank");
    };
    Ok(match (case.attr("lengths"), case.attr("padding")) {
        (Some(_), Some(_)) => return cannot_be_written("from_tensor", "both lengths and padding"),
        (None, None) => Tensor::from_tensor(&x, ragged_rank)?,
        (None, Some(padding)) => {
            Tensor::from_tensor_with_padding(&x, with_ragged_rank(&dense(padding, x.dtype(), device)?, ragged_rank))?
        }
        (Some(Json::Array(all)), None) if all.first().is_some_and(Json::is_array) => {
            let int = |n: &Json| n.as_i64().expect("a length");
            let ints = |v: &Json| v.as_array().expect("lengths").iter().map(int).collect();
            let levels: Vec<Vec<i64>> = all.iter().map(ints).collect();
            let levels: Vec<&[i64]> = levels.iter().map(Vec::as_slice).collect();
            Tensor::from_tensor_with_nested_lengths(&x, &levels)?
        }
        (Some(_), None) => {
            let lengths = case.attr_ints("lengths").expect("lengths");
            Tensor::from_tensor_with_lengths(&x, &lengths, ragged_rank)?
        }
    }
    .into())
}

/// The sparse tensor on the device.
pub fn sparse(s: &Sparse, device: &Device) -> Result<SparseTensor> {
    let (rank, n) = (s.dense_shape.len(), s.values.len());
    let indices = HostTensor::dense(&[n, rank], HostValues::I64(s.indices.clone())).to_device(device)?;
    let values = HostTensor::dense(&[n], s.values.clone()).to_device(device)?;
    let dense_shape: Vec<u64> = s.dense_shape.iter().map(|&d| d as u64).collect();
    SparseTensor::new(&indices, &values, &dense_shape)
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    match case.op.as_str() {
        "to_tensor" => to_tensor(case, device),
        "from_tensor" => from_tensor(case, device),
        "to_sparse" => {
            let s = case.tensor(0, device)?.to_sparse()?;
            Ok(Got::Sparse {
                indices: s.indices().clone(),
                values: s.values().clone(),
                dense_shape: s.dense_shape().iter().map(|&d| d as i64).collect(),
            })
        }
        "from_sparse" => match &case.inputs[0] {
            Value::Sparse(s) => Ok(Tensor::from_sparse(&sparse(s, device)?)?.into()),
            other => panic!("the input is {other:?}, not sparse"),
        },
        other => Got::unsupported(other),
    }
}
