//! Gradients that are clipped.

use ragged::{DType, Result, Tensor};

use super::{Optimizer, Range, Slot, Update, fault_of};

/// The limit of gradients.
///
/// ```
/// use ragged_nn::{Adam, Clip, Clipped};
/// let adam = Clipped::new(Adam::default(), Clip::GlobalNorm(1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Clip {
    /// Each number is at most this, and at least its negative.
    Value(f64),
    /// The Euclidean norm of each variable's gradient is at most this: a longer one is scaled down.
    Norm(f64),
    /// The Euclidean norm of all gradients together is at most this: all are scaled down. If it is infinite or NaN, all
    /// become NaN.
    GlobalNorm(f64),
}

/// An optimizer of clipped gradients.
///
/// ```
/// use ragged_nn::{Clip, Clipped, Optimizer, Sgd};
/// let sgd = Clipped::new(Sgd::new(0.5), Clip::Value(1.0));
/// assert_eq!(sgd.learning_rate(), 0.5);
/// ```
///
/// Source: `clipvalue`, `clipnorm` and `global_clipnorm` of `keras.optimizers.Optimizer`.
#[derive(Debug, Clone, PartialEq)]
pub struct Clipped<O> {
    optimizer: O,
    clip: Clip,
}

/// Making.
impl<O: Optimizer> Clipped<O> {
    /// The optimizer, of gradients within the limit.
    pub fn new(optimizer: O, clip: Clip) -> Self {
        Self { optimizer, clip }
    }
}

/// The sum of squares.
fn squares(x: &Tensor) -> Result<Tensor> {
    x.square()?.reduce_sum(..)
}

impl<O: Optimizer> Optimizer for Clipped<O> {
    fn name(&self) -> &'static str {
        self.optimizer.name()
    }
    fn learning_rate(&self) -> f64 {
        self.optimizer.learning_rate()
    }
    fn slots(&self) -> Vec<Slot> {
        self.optimizer.slots()
    }
    fn gradients(&self, gradients: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let gradients = self.optimizer.gradients(gradients)?;
        match self.clip {
            Clip::Value(limit) => gradients.iter().map(|g| g.clip_by_value(-limit, limit)).collect(),
            Clip::Norm(limit) => {
                let clipped = |g: &Tensor| g.multiply(limit)?.truediv(&squares(g)?.sqrt()?.maximum(limit)?);
                gradients.iter().map(clipped).collect()
            }
            Clip::GlobalNorm(limit) => {
                // In f64 if a variable holds f64, else in f32.
                let Some(widest) = gradients.iter().map(Tensor::dtype).max_by_key(|&dtype| dtype == DType::F64) else {
                    return Ok(gradients);
                };
                let mut sum = squares(&gradients[0].cast(widest)?)?;
                for g in &gradients[1..] {
                    sum = sum.add(&squares(&g.cast(widest)?)?)?;
                }
                let norm = sum.sqrt()?;
                let scale = norm.reciprocal()?.minimum(1.0 / limit)?.multiply(limit)?;
                // The difference is 0, or NaN for a norm that is not finite.
                let scale = scale.add(&norm.subtract(&norm)?)?;
                gradients.iter().map(|g| g.multiply(&scale.cast(g.dtype())?)).collect()
            }
        }
    }
    fn fault(&self) -> Option<String> {
        let limit = match self.clip {
            Clip::Value(limit) | Clip::Norm(limit) | Clip::GlobalNorm(limit) => limit,
        };
        self.optimizer.fault().or_else(|| fault_of(&[("the limit of gradients", limit, Range::Positive)]))
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        self.optimizer.update(of)
    }
}
