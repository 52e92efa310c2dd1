//! The types that arrays become.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{Array, DictionaryArray, FixedSizeListArray, Int64Array, ListArray, MapArray, StringArray};
use arrow_schema::{DataType, Field};
use ragged::{Device, RaggedTensor, Result, Str, StructuredTensor, Tensor};
use ragged_data::arrow::{FromArrow, Nulls, ToArrow};

use crate::devices::devices;
use crate::tree;

#[test]
fn fixed_size_lists_are_inner_dimensions() -> Result<()> {
    let device = Device::cpu();
    let pairs = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..3).map(|k| Some(vec![Some(2 * k), Some(2 * k + 1)])),
        2,
    );
    let x = Tensor::from_arrow(&pairs, &device)?;
    assert_eq!(x.to_string(), "tensor([[0, 1], [2, 3], [4, 5]], shape=(3, 2), dtype=i32)");
    assert_eq!(x.to_arrow()?.data_type(), pairs.data_type());
    // Above ragged rows they are uniform rows.
    let inner = ListArray::from_iter_primitive::<Int32Type, _, _>(
        [vec![1, 2], vec![], vec![3], vec![4]].map(|row| Some(row.into_iter().map(Some))),
    );
    let field = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
    let outer = FixedSizeListArray::new(field, 2, Arc::new(inner), None);
    let x = Tensor::from_arrow(&outer, &device)?;
    assert_eq!((x.shape_text().as_str(), x.ragged_rank()), ("[2, 2, None]", 2));
    assert_eq!(tree::all(&x.to_arrow()?), tree::all(&outer));
    Ok(())
}

#[test]
fn tensors_have_the_arrow_type_of_their_dimensions() -> Result<()> {
    for device in devices() {
        let cases: [(Tensor, &str); 6] = [
            (RaggedTensor::from_nested([1u8, 2], &device)?.into(), "UInt8"),
            (RaggedTensor::from_nested([true, false], &device)?.into(), "Boolean"),
            (RaggedTensor::from_nested([[1i64, 2]], &device)?.into(), "FixedSizeList(2 x Int64)"),
            (RaggedTensor::from_nested([vec![vec!["a"]]], &device)?.into(), "List(List(Utf8))"),
            (RaggedTensor::from_uniform_row_length([1i16, 2], 1, &device)?.into(), "FixedSizeList(1 x Int16)"),
            (RaggedTensor::from_nested([vec![[1f32, 2.0]]], &device)?.into(), "List(FixedSizeList(2 x Float32))"),
        ];
        for (x, want) in cases {
            let array = x.to_arrow()?;
            assert_eq!(array.data_type().to_string(), want, "{device:?}");
            assert_eq!(
                Tensor::from_arrow(&array, &device)?.to_string().contains("ragged"),
                x.to_string().contains("ragged") && !want.starts_with("Fixed")
            );
        }
    }
    Ok(())
}

#[test]
fn records_in_lists_are_ragged_records() -> Result<()> {
    for device in devices() {
        let words = RaggedTensor::from_nested([vec!["to", "be"], vec![], vec!["or"]], &device)?;
        let counts = RaggedTensor::from_nested([vec![3, 4], vec![], vec![5]], &device)?;
        let records =
            StructuredTensor::from_fields_and_rank([("word", words.erased()), ("count", counts.erased())], 2)?;
        let array = records.to_arrow()?;
        assert_eq!(array.data_type().to_string(), "List(Struct(\"word\": Utf8, \"count\": Int32))");
        let back = StructuredTensor::from_arrow(&array, &device)?;
        assert!(back.equals(&records)?);
        assert_eq!(back.field::<Str>("word")?.to_string(), words.to_string());
    }
    Ok(())
}

#[test]
fn dictionaries_are_gathered() -> Result<()> {
    for device in devices() {
        let array: DictionaryArray<Int8Type> = ["b", "a", "b", "c"].into_iter().collect();
        let x = RaggedTensor::<Str>::from_arrow(&array, &device)?;
        assert_eq!(x.to_strings()?, ["b", "a", "b", "c"]);
        assert_eq!(RaggedTensor::<Str>::from_arrow(&array.slice(1, 2), &device)?.to_strings()?, ["a", "b"]);
        let array: DictionaryArray<Int8Type> = [Some("b"), None, Some("a")].into_iter().collect();
        let x = RaggedTensor::<Str>::from_arrow_with(&array, Nulls::Empty, &device)?;
        assert_eq!(x.to_strings()?, ["b", "", "a"]);
        let numbers = DictionaryArray::<Int32Type>::new(vec![1, 0, 1].into(), Arc::new(Int64Array::from(vec![7, 9])));
        assert_eq!(RaggedTensor::<i64>::from_arrow(&numbers, &device)?.to_vec()?, [9, 7, 9]);
    }
    Ok(())
}

#[test]
fn maps_are_lists_of_entries() -> Result<()> {
    let device = Device::cpu();
    let keys = ["a", "b", "c"].into_iter();
    let map = MapArray::new_from_strings(keys, &Int64Array::from(vec![1, 2, 3]), &[0, 2, 2, 3]).expect("a map");
    let records = StructuredTensor::from_arrow(&map, &device)?;
    assert_eq!(records.shape(), [Some(3), None]);
    let back = records.to_arrow_as(map.data_type())?;
    assert_eq!(back.data_type(), map.data_type());
    assert_eq!(tree::all(&back), tree::all(&map));
    Ok(())
}

/// The strings of this crate are bytes: they are Utf8 where they can be.
#[test]
fn strings_are_utf8_or_binaries() -> Result<()> {
    let device = Device::cpu();
    let bytes = RaggedTensor::<Str>::from_bytes([&b"a"[..], b"\xff", b""], &device)?;
    crate::devices::fails(bytes.to_arrow(), "to_arrow: string 1 is not UTF-8; to_arrow_as takes DataType::Binary");
    let array = bytes.to_arrow_as(&DataType::Binary)?;
    assert_eq!(RaggedTensor::<Str>::from_arrow(&array, &device)?.to_vec()?, bytes.to_vec()?);
    let words = StringArray::from(vec!["日本", ""]);
    assert_eq!(tree::all(&RaggedTensor::<Str>::from_arrow(&words, &device)?.to_arrow()?), tree::all(&words));
    Ok(())
}
