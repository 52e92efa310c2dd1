//! Prefetch: back-pressure, overlap, dropped iterators, and panics.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ragged::{HostTensor, HostValues, RaggedTensor};
use ragged_data::dataset::Dataset;
use ragged_data::item::Item;

/// An endless source that counts its items and says when it is dropped.
struct Source(Arc<AtomicUsize>, Arc<AtomicBool>);
impl Iterator for Source {
    type Item = ragged::Result<Item>;
    fn next(&mut self) -> Option<Self::Item> {
        let n = self.0.fetch_add(1, Ordering::SeqCst);
        Some(Ok(Item::from((n as u64).to_le_bytes())))
    }
}
impl Drop for Source {
    fn drop(&mut self) {
        self.1.store(true, Ordering::SeqCst);
    }
}

fn endless() -> (Dataset, Arc<AtomicUsize>, Arc<AtomicBool>) {
    let (made, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (of, when) = (made.clone(), dropped.clone());
    (Dataset::from_fn(move || Source(of.clone(), when.clone())), made, dropped)
}

#[test]
fn a_slow_consumer_stops_the_source() {
    let (source, made, dropped) = endless();
    let mut items = source.prefetch(3).iter();
    assert_eq!(made.load(Ordering::SeqCst), 0, "nothing runs before the first item");
    for taken in 1..=5 {
        assert!(items.next().is_some());
        sleep(Duration::from_millis(20));
        // Those taken, three that are ready, and one that waits for room.
        assert!(made.load(Ordering::SeqCst) <= taken + 4, "{taken}");
    }
    assert!(!dropped.load(Ordering::SeqCst));
    drop(items);
    assert!(dropped.load(Ordering::SeqCst), "the thread ends with the iterator");
}

#[test]
fn nested_prefetches_end_too() {
    let (source, _, dropped) = endless();
    let mut items = source.prefetch(2).batch(3).prefetch(2).iter();
    assert!(items.next().is_some());
    drop(items);
    assert!(dropped.load(Ordering::SeqCst));
}

#[test]
fn a_panic_goes_on_in_the_thread_that_iterates() {
    let (source, ..) = endless();
    let of = Arc::new(AtomicUsize::new(0));
    let dataset = source.map(move |x| match of.fetch_add(1, Ordering::SeqCst) {
        2 => panic!("the third item"),
        _ => Ok(x),
    });
    let mut items = dataset.prefetch(1).iter();
    assert!(items.next().is_some() && items.next().is_some());
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| items.next().is_some())).expect_err("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the third item"));
    assert!(items.next().is_none(), "the iteration is over");
}

/// What happens when, in milliseconds from the start: the trace of a pipeline.
#[derive(Clone)]
struct Trace(Instant, Arc<Mutex<Vec<(String, f64, f64)>>>);
impl Trace {
    fn of<T>(&self, name: String, run: impl FnOnce() -> T) -> T {
        let start = self.0.elapsed().as_secs_f64();
        let out = run();
        self.1.lock().expect("no panic").push((name, start * 1e3, self.0.elapsed().as_secs_f64() * 1e3));
        out
    }
}

#[test]
fn reading_and_upload_overlap_the_work_before() {
    const N: i32 = 6;
    for device in crate::devices::devices() {
        let trace = Trace(Instant::now(), Arc::default());
        let (reads, uploads, on) = (trace.clone(), trace.clone(), device.clone());
        let dataset = Dataset::from_fn(move || {
            let reads = reads.clone();
            (0..N).map(move |k| {
                reads.of(format!("read {k}"), || {
                    sleep(Duration::from_millis(30));
                    Item::from_host(HostTensor::dense(&[1000], HostValues::I32(vec![k; 1000])))
                })
            })
        })
        .map(move |item| uploads.of(format!("upload {}", item.values::<i32>()?[0]), || item.to_device(&on)))
        .prefetch(1);
        let mut sum = 0;
        for (k, item) in dataset.iter().enumerate() {
            let item = item.expect("an item");
            sum += trace.of(format!("work {k}"), || {
                sleep(Duration::from_millis(30));
                let x: RaggedTensor<i32> = item.tensor(&device).and_then(TryInto::try_into).expect("a tensor");
                x.reduce_sum(0).and_then(|x| x.item()).expect("a read")
            });
        }
        assert_eq!(sum, 1000 * (0..N).sum::<i32>());
        let all = trace.1.lock().expect("no panic").clone();
        let find = |name: String| all.iter().find(|(n, ..)| *n == name).cloned().expect("an event");
        let overlapped = (0..N - 1).filter(|k| {
            let (work, read, upload) =
                (find(format!("work {k}")), find(format!("read {}", k + 1)), find(format!("upload {}", k + 1)));
            // The next batch is read while this one is worked on, and uploaded before the work on it begins.
            read.1 < work.2 && upload.2 <= find(format!("work {}", k + 1)).1 + 1.0
        });
        let overlapped = overlapped.count();
        assert!(overlapped >= 4, "{} of 5 on {}: {all:?}", overlapped, device.name());
    }
}
