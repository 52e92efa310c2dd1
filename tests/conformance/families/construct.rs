//! The `construct` family.

use ragged::opt::{ConstantOptions, RowIds, UniformRows, with_nrows};
use ragged::{Device, Nested, Result, Tensor};
use serde_json::Value as Json;

use crate::case::{Case, Expected, Value};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// The Python value of the JSON. If `floats`, strings such as `nan` are the numbers that JSON lacks.
fn nested(v: &Json, floats: bool) -> Nested {
    match v {
        Json::Bool(b) => (*b).into(),
        Json::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => n.into(),
            (_, Some(n)) => n.into(),
            _ => n.as_f64().unwrap_or(f64::NAN).into(),
        },
        Json::String(s) if floats => crate::case::f64_of(v).map_or_else(|_| s.as_str().into(), Nested::from),
        Json::String(s) => s.as_str().into(),
        Json::Array(all) => Nested::List(all.iter().map(|v| nested(v, floats)).collect()),
        other => panic!("no Python value of this crate: {other}"),
    }
}

fn constant(case: &Case, device: &Device) -> Result<Got> {
    let floats = match &case.expected {
        Expected::Value(Value::Tensor(t)) => t.values.dtype().is_float(),
        _ => false,
    };
    let size = |n: i64| usize::try_from(n).expect("a size");
    let options = ConstantOptions::default()
        .dtype(case.attr_dtype("dtype"))
        .ragged_rank(case.attr_i64("ragged_rank").map(size))
        .inner_shape(case.attr_ints("inner_shape").map(|s| s.into_iter().map(size).collect()));
    Ok(Tensor::constant(&nested(case.py(0), floats), &options, device)?.into())
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    if case.op == "ragged.constant" {
        return constant(case, device);
    }
    let values = case.tensor(0, device)?;
    if let Some(encoding) = case.op.strip_prefix("from_nested_") {
        let levels = case.int_lists(1);
        return Ok(match encoding {
            "row_splits" => Tensor::from_nested_row_splits(&values, &levels)?,
            "row_lengths" => Tensor::from_nested_row_lengths(&values, &levels)?,
            "value_rowids" => {
                let Some(nrows) = case.attr_ints("nested_nrows") else {
                    return Ok(Tensor::from_nested_value_rowids(&values, &levels)?.into());
                };
                if nrows.len() != levels.len() {
                    return crate::case::cannot_be_written(
                        "from_nested_value_rowids",
                        "numbers of rows of other levels",
                    );
                }
                let levels = levels.iter().zip(nrows).map(|(ids, nrows)| with_nrows(ids, nrows));
                Tensor::from_nested_value_rowids(&values, levels)?
            }
            _ => return Got::unsupported(&case.op),
        }
        .into());
    }
    let nrows = case.attr_i64("nrows");
    if case.op == "from_uniform_row_length" {
        return Ok(Tensor::from_uniform_row_length(&values, UniformRows::from(case.ints(1)[0]).nrows(nrows))?.into());
    }
    // Host integers are checked at the call, device integers at the read: both must agree.
    let on_device = case.tensor(1, device)?;
    if !on_device.dtype().is_integer() {
        return from_list(case, &values, &on_device, nrows).map(Got::from);
    }
    let host = from_list(case, &values, case.ints(1), nrows);
    let device = from_list(case, &values, &on_device, nrows).and_then(|t| t.to_host());
    match (&host, &device) {
        (Ok(host), Ok(device)) => assert_eq!(host.to_host().as_ref(), Ok(device), "host and device lists differ"),
        (Err(_), Err(_)) => {}
        other => panic!("host and device lists differ: {other:?}"),
    }
    host.map(Got::from)
}

/// The constructor of an encoding that consists of one list.
fn from_list<'a>(
    case: &Case,
    values: &Tensor,
    given: impl Into<ragged::arguments::Integers<'a>>,
    nrows: Option<i64>,
) -> Result<Tensor> {
    match case.op.as_str() {
        "from_row_splits" | "from_row_splits_mixed_splits_dtype" => Tensor::from_row_splits(values, given),
        "from_row_lengths" => Tensor::from_row_lengths(values, given),
        "from_row_starts" => Tensor::from_row_starts(values, given),
        "from_row_limits" => Tensor::from_row_limits(values, given),
        "from_value_rowids" => Tensor::from_value_rowids(values, RowIds::from(given).nrows(nrows)),
        other => panic!("no operation {other}"),
    }
}
