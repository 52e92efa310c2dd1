//! Random Arrow types, and arrays of them: with nulls that have garbage behind them, sliced, views in any order.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray,
    LargeBinaryArray, LargeListArray, LargeListViewArray, LargeStringArray, ListArray, ListViewArray, MapArray,
    StringArray, StringViewArray, StructArray, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};
use proptest::prelude::*;

pub use crate::mutate::Random;

/// So many cases, without a file of failures.
pub fn cases(n: u32) -> ProptestConfig {
    ProptestConfig { cases: n, failure_persistence: None, ..ProptestConfig::default() }
}

/// Types of one width.
pub fn widths() -> Vec<DataType> {
    use DataType::*;
    let zone = Some("Europe/Berlin".into());
    vec![
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Date32,
        Date64,
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Nanosecond),
        Timestamp(TimeUnit::Microsecond, zone),
        Duration(TimeUnit::Second),
        Interval(IntervalUnit::YearMonth),
    ]
}

/// A type without lists.
fn leaf() -> impl Strategy<Value = DataType> {
    use DataType::*;
    let others = vec![Boolean, Utf8, LargeUtf8, Utf8View, Binary, LargeBinary, BinaryView, FixedSizeBinary(3)];
    prop_oneof![3 => proptest::sample::select(widths()), 4 => proptest::sample::select(others)]
}

/// A type with lists and structs, up to three deep.
pub fn data_type() -> impl Strategy<Value = DataType> {
    let item = |t: DataType| -> FieldRef { Arc::new(Field::new("item", t, true)) };
    leaf().prop_recursive(3, 12, 3, move |inner| {
        let name = proptest::sample::select(vec!["z", "a", "m"]);
        let fields = proptest::collection::btree_map(name, inner.clone(), 1..3);
        prop_oneof![
            inner.clone().prop_map(move |t| DataType::List(item(t))),
            inner.clone().prop_map(move |t| DataType::LargeList(item(t))),
            inner.clone().prop_map(move |t| DataType::ListView(item(t))),
            inner.clone().prop_map(move |t| DataType::LargeListView(item(t))),
            (inner, 0..3i32).prop_map(move |(t, n)| DataType::FixedSizeList(item(t), n)),
            // In reverse order of their names, which a schema keeps.
            fields.prop_map(|fields| {
                let fields = fields.into_iter().rev().map(|(name, t)| Field::new(name, t, true));
                DataType::Struct(fields.collect::<Fields>())
            }),
        ]
    })
}

/// How an array is made.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// One value in so many is null; none at 0.
    pub nulls: usize,
}

fn nulls(n: usize, form: Form, random: &mut Random) -> Option<NullBuffer> {
    (form.nulls > 0).then(|| NullBuffer::from_iter((0..n).map(|_| random.below(form.nulls) != 0)))
}

/// An array of `n` values of the type: a slice of a longer one.
pub fn array(data_type: &DataType, n: usize, form: Form, random: &mut Random) -> ArrayRef {
    let (before, after) = (random.below(3), random.below(3));
    whole(data_type, before + n + after, form, random).slice(before, n)
}

