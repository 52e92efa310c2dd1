//! Limits of a device: the size of a buffer, and the memory budget.

use ragged::opt::{keep, with_nrows};
use ragged::{DType, Device, DeviceOptions, Error, HostTensor, HostValues, Result, Tensor};

use crate::common::gpu_with;
use crate::operations::ints;

#[test]
fn arrays_that_exceed_a_device_are_errors_before_any_allocation() {
    let Some(device) = gpu_with(&DeviceOptions::default().max_buffer(64 << 10)) else { return };
    let limit = |outcome: Result<Tensor>| match outcome {
        Err(Error::Limit { requested, limit, unit: "bytes", .. }) => assert!(requested > limit && limit == 64 << 10),
        other => panic!("{other:?}"),
    };
    let fits = ints((0..10_000).collect()).to_device(&device).expect("40 kB");
    let before = device.stats();
    limit(ints(vec![1; 20_000]).to_device(&device));
    // So are intermediate results that would be stored. An intermediate result that is never stored may have any size.
    let computed = |x: Result<Tensor>| limit(x.and_then(|x| x.eval().map(|()| x)));
    computed(Tensor::concat(&[&fits, &fits], 0));
    computed(Tensor::stack(&[&fits, &fits], 0));
    computed(fits.cast(DType::F64).and_then(|x| x.add(&x)));
    // One row id requires as many rows as its value.
    let one = ints(vec![1]).to_device(&device).expect("small");
    limit(Tensor::from_value_rowids(&one, [4_294_967_290i64]));
    limit(Tensor::from_value_rowids_unchecked(&one, with_nrows([0i64], 20_000)));
    let column = HostTensor::dense(&[300, 1], HostValues::I32(vec![1; 300])).to_device(&device).expect("small");
    let row = HostTensor::dense(&[1, 300], HostValues::I32(vec![1; 300])).to_device(&device).expect("small");
    computed(column.add(&row));
    let spent = device.stats() - before;
    assert_eq!(spent.dispatches, 0, "{spent:?}");
    // A sum over an array that is too large to store stores nothing.
    let sums = column.add(&row).and_then(|x| x.reduce_sum(1)).and_then(|x| x.to_host()).expect("reads");
    assert_eq!(sums.values, HostValues::I32(vec![600; 300]));
    // Smaller arrays still work.
    let sum = fits.add(&fits).and_then(|x| x.reduce_sum(0)).and_then(|x| x.to_host()).expect("reads");
    assert_eq!(sum.values, HostValues::I32(vec![99_990_000]));
}

/// Arrays of this many i32 take [`BLOCK`] bytes of device memory.
const BLOCK_LEN: usize = 100_000;
const BLOCK: u64 = 448 << 10;

fn block(first: i32) -> HostTensor {
    ints((first..first + BLOCK_LEN as i32).collect())
}

#[test]
fn a_memory_budget_is_never_exceeded() {
    // Room for two arrays and small buffers.
    let budget = 2 * BLOCK + (128 << 10);
    let Some(device) = gpu_with(&DeviceOptions::default().max_memory(budget)) else { return };
    let refused = |what: &str, outcome: Result<()>| match outcome {
        Err(Error::Limit { requested, unit: "bytes of device memory", limit, .. }) => {
            assert!(limit == budget && requested > budget, "{what}: {requested}");
        }
        other => panic!("{what}: {other:?}"),
    };
    let x = block(0).to_device(&device).expect("fits");
    let y = x.add(1).expect("recorded");
    y.eval().expect("fits");
    device.wait().expect("idle");
    let before = device.stats();
    assert_eq!((before.memory_bytes, before.memory_budget), (2 * BLOCK, Some(budget)));
    refused("an upload", block(5).to_device(&device).map(drop));
    let z = y.multiply(2).expect("recorded");
    refused("a result", z.eval());
    refused("a read", z.to_host().map(drop));
    // The first array of the computation fits, all of them together do not.
    let chain = x.reduce_max(keep(0)).and_then(|m| x.subtract(&m)?.sort(0)).expect("recorded");
    refused("a computation", chain.eval());
    refused("a future", pollster::block_on(chain.check_async()));
    let spent = device.stats() - before;
    assert_eq!((spent.pool_misses, spent.pool_hits, spent.dispatches), (0, 0, 0), "{spent:?}");
    assert_eq!((spent.submissions, spent.memory_bytes), (0, 2 * BLOCK), "{spent:?}");
    // Computations with small results fit, and so do reads: staging memory is not device memory.
    let most = x.reduce_max(0).and_then(|m| m.to_host()).expect("fits");
    assert_eq!(most.values, HostValues::I32(vec![BLOCK_LEN as i32 - 1]));
    assert_eq!(y.to_host().expect("reads"), block(1));
    // Unused memory is freed for arrays of another size.
    drop((y, z, chain));
    assert!(device.stats().memory_bytes >= 2 * BLOCK, "kept for reuse");
    let larger = ints((0..BLOCK_LEN as i32 * 6 / 5).collect());
    let other = larger.to_device(&device).expect("fits now");
    assert!(device.stats().memory_bytes <= budget, "{:?}", device.stats());
    assert_eq!(other.to_host().expect("reads"), larger);
    assert_eq!(x.to_host().expect("as before"), block(0));
    // The CPU backend and devices without a budget report none.
    assert_eq!(Device::cpu().stats().memory_budget, None);
    assert_eq!(gpu_with(&DeviceOptions::default()).expect("opens").stats().memory_budget, None);
}

#[test]
fn threads_stay_within_one_budget() {
    let budget = 5 * BLOCK;
    let Some(device) = gpu_with(&DeviceOptions::default().max_memory(budget)) else { return };
    let computed = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for k in 0..4 {
            let (device, computed) = (&device, &computed);
            scope.spawn(move || {
                for round in 0..12 {
                    let n = BLOCK_LEN / (1 + (k + round) % 3);
                    let host = ints((0..n as i32).collect());
                    let outcome = host.to_device(device).and_then(|x| x.add(k as i32)?.to_host());
                    match outcome {
                        Ok(got) => {
                            let want = (k as i32..(n + k) as i32).collect();
                            assert_eq!(got.values, HostValues::I32(want));
                            computed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                        Err(Error::Limit { unit: "bytes of device memory", .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                    let now = device.stats().memory_bytes;
                    assert!(now <= budget, "{now} of {budget}");
                }
            });
        }
    });
    // Two arrays per thread may exceed the budget together; a single thread has room.
    assert!(computed.into_inner() > 0);
    assert!(block(0).to_device(&device).and_then(|x| x.add(1)?.to_host()).is_ok());
}

/// The budget of a GPU bounds device memory, of which the variables of a list of tensors take none.
#[test]
fn lists_of_tensors_take_no_device_memory() {
    let Some(device) = gpu_with(&DeviceOptions::default().max_memory(64 << 10)) else { return };
    let x = ints((0..4096).collect()).to_device(&device).expect("16 kB");
    let before = device.stats().memory_bytes;
    let parts = x.split(4096, 0).expect("some MB of host memory");
    assert_eq!((parts.len(), device.stats().memory_bytes), (4096, before));
    assert_eq!(parts[77].to_host().expect("reads").values, HostValues::I32(vec![77]));
}
