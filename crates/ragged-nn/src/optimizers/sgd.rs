//! Gradient descent.

use ragged::{Result, Tensor};

use super::{Optimizer, Range, Slot, Update, fault_of};

/// Gradient descent, with or without momentum.
///
/// Without: `x -= rate * g`. With momentum `m = momentum * m - rate * g`, then `x += m`, or after Nesterov
/// `x += momentum * m - rate * g`.
///
/// ```
/// use ragged_nn::{Optimizer, Sgd};
/// let sgd = Sgd::new(0.1).momentum(0.9).nesterov(true);
/// assert_eq!((sgd.learning_rate(), sgd.slots().len()), (0.1, 1));
/// ```
///
/// Source: `keras.optimizers.SGD`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sgd {
    learning_rate: f64,
    momentum: f64,
    nesterov: bool,
}

/// Options.
impl Sgd {
    /// Descent without momentum.
    pub fn new(learning_rate: f64) -> Self {
        Self { learning_rate, momentum: 0.0, nesterov: false }
    }

    /// The momentum; 0 is none.
    #[must_use]
    pub fn momentum(self, momentum: f64) -> Self {
        Self { momentum, ..self }
    }

    /// Whether the momentum is Nesterov's.
    #[must_use]
    pub fn nesterov(self, nesterov: bool) -> Self {
        Self { nesterov, ..self }
    }
}

impl Default for Sgd {
    /// A learning rate of 0.01.
    fn default() -> Self {
        Self::new(0.01)
    }
}

impl Optimizer for Sgd {
    fn name(&self) -> &'static str {
        "sgd"
    }
    fn learning_rate(&self) -> f64 {
        self.learning_rate
    }
    fn slots(&self) -> Vec<Slot> {
        if self.momentum == 0.0 { Vec::new() } else { vec![Slot::new("momentum", 0.0)] }
    }
    fn fault(&self) -> Option<String> {
        fault_of(&[("momentum", self.momentum, Range::Share)])
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        let descent = of.gradient.multiply(of.learning_rate)?;
        let [m] = of.slots else { return Ok(vec![of.variable.subtract(&descent)?]) };
        let m = m.multiply(self.momentum)?.subtract(&descent)?;
        let by = if self.nesterov { m.multiply(self.momentum)?.subtract(&descent)? } else { m.clone() };
        Ok(vec![of.variable.add(&by)?, m])
    }
}
