//! Activations.

use ragged::{Result, Tensor};

/// A function of elements that a layer ends with; a softmax is one of the last dimension.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// use ragged_nn::Activation;
/// let x = RaggedTensor::from_nested([vec![-1.0f32, 2.0], vec![]], &Device::cpu())?;
/// assert_eq!(Activation::Relu.call(&x)?.to_string(), "<ragged.RaggedTensor [[0.0, 2.0], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.activations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Activation {
    /// The values themselves.
    #[default]
    Linear,
    /// `max(x, 0)`.
    Relu,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// The Gaussian error linear unit, by the error function.
    Gelu,
    /// `x * sigmoid(x)`.
    Silu,
    /// `x` above 0, `exp(x) - 1` below.
    Elu,
    /// The softmax of the last dimension.
    Softmax,
}

/// Calls.
impl Activation {
    /// The activation of each value. The shape and the dtype stay.
    ///
    /// # Errors
    /// A dtype other than floats, unless the activation is linear.
    #[track_caller]
    pub fn call(self, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        let x = x.as_ref();
        match self {
            Self::Linear => Ok(x.clone()),
            Self::Relu => x.relu(),
            Self::Sigmoid => x.sigmoid(),
            Self::Tanh => x.tanh(),
            Self::Gelu => x.gelu(),
            Self::Silu => x.silu(),
            Self::Elu => x.elu(),
            Self::Softmax => x.softmax(-1),
        }
    }
}
