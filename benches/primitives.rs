//! Each primitive on rows of skewed lengths, on the CPU backend and on the first adapter.
//!
//!     cargo bench                  measures
//!     cargo bench -- --test        runs everything once
//!     cargo bench -- row_reduce    measures what has that in its name

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ragged::{Device, HostTensor, HostValues, Pieces, Result, Tensor, s};

const ROWS: usize = 2048;

/// What the operations read, on one device.
struct Inputs {
    rows: Tensor,
    mask: Tensor,
    ids: Tensor,
    table: Tensor,
    text: Tensor,
}

impl Inputs {
    fn new(device: &Device) -> Result<Self> {
        // Most rows are short, some empty, a few long.
        let length = |r: usize| if r.is_multiple_of(97) { 500 } else { r % 17 };
        let splits: Vec<u32> = (0..=ROWS)
            .scan(0, |end, r| {
                let start = *end;
                *end += length(r) as u32;
                Some(start)
            })
            .collect();
        let n = splits.last().copied().unwrap_or(0) as usize;
        let rows = HostTensor {
            nested_row_splits: vec![splits],
            uniform_row_lengths: vec![None],
            inner_shape: vec![n],
            values: HostValues::F32((0..n).map(|k| (k % 101) as f32 / 7.0).collect()),
        };
        let ids = HostTensor::dense(&[n], HostValues::I32((0..n).map(|k| (k * 31 % 1024) as i32).collect()));
        let table = HostTensor::dense(&[1024, 8], HostValues::F32((0..1024 * 8).map(|k| k as f32).collect()));
        let words: Vec<String> = (0..n / 4).map(|k| format!("word{}", k * 37 % 1000)).collect();
        let text: Vec<String> = words.chunks(9).map(|line| line.join(" ")).collect();
        let text = HostTensor::dense(&[1], HostValues::Str(vec![text.join("\n").into_bytes()]));
        let mask = HostTensor { values: HostValues::Bool((0..n).map(|k| k % 3 == 0).collect()), ..rows.clone() };
        Ok(Self {
            rows: rows.to_device(device)?,
            mask: mask.to_device(device)?,
            ids: ids.to_device(device)?,
            table: table.to_device(device)?,
            text: text.to_device(device)?,
        })
    }

    fn words(&self) -> Result<Tensor> {
        self.text.string_split(b"\n", Pieces::All)?.values()?.string_split(b" ", Pieces::NonEmpty)
    }
}

/// An operation, by the primitive that it is mostly made of.
type Operation = (&'static str, fn(&Inputs) -> Result<Tensor>);

const OPERATIONS: [Operation; 11] = [
    ("row_reduce", |i| i.rows.reduce_sum(1, false)),
    ("row_sort", |i| i.rows.sort(1, false)),
    ("map", |i| (&i.rows * 2f32)? + 1f32),
    ("slice", |i| i.rows.slice(s![.., 1..])),
    ("gather", |i| i.table.gather(&i.ids, None, 0)),
    ("concat", |i| Tensor::concat(&[&i.rows, &i.rows], 1)),
    ("compact", |i| i.rows.boolean_mask(&i.mask)),
    ("tile", |i| i.rows.tile(&[1, 2])),
    ("to_padded", |i| i.rows.to_tensor(0f32, Some(&[None, Some(64)]))),
    ("string_split", |i| i.words()),
    ("hash", |i| i.words()?.to_hash_bucket_fast(1024)),
];

fn primitives(c: &mut Criterion) {
    let mut devices = vec![Device::cpu()];
    // Without an adapter the CPU is all there is.
    devices.extend(Device::gpu());
    for device in devices {
        let inputs = Inputs::new(&device).expect("the inputs fit every device");
        let kind = if device.is_cpu() { "cpu" } else { "gpu" };
        for (name, operation) in OPERATIONS {
            let mut group = c.benchmark_group(name);
            group.sample_size(20);
            group.throughput(Throughput::Elements(ROWS as u64));
            group.bench_function(BenchmarkId::from_parameter(kind), |b| {
                b.iter(|| {
                    let result = operation(black_box(&inputs)).expect("the operation takes the inputs");
                    result.eval().expect("the device takes the operation");
                    device.wait().expect("the device is there");
                });
            });
            group.finish();
        }
    }
}

criterion_group!(benches, primitives);
criterion_main!(benches);
