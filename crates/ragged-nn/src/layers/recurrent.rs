//! What recurrent layers have in common.

use ragged::opt::InitialStates;
use ragged::{DType, Result, ScannedRows, Tensor};

use super::{check_floats, width};
use crate::fault::argument;
use crate::variables::{Variables, computed_in};

/// Layers that run along the rows of a tensor of vectors, with states: [`Lstm`](super::Lstm), [`Gru`](super::Gru).
///
/// The first state is the output. Rows are those of the innermost ragged dimension, or of dimension 1 of a dense tensor:
/// `[n, (length), width]`. What depends only on the input is one matrix product of all elements. 16-bit floats are computed in
/// f32; the product, outputs and states are rounded to them.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Gru, Lstm, Recurrent, Variables};
/// let device = Device::cpu();
/// let v = Variables::new(&device, Seed(7));
/// let x = RaggedTensor::from_nested([vec![[1.0f32, 2.0], [3.0, 4.0]], vec![], vec![[5.0, 6.0]]], &device)?;
/// let last = Lstm::new("lines", 3).call(&v, &x)?;
/// assert_eq!(last.shape(), [Some(3), Some(3)]);
/// let all = Gru::new("words", 4).backwards().sequences(&v, &x)?;
/// assert_eq!(all.shape(), [Some(3), None, Some(4)]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub trait Recurrent: Sized {
    /// Runs rows from their ends. Outputs stay in the order of the elements of `x`; those of Keras's `go_backwards` have the
    /// reversed order.
    #[must_use]
    fn backwards(self) -> Self;

    /// The outputs of all elements and the states after the last element of each row, from initial states: one entry per
    /// row or one for all, `[n, units]` or `[1, units]`.
    ///
    /// # Errors
    /// A tensor without rows of vectors, a dtype other than floats, another width or dtype than that of the variables;
    /// initial states of another number, shape or dtype.
    #[track_caller]
    fn scan(&self, v: &Variables, x: &impl AsRef<Tensor>, initial: &[Tensor]) -> Result<ScannedRows>;

    /// Initial states of zeros for rows of that tensor.
    ///
    /// # Errors
    /// A dtype other than floats; another device than that of the variables.
    #[track_caller]
    fn zeros(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Vec<Tensor>>;

    /// The output of the last element of each row: zeros for empty rows.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    #[track_caller]
    fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        last_outputs(self, v, x.as_ref())
    }

    /// The outputs of all elements, in the rows of `x`.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    #[track_caller]
    fn sequences(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        all_outputs(self, v, x.as_ref())
    }
}

/// The output of the last element of each row.
#[track_caller]
pub(super) fn last_outputs(layer: &impl Recurrent, v: &Variables, x: &Tensor) -> Result<Tensor> {
    let mut states = layer.scan(v, x, &layer.zeros(v, x)?)?.states;
    if states.is_empty() {
        return Err(argument("Recurrent::call", "a recurrence without states"));
    }
    Ok(states.swap_remove(0))
}

/// The outputs of all elements.
#[track_caller]
pub(super) fn all_outputs(layer: &impl Recurrent, v: &Variables, x: &Tensor) -> Result<Tensor> {
    let mut outputs = layer.scan(v, x, &layer.zeros(v, x)?)?.outputs;
    if outputs.is_empty() {
        return Err(argument("Recurrent::sequences", "a recurrence without outputs"));
    }
    Ok(outputs.swap_remove(0))
}

/// The width of the vectors of a tensor of rows of vectors of floats.
#[track_caller]
pub(super) fn vectors(op: &'static str, layer: &str, v: &Variables, x: &Tensor) -> Result<usize> {
    check_floats(op, layer, v, x)?;
    let width = width(op, layer, x)?;
    if x.rank() == x.ragged_rank().max(1) + 2 {
        return Ok(width);
    }
    let is = crate::variables::described(x);
    Err(argument(op, format!("layer {layer:?} takes rows of vectors, but is given {is}")))
}

/// What a recurrence on `x` takes: its input and weights in the dtype that it computes in, and the initial states in that
/// direction.
#[track_caller]
pub(super) fn wide(
    op: &'static str,
    layer: &str,
    (x, weights): (&Tensor, &Tensor),
    states: &[Tensor],
    is_backwards: bool,
) -> Result<(Tensor, Tensor, InitialStates)> {
    let (own, dtype) = (x.dtype(), computed_in(x.dtype()));
    if let Some(other) = states.iter().map(Tensor::dtype).find(|of| *of != own) {
        return Err(argument(op, format!("layer {layer:?} is given {own}, but a state of {other}; cast one of them")));
    }
    let states = states.iter().map(|state| state.cast(dtype)).collect::<Result<Vec<_>>>()?;
    Ok((x.cast(dtype)?, weights.cast(dtype)?, InitialStates::from(states).reversed(is_backwards)))
}

/// The results in the dtype of the input.
#[track_caller]
pub(super) fn narrow(mut found: ScannedRows, dtype: DType) -> Result<ScannedRows> {
    for tensor in found.states.iter_mut().chain(&mut found.outputs) {
        *tensor = tensor.cast(dtype)?;
    }
    Ok(found)
}
