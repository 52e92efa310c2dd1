//! Cells of recurrent networks.

use ragged::{Device, RaggedTensor, Result, Row, ScannedRows, Tensor, grad, opt, s};

use super::common::devices_and_unfused_cpu;
use super::{bits, dense, ragged_rows};

/// Weights of a cell of `width` states over `inputs` numbers.
struct Weights {
    input: Tensor,
    state: Tensor,
    bias: Tensor,
}

impl Weights {
    fn new(inputs: usize, width: usize, device: &Device) -> Self {
        let input = dense(1, &[inputs, 4 * width], device);
        let state = dense(2, &[width, 4 * width], device);
        Self { input, state, bias: dense(3, &[4 * width], device) }
    }
}

/// The step of an LSTM, on rows or on tensors of one element.
macro_rules! lstm {
    ($w:expr, $h:expr, $c:expr, $x:expr, $width:expr, $columns:expr) => {{
        let (w, width) = ($w, $width as i64);
        let z = (&(&$x.matmul(&w.input)? + &$h.matmul(&w.state)?)? + &w.bias)?;
        let gate = |k: i64| $columns(&z, k * width, (k + 1) * width);
        let (i, f, g, o) = (gate(0)?.sigmoid()?, gate(1)?.sigmoid()?, gate(2)?.tanh()?, gate(3)?.sigmoid()?);
        let c = (&(&f * $c)? + &(&i * &g)?)?;
        let h = (&o * &c.tanh()?)?;
        (h, c)
    }};
}

fn scanned(w: &Weights, x: &Tensor, width: usize, initial: opt::InitialStates) -> Result<ScannedRows> {
    x.scan_rows(initial, |states, x| {
        let columns = |z: &Row, from: i64, to: i64| z.slice(s![from..to]);
        let (h, c) = lstm!(w, &states[0], &states[1], x, width, columns);
        Ok((vec![h.clone(), c], vec![h]))
    })
}

/// The states of one row, element by element.
fn looped(
    w: &Weights,
    x: &Tensor,
    row: usize,
    width: usize,
    states: [Tensor; 2],
    reversed: bool,
) -> Result<Vec<Tensor>> {
    let row = x.slice(s![row])?;
    let n = row.shape()[0].unwrap_or(0);
    let [mut h, mut c] = states;
    let mut out = Vec::new();
    for k in 0..n {
        let k = if reversed { n - 1 - k } else { k } as i64;
        let x = row.slice(s![k..k + 1])?;
        let columns = |z: &Tensor, from: i64, to: i64| z.slice(s![.., from..to]);
        (h, c) = lstm!(w, &h, &c, &x, width, columns);
        out.push(h.clone());
    }
    if reversed {
        out.reverse();
    }
    Ok(out)
}

/// What a step multiplies by itself is multiplied before the recurrence, and each weight's gradient is one product after the
/// reverse one, whatever the number of positions.
#[test]
fn products_without_states_are_before_and_after_the_recurrence() -> Result<()> {
    let width = 5;
    for (name, device) in devices_and_unfused_cpu().iter().filter(|(name, _)| !name.contains("unfused")) {
        let w = Weights::new(4, width, device);
        for lengths in [&[3, 0, 1, 7][..], &[300, 2, 500]] {
            let x = ragged_rows(7, lengths, 4, device);
            let start = || [dense(8, &[1, width], device), dense(9, &[1, width], device)];
            let kinds = |of: &Tensor| -> Result<Vec<&'static str>> {
                let kinds = of.explain()?.kernels.iter().map(|kernel| kernel.kind).collect::<Vec<_>>();
                Ok(kinds.into_iter().filter(|kind| ["matmul", "scan_rows"].contains(kind)).collect())
            };
            let out = scanned(&w, &x, width, start().into())?;
            assert_eq!(kinds(&out.outputs[0])?, ["matmul", "scan_rows"], "{name}");
            let loss = |weights: &[Tensor]| {
                let [input, state] = weights else { panic!("two weights") };
                let w = Weights { input: input.clone(), state: state.clone(), bias: w.bias.clone() };
                scanned(&w, &x, width, start().into())?.outputs[0].square()?.reduce_sum(..)
            };
            for gradient in &grad(loss, [&w.input, &w.state])? {
                assert_eq!(kinds(gradient)?, ["matmul", "scan_rows", "scan_rows", "matmul"], "{name}");
            }
        }
    }
    Ok(())
}

