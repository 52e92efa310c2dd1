//! Cells of recurrent networks.

use ragged::{Device, Result, Row, ScannedRows, Tensor, opt, s};

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
