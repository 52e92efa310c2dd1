//! Adam.

use ragged::{Result, Tensor};

use super::{Optimizer, Range, Slot, Update, fault_of};
use crate::fault::argument;

/// Moving averages of the gradient and of its square, corrected for their first values.
///
/// `m += (g - m) * (1 - beta_1)`, `v += (g² - v) * (1 - beta_2)`, and in step `t`
/// `x -= rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) * m / (sqrt(v) + epsilon)`. All elements of a variable change in each
/// step, also rows of an embedding without a gradient.
///
/// ```
/// use ragged_nn::{Adam, Optimizer};
/// let adam = Adam::new(0.01).beta_1(0.8).beta_2(0.99).epsilon(1e-8);
/// assert_eq!(adam.slots().len(), 2);
/// ```
///
/// Source: `keras.optimizers.Adam`.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    learning_rate: f64,
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
}

/// Options.
impl Adam {
    /// Decays of 0.9 and 0.999, and an epsilon of 1e-7.
    pub fn new(learning_rate: f64) -> Self {
        Self { learning_rate, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-7 }
    }

    /// The decay of the average of the gradient.
    #[must_use]
    pub fn beta_1(self, beta_1: f64) -> Self {
        Self { beta_1, ..self }
    }

    /// The decay of the average of its square.
    #[must_use]
    pub fn beta_2(self, beta_2: f64) -> Self {
        Self { beta_2, ..self }
    }

    /// The number that is added to the root.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }
}

impl Default for Adam {
    /// A learning rate of 0.001.
    fn default() -> Self {
        Self::new(0.001)
    }
}

/// `1 - beta^step`, a scalar.
fn correction(beta: f64, step: &Tensor) -> Result<Tensor> {
    step.ones_like()?.subtract(&step.ones_like()?.multiply(beta)?.pow(step)?)
}

impl Optimizer for Adam {
    fn name(&self) -> &'static str {
        "adam"
    }
    fn learning_rate(&self) -> f64 {
        self.learning_rate
    }
    fn slots(&self) -> Vec<Slot> {
        vec![Slot::new("momentum", 0.0), Slot::new("velocity", 0.0)]
    }
    fn fault(&self) -> Option<String> {
        let epsilon = ("epsilon", self.epsilon, Range::NotNegative);
        fault_of(&[("beta_1", self.beta_1, Range::BelowOne), ("beta_2", self.beta_2, Range::BelowOne), epsilon])
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        let [m, v] = of.slots else { return Err(argument("Adam::update", "it has two slots")) };
        let scale = correction(self.beta_2, of.step)?.sqrt()?.truediv(&correction(self.beta_1, of.step)?)?;
        let rate = of.learning_rate.multiply(&scale)?;
        let m = m.add(&of.gradient.subtract(m)?.multiply(1.0 - self.beta_1)?)?;
        let v = v.add(&of.gradient.square()?.subtract(v)?.multiply(1.0 - self.beta_2)?)?;
        let by = m.multiply(&rate)?.truediv(&v.sqrt()?.add(self.epsilon)?)?;
        Ok(vec![of.variable.subtract(&by)?, m, v])
    }
}
