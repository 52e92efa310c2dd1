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
