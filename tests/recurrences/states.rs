//! States and outputs of a step.

use ragged::opt::backwards;
use ragged::{Device, RaggedTensor, Result, Tensor, s};

use super::common::devices_and_unfused_cpu;

/// Rows of integers of these lengths.
fn integers(lengths: &[usize]) -> Vec<Vec<i32>> {
    let mut next = 0i32;
    let mut number = || {
        next = next.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        next >> 8
    };
    lengths.iter().map(|&n| (0..n).map(|_| number()).collect()).collect()
}

/// The hashes of the prefixes of each row, and the last ones.
fn hashes(rows: &[Vec<i32>], start: i32, reversed: bool) -> (Vec<Vec<i32>>, Vec<i32>) {
    let mut all = (Vec::new(), Vec::new());
    for row in rows {
        let mut hash = start;
        let mut step = |x: &i32| {
            hash = (hash.wrapping_mul(31) ^ *x).wrapping_add(7);
            hash
        };
        let mut out: Vec<i32> =
            if reversed { row.iter().rev().map(&mut step).collect() } else { row.iter().map(step).collect() };
        if reversed {
            out.reverse();
        }
        all.0.push(out);
        all.1.push(hash);
    }
    all
}

const LENGTHS: &[&[usize]] =
    &[&[], &[0], &[1], &[0, 0, 3, 0], &[2, 0, 1, 5, 255, 256, 257, 0], &[5000, 1, 1, 0, 3], &[7; 100]];

#[test]
fn integer_states_have_the_values_of_a_loop() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        for lengths in LENGTHS {
            let rows = integers(lengths);
            let x = RaggedTensor::from_nested(rows.clone(), device)?;
            let start = RaggedTensor::from_nested([17], device)?;
            for reversed in [false, true] {
                let initial = ragged::opt::InitialStates::from([&start]).reversed(reversed);
                let out = x.scan_rows(initial, |states, x| {
                    let hash = (&((&states[0] * 31)? ^ x)? + 7)?;
                    Ok((vec![hash.clone()], vec![hash]))
                })?;
                let (want, last) = hashes(&rows, 17, reversed);
                let found: RaggedTensor<i32> = out.outputs[0].clone().try_into()?;
                assert_eq!(found.to_vec()?, want.concat(), "{name} {lengths:?} {reversed}");
                let found: RaggedTensor<i32> = out.states[0].clone().try_into()?;
                assert_eq!(found.to_vec()?, last, "{name} {lengths:?} {reversed}");
            }
        }
    }
    Ok(())
}

#[test]
fn several_states_of_each_row_and_outputs_of_their_own() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], device)?;
        let sums = RaggedTensor::from_nested([100, 200, 300], device)?;
        let pairs = RaggedTensor::from_nested([[1, -1], [2, -2], [3, -3]], device)?;
        let out = x.scan_rows((&sums, &pairs), |states, x| {
            let sum = (&states[0] + x)?;
            let pair = (&states[1] * 2)?;
            let outputs = vec![(&sum * 10)?, (x - &states[0])?, states[1].slice(s![1])?, (x * 2)?];
            Ok((vec![sum, pair], outputs))
        })?;
        let outputs: Vec<String> = out.outputs.iter().map(ToString::to_string).collect();
        let want = [
            "<ragged.RaggedTensor [[1010, 1030, 1060], [], [3040]]>",
            "<ragged.RaggedTensor [[-99, -99, -100], [], [-296]]>",
            "<ragged.RaggedTensor [[-1, -2, -4], [], [-3]]>",
            "<ragged.RaggedTensor [[2, 4, 6], [], [8]]>",
        ];
        assert_eq!(outputs, want, "{name}");
        assert_eq!(out.states[0].to_string(), "tensor([106, 200, 304], shape=(3,), dtype=i32)", "{name}");
        assert_eq!(out.states[1].to_string(), "tensor([[8, -8], [2, -2], [6, -6]], shape=(3, 2), dtype=i32)", "{name}");
    }
    Ok(())
}