fn whole(data_type: &DataType, n: usize, form: Form, random: &mut Random) -> ArrayRef {
    let valid = nulls(n, form, random);
    match data_type {
        DataType::Boolean => {
            Arc::new(BooleanArray::new(BooleanBuffer::from_iter((0..n).map(|_| random.below(2) == 1)), valid))
        }
        DataType::Utf8 => Arc::new(StringArray::new(offsets(n, 4, random), text(4 * n, random), valid)),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::new(large(n, 4, random), text(4 * n, random), valid)),
        DataType::Binary => Arc::new(BinaryArray::new(offsets(n, 4, random), text(4 * n, random), valid)),
        DataType::LargeBinary => Arc::new(LargeBinaryArray::new(large(n, 4, random), text(4 * n, random), valid)),
        DataType::Utf8View => {
            let strings = StringArray::new(offsets(n, 30, random), text(30 * n, random), valid);
            Arc::new(StringViewArray::from(&strings))
        }
        DataType::BinaryView => {
            let strings = BinaryArray::new(offsets(n, 30, random), text(30 * n, random), valid);
            Arc::new(BinaryViewArray::from(&strings))
        }
        DataType::FixedSizeBinary(size) => {
            Arc::new(FixedSizeBinaryArray::new(*size, text(*size as usize * n, random), valid))
        }
        DataType::List(f) => {
            let offsets = offsets(n, 4, random);
            Arc::new(ListArray::new(f.clone(), offsets, items(f, 4 * n, form, random), valid))
        }
        DataType::LargeList(f) => {
            let offsets = large(n, 4, random);
            Arc::new(LargeListArray::new(f.clone(), offsets, items(f, 4 * n, form, random), valid))
        }
        DataType::ListView(f) => {
            let (starts, sizes) = views(n, random);
            let (starts, sizes) = (ScalarBuffer::from_iter(starts), ScalarBuffer::from_iter(sizes));
            Arc::new(ListViewArray::new(f.clone(), starts, sizes, items(f, 2 * n + 4, form, random), valid))
        }
        DataType::LargeListView(f) => {
            let (starts, sizes) = views(n, random);
            let wide = |all: Vec<i32>| ScalarBuffer::from_iter(all.into_iter().map(i64::from));
            let (starts, sizes) = (wide(starts), wide(sizes));
            Arc::new(LargeListViewArray::new(f.clone(), starts, sizes, items(f, 2 * n + 4, form, random), valid))
        }
        DataType::FixedSizeList(f, size) => {
            let values = items(f, n * *size as usize, form, random);
            let array = FixedSizeListArray::try_new_with_length(f.clone(), *size, values, valid, n);
            Arc::new(array.expect("as many values"))
        }
        DataType::Map(f, sorted) => {
            let (offsets, entries) = (offsets(n, 4, random), items(f, 4 * n, form, random));
            let entries = entries.as_any().downcast_ref::<StructArray>().expect("structs").clone();
            Arc::new(MapArray::new(f.clone(), offsets, entries, valid, *sorted))
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().map(|f| array(f.data_type(), n, form, random)).collect();
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, valid, n).expect("as many values"))
        }
        other => {
            let size = other.primitive_width().expect("a type of one width");
            let bytes: Vec<u8> = (0..n * size).map(|_| random.next() as u8).collect();
            let builder = ArrayData::builder(other.clone()).len(n).add_buffer(Buffer::from(&bytes[..])).nulls(valid);
            make_array(builder.align_buffers(true).build().expect("numbers"))
        }
    }
}

fn items(field: &Field, n: usize, form: Form, random: &mut Random) -> ArrayRef {
    array(field.data_type(), n, form, random)
}

/// ASCII.
fn text(n: usize, random: &mut Random) -> Buffer {
    Buffer::from_iter((0..n).map(|_| b'a' + random.below(26) as u8))
}

fn offsets(n: usize, most: usize, random: &mut Random) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths((0..n).map(|_| random.below(most + 1)))
}

fn large(n: usize, most: usize, random: &mut Random) -> OffsetBuffer<i64> {
    OffsetBuffer::from_lengths((0..n).map(|_| random.below(most + 1)))
}

/// Starts and sizes of `n` lists in `2 n + 4` values: in their order, or in any, overlapping ones among them.
fn views(n: usize, random: &mut Random) -> (Vec<i32>, Vec<i32>) {
    let sizes: Vec<i32> = (0..n).map(|_| random.below(3) as i32).collect();
    if random.below(2) == 0 {
        let mut at = 0;
        let mut starts = Vec::new();
        for size in &sizes {
            starts.push(at);
            at += size;
        }
        return (starts, sizes);
    }
    (sizes.iter().map(|_| random.below(2 * n + 2) as i32).collect(), sizes)
}
