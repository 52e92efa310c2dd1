//! Gated recurrent units.

use ragged::operation::named;
use ragged::{Result, ScannedRows, Tensor, s};

use super::check_floats;
use super::lstm::zeros;
use super::recurrent::{Recurrent, all_outputs, last_outputs, narrow, vectors, wide};
use crate::fault::argument;
use crate::initializer::Initializer;
use crate::variables::{Variables, computed_in};

const SCAN: &str = "Gru::scan";

/// A layer of gated recurrent units along the rows of a tensor of vectors.
///
/// `call`, `sequences` and `backwards` are methods of the trait [`Recurrent`], which must be in scope.
///
/// With `a` as the thirds of `x kernel + bias[0]`, and `b` as those of `h recurrent_kernel + bias[1]`, the gates are
/// `z = sigmoid(a0 + b0)` and `r = sigmoid(a1 + b1)`, and the state and output is `h = z h + (1 - z) tanh(a2 + r b2)`.
///
/// The variables are `NAME/kernel`, `[width, 3 units]`, `NAME/recurrent_kernel`, `[units, 3 units]`, and `NAME/bias`,
/// `[2, 3 units]`, of the dtype of the input. They begin as [`Initializer::GlorotUniform`], [`Initializer::Orthogonal`] and
/// zeros.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Gru, Recurrent, Variables};
/// let device = Device::cpu();
/// let v = Variables::new(&device, Seed(7));
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [2.0]], vec![]], &device)?;
/// assert_eq!(Gru::new("gru", 2).call(&v, &x)?.shape(), [Some(2), Some(2)]);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.GRU`, with `reset_after`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gru {
    name: String,
    units: usize,
    has_bias: bool,
    is_backwards: bool,
}

/// Making.
impl Gru {
    /// A layer of that name, with so many numbers in its state.
    pub fn new(name: impl Into<String>, units: usize) -> Self {
        Self { name: name.into(), units, has_bias: true, is_backwards: false }
    }

    /// Leaves the bias out.
    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { has_bias: false, ..self }
    }
}

impl Recurrent for Gru {
    fn backwards(self) -> Self {
        Self { is_backwards: true, ..self }
    }

    #[track_caller]
    fn scan(&self, v: &Variables, x: &impl AsRef<Tensor>, states: &[Tensor]) -> Result<ScannedRows> {
        named(SCAN, || self.scanned(v, x.as_ref(), states))
    }

    #[track_caller]
    fn zeros(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Vec<Tensor>> {
        const OP: &str = "Gru::zeros";
        check_floats(OP, &self.name, v, x.as_ref())?;
        Ok(vec![named(OP, || zeros(v, x.as_ref().dtype(), self.units))?])
    }

    #[track_caller]
    fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        named("Gru::call", || last_outputs(self, v, x.as_ref()))
    }

    #[track_caller]
    fn sequences(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        named("Gru::sequences", || all_outputs(self, v, x.as_ref()))
    }
}

/// The recurrence.
impl Gru {
    /// [`Recurrent::scan`], within [`named`].
    fn scanned(&self, v: &Variables, x: &Tensor, states: &[Tensor]) -> Result<ScannedRows> {
        let name = &self.name;
        let (width, units) = (vectors(SCAN, name, v, x)?, self.units);
        if states.len() != 1 {
            let given = states.len();
            return Err(argument(SCAN, format!("layer {name:?} has the state h, but is given {given}")));
        }
        let made = |part: &str, shape: &[usize], first: Initializer| {
            v.made(SCAN, &format!("{name}/{part}"), x.dtype(), shape, &first)
        };
        let kernel = made("kernel", &[width, 3 * units], Initializer::GlorotUniform)?;
        let recurrent = made("recurrent_kernel", &[units, 3 * units], Initializer::Orthogonal)?;
        let (mut a, mut of_state) = (x.matmul(&kernel)?, None);
        if self.has_bias {
            let bias = made("bias", &[2, 3 * units], Initializer::Zeros)?;
            a = a.add(&bias.slice(s![0])?)?;
            of_state = Some(bias.slice(s![1])?.cast(computed_in(x.dtype()))?);
        }
        let (a, recurrent, states) = wide(SCAN, name, (&a, &recurrent), states, self.is_backwards)?;
        let found = a.scan_rows(states, |states, a| {
            let h = &states[0];
            let mut b = h.matmul(&recurrent)?;
            if let Some(bias) = &of_state {
                b = (&b + bias)?;
            }
            let part = |of: &ragged::Row, k: usize| of.slice(s![(k * units) as i64..((k + 1) * units) as i64]);
            let z = (&part(a, 0)? + &part(&b, 0)?)?.sigmoid()?;
            let r = (&part(a, 1)? + &part(&b, 1)?)?.sigmoid()?;
            let candidate = (&part(a, 2)? + &(&r * &part(&b, 2)?)?)?.tanh()?;
            let h = (&(&z * h)? + &(&(1.0 - &z)? * &candidate)?)?;
            Ok((vec![h.clone()], vec![h]))
        })?;
        narrow(found, x.dtype())
    }
}
