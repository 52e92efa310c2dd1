//! Nulls and missing fields of JSON lines: errors, skipped lines, or default values.

use std::io::Cursor;

use ragged::{DType, Device, JsonLines, JsonType, Result, StructuredTensor};
use serde_json::{Value, json};

use crate::message;

/// Lines with the records of a list.
fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

type Lines = JsonLines<Cursor<Vec<u8>>>;

#[track_caller]
fn read(records: &[Value], set: impl FnOnce(Lines) -> Lines) -> Result<StructuredTensor> {
    set(JsonLines::new(Cursor::new(lines(records)))).read(&Device::cpu())
}

#[test]
fn nulls_and_missing_fields_are_default_values() -> Result<()> {
    let full = json!({"b": true, "i": 7, "f": 0.5, "s": "x", "l": [[1]], "r": {"a": 2, "t": ["y"]}});
    let none = json!({"b": false, "i": 0, "f": 0.0, "s": "", "l": [], "r": {"a": 0, "t": []}});
    let nulls = json!({"b": null, "i": null, "f": null, "s": null, "l": null, "r": null});
    let inner = json!({"b": true, "i": 1, "f": 1.0, "s": "z", "l": [null, [null, 3]], "r": {"t": [null]}});
    let filled = json!({"b": true, "i": 1, "f": 1.0, "s": "z", "l": [[], [0, 3]], "r": {"a": 0, "t": [""]}});
    let given = [full.clone(), nulls, json!({}), inner, full.clone()];
    let want = json!([full, none, none, filled, full]);
    assert_eq!(read(&given, JsonLines::default_nulls)?.to_value()?, want);
    // With a schema, also before the first value.
    let schema = read(&given[..1], |lines| lines)?.schema();
    let tail = read(&given[1..], |lines| lines.with_schema(schema).default_nulls())?;
    assert_eq!(tail.to_value()?, json!([none, none, filled, full]));
    Ok(())
}

#[test]
fn every_dtype_has_a_default_value() -> Result<()> {
    for dtype in DType::ALL {
        let schema = JsonType::record([("x", dtype)]);
        let x = read(&[json!({"x": null}), json!({})], |lines| lines.with_schema(schema).default_nulls())?;
        let x = x.field_value("x")?.tensor()?;
        assert_eq!((x.dtype(), x.len()?), (dtype, 2));
        assert!(x.equals(&ragged::Tensor::zeros(x.ragged_shape(), dtype)?)?, "{dtype}: {x}");
    }
    Ok(())
}

#[test]
fn nulls_do_not_fit_otherwise() -> Result<()> {
    let given = [json!({"a": [1]}), json!({"a": [2, null]}), json!({"a": null}), json!({}), json!({"a": [3]})];
    let error = message(read(&given, |lines| lines));
    assert!(error.contains("line 2: a[1]: null does not fit"), "{error}");
    assert_eq!(read(&given, JsonLines::skip_misfits)?.to_value()?, json!([{"a": [1]}, {"a": [3]}]));
    let error = message(read(&[json!({"a": null}), json!({"a": 1})], JsonLines::default_nulls));
    assert!(error.contains("line 1: a: null has no default value"), "{error}");
    assert!(error.contains("give a schema"), "{error}");
    Ok(())
}

#[test]
fn texts_in_pieces_give_the_same_records() -> Result<()> {
    // Enough text for several pieces, which are parsed in parallel.
    let record = |i: usize| match i % 5 {
        0 => json!({"id": i, "words": ["a", null]}),
        1 => json!({"id": null, "words": null}),
        2 => json!({"words": [format!("w{i}")]}),
        _ => json!({"id": i, "words": []}),
    };
    let given: Vec<Value> = (0..20_000).map(record).collect();
    let read = read(&given, JsonLines::default_nulls)?;
    let ids: Vec<usize> = (0..20_000).map(|i| if matches!(i % 5, 1 | 2) { 0 } else { i }).collect();
    assert_eq!(read.field_value("id")?.to_value()?, json!(ids));
    let words = read.field_value("words")?.to_value()?;
    assert_eq!((&words[0], &words[1], &words[2]), (&json!(["a", ""]), &json!([]), &json!(["w2"])));
    Ok(())
}
