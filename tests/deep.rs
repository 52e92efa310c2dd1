//! Chains of up to 20,000 operations, recorded, planned, run and dropped on threads with 512 KiB of stack, without being
//! evaluated in between. The time per operation does not depend on the length of a chain. Chains whose operations take
//! longer to plan are shorter here.

mod common;

use common::devices;
use ragged::opt::keep;
use ragged::{CpuOptions, Device, RaggedTensor, Result, Tensor, s};

const OPERATIONS: usize = 20_000;

/// Rows of the host.
type Rows = Vec<Vec<i32>>;

/// A chain of one operation, and the loop over rows of the host that computes the same.
struct Chain {
    name: &'static str,
    /// Operation number `k`.
    step: fn(&Tensor, usize) -> Result<Tensor>,
    naive: fn(&mut Rows, i32),
    /// Operations on the CPU, and on a GPU, whose driver takes most of the time.
    operations: [usize; 2],
}

const CHAINS: [Chain; 14] = [
    Chain {
        name: "sums",
        step: |x, k| x.add((k % 3) as i32 - 1),
        naive: |rows, k| each(rows, |x| x + k % 3 - 1),
        operations: [OPERATIONS, OPERATIONS],
    },
    Chain {
        name: "rows backwards",
        step: |x, _| x.reverse(1),
        naive: |rows, _| rows.iter_mut().for_each(|row| row.reverse()),
        operations: [OPERATIONS, 500],
    },
    Chain {
        name: "running maxima",
        step: |x, k| x.add((k % 2) as i32)?.cummax(1),
        naive: |rows, k| {
            each(rows, |x| x + k % 2);
            for row in rows {
                (1..row.len()).for_each(|i| row[i] = row[i].max(row[i - 1]));
            }
        },
        operations: [OPERATIONS, 1000],
    },
    Chain {
        name: "differences from the maximum",
        step: |x, _| x.subtract(&x.reduce_max(keep(1))?),
        naive: |rows, _| {
            for row in rows {
                let max = row.iter().copied().max();
                row.iter_mut().for_each(|x| *x -= max.unwrap_or(0));
            }
        },
        operations: [OPERATIONS, 50],
    },
    Chain {
        name: "choices by the sum of the row",
        step: |x, k| {
            let sum = x.reduce_sum(keep(1))?;
            x.greater(&sum)?.select(&x.subtract(&sum)?, &x.add(k as i32)?)
        },
        naive: |rows, k| {
            for row in rows {
                let sum = row.iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
                row.iter_mut().for_each(|x| *x = if *x > sum { x.wrapping_sub(sum) } else { x.wrapping_add(k) });
            }
        },
        operations: [500, 20],
    },
    Chain {
        name: "remainders",
        step: |x, k| x.add(17)?.floormod((k % 7) as i32 + 3),
        naive: |rows, k| each(rows, |x| (x + 17).rem_euclid(k % 7 + 3)),
        operations: [3000, 100],
    },
    Chain {
        name: "sorted rows",
        step: |x, k| x.add(1 - 2 * (k % 2) as i32)?.multiply(-1)?.sort(1),
        naive: |rows, k| {
            each(rows, |x| -(x + 1 - 2 * (k % 2)));
            rows.iter_mut().for_each(|row| row.sort_unstable());
        },
        operations: [2000, 20],
    },
    Chain {
        name: "rows gathered in the order of their values",
        step: |x, _| x.batch_gather(&x.argsort(1)?)?.multiply(-1),
        naive: |rows, _| {
            rows.iter_mut().for_each(|row| row.sort_unstable());
            each(rows, |x| -x);
        },
        operations: [1000, 20],
    },
    Chain {
        name: "rotated rows",
        step: |x, _| Tensor::concat(&[&x.slice(s![.., 1..])?, &x.slice(s![.., ..1])?], 1),
        naive: |rows, _| rows.iter_mut().filter(|row| !row.is_empty()).for_each(|row| row.rotate_left(1)),
        operations: [200, 20],
    },
    Chain {
        name: "rows repeated and cut",
        step: |x, _| Tensor::concat(&[x, x], 1)?.slice(s![.., 1..4]),
        naive: |rows, _| {
            for row in rows {
                *row = [row.clone(), row.clone()].concat();
                *row = row[1.min(row.len())..4.min(row.len())].to_vec();
            }
        },
        operations: [500, 20],
    },
    Chain {
        name: "masks",
        step: |x, k| x.boolean_mask(&x.not_equal(10 * k as i32)?)?.add(1),
        naive: |rows, k| {
            rows.iter_mut().for_each(|row| row.retain(|x| *x != 10 * k));
            each(rows, |x| x + 1);
        },
        operations: [1000, 20],
    },
    Chain {
        name: "clamped numbers",
        step: |x, k| x.multiply(3)?.clip_by_value(-(k as i32), 50),
        naive: |rows, k| each(rows, |x| x.wrapping_mul(3).clamp(-k, 50)),
        operations: [OPERATIONS / 2, 500],
    },
    Chain {
        name: "products with themselves",
        step: |x, _| x.multiply(x)?.add(x),
        naive: |rows, _| each(rows, |x| x.wrapping_mul(x).wrapping_add(x)),
        operations: [OPERATIONS / 2, 100],
    },
    Chain {
        name: "sums over all rows",
        step: |x, _| x.add(&x.reduce_max(0)?.reduce_max(0)?),
        naive: |rows, _| {
            let max = rows.iter().flatten().copied().max().unwrap_or(0);
            each(rows, |x| x.wrapping_add(max));
        },
        operations: [1000, 20],
    },
];

