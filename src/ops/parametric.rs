//! Elementwise operations of one operand and a parameter.

use super::elementwise::{Site, Takes, math, number, rounded_once};
use crate::element::{Arithmetic, Element, FloatElement};
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::tensor::{BytesBound, Fill, Pick, RaggedTensor, Tensor, Values};

impl Tensor {
    /// Leaky ReLU: the value where it is positive, else `alpha` times the value; NaN for NaN. The shape stays.
    ///
    /// # Errors
    /// A dtype other than floats.
    ///
    /// # Cost
    /// One map. Nothing is read back.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::F32(vec![2.0, -2.0])).to_device(&Device::cpu())?;
    /// assert_eq!(x.leaky_relu(0.25)?.to_host()?.values, HostValues::F32(vec![2.0, -0.5]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.nn.leaky_relu`.
    pub fn leaky_relu(&self, alpha: f64) -> Result<Self> {
        const OP: &str = "leaky_relu";
        Takes::Floats.check(OP, self.dtype())?;
        self.map_numbers(OP, |x| {
            rounded_once([x], |[x]| {
                let (zero, alpha) = (number(x.dtype(), 0.0), number(x.dtype(), alpha));
                zero.lt(x.clone()).select(x.clone(), alpha.mul(x))
            })
        })
    }

    /// Gaussian error linear unit: `x` times the standard normal CDF of `x`, by the error function, or `approximate`ly
    /// by a tanh of a cubic. The shape stays; NaN for NaN.
    ///
    /// # Errors
    /// A dtype other than floats.
    ///
    /// # Cost
    /// One map. Nothing is read back.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::F32(vec![0.0, 100.0])).to_device(&Device::cpu())?;
    /// assert_eq!(x.gelu(false)?.to_host()?.values, HostValues::F32(vec![0.0, 100.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.nn.gelu`.
    pub fn gelu(&self, approximate: bool) -> Result<Self> {
        const OP: &str = "gelu";
        Takes::Floats.check(OP, self.dtype())?;
        self.map_numbers(OP, |x| {
            rounded_once([x], |[x]| {
                let n = |v: f64| number(x.dtype(), v);
                let bell = if approximate {
                    let cube = x.clone().mul(x.clone()).mul(x.clone());
                    let inside = x.clone().add(n(0.044_715).mul(cube));
                    math(MathFn::Tanh, n((2.0 / std::f64::consts::PI).sqrt()).mul(inside))
                } else {
                    math(MathFn::Erf, x.clone().mul(n(std::f64::consts::FRAC_1_SQRT_2)))
                };
                n(0.5).mul(x.clone()).mul(n(1.0).add(bell))
            })
        })
    }

    /// Clamps each value to the bounds: `low` for values below `low`, `high` for values above `high`; NaN for NaN. The
    /// shape stays; the bounds have the tensor's dtype. If `low` is above `high`, every number becomes `high`.
    ///
    /// # Errors
    /// A bound of another dtype; a tensor of bools or strings.
    ///
    /// # Cost
    /// One map. Nothing is read back.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[3], HostValues::I32(vec![-9, 2, 9])).to_device(&Device::cpu())?;
    /// assert_eq!(x.clip_by_value(-5, 7)?.to_host()?.values, HostValues::I32(vec![-5, 2, 7]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.clip_by_value`, for bounds that are numbers.
    pub fn clip_by_value(&self, low: impl Into<Scalar>, high: impl Into<Scalar>) -> Result<Self> {
        const OP: &str = "clip_by_value";
        let (low, high) = (low.into(), high.into());
        Takes::Numbers.check(OP, self.dtype())?;
        for bound in [low, high] {
            if bound.dtype() != self.dtype() {
                return Err(Error::DTypes { op: OP, lhs: self.dtype(), rhs: bound.dtype() });
            }
        }
        self.map_numbers(OP, |x| x.max(Expr::scalar(low)).min(Expr::scalar(high)))
    }

