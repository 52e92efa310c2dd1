//! JSON lines with missing values: record batches of Arrow, in which null and absent fields are nulls.
//!
//! `ragged::JsonLines` reads lines straight into records, with errors or default values for what is missing. The batches of this
//! module take part in all that is done with nulls of Arrow: errors, empty values, or masks beside the values.
//!
//! ```
//! use ragged::{Device, StructuredTensor};
//! use ragged_data::arrow::{FromRecordBatch, Nulls};
//! use ragged_data::json;
//! let text = br#"{"word": "to", "tokens": [1, null]}
//! {"word": "be"}
//! {"word": null, "tokens": []}"#;
//! let batch = json::from_bytes(text, None)?;
//! let filled = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &Device::cpu())?;
//! assert_eq!(filled.field_value("tokens")?.to_string(), "<ragged.RaggedTensor [[1, 0], [], []]>");
//! let masked = StructuredTensor::from_record_batch_masked(&batch, &Device::cpu())?;
//! assert_eq!(masked.mask("tokens").unwrap().to_vec()?, [true, false, true]);
//! assert_eq!(masked.mask("word").unwrap().to_vec()?, [true, true, false]);
//! let e = StructuredTensor::from_record_batch(&batch, &Device::cpu()).unwrap_err();
//! assert!(e.to_string().contains("column word: 1 of 3 values is null, the first at position 2"));
//! # Ok::<(), ragged::Error>(())
//! ```

mod order;

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_json::reader::infer_json_schema;
use arrow_schema::{ArrowError, SchemaRef};
use ragged::Result;
use ragged::operation::named;

use crate::file::{self, in_file, unreadable};

pub use order::order_fields;

/// Rows that are decoded at a time.
const ROWS: usize = 1024;

/// Reads a file of JSON lines, one record in braces each, as a record batch with a column per field.
///
/// Columns have the types and the order of the schema. Without one, both are inferred from all lines: fields, of nested records
/// too, in the order in which they first occur; integers are Int64, numbers of which one has a fraction Float64, strings Utf8. Null and a field that is absent are nulls. Fields that the schema lacks are left out; blank lines are no records.
///
/// # Errors
/// A file that cannot be read; a line that is no record, that ends early, or whose values do not fit the type of their column,
/// with its number, from 1 on; a null in a column of the schema that has none.
///
/// # Cost
/// The file is held in memory; a pass over it to decode the values, before it one to infer the types, and one over the lines up to the last new field.
///
/// ```
/// let path = std::env::temp_dir().join("ragged-data-example.jsonl");
/// std::fs::write(&path, "{\"b\": 1, \"a\": [\"x\"]}\n{\"a\": null}\n").unwrap();
/// let batch = ragged_data::json::read(&path, None)?;
/// let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
/// assert_eq!((names, batch.num_rows()), (vec!["b".to_owned(), "a".to_owned()], 2));
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn read(path: impl AsRef<Path>, schema: Option<&SchemaRef>) -> Result<RecordBatch> {
    let path = path.as_ref();
    named("json::read", || {
        let text = file::read(path).map_err(in_file(path))?;
        batch((*text).as_ref(), schema).map_err(in_file(path))
    })
}

/// Reads JSON lines that are in memory; see [`read`].
///
/// # Errors
/// As [`read`].
///
/// # Cost
/// As [`read`], without the file.
///
/// ```
/// let e = ragged_data::json::from_bytes(b"{\"a\": 1}\n{\"a\": [2]}\n", None).unwrap_err();
/// assert!(e.to_string().starts_with("json::from_bytes: "));
/// # let _ = e;
/// ```
#[track_caller]
pub fn from_bytes(text: impl AsRef<[u8]>, schema: Option<&SchemaRef>) -> Result<RecordBatch> {
    named("json::from_bytes", || batch(text.as_ref(), schema))
}

fn batch(text: &[u8], schema: Option<&SchemaRef>) -> Result<RecordBatch> {
    let inferred = match schema {
        Some(schema) => Ok(schema.clone()),
        None => infer_json_schema(text, None).map(|(schema, _)| Arc::new(order_fields(text, &schema))),
    };
    let schema = inferred.map_err(|e| at_line(text, &e, |line| infer_json_schema(line, None).map(drop)))?;
    decode(text, &schema).map_err(|e| at_line(text, &e, |line| decode(line, &schema).map(drop)))
}

/// The records of a text.
fn decode(mut text: &[u8], schema: &SchemaRef) -> std::result::Result<RecordBatch, ArrowError> {
    let lines = memchr::memchr_iter(b'\n', text).take(ROWS).count() + 1;
    let mut decoder = ReaderBuilder::new(schema.clone()).with_batch_size(lines.min(ROWS)).build_decoder()?;
    let mut parts = Vec::new();
    loop {
        // Fewer bytes than all if there are as many records as are decoded at a time.
        let taken = decoder.decode(text)?;
        text = &text[taken..];
        if text.is_empty() && decoder.has_partial_record() {
            return Err(ArrowError::JsonError("the record ends early".into()));
        }
        let part = decoder.flush()?;
        let ends = text.is_empty() || (taken == 0 && part.is_none());
        parts.extend(part);
        if ends {
            break;
        }
    }
    match &parts[..] {
        [] => Ok(RecordBatch::new_empty(schema.clone())),
        [only] => Ok(only.clone()),
        parts => arrow_select::concat::concat_batches(schema, parts),
    }
}

/// The error of a text, with the number of the first line that has an error by itself, if one has.
fn at_line(
    text: &[u8],
    error: &ArrowError,
    check: impl Fn(&[u8]) -> std::result::Result<(), ArrowError>,
) -> ragged::Error {
    let mut lines = text.split(|&byte| byte == b'\n').enumerate();
    let found = lines.find_map(|(k, line)| check(line).err().map(|e| (k, e)));
    let reason = |e: &ArrowError| match e {
        ArrowError::JsonError(what) => what.chars().take(300).collect::<String>(),
        other => other.to_string().chars().take(300).collect(),
    };
    match found {
        Some((k, e)) => unreadable(format!("line {}: {}", k + 1, reason(&e))),
        None => unreadable(reason(error)),
    }
}
