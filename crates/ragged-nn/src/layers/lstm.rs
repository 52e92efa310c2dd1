//! Long short-term memory.

use ragged::operation::named;
use ragged::{DType, HostTensor, HostValues, Result, ScannedRows, Tensor, s};

use super::check_floats;
use super::recurrent::{Recurrent, all_outputs, last_outputs, narrow, vectors, wide};
use crate::fault::argument;
use crate::initializer::Initializer;
use crate::variables::Variables;

const SCAN: &str = "Lstm::scan";

/// A layer of long short-term memory along the rows of a tensor of vectors.
///
/// `call`, `sequences` and `backwards` are methods of the trait [`Recurrent`], which must be in scope.
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
        named(SCAN, || self.scanned(v, x.as_ref(), states))
    }

    #[track_caller]
    fn zeros(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Vec<Tensor>> {
        const OP: &str = "Lstm::zeros";
        check_floats(OP, &self.name, v, x.as_ref())?;
        let state = named(OP, || zeros(v, x.as_ref().dtype(), self.units))?;
        Ok(vec![state.clone(), state])
    }

    #[track_caller]
    fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        named("Lstm::call", || last_outputs(self, v, x.as_ref()))
    }

    #[track_caller]
    fn sequences(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        named("Lstm::sequences", || all_outputs(self, v, x.as_ref()))
    }
}

/// The recurrence.
impl Lstm {
    /// [`Recurrent::scan`], within [`named`].
    fn scanned(&self, v: &Variables, x: &Tensor, states: &[Tensor]) -> Result<ScannedRows> {
        let name = &self.name;
        let (width, units) = (vectors(SCAN, name, v, x)?, self.units);
        if states.len() != 2 {
            let given = states.len();
            return Err(argument(SCAN, format!("layer {name:?} has the states h and c, but is given {given}")));
        }
        let made = |part: &str, shape: &[usize], first: Initializer| {
            v.made(SCAN, &format!("{name}/{part}"), x.dtype(), shape, &first)
        };
        let kernel = made("kernel", &[width, 4 * units], Initializer::GlorotUniform)?;
        let recurrent = made("recurrent_kernel", &[units, 4 * units], Initializer::Orthogonal)?;
        let mut z = x.matmul(&kernel)?;
        if self.has_bias {
            z = z.add(&made("bias", &[4 * units], Initializer::UnitForgetBias)?)?;
        }
        let (z, recurrent, states) = wide(SCAN, name, (&z, &recurrent), states, self.is_backwards)?;
        let found = z.scan_rows(states, |states, z| {
            let (h, c) = (&states[0], &states[1]);
            let z = (z + &h.matmul(&recurrent)?)?;
            let gate = |k: usize| z.slice(s![(k * units) as i64..((k + 1) * units) as i64]);
            let (i, f, g, o) = (gate(0)?.sigmoid()?, gate(1)?.sigmoid()?, gate(2)?.tanh()?, gate(3)?.sigmoid()?);
            let c = (&(&f * c)? + &(&i * &g)?)?;
            let h = (&o * &c.tanh()?)?;
            Ok((vec![h.clone(), c], vec![h]))
        })?;
        narrow(found, x.dtype())
    }
}

/// One state of zeros for all rows.
#[track_caller]
pub(super) fn zeros(v: &Variables, dtype: DType, units: usize) -> Result<Tensor> {
    let zeros = HostTensor::dense(&[1, units], HostValues::F32(vec![0.0; units]));
    zeros.to_device(v.device())?.cast(dtype)
}
