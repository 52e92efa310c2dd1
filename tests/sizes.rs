//! Sizes as plan parameters: one plan for batches of any size, counts that stay on the device, bounds that do not grow
//! with each operation, and memory that is freed.

mod common;

use std::sync::{Mutex, MutexGuard};

use common::outcome::same_bits;
use ragged::opt::{keep, shaped};
use ragged::{DType, Device, DeviceOptions, HostTensor, HostValues, RaggedShape, RaggedTensor, Result, Tensor, s};

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Pseudorandom numbers with a fixed seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Rows of up to `most` values; large lengths are rare.
    fn rows(&mut self, nrows: usize, most: u64) -> Vec<Vec<f32>> {
        let mut row = || {
            let len = self.below(most + 1).min(self.below(most + 1));
            (0..len).map(|_| self.below(1000) as f32 / 8.0).collect()
        };
        (0..nrows).map(|_| row()).collect()
    }
}

/// A batch: two ragged tensors with equal numbers of rows, one number per row, and one index per value of the first
/// tensor.
struct Batch {
    x: Tensor,
    y: Tensor,
    weights: Tensor,
    ids: Tensor,
}

const BUCKETS: usize = 50;

impl Batch {
    fn new(noise: &mut Noise, nrows: usize, device: &Device) -> Result<Self> {
        let (x, y) = (noise.rows(nrows, 60), noise.rows(nrows, 20));
        let ids: Vec<Vec<i64>> =
            x.iter().map(|row| row.iter().map(|_| noise.below(BUCKETS as u64) as i64).collect()).collect();
        let weights = (0..nrows).map(|_| noise.below(100) as f32 / 64.0).collect();
        Ok(Self {
            x: RaggedTensor::from_nested(x, device)?.into_erased(),
            y: RaggedTensor::from_nested(y, device)?.into_erased(),
            weights: HostTensor::dense(&[nrows, 1], HostValues::F32(weights)).to_device(device)?,
            ids: RaggedTensor::from_nested(ids, device)?.into_erased(),
        })
    }
}

type Program = (&'static str, fn(&Batch, &Tensor) -> Result<Tensor>);

const PROGRAMS: [Program; 6] = [
    ("lookup with mean", |b, table| table.embedding_lookup(&b.ids)?.reduce_mean(1)),
    ("chain", |b, _| {
        let centred = (&b.x - &b.x.reduce_mean(keep(1))?)?;
        let scaled = ((&centred * &b.weights)? + 1f32)?;
        let kept = scaled.slice(s![.., 1..])?.slice(s![.., ..-1])?;
        kept.cumsum(1)?.softmax(1)?.reduce_max(1)
    }),
    ("concat and padding", |b, _| Tensor::concat(&[&b.x, &b.y], 1)?.to_tensor(shaped(0f32, [-1, 64]))),
    ("sort", |b, _| b.x.sort(1)),
    ("mask", |b, _| b.x.boolean_mask(&b.x.greater(60f32)?)?.reduce_sum(1)),
    ("rows and all of them", |b, _| b.x.reduce_sum(1)?.reduce_max(..)),
];

#[test]
fn batches_of_any_size_take_few_plans() {
    let _guard = exclusive();
    let cpu = Device::cpu();
    for (label, device) in common::devices() {
        let table = |device: &Device| {
            let values = (0..BUCKETS * 4).map(|k| k as f32 / 16.0).collect();
            HostTensor::dense(&[BUCKETS, 4], HostValues::F32(values)).to_device(device)
        };
        let (own, reference) = (table(&device).expect("uploads"), table(&cpu).expect("uploads"));
        for (name, program) in PROGRAMS {
            let mut noise = Noise(7);
            let before = device.stats();
            let mut pipelines = 0;
            for k in 0..60 {
                // The first batch is the largest, so that kernels for many tiles are compiled at once.
                let nrows = match k {
                    0 => 5000,
                    _ => noise.below(if k % 10 == 0 { 5000 } else { 300 }) as usize,
                };
                let seed = noise.0;
                let batch = Batch::new(&mut noise, nrows, &device).expect("uploads");
                let got = program(&batch, &own).and_then(|t| t.to_host()).expect("computed");
                if k == 7 {
                    pipelines = device.stats().pipelines_compiled;
                }
                if k % 6 == 0 {
                    let batch = Batch::new(&mut Noise(seed), nrows, &cpu).expect("uploads");
                    let want = program(&batch, &reference).and_then(|t| t.to_host()).expect("computed");
                    assert_eq!(got.nested_row_splits, want.nested_row_splits, "{label} {name}, batch {k}");
                    assert!(same_bits(&got.values, &want.values), "{label} {name}, batch {k}: other bits");
                }
            }
            let plans = (device.stats() - before).plans;
            assert!(plans <= 8, "{label} {name}: {plans} plans for 60 batches");
            assert_eq!(device.stats().pipelines_compiled, pipelines, "{label} {name}: compiled after the 8th batch");
        }
    }
}

#[test]
fn a_plan_runs_at_other_sizes() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        // From small to large and back, with the first number of rows of each grid class.
        for nrows in [2, 3, 63, 64, 65, 2047, 2048, 2049, 20_000, 5, 2] {
            let mut noise = Noise(nrows as u64);
            let rows = noise.rows(nrows, 9);
            let x = RaggedTensor::from_nested(rows.clone(), &device).expect("uploads");
            let found = x.cumsum(1).and_then(|t| t.slice(s![.., -1..])?.to_nested_vec::<Vec<Vec<f32>>>());
            let want: Vec<Vec<f32>> = rows
                .iter()
                .map(|row| if row.is_empty() { vec![] } else { vec![row.iter().fold(0.0, |a, b| a + b)] })
                .collect();
            assert_eq!(found.expect("computed"), want, "{label} {nrows} rows");
        }
    }
}

