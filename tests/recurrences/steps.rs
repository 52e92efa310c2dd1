//! Steps that exchange, join, reverse and reduce states, and that stop gradients, against loops.

use ragged::opt::ReduceAxes;
use ragged::{DType, Device, Result, Row, Tensor, grad, s};

use super::common::devices_and_unfused_cpu;
use super::{bits, dense, ragged_rows};

/// States after an element, and outputs.
type After<T, Out> = Result<(Vec<T>, Out)>;

/// A step along rows, and the same step on tensors `[1, 4]` of one row: states and element give states and an output.
struct Step {
    name: &'static str,
    states: usize,
    of_rows: fn(&[Row], &Row) -> After<Row, Vec<Row>>,
    of_one: fn(&[Tensor], &Tensor) -> After<Tensor, Tensor>,
}

const STEPS: &[Step] = &[
    Step {
        name: "states change places",
        states: 2,
        of_rows: |states, x| {
            let [a, b] = states else { panic!("two states") };
            Ok((vec![b.clone(), (a + x)?.tanh()?], vec![(a * b)?]))
        },
        of_one: |states, x| {
            let [a, b] = states else { panic!("two states") };
            Ok((vec![b.clone(), (a + x)?.tanh()?], (a * b)?))
        },
    },
    Step {
        name: "parts of states are joined",
        states: 1,
        of_rows: |states, x| {
            let (back, front) = (states[0].slice(s![2..])?, states[0].slice(s![..2])?);
            let joined = Row::concat(&[back, (&front * &x.slice(s![1..3])?)?], 0)?;
            Ok((vec![(&joined * 0.75)?], vec![(&states[0].slice(s![..;-1])? * x)?]))
        },
        of_one: |states, x| {
            let (back, front) = (states[0].slice(s![.., 2..])?, states[0].slice(s![.., ..2])?);
            let joined = Tensor::concat(&[back, (&front * &x.slice(s![.., 1..3])?)?], 1)?;
            Ok((vec![(&joined * 0.75)?], (&states[0].slice(s![.., ..;-1])? * x)?))
        },
    },
    Step {
        name: "gradients stop",
        states: 1,
        of_rows: |states, x| {
            let constant = states[0].stop_gradient()?;
            let state = (&(&constant * x)? + &states[0])?.tanh()?;
            Ok((vec![state.clone()], vec![(&state * &constant)?]))
        },
        of_one: |states, x| {
            let constant = states[0].stop_gradient()?;
            let state = (&(&constant * x)? + &states[0])?.tanh()?;
            Ok((vec![state.clone()], (&state * &constant)?))
        },
    },
    Step {
        name: "a part of a state is the gate of all",
        states: 1,
        of_rows: |states, x| {
            let state = (&(&states[0].slice(s![..1])? * &states[0])? + x)?.tanh()?;
            Ok((vec![state.clone()], vec![state]))
        },
        of_one: |states, x| {
            let state = (&(&states[0].slice(s![.., ..1])? * &states[0])? + x)?.tanh()?;
            Ok((vec![state.clone()], state))
        },
    },
    Step {
        name: "states are normalised",
        states: 1,
        of_rows: |states, x| {
            let (mean, variance) = (states[0].reduce_mean(-1)?, states[0].reduce_variance(-1)?);
            let state = (&(&states[0] - &mean)? / &(&variance + 0.5)?.sqrt()?)?;
            let state = (&(&state * 0.75)? + x)?;
            Ok((vec![state.clone()], vec![(&state * &state.reduce_max(-1)?)?]))
        },
        of_one: |states, x| {
            let last = || ReduceAxes::from(-1).keep(true);
            let (mean, variance) = (states[0].reduce_mean(last())?, states[0].reduce_variance(last())?);
            let state = (&(&states[0] - &mean)? / &(&variance + 0.5)?.sqrt()?)?;
            let state = (&(&state * 0.75)? + x)?;
            Ok((vec![state.clone()], (&state * &state.reduce_max(last())?)?))
        },
    },
    Step {
        name: "states are logits",
        states: 1,
        of_rows: |states, x| {
            let weights = states[0].softmax(-1)?;
            let state = (&states[0].log_softmax(-1)? + x)?;
            Ok((vec![state], vec![(&weights * x)?]))
        },
        of_one: |states, x| {
            let weights = states[0].softmax(-1)?;
            let state = (&states[0].log_softmax(-1)? + x)?;
            Ok((vec![state], (&weights * x)?))
        },
    },
];

/// The weighted sum of all outputs and last states. The inputs are the elements and the initial states of all rows.
fn value(step: &Step, inputs: &[Tensor], weights: &Tensor) -> Result<Tensor> {
    let out = inputs[0].scan_rows(&inputs[1..], step.of_rows)?;
    let mut sum = (&out.outputs[0] * weights)?.reduce_sum(..)?;
    for state in &out.states {
        sum = sum.add(&state.square()?.reduce_sum(..)?)?;
    }
    Ok(sum)
}

/// The same value, element by element.
fn unrolled(step: &Step, inputs: &[Tensor], weights: &Tensor, lengths: &[usize]) -> Result<Tensor> {
    let mut sum = inputs[0].reduce_sum(..)?.multiply(0.0)?;
    for (row, &n) in lengths.iter().enumerate() {
        let (x, weights) = (inputs[0].slice(s![row as i64])?, weights.slice(s![row as i64])?);
        let mut states = inputs[1..].to_vec();
        for k in 0..n as i64 {
            let (after, output) = (step.of_one)(&states, &x.slice(s![k..k + 1])?)?;
            sum = sum.add(&(&output * &weights.slice(s![k..k + 1])?)?.reduce_sum(..)?)?;
            states = after;
        }
        for state in &states {
            sum = sum.add(&state.square()?.reduce_sum(..)?)?;
        }
    }
    Ok(sum)
}

