//! Misuse of records: a clear error at the line of the call, and no panic.

use ragged::{Device, FieldValue, HostTensor, HostValues, Result, StructuredTensor, Update, keys};
use serde_json::{Value, json};

use crate::{message, records, rows, vector};

/// Fails unless the message contains every part.
#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn fields_of_unequal_rows() {
    let device = Device::cpu();
    let (two, three) = (vector(&[1, 2], &device), vector(&[1, 2, 3], &device));
    let e = message(StructuredTensor::from_fields_and_rank([("a", &two), ("b", &three)], 1));
    says(&e, &["from_fields_and_rank", "\"b\" has 3 rows", "2 records"]);
    let (a, b) = (rows(&[0, 1, 3], &device), rows(&[0, 2, 3], &device));
    let e = message(StructuredTensor::from_fields([("a", &a), ("b", &b)], [2, -1]));
    says(&e, &["\"b\"", "row 0 has 1 element on the left, 2 on the right"]);
    says(&message(StructuredTensor::from_fields([("a", &a)], [2, 1])), &["dimension 1", "given as 1"]);
    says(&message(StructuredTensor::from_fields([("a", &two)], [3])), &["dimension 0", "given as 3", "[2]"]);
    says(&message(StructuredTensor::from_fields_and_rank([("a", &two)], 2)), &["\"a\" has rank 1"]);
    says(&message(StructuredTensor::from_fields_and_rank([("a", &two)], -1)), &["rank must not be negative"]);
    let none: [(&str, FieldValue); 0] = [];
    says(&message(StructuredTensor::from_fields_and_rank(none, 0)), &["at least one field", "from_shape"]);
}

#[test]
fn names() {
    let device = Device::cpu();
    let x = vector(&[1, 2], &device);
    says(&message(StructuredTensor::from_fields_and_rank([("a", &x), ("a", &x)], 1)), &["\"a\" is given twice"]);
    says(&message(StructuredTensor::from_fields_and_rank([("", &x)], 1)), &["a field needs a name"]);
    says(&message(StructuredTensor::from_fields_and_rank([("12", &x)], 1)), &["\"12\"", "a number is an index"]);
    let e = message(StructuredTensor::from_serialize(&json!([{"a": {"1": 2}}]), &device));
    says(&e, &["a.1: ", "a number is an index"]);
}

#[test]
fn unknown_and_doubled_paths() {
    let device = Device::cpu();
    let x = records(&json!([{"a": 1, "b": {"c": [1]}}]), &device);
    says(&message(x.field_value("z")), &["no field \"z\"", "a, b"]);
    says(&message(x.field_value(["b", "z"])), &["no field \"z\"", "c"]);
    says(&message(x.field_value(["a", "z"])), &["a is a tensor", "\"z\""]);
    says(&message(x.get(keys![0, "z"])), &["no field \"z\""]);
    says(&message(x.get(keys![0, "a", "z"])), &["no field \"z\""]);
    says(&message(x.get(keys!["a"])), &["\"a\" follows 0 items", "1 dimensions"]);
    says(&message(x.get(keys![0, 0, "a"])), &["\"a\" follows 2 items"]);
    says(&message(x.get(keys![.., ..])), &["2 items for the 1 dimensions"]);
    says(&message(x.get(keys![1])), &["index 1", "size 1"]);
    let one = vector(&[7], &device);
    let twice = || [Update::set("a", &one), Update::remove("a")];
    says(&message(x.with_updates(twice())), &["a is updated twice"]);
    let nested = || [Update::set(["b", "c"], &one), Update::remove("b")];
    says(&message(x.with_updates(nested())), &["both b and b.c"]);
    says(&message(x.with_updates([Update::set(["z", "c"], &one)])), &["z.c", "no field \"z\""]);
    says(&message(x.with_updates([Update::set(["a", "c"], &one)])), &["a.c", "\"a\" is a tensor"]);
    says(&message(x.with_updates([Update::remove("z")])), &["z cannot be removed"]);
    says(&message(x.with_updates([Update::apply("z", Ok::<FieldValue, _>)])), &["function cannot update z"]);
    says(&message(x.with_updates([Update::set(Vec::<String>::new(), &one)])), &["a path needs at least one name"]);
    says(&message(x.with_updates([Update::set("", &one)])), &["a field needs a name"]);
    says(&message(x.promote("a", "z")), &["at least two names"]);
    says(&message(x.promote(["b", "z"], "z")), &["no field \"z\""]);
    says(&message(x.promote(["b", "c"], "")), &["a field needs a name"]);
    // The records themselves are unchanged.
    assert_eq!(x.to_value().expect("read"), json!([{"a": 1, "b": {"c": [1]}}]));
}