fn each(rows: &mut Rows, f: impl Fn(i32) -> i32) {
    rows.iter_mut().flatten().for_each(|x| *x = f(*x));
}

fn start() -> Rows {
    vec![vec![1, 2, 3], vec![], vec![4]]
}

/// Runs `f` on a thread with a small stack.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(f).expect("a thread starts");
    assert!(thread.join().is_ok(), "the thread panicked");
}

fn recorded(device: &Device, chain: &Chain, operations: usize) -> Result<Tensor> {
    let x = RaggedTensor::from_nested(start(), device)?.into_erased();
    (0..operations).try_fold(x, |x, k| (chain.step)(&x, k))
}

#[test]
fn long_chains_are_recorded_and_run_with_little_stack() {
    for (name, device) in devices() {
        for chain in &CHAINS {
            let operations = chain.operations[usize::from(!device.is_cpu())];
            let what = format!("{name}: {}", chain.name);
            let device = device.clone();
            on_a_small_stack(move || {
                let plans = device.stats().plans;
                let x = recorded(&device, chain, operations).expect("recorded");
                assert_eq!(device.stats().plans, plans, "{what}: evaluated while it was recorded");
                x.eval().expect("computed");
                assert_eq!(device.stats().plans, plans + 1, "{what}: more than one plan");
                let got: Rows = RaggedTensor::try_from(x).and_then(|x| x.to_nested_vec()).expect("read");
                let mut want = start();
                (0..operations).for_each(|k| (chain.naive)(&mut want, k as i32));
                assert_eq!(got, want, "{what}");
            });
        }
    }
}

#[test]
fn long_chains_are_dropped_with_little_stack() {
    for (_, device) in devices() {
        for chain in &CHAINS {
            let device = device.clone();
            let operations = chain.operations[0];
            on_a_small_stack(move || drop(recorded(&device, chain, operations).expect("recorded")));
        }
    }
}

