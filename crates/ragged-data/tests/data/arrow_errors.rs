//! Misuse: errors with the function, the column and the remedy.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Decimal128Array, Float32Array, Int32Array, ListArray, NullArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use ragged::{DType, Device, RaggedTensor, Result, StructuredTensor, Tensor};
use ragged_data::arrow::{FromArrow, FromRecordBatch, ToArrow, ToRecordBatch, batches};

use crate::devices::fails;

fn field(name: &str, t: DataType) -> Arc<Field> {
    Arc::new(Field::new(name, t, true))
}

#[test]
fn arrays_that_are_no_tensors() -> Result<()> {
    let device = Device::cpu();
    let decimals = Decimal128Array::from(vec![1, 2]);
    fails(
        Tensor::from_arrow(&decimals, &device),
        "from_arrow: no dtype holds Arrow's Decimal128(38, 10); cast the column before",
    );
    fails(Tensor::from_arrow(&NullArray::new(2), &device), "from_arrow: 2 of 2 values are null");
    let fields = vec![(field("d", decimals.data_type().clone()), Arc::new(decimals) as ArrayRef)];
    let structs = Arc::new(StructArray::from(fields));
    let list = field("item", structs.data_type().clone());
    let lists = ListArray::new(list, OffsetBuffer::from_lengths([1, 1]), structs.clone(), None);
    fails(StructuredTensor::from_arrow(&lists, &device), "from_arrow: column [].d: no dtype holds");
    let numbers = Int32Array::from(vec![1, 2]);
    fails(StructuredTensor::from_arrow(&numbers, &device), "from_arrow: the value is a tensor of i32");
    fails(RaggedTensor::<f32>::from_arrow(&numbers, &device), "from_arrow: ");
    let records = StructArray::from(vec![(field("7", DataType::Int32), Arc::new(numbers) as ArrayRef)]);
    fails(StructuredTensor::from_arrow(&records, &device), "from_arrow: a field cannot be named \"7\"");
    let mut deep: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    for _ in 0..200 {
        let item = field("item", deep.data_type().clone());
        deep = Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([1]), deep, None));
    }
    fails(Tensor::from_arrow(&deep, &device), "from_arrow: types are nested 32 deep at most");
    Ok(())
}

#[test]
fn tensors_that_are_no_arrays() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device)?;
    let scalar = x.reduce_sum(..)?;
    fails(scalar.to_arrow(), "to_arrow: a scalar has no rows; give it a dimension by expand_dims(0)");
    let narrow = x.erased().cast(DType::BF16)?;
    fails(narrow.to_arrow(), "to_arrow: column []: Arrow has no type for bf16; cast the tensor to f32");
    fails(x.to_arrow_as(&DataType::Int32), "to_arrow_as: rows of values are no Int32; a list type holds them");
    let floats = DataType::new_list(DataType::Float32, true);
    fails(x.to_arrow_as(&floats), "to_arrow_as: column []: values of i32 are no Float32");
    let pairs = DataType::new_fixed_size_list(DataType::Int32, 2, true);
    fails(x.to_arrow_as(&pairs), "to_arrow_as: row 1 has 1 values, but the fixed-size list 2");
    let mut deep = StructuredTensor::from_fields([("x", &x.flat_values()?)], [3])?;
    for _ in 0..100 {
        deep = StructuredTensor::from_fields([("x", &deep)], [3])?;
    }
    fails(deep.to_arrow(), "to_arrow: values are nested 32 deep at most");
    let failing = x.erased().floordiv(&x.erased().multiply(0)?)?;
    fails(failing.to_arrow(), "floordiv: ");
    let words = RaggedTensor::from_nested(["a", "bc"], &device)?;
    let one = DataType::FixedSizeBinary(1);
    fails(words.to_arrow_as(&one), "to_arrow_as: string 1 has 2 bytes, but the type 1");
    fails(words.to_arrow_as(&DataType::Int8), "to_arrow_as: strings are no Int8");
    Ok(())
}

#[test]
fn fields_that_do_not_exist() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([1.0f32, 2.0], &device)?;
    let records = StructuredTensor::from_fields([("tokens", &x), ("price", &x)], [2])?;
    let schema = |names: &[&str]| {
        let fields = names.iter().map(|name| Field::new(*name, DataType::Float32, false));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    };
    fails(
        records.to_record_batch_as(&schema(&["token", "price", "tokens"])),
        "to_record_batch_as: there is no field \"token\"; did you mean \"tokens\"? there are tokens, price",
    );
    fails(
        records.to_record_batch_as(&schema(&["price"])),
        "to_record_batch_as: the type has no field \"tokens\" of the records; there are price",
    );
    let twice = RecordBatch::try_new(
        schema(&["a", "a"]),
        vec![Arc::new(Float32Array::from(vec![1.0])), Arc::new(Float32Array::from(vec![1.0]))],
    );
    let twice = twice.expect("columns");
    fails(StructuredTensor::from_record_batch(&twice, &device), "from_record_batch: field \"a\" is given twice");
    fails(records.expand_dims(0)?.to_record_batch(), "to_record_batch: a record batch has records of 1 dimension");
    fails(batches(&StringArray::from(vec!["abc"]), 2), "batches: row 0 has more than 2 values at one level");
    Ok(())
}
