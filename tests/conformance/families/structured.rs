//! The `structured` family: records of named fields.

use ragged::arguments::Index;
use ragged::{
    DType, Device, FieldPath, FieldValue, Key, RaggedShape, Result, RowPartition, StructuredTensor, Tensor, Update,
};
use serde_json::Value as Json;

use crate::case::{Case, Value};
use crate::got::Got;

/// Whether every case must pass. The inputs of most cases are JSON.
pub const CLAIMED: bool = cfg!(feature = "json");

#[cfg(feature = "json")]
fn from_json(value: &Json, device: &Device) -> Result<FieldValue> {
    FieldValue::from_serialize(value, device)
}
#[cfg(not(feature = "json"))]
fn from_json(_: &Json, _: &Device) -> Result<FieldValue> {
    unreachable!("such cases are unsupported")
}

#[cfg(feature = "json")]
fn to_json(records: &StructuredTensor) -> Result<Got> {
    records.to_value().map(Got::Json)
}
#[cfg(not(feature = "json"))]
fn to_json(_: &StructuredTensor) -> Result<Got> {
    Got::unsupported("feature json")
}

/// Input `i`, a plain value, as records.
fn records(case: &Case, i: usize, device: &Device) -> Result<StructuredTensor> {
    from_json(case.py(i), device)?.records()
}

/// The fields of input 0, by name.
fn fields(case: &Case, device: &Device) -> Result<Vec<(String, Tensor)>> {
    let Value::Dict(all) = &case.inputs[0] else { panic!("the input is {:?}, not a dict", case.inputs[0]) };
    let one = |(name, value): &(String, Value)| match value {
        Value::Tensor(t) => Ok((name.clone(), t.to_device(device)?)),
        other => panic!("a field is {other:?}, not a tensor"),
    };
    all.iter().map(one).collect()
}

fn named(fields: &[(String, Tensor)]) -> impl Iterator<Item = (&str, FieldValue)> {
    fields.iter().map(|(name, tensor)| (name.as_str(), tensor.into()))
}

fn path(v: &Json) -> FieldPath {
    match v {
        Json::String(name) => name.as_str().into(),
        v => {
            let names = v.as_array().expect("a path").iter().map(|name| name.as_str().expect("a name"));
            names.collect::<Vec<_>>().into()
        }
    }
}

fn key(v: &Json) -> Key<'static> {
    match v {
        Json::String(name) => name.as_str().into(),
        Json::Number(i) => i.as_i64().expect("an index").into(),
        v => {
            let part = |k: usize| v["slice"][k].as_i64();
            Index::Slice { start: part(0), stop: part(1), step: part(2).unwrap_or(1) }.into()
        }
    }
}

fn keys(v: &Json) -> Vec<Key<'static>> {
    v.as_array().expect("a list of keys").iter().map(key).collect()
}

/// The functions that the cases name.
fn function(name: &str, value: FieldValue) -> Result<Tensor> {
    let x = value.tensor()?;
    match name {
        "us_to_europe" => ((&x * 2.54f32)? + 17.0f32)?.round(),
        "plus1" => &x + 1,
        "negate" => x.negative(),
        "row_lengths" => x.row_lengths(1),
        other => panic!("no function {other}"),
    }
}

fn updates(case: &Case, device: &Device) -> Result<Vec<Update<'static>>> {
    let one = |v: &Json| {
        let at = path(&v[0]);
        Ok(match v[1].as_str().expect("a kind") {
            "delete" => Update::remove(at),
            "fn" => {
                let name = v[2].as_str().expect("a function").to_owned();
                Update::apply(at, move |value| function(&name, value))
            }
            "dense" | "ragged" | "struct" => Update::set(at, from_json(&v[2], device)?),
            other => panic!("no kind {other}"),
        })
    };
    case.attr("updates").expect("updates").as_array().expect("a list").iter().map(one).collect()
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let is_json = case.inputs.iter().any(|v| matches!(v, Value::Py(_)));
    if is_json && !cfg!(feature = "json") {
        return Got::unsupported("feature json");
    }
    let op = case.op.strip_prefix("structured.").unwrap_or(&case.op);
    let axis = |name: &str| case.attr_i64(name).unwrap_or_else(|| panic!("no attribute {name}"));
    match op {
        "from_pyval" => return Ok(from_json(case.py(0), device)?.into()),
        "from_fields" | "to_pyval_of_fields" => {
            let sizes = case.attr_dims("shape").unwrap_or_default();
            let sizes: Vec<i64> = sizes.iter().map(|size| size.unwrap_or(-1)).collect();
            let made = StructuredTensor::from_fields(named(&fields(case, device)?), sizes)?;
            return if op == "from_fields" { Ok(made.into()) } else { to_json(&made) };
        }
        "from_fields_and_rank" => {
            let fields = fields(case, device)?;
            return Ok(StructuredTensor::from_fields_and_rank(named(&fields), axis("rank"))?.into());
        }
        "from_shape" => {
            let lengths = super::shape_ops::lengths(case.attr("lengths").expect("lengths"));
            let shape = RaggedShape::from_lengths(&lengths, device)?;
            return Ok(StructuredTensor::from_shape(&shape)?.into());
        }
        _ => {}
    }
    let x = records(case, 0, device)?;
    Ok(match op {
        "row_partitions" => {
            let splits = |p: &RowPartition| {
                let splits = crate::case::ints(&p.row_splits(device)?.to_host()?);
                Ok(Got::RowPartition { splits: splits.iter().map(|&n| n as u32).collect() })
            };
            Got::List(x.row_partitions().iter().map(splits).collect::<Result<_>>()?)
        }
        "to_pyval" => to_json(&x)?,
        "getitem" => x.get(keys(case.attr("key").expect("a key")))?.into(),
        "getitem_path" => {
            let path = keys(case.attr("path").expect("a path"));
            path.into_iter().try_fold(FieldValue::from(x), |value, key| value.get([key]))?.into()
        }
        "shape" => Got::Shape(x.shape().iter().map(|size| size.map(|n| n as u64)).collect()),
        "rank" => Got::Json(x.rank().into()),
        "size" => Got::Index(x.size()?),
        "nrows" => x.nrows()?.map_or(Got::Json(Json::Null), Got::Index),
        "field_names" => Got::Json(x.field_names().collect()),
        "field_value" => x.field_value(path(case.attr("path").expect("a path")))?.into(),
        "merge_dims" => x.merge_dims(axis("o"), axis("i"))?.into(),
        "expand_dims" => x.expand_dims(axis("axis"))?.into(),
        "partition_outer_dimension" => {
            let rows = RowPartition::from_row_lengths(case.ints(1), device)?;
            x.partition_outer_dimension(&rows)?.into()
        }
        "promote" | "promote_getitem" => {
            let name = case.attr_str("new").expect("a name");
            let promoted = x.promote(path(case.attr("path").expect("a path")), name)?;
            match op {
                "promote" => promoted.into(),
                _ => promoted.get([Key::from(axis("i")), Key::from(name)])?.into(),
            }
        }
        "with_updates" => x.with_updates(updates(case, device)?)?.into(),
        "with_updates_field" => {
            let updated = x.with_updates(updates(case, device)?)?;
            updated.field_value(path(case.attr("path").expect("a path")))?.into()
        }
        "concat" => StructuredTensor::concat(&[&x, &records(case, 1, device)?], axis("axis"))?.into(),
        "gather" => x.gather(&case.tensor(1, device)?)?.into(),
        "zeros_like" => x.zeros_like(DType::F32)?.into(),
        "ones_like" => x.ones_like(DType::F32)?.into(),
        other => return Got::unsupported(other),
    })
}
