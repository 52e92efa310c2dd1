//! Prefetch: back-pressure, overlap, dropped iterators, and panics.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::sleep;
use std::time::Duration;

use ragged::{Device, HostTensor, HostValues, RaggedTensor};
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

/// What happens, in its order: the trace of a pipeline.
#[derive(Clone, Default)]
struct Trace(Arc<(Mutex<Vec<String>>, Condvar)>);
impl Trace {
    fn add(&self, event: String) {
        self.0.0.lock().expect("no panic").push(event);
        self.0.1.notify_all();
    }

    fn of<T>(&self, name: &str, run: impl FnOnce() -> T) -> T {
        self.add(format!("{name} starts"));
        let out = run();
        self.add(format!("{name} ends"));
        out
    }

    /// Waits until it happens; whether it does.
    fn wait(&self, event: &str) -> bool {
        let lacks = |events: &mut Vec<String>| !events.iter().any(|e| e == event);
        let events = self.0.0.lock().expect("no panic");
        let (events, waited) = self.0.1.wait_timeout_while(events, Duration::from_secs(20), lacks).expect("no panic");
        drop(events);
        !waited.timed_out()
    }

    fn at(&self, event: &str) -> usize {
        let events = self.0.0.lock().expect("no panic");
        events.iter().position(|e| e == event).unwrap_or_else(|| panic!("no {event}: {events:?}"))
    }
}

const BATCHES: i32 = 6;

/// A pipeline that reads batches and uploads them, with a trace of both.
fn traced(trace: &Trace, device: &Device) -> Dataset {
    let (reads, uploads, on) = (trace.clone(), trace.clone(), device.clone());
    Dataset::from_fn(move || {
        let reads = reads.clone();
        (0..BATCHES).map(move |k| {
            reads.of(&format!("read {k}"), || {
                Item::from_host(HostTensor::dense(&[1000], HostValues::I32(vec![k; 1000])))
            })
        })
    })
    .map(move |item| uploads.of(&format!("upload {}", item.values::<i32>()?[0]), || item.to_device(&on)))
}

fn sum(item: &Item, device: &Device) -> i32 {
    let x: RaggedTensor<i32> = item.tensor(device).and_then(TryInto::try_into).expect("a tensor");
    x.reduce_sum(0).and_then(|x| x.item()).expect("a read")
}

/// The work on a batch ends only when the next one has been read and uploaded: without overlap it waits in vain.
#[test]
fn reading_and_upload_overlap_the_work_before() {
    for device in crate::devices::devices() {
        let trace = Trace::default();
        let mut total = 0;
        for (k, item) in traced(&trace, &device).prefetch(1).iter().enumerate() {
            let item = item.expect("an item");
            total += trace.of(&format!("work {k}"), || {
                let next = format!("upload {} ends", k + 1);
                assert!(k + 1 == BATCHES as usize || trace.wait(&next), "{next} never, on {}", device.name());
                sum(&item, &device)
            });
        }
        assert_eq!(total, 1000 * (0..BATCHES).sum::<i32>());
        for k in 0..BATCHES - 1 {
            let end = trace.at(&format!("work {k} ends"));
            for event in ["read", "upload"].map(|part| format!("{part} {} starts", k + 1)) {
                assert!(trace.at(&event) < end, "{event} after work {k} on {}", device.name());
            }
        }
    }
}

/// The same pipeline without a thread of its own: the trace shows that nothing overlaps.
#[test]
fn without_prefetch_nothing_overlaps() {
    let (device, trace) = (Device::cpu(), Trace::default());
    for (k, item) in traced(&trace, &device).iter().enumerate() {
        trace.of(&format!("work {k}"), || sum(&item.expect("an item"), &device));
    }
    for k in 0..BATCHES - 1 {
        assert!(trace.at(&format!("read {} starts", k + 1)) > trace.at(&format!("work {k} ends")));
    }
}