#[test]
fn long_chains_of_floats_have_the_bits_of_single_operations() {
    type Step = fn(&Tensor) -> Result<Tensor>;
    let chains: [(&str, Step); 4] = [
        ("softmax", |x| x.softmax(1)?.multiply(3.0)),
        ("exponentials by their sum", |x| {
            let e = x.subtract(&x.reduce_max(keep(1))?)?.exp()?;
            e.truediv(&e.reduce_sum(keep(1))?)
        }),
        ("standardized rows", |x| {
            let x = x.subtract(&x.reduce_mean(keep(1))?)?;
            x.truediv(&x.square()?.reduce_mean(keep(1))?.add(1.0)?.sqrt()?)
        }),
        ("GELU", |x| x.gelu()?.add(0.5)),
    ];
    for (name, step) in chains {
        on_a_small_stack(move || {
            let bits = |device: &Device| -> Result<Vec<u32>> {
                let x = RaggedTensor::from_nested(vec![vec![1.0f32, -2.5, 3.0], vec![], vec![0.25]], device)?;
                let x = (0..500).try_fold(x.into_erased(), |x, _| step(&x))?;
                let values = RaggedTensor::<f32>::try_from(x)?.to_vec()?;
                Ok(values.into_iter().map(f32::to_bits).collect())
            };
            let devices = [Device::cpu_with(&CpuOptions::default()), Device::cpu_unfused()];
            let [fused, unfused] = devices.map(|device| bits(&device).expect("computed"));
            assert_eq!(fused, unfused, "{name}");
        });
    }
}

#[test]
fn long_chains_of_strings_run_with_little_stack() {
    on_a_small_stack(|| {
        let device = Device::cpu_with(&CpuOptions::default());
        let x = RaggedTensor::from_nested(vec![vec!["abcdef", "x"], vec![], vec!["gh"]], &device).expect("uploaded");
        let step = |x: Tensor, k| match k % 3 {
            0 => x.string_upper(),
            1 => x.substr(0, 4),
            _ => x.string_lower(),
        };
        let x = (0..3000).try_fold(x.into_erased(), step).expect("recorded");
        assert_eq!(device.stats().plans, 0, "evaluated while it was recorded");
        assert_eq!(x.to_string(), "<ragged.RaggedTensor [[b'abcd', b'x'], [], [b'gh']]>");
        assert_eq!(device.stats().plans, 1);
    });
}

#[test]
fn many_tensors_are_added_with_little_stack() {
    on_a_small_stack(|| {
        let device = Device::cpu_with(&CpuOptions::default());
        let x = RaggedTensor::from_nested(start(), &device).expect("uploaded").into_erased();
        let all = (0..OPERATIONS).map(|k| x.multiply((k % 5) as i32)).collect::<Result<Vec<_>>>().expect("recorded");
        let sum = Tensor::add_n(&all).expect("recorded");
        let got: Rows = RaggedTensor::try_from(sum).and_then(|x| x.to_nested_vec()).expect("computed");
        let factor = 2 * OPERATIONS as i32;
        assert_eq!(got, [vec![factor, 2 * factor, 3 * factor], vec![], vec![4 * factor]]);
        let scanned = all.iter().map(|x| x.cumsum(1)).collect::<Result<Vec<_>>>().expect("recorded");
        let sum = Tensor::add_n(&scanned).expect("recorded");
        let got: Rows = RaggedTensor::try_from(sum).and_then(|x| x.to_nested_vec()).expect("computed");
        assert_eq!(got, [vec![factor, 3 * factor, 6 * factor], vec![], vec![4 * factor]]);
        let sums = all.iter().map(|x| x.reduce_sum(1)).collect::<Result<Vec<_>>>().expect("recorded");
        ragged::eval(&sums[..]).expect("computed");
        assert_eq!(sums[4].to_string(), "tensor([24, 0, 16], shape=(3,), dtype=i32)");
    });
}

#[test]
fn a_chain_beyond_the_budget_is_evaluated_in_parts() {
    let device = Device::cpu_with(&CpuOptions::default());
    let x = RaggedTensor::dense([0i32], &[1], &device).expect("uploaded").into_erased();
    let sum = (0..150_000).try_fold(x, |x, _| x.add(1)).expect("recorded");
    assert!(device.stats().plans > 0, "the chain was not evaluated while it was recorded");
    assert_eq!(sum.to_string(), "tensor([150000], shape=(1,), dtype=i32)");
}
