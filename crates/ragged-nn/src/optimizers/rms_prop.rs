//! RMSprop.

use ragged::{Result, Tensor};

use super::{Optimizer, Range, Slot, Update, fault_of};
use crate::fault::argument;

/// Divides the gradient by the root of a moving average of its square.
///
/// `v = rho * v + (1 - rho) * g²` and `d = rate * g / sqrt(v + epsilon)`; centered, the square of the moving average of the
/// gradient is subtracted from `v` under the root. Then `x -= d`, or with momentum `m = momentum * m + d` and `x -= m`.
///
/// ```
/// use ragged_nn::{Optimizer, RmsProp};
/// let rms_prop = RmsProp::new(0.01).rho(0.95).momentum(0.5).centered(true).epsilon(1e-6);
/// let slots = rms_prop.slots();
/// assert_eq!(slots.iter().map(|slot| slot.name).collect::<Vec<_>>(), ["velocity", "momentum", "average_gradient"]);
/// ```
///
/// Source: `keras.optimizers.RMSprop`.
#[derive(Debug, Clone, PartialEq)]
pub struct RmsProp {
    learning_rate: f64,
    rho: f64,
    momentum: f64,
    epsilon: f64,
    centered: bool,
}

/// Options.
impl RmsProp {
    /// A decay of 0.9, an epsilon of 1e-7, no momentum, not centered.
    pub fn new(learning_rate: f64) -> Self {
        Self { learning_rate, rho: 0.9, momentum: 0.0, epsilon: 1e-7, centered: false }
    }

    /// The decay of the moving averages.
    #[must_use]
    pub fn rho(self, rho: f64) -> Self {
        Self { rho, ..self }
    }

    /// The momentum; 0 is none.
    #[must_use]
    pub fn momentum(self, momentum: f64) -> Self {
        Self { momentum, ..self }
    }

    /// The number that is added under the root.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// Whether the average is of the squared difference from the mean gradient.
    #[must_use]
    pub fn centered(self, centered: bool) -> Self {
        Self { centered, ..self }
    }
}

impl Default for RmsProp {
    /// A learning rate of 0.001.
    fn default() -> Self {
        Self::new(0.001)
    }
}

impl Optimizer for RmsProp {
    fn name(&self) -> &'static str {
        "rms_prop"
    }
    fn learning_rate(&self) -> f64 {
        self.learning_rate
    }
    fn slots(&self) -> Vec<Slot> {
        let momentum = (self.momentum > 0.0).then(|| Slot::new("momentum", 0.0));
        let average = self.centered.then(|| Slot::new("average_gradient", 0.0));
        [Some(Slot::new("velocity", 0.0)), momentum, average].into_iter().flatten().collect()
    }
    fn fault(&self) -> Option<String> {
        let momentum = ("momentum", self.momentum, Range::Share);
        fault_of(&[("rho", self.rho, Range::Share), momentum, ("epsilon", self.epsilon, Range::NotNegative)])
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        let g = of.gradient;
        let (velocity, momentum, average) = match (of.slots, self.momentum > 0.0, self.centered) {
            ([v], false, false) => (v, None, None),
            ([v, m], true, false) => (v, Some(m), None),
            ([v, a], false, true) => (v, None, Some(a)),
            ([v, m, a], true, true) => (v, Some(m), Some(a)),
            _ => return Err(argument("RmsProp::update", format!("{} slots are given", of.slots.len()))),
        };
        let decayed = |x: &Tensor, by: &Tensor| x.multiply(self.rho)?.add(&by.multiply(1.0 - self.rho)?);
        let velocity = decayed(velocity, &g.square()?)?;
        let average = average.map(|average| decayed(average, g)).transpose()?;
        let variance = match &average {
            Some(average) => velocity.subtract(&average.square()?)?,
            None => velocity.clone(),
        };
        let mut by = g.multiply(of.learning_rate)?.truediv(&variance.add(self.epsilon)?.sqrt()?)?;
        let mut slots = vec![velocity];
        if let Some(m) = momentum {
            by = m.multiply(self.momentum)?.add(&by)?;
            slots.push(by.clone());
        }
        let value = of.variable.subtract(&by)?;
        Ok([value].into_iter().chain(slots).chain(average).collect())
    }
}