/// The count of a concatenation is one array, for any number of inputs.
#[test]
fn many_inputs_of_device_known_size_are_concatenated() {
    let _guard = exclusive();
    let core = DeviceOptions::default().core_limits(true);
    let mut devices = common::devices();
    if !common::gpus().is_empty() {
        devices.push(("core limits".into(), Device::gpu_with(&core).expect("opens again")));
    }
    for (label, device) in devices {
        let filtered = |k: usize| {
            let x = RaggedTensor::from_nested((0..100).map(|i| (i * (k + 1)) as f32).collect::<Vec<_>>(), &device)?;
            x.boolean_mask(&x.greater(50.0f32)?)
        };
        let parts = (0..40).map(filtered).collect::<Result<Vec<_>>>().expect("recorded");
        let all = RaggedTensor::concat(&parts.iter().collect::<Vec<_>>(), 0).and_then(|all| all.to_vec());
        let want: Vec<f32> =
            (0..40).flat_map(|k| (0..100).map(move |i| (i * (k + 1)) as f32).filter(|&v| v > 50.0)).collect();
        assert_eq!(all.expect("joined"), want, "{label}");
    }
}

/// Counts of counts are stored, so that no traversal of a long chain recurses deeply.
#[test]
fn a_long_chain_of_slices_of_device_known_size_does_not_overflow_the_stack() {
    let _guard = exclusive();
    let body = || -> Result<usize> {
        let device = Device::cpu();
        let all = RaggedTensor::<i32>::from_nested((0..8_000).collect::<Vec<i32>>(), &device)?;
        let mut x = all.boolean_mask(&all.greater_equal(0)?)?;
        for _ in 0..4_000 {
            x = x.slice(s![..-1])?;
        }
        Ok(x.to_vec()?.len())
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(body).expect("starts");
    assert_eq!(thread.join().expect("no panic"), Ok(4_000));
}

/// An array does not keep the arrays alive that its size was computed from, once the size is known.
#[test]
fn unique_of_unique_keeps_no_earlier_array() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let mut x = RaggedTensor::<i32>::from_nested((0..50_000).collect::<Vec<i32>>(), &device).expect("uploads");
        let mut after = Vec::new();
        for _ in 0..12 {
            x = x.unique(0).expect("recorded");
            x.to_vec().expect("read");
            after.push(device.stats().buffer_bytes);
        }
        assert!(after[11] <= after[3], "{label}: {after:?} bytes in use");
    }
}

/// A bound of 2^32 or more does not truncate the rows.
#[test]
fn repeated_rows_are_not_truncated_at_a_bound() {
    let _guard = exclusive();
    let device = Device::cpu();
    let long: i64 = (1 << 31) + 16;
    let lengths = RaggedShape::from_lengths(&[2.into(), [long, 0].into()], &device).expect("valid");
    let x = Tensor::zeros(&lengths, DType::U8).expect("recorded");
    let rows = HostTensor::dense(&[2], HostValues::I32(vec![1, 1])).to_device(&device).expect("uploads");
    let none = x.gather(&rows).and_then(|t| t.to_host()).expect("two empty rows");
    assert_eq!((none.nested_row_splits, none.values.len()), (vec![vec![0, 0, 0]], 0));
    let rows = HostTensor::dense(&[2], HostValues::I32(vec![0, 0])).to_device(&device).expect("uploads");
    let twice = x.gather(&rows).and_then(|t| t.row_lengths(1)?.reduce_sum(..)?.to_host());
    assert!(twice.is_err() || matches!(twice, Ok(t) if t.values == HostValues::I64(vec![2 * long])));
}

/// Which operand of a concatenation contains row 3 depends on the first operand's number of rows, and is decided per
/// run.
#[test]
fn a_plan_keeps_no_comparison_of_sizes() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        for (nx, ny) in [(5, 5), (2, 8), (8, 2), (4, 4), (3, 1)] {
            let rows = |from: usize, n: usize| -> Vec<Vec<i32>> {
                (from..from + n).map(|row| vec![row as i32; row % 3 + 1]).collect()
            };
            let (x, y) = (rows(0, nx), rows(nx, ny));
            let upload = |rows: Vec<Vec<i32>>| RaggedTensor::from_nested(rows, &device).expect("uploads").into_erased();
            let (x, y) = (upload(x), upload(y));
            let row = Tensor::concat(&[&x, &y], 0).and_then(|both| both.slice(s![3])).and_then(|row| row.to_host());
            let row = row.expect("there is a row 3");
            assert!(same_bits(&row.values, &HostValues::I32(vec![3; 1])), "{label}: {nx} and {ny} rows");
        }
    }
}

