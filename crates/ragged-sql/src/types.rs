//! Types of columns, where they are more than dtypes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, GenericListArray, OffsetSizeTrait};
use arrow::datatypes::{DataType, Field};

/// The type of the values within all lists.
fn innermost(of: &DataType) -> &DataType {
    match of {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => innermost(item.data_type()),
        of => of,
    }
}

/// The type of the values if they are times or decimals: numbers of a unit.
pub(crate) fn with_a_unit(of: &DataType) -> Option<&DataType> {
    let values = innermost(of);
    (values.is_temporal() || values.is_decimal()).then_some(values)
}

/// Whether the values are bytes that need not be text.
pub(crate) fn is_of_bytes(of: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary};
    matches!(innermost(of), Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
}

/// The type with bytes in place of text.
pub(crate) fn of_bytes(of: &DataType) -> DataType {
    let item = |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_data_type(of_bytes(field.data_type())));
    match of {
        DataType::Utf8 => DataType::Binary,
        DataType::List(field) => DataType::List(item(field)),
        DataType::LargeList(field) => DataType::LargeList(item(field)),
        DataType::FixedSizeList(field, width) => DataType::FixedSizeList(item(field), *width),
        of => of.clone(),
    }
}

/// The values of the lists of a column; `None` if it has no lists.
pub(crate) fn items(column: &ArrayRef) -> Option<ArrayRef> {
    fn between<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> ArrayRef {
        let offsets = lists.value_offsets();
        let (first, last) = (offsets[0].as_usize(), offsets[lists.len()].as_usize());
        lists.values().slice(first, last - first)
    }
    match column.data_type() {
        DataType::List(_) => Some(between(column.as_list::<i32>())),
        DataType::LargeList(_) => Some(between(column.as_list::<i64>())),
        DataType::FixedSizeList(..) => Some(column.as_fixed_size_list().values().clone()),
        _ => None,
    }
}

/// How many values a column has within all its lists.
pub(crate) fn innermost_len(column: &ArrayRef) -> usize {
    items(column).map_or(column.len(), |items| innermost_len(&items))
}

/// Whether a list of the column has a NULL. The column itself has none.
pub(crate) fn has_null_within(column: &ArrayRef) -> bool {
    items(column).is_some_and(|items| items.logical_null_count() > 0 || has_null_within(&items))
}

/// The first size of the joined parts that exceeds the limit of 32-bit offsets, and its unit: items of lists, from the outermost
/// ones on, or bytes of texts. `None` if the parts can be joined.
pub(crate) fn beyond_offsets(parts: &[ArrayRef], limit: u64) -> Option<(u64, &'static str)> {
    let between = |offsets: &[i32]| (offsets[offsets.len() - 1] - offsets[0]) as u64;
    let size = |part: &ArrayRef| match part.data_type() {
        DataType::List(_) => Some((between(part.as_list::<i32>().value_offsets()), "items")),
        DataType::Utf8 => Some((between(part.as_string::<i32>().value_offsets()), "bytes")),
        DataType::Binary => Some((between(part.as_binary::<i32>().value_offsets()), "bytes")),
        _ => None,
    };
    let sizes: Vec<(u64, &'static str)> = parts.iter().filter_map(size).collect();
    let total: u64 = sizes.iter().map(|(count, _)| *count).sum();
    if let Some((_, unit)) = sizes.first().filter(|_| total > limit) {
        return Some((total, *unit));
    }
    let inner: Vec<ArrayRef> = parts.iter().filter_map(items).collect();
    if inner.is_empty() { None } else { beyond_offsets(&inner, limit) }
}

#[cfg(test)]
mod tests {
    use arrow::array::{FixedSizeListArray, Int32Array, ListArray, StringArray};
    use arrow::buffer::OffsetBuffer;

    use super::*;

    fn numbers(count: i32) -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(0..count))
    }

    fn lists(lengths: &[usize], values: ArrayRef) -> ArrayRef {
        let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths.iter().copied()), values, None))
    }

    #[test]
    fn items_of_lists_of_all_depths_are_counted() {
        let five = lists(&[2, 3], numbers(5));
        let parts = [five.clone(), five.slice(1, 1)];
        assert_eq!(beyond_offsets(&parts, 8), None);
        assert_eq!(beyond_offsets(&parts, 7), Some((8, "items")));
        let nested = lists(&[1, 1], five.clone());
        let parts = [nested.clone(), nested];
        assert_eq!(beyond_offsets(&parts, 10), None);
        assert_eq!(beyond_offsets(&parts, 9), Some((10, "items")));
        assert_eq!(beyond_offsets(&parts, 3), Some((4, "items")));
        let field = Arc::new(Field::new_list_field(five.data_type().clone(), true));
        let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(field, 2, five, None));
        assert_eq!(beyond_offsets(&[pairs.clone(), pairs], 9), Some((10, "items")));
    }

    #[test]
    fn bytes_of_texts_are_counted() {
        let words: ArrayRef = Arc::new(StringArray::from(vec!["abc", "", "de"]));
        assert_eq!(beyond_offsets(&[words.clone(), words.slice(2, 1)], 6), Some((7, "bytes")));
        let parts = [lists(&[3], words.clone()), lists(&[3], words)];
        assert_eq!(beyond_offsets(&parts, 10), None);
        assert_eq!(beyond_offsets(&parts, 9), Some((10, "bytes")));
        assert_eq!(beyond_offsets(&[numbers(3), numbers(3)], 0), None);
    }
}