    /// The tensor unchanged, with a check that no element is NaN or infinite. The shape stays.
    ///
    /// # Errors
    /// A dtype other than floats. At the read: an element that is not finite, with an error that begins with `message`.
    ///
    /// # Cost
    /// One map. Nothing is read back here.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::F32(vec![1.0, f32::NAN])).to_device(&Device::cpu())?;
    /// assert!(x.check_numerics("the loss")?.to_host().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.debugging.check_numerics`.
    #[track_caller]
    pub fn check_numerics(&self, message: &str) -> Result<Self> {
        let site = Site::new("check_numerics");
        Takes::Floats.check(site.op, self.dtype())?;
        let what = format!("{message}: NaN or infinity");
        self.map_numbers(site.op, |x| site.checked(&what, x.clone().unary(UnaryOp::IsFinite), x))
    }

    /// Ones (or `true`) of the same shape and dtype.
    ///
    /// # Errors
    /// A tensor of strings.
    ///
    /// # Cost
    /// One map that reads nothing.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::I32(vec![-9, 2])).to_device(&Device::cpu())?;
    /// assert_eq!(x.ones_like()?.to_host()?.values, HostValues::I32(vec![1, 1]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.ones_like`.
    pub fn ones_like(&self) -> Result<Self> {
        const OP: &str = "ones_like";
        Takes::NumbersAndBools.check(OP, self.dtype())?;
        self.map_numbers(OP, |x| number(x.dtype(), 1.0))
    }

    /// Zeros, `false` or empty strings, of the same shape and dtype.
    ///
    /// # Errors
    /// An operation that the device does not support.
    ///
    /// # Cost
    /// One map that reads nothing.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let x = HostTensor::dense(&[2], HostValues::I32(vec![-9, 2])).to_device(&Device::cpu())?;
    /// assert_eq!(x.zeros_like()?.to_host()?.values, HostValues::I32(vec![0, 0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.zeros_like`.
    pub fn zeros_like(&self) -> Result<Self> {
        let (pick, count) = (Pick::Fill(Fill::zero(self.dtype())), self.count()?);
        let zeros = Values::rearranged(self.backend(), "zeros_like", &count, &pick, BytesBound::at_most(0), &[])?;
        self.holding(zeros)
    }
}

impl<T: FloatElement> RaggedTensor<T> {
    /// Leaky ReLU. As [`Tensor::leaky_relu`].
    ///
    /// # Errors
    /// An operation that the device does not support.
    pub fn leaky_relu(&self, alpha: f64) -> Result<Self> {
        Self::try_from(self.erased().leaky_relu(alpha)?)
    }

    /// Gaussian error linear unit. As [`Tensor::gelu`].
    ///
    /// # Errors
    /// An operation that the device does not support.
    pub fn gelu(&self, approximate: bool) -> Result<Self> {
        Self::try_from(self.erased().gelu(approximate)?)
    }

    /// The tensor unchanged, with a check that no element is NaN or infinite. As [`Tensor::check_numerics`].
    ///
    /// # Errors
    /// At the read: an element that is not finite.
    #[track_caller]
    pub fn check_numerics(&self, message: &str) -> Result<Self> {
        Self::try_from(self.erased().check_numerics(message)?)
    }
}

impl<T: Arithmetic> RaggedTensor<T> {
    /// Clamps each value to the bounds. As [`Tensor::clip_by_value`].
    ///
    /// # Errors
    /// An operation that the device does not support.
    pub fn clip_by_value(&self, low: T, high: T) -> Result<Self> {
        Self::try_from(self.erased().clip_by_value(low, high)?)
    }
}

impl<T: Element> RaggedTensor<T> {
    /// Ones (or `true`) of the same shape. As [`Tensor::ones_like`].
    ///
    /// # Errors
    /// A tensor of strings.
    pub fn ones_like(&self) -> Result<Self> {
        Self::try_from(self.erased().ones_like()?)
    }

    /// Zeros, `false` or empty strings, of the same shape. As [`Tensor::zeros_like`].
    ///
    /// # Errors
    /// An operation that the device does not support.
    pub fn zeros_like(&self) -> Result<Self> {
        Self::try_from(self.erased().zeros_like()?)
    }
}
