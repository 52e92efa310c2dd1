//! Steps that exchange, join, reverse and reduce states, and that stop gradients, against loops.

use ragged::opt::ReduceAxes;
use ragged::{DType, Device, HostTensor, HostValues, Result, Row, Tensor, grad, s};

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
        widths: &[4, 5, 7],
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

/// The reductions along each of the axes, of rows and of tensors, whose methods have the same names.
macro_rules! reductions {
    ($numbers:expr, $axes:expr) => {{
        let (numbers, mut out) = ($numbers, Vec::new());
        let integers = (numbers * 100.0)?.cast(DType::I32)?;
        for axis in $axes {
            out.extend([numbers.reduce_sum(axis)?, numbers.reduce_prod(axis)?]);
            out.extend([numbers.reduce_max(axis)?, numbers.reduce_min(axis)?]);
            out.push(integers.reduce_sum(axis)?.cast(DType::F32)?);
            out.push(integers.reduce_max(axis)?.cast(DType::F32)?);
        }
        out
    }};
}

/// The devices for states of `width` numbers: software adapters compile the many stages of wide ones for minutes.
fn devices_for(width: usize) -> &'static [(String, Device)] {
    let all = devices_and_unfused_cpu();
    if width > 40 { &all[..2] } else { all }
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
        for (name, device) in devices_for(width) {
            let of_shape: Vec<i64> = std::iter::once(1).chain(shape.iter().map(|&n| n as i64)).collect();
            let start = dense(3, &[1, width], device).add(1.25)?.reshape(&of_shape[..])?;
            let x = ragged_rows(5, &lengths, 1, device).squeeze(-1)?;
            let out = x.scan_rows([&start], |states, x| {
                let state = (&(&states[0] * 0.5)? + x)?;
                let mut outputs = reductions!(&state, 0..shape.len() as i64);
                outputs.push(state.clone());
                Ok((vec![state], outputs))
            })?;
            let (states, found) = out.outputs.split_last().expect("the states");
            let want = reductions!(&states.flat_values()?, 1..=shape.len() as i64);
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

/// Reductions of states of any shape: those along axis 0 of `shape`.
fn of_states(x: &Tensor, start: &Tensor) -> Result<Tensor> {
    let out = x.scan_rows([start], |states, x| {
        let state = (&(&states[0] * 0.5)? + x)?;
        let outputs = vec![state.reduce_logsumexp(0)?, state.reduce_max(0)?, state.reduce_variance(0)?];
        Ok((vec![state], outputs))
    })?;
    let mut sum = out.states[0].square()?.reduce_sum(..)?;
    for output in &out.outputs {
        sum = sum.add(&output.square()?.reduce_sum(..)?)?;
    }
    Ok(sum)
}

/// The same, element by element.
fn of_states_unrolled(x: &Tensor, start: &Tensor, lengths: &[usize]) -> Result<Tensor> {
    let mut sum = x.reduce_sum(..)?.multiply(0.0)?;
    for (row, &n) in lengths.iter().enumerate() {
        let (x, mut state) = (x.slice(s![row as i64])?, start.clone());
        for k in 0..n as i64 {
            state = (&(&state * 0.5)? + &x.slice(s![k])?)?;
            for output in [state.reduce_logsumexp(1)?, state.reduce_max(1)?, state.reduce_variance(1)?] {
                sum = sum.add(&output.square()?.reduce_sum(..)?)?;
            }
        }
        sum = sum.add(&state.square()?.reduce_sum(..)?)?;
    }
    Ok(sum)
}

#[test]
fn gradients_of_reductions_of_wide_states() -> Result<()> {
    let lengths = [2, 0, 1];
    for shape in [&[17][..], &[300], &[64, 2], &[70, 3]] {
        let width: usize = shape.iter().product();
        let of_shape: Vec<i64> = std::iter::once(1).chain(shape.iter().map(|&n| n as i64)).collect();
        let mut first: Option<Vec<Vec<u32>>> = None;
        for (name, device) in devices_for(width) {
            let start = dense(3, &[1, width], device).reshape(&of_shape[..])?;
            let x = ragged_rows(5, &lengths, 1, device).squeeze(-1)?;
            let found = grad(|x| of_states(&x[0], &x[1]), [&x, &start])?;
            if name == "cpu" {
                let inputs = [x.cast(DType::F64)?, start.cast(DType::F64)?];
                let found = grad(|x| of_states(&x[0], &x[1]), &inputs[..])?;
                let want = grad(|x| of_states_unrolled(&x[0], &x[1], &lengths), &inputs[..])?;
                for (found, want) in found.iter().zip(&want) {
                    for (found, want) in f64s(found).iter().zip(f64s(want)) {
                        assert!((found - want).abs() < 1e-11 * want.abs().max(1.0), "{shape:?}: {found} {want}");
                    }
                }
            }
            let found: Vec<Vec<u32>> = found.iter().map(bits).collect();
            assert!(*first.get_or_insert_with(|| found.clone()) == found, "{shape:?}: {name}");
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

/// Variances of large numbers, equal and not, and extremes of infinite ones.
#[test]
fn reductions_of_states_of_extreme_numbers() -> Result<()> {
    let device = Device::cpu();
    let x = ragged_rows(5, &[1], 1, &device).squeeze(-1)?;
    let reduced = |values: &[f32], variance: bool| -> Result<(f32, Vec<f32>)> {
        let start = HostTensor::dense(&[1, values.len()], HostValues::F32(values.to_vec())).to_device(&device)?;
        let of = |start: &Tensor| {
            let out = x.scan_rows([start], |states, _| {
                let of = if variance { states[0].reduce_variance(0)? } else { states[0].reduce_max(0)? };
                Ok((vec![states[0].clone()], vec![of]))
            })?;
            out.outputs[0].reduce_sum(..)
        };
        let numbers = |x: &Tensor| bits(x).into_iter().map(f32::from_bits).collect::<Vec<f32>>();
        let gradient = grad(|x| of(&x[0]), [&start])?;
        Ok((numbers(&of(&start)?)[0], numbers(&gradient[0])))
    };
    for equal in [3e38f32, f32::MAX, 1.2345e30, 0.1] {
        assert_eq!(reduced(&[equal; 5], true)?.0, 0.0, "{equal}");
    }
    assert_eq!(reduced(&[1e30, -1e30, 3e29, 0.3, 1e30], true)?.0, f32::INFINITY);
    let none = f32::NEG_INFINITY;
    let (most, gradient) = reduced(&[none; 3], false)?;
    assert_eq!((most, gradient.iter().sum::<f32>()), (none, 1.0));
    Ok(())
}
