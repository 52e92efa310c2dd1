//! Operations on records, beyond the cases of the conformance family.

use ragged::opt::{along, batched};
use ragged::{
    DType, Device, Ellipsis, FieldPath, FieldValue, HostTensor, HostValues, NewAxis, RaggedShape, Result, RowPartition,
    StructuredTensor, Update, keys,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::common::devices;
use crate::{records, rows, vector};

/// Documents with words, as records of shape `[3]`.
fn documents(device: &Device) -> StructuredTensor {
    records(
        &json!([
            {"id": 1, "doc": {"title": "t1", "words": [{"n": [1, 2], "w": "a"}, {"n": [], "w": "b"}]}},
            {"id": 2, "doc": {"title": "t2", "words": []}},
            {"id": 3, "doc": {"title": "t3", "words": [{"n": [3], "w": "c"}]}},
        ]),
        device,
    )
}

#[test]
fn ellipses_and_new_axes_count_in_the_dimensions_of_the_records() -> Result<()> {
    for (_, device) in devices() {
        let x = records(&json!([[{"a": [1]}, {"a": [2, 3]}], [{"a": []}]]), &device);
        let a = |keys: &[ragged::Key]| x.get(keys)?.to_value();
        assert_eq!(a(&keys![Ellipsis, "a"])?, json!([[[1], [2, 3]], [[]]]));
        assert_eq!(a(&keys![0, Ellipsis, "a", ..1])?, json!([[1], [2]]));
        assert_eq!(a(&keys![Ellipsis, ..1])?, json!([[{"a": [1]}], [{"a": []}]]));
        assert_eq!(a(&keys![NewAxis, 1])?, json!([[{"a": []}]]));
        assert_eq!(a(&keys![.., NewAxis])?, json!([[[{"a": [1]}, {"a": [2, 3]}]], [[{"a": []}]]]));
        assert_eq!(a(&keys![])?, x.to_value()?);
        assert!(x.get(keys![Ellipsis, Ellipsis]).is_err());
        // A single record takes `..` for all of its fields.
        assert_eq!(a(&keys![0, 1])?, json!({"a": [2, 3]}));
        let one = x.get(keys![0, 1])?;
        assert_eq!(one.get(keys![.., 1..])?.to_value()?, json!({"a": [3]}));
    }
    Ok(())
}

#[test]
fn gathers_along_axes_and_in_batches() -> Result<()> {
    for (_, device) in devices() {
        let x = records(&json!([[{"a": [1]}, {"a": [2, 3]}], [{"a": []}, {"a": [4]}]]), &device);
        let swap = HostTensor::dense(&[2], HostValues::I64(vec![1, 0])).to_device(&device)?;
        let swapped = json!([[{"a": [2, 3]}, {"a": [1]}], [{"a": [4]}, {"a": []}]]);
        assert_eq!(x.gather(along(&swap, 1))?.to_value()?, swapped);
        assert_eq!(x.gather(along(&swap, -1))?.to_value()?, swapped);
        let own = HostTensor::dense(&[2, 1], HostValues::I64(vec![1, 0])).to_device(&device)?;
        assert_eq!(x.gather(batched(&own, 1))?.to_value()?, json!([[{"a": [2, 3]}], [{"a": []}]]));
        assert_eq!(x.gather(&own)?.shape(), [Some(2), Some(1), None]);
        assert!(x.gather(along(&swap, 2)).is_err());
        let beyond = HostTensor::dense(&[1], HostValues::I64(vec![2])).to_device(&device)?;
        assert!(x.gather(&beyond)?.to_value().is_err());
    }
    Ok(())
}

#[test]
fn rows_at_positions_that_are_tensors() -> Result<()> {
    for (label, device) in devices() {
        let x = records(&json!([[{"a": [1]}, {"a": [2, 3]}], [], [{"a": []}]]), &device);
        let at = |i: i32| HostTensor::dense(&[], HostValues::I32(vec![i])).to_device(&device)?.add(0);
        for i in [0, 1, 2, -1, -3] {
            let want = x.get([ragged::Key::from(i)])?.to_value()?;
            assert_eq!(FieldValue::from(x.row_at(&at(i)?)?).to_value()?, want, "{label} {i}");
        }
        let first = x.row_at(&at(0)?)?;
        assert_eq!(first.row_at(&at(-1)?)?.to_value()?, json!({"a": [2, 3]}), "{label}");
        assert!(x.row_at(&at(3)?)?.to_value().is_err(), "{label}");
        assert!(first.row_at(&at(0)?)?.row_at(&at(0)?).is_err(), "{label}: a single record");
        let lengths = vector(&[1, 0, 1], &device).add(0)?;
        let starts = vector(&[1, 0, 0], &device);
        let want = json!([[{"a": [2, 3]}], [], [{"a": []}]]);
        assert_eq!(x.slice_rows(&starts, &lengths)?.to_value()?, want, "{label}");
        assert_eq!(x.slice_rows([1, 0, 0], [1, 0, 1])?.to_value()?, want, "{label}");
        assert!(x.slice_rows(&lengths, &starts.add(2)?)?.to_value().is_err(), "{label}: beyond the rows");
        assert!(first.slice_rows([0], [1]).is_err(), "{label}: no rows of records");
    }
    Ok(())
}

#[test]
fn updates_reach_nested_records() -> Result<()> {
    for (_, device) in devices() {
        let x = documents(&device);
        let longer = x.with_updates([
            Update::apply(["doc", "words", "n"], |n: FieldValue| n.tensor()?.reduce_sum(2)),
            Update::remove("id"),
            Update::set(["doc", "words", "k"], &x.field_value(["doc", "words", "n"])?.tensor()?.row_lengths(2)?),
        ])?;
        let want = json!([
            {"doc": {"title": "t1", "words": [{"n": 3, "w": "a", "k": 2}, {"n": 0, "w": "b", "k": 0}]}},
            {"doc": {"title": "t2", "words": []}},
            {"doc": {"title": "t3", "words": [{"n": 3, "w": "c", "k": 1}]}},
        ]);
        assert_eq!(longer.to_value()?, want);
        assert_eq!(longer.with_updates([])?.to_value()?, want);
        // Nested records as a whole.
        let words = x.field_value(["doc", "words"])?.records()?;
        let copied = x.with_updates([Update::set("words", words)])?;
        assert_eq!(copied.field_value(["words", "w"])?.to_value()?, json!([["a", "b"], [], ["c"]]));
    }
    Ok(())
}

#[test]
fn records_without_fields_keep_their_shape() -> Result<()> {
    for (_, device) in devices() {
        let shape = RaggedShape::from_lengths(&[2.into(), [1, 3].into()], &device)?;
        let x = StructuredTensor::from_shape(&shape)?;
        assert_eq!(x.to_value()?, json!([[{}], [{}, {}, {}]]));
        assert_eq!(x.size()?.to_nested()?, 4i64.into());
        assert_eq!(x.get(keys![.., ..2])?.to_value()?, json!([[{}], [{}, {}]]));
        assert_eq!(x.merge_dims(0, 1)?.to_value()?, json!([{}, {}, {}, {}]));
        assert_eq!(x.expand_dims(0)?.to_value()?, json!([[[{}], [{}, {}, {}]]]));
        let with = x.with_updates([Update::set("x", rows(&[0, 1, 4], &device))])?;
        assert_eq!(with.to_value()?, json!([[{"x": 0}], [{"x": 1}, {"x": 2}, {"x": 3}]]));
        assert!(with.with_updates([Update::set("y", rows(&[0, 2, 4], &device))]).is_err());
    }
    Ok(())
}

#[test]
fn sizes_may_be_known_to_the_device_only() -> Result<()> {
    for (_, device) in devices() {
        let mask =
            HostTensor::dense(&[5], HostValues::Bool(vec![true, false, true, true, false])).to_device(&device)?;
        let kept = || vector(&[1, 2, 3, 4, 5], &device).boolean_mask(&mask);
        let x = kept()?;
        let y = vector(&[6, 7, 8, 9, 10], &device).boolean_mask(&mask)?;
        let pairs = StructuredTensor::from_fields([("x", &x), ("y", &y)], [-1])?;
        assert_eq!(pairs.shape(), [None]);
        assert_eq!(pairs.to_value()?, json!([{"x": 1, "y": 6}, {"x": 3, "y": 8}, {"x": 4, "y": 9}]));
        let three = StructuredTensor::from_fields([("x", &x)], [3])?;
        assert_eq!(three.to_value()?, json!([{"x": 1}, {"x": 3}, {"x": 4}]));
        // What only the device finds is an error of the read.
        let other = vector(&[1, 2], &device);
        let unequal = StructuredTensor::from_fields_and_rank([("x", &kept()?), ("z", &other)], 1)?;
        assert!(unequal.to_value().is_err());
        let four = StructuredTensor::from_fields([("x", &kept()?)], [4])?;
        assert!(four.zeros_like(DType::F32)?.to_host().is_err());
        assert!(four.field_value("x")?.tensor()?.to_host().is_err());
        let partition = RowPartition::from_row_lengths([2, 1], &device)?;
        assert_eq!(pairs.partition_outer_dimension(&partition)?.field_value("x")?.to_value()?, json!([[1, 3], [4]]));
        let partition = RowPartition::from_row_lengths([2, 2], &device)?;
        let pairs = StructuredTensor::from_fields([("x", &kept()?)], [-1])?;
        assert!(pairs.partition_outer_dimension(&partition)?.to_value().is_err());
    }
    Ok(())
}

#[test]
fn dense_fields_of_uniform_records_stay_dense() -> Result<()> {
    for (_, device) in devices() {
        let dense = HostTensor::dense(&[2, 2], HostValues::I32(vec![1, 2, 3, 4])).to_device(&device)?;
        let uniform = StructuredTensor::from_fields([("a", &dense)], [2, 2])?;
        assert_eq!(uniform.field_value("a")?.tensor()?.ragged_rank(), 0);
        assert_eq!(uniform.shape(), [Some(2), Some(2)]);
        // Beside a ragged field with the same rows, it takes the partition of that one.
        let ragged = rows(&[0, 2, 4], &device);
        let mixed = StructuredTensor::from_fields([("a", &dense), ("b", &ragged)], [2, -1])?;
        assert_eq!(mixed.field_value("a")?.tensor()?.ragged_rank(), 1);
        assert_eq!(
            mixed.to_value()?,
            json!([[{"a": 1, "b": 0}, {"a": 2, "b": 1}], [{"a": 3, "b": 2}, {"a": 4, "b": 3}]])
        );
    }
    Ok(())
}

#[test]
fn a_given_shape_is_that_of_the_records() -> Result<()> {
    let device = Device::cpu();
    let x = rows(&[0, 1, 3], &device);
    let shape = RaggedShape::from_lengths(&[2.into(), [1, 2].into()], &device)?;
    assert_eq!(StructuredTensor::from_fields([("x", &x)], &shape)?.shape(), [Some(2), None]);
    let other = RaggedShape::from_lengths(&[2.into(), [2, 1].into()], &device)?;
    assert!(StructuredTensor::from_fields([("x", &x)], &other).is_err());
    let none: [(&str, FieldValue); 0] = [];
    assert_eq!(StructuredTensor::from_fields(none, &shape)?.to_value()?, json!([[{}], [{}, {}]]));
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Dot { x: i32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sample {
    name: char,
    weight: f32,
    large: u64,
    small: i8,
    pair: (u16, u16),
    shapes: Vec<Shape>,
    flag: bool,
}

#[test]
fn structs_come_back() -> Result<()> {
    for (_, device) in devices() {
        let sample = |k: u16| Sample {
            name: 'é',
            weight: 0.1 * f32::from(k),
            large: u64::MAX - u64::from(k),
            small: -1,
            pair: (k, k + 1),
            shapes: (0..k).map(|x| Shape::Dot { x: x.into() }).collect(),
            flag: k.is_multiple_of(2),
        };
        let samples: Vec<Sample> = (0..4).map(sample).collect();
        let records = StructuredTensor::from_serialize(&samples, &device)?;
        assert_eq!(records.field_value("large")?.tensor()?.dtype(), DType::U64);
        assert_eq!(records.field_value("small")?.tensor()?.dtype(), DType::I32);
        assert_eq!(records.field_value(["shapes", "Dot", "x"])?.shape(), [Some(4), None]);
        assert_eq!(records.deserialize::<Vec<Sample>>()?, samples);
        assert!(records.deserialize::<Vec<Shape>>().is_err());
    }
    Ok(())
}

#[test]
fn numbers_take_the_dtype_that_holds_all() -> Result<()> {
    let device = Device::cpu();
    let dtype = |value| FieldValue::from_serialize(&value, &device)?.tensor().map(|t| t.dtype());
    assert_eq!(dtype(json!([1, i32::MAX]))?, DType::I32);
    assert_eq!(dtype(json!([1, i64::from(i32::MIN) - 1]))?, DType::I64);
    assert_eq!(dtype(json!([1, u64::MAX]))?, DType::U64);
    assert_eq!(dtype(json!([1, 2.5]))?, DType::F32);
    assert_eq!(dtype(json!([2.5, 1]))?, DType::F32);
    assert_eq!(dtype(json!([[], []]))?, DType::F32);
    assert_eq!(dtype(json!([true]))?, DType::Bool);
    assert_eq!(dtype(json!("x"))?, DType::Str);
    Ok(())
}

#[test]
fn paths_print_and_compare() {
    assert_eq!(FieldPath::from(["doc", "words"]), FieldPath::from(vec!["doc".to_owned(), "words".to_owned()]));
    assert_eq!(FieldPath::from("a.b").names().len(), 1);
}