#[test]
fn axes_and_other_records() {
    let device = Device::cpu();
    let x = records(&json!([{"a": 1}, {"a": 2}]), &device);
    let single = records(&json!({"a": 1}), &device);
    says(&message(x.merge_dims(0, 1)), &["axis 1 is out of range for rank 1"]);
    says(&message(x.expand_dims(3)), &["axis 3"]);
    says(&message(x.expand_dims(i64::MIN)), &["axis"]);
    says(&message(single.gather(&vector(&[0], &device))), &["a single record"]);
    let none: [&StructuredTensor; 0] = [];
    says(&message(StructuredTensor::concat(&none, 0)), &["at least one"]);
    says(&message(StructuredTensor::concat(&[&single], 0)), &["axis 0"]);
    let other = records(&json!([{"b": 1}]), &device);
    says(&message(StructuredTensor::concat(&[&x, &other], 0)), &["same fields", "\"a\""]);
    let nested = records(&json!([{"a": {"b": 1}}]), &device);
    says(&message(StructuredTensor::concat(&[&x, &nested], 0)), &["tensor in some records"]);
    says(&message(x.field_value("a").and_then(|a| a.records())), &["a tensor of i32"]);
    says(&message(FieldValue::from(&x).tensor()), &["records with the fields a"]);
}

#[test]
fn values_that_do_not_fit() {
    let device = Device::cpu();
    for (value, parts) in [
        (json!([{"a": 1}, {"a": "x"}]), &["[1].a: ", "the string \"x\"", "numbers"][..]),
        (json!([{"a": 1}, {"a": [1]}]), &["[1].a: ", "a list", "numbers"]),
        (json!([{"a": [1]}, {"a": [[1]]}]), &["[1].a[0]: ", "a list"]),
        (json!([{"a": {"b": [true, null]}}]), &["[0].a.b[1]: ", "null"]),
        (json!([{"a": 1}, 5]), &["[1]: ", "5 does not fit", "records"]),
        (json!([{"a": 1}, {"a": 1, "b": 2}]), &["[1].b: ", "no such field"]),
        (json!([{"a": 1, "b": 2}, {"a": 1}]), &["[1].b: ", "missing"]),
        (json!([-1, u64::MAX]), &["[1]: ", "beyond i64"]),
        (json!([u64::MAX, -1]), &["[1]: ", "-1"]),
        (json!(null), &["null"]),
        (json!([[1], 2]), &["[1]: ", "lists"]),
    ] {
        says(&message(FieldValue::from_serialize(&value, &device)), parts);
    }
    says(&message(StructuredTensor::from_serialize(&json!([1, 2]), &device)), &["no records", "[2]"]);
    says(&message(FieldValue::from_serialize(&i128::MAX, &device)), &["more than 64 bits"]);
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    says(&message(FieldValue::from_serialize(&keys, &device)), &["keys of a map must be strings"]);
}

#[test]
fn values_that_json_lacks() {
    let device = Device::cpu();
    let nan = HostTensor::dense(&[2], HostValues::F32(vec![1.0, f32::NAN])).to_device(&device).expect("a vector");
    let x = StructuredTensor::from_fields_and_rank([("a", &nan)], 1).expect("records");
    says(&message(x.to_value()), &["a: ", "NaN"]);
    let bytes = HostTensor::dense(&[1], HostValues::Str(vec![vec![0xff]])).to_device(&device).expect("a vector");
    let x = StructuredTensor::from_fields_and_rank([("a", &bytes)], 1).expect("records");
    says(&message(x.to_value()), &["a: ", "UTF-8"]);
}

/// A list in a list, and so on.
fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inside, _| Value::Array(vec![inside]))
}

#[test]
fn depth_is_bounded() {
    let device = Device::cpu();
    assert_eq!(FieldValue::from_serialize(&deep(60), &device).expect("60 levels").rank(), 60);
    // Values of JSON are dropped recursively, which takes more stack than a test thread has.
    let in_a_large_stack = || {
        let value = deep(10_000);
        let e = message(FieldValue::from_serialize(&value, &Device::cpu()));
        says(&e, &["nested deeper than 128 levels"]);
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(in_a_large_stack).expect("a thread");
    thread.join().expect("no overflow");
    let mut x = StructuredTensor::from_fields_and_rank([("a", &vector(&[1], &device))], 1).expect("records");
    let error = (0..200).find_map(|_| match StructuredTensor::from_fields_and_rank([("a", &x)], 1) {
        Ok(deeper) => {
            x = deeper;
            None
        }
        Err(e) => Some(e),
    });
    says(&error.expect("an error").to_string(), &["nested 128 deep at most"]);
}

#[test]
fn records_cannot_be_nested_beyond_the_limit_by_updates() -> Result<()> {
    let x = vector(&[1, 2], &Device::cpu());
    let mut records = StructuredTensor::from_fields_and_rank([("x", &x)], 1)?;
    for _ in 0..1000 {
        match records.with_updates([Update::set("below", records.clone())]) {
            Ok(deeper) => records = deeper,
            Err(e) => {
                assert!(e.to_string().contains("deep"), "{e}");
                return Ok(());
            }
        }
    }
    panic!("no limit")
}

#[test]
fn floats_beyond_f32_are_kept() -> Result<()> {
    let records = FieldValue::from_serialize(&json!([1e300, 0.5]), &Device::cpu())?;
    assert_eq!(records.to_value()?, json!([1e300, 0.5]));
    Ok(())
}
