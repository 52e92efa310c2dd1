//! Times, counters and memory of one stream on one device.

use std::time::Instant;

use ragged::{Device, HostTensor, HostValues, Program, Result, Stats, Tensor, TensorSpec};

use crate::batch::{Batch, TABLE};
use crate::common::{assert_same_bits, floats, resident};
use crate::loops::{Order, WIDTH};
use crate::rows::flat_values;
use crate::streams::Stream;

/// Number of batches after which caches are considered warm.
pub const WARM: usize = 8;

/// The batch whose memory is compared with that of the last batch, if there are twice as many batches.
const CHECKPOINT: usize = 100;

/// One in so many batches is explained, in a pass of its own.
const EXPLAINED: usize = 8;

/// Times per batch in microseconds.
#[derive(Default)]
pub struct Times {
    pub upload: Vec<f64>,
    pub record: Vec<f64>,
    pub read: Vec<f64>,
    pub engine: Vec<f64>,
    pub plain: Vec<f64>,
    pub by_operation: Vec<f64>,
    pub canonical: Vec<f64>,
    /// The time of a run of the traced program, with the read.
    pub traced: Vec<f64>,
    /// For some batches, the time of `Tensor::explain`, which plans without running.
    pub explain: Vec<f64>,
}

/// Memory in use at one batch.
pub struct Levels {
    pub batch: usize,
    pub stats: Stats,
    pub resident: Option<u64>,
}

/// Measurements of one stream on one device.
pub struct Measured {
    pub name: &'static str,
    pub operations: usize,
    pub batches: usize,
    /// Rows and values of all batches.
    pub rows: usize,
    pub values: usize,
    pub times: Times,
    /// Counters over the whole stream, and over the batches after the warm-up.
    pub work: Stats,
    pub warm_work: Stats,
    pub levels: [Levels; 2],
}

/// Whether the two loops differ only in the order of sums.
fn assert_about_equal(what: &str, plain: &[f32], canonical: &[f32]) {
    assert_eq!(plain.len(), canonical.len(), "{what}");
    for (a, b) in plain.iter().zip(canonical) {
        let is_same = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-3 * b.abs().max(1.0);
        assert!(is_same, "{what}: {a} and {b}");
    }
}

fn microseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

fn upload(stream: &Stream, batch: &Batch, device: &Device) -> (Vec<Tensor>, f64) {
    let inputs = (stream.inputs)(batch);
    let start = Instant::now();
    let inputs = inputs.iter().map(|input| input.to_device(device)).collect::<Result<_>>().expect("uploaded");
    (inputs, microseconds(start))
}

/// Runs a stream of batches, and asserts that each result equals that of the loop.
pub fn measure(stream: &Stream, device: &Device, batches: usize) -> Measured {
    let table: Vec<f32> = flat_values(TABLE[0] * TABLE[1]).into_iter().map(|v| v - 0.5).collect();
    let on_device = HostTensor::dense(&TABLE, HostValues::F32(table.clone())).to_device(device).expect("a small table");
    let table = table.as_chunks::<WIDTH>().0;
    let checkpoint = CHECKPOINT.min(batches / 2).max(1);

    let mut times = Times::default();
    let (mut rows, mut values) = (0, 0);
    let mut levels = Vec::new();
    let before = device.stats();
    let mut warm = None;
    for number in 0..batches {
        let batch = (stream.batch)(number);
        rows += batch.x.splits.len() - 1;
        values += batch.x.values.len();

        let (inputs, upload) = upload(stream, &batch, device);
        let start = Instant::now();
        let result = (stream.record)(&inputs, &on_device).expect("recorded");
        let record = microseconds(start);
        let start = Instant::now();
        let read = floats(result.to_host().expect("read"));
        let read_time = microseconds(start);
        // Before the loop, so that dropping the tensors frees the batch's memory.
        drop((result, inputs));

        let start = Instant::now();
        let plain = (stream.plain)(&batch, table, Order::Sequential);
        times.plain.push(microseconds(start));
        if let Some(by_operation) = stream.by_operation {
            let start = Instant::now();
            let result = by_operation(&batch);
            times.by_operation.push(microseconds(start));
            assert_about_equal(&format!("{}, batch {number}, by operation", stream.name), &result, &plain);
        }
        let start = Instant::now();
        let canonical = (stream.plain)(&batch, table, Order::Canonical);
        times.canonical.push(microseconds(start));
        times.upload.push(upload);
        times.record.push(record);
        times.read.push(read_time);
        times.engine.push(upload + record + read_time);
        let what = format!("{} on {}, batch {number}", stream.name, device.name());
        assert_same_bits(&what, &read, &canonical);
        assert_about_equal(&what, &plain, &canonical);

        if number + 1 == WARM {
            warm = Some(device.stats());
        }
        if [checkpoint, batches].contains(&(number + 1)) {
            levels.push(Levels { batch: number + 1, stats: device.stats(), resident: resident() });
        }
    }
    let end = device.stats();

    let mut traced: Option<Program> = None;
    for number in 0..batches {
        let (inputs, _) = upload(stream, &(stream.batch)(number), device);
        let program = traced.get_or_insert_with(|| {
            let specs: Vec<TensorSpec> = inputs.iter().map(TensorSpec::of).collect();
            Program::trace(&specs, |inputs| (stream.record)(inputs, &on_device)).expect("traced")
        });
        let start = Instant::now();
        let results = program.run(&inputs).expect("run");
        let read = floats(results[0].to_host().expect("read"));
        times.traced.push(microseconds(start));
        let recorded = (stream.record)(&inputs, &on_device).and_then(|x| x.to_host()).expect("recorded");
        assert_same_bits(&format!("{} traced, batch {number}", stream.name), &read, &floats(recorded));
    }
    for number in (0..batches).step_by(EXPLAINED) {
        let (inputs, _) = upload(stream, &(stream.batch)(number), device);
        let result = (stream.record)(&inputs, &on_device).expect("recorded");
        let start = Instant::now();
        result.explain().expect("explained");
        times.explain.push(microseconds(start));
    }
    let last = || Levels { batch: batches, stats: end, resident: resident() };
    let mut levels = levels.into_iter();
    let levels = [levels.next().unwrap_or_else(last), levels.next().unwrap_or_else(last)];
    let (work, warm_work) = (end - before, end - warm.unwrap_or(end));
    Measured { name: stream.name, operations: stream.operations, batches, rows, values, times, work, warm_work, levels }
}
