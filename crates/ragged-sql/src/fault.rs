//! Errors of the engine as those of queries.

use std::panic::Location;

use datafusion::common::DataFusionError;
use ragged::{DType, Error, Result};

/// The name until `named` replaces it.
const UNNAMED: &str = "ragged-sql";

/// An argument that a function does not accept.
pub(crate) fn argument(what: impl Into<String>) -> Error {
    Error::Argument { op: UNNAMED, what: what.into(), location: Location::caller() }
}

/// A fault that is known before the query reads.
pub(crate) fn of_plan(why: impl Into<String>) -> DataFusionError {
    DataFusionError::Plan(why.into())
}

/// The message of an error of the engine without the line, which is one of this crate and says nothing to the author of a query.
///
/// ```
/// let error = ragged::RaggedTensor::from_row_splits([1, 2], [0, 3], &ragged::Device::cpu()).unwrap_err();
/// assert!(!ragged_sql::message(&error).contains(".rs"));
/// ```
pub fn message(error: &Error) -> String {
    let text = error.to_string();
    let place = error.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
    let end = place.and_then(|place| text.find(&place)).unwrap_or(text.len());
    let text = text[..end].trim_end_matches([',', ' ']);
    text.strip_prefix(UNNAMED).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text).into()
}

/// A fault of the engine while a query runs.
pub(crate) fn of_run(error: &Error) -> DataFusionError {
    match error {
        Error::Limit { .. } => DataFusionError::ResourcesExhausted(message(error)),
        _ => DataFusionError::Execution(message(error)),
    }
}

/// The dtype of a name, of the engine or of Arrow: `f32`, `Float32`.
///
/// # Errors
/// A name of neither.
pub(crate) fn dtype(name: &[u8]) -> Result<DType> {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let short = match name.as_str() {
        "boolean" => "bool".into(),
        "utf8" | "string" => "str".into(),
        name => name.replace("float", "f").replace("uint", "u").replace("int", "i"),
    };
    DType::from_name(&short).ok_or_else(|| {
        argument(format!(
            "{name:?} is no type; there are bool, int8 to int64, uint8 to uint64, float16, float32, float64, utf8"
        ))
    })
}
