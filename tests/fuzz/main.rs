//! Random chains of operations on random ragged tensors, and operations on random batches of rows: CPU and GPU, fused
//! or not, must agree bit for bit, including errors. `history`: results are independent of what happened before.
//!
//! A case is a seed, which failures print. `RAGGED_FUZZ_SEED` runs a single seed, or the first of `RAGGED_FUZZ_CASES`
//! seeds.

#[path = "../common/mod.rs"]
mod common;

mod batches;
mod elementwise;
mod history;
mod indexing;
mod masks;
mod op;
mod ordering;
mod products;
mod random;
mod recurrences;
mod reductions;
mod rows;
mod shapes;
mod strings;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use common::outcome::{bits, outcome};
use op::{Subject, choose};
use ragged::{DType, Device, DeviceOptions, Error, HostTensor, HostValues, Result, Tensor, Tuning};
use random::{Random, tensor};

/// The devices; the first one is the reference.
fn devices() -> Vec<(String, Device)> {
    let mut out = vec![("cpu".to_owned(), Device::cpu()), ("cpu unfused".to_owned(), Device::cpu_unfused())];
    out.push(("cpu recomputing".to_owned(), Device::cpu_recomputing()));
    let gpus = common::gpus();
    if !gpus.is_empty() {
        // The tuning of a GPU, also on software adapters.
        let tuning = Tuning::default();
        let options = DeviceOptions::default().core_limits(true).no_int64(true).tuning(tuning);
        out.push(("gpu core".into(), Device::gpu_with(&options).expect("opens with less")));
        // Arrays of more than 16,384 words, or 8,192 long ones, take several bindings.
        let windows = DeviceOptions::default().max_binding(64 << 10);
        out.push(("gpu windows".into(), Device::gpu_with(&windows).expect("opens with less")));
        let other_checks = !DeviceOptions::default().checked_shaders;
        let options = DeviceOptions::default().checked_shaders(other_checks).tuning(tuning);
        out.push((format!("gpu, checks {other_checks}"), Device::gpu_with(&options).expect("opens twice")));
        out.push(("gpu unfused".into(), Device::gpu_unfused(&DeviceOptions::default()).expect("opens twice")));
    }
    out.extend(gpus);
    out
}

/// Most values of a tensor of the pool, which bounds the cost of chains.
const MOST: usize = 20_000;

/// A tensor of the pool: one copy per device, and one on a separate CPU device that is read after every step.
struct Twins {
    scout: Tensor,
    all: Vec<Tensor>,
}

/// A chain: its random numbers, its devices, its pool of tensors, and its log.
struct Chain<'a> {
    seed: u64,
    random: Random,
    has_f64: bool,
    scout: &'a Device,
    devices: Vec<&'a (String, Device)>,
    pool: Vec<Twins>,
    log: String,
}

/// Whether the shapes agree in all sizes that are known to the host on both devices.
fn may_be_same(a: &[Option<usize>], b: &[Option<usize>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_none() || b.is_none())
}

