//! NULL in, NULL out.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, ListArray, types::Int32Type};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use ragged::Device;

use crate::session::{Session, devices};

fn with_nulls() -> Vec<(&'static str, ArrayRef)> {
    let lists = [Some(vec![Some(3), Some(1)]), None, Some(vec![]), Some(vec![Some(2)]), None];
    let indices = [Some(1), Some(9), None, Some(0), None];
    vec![
        ("x", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
        ("i", Arc::new(Int32Array::from_iter(indices))),
    ]
}

#[test]
fn rows_with_null_are_null_and_not_computed() {
    for device in devices() {
        let session = Session::new(&device);
        session.table("t", &with_nulls(), 100);
        let sums = session.column("SELECT ragged_sum(x) FROM t");
        assert_eq!(sums.as_ref(), &Int32Array::from(vec![Some(4), None, Some(0), Some(2), None]));
        let both = session.column("SELECT ragged_sum(ragged_add(x, i)) FROM t");
        assert_eq!(both.as_ref(), &Int32Array::from(vec![Some(6), None, None, Some(2), None]));
        let sorted = session.column("SELECT ragged_sort(x) FROM t");
        let want = [Some(vec![Some(1), Some(3)]), None, Some(vec![]), Some(vec![Some(2)]), None];
        assert_eq!(sorted.as_ref(), &ListArray::from_iter_primitive::<Int32Type, _, _>(want));
        let none = session.column("SELECT ragged_sum(x) FROM t WHERE x IS NULL");
        assert_eq!((none.len(), none.null_count()), (2, 2));
    }
}

/// Lists of 64-bit offsets have the same results, with NULL at the same rows.
#[test]
fn large_lists_are_lists() {
    let session = Session::new(&Device::cpu());
    let large: Vec<(&str, ArrayRef)> = with_nulls()
        .into_iter()
        .map(|(name, column)| match column.data_type() {
            DataType::List(item) => (name, cast(&column, &DataType::LargeList(item.clone())).expect("a cast")),
            _ => (name, column),
        })
        .collect();
    session.table("t", &with_nulls(), 2);
    session.table("large", &large, 2);
    for call in ["ragged_sum(ragged_add(x, i))", "ragged_length(x)", "ragged_max(x)"] {
        let [of_lists, of_large] = ["t", "large"].map(|table| session.column(&format!("SELECT {call} FROM {table}")));
        assert_eq!(of_lists.to_data(), of_large.to_data(), "{call}");
    }
    let sorted = session.column("SELECT ragged_sort(x) FROM large");
    let want = cast(&session.column("SELECT ragged_sort(x) FROM t"), sorted.data_type()).expect("a cast");
    assert_eq!(sorted.to_data(), want.to_data());
}

#[test]
fn nulls_within_lists_are_errors() {
    let session = Session::new(&Device::cpu());
    let lists = [Some(vec![Some(3), None])];
    session.table("t", &[("x", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)))], 100);
    let error = session.query("SELECT ragged_sum(x) FROM t").expect_err("a null").to_string();
    assert!(error.contains("ragged_reduce_sum: a list of `x` contains NULL; array_compact(x)"), "{error}");
    let sums = session.column("SELECT ragged_sum(array_compact(x)) FROM t");
    assert_eq!(sums.as_ref(), &Int32Array::from(vec![3]));
}
