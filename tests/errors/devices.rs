//! Errors of the memory that a device lacks name the operation that was called.

use ragged::opt::Base64;
use ragged::{
    CpuOptions, DType, Device, DeviceOptions, Error, HostTensor, HostValues, RaggedTensor, Result, RowPartition,
};

use crate::{common, no};

type Call = (&'static str, fn(&Device) -> Result<()>);

/// Calls that upload 400 kB.
const OF_MEMORY: [Call; 8] = [
    ("from_nested", |d| no(RaggedTensor::from_nested(vec![1; 100_000], d))),
    ("from_nested", |d| no(RaggedTensor::from_nested(vec![Vec::<i32>::new(); 100_000], d))),
    ("from_nested", |d| no(RaggedTensor::from_nested(vec!["text"; 100_000], d))),
    ("dense", |d| no(RaggedTensor::dense(vec![1; 100_000], &[100, 1000], d))),
    ("from_row_lengths", |d| no(RaggedTensor::from_row_lengths(vec![1; 100_000], [100_000], d))),
    ("to_device", |d| no(HostTensor::dense(&[100_000], HostValues::I32(vec![1; 100_000])).to_device(d))),
    ("RowPartition::from_row_lengths", |d| no(RowPartition::from_row_lengths(vec![0i64; 100_000].as_slice(), d))),
    ("add", |d| RaggedTensor::from_nested([1], d)?.broadcast_to([100_000])?.add(1)?.eval()),
];

#[test]
fn errors_of_a_devices_memory_name_the_operation() {
    let options = [DeviceOptions::default().max_memory(200_000), DeviceOptions::default().max_buffer(200_000)];
    let gpus = options.iter().filter_map(common::gpu_with);
    for device in gpus.chain([Device::cpu_with(&CpuOptions::default().max_memory(200_000))]) {
        for (name, call) in OF_MEMORY {
            let error = call(&device).expect_err(name);
            let is_named = error.to_string().starts_with(&format!("{name} "));
            assert!(is_named && matches!(error, Error::Limit { .. }), "{}: {name}: {error}", device.name());
        }
    }
}

/// Tables of operations on strings, and separators, take memory too.
#[test]
fn errors_of_the_memory_of_tables_name_the_operation() {
    let Some(device) = common::gpu_with(&DeviceOptions::default().max_memory(64)) else { return };
    let x = RaggedTensor::from_nested(["1", "2"], &device).expect("small").into_erased();
    let calls =
        [("string_to_number", x.string_to_number(DType::I32)), ("encode_base64", x.encode_base64(Base64::Padded))];
    for (name, outcome) in calls {
        let error = outcome.map(drop).expect_err(name);
        assert!(error.to_string().starts_with(&format!("{name} (")), "{name}: {error}");
    }
}
