//! Records of a given schema: dtypes that do not depend on the values of a batch.

use ragged::{DType, Device, FieldValue, JsonLines, JsonType, Result, StructuredTensor};
use serde::Serialize;
use serde_json::{Value, json};

use crate::common::devices;
use crate::{message, records};

/// Records with documents of tokens, which may have none.
fn documents(price: DType, tokens: DType) -> JsonType {
    JsonType::list(JsonType::record([
        ("docs", JsonType::list(JsonType::record([("tokens", JsonType::list(tokens))]))),
        ("price", price.into()),
    ]))
}

fn with_schema(value: &Value, schema: &JsonType, device: &Device) -> Result<StructuredTensor> {
    StructuredTensor::from_serialize_with_schema(value, schema, device)
}

#[test]
fn every_batch_has_the_dtypes_of_the_schema() -> Result<()> {
    let batches = [
        json!([{"docs": [{"tokens": [1, 2]}, {"tokens": []}], "price": 2}, {"docs": [], "price": 0.5}]),
        json!([{"docs": [], "price": 3}, {"docs": [], "price": 4}]),
        json!([]),
    ];
    for (label, device) in devices() {
        for (price, tokens) in [(DType::F32, DType::I64), (DType::F16, DType::U8), (DType::F32, DType::F32)] {
            let schema = documents(price, tokens);
            for batch in &batches {
                let x = with_schema(batch, &schema, &device)?;
                assert_eq!(x.schema(), schema, "{label} {batch}");
                assert_eq!(x.field_value(["docs", "tokens"])?.tensor()?.dtype(), tokens, "{label} {batch}");
                assert_eq!(x.field_value("price")?.tensor()?.dtype(), price, "{label} {batch}");
                assert_eq!(x.promote(["docs", "tokens"], "tokens")?.rank(), 1, "{label} {batch}");
                assert_eq!(x.len()?, batch.as_array().map_or(0, Vec::len), "{label} {batch}");
                // The records of a batch are those of the next one with its schema.
                assert!(with_schema(batch, &x.schema(), &device)?.equals(&x)?, "{label} {batch}");
            }
        }
    }
    Ok(())
}

#[test]
fn schemas_of_inferred_records_are_theirs() -> Result<()> {
    let device = Device::cpu();
    let all = [
        (json!({"a": 1}), "{a: i32}"),
        (json!([[{"a": [[1.5]], "b": {"c": "x"}}], []]), "[[{a: [[f32]], b: {c: str}}]]"),
        (json!([{"a": 1i64 << 40, "b": true}]), "[{a: i64, b: bool}]"),
        (json!([{"a": []}]), "[{a: [f32]}]"),
    ];
    for (value, want) in all {
        let x = records(&value, &device);
        assert_eq!(x.schema().to_string(), want);
        assert!(with_schema(&value, &x.schema(), &device)?.equals(&x)?, "{value}");
    }
    let none = JsonType::list(JsonType::record([("a", JsonType::Inferred)]));
    assert_eq!(with_schema(&json!([{"a": [2]}]), &none, &device)?.schema().to_string(), "[{a: [i32]}]");
    Ok(())
}

#[test]
fn floats_of_f64_round_trip() -> Result<()> {
    let device = Device::cpu();
    let value = json!([{"a": 0.1}, {"a": 1e-300}, {"a": 16777217.0}]);
    let schema = JsonType::list(JsonType::record([("a", DType::F64)]));
    assert_eq!(with_schema(&value, &schema, &device)?.to_value()?, value);
    assert_ne!(records(&value, &device).to_value()?, value);
    Ok(())
}

#[test]
fn structs_take_a_schema() -> Result<()> {
    #[derive(Serialize)]
    struct Item {
        id: u64,
        weights: Vec<f64>,
    }
    let schema =
        JsonType::list(JsonType::record([("id", JsonType::from(DType::U64)), ("weights", JsonType::list(DType::F64))]));
    let items = [Item { id: 7, weights: vec![] }, Item { id: 8, weights: vec![0.1] }];
    for n in 0..=2 {
        let x = StructuredTensor::from_serialize_with_schema(&items[..n], &schema, &Device::cpu())?;
        assert_eq!(x.schema(), schema);
        assert_eq!(x.len()?, n);
    }
    Ok(())
}

#[test]
fn lines_take_the_schema_of_records() -> Result<()> {
    let device = Device::cpu();
    let first = JsonLines::new(&b"{\"a\": 1, \"b\": [0.5]}"[..]).read(&device)?;
    assert_eq!(first.schema().to_string(), "[{a: i64, b: [f64]}]");
    let mut lines = JsonLines::new(&b"{\"a\": 2, \"b\": []}"[..]).with_schema(first.schema());
    assert_eq!(lines.read(&device)?.schema(), first.schema());
    let pairs = JsonType::list(first.schema());
    let says = message(JsonLines::new(&b"{}"[..]).with_schema(pairs).read(&device));
    assert!(says.contains("the schema must be a record, but is [[{a: i64, b: [f64]}]]"), "{says}");
    Ok(())
}

#[test]
fn values_of_other_types_are_errors_with_a_path() {
    let device = Device::cpu();
    let schema = documents(DType::F32, DType::U8);
    let batch = |tokens: Value| json!([{"docs": [{"tokens": [1]}, {"tokens": tokens}], "price": 1}]);
    for (value, says) in [
        (batch(json!([1, 300])), "[0].docs[1].tokens[1]: 300 is not a value of u8"),
        (batch(json!([0.5])), "[0].docs[1].tokens[0]: 0.5 is not a value of u8"),
        (batch(json!(7)), "[0].docs[1].tokens: 7 does not fit: the field holds lists"),
        (batch(json!(["x"])), "[0].docs[1].tokens[0]: the string \"x\" does not fit: the field holds values of u8"),
        (json!([{"docs": []}]), "[0].price: the field is missing"),
        (json!([{"docs": [], "price": 1, "x": 2}]), "[0].x: the records have no such field"),
        (json!([{"docs": [], "price": null}]), "[0].price: null does not fit: the field holds values of f32"),
        (json!({"docs": [], "price": 1}), "a record does not fit: the field holds lists"),
    ] {
        let message = message(with_schema(&value, &schema, &device));
        assert!(message.contains(says), "{message}, without {says}");
    }
    let twice = JsonType::record([("a", DType::F32), ("a", DType::F32)]);
    assert!(message(with_schema(&json!({}), &twice, &device)).contains("field \"a\" is given twice"));
    let numbers = JsonType::list(DType::I32);
    assert!(message(with_schema(&json!([1]), &numbers, &device)).contains("holds no records"));
    let x = FieldValue::from_serialize_with_schema(&[1], &JsonType::from(DType::I32), &device);
    assert!(message(x).contains("a list does not fit"));
}