#[test]
fn rows_of_any_rank_and_of_sizes_that_the_device_knows() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let zero = RaggedTensor::from_nested([0], device)?;
        let sums = |x: &Tensor| -> Result<String> {
            let out = x.scan_rows([&zero], |states, x| {
                let sum = (&states[0] + x)?;
                Ok((vec![sum.clone()], vec![sum]))
            })?;
            Ok(format!("{} {}", out.outputs[0], out.states[0]))
        };
        let dense = RaggedTensor::from_nested([[1, 2, 3], [4, 5, 6]], device)?;
        let want = "<ragged.RaggedTensor [[1, 3, 6], [4, 9, 15]]> tensor([6, 15], shape=(2,), dtype=i32)";
        assert_eq!(sums(dense.erased())?, want, "{name}");
        let nested = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![], vec![vec![3, 4, 5]]], device)?;
        let want = "<ragged.RaggedTensor [[[1, 3], []], [], [[3, 7, 12]]]> <ragged.RaggedTensor [[3, 0], [], [12]]>";
        assert_eq!(sums(nested.erased())?, want, "{name}");
        let x = RaggedTensor::from_nested([vec![1, -2, 3], vec![-1], vec![4, 5]], device)?;
        let positive = x.boolean_mask(&x.greater(0)?)?;
        let want = "<ragged.RaggedTensor [[1, 4], [], [4, 9]]> tensor([4, 0, 9], shape=(3,), dtype=i32)";
        assert_eq!(sums(positive.erased())?, want, "{name}");
    }
    Ok(())
}

#[test]
fn batch_invariance() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let crowd = super::ragged_rows(5, &[9, 0, 40, 1, 300, 2, 2, 17], 3, device);
        let w = super::dense(6, &[3, 3], device);
        let start = super::dense(7, &[1, 3], device);
        let states = |x: &Tensor| -> Result<Tensor> {
            let out = x.scan_rows(backwards([&start]), |states, x| {
                let state = (&states[0].matmul(&w)? + x)?.tanh()?;
                Ok((vec![state.clone()], vec![state]))
            })?;
            Ok(out.outputs[0].clone())
        };
        let all = states(&crowd)?;
        for row in 0..8i64 {
            let alone = crowd.slice(ragged::s![row..row + 1])?;
            let of_crowd = all.slice(ragged::s![row..row + 1])?;
            assert_eq!(super::bits(&states(&alone)?), super::bits(&of_crowd), "{name}: row {row}");
        }
    }
    Ok(())
}

/// States and gradients of the inputs are those of the rows in another order.
#[test]
fn shuffled_rows() -> Result<()> {
    let lengths = [9, 0, 40, 1, 300, 2, 2, 17];
    let order = [4i64, 1, 7, 0, 6, 2, 5, 3];
    let mut first = None;
    for (name, device) in devices_and_unfused_cpu() {
        let x = super::ragged_rows(5, &lengths, 3, device);
        let (u, weight) = (super::dense(6, &[3, 3], device), super::ragged_rows(8, &lengths, 3, device));
        let start = super::dense(7, &[1, 3], device);
        let both = |x: &Tensor, weight: &Tensor| -> Result<[Tensor; 2]> {
            let step = |x: &Tensor| {
                x.scan_rows([&start], |states, x| {
                    let state = (&states[0].matmul(&u)? + x)?.tanh()?;
                    Ok((vec![state.clone()], vec![state]))
                })
            };
            let value = |x: &[Tensor]| step(&x[0])?.outputs[0].multiply(weight)?.reduce_sum(..);
            Ok([step(x)?.outputs[0].clone(), ragged::grad(value, [x])?[0].clone()])
        };
        let order = RaggedTensor::from_nested(order, device)?;
        let shuffled = both(&x.gather(&order)?, &weight.gather(&order)?)?;
        let all = both(&x, &weight)?;
        for (shuffled, all) in shuffled.iter().zip(&all) {
            assert_eq!(super::bits(shuffled), super::bits(&all.gather(&order)?), "{name}");
        }
        let found = all.each_ref().map(super::bits);
        assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{name}");
    }
    Ok(())
}

/// Long divisions, powers and remainders run loops of their own: a dispatch of a software adapter, which ends loops after
/// some iterations, has fewer positions of them.
#[test]
fn steps_with_loops_on_long_rows() -> Result<()> {
    let mut first = None;
    for (name, device) in devices_and_unfused_cpu() {
        let numbers: Vec<i64> = (1..3000i64).map(|k| k * 1_000_003 % 8191 + 1).collect();
        let x = RaggedTensor::from_nested([numbers.clone(), vec![7]], device)?;
        let start = RaggedTensor::from_nested([i64::MAX - 5], device)?;
        let integers = x.scan_rows([&start], |states, x| {
            // The quotient has about 50 digits, and the exponent 62.
            let power = x.pow(i64::MAX / 2)?;
            let of_state = (&states[0] ^ x)?.pow(i64::MAX / 2)?;
            let state = (&(&states[0].floordiv(x)? ^ &power)? ^ &of_state)?;
            Ok((vec![state.clone()], vec![state]))
        })?;
        let floats = RaggedTensor::from_nested([numbers.iter().map(|&k| k as f32).collect(), vec![7.0f32]], device)?;
        let start = RaggedTensor::from_nested([1.0f32], device)?;
        let remainders = floats.scan_rows([&start], |states, x| {
            let state = (&(&states[0] + x)? * 1e30)?.floormod(&(x * 1e-3)?)?;
            Ok((vec![state.clone()], vec![state]))
        })?;
        let integers: RaggedTensor<i64> = integers.outputs[0].clone().try_into()?;
        let found = (integers.to_vec()?, super::bits(&remainders.outputs[0]));
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "{name}");
    }
    Ok(())
}

