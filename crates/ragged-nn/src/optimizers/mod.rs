//! Optimisers: how a step changes a variable by its gradient.

mod adagrad;
mod adam;
mod clipped;
mod rms_prop;
mod sgd;

pub use adagrad::Adagrad;
pub use adam::Adam;
pub use clipped::{Clip, Clipped};
pub use rms_prop::RmsProp;
pub use sgd::Sgd;

use ragged::{Result, Tensor};

/// How a training step changes a variable by its gradient.
///
/// An optimiser of your own records the new value with operations of tensors, once per variable:
///
/// ```
/// use ragged::{Result, Tensor};
/// use ragged_nn::{Optimizer, Slot, Update};
/// /// A step of the same size in each direction: `x - rate * sign(g)`.
/// struct SignDescent;
/// impl Optimizer for SignDescent {
///     fn name(&self) -> &'static str {
///         "sign_descent"
///     }
///     fn learning_rate(&self) -> f64 {
///         0.01
///     }
///     fn slots(&self) -> Vec<Slot> {
///         vec![]
///     }
///     fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
///         let step = of.gradient.sign()?.multiply(of.learning_rate)?;
///         Ok(vec![of.variable.subtract(&step)?])
///     }
/// }
/// ```
pub trait Optimizer {
    /// The name, with which names of the state begin.
    fn name(&self) -> &'static str;

    /// The learning rate of the first step.
    fn learning_rate(&self) -> f64;

    /// The tensors that the optimiser keeps for each variable, of the variable's shape and dtype.
    fn slots(&self) -> Vec<Slot>;

    /// The gradients of all variables that are passed to [`Self::update`], from the gradients of the loss.
    ///
    /// # Errors
    /// Those of the operations.
    fn gradients(&self, gradients: Vec<Tensor>) -> Result<Vec<Tensor>> {
        Ok(gradients)
    }

    /// The new value of a variable, then those of its slots, with the dtypes and shapes that they have.
    ///
    /// # Errors
    /// Those of the operations.
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>>;
}

/// A tensor that an optimiser keeps for each variable.
///
/// ```
/// use ragged_nn::{Adagrad, Optimizer};
/// let slot = &Adagrad::new(0.01).slots()[0];
/// assert_eq!((slot.name, slot.initial), ("accumulator", 0.1));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Slot {
    /// The name.
    pub name: &'static str,
    /// The first value of all elements.
    pub initial: f64,
}

/// Making.
impl Slot {
    /// A slot of that name and first value.
    ///
    /// ```
    /// assert_eq!(ragged_nn::Slot::new("momentum", 0.0).name, "momentum");
    /// ```
    pub fn new(name: &'static str, initial: f64) -> Self {
        Self { name, initial }
    }
}

/// A variable in a training step, with all that [`Optimizer::update`] has to compute its new value: the example of
/// [`Optimizer`] uses it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Update<'a> {
    /// The value before the step.
    pub variable: &'a Tensor,
    /// The gradient, of the same shape and dtype.
    pub gradient: &'a Tensor,
    /// The values of the slots before the step, of the same shape and dtype.
    pub slots: &'a [Tensor],
    /// The learning rate of the step, a scalar of the same dtype.
    pub learning_rate: &'a Tensor,
    /// The number of the step, from 1: a scalar of the same dtype.
    pub step: &'a Tensor,
}
