//! Reads of some rows transfer only those rows. Async reads work with any executor and do not block.

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use ragged::opt::keep;
use ragged::{Device, Error, HostTensor, HostValues, RaggedTensor, Result, Tensor, s};

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Splits of `nrows` rows of 0 to 4 elements.
fn splits(nrows: u32) -> Vec<u32> {
    std::iter::once(0)
        .chain((0..nrows).scan(0, |end, r| {
            *end += r * 7 % 5;
            Some(*end)
        }))
        .collect()
}

fn ragged(nested_row_splits: Vec<Vec<u32>>, inner: &[usize], values: impl FnOnce(usize) -> HostValues) -> HostTensor {
    let nvals = nested_row_splits.last().and_then(|s| s.last()).copied().unwrap_or(7) as usize;
    let inner_shape: Vec<usize> = std::iter::once(nvals).chain(inner.iter().copied()).collect();
    let values = values(inner_shape.iter().product());
    HostTensor { uniform_row_lengths: vec![None; nested_row_splits.len()], nested_row_splits, inner_shape, values }
}

fn ints(n: usize) -> HostValues {
    HostValues::I32((0..n as i32).collect())
}

fn strings(n: usize) -> HostValues {
    HostValues::Str((0..n).map(|i| vec![b'a' + i as u8 % 26; i % 4]).collect())
}

/// Tensors of every kind that reads treat differently.
fn tensors(device: &Device) -> Vec<(String, Tensor)> {
    let two = [splits(6), splits(12)];
    let two = vec![two[0].clone(), two[1][..=two[0][6] as usize].to_vec()];
    let mut uniform = ragged(vec![splits(4), (0..=splits(4)[4]).map(|r| r * 3).collect()], &[], ints);
    uniform.uniform_row_lengths[1] = Some(3);
    let hosts = [
        ("dense", ragged(Vec::new(), &[], ints)),
        ("matrix", ragged(Vec::new(), &[3], ints)),
        ("bytes", ragged(vec![splits(9)], &[], |n| HostValues::U8((0..n as u8).collect()))),
        ("wide", ragged(vec![splits(9)], &[2, 3], |n| HostValues::F32((0..n).map(|i| i as f32).collect()))),
        ("deep", ragged(two.clone(), &[2], |n| HostValues::I64((0..n as i64).collect()))),
        ("uniform below", uniform),
        ("strings", ragged(vec![splits(9)], &[], strings)),
        ("deep strings", ragged(two, &[2], strings)),
    ];
    let mut all: Vec<(String, Tensor)> = Vec::new();
    for (name, host) in hosts {
        let x = host.to_device(device).expect("valid");
        // The same tensors with device-known splits and numbers of rows.
        let keep = x.row_keep().expect("recorded");
        let known_there = x.boolean_mask(&keep).expect("recorded");
        all.push((format!("{name}, sizes on the device"), known_there));
        all.push((name.into(), x));
    }
    all
}

trait RowKeep {
    /// A mask of rows: all but the second.
    fn row_keep(&self) -> Result<Tensor>;
}
impl RowKeep for Tensor {
    fn row_keep(&self) -> Result<Tensor> {
        let nrows = self.shape()[0].expect("known");
        let mask = (0..nrows).map(|r| r != 1).collect();
        HostTensor::dense(&[nrows], HostValues::Bool(mask)).to_device(&self.device())
    }
}

#[test]
fn rows_equal_slices() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        for (name, x) in tensors(&device) {
            let what = format!("{label} {name}");
            let whole = x.to_host().expect("reads");
            let nrows = whole.nested_row_splits.first().map_or(whole.inner_shape[0], |s| s.len() - 1) as i64;
            for row in -nrows..nrows {
                let want = x.slice(s![row]).and_then(|r| r.to_host()).expect("reads");
                assert_eq!(x.row_to_host(row).expect("there"), want, "{what} {row}");
                assert_eq!(pollster::block_on(x.row_to_host_async(row)).expect("there"), want, "{what} {row}");
            }
            let n = nrows as u32;
            for (from, to) in [(0, 0), (0, 1), (1, n.min(4)), (2, 2), (n - 2, n), (0, n)] {
                let want = x.slice(s![i64::from(from)..i64::from(to)]).and_then(|r| r.to_host()).expect("reads");
                assert_eq!(x.rows_to_host(from..to).expect("there"), want, "{what} {from}..{to}");
                let read = pollster::block_on(x.rows_to_host_async(from..to));
                assert_eq!(read.expect("there"), want, "{what} {from}..{to}");
            }
            for row in [nrows, -nrows - 1, i64::MAX, i64::MIN] {
                let outcome = x.row_to_host(row);
                assert!(matches!(outcome, Err(Error::Index { .. })), "{what} {row}: {outcome:?}");
            }
            assert!(x.rows_to_host(0..nrows as u32 + 1).is_err(), "{what}");
            #[allow(clippy::reversed_empty_ranges, reason = "tests that they are errors")]
            let backwards = x.rows_to_host(2..1);
            assert!(matches!(backwards, Err(Error::Argument { .. })), "{what}: {backwards:?}");
        }
        let scalar = HostTensor::dense(&[], HostValues::I32(vec![1])).to_device(&device).expect("valid");
        assert!(matches!(scalar.row_to_host(0), Err(Error::Argument { .. })), "{label}");
    }
}

