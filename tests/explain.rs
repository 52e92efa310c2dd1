//! The output of `explain`: the table, the tree, the bytes, and each fusion barrier.

mod common;

use ragged::opt::keep;
use ragged::{
    Device, DeviceOptions, Explain, ExplainedKernel, FusionBarrier, HostTensor, HostValues, Result, Seed, Tensor,
    Tuning, explain, explain_timed, s,
};

/// Rows of 3, 0 and 2 elements of `width` numbers each.
fn rows(device: &Device, width: usize) -> Tensor {
    let mut inner_shape = vec![5];
    if width > 1 {
        inner_shape.push(width);
    }
    let values = HostValues::F32((0..5 * width).map(|k| k as f32 + 1.0).collect());
    let host =
        HostTensor { nested_row_splits: vec![vec![0, 3, 3, 5]], uniform_row_lengths: vec![None], inner_shape, values };
    host.to_device(device).expect("uploads")
}

fn vector(device: &Device, values: HostValues) -> Tensor {
    HostTensor::dense(&[values.len()], values).to_device(device).expect("uploads")
}

/// An expensive element-wise operation: twenty rounds of random bits.
fn dear(x: &Tensor) -> Result<Tensor> {
    x.dropout(0.5, Seed(7))
}

/// The arrays stored between kernels: their operations, with the fusion barriers.
fn reasons(e: &Explain) -> Vec<(&'static str, FusionBarrier)> {
    e.kernels.iter().flat_map(|k| &k.inputs).map(|i| (i.operation, i.why)).collect()
}

/// A program whose plan contains the fusion barrier.
type Case = (FusionBarrier, fn(&Device) -> Result<Explain>);

const CASES: [Case; 13] = [
    (FusionBarrier::EndsKernel("row_scan"), |d| rows(d, 1).cumsum(1)?.reduce_sum(1)?.explain()),
    (FusionBarrier::Requested, |d| {
        let twice = (&rows(d, 1) * 2f32)?;
        explain([&twice, &twice.reduce_sum(1)?])
    }),
    (FusionBarrier::SeveralReaders, |d| {
        let x = dear(&rows(d, 1))?;
        explain([&x.reduce_sum(1)?, &x.cumsum(1)?])
    }),
    (FusionBarrier::ComputedPositions, |d| {
        dear(&rows(d, 1).values()?)?.gather(&vector(d, HostValues::I32(vec![1, 1, 1])))?.explain()
    }),
    (FusionBarrier::EvaluatedOften, |d| dear(&rows(d, 1))?.argsort(1)?.explain()),
    (FusionBarrier::Search, |d| {
        let x = rows(d, 1);
        let by = vector(d, HostValues::F32(vec![1.0, 2.0, 3.0])).expand_dims(1)?;
        (&x * &by)?.boolean_mask(&x.greater(2f32)?)?.explain()
    }),
    (FusionBarrier::OncePerRow, |d| {
        let x = rows(d, 2);
        (&x - &x.reduce_mean(keep(1))?)?.explain()
    }),
    (FusionBarrier::OtherRows, |d| rows(d, 1).reduce_sum(1)?.reverse(0)?.explain()),
    (FusionBarrier::Condition, |d| rows(d, 1).check_numerics("finite")?.slice(s![.., 1..])?.explain()),
    (FusionBarrier::Splits, |d| rows(d, 1).slice(s![1..])?.reduce_sum(1)?.explain()),
    (FusionBarrier::StorageBuffers, |d| {
        let x = |k: u8| vector(d, HostValues::F32(vec![f32::from(k); 5]));
        (1..16).try_fold(x(0), |sum, k| &sum + &x(k))?.explain()
    }),
    (FusionBarrier::KernelSize, |d| dear(&rows(d, 1).reduce_sum(1)?)?.explain()),
    (FusionBarrier::ConditionsOnly, |d| {
        let x = rows(d, 1);
        (&x.slice(s![.., ..1])? + &x.slice(s![.., 1..])?)?.explain()
    }),
];

#[test]
fn each_fusion_barrier_is_reported() {
    for (_, device) in common::devices() {
        for (why, program) in CASES {
            let explained = program(&device).expect("explained");
            let found = reasons(&explained);
            let name = device.name();
            assert!(found.iter().any(|(_, w)| *w == why), "{name}: {why:?} is not in {found:?}\n{explained}");
        }
    }
}

#[test]
fn without_fusing_every_map_is_stored() {
    let device = Device::cpu_unfused();
    let explained = (&rows(&device, 1) * 2f32).and_then(|x| x.reduce_sum(1)?.explain()).expect("explained");
    assert_eq!(reasons(&explained), [("multiply", FusionBarrier::Disabled)]);
}

/// A cumulative sum of a mask, next to a reduction of the masked array.
fn masked(device: &Device) -> Result<Explain> {
    let x = rows(device, 1);
    let shared = dear(&x)?;
    let kept = shared.boolean_mask(&x.greater(&x.reduce_mean(keep(1))?)?)?;
    explain([&kept.cumsum(1)?, &shared.reduce_max(1)?])
}

