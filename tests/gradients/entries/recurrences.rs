//! Functions along rows.

use ragged::opt::{InitialStates, backwards};
use ragged::{RaggedTensor, Result, Row, Tensor};

use crate::table::table;

/// A leaky sum, in two states of which one is the sum of the other.
fn step(states: &[Row], x: &Row) -> Result<(Vec<Row>, Vec<Row>)> {
    let leaky = (&(&states[0] * 0.5)? + &x.square()?)?.tanh()?;
    let sum = (&states[1] + &(&leaky * x)?)?;
    Ok((vec![leaky.clone(), sum.clone()], vec![(&sum * &leaky)?, states[0].clone()]))
}

fn scanned(x: &Tensor, initial: impl Into<InitialStates>) -> Result<Vec<Tensor>> {
    let out = x.scan_rows(initial, step)?;
    Ok([out.states, out.outputs].concat())
}

/// Initial states that depend on the tensor: its sum, and a constant.
fn sums(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let one = RaggedTensor::from_nested([0.5f64], &x.device())?;
    Ok((x.reduce_sum(1)?, one.into_erased()))
}

table! { recurrences on [Tensor] {
    scan_rows DR |x, y| sums(x).and_then(|(sum, one)| scanned(x, [&sum, &one]));
    scan_rows R |x, y| sums(x).and_then(|(sum, one)| scanned(x, backwards([&one, &sum])));
    scan_rows_of DR |x, y| {
        let (sum, one) = sums(x)?;
        Tensor::scan_rows_of(&[x, y], [&one, &sum], |states, of| step(states, &(&of[0] * &of[1])?)).map(|out| out.outputs)
    };
}}

table! { typed on [RaggedTensor] {
    scan_rows R |x, y| {
        let (sum, one) = sums(x.erased())?;
        x.scan_rows([&sum, &one], step).map(|out| out.outputs)
    };
}}
