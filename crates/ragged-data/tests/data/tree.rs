//! Values of Arrow arrays as trees: the naive reading that conversions are compared with.

use arrow_array::cast::AsArray;
use arrow_array::{Array, make_array};
use arrow_schema::DataType;

/// A value: its bytes, a list, or fields in their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Null,
    Bytes(Vec<u8>),
    List(Vec<Tree>),
    Struct(Vec<(String, Tree)>),
}

/// The value at a position of an array.
pub fn at(array: &dyn Array, i: usize) -> Tree {
    if array.logical_nulls().is_some_and(|nulls| nulls.is_null(i)) {
        return Tree::Null;
    }
    match array.data_type() {
        DataType::Boolean => Tree::Bytes(vec![u8::from(array.as_boolean().value(i))]),
        DataType::Utf8 => Tree::Bytes(array.as_string::<i32>().value(i).into()),
        DataType::LargeUtf8 => Tree::Bytes(array.as_string::<i64>().value(i).into()),
        DataType::Utf8View => Tree::Bytes(array.as_string_view().value(i).into()),
        DataType::Binary => Tree::Bytes(array.as_binary::<i32>().value(i).into()),
        DataType::LargeBinary => Tree::Bytes(array.as_binary::<i64>().value(i).into()),
        DataType::BinaryView => Tree::Bytes(array.as_binary_view().value(i).into()),
        DataType::FixedSizeBinary(_) => Tree::Bytes(array.as_fixed_size_binary().value(i).into()),
        DataType::List(_) => list(&*array.as_list::<i32>().value(i)),
        DataType::LargeList(_) => list(&*array.as_list::<i64>().value(i)),
        DataType::ListView(_) => list(&*array.as_list_view::<i32>().value(i)),
        DataType::LargeListView(_) => list(&*array.as_list_view::<i64>().value(i)),
        DataType::FixedSizeList(..) => list(&*array.as_fixed_size_list().value(i)),
        DataType::Map(..) => list(&array.as_map().value(i)),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            Tree::Struct(fields.iter().zip(columns).map(|(f, column)| (f.name().clone(), at(column, i))).collect())
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            at(dictionary.values(), dictionary.normalized_keys()[i])
        }
        other => {
            let (data, size) = (array.to_data(), other.primitive_width().expect("a type of one width"));
            let start = (data.offset() + i) * size;
            Tree::Bytes(data.buffers()[0].as_slice()[start..start + size].to_vec())
        }
    }
}

/// All values of an array.
pub fn all(array: &dyn Array) -> Vec<Tree> {
    (0..array.len()).map(|i| at(array, i)).collect()
}

fn list(array: &dyn Array) -> Tree {
    Tree::List(all(array))
}

/// The value that takes the place of nulls of a type.
pub fn empty(data_type: &DataType) -> Tree {
    match data_type {
        DataType::FixedSizeList(field, n) => Tree::List(vec![empty(field.data_type()); *n as usize]),
        DataType::List(_) | DataType::LargeList(_) | DataType::ListView(_) | DataType::LargeListView(_) => {
            Tree::List(Vec::new())
        }
        DataType::Map(..) => Tree::List(Vec::new()),
        DataType::Struct(fields) => {
            Tree::Struct(fields.iter().map(|f| (f.name().clone(), empty(f.data_type()))).collect())
        }
        DataType::Dictionary(_, values) => empty(values),
        DataType::Boolean => Tree::Bytes(vec![0]),
        other => Tree::Bytes(vec![0; other.primitive_width().unwrap_or(0)]),
    }
}

/// The value, of a type, with its nulls replaced.
pub fn filled(tree: Tree, data_type: &DataType) -> Tree {
    match (tree, data_type) {
        (Tree::Null, _) => empty(data_type),
        (
            Tree::List(items),
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _),
        ) => Tree::List(items.into_iter().map(|item| filled(item, field.data_type())).collect()),
        (Tree::Struct(values), DataType::Struct(fields)) => {
            let value = |((name, value), field): ((String, Tree), &arrow_schema::FieldRef)| {
                (name, filled(value, field.data_type()))
            };
            Tree::Struct(values.into_iter().zip(fields).map(value).collect())
        }
        (other, _) => other,
    }
}

/// The same array with its memory laid out again.
pub fn rebuilt(array: &dyn Array) -> arrow_array::ArrayRef {
    make_array(array.to_data())
}