#[test]
fn it_prints_as_a_table() {
    let table = "\
7 kernels, 7 dispatches, 0 waits; 1.3 KiB moved, 84 B at least (x 16.10)
kernel          operations            rows  elements  dispatches   read  written  inputs
#1 row_reduce   reduce_mean, greater     3         5           1   41 B     10 B
#2 rank_bitmap  boolean_mask                       5           1    9 B    524 B  #1 [1]
#3 map          boolean_mask                       4           1   48 B     16 B  #2 [2]
#4 map          dropout                            5           1   20 B     20 B
#5 compact      boolean_mask                    <= 5           1  540 B     20 B  #2 [2], #4 [3], #3 [4]
#6 row_scan     cumsum                   3      <= 5           1   36 B     20 B  #3 [5], #5 [6]
#7 row_reduce   reduce_max               3         3           1   36 B     12 B  #4 [3]
reasons:
[1] its reader would search for the row of each element; storing it costs less
[2] the rank_bitmap kernel must end before its results are read; inherent in the operation
[3] several kernels read it, and it is too expensive to recompute for each; storing it costs less
[4] the array was requested; request fewer arrays together if only its reader's result is needed
[5] its reader searches or iterates over row splits as an array; inherent in the operation
[6] the compact kernel must end before its results are read; inherent in the operation
";
    assert_eq!(masked(&Device::cpu()).expect("explained").to_string(), table);
}

#[test]
fn a_table_names_few_operations() {
    let device = Device::cpu();
    let mut x = rows(&device, 1);
    for k in 0..4 {
        x = (&x + k as f32).and_then(|x| &x * 3f32).expect("recorded");
    }
    let explained = x.reduce_sum(1).and_then(|x| x.explain()).expect("explained");
    let table = "\
1 kernel, 1 dispatch, 0 waits; 48 B moved, 48 B at least (x 1.00)
kernel         operations                    rows  elements  dispatches  read  written
#1 row_reduce  add, …, multiply, reduce_sum     3         3           1  36 B     12 B
";
    assert_eq!(explained.to_string(), table);
    assert_eq!(
        explain(&[] as &[Tensor]).expect("nothing").to_string(),
        "0 kernels, 0 dispatches, 0 waits; 0 B moved, 0 B at least (x 1.00)\n"
    );
}

#[test]
fn the_long_form_is_a_tree() {
    let tree = "\
7 kernels, 7 dispatches, 0 waits; 1.3 KiB moved, 84 B at least (x 16.10)
#6 row_scan: cumsum
│  <= 5 elements, 1 dispatch, reads 36 B, writes 20 B
├─ #3 map: boolean_mask, requested
│  │  4 elements, 1 dispatch, reads 48 B, writes 16 B
│  │  stored (16 B): its reader searches or iterates over row splits as an array
│  └─ #2 rank_bitmap: boolean_mask
│     │  5 elements, 1 dispatch, reads 9 B, writes 524 B (x 1.02)
│     │  stored (520 B): the rank_bitmap kernel must end before its results are read
│     └─ #1 row_reduce: greater < reduce_mean < reduce_mean
│           5 elements, 1 dispatch, reads 41 B, writes 10 B (x 1.24)
│           stored (5 B): its reader would search for the row of each element
└─ #5 compact: boolean_mask
   │  <= 5 elements, 1 dispatch, reads 540 B, writes 20 B
   │  stored (20 B): the compact kernel must end before its results are read
   ├─ #2 rank_bitmap: boolean_mask, as above
   │     stored (520 B): the rank_bitmap kernel must end before its results are read
   ├─ #4 map: dropout
   │     5 elements, 1 dispatch, reads 20 B, writes 20 B
   │     stored (20 B): several kernels read it, and it is too expensive to recompute for each
   └─ #3 map: boolean_mask, as above
         stored (16 B): the array was requested
#7 row_reduce: reduce_max
│  3 elements, 1 dispatch, reads 36 B, writes 12 B
└─ #4 map: dropout, as above
      stored (20 B): several kernels read it, and it is too expensive to recompute for each
";
    assert_eq!(masked(&Device::cpu()).expect("explained").detailed().to_string(), tree);
}

#[test]
fn the_tree_is_accessible_as_values() {
    for (_, device) in common::devices() {
        let e = masked(&device).expect("explained");
        for (k, kernel) in e.kernels.iter().enumerate() {
            assert!(
                kernel.inputs.iter().all(|i| i.kernel < k),
                "{}: a kernel before what it reads\n{e}",
                device.name()
            );
            assert!(kernel.bytes_read + kernel.bytes_written >= kernel.least_bytes, "{}: {kernel:?}", device.name());
            assert!(kernel.ratio() >= 1.0);
        }
        assert_eq!(e.kernels.iter().filter(|k| k.is_output).count(), 3, "values, splits and maxima\n{e}");
        assert_eq!(e.ratio(), e.bytes() as f64 / e.least_bytes as f64);
    }
    let nothing = explain(&[] as &[Tensor]).expect("nothing");
    assert_eq!((nothing.ratio(), nothing.kernels.len()), (1.0, 0));
}

