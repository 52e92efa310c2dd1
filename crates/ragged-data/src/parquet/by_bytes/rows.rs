//! Bytes of rows of Arrow arrays.

use arrow_array::cast::AsArray;
use arrow_array::{Array, OffsetSizeTrait};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;

/// The bytes of the values in a range of rows.
pub(super) type Bytes<'a> = Box<dyn Fn(usize, usize) -> u64 + 'a>;

/// The bytes of an array's values between rows, without offsets. Numbers of 8 and 16 bits count as Parquet stores them: 4
/// bytes.
pub(super) fn bytes_between(array: &dyn Array) -> Bytes<'_> {
    match array.data_type() {
        DataType::List(_) => lists(array.as_list::<i32>().offsets(), array.as_list::<i32>().values()),
        DataType::LargeList(_) => lists(array.as_list::<i64>().offsets(), array.as_list::<i64>().values()),
        DataType::Map(..) => lists(array.as_map().offsets(), array.as_map().entries()),
        DataType::ListView(_) => {
            let array = array.as_list_view::<i32>();
            views(array.value_offsets(), array.value_sizes(), array.values())
        }
        DataType::LargeListView(_) => {
            let array = array.as_list_view::<i64>();
            views(array.value_offsets(), array.value_sizes(), array.values())
        }
        DataType::FixedSizeList(_, size) => {
            let (size, below) = (*size as usize, bytes_between(array.as_fixed_size_list().values()));
            Box::new(move |start, end| below(start * size, end * size))
        }
        DataType::Struct(_) => {
            let columns: Vec<Bytes<'_>> = array.as_struct().columns().iter().map(|c| bytes_between(c)).collect();
            Box::new(move |start, end| columns.iter().map(|column| column(start, end)).sum())
        }
        DataType::Utf8 => strings(array.as_string::<i32>().offsets()),
        DataType::LargeUtf8 => strings(array.as_string::<i64>().offsets()),
        DataType::Binary => strings(array.as_binary::<i32>().offsets()),
        DataType::LargeBinary => strings(array.as_binary::<i64>().offsets()),
        DataType::Utf8View => sums(move |i| u64::from(array.as_string_view().views()[i] as u32)),
        DataType::BinaryView => sums(move |i| u64::from(array.as_binary_view().views()[i] as u32)),
        DataType::FixedSizeBinary(size) => each(*size as u64),
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            if array.values().is_empty() {
                return each(0);
            }
            let (keys, below) = (array.normalized_keys(), bytes_between(array.values()));
            sums(move |i| below(keys[i], keys[i] + 1))
        }
        DataType::Boolean => each(1),
        other => each(other.primitive_width().unwrap_or(0).max(4) as u64),
    }
}

fn each<'a>(width: u64) -> Bytes<'a> {
    Box::new(move |start, end| width.saturating_mul((end - start) as u64))
}

fn strings<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Bytes<'_> {
    Box::new(|start, end| (offsets[end].as_usize() - offsets[start].as_usize()) as u64)
}

fn lists<'a, O: OffsetSizeTrait>(offsets: &'a OffsetBuffer<O>, values: &'a dyn Array) -> Bytes<'a> {
    let below = bytes_between(values);
    Box::new(move |start, end| below(offsets[start].as_usize(), offsets[end].as_usize()))
}

fn views<'a, O: OffsetSizeTrait>(starts: &'a [O], sizes: &'a [O], values: &'a dyn Array) -> Bytes<'a> {
    let below = bytes_between(values);
    sums(move |i| below(starts[i].as_usize(), starts[i].as_usize() + sizes[i].as_usize()))
}

/// Sums of lengths.
fn sums<'a>(length: impl Fn(usize) -> u64 + 'a) -> Bytes<'a> {
    Box::new(move |start, end| (start..end).fold(0u64, |sum, i| sum.saturating_add(length(i))))
}
