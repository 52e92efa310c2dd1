//! Elementwise operations of one operand and a parameter.

use crate::dtype::DType;
use crate::element::{Arithmetic, Element, FloatElement, Number};
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::ops::operations;
use crate::record::elementwise::{Takes, math, number, parameter, rounded_once};
use crate::tensor::{BytesBound, Fill, Pick, RaggedTensor, Tensor};

operations! {
    /// Element-wise operations with parameters, constants and checks.
    const OPERATIONS: family "Element-wise, one operand" on RaggedTensor<T> where T: Element;

    /// Leaky ReLU: the value where it is positive, else `alpha` times the value.
    ///
    /// Shape and dtype stay, empty rows stay empty; NaN for NaN. f16 and bf16 are computed in f32 and rounded once. A
    /// [`Tensor`](crate::Tensor) of integers is converted to f32 first, as in TensorFlow.
    ///
    /// # Errors
    /// A tensor of bools or strings.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![2.0f32, -2.0], vec![], vec![-4.0]], &Device::cpu())?;
    /// assert_eq!(x.leaky_relu(0.25)?.to_string(), "<ragged.RaggedTensor [[2.0, -0.5], [], [-1.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn leaky_relu(&self, alpha: f64 = 0.2) -> T where T: FloatElement;
    tensorflow "tf.nn.leaky_relu";
    gradient yes;

    /// Gaussian error linear unit: each element times the standard normal distribution function of it.
    ///
    /// Shape and dtype stay, empty rows stay empty; NaN for NaN. f16 and bf16 are computed in f32 and rounded once.
    ///
    /// # Errors
    /// A dtype other than floats.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, 100.0], vec![], vec![-100.0]], &Device::cpu())?;
    /// assert_eq!(x.gelu()?.to_string(), "<ragged.RaggedTensor [[0.0, 100.0], [], [-0.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn gelu(&self) -> T where T: FloatElement;
    tensorflow "tf.nn.gelu";
    gradient yes;

    /// Gaussian error linear unit, with the distribution function approximated by a tanh of a cubic, within 1e-3.
    ///
    /// Each element is multiplied by the approximation. Shape and dtype stay, empty rows stay empty; NaN for NaN. f16
    /// and bf16 are computed in f32 and rounded once. [`gelu`](Self::gelu) is exact.
    ///
    /// # Errors
    /// A dtype other than floats.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![0.0f32, 100.0], vec![], vec![-100.0]], &Device::cpu())?;
    /// assert_eq!(x.gelu_tanh()?.to_string(), "<ragged.RaggedTensor [[0.0, 100.0], [], [-0.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn gelu_tanh(&self) -> T where T: FloatElement;
    tensorflow "tf.nn.gelu(…, approximate=True)";
    gradient yes;

    /// Each value clamped to the bounds: `low` for values below `low`, `high` for values above `high`.
    ///
    /// Shape and dtype stay, empty rows stay empty; NaN for NaN. The bounds are numbers, which take the tensor's dtype;
    /// TensorFlow also takes tensors. If `low` is above `high`, every number becomes `high`.
    ///
    /// # Errors
    /// A bound that the dtype cannot represent; a tensor of bools or strings.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![-9, 2], vec![], vec![9]], &Device::cpu())?;
    /// assert_eq!(x.clip_by_value(-5, 7)?.to_string(), "<ragged.RaggedTensor [[-5, 2], [], [7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn clip_by_value(&self, low: impl Into<Scalar> as Scalar, high: impl Into<Scalar> as Scalar) -> T where T: Arithmetic;
    alias "clamp", "clip";
    tensorflow "tf.clip_by_value";
    awkward "np.clip";
    polars "Expr.clip";
    gradient yes;
    typed hand;

    /// The tensor unchanged, with a check that no element is NaN or infinite.
    ///
    /// Shape and dtype stay, empty rows stay empty. The check is part of every computation that uses the result, and of
    /// none that does not.
    ///
    /// # Errors
    /// A dtype other than floats. At the read: an element that is not finite, with an error that begins with `message`.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1.0f32, f32::NAN], vec![]], &Device::cpu())?;
    /// let error = x.check_numerics("the loss")?.to_vec().unwrap_err();
    /// assert!(error.to_string().contains("the loss: NaN or infinity"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn check_numerics(&self, message: &str) -> T where T: FloatElement;
    tensorflow "tf.debugging.check_numerics";
    gradient yes;

    /// Ones, or `true`, in the shape of the tensor.
    ///
    /// Same dtype. The result shares the partitions of the tensor: empty rows stay empty.
    ///
    /// # Errors
    /// A tensor of strings.
    ///
    /// # Cost
    /// One map that reads nothing, and fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![-9, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.ones_like()?.to_string(), "<ragged.RaggedTensor [[1, 1], [], [1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn ones_like(&self) -> T where T: Number;
    tensorflow "tf.ones_like";
    awkward "ak.ones_like";
    gradient none "the result does not depend on the values";

    /// Zeros, `false` or empty strings in the shape of the tensor.
    ///
    /// Same dtype. The result shares the partitions of the tensor: empty rows stay empty.
    ///
    /// # Errors
    /// None of its own; a read reports what the tensor's shape depends on.
    ///
    /// # Cost
    /// One map that reads nothing, and fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![-9, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.zeros_like()?.to_string(), "<ragged.RaggedTensor [[0, 0], [], [0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn zeros_like(&self) -> T;
    tensorflow "tf.zeros_like";
    awkward "ak.zeros_like";
    gradient none "the result does not depend on the values";
}