#[test]
fn a_timed_explanation_has_the_kernels_that_ran() {
    for (name, device) in common::devices() {
        let x = rows(&device, 1);
        let recorded = || Ok::<_, ragged::Error>([x.cumsum(1)?, x.reduce_max(1)?]);
        let [sums, most] = recorded().expect("recorded");
        let planned = explain([&sums, &most]).expect("explained");
        assert_eq!(planned.time(), None);
        let timed = explain_timed([&sums, &most]).expect("explained");
        let times: Option<Vec<_>> = timed.kernels.iter().map(|kernel| kernel.time).collect();
        assert_eq!(timed.time(), Some(times.expect("timed").iter().sum()), "{name}");
        let untimed = |kernel: &ExplainedKernel| {
            let mut kernel = kernel.clone();
            kernel.time = None;
            kernel
        };
        assert_eq!(timed.kernels.iter().map(untimed).collect::<Vec<_>>(), planned.kernels, "{name}");
        assert_eq!((timed.waits, timed.least_bytes), (planned.waits, planned.least_bytes), "{name}");
        let text = timed.to_string();
        assert!(text.contains("written") && text.contains("time"), "{name}:\n{text}");
        assert!(explain([&sums, &most]).expect("computed").kernels.is_empty(), "{name}: the arrays are computed");
        assert!(explain_timed([&sums, &most]).expect("computed").kernels.is_empty(), "{name}");
        assert_eq!(sums.to_host().expect("read").values, HostValues::F32(vec![1.0, 3.0, 6.0, 4.0, 9.0]), "{name}");
        assert_eq!(most.to_host().expect("read").values, HostValues::F32(vec![3.0, f32::MIN, 5.0]), "{name}");
    }
}

#[test]
fn a_timed_explanation_has_the_kernels_of_all_stages() {
    let Some(device) = common::gpu_with(&DeviceOptions::default().tuning(Tuning::default().stage_bytes(1 << 10)))
    else {
        return;
    };
    let x = common::seeded_rows(1000, 20, 7).to_device(&device).expect("uploaded");
    let kept = || x.boolean_mask(&x.greater(900)?)?.tile(&[1, 8])?.cumsum(1);
    let (timed, same) = (kept().expect("recorded"), kept().expect("recorded"));
    let explained = timed.explain_timed().expect("explained");
    assert!(explained.waits > 1, "no size is read in advance:\n{explained}");
    let has = |kind: &str| explained.kernels.iter().any(|kernel| kernel.kind == kind && kernel.time.is_some());
    assert!(has("rank_bitmap") && has("row_scan"), "{explained}");
    assert_eq!(timed.to_host().expect("read"), same.to_host().expect("read"));
}

/// A count that was much less than its bound is read first when the same operations run again, and one that was not is not;
/// the explanation says so before.
#[test]
fn the_last_counts_tell_what_is_read_first() -> Result<()> {
    let options = DeviceOptions::default().tuning(Tuning::default().stage_bytes(64 << 10));
    let Some(device) = common::gpu_with(&options) else { return Ok(()) };
    const LEN: usize = 40_000;
    // One of `every` numbers is kept.
    let run = |device: &Device, every: usize| -> Result<(f32, u64, u64, u64)> {
        let values = (0..LEN).map(|k| if k % every == 0 { 1.0 + (k % 7) as f32 } else { -1.0 }).collect();
        let x = HostTensor::dense(&[LEN], HostValues::F32(values)).to_device(device)?;
        let sum = x.boolean_mask(&x.greater(0.0)?)?.sort(0)?.cumsum(0)?.reduce_max(0)?;
        let (explain, before) = (sum.explain()?, device.stats());
        let explained = explain.waits;
        assert_eq!(explain.sizes.iter().map(|size| size.wait).max().unwrap_or(0), explained.saturating_sub(1));
        for size in &explain.sizes {
            assert_eq!((size.operation, size.bound, size.wait), ("boolean_mask", LEN as u64, 1));
            let last = size.last.map_or(String::new(), |last| format!(", last {last}"));
            let line = format!("size of boolean_mask: bound 40000{last}; read in advance, wait 1\n");
            assert!(
                explain.to_string().ends_with(&line) && explain.detailed().to_string().ends_with(&line),
                "{explain}"
            );
        }
        let HostValues::F32(found) = sum.to_host()?.values else { panic!("floats") };
        let work = device.stats() - before;
        Ok((found[0], explained, work.waits, work.bytes_moved))
    };
    let mut moved = Vec::new();
    for (every, waits) in [(100, 1), (100, 2), (1, 2), (1, 1), (2, 1), (100, 1), (90, 2)] {
        let (found, explained, waited, bytes) = run(&device, every)?;
        let cpu = run(&Device::cpu(), every)?;
        // Which names no sizes: `run` would find a wait for them.
        assert_eq!((found, 0), (cpu.0, cpu.1), "one of {every}");
        assert_eq!((explained, waited), (waits, waits), "one of {every}, after {} runs", moved.len());
        moved.push(bytes);
    }
    assert!(4 * moved[1] < moved[0] && moved[3] == moved[0], "{moved:?}");
    Ok(())
}
