//! Layer normalization.

use ragged::opt::keep;
use ragged::{Result, Tensor};

use super::{check_floats, width};
use crate::fault::argument;
use crate::initializer::Initializer;
use crate::variables::{Variables, computed_in};

/// Scales each vector of the last dimension to mean 0 and variance 1, then by learnt factors and offsets.
///
/// `(x - mean) / sqrt(variance + epsilon) * gamma + beta`, with the population variance. The variables are `NAME/gamma` and
/// `NAME/beta`, `[width]`, of the dtype of the input. 16-bit floats are computed in f32, and rounded once. An empty row stays
/// empty; a vector with NaN is NaN.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{LayerNorm, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// let x = RaggedTensor::from_nested([vec![[1.0f32, 3.0]], vec![]], &Device::cpu())?;
/// let y = LayerNorm::new("norm").epsilon(1e-12).call(&v, &x)?;
/// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[[-1.0, 1.0]], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.LayerNormalization`.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerNorm {
    name: String,
    epsilon: f64,
}

/// Making and calling.
impl LayerNorm {
    /// A layer of that name. The epsilon is 0.001.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), epsilon: 1e-3 }
    }

    /// The number that is added to the variance.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// The normalized vectors. The shape and the partitions stay.
    ///
    /// # Errors
    /// A last dimension that is ragged or the only one; a dtype other than floats; another width or dtype than that of the
    /// variables; an epsilon that is negative, infinite or NaN.
    ///
    /// # Cost
    /// Two reductions of the last dimension, and a map.
    #[track_caller]
    pub fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        const OP: &str = "LayerNorm::call";
        let x = x.as_ref();
        check_floats(OP, &self.name, v, x)?;
        if !self.epsilon.is_finite() || self.epsilon < 0.0 {
            let what =
                format!("layer {:?}: the epsilon must be finite and at least 0, but is {}", self.name, self.epsilon);
            return Err(argument(OP, what));
        }
        let shape = [width(OP, &self.name, x)?];
        let gamma = v.made(OP, &format!("{}/gamma", self.name), x.dtype(), &shape, &Initializer::Ones)?;
        let beta = v.made(OP, &format!("{}/beta", self.name), x.dtype(), &shape, &Initializer::Zeros)?;
        // 16-bit floats hold neither squares of their values nor small epsilons.
        let wide = computed_in(x.dtype());
        let (y, gamma, beta) = (x.cast(wide)?, gamma.cast(wide)?, beta.cast(wide)?);
        let centered = y.subtract(&y.reduce_mean(keep(-1))?)?;
        let scale = y.reduce_variance(keep(-1))?.add(self.epsilon)?.rsqrt()?;
        centered.multiply(&scale)?.multiply(&gamma)?.add(&beta)?.cast(x.dtype())
    }
}