/// Numbers between -0.5 and 1.5.
fn inputs(step: &Step, lengths: &[usize], device: &Device) -> Result<Vec<Tensor>> {
    let states = (0..step.states).map(|k| dense(2 + k as u64, &[1, 4], device));
    std::iter::once(ragged_rows(1, lengths, 4, device)).chain(states).map(|x| x.add(0.5)).collect()
}

#[test]
fn gradients_of_steps_are_those_of_the_unrolled_loop() -> Result<()> {
    let lengths = [3, 0, 1, 4];
    let device = Device::cpu();
    let wide = |x: &Tensor| x.cast(DType::F64);
    let weights = wide(&ragged_rows(9, &lengths, 4, &device))?;
    for step in STEPS {
        let inputs = inputs(step, &lengths, &device)?.iter().map(wide).collect::<Result<Vec<_>>>()?;
        let found = grad(|x| value(step, x, &weights), &inputs[..]).inspect_err(|_| eprintln!("{}", step.name))?;
        let want = grad(|x| unrolled(step, x, &weights, &lengths), &inputs[..])?;
        for (k, (found, want)) in found.iter().zip(&want).enumerate() {
            let difference = found.subtract(want)?.abs()?.reduce_max(..)?.to_string();
            let number: f64 =
                difference["tensor(".len()..difference.find(',').expect("a scalar")].parse().expect("a number");
            assert!(number < 1e-12, "{}: input {k}: {found} {want}", step.name);
            assert!(want.to_host()?.values.len() > 3, "{}: input {k}", step.name);
        }
    }
    Ok(())
}

#[test]
fn gradients_of_steps_have_equal_bits_everywhere() -> Result<()> {
    let lengths = [3, 0, 1, 4, 40, 2];
    for step in STEPS {
        let mut first: Option<Vec<Vec<u32>>> = None;
        for (name, device) in devices_and_unfused_cpu() {
            let weights = ragged_rows(9, &lengths, 4, device);
            let inputs = inputs(step, &lengths, device)?;
            let found: Vec<Vec<u32>> = grad(|x| value(step, x, &weights), &inputs[..])?.iter().map(bits).collect();
            assert!(*first.get_or_insert_with(|| found.clone()) == found, "{}: {name}", step.name);
        }
    }
    Ok(())
}

/// The reductions of states of different shapes, along each row: of `states, element`, the results.
fn reductions(state: &Row) -> Result<Vec<Row>> {
    let mut out = Vec::new();
    for axis in 0..state.rank() as i64 {
        let integers = (state * 100.0)?.cast(DType::I32)?;
        out.push(state.reduce_sum(axis)?);
        out.push(state.reduce_prod(axis)?);
        out.push(state.reduce_max(axis)?);
        out.push(state.reduce_min(axis)?);
        out.push(integers.reduce_sum(axis)?.cast(DType::F32)?);
        out.push(integers.reduce_max(axis)?.cast(DType::F32)?);
    }
    Ok(out)
}

/// Those of the numbers of all elements at once.
fn reductions_at_once(states: &Tensor) -> Result<Vec<Tensor>> {
    let mut out = Vec::new();
    for axis in 1..states.rank() as i64 {
        let integers = (states * 100.0)?.cast(DType::I32)?;
        out.push(states.reduce_sum(axis)?);
        out.push(states.reduce_prod(axis)?);
        out.push(states.reduce_max(axis)?);
        out.push(states.reduce_min(axis)?);
        out.push(integers.reduce_sum(axis)?.cast(DType::F32)?);
        out.push(integers.reduce_max(axis)?.cast(DType::F32)?);
    }
    Ok(out)
}

/// Each length of a state takes another branch of the canonical order.
#[test]
fn reductions_of_states_have_the_bits_of_reductions_of_rows() -> Result<()> {
    let lengths = [2, 0, 1];
    for shape in
        [&[1][..], &[7], &[16], &[17], &[40], &[256], &[300], &[1100], &[5, 3], &[65, 2], &[70, 12], &[2, 3, 4]]
    {
        let width: usize = shape.iter().product();
        let mut first: Option<Vec<Vec<u32>>> = None;
        for (name, device) in devices_and_unfused_cpu() {
            let of_shape: Vec<i64> = std::iter::once(1).chain(shape.iter().map(|&n| n as i64)).collect();
            let start = dense(3, &[1, width], device).add(1.25)?.reshape(&of_shape[..])?;
            let x = ragged_rows(5, &lengths, 1, device).squeeze(-1)?;
            let out = x.scan_rows([&start], |states, x| {
                let state = (&(&states[0] * 0.5)? + x)?;
                let mut outputs = reductions(&state)?;
                outputs.push(state.clone());
                Ok((vec![state], outputs))
            })?;
            let (states, found) = out.outputs.split_last().expect("the states");
            let want = reductions_at_once(&states.flat_values()?)?;
            let found: Vec<Vec<u32>> = found.iter().map(bits).collect();
            let want: Vec<Vec<u32>> = want.iter().map(bits).collect();
            for (k, (found, want)) in found.iter().zip(&want).enumerate() {
                assert_eq!(found, want, "{shape:?}: {k} on {name}");
            }
            assert!(*first.get_or_insert_with(|| found.clone()) == found, "{shape:?}: {name}");
        }
    }
    Ok(())
}
