//! The spans of the feature `tracing`: `cargo test --release --features tracing --test tracing`.

mod common;

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ragged::{Device, HostTensor, HostValues, Result};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the spans of this crate as text: `submit dispatches=2`.
#[derive(Clone, Default)]
struct Spans {
    seen: Arc<Mutex<Vec<String>>>,
    last: Arc<AtomicU64>,
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ragged"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = span.metadata().name().to_owned();
        span.record(&mut Fields(&mut text));
        self.seen.lock().expect("no panic").push(text);
        Id::from_u64(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The spans of uploading five numbers, scanning and reading them.
fn spans(device: &Device) -> Result<Vec<String>> {
    let spans = Spans::default();
    tracing::subscriber::with_default(spans.clone(), || {
        let x = HostTensor::dense(&[1, 5], HostValues::I32(vec![1, 2, 3, 4, 5])).to_device(device)?;
        x.cumsum(1)?.reduce_sum(1)?.to_host()
    })?;
    let seen = spans.seen.lock().expect("no panic").clone();
    Ok(seen)
}

#[test]
fn the_cpu_shows_plans_and_steps() {
    let seen = spans(&Device::cpu()).expect("computes");
    assert_eq!(
        seen,
        [
            // The sum: its shape is known on the host.
            "plan arrays=1",
            "cpu step op=\"cumsum\" kind=\"row_scan\" bytes=20",
            "cpu step op=\"reduce_sum\" kind=\"row_reduce\" bytes=4",
        ]
    );
}

#[test]
fn a_gpu_shows_submissions_uploads_and_waits() {
    for (_, device) in common::gpus() {
        let before = device.stats();
        let seen = spans(&device).expect("computes");
        let done = device.stats() - before;
        let count = |name: &str| seen.iter().filter(|s| s.split(' ').next() == Some(name)).count() as u64;
        assert!(seen.contains(&"upload bytes=20".to_owned()), "{seen:?}");
        assert!(seen.contains(&format!("submit dispatches={}", done.dispatches)), "{seen:?}");
        assert!(seen.last().is_some_and(|s| s.starts_with("read bytes=")), "{seen:?}");
        assert_eq!((count("plan"), count("compile")), (done.plans, done.pipelines_compiled), "{seen:?}");
        assert_eq!((count("submit"), count("wait")), (done.submissions, done.waits), "{seen:?}");
    }
}