/// A branch that is not taken may hold any number; its gradient is 0.
#[test]
fn choices_in_a_step() -> Result<()> {
    let mut first = None;
    for (name, device) in devices_and_unfused_cpu() {
        let x = RaggedTensor::from_nested([vec![1.0f32, -2.0, 3.0], vec![], vec![-1.0, -4.0]], device)?.into_erased();
        let start = RaggedTensor::from_nested([0.0f32], device)?;
        // The logarithm of a number below 0 is NaN.
        let scanned = |x: &Tensor| {
            x.scan_rows([&start], |states, x| {
                let sum = (&states[0] + x)?;
                let state = sum.greater(0.0)?.select(&(&sum + 1.0)?.log()?, &(&states[0] * 0.5)?)?;
                Ok((vec![state.clone()], vec![state]))
            })
        };
        let mut want = Vec::new();
        for row in [vec![1.0f32, -2.0, 3.0], vec![], vec![-1.0, -4.0]] {
            let mut state = 0.0f32;
            for x in row {
                state = if state + x > 0.0 { (state + x + 1.0).ln() } else { state * 0.5 };
                want.push(state);
            }
        }
        let states = super::bits(&scanned(&x)?.outputs[0]);
        let gradient = super::bits(&ragged::grad(|x| scanned(&x[0])?.outputs[0].reduce_sum(..), [&x])?[0]);
        for (state, want) in states.iter().zip(want) {
            assert!((f32::from_bits(*state) - want).abs() < 1e-6, "{name}: {states:?}");
        }
        // The third state depends on the first one by way of the second.
        let third = 1.0 / (3.0 + 0.5 * 2.0f32.ln() + 1.0);
        let want = [(1.0 + 0.5 + 0.5 * third) / 2.0, 0.0, third, 0.0, 0.0];
        for (d, want) in gradient.iter().zip(want) {
            assert!((f32::from_bits(*d) - want).abs() < 1e-6, "{name}: {gradient:?}");
        }
        assert_eq!(*first.get_or_insert_with(|| (states.clone(), gradient.clone())), (states, gradient), "{name}");
    }
    Ok(())
}

#[test]
fn equal_steps_are_one_plan() -> Result<()> {
    let device = Device::cpu_with(&ragged::CpuOptions::default());
    let start = RaggedTensor::from_nested([1.0f32], &device)?;
    let mut plans = None;
    for n in [3usize, 10, 1000, 10_000] {
        let x = RaggedTensor::from_nested([vec![0.5f32; n], vec![], vec![1.0; n / 2]], &device)?;
        let out = x.scan_rows([&start], |states, x| {
            let state = (&states[0] * x)?;
            Ok((vec![state.clone()], vec![state]))
        })?;
        out.outputs[0].to_host()?;
        let made = device.stats().plans;
        assert_eq!(*plans.get_or_insert(made), made, "rows of {n}");
    }
    Ok(())
}

#[test]
fn vectors_are_joined_and_divided() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let x = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![], vec![[5, 6]]], device)?.into_erased();
        let start = RaggedTensor::from_nested([[10, 20, 30]], device)?;
        // The state is shifted by one number, and ends with the first number of the element.
        let out = x.scan_rows([&start], |states, x| {
            let state = ragged::Row::concat(&[states[0].slice(s![1..])?, x.slice(s![..1])?], 0)?;
            Ok((vec![state.clone()], vec![state.reverse(0)?]))
        })?;
        let want = "<ragged.RaggedTensor [[[1, 30, 20], [3, 1, 30]], [], [[5, 30, 20]]]>";
        assert_eq!(out.outputs[0].to_string(), want, "{name}");
        let last = "tensor([[30, 1, 3], [10, 20, 30], [20, 30, 5]], shape=(3, 3), dtype=i32)";
        assert_eq!(out.states[0].to_string(), last, "{name}");
    }
    Ok(())
}

