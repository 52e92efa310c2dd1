//! Sequences of batches of one program: a batch of the same shapes as the previous one needs no new plan, pipeline or
//! allocation, and every result has the bits of the CPU backend.

mod common;

use std::sync::{Barrier, Mutex, MutexGuard};
use std::thread;

use common::naive::{self, Rows};
use common::outcome::bits;
use ragged::{Device, DeviceOptions, HostTensor, HostValues, Result, Tensor, descending, keep, s, shaped, to_host};

/// Pseudorandom numbers with a fixed seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn shuffled<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let mut all = all.to_vec();
        (1..all.len()).rev().for_each(|k| all.swap(k, self.below(k as u64 + 1) as usize));
        all
    }

    fn rows(&mut self, lengths: &[usize]) -> Rows<f32> {
        lengths.iter().map(|&n| (0..n).map(|_| self.below(64) as f32 * 0.25 - 8.0).collect()).collect()
    }

    fn floats(&mut self, n: usize) -> Vec<f32> {
        self.rows(&[n]).remove(0)
    }
}

/// Inputs of a program, on the host.
#[derive(Clone)]
struct Batch {
    x: Rows<f32>,
    /// As many rows as `x`, of other lengths.
    y: Rows<f32>,
    /// Values for the rows of `x`.
    more: Vec<f32>,
    /// One number per row.
    weights: Vec<f32>,
    /// A permutation of the rows.
    order: Vec<i64>,
    /// One index of a table row per value of `x`.
    tokens: Vec<i32>,
    /// One group number per row.
    groups: Vec<u32>,
    scale: f32,
}

const TABLE: [usize; 2] = [50, 8];

impl Batch {
    /// A batch of rows of these lengths in random order, with random values from `seed`.
    fn new(lengths: &[usize], seed: u64) -> Self {
        let mut noise = Noise(seed);
        let lengths = noise.shuffled(lengths);
        let other = noise.shuffled(&lengths);
        let (values, n): (usize, _) = (lengths.iter().sum(), lengths.len());
        let third = n as u32 / 3;
        Self {
            x: noise.rows(&lengths),
            y: noise.rows(&other),
            more: noise.floats(values),
            weights: noise.floats(n),
            order: noise.shuffled(&(0..n as i64).collect::<Vec<_>>()),
            tokens: (0..values).map(|_| noise.below(TABLE[0] as u64) as i32).collect(),
            groups: vec![0, third, third, n as u32],
            scale: 1.5,
        }
    }

    fn upload(&self, device: &Device) -> Result<Inputs> {
        let dense = |shape: &[usize], values| HostTensor::dense(shape, values).to_device(device);
        let x = naive::host::<f32>(&self.x).to_device(device)?;
        let n = self.x.len();
        let in_rows = |values: HostValues| {
            let flat = dense(&[self.more.len()], values)?;
            Tensor::from_row_partitions(&flat, x.partitions())
        };
        let grouped = HostTensor {
            nested_row_splits: [vec![self.groups.clone()], naive::host::<f32>(&self.x).nested_row_splits].concat(),
            uniform_row_lengths: vec![None; 2],
            inner_shape: vec![self.more.len()],
            values: HostValues::F32(self.more.clone()),
        };
        let inputs = Inputs {
            y: naive::host::<f32>(&self.y).to_device(device)?,
            more: in_rows(HostValues::F32(self.more.clone()))?,
            tokens: in_rows(HostValues::I32(self.tokens.clone()))?,
            weights: dense(&[n, 1], HostValues::F32(self.weights.clone()))?,
            order: dense(&[n], HostValues::I64(self.order.clone()))?,
            table: dense(&TABLE, HostValues::F32(Noise(7).floats(TABLE[0] * TABLE[1])))?,
            grouped: grouped.to_device(device)?,
            scale: self.scale,
            x,
        };
        ragged::eval(inputs.all())?;
        Ok(inputs)
    }
}