#[test]
fn an_lstm_has_the_bits_of_a_loop() -> Result<()> {
    let lengths = [3, 0, 1, 7, 0, 5];
    for (name, device) in devices_and_unfused_cpu() {
        let width = 5;
        let w = Weights::new(4, width, device);
        let x = ragged_rows(7, &lengths, 4, device);
        let start = || [dense(8, &[1, width], device), dense(9, &[1, width], device)];
        for reversed in [false, true] {
            let initial = opt::InitialStates::from(start()).reversed(reversed);
            let found = bits(&scanned(&w, &x, width, initial)?.outputs[0]);
            let mut want = Vec::new();
            for row in 0..lengths.len() {
                for h in looped(&w, &x, row, width, start(), reversed)? {
                    want.extend(bits(&h));
                }
            }
            assert_eq!(found, want, "{name}, reversed: {reversed}");
        }
    }
    Ok(())
}

/// Products of more than 256 terms have the bits of products of matrices, and of the CPU.
#[test]
fn wide_states_have_the_bits_of_a_loop() -> Result<()> {
    let width = 300;
    let mut first = None;
    for (name, device) in devices_and_unfused_cpu() {
        let x = ragged_rows(7, &[3, 0, 1], width, device);
        let (u, start) = (dense(8, &[width, width], device), dense(9, &[1, width], device));
        let out = x.scan_rows([&start], |states, x| {
            let state = (&(&states[0].matmul(&u)? * 0.01)? + x)?;
            Ok((vec![state.clone()], vec![state]))
        })?;
        let found = bits(&out.outputs[0]);
        let mut want = Vec::new();
        for (row, n) in [(0, 3), (2, 1)] {
            let row = x.slice(s![row])?;
            let mut state = start.clone();
            for k in 0..n {
                state = (&state.matmul(&u)?.multiply(0.01)? + &row.slice(s![k..k + 1])?)?;
                want.extend(bits(&state));
            }
        }
        assert!(found == want, "{name}");
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "{name}");
    }
    Ok(())
}

#[test]
fn an_lstm_has_the_gradients_of_a_loop() -> Result<()> {
    let lengths = [3, 0, 1, 4];
    let width = 3;
    let mut first: Option<Vec<Vec<u32>>> = None;
    for (name, device) in devices_and_unfused_cpu() {
        let w = Weights::new(2, width, device);
        let x = ragged_rows(7, &lengths, 2, device);
        let weights = ragged_rows(11, &lengths, width, device);
        let start = || [dense(8, &[1, width], device), dense(9, &[1, width], device)];
        let inputs = [x.clone(), w.input.clone(), w.state.clone(), w.bias.clone()];
        let of = |all: &[Tensor]| Weights { input: all[1].clone(), state: all[2].clone(), bias: all[3].clone() };
        let found = grad(
            |all| (&scanned(&of(all), &all[0], width, start().into())?.outputs[0] * &weights)?.reduce_sum(..),
            &inputs[..],
        )?;
        let want = grad(
            |all| {
                let mut total = RaggedTensor::from_nested([0.0f32], device)?.reduce_sum(..)?.into_erased();
                for row in 0..lengths.len() {
                    let of_row = weights.slice(s![row])?;
                    for (k, h) in looped(&of(all), &all[0], row, width, start(), false)?.iter().enumerate() {
                        total = total.add(&h.multiply(&of_row.slice(s![k..k + 1])?)?.reduce_sum(..)?)?;
                    }
                }
                Ok(total)
            },
            &inputs[..],
        )?;
        let numbers = |x: &Tensor| bits(x).into_iter().map(f32::from_bits).collect::<Vec<f32>>();
        for (k, (found, want)) in found.iter().zip(&want).enumerate() {
            for (a, b) in numbers(found).iter().zip(numbers(want)) {
                assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{name}, input {k}: {a} {b}");
            }
        }
        let found: Vec<Vec<u32>> = found.iter().map(bits).collect();
        assert_eq!(*first.get_or_insert(found.clone()), found, "{name}");
    }
    Ok(())
}