#[test]
fn states_are_exchanged_and_stay() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![4]], device)?;
        let start: Vec<RaggedTensor<i32>> =
            [10, 20, 30].into_iter().map(|n| RaggedTensor::from_nested([n], device)).collect::<Result<_>>()?;
        let out = x.scan_rows(&start, |s, x| {
            Ok((vec![s[1].clone(), s[0].clone(), s[2].clone()], vec![x.clone(), s[0].clone()]))
        })?;
        let all: Vec<String> = out.states.iter().chain(&out.outputs).map(ToString::to_string).collect();
        let want = [
            "tensor([20, 20], shape=(2,), dtype=i32)",
            "tensor([10, 10], shape=(2,), dtype=i32)",
            "tensor([30, 30], shape=(2,), dtype=i32)",
            "<ragged.RaggedTensor [[1, 2, 3], [4]]>",
            "<ragged.RaggedTensor [[10, 20, 10], [10]]>",
        ];
        assert_eq!(all, want, "{name}");
    }
    Ok(())
}

#[test]
fn batches_without_elements_have_the_initial_states() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let x = super::ragged_rows(1, &[0, 0], 3, device);
        let (start, w) = (super::dense(2, &[1, 3], device), super::dense(3, &[3, 3], device));
        let out = x.scan_rows([&start], |states, x| {
            let state = (&states[0].matmul(&w)? + x)?;
            Ok((vec![state.clone()], vec![state.slice(s![..2])?]))
        })?;
        assert_eq!(out.outputs[0].shape(), [Some(2), None, Some(2)], "{name}");
        assert_eq!(super::bits(&out.outputs[0]), [0u32; 0], "{name}");
        let start = super::bits(&start);
        assert_eq!(super::bits(&out.states[0]), [start.clone(), start].concat(), "{name}");
    }
    Ok(())
}

#[test]
fn long_steps_are_recorded_in_linear_time() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![0.25f32, 0.5], vec![0.75]], &device)?;
    let start = RaggedTensor::from_nested([0.5f32], &device)?;
    // The logistic map, so often that repeating each value in both of its readers would never end.
    let rounds = 200;
    let out = x.scan_rows([&start], |states, x| {
        let mut state = (&(&states[0] + x)? * 0.5)?;
        for _ in 0..rounds {
            state = (&(&state * &(1.0 - &state)?)? * 3.5)?;
        }
        Ok((vec![state.clone()], vec![state]))
    })?;
    let mut want = Vec::new();
    for row in [vec![0.25f32, 0.5], vec![0.75]] {
        let mut state = 0.5f32;
        for x in row {
            state = (state + x) * 0.5;
            (0..rounds).for_each(|_| state = state * (1.0 - state) * 3.5);
            want.push(state.to_bits());
        }
    }
    assert_eq!(super::bits(&out.outputs[0]), want);
    Ok(())
}

#[test]
fn conditions_hold_for_every_result() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let positive = |rows: [Vec<i32>; 2]| -> Result<Tensor> {
            let x = RaggedTensor::from_nested(rows, device)?;
            Ok(x.boolean_mask(&x.greater(0)?)?.into_erased())
        };
        let (a, b) = (positive([vec![1, -1], vec![2]])?, positive([vec![1, 1], vec![2]])?);
        let zero = RaggedTensor::from_nested([0], device)?;
        let out = Tensor::scan_rows_of(&[&a, &b], [&zero], |states, of| {
            let sum = (&states[0] + &of[0])?;
            Ok((vec![sum.clone()], vec![sum, (&of[1] * 2)?]))
        })?;
        for output in &out.outputs {
            let error = output.to_host().expect_err("other rows").to_string();
            assert!(error.starts_with("scan_rows_of: the tensors have different rows"), "{name}: {error}");
        }
    }
    Ok(())
}

#[test]
fn traced_programs_run_on_rows_of_other_lengths() -> Result<()> {
    use ragged::{DType, Program, TensorSpec};
    for (name, device) in devices_and_unfused_cpu() {
        let start = super::dense(1, &[1, 2], device);
        let step = |x: &Tensor| -> Result<Vec<Tensor>> {
            let out = x.scan_rows([&start], |states, x| {
                let state = (&(&states[0] * 0.5)? + x)?.tanh()?;
                Ok((vec![state.clone()], vec![state]))
            })?;
            Ok([out.outputs, out.states].concat())
        };
        let spec = TensorSpec::new(DType::F32, [None, None, Some(2)]).ragged_rank(1);
        let program = Program::trace(&[spec], |x| step(&x[0]))?;
        for lengths in [&[3, 0, 2][..], &[1], &[0, 700, 1, 1], &[0]] {
            let x = super::ragged_rows(5, lengths, 2, device);
            let (found, want) = (program.run(&x)?, step(&x)?);
            for (found, want) in found.iter().zip(&want) {
                assert_eq!(super::bits(found), super::bits(want), "{name}: {lengths:?}");
            }
        }
    }
    Ok(())
}
