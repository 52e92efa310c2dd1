//! The examples of TensorFlow's reference of `StructuredTensor`, in their order, with the results that it prints.
//!
//! Where the reference errs, the results are those of TensorFlow: `s3` has the shape `[4, None]`, not `[2, None]`; nested
//! lists become ragged dimensions, so that `s1`, `s2`, `s4` have None where the reference has a size.

use ragged::{Device, FieldValue, Key, Result, RowPartition, StructuredTensor, Update, keys};
use serde_json::{Value, json};

use crate::common::devices;
use crate::{prints, records, vector};

/// The value of `st[key]`, as text.
#[track_caller]
fn at<'a>(records: &StructuredTensor, keys: impl AsRef<[Key<'a>]>) -> String {
    records.get(keys).expect("a part").to_string()
}

#[test]
fn scalar_and_vector() {
    for (_, device) in devices() {
        let s1 = records(&json!({"age": 82, "nicknames": ["Bob", "Bobby"]}), &device);
        assert_eq!(s1.shape(), []);
        assert_eq!(at(&s1, keys!["age"]), "tensor(82, shape=(), dtype=i32)");
        let s2 = records(
            &json!([
                {"age": 12, "nicknames": ["Josaphine"]},
                {"age": 82, "nicknames": ["Bob", "Bobby"]},
                {"age": 42, "nicknames": ["Elmo"]},
            ]),
            &device,
        );
        assert_eq!(s2.shape(), [Some(3)]);
        let first = s2.get(keys![0]).expect("a record").records().expect("a record");
        assert_eq!(at(&first, keys!["age"]), "tensor(12, shape=(), dtype=i32)");
        assert_eq!(at(&s2, keys![0, "age"]), "tensor(12, shape=(), dtype=i32)");
    }
}

/// The splits of the row partitions of records.
fn row_splits(value: &Value, device: &Device) -> (Vec<Option<usize>>, Vec<String>) {
    let records = records(value, device);
    let splits = records.row_partitions().iter().map(|p| p.row_splits(device).expect("splits").to_host());
    let texts = splits.map(|splits| splits.expect("read").to_string());
    (records.shape(), texts.collect())
}

#[test]
fn row_partitions() {
    for (_, device) in devices() {
        let x = || json!({"a": 1, "b": ["foo", "bar", "baz"]});
        let s1 = json!([[x(), x(), x(), x()], [x(), x(), x(), x()]]);
        assert_eq!(row_splits(&s1, &device), (vec![Some(2), None], vec!["[0, 4, 8]".into()]));
        let s2 = json!([[x(), x()], [x(), x()], [x(), x()], [x(), x()]]);
        assert_eq!(row_splits(&s2, &device), (vec![Some(4), None], vec!["[0, 2, 4, 6, 8]".into()]));
        let s3 = json!([[x(), x(), x()], [], [x(), x(), x(), x()], [x()]]);
        assert_eq!(row_splits(&s3, &device), (vec![Some(4), None], vec!["[0, 3, 3, 7, 8]".into()]));
        let s4 = json!([[[x(), x()], [x(), x()]], [[x(), x()], [x(), x()]]]);
        let two = vec!["[0, 2, 4]".into(), "[0, 2, 4, 6, 8]".into()];
        assert_eq!(row_splits(&s4, &device), (vec![Some(2), None, None], two));
        let s5 = json!([[[x(), x()], [x()]], [[x(), x()]], [[x(), x()], [x()]]]);
        let two = vec!["[0, 2, 3, 5]".into(), "[0, 2, 3, 5, 7, 8]".into()];
        assert_eq!(row_splits(&s5, &device), (vec![Some(3), None, None], two));
    }
}

#[test]
fn from_fields() -> Result<()> {
    for (_, device) in devices() {
        let one = vector(&[1], &device).slice(ragged::s![0])?;
        let many = vector(&[1, 2, 3], &device);
        let printed = "<StructuredTensor(\n  fields={\n    \"x\": tensor(1, shape=(), dtype=i32),\n    \
                       \"y\": tensor([1, 2, 3], shape=(3,), dtype=i32)},\n  shape=())>";
        let fields = || [("x", &one), ("y", &many)];
        prints(&StructuredTensor::from_fields(fields(), [0i64; 0])?.into(), printed);
        // from_fields_and_rank
        prints(&StructuredTensor::from_fields_and_rank(fields(), 0)?.into(), printed);

        let (foo, bar) = (vector(&[1, 2], &device), vector(&[3, 4], &device));
        let printed = "<StructuredTensor(\n  fields={\n    \"bar\": tensor([3, 4], shape=(2,), dtype=i32),\n    \
                       \"foo\": tensor([1, 2], shape=(2,), dtype=i32)},\n  shape=(2,))>";
        let fields = || [("foo", &foo), ("bar", &bar)];
        prints(&StructuredTensor::from_fields(fields(), [2])?.into(), printed);
        prints(&StructuredTensor::from_fields_and_rank(fields(), 1)?.into(), printed);
    }
    Ok(())
}