#[track_caller]
fn leaky_relu(tensor: &Tensor, alpha: f64) -> Result<Tensor> {
    const OP: &str = "leaky_relu";
    let rec = tensor.recorder(OP);
    Takes::Numbers.check(OP, tensor.dtype())?;
    tensor.map_numbers(rec, |x| {
        let x = if x.dtype().is_float() { x } else { x.cast(DType::F32) };
        rounded_once([x], |[x]| {
            let (zero, alpha) = (number(x.dtype(), 0.0), parameter(x.dtype(), alpha));
            zero.lt(x.clone()).select(x.clone(), alpha.mul(x))
        })
    })
}

#[track_caller]
fn gelu(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("gelu");
    x.gelu_by(rec, false)
}

#[track_caller]
fn gelu_tanh(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("gelu_tanh");
    x.gelu_by(rec, true)
}

#[track_caller]
fn clip_by_value(tensor: &Tensor, low: impl Into<Scalar>, high: impl Into<Scalar>) -> Result<Tensor> {
    const OP: &str = "clip_by_value";
    let rec = tensor.recorder(OP);
    Takes::Numbers.check(OP, tensor.dtype())?;
    let (low, high) = (number_of(OP, low, tensor.dtype())?, number_of(OP, high, tensor.dtype())?);
    tensor.map_numbers(rec, |x| x.max(Expr::number(low)).min(Expr::number(high)))
}

#[track_caller]
fn check_numerics(tensor: &Tensor, message: &str) -> Result<Tensor> {
    let rec = tensor.recorder("check_numerics");
    Takes::Floats.check(rec.op, tensor.dtype())?;
    let what = format!("{message}: NaN or infinity");
    tensor.map_numbers(rec, |x| rec.checked(&what, x.clone().unary(UnaryOp::IsFinite), x))
}

#[track_caller]
fn ones_like(tensor: &Tensor) -> Result<Tensor> {
    const OP: &str = "ones_like";
    let rec = tensor.recorder(OP);
    Takes::NumbersAndBools.check(OP, tensor.dtype())?;
    tensor.map_numbers(rec, |x| number(x.dtype(), 1.0))
}

#[track_caller]
fn zeros_like(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("zeros_like");
    let (pick, count) = (Pick::Fill(Fill::zero(x.dtype())), x.count()?);
    let zeros = rec.rearranged(&count, &pick, BytesBound::at_most(0), &[])?;
    x.holding(zeros)
}

/// The number in this dtype.
///
/// # Errors
/// A number that the dtype cannot represent.
#[track_caller]
fn number_of(op: &'static str, value: impl Into<Scalar>, dtype: DType) -> Result<Scalar> {
    match Fill::Number(value.into()).of_dtype(op, dtype)? {
        Fill::Number(number) => Ok(number),
        Fill::String(_) => Err(Error::unsupported(op, DType::Str, "it takes numbers")),
    }
}

impl Tensor {
    #[track_caller]
    fn gelu_by(&self, rec: Recorder<'_>, approximate: bool) -> Result<Self> {
        Takes::Floats.check(rec.op, self.dtype())?;
        self.map_numbers(rec, |x| {
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
}

/// Element-wise operations with parameters.
impl<T: Arithmetic> RaggedTensor<T> {
    /// Each value clamped to the bounds: `low` for values below `low`, `high` for values above `high`.
    ///
    /// Shape and dtype stay, empty rows stay empty; NaN for NaN. If `low` is above `high`, every number becomes `high`.
    ///
    /// # Errors
    /// A bound that the dtype cannot represent.
    ///
    /// # Cost
    /// One map, which fuses with its producers and consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![-9, 2], vec![], vec![9]], &Device::cpu())?;
    /// assert_eq!(x.clip_by_value(-5, 7)?.to_string(), "<ragged.RaggedTensor [[-5, 2], [], [7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.clip_by_value`. Polars: `Expr.clip`.
    #[track_caller]
    pub fn clip_by_value(&self, low: impl Number, high: impl Number) -> Result<Self> {
        Self::try_from(self.erased().clip_by_value(low, high)?)
    }
}
