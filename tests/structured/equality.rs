//! Equality and numbers of records.

use ragged::{Device, Error, FieldValue, RaggedShape, RaggedTensor, Result, StructuredTensor, Update, keys};
use serde_json::{Value, json};

use crate::common::devices;
use crate::{message, records, vector};

/// Records that differ from each other.
fn different() -> Vec<Value> {
    vec![
        json!([{"a": 1, "b": {"c": ["x", "y"]}}, {"a": 2, "b": {"c": []}}]),
        json!([{"a": 1, "b": {"c": ["x", "z"]}}, {"a": 2, "b": {"c": []}}]),
        json!([{"a": 1, "b": {"c": ["x"]}}, {"a": 2, "b": {"c": ["y"]}}]),
        json!([{"a": 1, "b": {"d": ["x", "y"]}}, {"a": 2, "b": {"d": []}}]),
        json!([{"a": 1, "b": ["x", "y"]}, {"a": 2, "b": []}]),
        json!([{"a": 1.0, "b": {"c": ["x", "y"]}}, {"a": 2.0, "b": {"c": []}}]),
        json!([{"a": 1, "b": {"c": ["x", "y"]}}]),
        json!({"a": 1, "b": {"c": ["x", "y"]}}),
        json!([[{"a": 1}], [{"a": 2}]]),
        json!([[{"a": 1}, {"a": 2}], []]),
        json!([]),
    ]
}

fn all(device: &Device) -> Result<Vec<StructuredTensor>> {
    let mut out: Vec<_> = different().iter().filter(|value| **value != json!([])).map(|v| records(v, device)).collect();
    out.push(StructuredTensor::from_shape(&RaggedShape::dense(&[2], device)?)?);
    out.push(StructuredTensor::from_shape(&RaggedShape::dense(&[3], device)?)?);
    Ok(out)
}

#[test]
fn only_equal_records_are_equal() -> Result<()> {
    for (label, device) in devices() {
        let (all, again) = (all(&device)?, all(&device)?);
        for (i, a) in all.iter().enumerate() {
            let most = if device.is_cpu() { again.len() } else { 2 };
            for (j, b) in again.iter().enumerate().skip(if device.is_cpu() { 0 } else { i }).take(most) {
                assert_eq!(a.equals(b)?, i == j, "{label}: {a} and {b}");
                assert_eq!(FieldValue::from(a).equals(&b.into())?, i == j, "{label}: {a} and {b}");
            }
        }
        let a = vector(&[1, 2], &device);
        assert!(!FieldValue::from(&a).equals(&(&all[0]).into())?);
        // The order of the fields does not matter, and rows may be known to the device only.
        let x = &all[0];
        let reordered = json!([{"b": {"c": ["x", "y"]}, "a": 1}, {"b": {"c": []}, "a": 2}]);
        assert!(x.equals(&records(&reordered, &device))?);
        let both = vector(&[0, 1], &device).add(0)?;
        assert!(x.gather(&both)?.equals(x)?, "{label}");
        assert!(!x.gather(&both.reverse(0)?)?.equals(x)?, "{label}");
    }
    Ok(())
}

#[test]
fn errors_of_a_comparison_name_the_line() -> Result<()> {
    let device = Device::cpu();
    let x = records(&different()[0], &device);
    let failing = vector(&[1, 2], &device).truncatediv(&vector(&[1, 0], &device))?;
    let broken = x.with_updates([Update::set("a", &failing)])?;
    assert!(message(broken.equals(&x)).contains("truncatediv"));
    let elsewhere = records(&different()[0], &Device::cpu_unfused());
    assert!(message(x.equals(&elsewhere)).contains("equals"));
    assert!(message(FieldValue::from(&x).equals(&elsewhere.into())).contains("equals"));
    Ok(())
}

#[test]
fn len_counts_the_outermost_dimension() -> Result<()> {
    for (label, device) in devices() {
        let x = records(&json!([[{"a": 1}, {"a": 2}], [], [{"a": 3}]]), &device);
        assert_eq!((x.len()?, x.is_empty()?), (3, false), "{label}");
        assert_eq!(pollster::block_on(x.len_async())?, 3, "{label}");
        let none = x.get(keys![3..])?.records()?;
        assert_eq!((none.len()?, none.is_empty()?), (0, true), "{label}");
        let some = x.gather(&RaggedTensor::from_nested([2i64, 0, 2, 1], &device)?)?;
        assert_eq!(some.len()?, 4, "{label}");
        let one = x.get(keys![0, 1])?.records()?;
        assert!(matches!(one.len(), Err(Error::Argument { op: "len", .. })), "{label}");
        assert!(matches!(one.is_empty(), Err(Error::Argument { op: "is_empty", .. })), "{label}");
        assert!(message(pollster::block_on(one.len_async())).contains("len"), "{label}");
    }
    Ok(())
}

#[test]
fn keys_may_be_scalar_tensors() -> Result<()> {
    for (name, device) in devices() {
        let value = json!([{"a": 1, "b": {"c": ["x", "y"]}}, {"a": 2, "b": {"c": []}}, {"a": 3, "b": {"c": ["z"]}}]);
        let all = records(&value, &device);
        let index = |i: i32| RaggedTensor::from_nested(i, &device);
        for i in [0, 2, -1, -3] {
            let (at, own) = (index(i)?, (i + 3) as usize % 3);
            assert_eq!(all.get(keys![&at])?.to_value()?, value[own], "{name}");
            assert_eq!(all.get(keys![&at, "a"])?.to_value()?, value[own]["a"], "{name}");
            let words = all.get(keys![&at, "b", "c"])?;
            assert_eq!(words.to_value()?, value[own]["b"]["c"], "{name}");
        }
        let nested = records(&json!([[{"a": 1}, {"a": 2}], [{"a": 3}]]), &device);
        let second = nested.get(keys![&index(0)?, &index(1)?, "a"])?;
        assert_eq!(second.to_value()?, json!(2), "{name}");
        let outside = all.get(keys![&index(3)?, "a"]).and_then(|a| a.to_value());
        assert!(matches!(outside, Err(Error::Index { .. } | Error::Check { .. })), "{name}: {outside:?}");
        let vector = all.get(keys![&vector(&[0, 1], &device)]);
        assert!(message(vector.map(drop)).contains("an index must be a scalar"), "{name}");
    }
    Ok(())
}

#[test]
fn rows_are_those_of_a_whole_read() -> Result<()> {
    for (name, device) in devices() {
        for value in [json!([{"a": 1, "b": ["x"]}, {"a": 2, "b": []}]), json!([[{"a": 1}], [], [{"a": 2}, {"a": 3}]])] {
            let all = records(&value, &device);
            let rows = all.rows()?;
            assert_eq!(rows.len(), all.len()?, "{name}");
            assert_eq!(Value::Array(rows.collect()), value, "{name}");
        }
        let single = records(&json!({"a": 1}), &device);
        assert!(message(single.rows().map(drop)).starts_with("rows: a single record"), "{name}");
    }
    Ok(())
}
