//! Faults are errors of the call or read that they affect and of no other; everything else stays usable.

mod common;

use std::panic::AssertUnwindSafe;

use common::{gpu_with, seeded_rows};
use ragged::{
    DType, Device, DeviceOptions, Error, HostTensor, HostValues, RaggedShape, Result, Tensor, along, any_of,
    descending, exclusive, keep, reversed, s, with_nrows,
};

fn ints(values: Vec<i32>) -> HostTensor {
    HostTensor::dense(&[values.len()], HostValues::I32(values))
}

/// Rows of 0 to 4 numbers.
fn rows(nrows: u32, seed: i32) -> HostTensor {
    seeded_rows(nrows, 5, seed)
}

fn no_memory<T: std::fmt::Debug>(outcome: Result<T>) {
    let message = outcome.expect_err("there is no memory").to_string();
    assert!(message.contains("memory"), "{message}");
}

#[test]
fn running_out_of_memory_is_an_error_once() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let host = rows(1000, 3);
    // The first failure empties the pool; the allocation is retried.
    device.fail_allocations(1);
    let x = host.to_device(&device).expect("the second attempt");
    device.fail_allocations(2);
    no_memory(host.to_device(&device));
    let y = x.multiply(&x).and_then(|y| y.reduce_sum(1)).expect("recorded");
    for _ in 0..3 {
        device.fail_allocations(2);
        no_memory(y.eval());
        device.fail_allocations(2);
        no_memory(y.to_host());
    }
    // The operands and the failed tensor stay usable.
    let cpu = host.to_device(&Device::cpu()).expect("uploads");
    let want = cpu.multiply(&cpu).and_then(|y| y.reduce_sum(1)).and_then(|y| y.to_host()).expect("reads");
    device.fail_allocations(0);
    assert_eq!(y.to_host().expect("there is memory again"), want);
    assert_eq!(x.to_host().expect("reads"), host);
}

#[test]
fn failed_evaluations_leave_no_partial_results() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let host = rows(5000, 7);
    let chain = |x: &Tensor| -> Result<Tensor> {
        let sums = x.reduce_sum(keep(1))?;
        let scaled = x.subtract(&sums)?;
        Tensor::concat(&[&scaled, x], 1)?.reduce_max(1)
    };
    let want = chain(&host.to_device(&Device::cpu()).expect("uploads")).and_then(|y| y.to_host()).expect("reads");
    let x = host.to_device(&device).expect("uploads");
    for count in [2, 2, 2, 1, 0] {
        let y = chain(&x).expect("recorded");
        device.fail_allocations(count);
        if count == 2 {
            no_memory(y.to_host());
        }
        device.fail_allocations(0);
        assert_eq!(y.to_host().expect("there is memory again"), want);
    }
}

/// Operations with distinct kernels, scratch memory or waits.
type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);
const KERNELS: &[Op] = &[
    ("row_scan", |x| x.cumsum(reversed(1))),
    ("row_sort", |x| x.sort(1)),
    ("a sort of all", |x| x.flat_values()?.argsort(descending(0))),
    ("compact", |x| x.boolean_mask(&x.greater(7)?)),
    ("where_indices", |x| Ok(x.where_indices()?.into_erased())),
    ("matmul", |x| x.expand_dims(2)?.t().matmul(&x.expand_dims(2)?)),
    ("segments", |x| x.flat_values()?.unsorted_segment_sum(&x.flat_values()?.floormod(5)?, 5)),
    ("unique", |x| x.unique(1)),
    ("softmax", |x| x.cast(DType::F32)?.softmax(1)),
    ("ranges", |x| x.flat_values()?.floormod(3)?.range()),
    ("to_tensor", |x| x.to_tensor(0)),
    ("map_rows", |x| x.map_rows(|row| row.sort(descending(0))?.cumsum(exclusive(0)))),
];

/// Empty, short and long strings.
fn strings() -> HostTensor {
    HostTensor::dense(&[500], HostValues::Str((0..500).map(|k| vec![b'a' + k as u8 % 26; k % 70]).collect()))
}
const OF_STRINGS: &[Op] = &[
    ("row_hash", |x| x.fingerprint64()),
    ("words", |x| x.string_split(any_of("abc"))),
    ("strings reversed", |x| x.reverse(0)),
];

