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
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// of dimensions as for [`GlorotUniform`](Self::GlorotUniform).
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
        self,
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
        let limit = u64::from(u32::MAX) - 1;
        let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64)).filter(|&n| n <= limit);
        let Some(count) = count.and_then(|n| usize::try_from(n).ok()) else {
            return Err(argument(op, format!("variable {name:?} of shape {shape:?} has more than {limit} values")));
        };
        let uniform = |low: f64, high: f64| -> Vec<f64> {
            random::uniform(random::key(seed, name), count).into_iter().map(|u| low + u * (high - low)).collect()
        };
        let values = match self {
            Self::Zeros => vec![0.0; count],
            Self::Ones => vec![1.0; count],
            Self::Constant(x) => vec![x; count],
            Self::Uniform { low, high } => uniform(low, high),
            Self::GlorotUniform => {
                let [fan_in, fan_out] = fans(shape);
                let limit = (6.0 / (fan_in + fan_out).max(1.0)).sqrt();
                uniform(-limit, limit)
            }
            Self::Orthogonal => {
                // Uniform numbers without 0, whose quantile is infinite.
                let p = uniform(f64::EPSILON / 2.0, 1.0);
                let normal = RaggedTensor::dense(p, &[count], &Device::cpu())?.ndtri()?.to_vec()?;
                let columns = shape.last().copied().unwrap_or(1);
                orthonormal(normal, count / columns.max(1), columns)
            }
            Self::UnitForgetBias => {
                let of_forget = count / 4..count / 2;
                (0..count).map(|k| f64::from(u8::from(of_forget.contains(&k)))).collect()
            }
            Self::TruncatedNormal { mean, std } => {
                let p = uniform(BELOW_MINUS_TWO, 1.0 - BELOW_MINUS_TWO);
                let z = RaggedTensor::dense(p, &[count], &Device::cpu())?.ndtri()?.to_vec()?;
                z.into_iter().map(|z| mean + std * z.clamp(-2.0, 2.0)).collect()
            }
        };
        // The CPU rounds to every dtype, also for devices without f64.
        HostTensor::dense(shape, HostValues::F64(values)).to_device(&Device::cpu())?.cast(dtype)?.to_device(device)
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
