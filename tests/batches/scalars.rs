//! Numbers of the user: a learning rate, a seed or a bound is bound to a program, whose plan serves all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ragged::arguments::Operand;
use ragged::opt::shaped;
use ragged::{Device, ElementFunction, HostTensor, HostValues, RaggedTensor, Result, Scalar, Seed, Tensor, to_host};

use crate::common::naive;
use crate::common::outcome::bits;
use crate::{common, exclusive};

/// The bits of results, or the error.
fn read(recorded: Result<Vec<Tensor>>) -> Vec<String> {
    match recorded.and_then(|made| to_host(made.iter().collect::<Vec<_>>())) {
        Ok(read) => read.iter().map(bits).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// Numbers of one run.
struct Numbers {
    rate: f32,
    bound: f32,
    dropout: f64,
    seed: Seed,
    rows: usize,
}

impl Numbers {
    fn of_run(run: u32) -> Self {
        // Numbers that constants would fold are among them, and equal ones.
        let rate = [0.0, 1.0, -1.0, 2.0, 0.5, f32::NAN, f32::MAX, 0.1][run as usize % 8]
            * if run < 8 { 1.0 } else { run as f32 };
        let bound = if run.is_multiple_of(3) { rate.abs() } else { 0.25 * run as f32 };
        Self {
            rate,
            bound,
            dropout: f64::from(run + 1) / 128.0,
            seed: Seed(u64::from(run) << (run % 40)),
            rows: 3 + run as usize,
        }
    }

    /// A step of training, a shuffle and a choice.
    fn results(&self, device: &Device) -> Vec<String> {
        let rows: Vec<Vec<f32>> =
            (0..self.rows).map(|r| (0..r % 6).map(|k| (r * 7 + k * 3) as f32 - 9.0).collect()).collect();
        let record = || {
            let x = naive::host::<f32>(&rows).to_device(device)?;
            let step = (&x.dropout(self.dropout, self.seed)? * self.rate)?.clip_by_value(-self.bound, self.bound)?;
            let new = (&x - &step)?;
            let large = x.boolean_mask(&x.greater(self.bound)?)?.reduce_sum(1)?;
            let order = x.shuffle(self.seed, 1)?;
            let padded = new.to_tensor(shaped(self.rate, [-1, 8]))?;
            Ok(vec![new, large, order, padded, x.leaky_relu(f64::from(self.rate))?.l2_normalize(1, self.dropout)?])
        };
        read(record())
    }
}

#[test]
fn a_hundred_runs_with_other_numbers_and_rows_make_one_plan() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let before = device.stats();
        for run in 0..100 {
            let numbers = Numbers::of_run(run);
            assert_eq!(numbers.results(&device), numbers.results(&Device::cpu_unfused()), "{label} run {run}");
            assert_eq!((device.stats() - before).plans, 1, "{label} run {run}");
        }
    }
}

type Operation = (&'static str, u64, fn(&Tensor, Scalar) -> Result<Tensor>);

/// Operations of a tensor and a number, with the number of programs among the numbers of one dtype: the divisor of an
/// unsigned integer is 0 or not, and a remainder by a power of two is a mask.
const OPERATIONS: [Operation; 12] = [
    ("add", 1, |x, n| x.add(n)),
    ("subtract", 1, |x, n| Tensor::subtract(x, n)),
    ("multiply", 1, |x, n| x.multiply(n)),
    ("maximum", 1, |x, n| x.maximum(n)),
    ("less", 1, |x, n| x.less(n)),
    ("equal", 1, |x, n| x.equal(n)),
    ("pow", 1, |x, n| x.pow(n)),
    ("where", 1, |x, n| x.less(n)?.select(Operand::from(n), x)),
    ("floordiv", 2, |x, n| x.floordiv(n)),
    ("floormod", 3, |x, n| x.floormod(n)),
    ("truncatemod", 3, |x, n| x.truncatemod(n)),
    ("quotient", 2, |x, n| x.truediv(n)),
];

#[test]
fn a_plan_gives_the_results_of_every_number() {
    let _guard = exclusive();
    let words = [0u32, 1, 2, 3, 7, 8, 1 << 20, 1 << 31, u32::MAX - 1, u32::MAX];
    let values: [(HostValues, Vec<Scalar>); 4] = [
        (HostValues::U32(words.to_vec()), words.map(Scalar::from).to_vec()),
        (HostValues::I32(words.map(|w| w as i32).to_vec()), words.map(|w| Scalar::from(w as i32)).to_vec()),
        (HostValues::U8(words.map(|w| w as u8).to_vec()), words.map(|w| Scalar::from(w as u8)).to_vec()),
        (
            HostValues::F32(words.map(|w| w as f32).to_vec()),
            [0.0, -0.0, 1.0, -1.0, 2.0, 0.1, f32::NAN, f32::INFINITY, f32::MAX].map(Scalar::from).to_vec(),
        ),
    ];
    for (label, device) in common::devices() {
        for (values, numbers) in &values {
            for (name, programs, record) in &OPERATIONS {
                let before = device.stats();
                for number in numbers {
                    let run = |device: &Device| {
                        let x = HostTensor::dense(&[values.len()], values.clone()).to_device(device);
                        read(x.and_then(|x| record(&x, *number)).map(|made| vec![made]))
                    };
                    assert_eq!(run(&device), run(&Device::cpu_unfused()), "{label} {name} {number:?}");
                }
                let plans = (device.stats() - before).plans;
                assert!(plans <= *programs, "{label} {name} of {:?}: {plans} plans", numbers[0].dtype());
            }
        }
    }
}

#[test]
fn a_function_that_is_defined_again_shares_the_plan_and_is_called() {
    let _guard = exclusive();
    let text = "fn scaled(x: f32, by: f32) -> f32 { return x * by; }";
    for (label, device) in common::devices() {
        let before = device.stats();
        for run in 0..8u32 {
            let calls = Arc::new(AtomicU32::new(0));
            let count = calls.clone();
            let scaled = ElementFunction::new("scaled", text, move |x: f32, by: f32| {
                count.fetch_add(1, Ordering::Relaxed);
                x * by
            });
            let by = run as f32 - 2.5;
            let values = vec![1.0f32, -2.0, 0.5];
            let want = HostValues::F32(values.iter().map(|x| x * by).collect());
            let x = RaggedTensor::from_nested(values, &device).expect("uploaded");
            let got = scaled.and_then(|scaled| scaled.call(&x, by)?.erased().to_host()).expect("computed");
            assert_eq!(got.values, want, "{label} run {run}");
            assert_eq!(
                calls.load(Ordering::Relaxed) > 0,
                device.is_cpu(),
                "{label} run {run}: this run's own function"
            );
        }
        assert_eq!((device.stats() - before).plans, 1, "{label}");
    }
}