/// A failed condition of a count is reported by every read that depends on the count.
#[test]
fn a_count_keeps_its_conditions() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let rows: Vec<Vec<f32>> = (0..9).map(|row| vec![1.0; row]).collect();
        let x = RaggedTensor::from_nested(rows, &device).expect("uploads").into_erased();
        let beyond = HostTensor::dense(&[1], HostValues::I64(vec![90])).to_device(&device).expect("uploads");
        let rows = x.gather(&beyond).expect("looked at when it is read");
        rows.eval().expect("conditions are looked at by reads");
        assert!(matches!(rows.to_host(), Err(ragged::Error::Check { .. })), "{label}");
        let zeros = rows.zeros_like().and_then(|zeros| zeros.to_host());
        assert!(matches!(zeros, Err(ragged::Error::Check { .. })), "{label}: {zeros:?}");
    }
}

/// The result of an operation, given the number of the run.
type Operation = fn(usize, &Device) -> Result<Tensor>;

fn words(n: usize, device: &Device) -> Result<Tensor> {
    let rows: Vec<Vec<String>> = (0..n).map(|row| (0..row % 4).map(|k| format!("a{k}, b{row}; c")).collect()).collect();
    Ok(RaggedTensor::from_nested(rows, device)?.into_erased())
}

/// Rows of one length, as a partition.
fn uniform(rows: usize, length: usize, device: &Device) -> Result<Tensor> {
    let values = (0..rows * length).map(|k| (k * 37 % 101) as f32).collect();
    HostTensor {
        nested_row_splits: vec![(0..=rows).map(|row| (row * length) as u32).collect()],
        uniform_row_lengths: vec![Some(length as u32)],
        inner_shape: vec![rows * length],
        values: HostValues::F32(values),
    }
    .to_device(device)
}

/// Operations with keys, separators, row lengths and numbers of keys that differ from run to run, and the most plans of
/// 20 runs. The number of bits that a sort compares and the bounds of row lengths are classes, on which the kernels
/// depend; so are divisors that are powers of two, and the lengths of strings that are searched for, which the kernels
/// compare byte by byte.
const OF_VARYING_NUMBERS: [(&str, usize, Operation); 11] = [
    ("keys of a hash", 1, |k, device| words(9, device)?.to_hash_bucket_strong(1000, [k as u64, 7 * k as u64 + 1])),
    ("strings to hash", 1, |k, device| words(2 + 3 * k, device)?.to_hash_bucket_strong(1000, [1, k as u64])),
    ("numbers of buckets", 2, |k, device| words(9, device)?.to_hash_bucket_fast(3 + k)),
    ("separators of one byte", 1, |k, device| words(9, device)?.reduce_join(1, [",", ";", " ", "-"][k % 4])),
    ("separators of several bytes", 1, |k, device| words(9, device)?.reduce_join(1, &"<,> abc".repeat(k + 1)[k..])),
    ("separators between tensors", 1, |k, device| {
        let x = words(9, device)?;
        Tensor::string_join(&[&x, &x], &"<,> abc".repeat(k + 1)[k..])
    }),
    ("bytes to split at", 1, |k, device| words(9, device)?.string_split([",", ";", "a", "b"][k % 4])),
    ("strings to split at", 2, |k, device| words(9, device)?.string_split(["; c", ", b", "a1", "a2,"][k % 4])),
    ("numbers of uniform rows to sort", 1, |k, device| uniform(3 + 7 * k, 5, device)?.sort(1)),
    ("numbers of uniform rows to select from", 1, |k, device| Ok(uniform(2 + k, 9, device)?.top_k(2, 1)?.0)),
    ("distinct values", 3, |k, device| {
        let x = (0..100 + 9 * k).map(|i| (i * 7 % (k + 30)) as i32).collect::<Vec<_>>();
        RaggedTensor::from_nested(x, device)?.into_erased().unique(0)
    }),
];

#[test]
fn other_numbers_make_no_other_plan() {
    let _guard = exclusive();
    let cpu = Device::cpu_with(&ragged::CpuOptions::default());
    let devices =
        common::gpus().into_iter().take(1).map(|_| Device::gpu_with(&DeviceOptions::default()).expect("opens"));
    let mut faults = Vec::new();
    for device in std::iter::once(cpu).chain(devices) {
        for (name, most, operation) in OF_VARYING_NUMBERS {
            let mut planned = Vec::new();
            for k in 0..20 {
                let before = device.stats().plans;
                operation(k, &device).and_then(|x| x.eval()).unwrap_or_else(|e| panic!("{name}: {e}"));
                planned.extend((device.stats().plans > before).then_some(k));
            }
            if planned.len() > most {
                faults.push(format!("{}, {name}: runs {planned:?} of 20 make a plan", device.name()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
