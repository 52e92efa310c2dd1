//! Chains of 20,000 operations, recorded, planned, run and dropped on threads with 512 KiB of stack, without being
//! evaluated in between.

mod common;

use common::devices;
use ragged::{CpuOptions, Device, RaggedTensor, Result, Tensor, keep};

const OPERATIONS: usize = 20_000;

/// An operation of a chain, by its number.
type Step = fn(&Tensor, usize) -> Result<Tensor>;

/// Chains with the flat values that they give for the rows `[1, 2, 3], [], [4]`.
const CHAINS: [(&str, Step, [i32; 4]); 4] = [
    ("sums", |x, k| x.add((k % 3) as i32 - 1), [0, 1, 2, 3]),
    ("rows backwards", |x, _| x.reverse(1), [1, 2, 3, 4]),
    ("running maxima", |x, k| x.add((k % 2) as i32)?.cummax(1), [10_001, 10_002, 10_003, 10_004]),
    ("differences from the maximum", |x, _| x.subtract(&x.reduce_max(keep(1))?), [-2, -1, 0, 0]),
];

/// Runs `f` on a thread with a small stack.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(f).expect("a thread starts");
    assert!(thread.join().is_ok(), "the thread panicked");
}

fn recorded(device: &Device, step: Step, operations: usize) -> Result<Tensor> {
    let x = RaggedTensor::from_nested(vec![vec![1i32, 2, 3], vec![], vec![4]], device)?.into_erased();
    (0..operations).try_fold(x, |x, k| step(&x, k))
}

#[test]
fn long_chains_are_recorded_and_run_with_little_stack() {
    for (name, device) in devices() {
        for (chain, step, want) in CHAINS {
            // On a GPU, each of these operations is a kernel of its own, whose compilation is what takes time. Planning
            // takes time quadratic in the number of row kernels that use each other's results.
            let is_long = chain == "sums" || device.is_cpu() && chain != "differences from the maximum";
            let operations = if is_long { OPERATIONS } else { OPERATIONS / 20 };
            let (name, device) = (name.clone(), device.clone());
            on_a_small_stack(move || {
                let plans = device.stats().plans;
                let x = recorded(&device, step, operations).expect("recorded");
                assert_eq!(device.stats().plans, plans, "{name}: {chain}: evaluated while it was recorded");
                let values: RaggedTensor<i32> = x.flat_values().and_then(Tensor::try_into).expect("numbers");
                let got = values.to_vec().expect("computed");
                let want = if operations == OPERATIONS || chain != "running maxima" {
                    want
                } else {
                    [1, 2, 3, 4].map(|n| n + operations as i32 / 2)
                };
                assert_eq!(got, want, "{name}: {chain}");
                assert_eq!(device.stats().plans, plans + 1, "{name}: {chain}: more than one plan");
            });
        }
    }
}

#[test]
fn long_chains_are_dropped_with_little_stack() {
    for (_, device) in devices() {
        for (_, step, _) in CHAINS {
            let device = device.clone();
            on_a_small_stack(move || drop(recorded(&device, step, OPERATIONS).expect("recorded")));
        }
    }
}

#[test]
fn a_chain_beyond_the_budget_is_evaluated_in_parts() {
    let device = Device::cpu_with(&CpuOptions::default());
    let x = RaggedTensor::dense([0i32], &[1], &device).expect("uploaded").into_erased();
    let sum = (0..150_000).try_fold(x, |x, _| x.add(1)).expect("recorded");
    assert!(device.stats().plans > 0, "the chain was not evaluated while it was recorded");
    assert_eq!(sum.to_string(), "tensor([150000], shape=(1,), dtype=i32)");
}
