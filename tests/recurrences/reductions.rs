//! Steps that reduce states, against reductions of rows and loops.

use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor, grad, s};

use super::common::devices_and_unfused_cpu;
use super::gradients::f64s;
use super::{bits, dense, ragged_rows};

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
