//! Dense layers.

use ragged::{Result, Tensor};

use super::{check_floats, width};
use crate::activation::Activation;
use crate::initializer::Initializer;
use crate::variables::Variables;

/// A product by a kernel, plus a bias, through an activation: vectors of the last dimension become vectors of `units`
/// numbers.
///
/// The variables are `NAME/kernel`, `[width, units]`, and `NAME/bias`, `[units]`, of the dtype of the input; the width is
/// that of the first input. Partitions stay, with their empty rows; a vector with NaN gives NaN.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Activation, Dense, Initializer, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// let layer = Dense::new("hidden", 1)
///     .activation(Activation::Relu)
///     .kernel_initializer(Initializer::Constant(1.0))
///     .bias_initializer(Initializer::Constant(-4.0));
/// // Two sentences of vectors, the second one empty.
/// let x = RaggedTensor::from_nested([vec![[1.0f32, 2.0], [3.0, 4.0]], vec![]], &Device::cpu())?;
/// assert_eq!(layer.call(&v, &x)?.to_string(), "<ragged.RaggedTensor [[[0.0], [3.0]], []]>");
/// assert_eq!(Dense::new("plain", 4).without_bias().call(&v, &x)?.shape()[2], Some(4));
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.Dense`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    name: String,
    units: usize,
    activation: Activation,
    has_bias: bool,
    kernel: Initializer,
    bias: Initializer,
}

/// Making and calling.
impl Dense {
    /// A layer of that name, with so many numbers in its output vectors.
    ///
    /// The kernel begins as [`Initializer::GlorotUniform`], the bias as zeros.
    pub fn new(name: impl Into<String>, units: usize) -> Self {
        Self {
            name: name.into(),
            units,
            activation: Activation::Linear,
            has_bias: true,
            kernel: Initializer::GlorotUniform,
            bias: Initializer::Zeros,
        }
    }

    /// Ends the layer with an activation.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Leaves the bias out.
    #[must_use]
    pub fn without_bias(self) -> Self {
        Self { has_bias: false, ..self }
    }

    /// The first value of the kernel.
    #[must_use]
    pub fn kernel_initializer(self, kernel: Initializer) -> Self {
        Self { kernel, ..self }
    }

    /// The first value of the bias.
    #[must_use]
    pub fn bias_initializer(self, bias: Initializer) -> Self {
        Self { bias, ..self }
    }

    /// The output of the layer, which has the dimensions and partitions of `x` but the last one.
    ///
    /// # Errors
    /// A last dimension that is ragged or the only one; a dtype other than floats; another width or dtype than that of the
    /// variables.
    ///
    /// # Cost
    /// One matrix product, of the flat values.
    #[track_caller]
    pub fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        const OP: &str = "Dense::call";
        let x = x.as_ref();
        check_floats(OP, &self.name, v, x)?;
        let shape = [width(OP, &self.name, x)?, self.units];
        let kernel = v.made(OP, &format!("{}/kernel", self.name), x.dtype(), &shape, &self.kernel)?;
        let mut y = x.matmul(&kernel)?;
        if self.has_bias {
            let bias = v.made(OP, &format!("{}/bias", self.name), x.dtype(), &[self.units], &self.bias)?;
            y = y.add(&bias)?;
        }
        self.activation.call(&y)
    }
}
