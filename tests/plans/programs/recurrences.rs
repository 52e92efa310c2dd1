//! Functions along rows, and their gradients.

use ragged::{HostTensor, HostValues, Result, Tensor, opt, s};

use super::Program;

pub const PROGRAMS: &[Program] = &[
    ("states", |t| scanned(&t.wide, 1)),
    ("states_and_outputs", |t| {
        let zero = zeros(&t.x, 1)?.reshape([1])?;
        let out = t.x.scan_rows(opt::backwards([&zero]), |states, x| {
            let state = (&states[0] + x)?.greater(0.0)?.select(&(&states[0] * 0.5)?, x)?;
            Ok((vec![state.clone()], vec![(&state * x)?, states[0].exp()?]))
        })?;
        Ok([out.outputs, out.states].concat())
    }),
    ("gates", |t| scanned(&t.wide, 4)),
    ("gradient", |t| ragged::grad(|x| scanned(&x[0], 1)?[0].square()?.reduce_sum(..), [&t.wide])),
    ("gradient_of_gates", |t| ragged::grad(|x| scanned(&x[0], 4)?[0].square()?.reduce_sum(..), [&t.wide])),
];

fn zeros(x: &Tensor, width: usize) -> Result<Tensor> {
    HostTensor::dense(&[1, width], HostValues::F32(vec![0.0; width])).to_device(&x.device())
}

/// A cell of 2 states by one gate, or an LSTM cell of 2 units by four.
fn scanned(x: &Tensor, gates: usize) -> Result<Vec<Tensor>> {
    let matrix = |rows: usize, seed: usize| {
        let values = (0..rows * 2 * gates).map(|k| ((k * 37 + seed) % 16) as f32 / 16.0 - 0.5).collect();
        HostTensor::dense(&[rows, 2 * gates], HostValues::F32(values)).to_device(&x.device())
    };
    let (w, u, zero) = (matrix(3, 1)?, matrix(2, 5)?, zeros(x, 2)?);
    let z = x.matmul(&w)?;
    let out = match gates {
        1 => z.scan_rows([&zero], |states, z| {
            let state = (&states[0].matmul(&u)? + z)?.tanh()?;
            Ok((vec![state.clone()], vec![state]))
        })?,
        _ => z.scan_rows([&zero, &zero], |states, z| {
            let z = (&states[0].matmul(&u)? + z)?;
            let gate = |k: i64| z.slice(s![2 * k..2 * k + 2]);
            let cell = (&(&gate(1)?.sigmoid()? * &states[1])? + &(&gate(0)?.sigmoid()? * &gate(2)?.tanh()?)?)?;
            let state = (&gate(3)?.sigmoid()? * &cell.tanh()?)?;
            Ok((vec![state.clone(), cell], vec![state]))
        })?,
    };
    Ok(out.outputs)
}
