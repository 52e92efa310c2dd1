//! First values of variables.

use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result, Seed, Tensor};

use crate::fault::argument;
use crate::random;

/// Cumulative distribution of the standard normal distribution at -2.
const BELOW_MINUS_TWO: f64 = 0.022_750_131_948_179_21;

/// How a variable gets its first value.
///
/// Random values depend on the seed of the [`Variables`](crate::Variables), the name of the variable and the position
/// alone: not on the order in which variables are made, nor on the device.
///
/// ```
/// use ragged::{DType, Device, Seed};
/// use ragged_nn::{Initializer, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// let kernel = v.variable("kernel", DType::F32, &[3, 2], &Initializer::GlorotUniform)?;
/// let bias = v.variable("bias", DType::F32, &[2], &Initializer::Constant(0.5))?;
/// assert_eq!(bias.to_string(), "tensor([0.5, 0.5], shape=(2,), dtype=f32)");
/// # assert_eq!(kernel.rank(), 2);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.initializers`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Initializer {
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// One number.
    Constant(f64),
    /// Uniform between two numbers.
    Uniform {
        /// The least value.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// Uniform between -l and l, where l is the square root of 6 / (fan in + fan out). The last two dimensions are fan in
    /// and fan out, both multiplied by the dimensions before them; a vector has its length as both.
    GlorotUniform,
    /// A matrix whose rows or columns, whichever are fewer, are orthonormal: the Q of a QR decomposition of normal numbers,
    /// of dimensions as for [`GlorotUniform`](Self::GlorotUniform). The host computes it at the first call of a layer, in time
    /// proportional to `rows * columns * min(rows, columns)`: cubic in the units of a recurrent layer.
    Orthogonal,
    /// Zeros, but ones in the second quarter: the bias of the forget gate of an [`Lstm`](crate::Lstm).
    UnitForgetBias,
    /// Normal, without the values that are more than two standard deviations away from the mean.
    TruncatedNormal {
        /// The mean.
        mean: f64,
        /// The standard deviation before the truncation.
        std: f64,
    },
}

impl Initializer {
    /// The first value of the variable of that name.
    #[track_caller]
    pub(crate) fn value(
        &self,
        op: &'static str,
        name: &str,
        seed: Seed,
        dtype: DType,
        shape: &[usize],
        device: &Device,
    ) -> Result<Tensor> {
        let is_random = !matches!(self, Self::Zeros | Self::Ones | Self::Constant(_) | Self::UnitForgetBias);
        if dtype == DType::Str || is_random && !dtype.is_float() {
            return Err(argument(op, format!("variable {name:?}: {self:?} gives no values of {dtype}")));
        }
        if let Some(what) = self.fault() {
            return Err(argument(op, format!("variable {name:?}: {self:?}: {what}")));
        }
        let limit = u64::from(u32::MAX) - 1;
        let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64)).filter(|&n| n <= limit);
        let Some(count) = count.and_then(|n| usize::try_from(n).ok()) else {
            return Err(argument(op, format!("variable {name:?} of shape {shape:?} has more than {limit} values")));
        };
        let values = self.numbers(random::key(seed, name), shape, count)?;
        // Without an array of f64 where the variable holds f32; the CPU rounds to the other dtypes, also for devices without f64.
        let values = match dtype {
            DType::F32 => HostValues::F32(values.map(|x| x as f32).collect()),
            _ => HostValues::F64(values.collect()),
        };
        HostTensor::dense(shape, values).to_device(&Device::cpu())?.cast(dtype)?.to_device(device)
    }

    /// The values, one after another.
    fn numbers(&self, key: [u32; 2], shape: &[usize], count: usize) -> Result<Box<dyn Iterator<Item = f64>>> {
        let uniform = move |low: f64, high: f64| random::uniform(key, count).map(move |u| low + u * (high - low));
        Ok(match *self {
            Self::Zeros => Box::new(std::iter::repeat_n(0.0, count)),
            Self::Ones => Box::new(std::iter::repeat_n(1.0, count)),
            Self::Constant(x) => Box::new(std::iter::repeat_n(x, count)),
            Self::Uniform { low, high } => Box::new(uniform(low, high)),
            Self::GlorotUniform => {
                let [fan_in, fan_out] = fans(shape);
                let limit = (6.0 / (fan_in + fan_out).max(1.0)).sqrt();
                Box::new(uniform(-limit, limit))
            }
            Self::Orthogonal => {
                // Uniform numbers without 0, whose quantile is infinite.
                let p: Vec<f64> = uniform(f64::EPSILON / 2.0, 1.0).collect();
                let normal = RaggedTensor::dense(p, &[count], &Device::cpu())?.ndtri()?.to_vec()?;
                let columns = shape.last().copied().unwrap_or(1);
                Box::new(orthonormal(normal, count / columns.max(1), columns).into_iter())
            }
            Self::UnitForgetBias => {
                let of_forget = count / 4..count / 2;
                Box::new((0..count).map(move |k| f64::from(u8::from(of_forget.contains(&k)))))
            }
            Self::TruncatedNormal { mean, std } => {
                let p: Vec<f64> = uniform(BELOW_MINUS_TWO, 1.0 - BELOW_MINUS_TWO).collect();
                let z = RaggedTensor::dense(p, &[count], &Device::cpu())?.ndtri()?.to_vec()?;
                Box::new(z.into_iter().map(move |z| mean + std * z.clamp(-2.0, 2.0)))
            }
        })
    }
}

impl Initializer {
    /// What is wrong with the numbers of a distribution.
    fn fault(&self) -> Option<&'static str> {
        match *self {
            Self::Uniform { low, high } if !(high - low).is_finite() || low > high => {
                Some("the bounds must be finite, and `low` at most `high`")
            }
            Self::TruncatedNormal { mean, std } if !mean.is_finite() || !std.is_finite() || std < 0.0 => {
                Some("the mean must be finite, and the standard deviation finite and at least 0")
            }
            _ => None,
        }
    }
}

/// The matrix of so many rows and columns with its rows or columns made orthonormal, whichever are fewer, one after
/// another (Gram and Schmidt, twice, since the first pass leaves what was rounded).
fn orthonormal(mut values: Vec<f64>, rows: usize, columns: usize) -> Vec<f64> {
    let of_rows = rows <= columns;
    let (count, len) = if of_rows { (rows, columns) } else { (columns, rows) };
    let at = |k: usize, l: usize| if of_rows { k * columns + l } else { l * columns + k };
    for k in 0..count {
        for _ in 0..2 {
            for before in 0..k {
                let dot: f64 = (0..len).map(|l| values[at(k, l)] * values[at(before, l)]).sum();
                (0..len).for_each(|l| values[at(k, l)] -= dot * values[at(before, l)]);
            }
        }
        let norm = (0..len).map(|l| values[at(k, l)].powi(2)).sum::<f64>().sqrt();
        (0..len).for_each(|l| values[at(k, l)] /= norm);
    }
    values
}

/// Fan in and fan out.
fn fans(shape: &[usize]) -> [f64; 2] {
    let product = |sizes: &[usize]| sizes.iter().map(|&d| d as f64).product::<f64>();
    match shape {
        [] => [1.0; 2],
        [n] => [*n as f64; 2],
        [before @ .., i, o] => [product(before) * *i as f64, product(before) * *o as f64],
    }
}
