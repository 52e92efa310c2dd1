//! Long short-term memory.

use ragged::{DType, HostTensor, HostValues, Result, ScannedRows, Tensor, s};

use super::recurrent::{Recurrent, narrow, vectors, wide};
use crate::initializer::Initializer;
use crate::variables::Variables;

/// A layer of long short-term memory along the rows of a tensor of vectors; see [`Recurrent`].
///
/// With the gates `i`, `f`, `g`, `o` as the quarters of `x kernel + h recurrent_kernel + bias`, the states are
/// `c = sigmoid(f) c + sigmoid(i) tanh(g)` and `h = sigmoid(o) tanh(c)`; the output is `h`, the states are `[h, c]`.
///
/// The variables are `NAME/kernel`, `[width, 4 units]`, `NAME/recurrent_kernel`, `[units, 4 units]`, and `NAME/bias`,
/// `[4 units]`, of the dtype of the input. They begin as [`Initializer::GlorotUniform`], [`Initializer::Orthogonal`] and
/// [`Initializer::UnitForgetBias`].
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Lstm, Recurrent, Variables};
/// let device = Device::cpu();
/// let v = Variables::new(&device, Seed(7));
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [2.0]], vec![[3.0]]], &device)?;
/// let layer = Lstm::new("lstm", 2);
/// let whole = layer.scan(&v, &x, &layer.zeros(&v, &x)?)?;
/// assert_eq!(whole.outputs[0].shape(), [Some(2), None, Some(2)]);
/// assert_eq!(whole.states[1].shape(), [Some(2), Some(2)]);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.LSTM`.
#[derive(Debug, Clone, PartialEq)]
pub struct Lstm {
    name: String,
    units: usize,
    has_bias: bool,
    is_backwards: bool,
}

/// Making.
impl Lstm {
    /// A layer of that name, with so many numbers in its states.
    pub fn new(name: impl Into<String>, units: usize) -> Self {
        Self { name: name.into(), units, has_bias: true, is_backwards: false }
    }

    /// Leaves the bias out.
    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { has_bias: false, ..self }
    }
}

impl Recurrent for Lstm {
    fn backwards(self) -> Self {
        Self { is_backwards: true, ..self }
    }

    #[track_caller]
    fn scan(&self, v: &Variables, x: &impl AsRef<Tensor>, states: &[Tensor]) -> Result<ScannedRows> {
        const OP: &str = "Lstm::scan";
        let (x, name) = (x.as_ref(), &self.name);
        let (width, units) = (vectors(OP, name, v, x)?, self.units);
        let made = |part: &str, shape: &[usize], first: Initializer| {
            v.made(OP, &format!("{name}/{part}"), x.dtype(), shape, &first)
        };
        let kernel = made("kernel", &[width, 4 * units], Initializer::GlorotUniform)?;
        let recurrent = made("recurrent_kernel", &[units, 4 * units], Initializer::Orthogonal)?;
        let mut z = x.matmul(&kernel)?;
        if self.has_bias {
            z = z.add(&made("bias", &[4 * units], Initializer::UnitForgetBias)?)?;
        }
        let (z, recurrent, states) = wide(OP, name, (&z, &recurrent), states, self.is_backwards)?;
        let found = z.scan_rows(states, |states, z| {
            let [h, c] = states else { return Err(two_states(name, states.len())) };
            let z = (z + &h.matmul(&recurrent)?)?;
            let gate = |k: usize| z.slice(s![(k * units) as i64..((k + 1) * units) as i64]);
            let (i, f, g, o) = (gate(0)?.sigmoid()?, gate(1)?.sigmoid()?, gate(2)?.tanh()?, gate(3)?.sigmoid()?);
            let c = (&(&f * c)? + &(&i * &g)?)?;
            let h = (&o * &c.tanh()?)?;
            Ok((vec![h.clone(), c], vec![h]))
        })?;
        narrow(found, x.dtype())
    }

    fn zeros(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Vec<Tensor>> {
        let state = zeros(v, x.as_ref().dtype(), self.units)?;
        Ok(vec![state.clone(), state])
    }
}

fn two_states(name: &str, given: usize) -> ragged::Error {
    crate::fault::argument("Lstm::scan", format!("layer {name:?} has the states h and c, but is given {given}"))
}

/// One state of zeros for all rows.
pub(super) fn zeros(v: &Variables, dtype: DType, units: usize) -> Result<Tensor> {
    let zeros = HostTensor::dense(&[1, units], HostValues::F32(vec![0.0; units]));
    zeros.to_device(v.device())?.cast(dtype)
}
