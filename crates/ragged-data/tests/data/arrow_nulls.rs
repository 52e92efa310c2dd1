//! Nulls: errors, empty values, masks.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Int32Array, ListArray, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use ragged::{FieldValue, RaggedTensor, Result, StructuredTensor, Tensor};
use ragged_data::arrow::{FromArrow, Nulls};

use crate::devices::{devices, fails};

/// `[[1, null], null, [], [4]]`, where the null list has two items behind it.
fn lists() -> ListArray {
    let items = Int32Array::from(vec![Some(1), None, Some(7), Some(8), Some(4)]);
    let offsets = OffsetBuffer::from_lengths([2, 2, 0, 1]);
    let nulls = NullBuffer::from(vec![true, false, true, true]);
    ListArray::new(Arc::new(Field::new_list_field(DataType::Int32, true)), offsets, Arc::new(items), Some(nulls))
}

fn records() -> StructArray {
    let columns: Vec<(Arc<Field>, ArrayRef)> = vec![
        (
            Arc::new(Field::new("name", DataType::Utf8, true)),
            Arc::new(StringArray::from(vec![Some("a"), None, Some("c"), Some("d")])),
        ),
        (Arc::new(Field::new("list", lists().data_type().clone(), true)), Arc::new(lists())),
    ];
    let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    StructArray::new(fields.into(), columns, Some(NullBuffer::from(vec![true, true, true, false])))
}

#[test]
fn a_null_is_an_error_with_its_place() {
    let device = ragged::Device::cpu();
    fails(
        Tensor::from_arrow(&lists(), &device),
        "from_arrow: 1 of 4 values is null, the first at position 1; Nulls::Empty makes them empty or 0, from_arrow_masked",
    );
    let valid = ListArray::new(
        Arc::new(Field::new_list_field(DataType::Int32, true)),
        OffsetBuffer::from_lengths([2, 3]),
        lists().values().clone(),
        None,
    );
    fails(Tensor::from_arrow(&valid, &device), "from_arrow: column []: 1 of 5 values is null, the first at position 1");
    let (fields, columns, _) = records().into_parts();
    let records = StructArray::new(fields, columns, None);
    fails(FieldValue::from_arrow(&records, &device), "from_arrow: column name: 1 of 4 values is null, the first at");
}

#[test]
fn nulls_are_empty_where_that_is_asked_for() -> Result<()> {
    for device in devices() {
        let x = Tensor::from_arrow_with(&lists(), Nulls::Empty, &device)?;
        assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 0], [], [], [4]]>", "{device:?}");
        let records = StructuredTensor::from_arrow_with(&records(), Nulls::Empty, &device)?;
        let name = records.field_value("name")?.to_string();
        assert_eq!(name, "tensor([b'a', b'', b'c', b''], shape=(4,), dtype=str)", "{device:?}");
        let list = records.field_value("list")?.to_string();
        assert_eq!(list, "<ragged.RaggedTensor [[1, 0], [], [], []]>", "{device:?}: a field of a null struct");
        let pairs = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None]), None], 2);
        let x = Tensor::from_arrow_with(&pairs, Nulls::Empty, &device)?;
        assert_eq!(x.to_string(), "tensor([[1, 0], [0, 0]], shape=(2, 2), dtype=i32)", "{device:?}");
    }
    Ok(())
}

#[test]
fn masks_lie_beside_the_values() -> Result<()> {
    for device in devices() {
        let x = Tensor::from_arrow_masked(&lists(), &device)?;
        let paths: Vec<&str> = x.masks.iter().map(|mask| mask.path.as_str()).collect();
        assert_eq!(paths, ["", "[]"]);
        let text = |path: &str| x.mask(path).expect("nulls").to_string();
        assert_eq!(text(""), "tensor([True, False, True, True], shape=(4,), dtype=bool)", "{device:?}");
        assert_eq!(text("[]"), "<ragged.RaggedTensor [[True, False], [], [], [True]]>", "{device:?}");
        let shown = x.mask("[]").expect("nulls").select(&RaggedTensor::<i32>::try_from(x.value.clone())?, -1)?;
        assert_eq!(shown.to_string(), "<ragged.RaggedTensor [[1, -1], [], [], [4]]>", "{device:?}");
        let records = StructuredTensor::from_arrow_masked(&records(), &device)?;
        let paths: Vec<&str> = records.masks.iter().map(|mask| mask.path.as_str()).collect();
        assert_eq!(paths, ["", "name", "list", "list[]"], "{device:?}");
        assert_eq!(records.value.shape(), [Some(4)]);
        let none = Tensor::from_arrow_masked(&Int32Array::from(vec![1, 2]), &device)?;
        assert!(none.masks.is_empty());
    }
    Ok(())
}
