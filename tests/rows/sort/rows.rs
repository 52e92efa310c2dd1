//! Sorts, `top_k` and `unique` of rows, in every dtype and around the sizes of tiles.

use ragged::opt::{SortAxis, descending};
use ragged::{DType, Device, HostTensor, HostValues};

use super::reference::{bits, differ, i64s, orders, rows, take, values};
use crate::common::{self, devices_and_unfused_cpu as devices};
use crate::nest::{Random, both_devices, on};

/// Compares all operations along the rows of a tensor with one partition.
fn check_rows(name: &str, x: &HostTensor, device: &Device) {
    let t = on(x, device);
    let starts = &x.nested_row_splits[0];
    for descending in [false, true] {
        let order = orders(x, descending);
        let want = take(&x.values, &order.concat());
        let got = t.sort(SortAxis::from(1).descending(descending)).and_then(|t| t.to_host()).expect("a sort");
        assert_eq!(got.nested_row_splits, x.nested_row_splits, "{name}");
        assert!(bits(&got.values) == bits(&want), "{name}: sorted, descending {descending}");
        let offsets = |(row, at): (usize, &Vec<usize>)| -> Vec<i64> {
            at.iter().map(|&p| (p - starts[row] as usize) as i64).collect()
        };
        let indices: Vec<Vec<i64>> = order.iter().enumerate().map(offsets).collect();
        assert!(
            i64s(&t.argsort(SortAxis::from(-1).descending(descending)).expect("recorded")) == indices.concat(),
            "{name}: argsort {descending}"
        );
        if descending {
            for k in [0, 1, 3, 1000] {
                let (values, at) = t.top_k(k, -1).expect("recorded");
                let cut = |all: &Vec<usize>| all[..all.len().min(k as usize)].to_vec();
                let want = take(&x.values, &order.iter().flat_map(cut).collect::<Vec<_>>());
                let values = values.to_host().expect("a read");
                assert!(bits(&values.values) == bits(&want), "{name}: the first {k}");
                let lengths = order.iter().map(|r| r.len().min(k as usize) as u32).collect::<Vec<_>>();
                assert_eq!(values.nested_row_splits, [common::random::splits(&lengths)], "{name}: rows of {k}");
                let want: Vec<i64> = indices.iter().flat_map(|r| r[..r.len().min(k as usize)].to_vec()).collect();
                assert!(i64s(&at) == want, "{name}: where the first {k} were");
            }
        }
    }
    let mut firsts: Vec<Vec<usize>> = Vec::new();
    let mut times: Vec<Vec<i64>> = Vec::new();
    for row in orders(x, false) {
        let (mut first, mut count): (Vec<usize>, Vec<i64>) = (Vec::new(), Vec::new());
        for (k, &p) in row.iter().enumerate() {
            if k == 0 || differ(&x.values, p, row[k - 1]) {
                first.push(p);
                count.push(0);
            }
            *count.last_mut().expect("pushed") += 1;
        }
        firsts.push(first);
        times.push(count);
    }
    let lengths: Vec<u32> = firsts.iter().map(|r| r.len() as u32).collect();
    let (values, counts) = t.unique_with_counts(1).expect("recorded");
    let got = values.to_host().expect("a read");
    assert_eq!(got.nested_row_splits, [common::random::splits(&lengths)], "{name}: rows of different values");
    assert!(bits(&got.values) == bits(&take(&x.values, &firsts.concat())), "{name}: different values");
    assert!(i64s(&counts) == times.concat(), "{name}: how often");
    let alone = t.unique(-1).and_then(|t| t.to_host()).expect("a read");
    let same = alone.nested_row_splits == got.nested_row_splits && bits(&alone.values) == bits(&got.values);
    assert!(same, "{name}: different values alone");
    let numbers: Vec<i64> = lengths.iter().map(|&l| i64::from(l)).collect();
    assert!(i64s(&t.n_unique(1).expect("recorded")) == numbers, "{name}: how many");
}

#[test]
fn rows_of_every_dtype() {
    let mut random = Random::new(41);
    let lengths = [0, 3, 1, 0, 17, 40, 2, 900, 0, 5, 895, 896, 897, 0];
    for dtype in common::bools_and_numbers() {
        let x = rows(&lengths, values(&mut random, dtype, lengths.iter().sum::<u32>() as usize));
        for (name, device) in devices().iter().filter(|(_, d)| common::has(d, dtype) && common::has(d, DType::I64)) {
            check_rows(&format!("{dtype} on {name}"), &x, device);
        }
    }
}

#[test]
fn rows_around_the_sizes_of_tiles() {
    let mut random = Random::new(42);
    for lengths in [
        vec![895, 896, 897, 1791, 1792, 1793],
        vec![2047, 0, 2048, 2049],
        [vec![0; 50_000], vec![5000], vec![0; 50_000], vec![3, 1]].concat(),
        vec![1; 3000],
        vec![],
        vec![0, 0],
    ] {
        let n = lengths.iter().sum::<u32>() as usize;
        let x = rows(&lengths, values(&mut random, DType::F32, n));
        let equal = rows(&lengths, HostValues::I32(vec![7; n]));
        for (name, device) in devices() {
            let what = format!("{} rows, {n} values, on {name}", lengths.len());
            check_rows(&what, &x, device);
            check_rows(&format!("{what}, all equal"), &equal, device);
        }
    }
}

#[test]
fn rows_are_batch_invariant() {
    let lengths = [3u32, 0, 1500, 1, 64, 257, 33, 0, 900];
    let x = rows(&lengths, values(&mut Random::new(43), DType::F64, lengths.iter().sum::<u32>() as usize));
    for (name, device) in devices().iter().filter(|(_, d)| common::has(d, DType::F64)) {
        let crowd = on(&x, device).sort(descending(1)).and_then(|t| t.to_host()).expect("a sort");
        for (row, w) in x.nested_row_splits[0].windows(2).enumerate() {
            let at: Vec<usize> = (w[0] as usize..w[1] as usize).collect();
            let alone = rows(&[lengths[row]], take(&x.values, &at));
            let alone = on(&alone, device).sort(descending(1)).and_then(|t| t.to_host()).expect("a sort");
            assert_eq!(bits(&alone.values), bits(&take(&crowd.values, &at)), "row {row} on {name}");
        }
    }
}

#[test]
fn sorting_is_idempotent() {
    let x = Random::new(3).tensor(2, 1);
    for device in both_devices() {
        let once = on(&x, &device).sort(1).expect("recorded");
        let twice = once.sort(1).and_then(|t| t.to_host()).expect("a read");
        assert_eq!(once.to_host().expect("a read"), twice);
    }
}

#[test]
fn short_rows_take_one_kernel_and_a_gather() {
    let short = rows(&[3, 896, 0, 2], HostValues::F32((0..901).map(|k| (k * 37 % 101) as f32).collect()));
    let long = rows(&[3, 897], HostValues::F32((0..900).map(|k| (k * 37 % 101) as f32).collect()));
    for (name, device) in common::gpus() {
        let explain = |x: &HostTensor| on(x, &device).sort(1).and_then(|t| t.explain()).expect("planned");
        let plan = explain(&short);
        let kinds: Vec<_> = plan.kernels.iter().map(|k| (k.kind, k.dispatches)).collect();
        assert_eq!(kinds, [("row_sort", 1), ("map", 1)], "{name}: {plan}");
        assert!(explain(&long).dispatches() > 10, "{name}: long rows take passes");
        assert_eq!(explain(&long).waits, 1, "{name}: the read's own");
    }
}
