//! Arrays of hundreds of megabytes, with the adapter's own binding limit.

use ragged::opt::{keep, shaped};
use ragged::{Device, HostTensor, HostValues, Tensor, s};

use crate::common;
use crate::common::outcome::same_bits;
use crate::inputs::{Op, indices, scrambled};

/// Arrays of more than 128 MiB, the binding limit of Mesa's software adapter.
#[test]
fn arrays_of_hundreds_of_megabytes() {
    const LEN: u32 = 36_000_000;
    let values: Vec<i32> = (0..LEN).map(|k| (scrambled(k) % 1999) as i32 - 999).collect();
    let lengths: Vec<u32> = (0..LEN / 1000).map(|r| if r % 2 == 0 { 1999 } else { 1 }).collect();
    let host = HostTensor {
        nested_row_splits: vec![common::random::splits(&lengths)],
        uniform_row_lengths: vec![None],
        inner_shape: vec![LEN as usize],
        values: HostValues::I32(values.clone()),
    };
    for (name, device) in common::gpus() {
        let x = host.to_device(&device).expect("uploads");
        let sums = x.add(&x).and_then(|y| y.reduce_sum(1)).and_then(|t| t.to_host()).expect("computes");
        let mut at = 0;
        let mut want = Vec::new();
        for &len in &lengths {
            want.push(2 * values[at..at + len as usize].iter().sum::<i32>());
            at += len as usize;
        }
        assert!(sums.values == HostValues::I32(want), "{name}: sums");
        // A stored array, read backwards.
        let back = x.flat_values().and_then(|v| v.slice(s![..;-1])?.add(&v)).and_then(|t| t.to_host());
        let HostValues::I32(back) = back.expect("computes").values else { panic!("{name}: another dtype") };
        let n = values.len();
        assert!((0..n).all(|k| back[k] == values[k] + values[n - 1 - k]), "{name}: backwards");
        let kept = x.boolean_mask(&x.greater(0).expect("recorded")).and_then(|t| t.flat_values()?.to_host());
        let kept = kept.expect("computes").values;
        assert!(kept == HostValues::I32(values.iter().copied().filter(|&v| v > 0).collect()), "{name}: kept");
    }
}

/// Every kernel on arrays of more than 128 MiB, compared with the CPU backend. Sorts are within rows, since a sort of
/// all values takes minutes on a software adapter.
#[test]
fn every_kernel_takes_hundreds_of_megabytes() {
    const LEN: u32 = 34_000_000;
    let lengths: Vec<u32> = (0..LEN / 1000).map(|r| if r % 2 == 0 { 1995 } else { 5 }).collect();
    let splits = common::random::splits(&lengths);
    let numbers = (0..LEN).map(|k| (scrambled(k) >> 3) as f32 / 1024.0 - 1000.0).collect();
    let (nested_row_splits, uniform_row_lengths) = (vec![splits], vec![None]);
    let host = HostTensor {
        nested_row_splits,
        uniform_row_lengths,
        inner_shape: vec![LEN as usize],
        values: HostValues::F32(numbers),
    };
    let ops: &[Op] = &[
        ("running sums", |x| x.cumsum(1)),
        ("sorted", |x| x.sort(1)),
        ("joined", |x| Tensor::concat(&[x, &x.reduce_max(keep(1))?], 1)),
        ("softmax", |x| x.softmax(1)),
        ("padded", |x| x.to_tensor(shaped(1f32, [-1, 1000]))),
        ("elements by numbers", |x| x.flat_values()?.gather(&indices(x, 9_000_000, LEN)?)),
        ("rows by numbers", |x| x.gather(&indices(x, 40_000, LEN / 1000)?)),
        ("products", |x| {
            let columns = HostTensor::dense(&[8, 2], HostValues::F32((0..16).map(|k| k as f32).collect()));
            x.flat_values()?.reshape([i64::from(LEN) / 8, 8])?.matmul(&columns.to_device(&x.device())?)
        }),
    ];
    let strings: Vec<Vec<u8>> = (0..1_400_000u32).map(|k| vec![k as u8; 100 + k as usize % 3]).collect();
    let strings = HostTensor::dense(&[strings.len()], HostValues::Str(strings));
    let string = vec![(0..135 << 20).map(|k| scrambled(k) as u8).collect(), b"short".to_vec()];
    let string = HostTensor::dense(&[2], HostValues::Str(string));
    let cpu = Device::cpu();
    for (name, device) in common::gpus() {
        let (here, there) = (host.to_device(&cpu).expect("fits"), host.to_device(&device).expect("uploads"));
        for (what, op) in ops {
            let [want, got] = [&here, &there].map(|x| op(x).and_then(|t| t.to_host()).expect("computes"));
            assert!(want.nested_row_splits == got.nested_row_splits, "{name}: rows of {what}");
            assert!(same_bits(&want.values, &got.values), "{name}: {what}");
        }
        for (what, strings) in [("many", &strings), ("one", &string)] {
            let hashes = [&cpu, &device].map(|on| strings.to_device(on).and_then(|x| x.fingerprint64()?.to_host()));
            let [want, got] = hashes.map(|hashes| hashes.expect("computes").values);
            assert!(want == got, "{name}: hashes of {what}");
        }
    }
}
