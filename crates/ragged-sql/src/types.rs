//! Types of columns, where they are more than dtypes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
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

/// Whether a list of the column has a NULL. The column itself has none.
pub(crate) fn has_null_within(column: &ArrayRef) -> bool {
    let between = |values: &ArrayRef, from: usize, to: usize| {
        let values = values.slice(from, to - from);
        values.logical_null_count() > 0 || has_null_within(&values)
    };
    match column.data_type() {
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let offsets = lists.value_offsets();
            between(lists.values(), offsets[0] as usize, offsets[lists.len()] as usize)
        }
        DataType::LargeList(_) => {
            let lists = column.as_list::<i64>();
            let offsets = lists.value_offsets();
            between(lists.values(), offsets[0] as usize, offsets[lists.len()] as usize)
        }
        DataType::FixedSizeList(..) => {
            let values = column.as_fixed_size_list().values();
            between(values, 0, values.len())
        }
        _ => false,
    }
}
