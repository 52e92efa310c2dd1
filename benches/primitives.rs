//! Each recipe of the graph on rows of four length distributions, on the CPU backend and on the first adapter.
//! Throughput is relative to the lower bound on bytes that any implementation moves.
//!
//!     cargo bench                          measures
//!     cargo bench -- --test                runs everything once
//!     cargo bench -- row_reduce/pareto     measures the benchmarks whose names contain the text

#[path = "../crates/ragged-bench/src/rows.rs"]
mod rows;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ragged::{Device, HostTensor, HostValues, Result, Tensor, s};
use rows::{Distribution, flat_values, splitmix64};

/// Total numbers of the rows: enough for many workgroups, and fast on a software adapter.
const VALUES: usize = 1 << 16;

/// Numbers per element of wide rows.
const WIDTH: usize = 8;

/// Columns of the matrix by which rows are multiplied.
const COLUMNS: usize = 16;

/// Number of distinct keys of the sum by key.
const KEYS: i64 = 1024;

/// Splits of rows with a total of `values` values, as in `ragged-bench`.
fn splits(dist: Distribution, values: usize) -> Vec<u32> {
    let ends = dist.lengths(values as u32).into_iter().scan(0, |end, len| {
        *end += len;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Inputs of the operations, on one device.
struct Inputs {
    /// Rows of numbers.
    x: Tensor,
    /// A number for each row.
    by: Tensor,
    /// Rows of vectors, with the same total of numbers.
    wide: Tensor,
    /// A matrix for the vectors.
    matrix: Tensor,
    /// A mask that keeps half of the numbers.
    mask: Tensor,
    /// A key for each number.
    keys: Tensor,
    /// Rows of bytes.
    text: Tensor,
}

impl Inputs {
    fn new(device: &Device, dist: Distribution) -> Result<Self> {
        let floats = |n: usize| HostValues::F32(flat_values(n));
        let ragged = |splits: &[u32], inner: &[usize], values| HostTensor {
            nested_row_splits: vec![splits.to_vec()],
            uniform_row_lengths: vec![None],
            inner_shape: inner.to_vec(),
            values,
        };
        let (rows, short) = (splits(dist, VALUES), splits(dist, VALUES / WIDTH));
        let nrows = rows.len() - 1;
        let mask = HostValues::Bool((0..VALUES as u64).map(|j| splitmix64(j).is_multiple_of(2)).collect());
        let keys = HostValues::I32((0..VALUES as u64).map(|j| (splitmix64(j) % KEYS as u64) as i32).collect());
        let line = |w: &[u32]| (w[0]..w[1]).map(|j| b'a' + (j % 26) as u8).collect::<Vec<u8>>();
        let text = HostTensor::dense(&[nrows], HostValues::Str(rows.windows(2).map(line).collect()));
        Ok(Self {
            x: ragged(&rows, &[VALUES], floats(VALUES)).to_device(device)?,
            by: HostTensor::dense(&[nrows, 1], floats(nrows)).to_device(device)?,
            wide: ragged(&short, &[VALUES / WIDTH, WIDTH], floats(VALUES)).to_device(device)?,
            matrix: HostTensor::dense(&[WIDTH, COLUMNS], floats(WIDTH * COLUMNS)).to_device(device)?,
            mask: ragged(&rows, &[VALUES], mask).to_device(device)?,
            keys: HostTensor::dense(&[VALUES], keys).to_device(device)?,
            text: text.to_device(device)?,
        })
    }
}

/// The name of a recipe, the kind of kernel that the operation must contain, and the operation.
type Operation = (&'static str, &'static str, fn(&Inputs) -> Result<Tensor>);

const OPERATIONS: [Operation; 12] = [
    ("map", "map", |i| (&i.x * 2f32)? + 1f32),
    ("row_map", "row_map", |i| &i.x + &i.by),
    ("row_reduce", "row_reduce", |i| i.x.reduce_sum(1)),
    ("row_reduce_wide", "row_reduce", |i| i.wide.reduce_sum(1)),
    // Reductions, and a map of elements and results, in one pass.
    ("row_pass_map", "row_reduce", |i| i.x.softmax(1)),
    // A scan for the new splits, then a map for the values.
    ("scan", "scan", |i| i.x.slice(s![.., 1..])),
    ("row_scan", "row_scan", |i| i.x.cumsum(1)),
    ("row_sort", "row_sort", |i| i.x.sort(1)),
    // A sort of all values by key, then the sums per key.
    ("sort", "sort", |i| i.x.values()?.unsorted_segment_sum(&i.keys, KEYS)),
    ("marks_compact", "compact", |i| i.x.boolean_mask(&i.mask)),
    ("row_hash", "row_hash", |i| i.text.to_hash_bucket_fast(1024)),
    ("product", "matmul", |i| i.wide.matmul(&i.matrix)),
];

fn primitives(c: &mut Criterion) {
    let mut devices = vec![Device::cpu()];
    // Without an adapter, only the CPU is measured.
    devices.extend(Device::gpu());
    for device in devices {
        let on = if device.is_cpu() { "cpu" } else { "gpu" };
        for dist in Distribution::ALL {
            let inputs = Inputs::new(&device, dist).expect("the inputs fit every device");
            for (name, kind, operation) in OPERATIONS {
                let recorded = || operation(black_box(&inputs)).expect("the operation takes the inputs");
                let plan = recorded().explain().expect("the device takes the operation");
                assert!(plan.kernels.iter().any(|k| k.kind == kind), "{name} has no {kind} kernel:\n{plan}");
                let mut group = c.benchmark_group(name);
                group.sample_size(20);
                group.throughput(Throughput::Bytes(plan.least_bytes));
                group.bench_function(BenchmarkId::new(dist.name(), on), |b| {
                    b.iter(|| {
                        recorded().eval().expect("the device takes the operation");
                        device.wait().expect("the device is there");
                    });
                });
                group.finish();
            }
        }
    }
}

criterion_group!(benches, primitives);
criterion_main!(benches);