/// The inputs of a batch, on a device.
struct Inputs {
    x: Tensor,
    y: Tensor,
    more: Tensor,
    weights: Tensor,
    order: Tensor,
    tokens: Tensor,
    table: Tensor,
    grouped: Tensor,
    scale: f32,
}

impl Inputs {
    fn all(&self) -> Vec<&Tensor> {
        vec![&self.x, &self.y, &self.more, &self.weights, &self.order, &self.tokens, &self.table, &self.grouped]
    }
}

type Program = (&'static str, fn(&Inputs) -> Result<Vec<Tensor>>);

/// The operations of `ragged-bench`, and chains of operations.
const PROGRAMS: [Program; 24] = [
    ("sum", |i| Ok(vec![i.x.reduce_sum(1)?])),
    ("max", |i| Ok(vec![i.x.reduce_max(1)?])),
    ("mean", |i| Ok(vec![i.x.reduce_mean(1)?])),
    ("affine_sum", |i| Ok(vec![((&i.x * i.scale)? + 1f32)?.reduce_sum(1)?])),
    ("row_add", |i| Ok(vec![(&i.x + &i.weights)?])),
    ("slice_head", |i| Ok(vec![i.x.slice(s![.., ..8])?])),
    ("slice_tail", |i| Ok(vec![i.x.slice(s![.., -8..])?])),
    ("gather_rows", |i| Ok(vec![i.x.gather(&i.order)?])),
    ("concat_axis1", |i| Ok(vec![Tensor::concat(&[&i.x, &i.y], 1)?])),
    ("to_padded", |i| Ok(vec![i.x.to_tensor(shaped(0f32, [-1, 64]))?])),
    ("softmax", |i| Ok(vec![i.x.softmax(1)?])),
    ("mask", |i| Ok(vec![i.x.boolean_mask(&i.x.greater(i.scale)?)?])),
    ("sort", |i| Ok(vec![i.x.sort(1)?])),
    ("embed_mean", |i| Ok(vec![i.table.gather(&i.tokens)?.reduce_mean(1)?])),
    ("standardised", |i| {
        let (mean, std) = (i.x.reduce_mean(keep(1))?, i.x.reduce_std(keep(1))?);
        Ok(vec![((&i.x - &mean)? / &std)?])
    }),
    ("moments", |i| {
        let x = &i.x;
        Ok(vec![x.reduce_mean(1)?, x.reduce_variance(1)?, x.reduce_max(1)?, x.reduce_min(1)?])
    }),
    ("weighted softmax", |i| Ok(vec![(&i.x.softmax(1)? * &i.more)?.reduce_sum(1)?])),
    ("smoothed", |i| {
        let pairs = ((i.x.slice(s![.., ..-1])? * &i.weights)? + i.x.slice(s![.., 1..])?)?;
        Ok(vec![Tensor::concat(&[&pairs, &i.y], 1)?.reduce_mean(1)?])
    }),
    ("by count", |i| {
        let kept = i.x.boolean_mask(&i.x.greater(0f32)?)?;
        let order = kept.row_lengths(1)?.argsort(descending(0))?;
        Ok(vec![kept, order])
    }),
    ("two levels", |i| Ok(vec![i.grouped.reduce_sum(2)?.reduce_max(1)?])),
    ("wide", |i| Ok(vec![i.table.gather(&i.tokens)?.cumsum(1)?])),
    ("one partition", |i| Ok(vec![((&i.x * &i.more)? - &i.x)?.reduce_sum(1)?])),
    ("normed", |i| Ok(vec![((&i.x - &i.x.reduce_max(keep(1))?)? * i.scale)?.cumsum(1)?])),
    ("conditions", |i| Ok(vec![i.weights.gather(&i.tokens)?.reduce_sum(1)?])),
];

/// The bits of the program's results for the batch, or the error.
fn run((_, record): &Program, inputs: &Inputs) -> Vec<String> {
    let read = record(inputs).and_then(|made| to_host(made.iter().collect::<Vec<_>>()));
    match read {
        Ok(read) => read.iter().map(bits).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// The expected results: those of the CPU backend.
fn wanted(program: &Program, batch: &Batch) -> Vec<String> {
    run(program, &batch.upload(&Device::cpu()).expect("uploaded"))
}

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Row lengths of at most one block.
fn short() -> Vec<usize> {
    [vec![0, 0, 31, 60, 1], [3, 0, 5, 1, 12].repeat(30)].concat()
}

/// As many rows and values as [`short`], with some rows of several blocks.
fn long() -> Vec<usize> {
    let mut lengths = short();
    let spare: usize = lengths.iter_mut().skip(1).map(std::mem::take).sum();
    lengths[0] = spare;
    lengths
}

#[test]
fn a_batch_of_the_same_shapes_makes_nothing_new() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        for lengths in [short(), long()] {
            for program in &PROGRAMS {
                // The first two batches fill the pool: the results of a batch are freed only after those of the next
                // one exist.
                for number in 0..5 {
                    let what = format!("{label} {} batch {number}", program.0);
                    let batch = Batch::new(&lengths, number);
                    let inputs = batch.upload(&device).expect("uploaded");
                    device.wait().expect("idle");
                    let before = device.stats();
                    let got = run(program, &inputs);
                    let stats = device.stats() - before;
                    assert_eq!(got, wanted(program, &batch), "{what}");
                    if number > 0 {
                        assert_eq!((stats.plans, stats.pipelines_compiled), (0, 0), "{what}");
                        assert_eq!(stats.pool_misses, 0, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_repeated_batch_needs_no_new_bind_groups() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let inputs = Batch::new(&long(), 1).upload(&device).expect("uploaded");
        for program in &PROGRAMS {
            let runs = (0..3).map(|_| {
                let before = device.stats();
                (run(program, &inputs), device.stats() - before)
            });
            let runs: Vec<_> = runs.collect();
            assert_eq!(runs[0].0, runs[2].0, "{label} {}", program.0);
            assert_eq!(runs[2].1.bind_groups_created, 0, "{label} {}", program.0);
        }
    }
}

/// Runs the program over the batches in order, on a new device, and compares each result with the CPU backend.
fn one_after_the_other(program: &Program, batches: &[(&str, &Batch)]) {
    for (label, device) in common::gpus() {
        for (k, (name, batch)) in batches.iter().enumerate() {
            let got = run(program, &batch.upload(&device).expect("uploaded"));
            assert_eq!(got, wanted(program, batch), "{label} {}: batch {k}, {name}", program.0);
        }
    }
}

#[test]
fn batches_of_other_shapes_and_sizes_get_their_own_results() {
    let _guard = exclusive();
    let first = Batch::new(&short(), 1);
    let lengths = |f: &dyn Fn(&mut Vec<usize>)| {
        let mut all = short();
        f(&mut all);
        Batch::new(&all, 2)
    };
    let more_rows = lengths(&|all| all.extend([0, 0, 0]));
    let more_values = lengths(&|all| all[0] += 2000);
    let no_values = lengths(&|all| all.fill(0));
    let one_row = Batch::new(&[40], 3);
    let none = Batch::new(&[], 4);
    // As many rows and values, but with rows of several blocks, which need more kernels.
    let long = Batch::new(&long(), 5);
    let scaled = Batch { scale: -0.25, ..first.clone() };
    let unscaled = Batch { scale: 0.0, ..first.clone() };
    let batches = [
        ("the first", &first),
        ("long rows", &long),
        ("the first again", &first),
        ("more rows", &more_rows),
        ("more values", &more_values),
        ("no values", &no_values),
        ("another number", &scaled),
        ("zero", &unscaled),
        ("one row", &one_row),
        ("no rows", &none),
        ("long rows again", &long),
        ("the first once more", &first),
    ];
    for program in &PROGRAMS {
        one_after_the_other(program, &batches);
    }
}

#[test]
fn rows_around_the_longest_of_one_block_get_their_own_results() {
    let _guard = exclusive();
    let program = |name: &str| PROGRAMS.iter().find(|p| p.0 == name).expect("a program");
    // Lengths around one block of one column, of eight columns, and of a sort, with equal numbers of rows and values.
    let names = ["sum", "standardised", "softmax", "wide", "embed_mean", "normed", "sort"];
    for edge in [64, 128, 256, 512, 896] {
        let of = |longest: usize, number| Batch::new(&[longest, 1000 - longest, 0, 2], number);
        let batches = [of(edge.max(500), 1), of(edge.max(500) + 1, 2), of(edge, 3), of(999, 4), of(edge.max(500), 5)];
        let named: Vec<(&str, &Batch)> = batches.iter().map(|b| ("at an edge", b)).collect();
        names.iter().for_each(|name| one_after_the_other(program(name), &named));
        let of = |longest: usize, number| {
            let mut lengths = vec![edge; 20];
            (lengths[0], lengths[1]) = (longest, 2 * edge - longest);
            Batch::new(&lengths, number)
        };
        let batches = [of(edge, 1), of(edge + 1, 2), of(edge, 3), of(edge + 1, 4)];
        let named: Vec<(&str, &Batch)> = batches.iter().map(|b| ("about an edge", b)).collect();
        names.iter().for_each(|name| one_after_the_other(program(name), &named));
    }
}

/// `a - b * c`, whose result depends on the order of the operands.
fn mixed(a: &Tensor, b: &Tensor, c: &Tensor) -> Result<Tensor> {
    (a - &(b * c)?)?.reduce_sum(1)
}

#[test]
fn aliased_and_distinct_operands_get_their_own_results() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let batches: Vec<Batch> = (0..3).map(|k| Batch::new(&short(), k)).collect();
        let of = |device: &Device| -> Result<Vec<String>> {
            let mut out = Vec::new();
            for batch in &batches {
                let Inputs { x, more, .. } = batch.upload(device)?;
                // The same rows in a separate array.
                let copy = naive::host::<f32>(&batch.x).to_device(device)?;
                for [a, b, c] in [[&x, &x, &x], [&x, &more, &x], [&x, &x, &more], [&more, &x, &x], [&x, &more, &more]] {
                    out.push(bits(&mixed(a, b, c)?.to_host()?));
                }
                for [a, b, c] in [[&x, &x, &copy], [&copy, &more, &x], [&x, &copy, &x], [&copy, &copy, &copy]] {
                    out.push(bits(&mixed(a, b, c)?.to_host()?));
                }
            }
            Ok(out)
        };
        assert_eq!(of(&device).expect("computed"), of(&Device::cpu()).expect("computed"), "{label}");
    }
}

#[test]
fn stored_results_are_read_and_others_are_computed() {
    let _guard = exclusive();
    let of = |device: &Device| -> Result<Vec<String>> {
        let mut out = Vec::new();
        let mut kept: Vec<Tensor> = Vec::new();
        for number in 0..6 {
            let i = Batch::new(&short(), number).upload(device)?;
            // An operand is already stored (of this batch or of the previous one) or not.
            let sorted = i.x.sort(1)?;
            let most = i.x.reduce_max(keep(1))?;
            match number % 3 {
                0 => sorted.eval()?,
                1 => most.eval()?,
                _ => {}
            }
            let y = ((&i.x - &most)? * &i.weights)?;
            let z = Tensor::concat(&[&y, &sorted], 1)?.reduce_sum(1)?;
            out.push(bits(&z.to_host()?));
            if let Some(last) = kept.last() {
                out.push(bits(&(last + &most.reduce_sum(1)?)?.to_host()?));
            }
            // A subset of the results, in another order.
            let asked = [[&z, &y], [&y, &most], [&most, &y]][number as usize % 3];
            out.extend(to_host(asked)?.iter().map(bits));
            kept.push(z);
        }
        // Later batches have not overwritten earlier results.
        for z in &kept {
            out.push(bits(&z.to_host()?));
        }
        Ok(out)
    };
    for (label, device) in common::gpus() {
        assert_eq!(of(&device).expect("computed"), of(&Device::cpu()).expect("computed"), "{label}");
    }
}

#[test]
fn live_results_are_not_overwritten() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        for program in &PROGRAMS {
            let batches: Vec<Batch> = (0..3).map(|k| Batch::new(&short(), k)).collect();
            let all: Vec<Vec<Tensor>> = batches
                .iter()
                .map(|batch| {
                    let made = batch.upload(&device).and_then(|i| program.1(&i)).expect("recorded");
                    ragged::eval(made.iter().collect::<Vec<_>>()).expect("computed");
                    made
                })
                .collect();
            for (batch, made) in batches.iter().zip(&all) {
                let got = to_host(made.iter().collect::<Vec<_>>()).expect("read");
                let got: Vec<String> = got.iter().map(bits).collect();
                assert_eq!(got, wanted(program, batch), "{label} {}", program.0);
            }
        }
    }
}

#[test]
fn a_failed_condition_belongs_to_its_batch_and_caller() {
    let _guard = exclusive();
    let program = PROGRAMS.iter().find(|p| p.0 == "conditions").expect("a program");
    let good = Batch::new(&short(), 1);
    let mut bad = Batch::new(&short(), 2);
    bad.tokens[17] = 100_000;
    for (label, device) in common::gpus() {
        let run = |batch: &Batch| run(program, &batch.upload(&device).expect("uploaded"));
        assert_eq!(run(&good), wanted(program, &good), "{label}");
        let error = run(&bad);
        assert!(error[0].contains("batches.rs"), "{label}: {error:?}");
        assert_eq!(error, wanted(program, &bad), "{label}");
        assert_eq!(run(&good), wanted(program, &good), "{label}: an error is none of the next batch");
        // The same operations, recorded at another line, report that line.
        let i = bad.upload(&device).expect("uploaded");
        let (here, read) = (line!(), i.weights.gather(&i.tokens).and_then(|t| t.to_host()));
        let there = line!() + 1;
        let again = i.weights.gather(&i.tokens).and_then(|t| t.to_host());
        for (line, read) in [(here, read), (there, again)] {
            let error = read.expect_err("100000 is no row").to_string();
            assert!(error.contains(&format!("batches.rs:{line}")), "{label} line {line}: {error}");
        }
    }
}

#[test]
fn threads_with_separate_batches_share_a_plan() {
    let _guard = exclusive();
    const THREADS: usize = 6;
    if common::gpus().is_empty() {
        return;
    }
    let device = Device::gpu_with(&DeviceOptions::default()).expect("opens again");
    let batches: Vec<Batch> = (0..THREADS as u64).map(|k| Batch::new(&short(), k)).collect();
    for program in &PROGRAMS {
        let barrier = Barrier::new(THREADS);
        thread::scope(|scope| {
            for batch in &batches {
                let (device, barrier) = (&device, &barrier);
                scope.spawn(move || {
                    let inputs = batch.upload(device).expect("uploaded");
                    barrier.wait();
                    for round in 0..3 {
                        assert_eq!(run(program, &inputs), wanted(program, batch), "{} round {round}", program.0);
                    }
                });
            }
        });
        let before = device.stats();
        let last = Batch::new(&short(), 100);
        assert_eq!(run(program, &last.upload(&device).expect("uploaded")), wanted(program, &last), "{}", program.0);
        assert_eq!((device.stats() - before).plans, 0, "{}", program.0);
    }
}
