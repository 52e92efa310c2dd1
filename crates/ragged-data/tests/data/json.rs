//! JSON lines: missing values by every policy, order, types, and lines that do not fit.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema};
use ragged::{Device, Result, StructuredTensor};
use ragged_data::arrow::{FromRecordBatch, Nulls, ToRecordBatch};
use ragged_data::json;

use crate::devices::fails;
use crate::npy::Temporary;
use crate::tree::{self, Tree};

const TEXT: &str = r#"{"word": "to", "tokens": [1, 2], "at": {"y": 1, "x": 0.5}}
{"tokens": [], "at": {"x": null, "y": 2}}

{"word": null, "tokens": [null, 3], "at": null}
{"at": {"y": 4}, "word": "be", "flag": true}
"#;

fn text(records: &StructuredTensor, field: &str) -> String {
    records.field_value(field.split('.').collect::<Vec<_>>()).expect("a field").to_string()
}

#[test]
fn missing_values_follow_the_policy() -> Result<()> {
    let device = Device::cpu();
    let batch = json::from_bytes(TEXT, None)?;
    fails(
        StructuredTensor::from_record_batch(&batch, &device),
        "column word: 2 of 4 values are null, the first at position 1",
    );
    let filled = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &device)?;
    for (field, want) in [
        ("word", "tensor([b'to', b'', b'', b'be'], shape=(4,), dtype=str)"),
        ("tokens", "<ragged.RaggedTensor [[1, 2], [], [0, 3], []]>"),
        ("at.y", "tensor([1, 2, 0, 4], shape=(4,), dtype=i64)"),
        ("at.x", "tensor([0.5, 0.0, 0.0, 0.0], shape=(4,), dtype=f64)"),
        ("flag", "tensor([False, False, False, True], shape=(4,), dtype=bool)"),
    ] {
        assert_eq!(text(&filled, field), want, "{field}");
    }
    let masked = StructuredTensor::from_record_batch_masked(&batch, &device)?;
    for (path, want) in [
        ("word", "tensor([True, False, False, True], shape=(4,), dtype=bool)"),
        ("tokens", "tensor([True, True, True, False], shape=(4,), dtype=bool)"),
        ("tokens[]", "<ragged.RaggedTensor [[True, True], [], [False, True], []]>"),
        ("at", "tensor([True, True, False, True], shape=(4,), dtype=bool)"),
    ] {
        assert_eq!(masked.mask(path).expect("nulls").to_string(), want, "{path}");
    }
    // The nulls come back.
    assert_eq!(tree::all(&masked.to_arrow()?), tree::all(&arrow_array::StructArray::from(batch)));
    Ok(())
}

#[test]
fn fields_keep_their_order() -> Result<()> {
    let device = Device::cpu();
    let number = |name: &str, of| Field::new(name, of, true);
    let at = DataType::Struct(vec![number("y", DataType::Int64), number("x", DataType::Float64)].into());
    let tokens = DataType::new_list(DataType::Int64, true);
    let fields = [("word", DataType::Utf8), ("tokens", tokens), ("at", at), ("flag", DataType::Boolean)];
    let schema = Schema::new(fields.map(|(name, of)| Field::new(name, of, true)).to_vec());
    let batch = json::from_bytes(TEXT, Some(&Arc::new(schema)))?;
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    assert_eq!(names(&batch.schema()), ["word", "tokens", "at", "flag"]);
    let records = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &device)?;
    assert_eq!(records.field_names().collect::<Vec<_>>(), ["word", "tokens", "at", "flag"]);
    assert_eq!(records.field_value("at")?.records()?.field_names().collect::<Vec<_>>(), ["y", "x"]);
    let back = records.to_record_batch()?;
    assert_eq!(names(&back.schema()), ["word", "tokens", "at", "flag"]);
    let Tree::Struct(fields) = tree::at(&arrow_array::StructArray::from(back), 0) else { panic!("no struct") };
    let Tree::Struct(at) = &fields[2].1 else { panic!("no struct") };
    assert_eq!(at.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["y", "x"]);
    Ok(())
}

