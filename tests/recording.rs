//! `record_async`: device-known sizes are awaited, and recording is repeated with them.

mod common;

use std::cell::Cell;

use common::outcome::same_bits;
use ragged::opt::{along, keep, shaped};
use ragged::{Device, Error, HostTensor, HostValues, RaggedTensor, Result, Tensor, record_async};

/// Rows of device-known lengths.
fn filtered(device: &Device) -> Tensor {
    let x = RaggedTensor::from_nested(vec![vec![1, 7, 2, 9], vec![], vec![3], vec![8, 8, 8]], device).expect("uploads");
    x.boolean_mask(&x.greater(2).expect("recorded")).expect("recorded").into_erased()
}

/// A dense vector of device-known length.
fn flat(device: &Device) -> Tensor {
    filtered(device).flat_values().expect("recorded")
}

type Op = (&'static str, fn(&Tensor, &Tensor) -> Result<Tensor>);

/// Operations that wait for a size, given such rows and such a vector.
const OPS: [Op; 9] = [
    ("to_tensor", |x, _| x.to_tensor(0i32)),
    ("two paddings", |x, _| x.to_tensor(0i32)?.reduce_sum(0)?.add(&x.reverse(1)?.to_tensor(0i32)?)),
    ("expand_dims", |_, v| v.expand_dims(0)),
    ("one_hot", |_, v| v.one_hot(along(10, 0), 1i32, 0i32)),
    ("reshape", |_, v| v.reshape([1, -1])),
    ("segment_sum", |_, v| v.segment_sum(&v.sort(0)?)),
    ("segment_ids_to_row_splits", |_, v| v.segment_ids_to_row_splits()),
    ("keepdims", |x, _| x.reduce_max(keep(0))),
    ("matmul", |_, v| {
        let column = v.expand_dims(1)?;
        column.matmul(column.t())
    }),
];

#[test]
fn async_recording_equals_blocking_recording() {
    for (name, device) in common::devices() {
        for (what, op) in OPS {
            let waited = op(&filtered(&device), &flat(&device)).and_then(|t| t.to_host()).expect("computed");
            let (x, v) = (filtered(&device), flat(&device));
            let calls = Cell::new(0);
            let record = || {
                calls.set(calls.get() + 1);
                op(&x, &v)
            };
            let awaited = pollster::block_on(record_async(record)).and_then(|t| t.to_host()).expect("computed");
            assert!(calls.get() > 1, "{name}: {what} waits for nothing");
            assert_eq!(waited.inner_shape, awaited.inner_shape, "{name}: {what}");
            assert_eq!(waited.nested_row_splits, awaited.nested_row_splits, "{name}: {what}");
            assert!(same_bits(&waited.values, &awaited.values), "{name}: {what}");
        }
    }
}

#[test]
fn recording_without_waits_runs_once() {
    let x = filtered(&Device::cpu());
    let calls = Cell::new(0);
    let record = || {
        calls.set(calls.get() + 1);
        x.reduce_sum(1)
    };
    let sums = pollster::block_on(record_async(record)).and_then(|t| t.to_host()).expect("computed");
    assert_eq!((calls.get(), sums.values), (1, HostValues::I32(vec![16, 0, 3, 24])));
}

/// No call inside the closure blocks: the first call that needs a size returns an error.
#[test]
fn no_call_blocks() {
    let x = filtered(&Device::cpu());
    let seen = Cell::new(None);
    let record = || {
        let padded = x.to_tensor(0i32);
        if let Err(e) = &padded {
            seen.set(Some(e.clone()));
        }
        padded
    };
    pollster::block_on(record_async(record)).expect("recorded");
    assert!(matches!(seen.take(), Some(Error::WouldBlock { op: "to_tensor" })));
    // Outside of the closure, calls block again.
    assert!(filtered(&Device::cpu()).to_tensor(0i32).is_ok());
}

#[test]
fn errors_are_returned() {
    for (name, device) in common::devices() {
        let x = filtered(&device);
        let failed = pollster::block_on(record_async(|| x.to_tensor(shaped(0i32, [-1]))));
        assert!(failed.is_err(), "{name}: a shape of another rank");
        // A condition that fails on the device.
        let ids = HostTensor::dense(&[2], HostValues::I32(vec![1, -1])).to_device(&device).expect("uploads");
        let data = HostTensor::dense(&[2], HostValues::I32(vec![1, 1])).to_device(&device).expect("uploads");
        let record = || data.segment_sum(&ids);
        assert_eq!(pollster::block_on(record_async(record)).err(), record().err(), "{name}");
    }
}

#[test]
fn an_upload_inside_the_closure_is_an_error() {
    let failed = pollster::block_on(record_async(|| filtered(&Device::cpu()).to_tensor(0i32)));
    let Err(Error::Argument { op: "record_async", what, .. }) = failed else { panic!("{failed:?}") };
    assert!(what.contains("upload outside of the closure"), "{what}");
}

/// A panic inside the closure restores blocking recording.
#[test]
fn a_panic_does_not_leave_the_thread_recording() {
    let panicked = std::panic::catch_unwind(|| {
        let _ = pollster::block_on(record_async(|| -> Result<Tensor> { panic!("of the closure") }));
    });
    assert!(panicked.is_err());
    assert!(filtered(&Device::cpu()).to_tensor(0i32).is_ok());
}