#[test]
fn every_kernel_recovers_from_out_of_memory() {
    for (host, kernels) in [(rows(3000, 11), KERNELS), (strings(), OF_STRINGS)] {
        for (name, op) in kernels {
            // A new device, whose pool is empty.
            let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
            let want = host.to_device(&Device::cpu()).and_then(|x| op(&x)?.to_host()).expect("reads");
            let x = host.to_device(&device).expect("uploads");
            // Some operations wait for a size while they are recorded.
            device.fail_allocations(2);
            no_memory(op(&x).and_then(|y| y.to_host()));
            device.fail_allocations(0);
            let y = op(&x).expect("there is memory again");
            device.fail_allocations(1);
            y.eval().unwrap_or_else(|e| panic!("{name}: the second attempt: {e}"));
            device.fail_allocations(0);
            assert_eq!(y.to_host().expect("reads"), want, "{name}");
            assert_eq!(x.to_host().expect("reads"), host, "{name}");
        }
    }
}

#[test]
fn every_kernel_reports_a_lost_device() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let on_device = |host: HostTensor| host.to_device(&device).expect("uploads");
    let (numbers, strings) = (on_device(rows(100, 5)), on_device(strings()));
    device.lose();
    for (x, kernels) in [(numbers, KERNELS), (strings, OF_STRINGS)] {
        for (name, op) in kernels {
            let outcome = op(&x).and_then(|y| y.to_host());
            assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{name}: {outcome:?}");
        }
    }
}

#[test]
fn a_lost_device_is_an_error_of_every_operation_on_it() {
    let Some(device) = gpu_with(&DeviceOptions::default()) else { return };
    let host = rows(100, 5);
    let x = host.to_device(&device).expect("uploads");
    let y = x.add(&x).expect("recorded");
    y.eval().expect("computes");
    device.lose();
    let lost = |outcome: Result<()>| assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{outcome:?}");
    lost(x.to_host().map(drop));
    lost(y.to_host().map(drop));
    lost(y.multiply(&y).and_then(|z| z.to_host()).map(drop));
    lost(x.multiply(&y).and_then(|z| z.eval()));
    lost(host.to_device(&device).map(drop));
    lost(x.to_device(&Device::cpu()).map(drop));
    lost(device.numerics().map(drop));
    let _ = device.stats();
    // Another device of the same adapter still works.
    let other = gpu_with(&DeviceOptions::default()).expect("opens again");
    assert_eq!(host.to_device(&other).and_then(|x| x.to_host()).expect("reads"), host);
}

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

#[test]
fn sizes_beyond_32_bits_are_errors() {
    for (name, device) in common::devices() {
        let dense = |shape: &[usize]| {
            let n = shape.iter().product();
            HostTensor::dense(shape, HostValues::U8(vec![1; n])).to_device(&device).expect("small")
        };
        let (column, row) = (dense(&[70_000, 1]), dense(&[1, 70_000]));
        let outcome = column.maximum(&row);
        assert!(matches!(outcome, Err(Error::Limit { .. })), "{name}: {outcome:?}");
        let cube = dense(&[2000, 1, 1]).maximum(&dense(&[1, 2000, 1])).and_then(|x| x.maximum(&dense(&[1, 1, 2000])));
        assert!(matches!(cube, Err(Error::Limit { .. })), "{name}: {cube:?}");
        assert_eq!(column.reduce_max(..).and_then(|x| x.to_host()).expect("reads").values.len(), 1, "{name}");
    }
}