/// Also without a schema, at every depth.
#[test]
fn inferred_fields_have_the_order_of_the_text() -> Result<()> {
    let fields_of = |of: &DataType| match of {
        DataType::Struct(fields) => fields.clone(),
        DataType::List(item) => match item.data_type() {
            DataType::Struct(fields) => fields.clone(),
            other => panic!("{other} has no fields"),
        },
        other => panic!("{other} has no fields"),
    };
    let names = |fields: &Fields| fields.iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let batch = json::from_bytes(TEXT, None)?;
    assert_eq!(names(batch.schema().fields()), ["word", "tokens", "at", "flag"]);
    assert_eq!(names(&fields_of(batch.schema().field(2).data_type())), ["y", "x"]);
    let text =
        "{\"z\": [{\"c\": 1, \"b\": null}, {\"a\": 2}], \"y\": 1}\n{\"x\": {\"q\": 1, \"p\": 2}, \"z\": [{\"b\": 3}]}";
    let batch = json::from_bytes(text, None)?;
    assert_eq!(names(batch.schema().fields()), ["z", "y", "x"]);
    assert_eq!(names(&fields_of(batch.schema().field(0).data_type())), ["c", "b", "a"]);
    assert_eq!(names(&fields_of(batch.schema().field(2).data_type())), ["q", "p"]);
    let records = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &Device::cpu())?;
    assert_eq!(records.field_names().collect::<Vec<_>>(), ["z", "y", "x"]);
    Ok(())
}

#[test]
fn a_schema_gives_types_and_columns() -> Result<()> {
    let device = Device::cpu();
    let item = Field::new("item", DataType::UInt8, true);
    let fields = vec![
        Field::new("tokens", DataType::LargeList(Arc::new(item)), true),
        Field::new("more", DataType::Int32, true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let batch = json::from_bytes(TEXT, Some(&schema))?;
    assert_eq!(batch.schema(), schema);
    let records = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &device)?;
    assert_eq!(records.field::<u8>("tokens")?.to_string(), "<ragged.RaggedTensor [[1, 2], [], [0, 3], []]>");
    assert_eq!(records.field::<i32>("more")?.to_vec()?, [0; 4]);
    let none = json::from_bytes("", Some(&schema))?;
    assert_eq!((none.num_rows(), none.schema()), (0, schema));
    let strict = Arc::new(Schema::new(vec![Field::new("word", DataType::Utf8, false)]));
    fails(json::from_bytes(TEXT, Some(&strict)), "json::from_bytes: line 2: ");
    Ok(())
}

#[test]
fn lines_that_do_not_fit_are_named() {
    let file = Temporary::new("lines.jsonl");
    let numbers = "{\"a\": 1}\n".repeat(5000);
    for (line, says) in [
        ("{\"a\": \"x\"}", "line 5001: "),
        ("{\"a\": 2", "line 5001: "),
        ("[1]", "line 5001: "),
        ("nil", "line 5001: "),
    ] {
        std::fs::write(&file.0, format!("{numbers}{line}\n{numbers}")).expect("a file");
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
        fails(json::read(&file.0, Some(&schema)), &format!("json::read: {}: {says}", file.0.display()));
    }
    std::fs::write(&file.0, format!("{numbers}{{\"a\": [")).expect("a file");
    fails(json::read(&file.0, None), "line 5001: ");
    fails(json::read("no/such/file", None), "json::read: no/such/file: ");
}

/// More records than are decoded at a time.
#[test]
fn many_lines_are_one_batch() -> Result<()> {
    let lines: String = (0..3000).map(|k| format!("{{\"id\": {k}, \"x\": {:?}}}\n", vec![k; k % 3])).collect();
    let records = StructuredTensor::from_record_batch(&json::from_bytes(&lines, None)?, &Device::cpu())?;
    assert_eq!(records.field::<i64>("id")?.to_vec()?, (0..3000).collect::<Vec<i64>>());
    let sum: i64 = (0..3000).map(|k| k * (k % 3)).sum();
    assert_eq!(records.field::<i64>("x")?.reduce_sum(..)?.item()?, sum);
    Ok(())
}
