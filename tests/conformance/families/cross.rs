//! The `cross` family.

use ragged::arguments::CrossInput;
use ragged::opt::HashBuckets;
use ragged::{Device, Result, SparseTensor, Tensor};

use super::convert::sparse;
use crate::case::{Case, Value};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// An input on the device.
enum Input {
    Tensor(Box<Tensor>),
    Sparse(Box<SparseTensor>),
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let inputs = case.inputs.iter().map(|input| {
        Ok(match input {
            Value::Tensor(x) => Input::Tensor(Box::new(x.to_device(device)?)),
            Value::Sparse(x) => Input::Sparse(Box::new(sparse(x, device)?)),
            other => panic!("an input is {other:?}, not a tensor"),
        })
    });
    let inputs: Vec<Input> = inputs.collect::<Result<_>>()?;
    let inputs = inputs.iter().map(|input| match input {
        Input::Tensor(x) => CrossInput::from(&**x),
        Input::Sparse(x) => CrossInput::from(&**x),
    });
    Ok(match case.op.as_str() {
        "cross" => Tensor::cross(inputs)?.into(),
        "cross_hashed" => {
            let buckets = HashBuckets::from(case.attr_i64("num_buckets").unwrap_or(0));
            let key = case.attr_i64("hash_key").map_or(buckets.key, |key| key as u64);
            Tensor::cross_hashed(inputs, buckets.key(key))?.into()
        }
        other => return Got::unsupported(other),
    })
}
