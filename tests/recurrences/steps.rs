//! Steps that exchange, join, reverse and normalise states, and that stop gradients, against loops.

use ragged::opt::ReduceAxes;
use ragged::{DType, Device, Result, Row, Tensor, grad, s};

use super::common::devices_and_unfused_cpu;
use super::gradients::f64s;
use super::{bits, dense, ragged_rows};

/// States after an element, and outputs.
type After<T, Out> = Result<(Vec<T>, Out)>;

/// A step along rows, and the same step on tensors `[1, n]` of one row: states and element give states and an output.
struct Step {
    name: &'static str,
    states: usize,
    /// Numbers of each state and element, some of them not a multiple of a part that the step joins.
    widths: &'static [usize],
    of_rows: fn(&[Row], &Row) -> After<Row, Vec<Row>>,
    of_one: fn(&[Tensor], &Tensor) -> After<Tensor, Tensor>,
}

const STEPS: &[Step] = &[
    Step {
        name: "states change places",
        states: 2,
        widths: &[4],
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
        widths: &[4, 5, 9],
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
        name: "parts of states are joined in another order",
        states: 1,
        widths: &[5],
        of_rows: |states, x| {
            let (back, front) = (states[0].slice(s![2..;-1])?, states[0].slice(s![..3])?);
            let (even, odd) = (states[0].slice(s![..;2])?, states[0].slice(s![1..;2])?);
            let joined = (&Row::concat(&[odd, even], 0)? * &Row::concat(&[front, back], 0)?.slice(s![..5])?)?;
            let twice = Row::concat(&[states[0].slice(s![..2])?, states[0].slice(s![..3])?], 0)?;
            Ok((vec![(&joined * x)?.tanh()?], vec![(&twice + x)?.square()?]))
        },
        of_one: |states, x| {
            let (back, front) = (states[0].slice(s![.., 2..;-1])?, states[0].slice(s![.., ..3])?);
            let (even, odd) = (states[0].slice(s![.., ..;2])?, states[0].slice(s![.., 1..;2])?);
            let joined =
                (&Tensor::concat(&[odd, even], 1)? * &Tensor::concat(&[front, back], 1)?.slice(s![.., ..5])?)?;
            let twice = Tensor::concat(&[states[0].slice(s![.., ..2])?, states[0].slice(s![.., ..3])?], 1)?;
            Ok((vec![(&joined * x)?.tanh()?], (&twice + x)?.square()?))
        },
    },
    Step {
        name: "a part at the front changes",
        states: 1,
        widths: &[5, 12],
        of_rows: |states, x| {
            let front = (&states[0].slice(s![..2])? * &x.slice(s![..2])?)?;
            let state = Row::concat(&[front, states[0].slice(s![2..])?], 0)?;
            Ok((vec![(&state * 0.75)?], vec![(&state * x)?]))
        },
        of_one: |states, x| {
            let front = (&states[0].slice(s![.., ..2])? * &x.slice(s![.., ..2])?)?;
            let state = Tensor::concat(&[front, states[0].slice(s![.., 2..])?], 1)?;
            Ok((vec![(&state * 0.75)?], (&state * x)?))
        },
    },
    Step {
        name: "one number changes others",
        states: 1,
        widths: &[10],
        of_rows: |states, x| {
            let others = (&states[0].slice(s![..1])? * &x.slice(s![..9])?)?;
            let state = Row::concat(&[others, states[0].slice(s![9..])?], 0)?;
            Ok((vec![(&state * 0.75)?], vec![(&state * x)?]))
        },
        of_one: |states, x| {
            let others = (&states[0].slice(s![.., ..1])? * &x.slice(s![.., ..9])?)?;
            let state = Tensor::concat(&[others, states[0].slice(s![.., 9..])?], 1)?;
            Ok((vec![(&state * 0.75)?], (&state * x)?))
        },
    },
    Step {
        name: "data chooses among parts",
        states: 1,
        widths: &[5],
        of_rows: |states, x| {
            let turned = |n: i64| Row::concat(&[states[0].slice(s![n..])?, states[0].slice(s![..n])?], 0);
            let state = x.greater(0.5)?.select(&turned(2)?, &turned(1)?)?;
            Ok((vec![(&state * 0.75)?], vec![(&state * x)?]))
        },
        of_one: |states, x| {
            let turned = |n: i64| Tensor::concat(&[states[0].slice(s![.., n..])?, states[0].slice(s![.., ..n])?], 1);
            let state = x.greater(0.5)?.select(&turned(2)?, &turned(1)?)?;
            Ok((vec![(&state * 0.75)?], (&state * x)?))
        },
    },
    Step {
        name: "gradients stop",
        states: 1,
        widths: &[4],
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
        widths: &[4, 5, 7],
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
        widths: &[4],
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
        widths: &[4],
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

/// The steps with each of their widths.
fn steps() -> impl Iterator<Item = (&'static Step, usize)> {
    STEPS.iter().flat_map(|step| step.widths.iter().map(move |&width| (step, width)))
}

/// Numbers between -0.5 and 1.5.
fn inputs(step: &Step, lengths: &[usize], width: usize, device: &Device) -> Result<Vec<Tensor>> {
    let states = (0..step.states).map(|k| dense(2 + k as u64, &[1, width], device));
    std::iter::once(ragged_rows(1, lengths, width, device)).chain(states).map(|x| x.add(0.5)).collect()
}

#[test]
fn gradients_of_steps_are_those_of_the_unrolled_loop() -> Result<()> {
    let lengths = [3, 0, 1, 4];
    let device = Device::cpu();
    let wide = |x: &Tensor| x.cast(DType::F64);
    for (step, width) in steps() {
        let weights = wide(&ragged_rows(9, &lengths, width, &device))?;
        let inputs = inputs(step, &lengths, width, &device)?.iter().map(wide).collect::<Result<Vec<_>>>()?;
        let found =
            grad(|x| value(step, x, &weights), &inputs[..]).inspect_err(|_| eprintln!("{}: {width}", step.name))?;
        let want = grad(|x| unrolled(step, x, &weights, &lengths), &inputs[..])?;
        for (k, (found, want)) in found.iter().zip(&want).enumerate() {
            let close = f64s(found).iter().zip(f64s(want)).all(|(found, want)| (found - want).abs() < 1e-12);
            assert!(close, "{}: {width}: input {k}: {found} {want}", step.name);
            assert!(want.to_host()?.values.len() > 3, "{}: {width}: input {k}", step.name);
        }
    }
    Ok(())
}

/// Gradients of the squares of all gradients.
#[test]
fn second_gradients_of_steps_are_those_of_the_unrolled_loop() -> Result<()> {
    let lengths = [2, 0, 3];
    let device = Device::cpu();
    let wide = |x: &Tensor| x.cast(DType::F64);
    for (step, width) in steps() {
        let weights = wide(&ragged_rows(9, &lengths, width, &device))?;
        let inputs = inputs(step, &lengths, width, &device)?.iter().map(wide).collect::<Result<Vec<_>>>()?;
        let squares = |of: &dyn Fn(&[Tensor]) -> Result<Tensor>, x: &[Tensor]| {
            let gradients = grad(of, x)?;
            let squares = gradients.iter().map(|x| x.square()?.reduce_sum(..)).collect::<Result<Vec<_>>>()?;
            Tensor::add_n(&squares)
        };
        let found = grad(|x| squares(&|x| value(step, x, &weights), x), &inputs[..])
            .inspect_err(|_| eprintln!("{}: {width}", step.name))?;
        let want = grad(|x| squares(&|x| unrolled(step, x, &weights, &lengths), x), &inputs[..])?;
        for (found, want) in found.iter().zip(&want) {
            for (found, want) in f64s(found).iter().zip(f64s(want)) {
                assert!((found - want).abs() < 1e-10 * want.abs().max(1.0), "{}: {width}: {found} {want}", step.name);
            }
        }
    }
    Ok(())
}

#[test]
fn gradients_of_steps_have_equal_bits_everywhere() -> Result<()> {
    let lengths = [3, 0, 1, 4, 40, 2];
    for (step, width) in steps() {
        let mut first: Option<Vec<Vec<u32>>> = None;
        for (name, device) in devices_and_unfused_cpu() {
            let weights = ragged_rows(9, &lengths, width, device);
            let inputs = inputs(step, &lengths, width, device)?;
            let found: Vec<Vec<u32>> = grad(|x| value(step, x, &weights), &inputs[..])?.iter().map(bits).collect();
            assert!(*first.get_or_insert_with(|| found.clone()) == found, "{}: {width}: {name}", step.name);
        }
    }
    Ok(())
}

/// Only the device knows how many elements there are.
#[test]
fn gradients_of_steps_on_rows_that_are_selected() -> Result<()> {
    let lengths = [3, 0, 1, 4];
    for (step, width) in steps() {
        for (name, device) in devices_and_unfused_cpu() {
            let weights = ragged_rows(9, &lengths, width, device);
            let inputs = inputs(step, &lengths, width, device)?;
            let want = grad(|x| value(step, x, &weights), &inputs[..])?;
            let selected = |x: &[Tensor]| {
                let all = x[0].stop_gradient()?.reduce_max(-1)?.greater(-9.0)?;
                let select = |of: &Tensor| of.boolean_mask(&all);
                let rest = x[1..].iter().cloned();
                let inputs: Vec<Tensor> = std::iter::once(select(&x[0])?).chain(rest).collect();
                value(step, &inputs, &select(&weights)?)
            };
            let found = grad(selected, &inputs[..]).inspect_err(|_| eprintln!("{}: {width}: {name}", step.name))?;
            for (found, want) in found.iter().zip(&want) {
                assert_eq!(bits(found), bits(want), "{}: {width}: {name}", step.name);
            }
        }
    }
    Ok(())
}
