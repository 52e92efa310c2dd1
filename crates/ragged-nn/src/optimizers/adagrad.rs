//! Adagrad.

use ragged::{Result, Tensor};

use super::{Optimizer, Range, Slot, Update, fault_of};
use crate::fault::argument;

/// Divides the gradient by the root of the sum of its squares so far: `a += g²`, `x -= rate * g / sqrt(a + epsilon)`.
///
/// ```
/// use ragged_nn::{Adagrad, Optimizer};
/// let adagrad = Adagrad::new(0.01).initial_accumulator_value(0.5).epsilon(1e-6);
/// assert_eq!(adagrad.slots()[0].initial, 0.5);
/// ```
///
/// Source: `keras.optimizers.Adagrad`.
#[derive(Debug, Clone, PartialEq)]
pub struct Adagrad {
    learning_rate: f64,
    initial_accumulator_value: f64,
    epsilon: f64,
}

/// Options.
impl Adagrad {
    /// Sums that begin with 0.1, and an epsilon of 1e-7.
    pub fn new(learning_rate: f64) -> Self {
        Self { learning_rate, initial_accumulator_value: 0.1, epsilon: 1e-7 }
    }

    /// The first value of the sums.
    #[must_use]
    pub fn initial_accumulator_value(self, initial_accumulator_value: f64) -> Self {
        Self { initial_accumulator_value, ..self }
    }

    /// The number that is added under the root.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }
}

impl Default for Adagrad {
    /// A learning rate of 0.001.
    fn default() -> Self {
        Self::new(0.001)
    }
}

impl Optimizer for Adagrad {
    fn name(&self) -> &'static str {
        "adagrad"
    }
    fn learning_rate(&self) -> f64 {
        self.learning_rate
    }
    fn slots(&self) -> Vec<Slot> {
        vec![Slot::new("accumulator", self.initial_accumulator_value)]
    }
    fn fault(&self) -> Option<String> {
        let sum = ("initial_accumulator_value", self.initial_accumulator_value, Range::NotNegative);
        fault_of(&[sum, ("epsilon", self.epsilon, Range::NotNegative)])
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        let [sum] = of.slots else { return Err(argument("Adagrad::update", "it has one slot")) };
        let sum = sum.add(&of.gradient.square()?)?;
        let by = of.gradient.multiply(of.learning_rate)?.truediv(&sum.add(self.epsilon)?.sqrt()?)?;
        Ok(vec![of.variable.subtract(&by)?, sum])
    }
}
