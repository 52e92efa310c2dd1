//! Tensors and records as Arrow arrays.

mod lists;
mod numbers;
mod strings;
mod structs;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use ragged::{FieldValue, Result, SharedRows, SharedTensor, Tensor};

use crate::arrow::decode::MAX_DEPTH;
use crate::fault::argument;

/// An array of the values, of the type that suits them or of the given one.
pub(super) fn encode(value: &FieldValue, data_type: Option<&DataType>) -> Result<ArrayRef> {
    if depth(value) > MAX_DEPTH {
        return Err(argument(format!("values are nested {MAX_DEPTH} deep at most")));
    }
    if let FieldValue::Records(records) = value {
        records.eval()?;
    }
    encode_at("", value, data_type)
}

/// Upper bound of the number of nested lists and structs.
fn depth(value: &FieldValue) -> usize {
    match value {
        FieldValue::Records(records) => {
            let below = records.fields().map(|(_, field)| depth(field));
            below.max().unwrap_or(0).max(records.rank()) + 1
        }
        other => other.rank(),
    }
}

/// As [`encode`], of the level at a path.
fn encode_at(path: &str, value: &FieldValue, data_type: Option<&DataType>) -> Result<ArrayRef> {
    match value {
        FieldValue::Tensor(tensor) => encode_tensor(path, tensor, data_type),
        FieldValue::Records(records) => structs::records(path, records, data_type),
        other => Err(argument(format!("{}there is no Arrow type for {other:?}", named(path)))),
    }
}

/// The start of a message about a level.
fn named(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("column {path}: ") }
}

fn encode_tensor(path: &str, tensor: &Tensor, data_type: Option<&DataType>) -> Result<ArrayRef> {
    if tensor.rank() == 0 {
        let what = format!("{}a scalar has no rows; give it a dimension by expand_dims(0)", named(path));
        return Err(argument(what));
    }
    let shared = tensor.to_shared()?;
    let leaf = |path: &str, data_type: Option<&DataType>| match &shared.string_splits {
        Some(splits) => strings::strings(path, splits, &shared.values, data_type),
        None => numbers::numbers(path, &shared, data_type),
    };
    lists::nested(path, &levels(&shared), &leaf, data_type)
}

/// The rows of all dimensions but the outermost, uniform inner dimensions included.
fn levels(shared: &SharedTensor) -> Vec<SharedRows> {
    let mut out = shared.partitions.clone();
    let mut rows = shared.inner_shape.first().copied().unwrap_or(0);
    for &length in shared.inner_shape.iter().skip(1) {
        out.push(SharedRows::Uniform { rows, length });
        rows *= length;
    }
    out
}

/// The error of Arrow's own checks.
fn refused(path: &str, error: &arrow_schema::ArrowError) -> ragged::Error {
    argument(format!("{}{error}", named(path)))
}
