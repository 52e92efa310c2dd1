//! Nulls and missing fields of JSON lines and of serialized values: errors, skipped records, or default values.

use std::collections::BTreeSet;
use std::io::Cursor;

use ragged::{DType, Device, FieldValue, JsonLines, JsonOptions, JsonType, Result, StructuredTensor};
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

/// The options that a number counts up to: each policy on or off.
fn options(schema: &JsonType, k: u32) -> JsonOptions {
    let is = |bit: u32| k >> bit & 1 == 1;
    let policies = JsonOptions::default().default_nulls(is(0)).skip_misfits(is(1)).ignore_unknown_fields(is(2));
    if is(3) { policies.schema(schema.clone()) } else { policies }
}

#[test]
fn serialized_values_follow_the_policies_of_lines() -> Result<()> {
    let full = json!({"i": 7, "s": "x", "l": [[1]], "r": {"a": 2, "t": ["y"]}});
    let given = [
        full.clone(),
        json!({"i": null, "s": null, "l": null, "r": null}),
        json!({}),
        json!({"i": 1, "s": "z", "l": [null, [null, 3]], "r": {"t": [null]}}),
        json!({"i": 1, "s": "z", "l": [], "r": {"a": 1, "t": [], "u": 5}, "v": [null]}),
        json!({"i": "text", "s": "z", "l": [], "r": {"a": 1, "t": []}}),
        full.clone(),
    ];
    let schema = StructuredTensor::from_serialize(&[&full], &Device::cpu())?.schema();
    let mut found = BTreeSet::new();
    for first in 0..given.len() {
        for k in 0..16 {
            let options = options(&schema, k);
            let given = &given[first..];
            let of_values = StructuredTensor::from_serialize_with(given, &options, &Device::cpu());
            let of_lines = read(given, |lines| lines.with_options(options.clone()));
            let text = |read: Result<StructuredTensor>| match read.and_then(|records| records.to_value()) {
                Ok(value) => value.to_string(),
                Err(_) => "an error".to_owned(),
            };
            let (of_values, of_lines) = (text(of_values), text(of_lines));
            assert_eq!(of_values, of_lines, "from {first}, {options:?}");
            found.insert(of_values);
        }
    }
    assert!(found.len() > 9, "the policies differ: {found:?}");
    let error = message(StructuredTensor::from_serialize_with(&given, &JsonOptions::default(), &Device::cpu()));
    assert!(error.starts_with("StructuredTensor::from_serialize_with: [1].i: null does not fit"), "{error}");
    Ok(())
}

#[test]
fn nulls_of_options_are_default_values() -> Result<()> {
    #[derive(serde::Serialize)]
    enum Kind {
        Plain,
        Sized(Option<u8>),
        Named { size: Option<u8>, unit: Option<&'static str> },
    }
    #[derive(serde::Serialize)]
    struct Item {
        price: Option<f64>,
        tags: Option<Vec<Option<&'static str>>>,
    }
    let device = Device::cpu();
    let items = [
        Item { price: Some(0.5), tags: Some(vec![Some("a"), None]) },
        Item { price: None, tags: None },
        Item { price: Some(2.5), tags: Some(vec![]) },
    ];
    let defaults = JsonOptions::default().default_nulls(true);
    let records = StructuredTensor::from_serialize_with(&items, &defaults, &device)?;
    let want = json!([{"price": 0.5, "tags": ["a", ""]}, {"price": 0.0, "tags": []}, {"price": 2.5, "tags": []}]);
    assert_eq!(records.to_value()?, want);
    let whole = JsonOptions::default().skip_misfits(true);
    let records = StructuredTensor::from_serialize_with(&items[1..], &whole, &device)?;
    assert_eq!(records.to_value()?, json!([{"price": 2.5, "tags": []}]));
    let sizes = [Kind::Sized(Some(3)), Kind::Sized(None)];
    let sizes = StructuredTensor::from_serialize_with(&sizes, &defaults, &device)?;
    assert_eq!(sizes.to_value()?, json!([{"Sized": 3}, {"Sized": 0}]));
    let named = [
        Kind::Named { size: Some(3), unit: Some("m") },
        Kind::Named { size: None, unit: Some("s") },
        Kind::Named { size: Some(1), unit: None },
    ];
    let named = StructuredTensor::from_serialize_with(&named, &defaults, &device)?;
    let want = json!([{"size": 3, "unit": "m"}, {"size": 0, "unit": "s"}, {"size": 1, "unit": ""}]);
    assert_eq!(named.field_value("Named")?.to_value()?, want);
    let plain = FieldValue::from_serialize_with(&[Kind::Plain, Kind::Plain], &defaults, &device)?;
    assert_eq!(plain.to_value()?, json!(["Plain", "Plain"]));
    Ok(())
}