#[test]
fn a_condition_is_reported_by_the_reads_that_depend_on_it() {
    for (name, device) in common::devices() {
        let x = ints((0..3000).collect()).to_device(&device).expect("uploads");
        let mut divisors = vec![1; 3000];
        (divisors[1234], divisors[2345]) = (0, 0);
        let y = ints(divisors).to_device(&device).expect("uploads");
        let line = line!() + 1;
        let bad = x.truncatediv(&y).expect("only the device can see it");
        let fine = x.add(&y).expect("recorded");
        let below = bad.add(&fine).and_then(|z| z.reduce_sum(0)).expect("recorded");
        // Evaluated together, reported separately.
        bad.eval().expect("does not look");
        below.eval().expect("does not look");
        assert_eq!(fine.to_host().expect("nothing is wrong here").values.len(), 3000, "{name}");
        for tensor in [&bad, &below, &bad] {
            match tensor.to_host() {
                Err(Error::Check { op, at, location, .. }) => {
                    assert_eq!((op, at), ("truncatediv", 1234), "{name}");
                    assert!(location.file().ends_with("faults.rs") && location.line() == line, "{name}: {location}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(x.to_host().expect("as before").values, HostValues::I32((0..3000).collect()), "{name}");
        assert!(fine.add(&x).and_then(|z| z.to_host()).is_ok(), "{name}");
    }
}

#[test]
fn two_failed_conditions_are_distinguished() {
    for (name, device) in common::devices() {
        let x = ints(vec![5, 6, 7, 8]).to_device(&device).expect("uploads");
        let zero = |at: usize| {
            let mut v = vec![1; 4];
            v[at] = 0;
            ints(v).to_device(&device).expect("uploads")
        };
        let (a, b) = (x.truncatediv(&zero(2)).expect("recorded"), x.floormod(&zero(3)).expect("recorded"));
        let found = |t: &Tensor| match t.to_host() {
            Err(Error::Check { op, at, .. }) => (op, at),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(found(&a), ("truncatediv", 2), "{name}");
        assert_eq!(found(&b), ("floormod", 3), "{name}");
        let both = Tensor::stack(&[&a, &b], 0).expect("recorded");
        assert!(["truncatediv", "floormod"].contains(&found(&both).0), "{name}");
    }
}

#[test]
fn threads_record_and_read_concurrently() {
    let cpu = Device::cpu();
    let compute = |x: &Tensor, k: i32| -> Result<HostTensor> {
        let y = x.multiply(k)?.subtract(&x.reduce_sum(keep(1))?)?;
        Tensor::concat(&[&y, x], 1)?.reduce_max(1)?.to_host()
    };
    for (name, device) in common::gpus() {
        let host = rows(2000, 9);
        let shared = host.to_device(&device).expect("uploads");
        // Not computed yet, and needed by all threads.
        let pending = shared.add(&shared).expect("recorded");
        let reference = host.to_device(&cpu).expect("uploads");
        let doubled = reference.add(&reference).expect("recorded");
        std::thread::scope(|scope| {
            for k in 0..8 {
                let (shared, pending, reference, doubled, name) = (&shared, &pending, &reference, &doubled, &name);
                scope.spawn(move || {
                    for round in 0..6 {
                        let factor = 1 + (k + round) % 5;
                        let got = compute(shared, factor).expect("reads");
                        assert_eq!(got, compute(reference, factor).expect("reads"), "{name}");
                        let got = compute(pending, factor).expect("reads");
                        assert_eq!(got, compute(doubled, factor).expect("reads"), "{name}");
                    }
                });
            }
        });
    }
}

#[test]
fn overflowing_shapes_without_elements_are_errors() {
    let device = Device::cpu();
    let none = |shape: &[usize]| HostTensor::dense(shape, HostValues::F32(Vec::new())).to_device(&device);
    assert!(none(&[0, 70_000, 70_000]).is_err());
    assert!(none(&[0, usize::MAX, usize::MAX]).is_err());
    let (tall, wide) = (none(&[0, 70_000, 1]).unwrap(), none(&[0, 1, 70_000]).unwrap());
    assert!(tall.add(&wide).is_err());
    let bad = HostTensor {
        nested_row_splits: vec![vec![0, 0], Vec::new()],
        uniform_row_lengths: vec![None, None],
        inner_shape: vec![0],
        values: HostValues::F32(Vec::new()),
    };
    assert!(bad.to_device(&device).is_err());
}

#[test]
fn splits_into_too_many_empty_pieces_are_errors() {
    let device = Device::cpu();
    let none = HostTensor::dense(&[0, 0], HostValues::F32(Vec::new())).to_device(&device).expect("no values");
    for axis in [0, 1] {
        let outcome = none.split(1 << 30, axis);
        assert!(matches!(outcome, Err(Error::Limit { unit: "pieces", .. })), "{axis}");
        assert_eq!(none.split(3, axis).expect("empty pieces").len(), 3);
    }
}

/// Dimensions whose product exceeds 32 or 64 bits, in tensors without elements.
#[test]
fn overflowing_products_of_sizes_do_not_panic() {
    let device = Device::cpu();
    let zeros = |dims: &[u64]| RaggedShape::dense(dims, &device).and_then(|shape| Tensor::zeros(&shape, DType::F32));
    let uniform = |x: &Tensor, lengths: &[i64]| {
        lengths.iter().try_fold(x.clone(), |x, &len| Tensor::from_uniform_row_length(&x, len))
    };
    let none = zeros(&[0]).expect("no values");
    let rows = Tensor::from_row_lengths(&none, [0i64; 0]).expect("no rows");
    let mut all: Vec<Tensor> = [
        zeros(&[1, 1, 1, 0]),
        zeros(&[0, 1 << 31, 1]),
        zeros(&[0, 1, 1 << 31]),
        zeros(&[0, 1 << 16, 0, (1 << 16) - 1]),
        zeros(&[0, 1 << 31]).and_then(|x| uniform(&x, &[1 << 17])),
        uniform(&none, &[1 << 17, 1 << 17]),
        uniform(&none, &[1 << 31, 1 << 31, 1 << 31]),
        uniform(&none, &[0, 1 << 31, 1 << 31, 2]),
        uniform(&rows, &[1 << 31, 1 << 31]),
        uniform(&none, &[1 << 31])
            .and_then(|x| Tensor::from_row_lengths(&x, [0i64; 0]))
            .and_then(|x| uniform(&x, &[1 << 31])),
    ]
    .into_iter()
    .map(|t| t.expect("no elements"))
    .collect();
    all.push(all[1].add(1.0f32).expect("recorded"));
    type Operation = (&'static str, fn(&Tensor, i64) -> Result<Tensor>);
    let operations: [Operation; 44] = [
        ("tile", |x, axis| {
            x.tile(&(0..x.rank() as i64).map(|d| if d == axis { 1 } else { 1 << 20 }).collect::<Vec<_>>())
        }),
        ("repeat", |x, axis| x.repeat(1i64 << 31, axis)),
        ("argmax", |x, axis| x.argmax(axis)),
        ("argmin", |x, axis| x.argmin(axis)),
        ("argsort", |x, axis| x.argsort(axis)),
        ("sort", |x, axis| x.sort(descending(axis))),
        ("cumsum", |x, axis| x.cumsum(exclusive(reversed(axis)))),
        ("cummax", |x, axis| x.cummax(axis)),
        ("reduce_sum", |x, axis| x.reduce_sum(keep(axis))),
        ("reduce_mean", |x, axis| x.reduce_mean(axis)),
        ("reduce_variance", |x, axis| x.reduce_variance(axis)),
        ("reduce_logsumexp", |x, axis| x.reduce_logsumexp(axis)),
        ("softmax", |x, axis| x.softmax(axis)),
        ("l2_normalize", |x, axis| x.l2_normalize(axis, 1e-6)),
        ("median", |x, axis| x.median(keep(axis))),
        ("top_k", |x, axis| x.top_k(1i64 << 31, axis).map(|(values, _)| values)),
        ("unique", |x, axis| x.unique(axis)),
        ("n_unique", |x, axis| x.n_unique(axis)),
        ("expand_dims", |x, axis| x.expand_dims(axis)),
        ("squeeze", |x, axis| x.squeeze(axis)),
        ("merge_dims", |x, axis| x.merge_dims(axis, -1)),
        ("merge_dims to", |x, axis| x.merge_dims(0, axis)),
        ("reverse", |x, axis| x.reverse(axis)),
        ("row_lengths", |x, axis| x.row_lengths(axis)),
        ("bounding_size", |x, axis| x.bounding_size(axis)),
        ("bounding_shape", |x, _| x.bounding_shape()),
        ("size", |x, _| x.size()),
        ("with_ragged_rank", |x, axis| Tensor::zeros(&x.ragged_shape().with_ragged_rank(axis as usize)?, DType::I64)),
        ("ones_like", |x, _| x.ones_like()),
        ("to_tensor", |x, _| x.to_tensor(0.0f32)),
        ("to_sparse", |x, _| Ok(x.to_sparse()?.values().clone())),
        ("concat", |x, axis| Tensor::concat(&[x, x], axis)),
        ("stack", |x, axis| Tensor::stack(&[x, x], axis)),
        ("slice", |x, _| x.slice(s![.., ..-1])),
        ("slice in steps", |x, _| x.slice(s![..;2, ..;-1])),
        ("add", |x, _| x.add(x)),
        ("add rows", |x, axis| x.add(&x.reduce_max(keep(axis))?)),
        ("select", |x, _| x.greater(0.0f32)?.select(x, x)),
        ("boolean_mask", |x, _| x.boolean_mask(&x.greater(0.0f32)?)),
        ("where_indices", |x, _| Ok(x.greater(0.0f32)?.where_indices()?.erased().clone())),
        ("gather", |x, axis| x.gather(along(&x.argmax(-1)?.flat_values()?, axis))),
        ("matmul", |x, _| x.matmul(x.t())),
        ("one_hot", |x, _| x.cast(DType::I32)?.one_hot(1i64 << 31, 1i32, 0i32)),
        ("bitcast", |x, _| x.bitcast(DType::U8)),
    ];
    let [x, y, z] = [[1u64 << 31, 1, 1], [1, 1 << 31, 1], [1, 1, 1 << 31]].map(|[a, b, c]| zeros(&[0, a, b, c]));
    let (x, y, z) = (x.expect("none"), y.expect("none"), z.expect("none"));
    assert!(x.greater(0.0f32).and_then(|x| x.select(&y, &z)).is_err(), "2^93 numbers an element");
    assert!(x.add(&y).is_err(), "2^62 numbers an element");
    for (name, operation) in operations {
        for (k, x) in all.iter().enumerate() {
            for axis in 0..x.rank() as i64 {
                let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| operation(x, axis).map(drop)));
                assert!(outcome.is_ok(), "{name} of tensor {k} along axis {axis}");
            }
        }
    }
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