#[test]
fn reading_a_row_transfers_only_that_row() {
    let _guard = exclusive();
    const NROWS: u32 = 100_000;
    for (label, device) in common::gpus() {
        let host = ragged(vec![splits(NROWS)], &[], |n| HostValues::F32((0..n).map(|i| i as f32).collect()));
        let spent = |what: &str, x: &Tensor, row: i64, waits: u64, bytes: u64| {
            let before = device.stats();
            let read = x.row_to_host(row).expect("there");
            let spent = device.stats() - before;
            let part = read.values.len() as u64 * 4;
            assert!(part > 0, "{what}: a row with values");
            assert_eq!((spent.bytes_read_back, spent.waits), (part + bytes, waits), "{label} {what}");
            assert_eq!(spent.dispatches, 0, "{label} {what}");
        };
        // The host has the splits: only the values are transferred.
        let x = host.to_device(&device).expect("uploads");
        spent("splits on the host", &x, 50_001, 1, 0);
        spent("splits on the host", &x, -2, 1, 0);
        // Two entries of the splits are transferred.
        let x = x.slice(s![.., 1..]).expect("recorded");
        // The first read computes the splits and checks their condition.
        x.check().expect("holds");
        spent("splits on the device", &x, 50_002, 2, 8);
        // The first read also transfers the number of rows, which the host then knows.
        let x = x.boolean_mask(&x.row_keep().expect("recorded")).expect("recorded");
        x.eval().expect("computed");
        x.check().expect("holds");
        spent("rows counted on the device", &x, 50_003, 3, 12);
        spent("rows counted before", &x, 50_003, 2, 8);
        let before = device.stats();
        let some = x.rows_to_host(10..20).expect("there");
        let spent = device.stats() - before;
        assert_eq!(spent.bytes_read_back, some.values.len() as u64 * 4 + 11 * 4, "{label}");
    }
}

#[test]
fn a_read_transfers_only_data_that_the_host_lacks() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let spent = |what: &str, x: Result<Tensor>, dispatches: u64, bytes: u64| {
            let x = x.expect("recorded");
            let before = device.stats();
            x.to_host().expect("reads");
            let spent = device.stats() - before;
            let got = (spent.dispatches, spent.bytes_read_back, spent.waits);
            assert_eq!(got, (dispatches, bytes, 1), "{label} {what}");
        };
        let host = ragged(vec![splits(1000)], &[], ints);
        let values = 4 * host.values.len() as u64;
        let x = host.to_device(&device).expect("uploads");
        spent("splits from the host", x.add(&x), 1, values);
        spent("rows of one length", x.reduce_sum(keep(1)).and_then(|y| y.add(1)), 1, 4 * 1000);
        spent("a dense tensor", x.reduce_max(1), 1, 4 * 1000);
        // Plus the number of values, and whether their sum overflowed.
        let ends = 4 * 1001 + 12;
        spent("splits from the device", x.slice(s![.., 1..]), 2, ends + values);
        let words = ragged(vec![splits(9)], &[], strings).to_device(&device).expect("uploads");
        let HostValues::Str(all) = words.to_host().expect("reads").values else { panic!("strings") };
        spent("strings as they came", Ok(words), 0, all.iter().map(Vec::len).sum::<usize>() as u64);
    }
}

