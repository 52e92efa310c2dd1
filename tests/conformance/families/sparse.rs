//! The `sparse` family: the operations that the guide to ragged tensors uses.

use ragged::{DType, Device, Fill, Result, Scalar, SparseTensor};
use serde_json::Value as Json;

use super::convert::sparse;
use crate::case::{Case, Value};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = false;

fn operands(case: &Case, device: &Device) -> Result<Vec<SparseTensor>> {
    let one = |v: &Value| match v {
        Value::Sparse(s) => sparse(s, device),
        other => panic!("an input is {other:?}, not a sparse tensor"),
    };
    case.inputs.iter().map(one).collect()
}

fn answer(x: &SparseTensor) -> Got {
    Got::Sparse {
        indices: x.indices().clone(),
        values: x.values().clone(),
        dense_shape: x.dense_shape().iter().map(|&d| d as i64).collect(),
    }
}

/// The default value of the attribute, in the dtype.
fn fill(v: &Json, dtype: DType) -> Fill {
    match v {
        Json::String(s) => s.as_str().into(),
        v => Scalar::from_f64(dtype, v.as_f64().expect("a number")).into(),
    }
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    match case.op.as_str() {
        "sparse.concat" if case.attr_bool("expand_nonconcat_dims") => Got::unsupported("expand_nonconcat_dims"),
        "sparse.concat" => {
            let all = operands(case, device)?;
            let axis = case.attr_i64("axis").expect("an axis");
            Ok(answer(&SparseTensor::concat(&all.iter().collect::<Vec<_>>(), axis)?))
        }
        "sparse.to_dense" if case.attr("validate_indices").is_some_and(|v| v == false) => {
            Got::unsupported("unvalidated indices")
        }
        "sparse.to_dense" => {
            let all = operands(case, device)?;
            let dtype = all[0].values().dtype();
            let default = match case.attr("default_value") {
                Some(v) => fill(v, dtype),
                None => Fill::zero(dtype),
            };
            Ok(all[0].to_dense(default)?.into())
        }
        op => Got::unsupported(op),
    }
}