impl Chain<'_> {
    /// The tensor on every device, now and then with a random mask of rows, which makes the number of rows
    /// device-known.
    fn upload(&mut self, host: &HostTensor) {
        let nrows = host.nested_row_splits.first().map_or(host.inner_shape[0], |splits| splits.len() - 1);
        let flags: Vec<bool> = (0..nrows).map(|_| !self.random.once_in(4)).collect();
        let mask = self.random.once_in(3).then(|| HostTensor::dense(&[nrows], HostValues::Bool(flags)));
        let on = |device: &Device| -> Tensor {
            let x = host.to_device(device).expect("a valid tensor");
            let Some(mask) = &mask else { return x };
            mask.to_device(device).and_then(|mask| x.boolean_mask(&mask)).expect("a mask of rows")
        };
        let all = self.devices.iter().map(|(_, device)| on(device)).collect();
        writeln!(self.log, "  {} = {} masked {}", self.pool.len(), host.values.dtype(), mask.is_some())
            .expect("a string");
        self.pool.push(Twins { scout: on(self.scout), all });
    }

    /// Applies a random operation on every device, and adds the result to the pool.
    fn step(&mut self) {
        let (a, b) = (self.random.below(self.pool.len()), self.random.below(self.pool.len()));
        let (x, y) = (&self.pool[a], &self.pool[b]);
        let rank = x.scout.rank().max(1) as i64;
        let subject = Subject {
            dtype: x.scout.dtype(),
            rank: x.scout.rank(),
            axis: self.random.signed(rank).clamp(-rank, rank - 1),
            has_f64: self.has_f64,
        };
        let op = choose(&mut self.random, &subject);
        let place = self.pool.len();
        writeln!(self.log, "  {place} = {} of {a}, {b}: {} {}", op.name, x.scout.dtype(), x.scout.shape_text())
            .expect("a string");
        let scout = (op.run)(&x.scout, &y.scout);
        let size = scout.as_ref().ok().map(|t| t.to_host().map(|t| t.values.len()));
        let read = |t: &Tensor| format!("{:?} {}", t.shape(), t.dtype());
        let results: Vec<Result<Tensor>> = x.all.iter().zip(&y.all).map(|(x, y)| (op.run)(x, y)).collect();
        let lacks_f64 = |((_, device), result): (&&(String, Device), &Result<Tensor>)| {
            matches!(result, Err(Error::Unsupported { dtype: DType::F64, .. })) && !common::has(device, DType::F64)
        };
        if self.devices.iter().zip(&results).any(lacks_f64) {
            writeln!(self.log, "    needs 64-bit floats").expect("a string");
            return;
        }
        let want = outcome(&results[0], read);
        for ((device, _), result) in self.devices.iter().zip(&results) {
            let got = outcome(result, read);
            let errors = (result.as_ref().err(), results[0].as_ref().err());
            let same = match (&results[0], result) {
                (Ok(a), Ok(b)) => a.dtype() == b.dtype() && may_be_same(&a.shape(), &b.shape()),
                // A size that is host-known on one device, and device-known until the read on another.
                (Ok(t), Err(_)) | (Err(_), Ok(t)) => t.to_host().is_err(),
                _ => want == got,
            };
            assert!(
                same,
                "seed {} on {device}: {got}, not {want}; {:?}, not {:?}\n{}",
                self.seed, errors.0, errors.1, self.log
            );
        }
        // Keeps few tensors with failed conditions, since their dependents fail too, and none that are too large.
        let stays = match size {
            Some(Ok(n)) => n <= MOST,
            Some(Err(_)) => self.random.once_in(4),
            None => false,
        };
        writeln!(self.log, "    {want} {size:?}{}", if stays { "" } else { ", dropped" }).expect("a string");
        let (Ok(scout), Ok(all), true) = (scout, results.into_iter().collect::<Result<Vec<_>>>(), stays) else {
            return;
        };
        // Later operations read the stored tensor, or fuse it.
        if self.random.once_in(5) {
            all.iter().for_each(|t| t.eval().expect("evaluates"));
        }
        self.pool.push(Twins { scout, all });
    }

    /// Reads the pool in random order, so that later reads use arrays that earlier reads have stored.
    fn compare(mut self) {
        while !self.pool.is_empty() {
            let at = self.random.below(self.pool.len());
            let twins = self.pool.swap_remove(at);
            let read: Vec<Result<HostTensor>> = twins.all.iter().map(Tensor::to_host).collect();
            let want = outcome(&read[0], bits);
            for ((device, _), result) in self.devices.iter().zip(&read) {
                let got = outcome(result, bits);
                assert!(
                    want == got,
                    "seed {} on {device}: {}\n{}wanted {}\ngot    {}\n{:?} {:?}",
                    self.seed,
                    twins.scout.shape_text(),
                    self.log,
                    &want[..want.len().min(2000)],
                    &got[..got.len().min(2000)],
                    read[0].as_ref().err(),
                    result.as_ref().err()
                );
            }
        }
    }
}

fn run(seed: u64, devices: &[(String, Device)], scout: &Device) {
    let mut random = Random(seed);
    let dtype = random.of(&DType::ALL);
    // Most chains have no 64-bit floats, so that all devices can run them.
    let has_f64 = dtype == DType::F64 || seed.is_multiple_of(4);
    let hosts: Vec<HostTensor> = (0..2).map(|_| tensor(&mut random, dtype)).collect();
    let devices = devices.iter().filter(|(_, d)| !has_f64 || common::has(d, DType::F64)).collect();
    let mut chain = Chain { seed, random, has_f64, scout, devices, pool: Vec::new(), log: String::new() };
    hosts.iter().for_each(|host| chain.upload(host));
    for _ in 0..3 + chain.random.below(7) {
        chain.step();
    }
    chain.compare();
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs so many cases, or those that are asked for.
fn each_case(cases: u64, mut run: impl FnMut(u64)) {
    let asked = number("RAGGED_FUZZ_SEED");
    let first = asked.unwrap_or(0);
    let cases = number("RAGGED_FUZZ_CASES").unwrap_or(if asked.is_some() { 1 } else { cases });
    let (start, mut slowest) = (Instant::now(), (Duration::ZERO, 0));
    for seed in first..first + cases {
        let before = Instant::now();
        run(seed);
        slowest = slowest.max((before.elapsed(), seed));
        // Campaigns of hours show how far they are.
        if (seed + 1 - first).is_multiple_of(1000) {
            println!("{} cases in {:?}", seed + 1 - first, start.elapsed());
        }
    }
    println!("{cases} cases in {:?}, the slowest {} in {:?}", start.elapsed(), slowest.1, slowest.0);
}

#[test]
fn random_chains_agree_everywhere() {
    let (devices, scout) = (devices(), Device::cpu_unfused());
    each_case(24, |seed| run(seed, &devices, &scout));
}

#[test]
fn random_batches_agree_everywhere() {
    let gpus = common::gpus();
    each_case(5, |seed| batches::run(seed, &gpus));
}

#[test]
fn every_operation_agrees_on_every_kind_of_batch() {
    let gpus = common::gpus();
    each_case(1, |seed| batches::run_all(seed, &gpus));
}

#[test]
fn random_recurrences_agree_everywhere() {
    let devices = devices();
    each_case(8, |seed| recurrences::run(seed, &devices));
}
