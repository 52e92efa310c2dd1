//! Laws that hold whatever the values are, on every backend.

mod common;

use std::sync::OnceLock;

use common::random;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ragged::{DType, Device, DeviceOptions, HostTensor, HostValues, Result};

/// Every backend; besides, those that store every intermediate array, and the first adapter as the smallest that
/// WebGPU allows.
fn backends() -> &'static [(String, Device)] {
    static ALL: OnceLock<Vec<(String, Device)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut out = common::devices();
        out.push(("cpu unfused".into(), Device::cpu_unfused()));
        if out.iter().any(|(_, device)| !device.is_cpu()) {
            let unfused = Device::gpu_unfused(&DeviceOptions::default()).expect("the first adapter opens twice");
            out.push(("gpu unfused".into(), unfused));
            let least = DeviceOptions::default().core_limits(true).no_int64(true).no_subgroups(true);
            out.push(("gpu core".into(), Device::gpu_with(&least).expect("the first adapter opens with less")));
        }
        out
    })
}

/// The values' bits; NaNs are all one.
fn bits(values: &HostValues) -> Vec<Vec<u8>> {
    match values {
        HostValues::Bool(v) => v.iter().map(|&b| vec![b.into()]).collect(),
        HostValues::U8(v) => v.iter().map(|&n| vec![n]).collect(),
        HostValues::I32(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::U32(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::I64(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::U64(v) => v.iter().map(|n| n.to_le_bytes().to_vec()).collect(),
        HostValues::F32(v) => {
            v.iter().map(|&f| if f.is_nan() { f32::NAN } else { f }.to_bits().to_le_bytes().to_vec()).collect()
        }
        HostValues::F64(v) => {
            v.iter().map(|&f| if f.is_nan() { f64::NAN } else { f }.to_bits().to_le_bytes().to_vec()).collect()
        }
        HostValues::Str(v) => v.clone(),
    }
}

/// Fails unless both are one tensor, bit for bit.
fn same(what: &str, want: &HostTensor, got: &HostTensor) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(&want.nested_row_splits, &got.nested_row_splits, "splits of {}", what);
    prop_assert_eq!(&want.inner_shape, &got.inner_shape, "inner shape of {}", what);
    prop_assert_eq!(want.values.dtype(), got.values.dtype(), "dtype of {}", what);
    let (want, got) = (bits(&want.values), bits(&got.values));
    if let Some(at) = (0..want.len()).find(|&at| want[at] != got[at]) {
        return Err(TestCaseError::fail(format!("{what}: value {at} is {:x?}, not {:x?}", got[at], want[at])));
    }
    Ok(())
}

/// What `compute` gives on the CPU, after it gave the same on every backend.
fn everywhere(
    dtype: DType,
    compute: impl Fn(&Device) -> Result<HostTensor>,
) -> std::result::Result<HostTensor, TestCaseError> {
    let run = |device: &Device| compute(device).map_err(|e| TestCaseError::fail(format!("{device:?}: {e}")));
    let want = run(&Device::cpu())?;
    for (name, device) in backends().iter().filter(|(_, device)| common::has(device, dtype)) {
        same(name, &want, &run(device)?)?;
    }
    Ok(want)
}

/// `cases` random cases, unless the environment says how many; failures are kept for the next run.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { default.cases } else { cases },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/properties.regressions"))),
        ..default
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn a_read_gives_what_was_uploaded(x in random::tensor(&DType::ALL)) {
        let back = everywhere(x.values.dtype(), |device| x.to_device(device)?.to_host())?;
        same("the round trip", &x, &back)?;
    }

    #[test]
    fn a_tensor_moves_between_devices(x in random::tensor(&DType::ALL)) {
        let back = everywhere(x.values.dtype(), |device| {
            x.to_device(&Device::cpu())?.to_device(device)?.to_device(&Device::cpu())?.to_host()
        })?;
        same("the round trip", &x, &back)?;
    }
}
