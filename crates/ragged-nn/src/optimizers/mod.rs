//! Optimizers: how a step changes a variable by its gradient.

mod adagrad;
mod adam;
mod clipped;
mod lazy_adam;
mod rms_prop;
mod sgd;

pub use adagrad::Adagrad;
pub use adam::Adam;
pub use clipped::{Clip, Clipped};
pub use lazy_adam::LazyAdam;
pub use rms_prop::RmsProp;
pub use sgd::Sgd;

use ragged::{Result, Tensor};

/// How a training step changes a variable by its gradient.
///
/// An optimizer of your own records the new value with operations of tensors, once per variable:
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

    /// The tensors that the optimizer keeps for each variable, of the variable's shape and dtype; of f32 for 16-bit floats.
    fn slots(&self) -> Vec<Slot>;

    /// What is wrong with the options, if anything: the error of [`Training::trace`](crate::Training::trace).
    fn fault(&self) -> Option<String> {
        None
    }

    /// The gradients of all variables that are passed to [`Self::update`], from the gradients of the loss.
    ///
    /// # Errors
    /// Those of the operations.
    fn gradients(&self, gradients: Vec<Tensor>) -> Result<Vec<Tensor>> {
        Ok(gradients)
    }

    /// Whether the rows of a table whose gradient is 0 keep their values and their slots: a step then updates only the rows
    /// that the loss looks up, and [`Self::gradients`] and [`Self::update`] are given these rows of the gradient, of the
    /// variable and of the slots. No optimizer does that by default.
    ///
    /// ```
    /// use ragged_nn::{Adagrad, Adam, LazyAdam, Optimizer, Sgd};
    /// assert!(Sgd::default().updates_used_rows() && Adagrad::default().updates_used_rows());
    /// assert!(!Adam::default().updates_used_rows() && LazyAdam::default().updates_used_rows());
    /// assert!(!Sgd::default().momentum(0.9).updates_used_rows());
    /// ```
    fn updates_used_rows(&self) -> bool {
        false
    }

    /// The new value of a variable, then those of its slots, with the dtypes and shapes that they have.
    ///
    /// # Errors
    /// Those of the operations.
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>>;
}

/// A tensor that an optimizer keeps for each variable.
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
    /// The name of the variable.
    pub name: &'a str,
    /// The value before the step, in f32 if the variable holds 16-bit floats; of a table of which the step updates some rows,
    /// these rows.
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

/// The range of an option.
#[derive(Debug, Clone, Copy)]
enum Range {
    /// 0 or more.
    NotNegative,
    /// More than 0.
    Positive,
    /// From 0 to 1.
    Share,
    /// From 0 to less than 1.
    BelowOne,
}

/// The first option that is NaN, infinite or out of its range.
fn fault_of(options: &[(&str, f64, Range)]) -> Option<String> {
    options.iter().find_map(|&(name, value, range)| {
        let (fits, must) = match range {
            Range::NotNegative => (value >= 0.0, "finite and at least 0"),
            Range::Positive => (value > 0.0, "finite and more than 0"),
            Range::Share => ((0.0..=1.0).contains(&value), "at least 0 and at most 1"),
            Range::BelowOne => ((0.0..1.0).contains(&value), "at least 0 and less than 1"),
        };
        (!fits || !value.is_finite()).then(|| format!("{name} must be {must}, but is {value}"))
    })
}
