//! The `accessors` family.

use ragged::{Device, Nested, Result, RowPartition, Tensor};
use serde_json::{Value as Json, json};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

fn index(t: Tensor) -> Got {
    Got::Index(t)
}

fn indices(all: Vec<Tensor>) -> Got {
    Got::List(all.into_iter().map(Got::Index).collect())
}

/// The nested list as JSON.
fn plain(v: &Nested) -> Json {
    match v {
        Nested::Bool(v) => json!(v),
        Nested::Int(v) => json!(i64::try_from(*v).expect("an i64")),
        Nested::Float32(v) => json!(v),
        Nested::Float(v) => json!(v),
        Nested::Str(v) => json!(String::from_utf8_lossy(v)),
        Nested::List(all) => all.iter().map(plain).collect(),
        other => panic!("{other:?} as JSON"),
    }
}

/// The accessors of the partition with the splits of the first input.
fn row_partition(case: &Case, device: &Device, part: &str) -> Result<Got> {
    let p = RowPartition::from_row_splits(case.ints(0), device)?;
    Ok(match part {
        "value_rowids" => index(p.value_rowids(device)?),
        "row_lengths" => index(p.row_lengths(device)?),
        "offsets_in_rows" => index(p.offsets_in_rows(device)?),
        "nvals" => Got::Json(json!(p.nvals())),
        _ => return Got::unsupported(&case.op),
    })
}

fn bounding_shape(case: &Case, x: &Tensor) -> Result<Got> {
    Ok(index(match case.attr("axis") {
        None => x.bounding_shape()?,
        Some(axis) if axis.is_i64() => x.bounding_size(axis.as_i64().expect("an integer"))?,
        Some(_) => x.bounding_shape_of(case.attr_ints("axis").expect("a list"))?,
    }))
}

/// The shape with its ragged dimensions.
fn dynamic_shape(x: &Tensor) -> Result<Got> {
    let host = x.to_host()?;
    Ok(Got::RaggedShape {
        uniform: host.uniform_row_lengths.iter().map(Option::is_some).collect(),
        row_splits: host.nested_row_splits,
        inner_shape: host.inner_shape.iter().map(|&d| d as i64).collect(),
    })
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    if let Some(part) = case.op.strip_prefix("row_partition.") {
        return row_partition(case, device, part);
    }
    let x = case.tensor(0, device)?;
    Ok(match case.op.as_str() {
        "values" => x.values()?.into(),
        "flat_values" => x.flat_values()?.into(),
        "row_splits" => index(x.row_splits()?),
        "row_starts" => index(x.row_starts()?),
        "row_limits" => index(x.row_limits()?),
        "row_lengths" => index(x.row_lengths(case.attr_i64("axis").unwrap_or(1))?),
        "value_rowids" => index(x.value_rowids()?),
        "nrows" => index(x.nrows()?),
        "size" => index(x.size()?),
        "rank" => Got::Json(json!(x.rank())),
        "ragged_rank" => Got::Json(json!(x.ragged_rank())),
        "uniform_row_length" => Got::Json(json!(x.uniform_row_length())),
        "static_shape" => Got::Shape(x.shape().into_iter().map(|d| d.map(|d| d as u64)).collect()),
        "dynamic_shape" => dynamic_shape(&x)?,
        "bounding_shape" => bounding_shape(case, &x)?,
        "nested_row_splits" => indices(x.nested_row_splits()?),
        "nested_row_lengths" => indices(x.nested_row_lengths()?),
        "nested_value_rowids" => indices(x.nested_value_rowids()?),
        "to_list" => Got::Json(plain(&x.to_nested()?)),
        "with_values" => x.with_values(&case.tensor(1, device)?)?.into(),
        "with_flat_values" => x.with_flat_values(&case.tensor(1, device)?)?.into(),
        // Splits have a single dtype in this crate.
        "with_row_splits_dtype" => x.into(),
        "row_splits_to_segment_ids" => index(x.row_splits_to_segment_ids()?),
        "segment_ids_to_row_splits" => index(match case.attr_i64("num_segments") {
            Some(n) => x.segment_ids_to_row_splits_of(n)?,
            None => x.segment_ids_to_row_splits()?,
        }),
        other => return Got::unsupported(other),
    })
}
