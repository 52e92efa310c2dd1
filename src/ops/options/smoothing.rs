//! Weights of exponential smoothing.

use crate::setters::setters;

/// The weights of [`Tensor::ewm_mean`](crate::Tensor::ewm_mean). Converts from the weight `alpha` of the newest element.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{Smoothing, span, unadjusted};
/// assert_eq!(Smoothing::from(0.5), span(3.0));
/// assert_eq!(span(3.0).adjust(false), unadjusted(0.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Smoothing {
    /// The weight of the newest element, in `(0, 1]`.
    pub alpha: f64,
    /// Whether the weights of each result are divided by their sum.
    pub adjust: bool,
}

setters! {
    impl[] Smoothing {
        alpha: f64;
        adjust: bool;
    }
}

impl From<f64> for Smoothing {
    fn from(alpha: f64) -> Self {
        Self { alpha, adjust: true }
    }
}

impl Smoothing {
    /// The weight of the newest element, or what is wrong with it.
    pub(crate) fn checked_alpha(self) -> Result<f64, String> {
        let alpha = self.alpha;
        if alpha > 0.0 && alpha <= 1.0 {
            return Ok(alpha);
        }
        Err(format!(
            "alpha must be above 0 and at most 1, but is {alpha}; a center of mass must be at least 0, a span at least \
             1, and a half-life positive"
        ))
    }
}

/// Weights of this center of mass, at least 0: `alpha = 1 / (1 + com)`.
///
/// ```
/// use ragged::opt::com;
/// assert_eq!(com(1.0).alpha, 0.5);
/// ```
pub fn com(com: f64) -> Smoothing {
    Smoothing::from(1.0 / (1.0 + com))
}

/// Weights of this span, at least 1: `alpha = 2 / (span + 1)`.
///
/// ```
/// use ragged::opt::span;
/// assert_eq!(span(3.0).alpha, 0.5);
/// ```
pub fn span(span: f64) -> Smoothing {
    Smoothing::from(2.0 / (span + 1.0))
}

/// Weights that are halved over this distance, which is positive: `alpha = 1 - exp(-ln 2 / half_life)`.
///
/// ```
/// use ragged::opt::half_life;
/// assert!((half_life(1.0).alpha - 0.5).abs() < 1e-15);
/// ```
pub fn half_life(half_life: f64) -> Smoothing {
    // A half-life of 0 would give 1.
    let is_positive = half_life > 0.0;
    Smoothing::from(if is_positive { -(-std::f64::consts::LN_2 / half_life).exp_m1() } else { f64::NAN })
}

/// Weights that are not divided by their sum: `y[i] = (1 - alpha) * y[i - 1] + alpha * x[i]`, with `y[0] = x[0]`.
///
/// ```
/// use ragged::opt::unadjusted;
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0, 4.0], vec![]], &Device::cpu())?;
/// assert_eq!(x.ewm_mean(unadjusted(0.5), 1)?.to_vec()?, [1.0, 1.5, 2.75]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn unadjusted(smoothing: impl Into<Smoothing>) -> Smoothing {
    smoothing.into().adjust(false)
}
