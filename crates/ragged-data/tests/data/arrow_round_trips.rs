//! Arrow arrays to tensors and back: the same values, of any type, sliced, on every device.

use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::DataType;
use proptest::prelude::*;
use ragged::{FieldValue, StructuredTensor};
use ragged_data::arrow::{FromArrow, FromRecordBatch, Nulls, ToArrow, ToRecordBatch};

use crate::devices::devices;
use crate::random_arrays::{Form, Random, array, cases, data_type};
use crate::tree;

/// The array through the device, as the same type.
fn back(array: &dyn Array, nulls: Nulls, device: &ragged::Device) -> arrow_array::ArrayRef {
    let value =
        FieldValue::from_arrow_with(array, nulls, device).unwrap_or_else(|e| panic!("{e}: {:?}", array.data_type()));
    value.to_arrow_as(array.data_type()).unwrap_or_else(|e| panic!("{e}: {:?}", array.data_type()))
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn arrays_come_back(of in data_type(), n in 0usize..12, seed: u64) {
        let cpu = ragged::Device::cpu();
        let array = array(&of, n, Form { nulls: 0 }, &mut Random(seed));
        let back = back(&array, Nulls::Error, &cpu);
        prop_assert_eq!(back.data_type(), &of);
        prop_assert_eq!(tree::all(&back), tree::all(&array));
        // Arrow's own comparison, of arrays in another memory.
        prop_assert_eq!(&back.to_data(), &tree::rebuilt(&array).to_data());
    }

    #[test]
    fn nulls_become_empty_values(of in data_type(), n in 0usize..12, seed: u64) {
        let cpu = ragged::Device::cpu();
        let array = array(&of, n, Form { nulls: 3 }, &mut Random(seed));
        if matches!(&of, DataType::FixedSizeBinary(_)) {
            return Ok(());
        }
        let as_binaries = without_fixed_binaries(&of);
        let value = FieldValue::from_arrow_with(&array, Nulls::Empty, &cpu).expect("an array");
        let back = value.to_arrow_as(&as_binaries).expect("as it came");
        let want: Vec<_> = tree::all(&array).into_iter().map(|value| tree::filled(value, &as_binaries)).collect();
        prop_assert_eq!(tree::all(&back), want);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn masks_bring_nulls_back(of in data_type(), n in 0usize..12, seed: u64) {
        let cpu = ragged::Device::cpu();
        let array = array(&of, n, Form { nulls: 3 }, &mut Random(seed));
        let value = FieldValue::from_arrow_masked(&array, &cpu).expect("an array");
        let back = value.to_arrow_as(&of).expect("as it came");
        prop_assert_eq!(back.data_type(), &of);
        prop_assert_eq!(tree::all(&back), tree::all(&array));
    }
}

/// The type with binaries of any length in place of those of one length, of which a null is empty.
fn without_fixed_binaries(of: &DataType) -> DataType {
    let field = |f: &arrow_schema::FieldRef| {
        std::sync::Arc::new(f.as_ref().clone().with_data_type(without_fixed_binaries(f.data_type())))
    };
    match of {
        DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::List(f) => DataType::List(field(f)),
        DataType::LargeList(f) => DataType::LargeList(field(f)),
        DataType::ListView(f) => DataType::ListView(field(f)),
        DataType::LargeListView(f) => DataType::LargeListView(field(f)),
        DataType::FixedSizeList(f, n) => DataType::FixedSizeList(field(f), *n),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

/// Fewer cases, for every device.
#[test]
fn arrays_come_back_from_every_device() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for case in 0..40 {
        let of = data_type().new_tree(&mut runner).expect("a type").current();
        let array = array(&of, 9, Form { nulls: 0 }, &mut Random(case));
        for device in devices() {
            if of.to_string().contains("Float64") && FieldValue::from_arrow(&array, &device).is_err() {
                continue;
            }
            assert_eq!(tree::all(&back(&array, Nulls::Error, &device)), tree::all(&array), "{device:?} {of}");
        }
    }
}

#[test]
fn record_batches_keep_their_columns() {
    let mut random = Random(7);
    let names = ["z", "b", "a"];
    let types = [DataType::Int32, DataType::Utf8View, DataType::new_list(DataType::Float32, true)];
    let columns = names.iter().zip(&types).map(|(name, t)| (*name, array(t, 10, Form { nulls: 0 }, &mut random)));
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    for device in devices() {
        let records = StructuredTensor::from_record_batch(&batch, &device).expect("a batch");
        let back = records.to_record_batch_as(&batch.schema()).expect("records");
        assert_eq!(back.schema(), batch.schema());
        assert_eq!(tree::all(&StructArray::from(back)), tree::all(&StructArray::from(batch.clone())));
        // Without a schema, in the same order.
        let again = records.to_record_batch().expect("records");
        assert!(again.schema().fields().iter().map(|field| field.name()).eq(names));
    }
}

#[test]
fn records_without_fields_have_rows() {
    let device = ragged::Device::cpu();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(5));
    let schema = std::sync::Arc::new(arrow_schema::Schema::empty());
    let batch = RecordBatch::try_new_with_options(schema, vec![], &options).expect("rows");
    let records = StructuredTensor::from_record_batch(&batch, &device).expect("a batch");
    assert_eq!(records.shape(), [Some(5)]);
    assert_eq!(records.to_record_batch().expect("records").num_rows(), 5);
}