#[test]
fn from_pyval() {
    for (_, device) in devices() {
        let value = json!({"a": [1, 2, 3], "b": [[4, 5], [6, 7]]});
        let st = records(&value, &device);
        let printed = "<StructuredTensor(\n  fields={\n    \"a\": tensor([1, 2, 3], shape=(3,), dtype=i32),\n    \
                       \"b\": <ragged.RaggedTensor [[4, 5], [6, 7]]>},\n  shape=())>";
        prints(&(&st).into(), printed);
        assert_eq!(st.to_value().expect("read"), value);
    }
}

#[test]
fn merge_dims() -> Result<()> {
    for (_, device) in devices() {
        let st = records(&json!([[{"foo": 12}, {"foo": 33}], [], [{"foo": 99}]]), &device);
        let printed = "<StructuredTensor(\n  fields={\n    \"foo\": tensor([12, 33, 99], shape=(3,), dtype=i32)},\n  \
                       shape=(3,))>";
        prints(&st.merge_dims(0, 1)?.into(), printed);
    }
    Ok(())
}

#[test]
fn partition_outer_dimension() -> Result<()> {
    for (_, device) in devices() {
        let st = records(&json!([{"foo": 12}, {"foo": 33}, {"foo": 99}]), &device);
        let partition = RowPartition::from_row_lengths([2, 0, 1], &device)?;
        let printed = "<StructuredTensor(\n  fields={\n    \"foo\": <ragged.RaggedTensor [[12, 33], [], [99]]>},\n  \
                       shape=(3, None))>";
        prints(&st.partition_outer_dimension(&partition)?.into(), printed);
    }
    Ok(())
}

#[test]
fn promote() -> Result<()> {
    for (_, device) in devices() {
        let d = json!([
            {"docs": [{"tokens": [1, 2]}, {"tokens": [3]}]},
            {"docs": [{"tokens": [7]}]},
        ]);
        let st2 = records(&d, &device).promote(["docs", "tokens"], "docs_tokens")?;
        assert_eq!(at(&st2, keys![0, "docs_tokens"]), "tensor([1, 2, 3], shape=(3,), dtype=i32)");
        assert_eq!(at(&st2, keys![1, "docs_tokens"]), "tensor([7], shape=(1,), dtype=i32)");
    }
    Ok(())
}

#[test]
fn to_pyval() -> Result<()> {
    for (_, device) in devices() {
        let st = StructuredTensor::from_fields([("a", &vector(&[1, 2, 3], &device))], [3])?;
        assert_eq!(st.to_value()?, json!([{"a": 1}, {"a": 2}, {"a": 3}]));
    }
    Ok(())
}

#[test]
fn with_updates() -> Result<()> {
    for (_, device) in devices() {
        let shoes_us = records(
            &json!([
                {"age": 12, "nicknames": ["Josaphine"], "shoes": {"sizes": [8.0, 7.5, 7.5]}},
                {"age": 82, "nicknames": ["Bob", "Bobby"], "shoes": {"sizes": [11.0, 11.5, 12.0]}},
                {"age": 42, "nicknames": ["Elmo"], "shoes": {"sizes": [9.0, 9.5, 10.0]}},
            ]),
            &device,
        );
        let us_to_europe = |t: FieldValue| ((&t.tensor()? * 2.54)? + 17.0)?.round();
        let shoe_sizes_key = ["shoes", "sizes"];
        let shoes_eu = shoes_us.with_updates([Update::apply(shoe_sizes_key, us_to_europe)])?;
        let printed = "<ragged.RaggedTensor [[37.0, 36.0, 36.0], [45.0, 46.0, 47.0], [40.0, 41.0, 42.0]]>";
        prints(&shoes_eu.field_value(shoe_sizes_key)?, printed);
    }
    Ok(())
}

/// The semantics that the text of `__getitem__` states.
#[test]
fn multidimensional_indexing() {
    for (_, device) in devices() {
        let people = records(
            &json!([{"names": ["a"]}, {"names": []}, {"names": ["b", "c"]}, {"names": ["d", "e", "f"]}]),
            &device,
        );
        assert_eq!(at(&people, keys![3, "names", 0]), "tensor(b'd', shape=(), dtype=str)");
        let one_by_one = people.get(keys![3]).and_then(|p| p.get(keys!["names"])).and_then(|n| n.get(keys![0]));
        assert_eq!(one_by_one.expect("parts").to_string(), "tensor(b'd', shape=(), dtype=str)");
        let all = "<ragged.RaggedTensor [[b'a'], [], [b'b', b'c'], [b'd', b'e', b'f']]>";
        assert_eq!(at(&people, keys![.., "names", ..]), all);
        assert_eq!(at(&people, keys![-1, "names", ..;-1]), "tensor([b'f', b'e', b'd'], shape=(3,), dtype=str)");
    }
}
