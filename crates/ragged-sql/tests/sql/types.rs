//! Types of columns that are more than numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Date32Array, ListArray, TimestampMillisecondArray, types::Int32Type};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, TimeUnit};
use ragged::Device;

use crate::session::Session;

fn lists(values: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([2, 1]), values, None))
}

/// Their units would be lost.
#[test]
fn times_are_refused_until_they_are_converted() {
    let session = Session::new(&Device::cpu());
    let lengths =
        ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(3), Some(1)]), Some([Some(0), Some(2)])]);
    let durations = cast(&lists(Arc::new(TimestampMillisecondArray::from(vec![5, 3, 8]))), &{
        DataType::List(Arc::new(Field::new_list_field(DataType::Timestamp(TimeUnit::Microsecond, None), true)))
    });
    session.table(
        "t",
        &[
            ("n", Arc::new(lengths)),
            ("at", lists(Arc::new(TimestampMillisecondArray::from(vec![5, 3, 8])))),
            ("us", durations.expect("a cast")),
            ("day", Arc::new(Date32Array::from(vec![1, 2]))),
        ],
        100,
    );
    for call in ["ragged_sort(at)", "ragged_subtract(at, us)", "ragged_add(n, day)"] {
        let error = session.query(&format!("SELECT {call} FROM t")).expect_err(call).to_string();
        assert!(error.contains("has a unit, which tensors do not have: convert it"), "{error}");
    }
    let converted = session.column("SELECT ragged_max(arrow_cast(at, 'List(Int64)')) FROM t");
    assert_eq!(format!("{converted:?}"), "PrimitiveArray<Int64>\n[\n  5,\n  8,\n]");
}

#[test]
fn bytes_stay_bytes() {
    let session = Session::new(&Device::cpu());
    let bytes = lists(Arc::new(BinaryArray::from_vec(vec![b"b\xff", b"a", b"\x00"])));
    session.table("t", &[("x", bytes)], 100);
    let sorted = session.column("SELECT ragged_sort(x) FROM t");
    let want = lists(Arc::new(BinaryArray::from_vec(vec![b"a", b"b\xff", b"\x00"])));
    assert_eq!(cast(&sorted, want.data_type()).expect("a cast").to_data(), want.to_data());
    let most = session.column("SELECT ragged_nth(x, 0) FROM t");
    assert_eq!(most.data_type(), &DataType::Binary);
}