#[test]
fn a_check_reads_no_element() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let dense = |v: Vec<i32>| HostTensor::dense(&[v.len()], HostValues::I32(v)).to_device(&device).expect("valid");
        let mut divisors = vec![1; 5000];
        let fine = dense(vec![7; 5000]).truncatediv(&dense(divisors.clone())).expect("recorded");
        divisors[4321] = 0;
        let bad = dense(vec![7; 5000]).truncatediv(&dense(divisors)).expect("recorded");
        let before = device.stats();
        fine.check().expect("holds");
        pollster::block_on(fine.check_async()).expect("holds");
        for outcome in [bad.check(), pollster::block_on(bad.check_async())] {
            assert!(matches!(outcome, Err(Error::Check { at: 4321, .. })), "{label}: {outcome:?}");
        }
        let spent = device.stats() - before;
        // A condition that holds is not checked again.
        assert_eq!(spent.bytes_read_back, if device.is_cpu() { 0 } else { 3 * 4 }, "{label}");
        let before = device.stats();
        dense(vec![1, 2]).check().expect("nothing to fail");
        assert_eq!((device.stats() - before).waits, 0, "{label}");
    }
}

/// A minimal waker: unparks a thread.
struct Unpark(Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// All outputs, in order. Polls the futures round-robin after each wake-up, and parks in between.
fn join<T>(futures: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut waiting: Vec<Pin<Box<_>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    loop {
        for (future, output) in waiting.iter_mut().zip(&mut outputs).filter(|(_, output)| output.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                *output = Some(value);
            }
        }
        if outputs.iter().all(Option::is_some) {
            return outputs.into_iter().flatten().collect();
        }
        thread::park();
    }
}

#[test]
fn async_reads_equal_blocking_reads_and_do_not_block() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let tensors = tensors(&device);
        let blocking: Vec<HostTensor> = tensors.iter().map(|(_, x)| x.to_host().expect("reads")).collect();
        let futures = join(tensors.iter().map(|(_, x)| x.to_host_async()));
        for (((name, x), want), got) in tensors.iter().zip(&blocking).zip(futures) {
            assert_eq!(&got.expect("reads"), want, "{label} {name}");
            assert_eq!(pollster::block_on(x.to_nested_async()).expect("reads"), want.to_nested(), "{label} {name}");
            let moved = pollster::block_on(x.to_device_async(&Device::cpu())).and_then(|x| x.to_host());
            assert_eq!(&moved.expect("reads"), want, "{label} {name}");
        }
        let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3]], &device).expect("valid");
        let before = device.stats();
        // The future records, computes and reads, and outlives its tensor.
        let doubled = (&x * 2).expect("recorded").to_vec_async();
        assert_eq!(pollster::block_on(doubled).expect("reads"), [2, 4, 6], "{label}");
        let rows = (&x + 1).expect("recorded").to_nested_vec_async::<Vec<Vec<i32>>>();
        assert_eq!(pollster::block_on(rows).expect("reads"), [vec![2, 3], vec![], vec![4]], "{label}");
        assert!(pollster::block_on(x.to_nested_vec_async::<Vec<i32>>()).is_err(), "{label}: too shallow");
        assert_eq!(pollster::block_on(x.row_to_vec_async(-1)).expect("there"), [3], "{label}");
        let spent = device.stats() - before;
        assert_eq!(spent.waits, 0, "{label}: {spent:?}");
        assert_eq!(spent.submissions, if device.is_cpu() { 0 } else { 3 }, "{label}: {spent:?}");
    }
}

#[test]
fn futures_move_between_threads_and_may_be_dropped() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let host = ragged(vec![splits(3000)], &[], ints);
        let x = host.to_device(&device).expect("uploads");
        x.eval().expect("computes");
        device.wait().expect("idle");
        let level = device.stats().buffer_bytes;
        for round in 0..20 {
            let mut future = Box::pin(x.add(round).and_then(|y| y.multiply(&x)).expect("recorded").to_host_async());
            // Dropped before the first poll, dropped after one poll, and read by another thread.
            if round % 3 > 0 {
                let mut context = Context::from_waker(Waker::noop());
                let first = future.as_mut().poll(&mut context);
                assert!(!matches!(first, Poll::Ready(Err(_))), "{label}");
                if round % 3 == 2 && first.is_pending() {
                    let got = thread::spawn(move || pollster::block_on(future)).join().expect("no panic");
                    let want: Vec<i32> = (0..host.values.len() as i32).map(|v| (v + round) * v).collect();
                    assert_eq!(got.expect("reads").values, HostValues::I32(want), "{label}");
                }
            }
        }
        assert_eq!(x.to_host().expect("reads"), host, "{label}");
        assert_eq!(device.stats().buffer_bytes, level, "{label}: nothing is kept by what was dropped");
    }
}
