//! Dropout in training.

use ragged::{DType, Result, Tensor};

use super::check_floats;
use crate::fault::argument;
use crate::random;
use crate::variables::Variables;

/// Sets values to 0 at random in training steps, and scales the others so that the expected value stays.
///
/// A value is dropped with probability `rate` and divided by `1 - rate` otherwise. The dropped values depend on the seed of the
/// variables, the name of the layer, the number of the step, the number of the call of the layer in the step and the flat
/// position: each step and each call drops others, by the same plan, and both backends the same. Outside of training steps the
/// layer gives its input.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Dropout, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![]], &Device::cpu())?;
/// let y = Dropout::new("drop", 0.5).call(&v, &x)?;
/// assert_eq!(y.to_string(), x.to_string(), "not within a training step");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.Dropout`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dropout {
    name: String,
    rate: f64,
}

/// Making and calling.
impl Dropout {
    /// A layer of that name, which drops values with that probability.
    pub fn new(name: impl Into<String>, rate: f64) -> Self {
        Self { name: name.into(), rate }
    }

    /// The values of which some are 0 in a training step. The shape and the partitions stay.
    ///
    /// # Errors
    /// A rate that is not at least 0 and less than 1; a dtype other than floats; a scalar.
    ///
    /// # Cost
    /// Maps of some 100 operations per value in all.
    #[track_caller]
    pub fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        const OP: &str = "Dropout::call";
        let (name, rate, x) = (&self.name, self.rate, x.as_ref());
        check_floats(OP, name, v, x)?;
        if !(0.0..1.0).contains(&rate) {
            let what = format!("layer {name:?}: the rate must be at least 0 and less than 1, but is {rate}");
            return Err(argument(OP, what));
        }
        if x.rank() == 0 {
            return Err(argument(
                OP,
                format!("layer {name:?} takes a tensor of rank 1 or more, but is given a scalar"),
            ));
        }
        let Some(step) = v.step().filter(|_| rate > 0.0) else { return Ok(x.clone()) };
        let flat = x.flat_values()?;
        let key = random::key(v.seed(), name);
        let [first, second] = match v.calls_before(name) {
            0 => key,
            call => random::threefry(key, [call, 0]),
        };
        let step = step.cast(DType::U32)?.bitwise_xor(second)?;
        let words = random::words((first, &step), random::counters(&flat)?)?;
        // Integers on both sides: the comparison does not round.
        let threshold = (rate * f64::from(1u32 << 31) * 2.0).round().min(f64::from(u32::MAX)) as u32;
        let kept = words.greater_equal(threshold)?;
        let scaled = flat.multiply(1.0 / (1.0 - rate))?;
        x.with_flat_values(&kept.select(&scaled, 0.0)?)
    }
}
