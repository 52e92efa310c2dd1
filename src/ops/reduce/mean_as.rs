//! Means, variances and standard deviations in a float type of choice.

use super::Reduction;
use super::moments::{mean_dtype, root};
use crate::dtype::DType;
use crate::element::FloatElement;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::Averaged;
use crate::ops::IntoReduceAxes;
use crate::ops::operations;
use crate::tensor::{RaggedTensor, Tensor};

operations! {
    /// Means, variances and standard deviations in a float type of choice.
    const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Averaged;

    /// The mean of the values over the axes, in a float dtype of choice.
    ///
    /// NaN where there are no values. The sum of integers is exact, in 64 bits or more, whatever the dtype of the mean.
    /// It is rounded once to f32 (f64 for a mean in f64), divided by the count, and rounded to the dtype: a mean in f32
    /// of up to 2^24 values has a relative error of at most 2^-23. It needs no f64, which some GPUs emulate. Floats
    /// are summed in the wider one of their dtype and the dtype of the mean, f16 and bf16 in f32.
    ///
    /// # Errors
    /// A dtype that is no float; `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes): the division is an epilogue of the
    /// sum.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![16_777_217, 1], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.reduce_mean_as(DType::F32, 1)?.to_string(), "tensor([8388609.0, nan], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_mean_as(&self, dtype: DType, axis: impl IntoReduceAxes as reduce_axes) -> {dtype};
    alias "mean with dtype";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
    typed hand;

    /// The population variance of the values over the axes, in a float dtype of choice.
    ///
    /// NaN where there are no values, or where one is not finite. Floats are computed in the wider one of their dtype
    /// and the dtype of the variance, f16 and bf16 in f32, and rounded to the dtype. Integers need no f64, which
    /// some GPUs emulate: those of 32 and 64 bits are taken less the least one of their result, an exact difference that is
    /// rounded once to f32, so that large numbers close to each other keep their digits.
    ///
    /// # Errors
    /// A dtype that is no float; `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// Adjacent axes take one pass over the values, and one more for the least values of 32-bit and 64-bit integers in
    /// f32, f16 or bf16. Axes that are not adjacent take two passes, or three for floats and 64-bit integers. No wait,
    /// but with [`keep`](crate::opt::keep) of axis 0.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![16_777_217, 16_777_219], vec![]], &Device::cpu())?.into_erased();
    /// let variance = x.reduce_variance_as(DType::F32, 1)?;
    /// assert_eq!(variance.to_string(), "tensor([1.0, nan], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_variance_as(&self, dtype: DType, axis: impl IntoReduceAxes as reduce_axes) -> {dtype};
    alias "variance with dtype";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
    typed hand;

    /// The population standard deviation of the values over the axes, in a float dtype of choice.
    ///
    /// The square root of [`Tensor::reduce_variance_as`], taken before the variance is rounded to the dtype: NaN where
    /// there are no values, or where one is not finite. The range is that of [`Tensor::reduce_std`].
    ///
    /// # Errors
    /// A dtype that is no float; `axis` out of range or named twice; bool or string values.
    ///
    /// # Cost
    /// Adjacent axes take one pass over the values, and one more for the least values of 32-bit and 64-bit integers in
    /// f32, f16 or bf16. Axes that are not adjacent take two passes, or three for floats and 64-bit integers. No wait,
    /// but with [`keep`](crate::opt::keep) of axis 0.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![16_777_217, 16_777_221], vec![]], &Device::cpu())?.into_erased();
    /// assert_eq!(x.reduce_std_as(DType::F32, 1)?.to_string(), "tensor([2.0, nan], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn reduce_std_as(&self, dtype: DType, axis: impl IntoReduceAxes as reduce_axes) -> {dtype};
    alias "std with dtype";
    waits "with `keep` of axis 0, for the longest row";
    gradient yes;
    typed hand;
}

#[track_caller]
fn reduce_mean_as(x: &Tensor, dtype: DType, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_mean_as");
    let float = mean_in(rec, x.dtype(), dtype)?;
    let r = Reduction::new(rec, x, &axis.into())?;
    if r.stages.is_empty() {
        return r.tensor(Expr::load(rec.numbers(x)?, Expr::index()).cast(dtype));
    }
    r.tensor(x.mean_of(&r, float)?.0.cast(dtype))
}

#[track_caller]
fn reduce_variance_as(x: &Tensor, dtype: DType, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_variance_as");
    let float = mean_in(rec, x.dtype(), dtype)?.accumulator();
    let r = Reduction::new(rec, x, &axis.into())?;
    r.tensor(x.variance_of(&r, float)?.cast(dtype))
}

#[track_caller]
fn reduce_std_as(x: &Tensor, dtype: DType, axis: impl IntoReduceAxes) -> Result<Tensor> {
    let rec = x.recorder("reduce_std_as");
    let float = mean_in(rec, x.dtype(), dtype)?.accumulator();
    let r = Reduction::new(rec, x, &axis.into())?;
    r.tensor(root(x.variance_of(&r, float)?).cast(dtype))
}

/// The dtype in which a mean of `values`, which is rounded to `dtype`, is computed.
pub(in crate::ops) fn mean_in(rec: Recorder<'_>, values: DType, dtype: DType) -> Result<DType> {
    let own = mean_dtype(rec, values)?;
    if !dtype.is_float() {
        return Err(rec.unsupported(dtype, "a mean is f16, bf16, f32 or f64"));
    }
    let float = dtype.accumulator();
    Ok(if values.is_float() && own.accumulator().size() > float.size() { own } else { float })
}

/// Means, variances and standard deviations in a float type of choice.
impl<T: Averaged> RaggedTensor<T> {
    /// The mean of the values over the axes, in the float type `F`.
    ///
    /// NaN where there are no values. The sum of integers is exact, in 64 bits or more, whatever the type of the mean.
    /// It is rounded once to f32 (f64 for a mean in f64), divided by the count, and rounded to the type: a mean in f32
    /// of up to 2^24 values has a relative error of at most 2^-23. It needs no f64, which some GPUs emulate. Floats
    /// are summed in the wider one of their type and the type of the mean, f16 and bf16 in f32.
    ///
    /// # Errors
    /// `axis` out of range or named twice.
    ///
    /// # Cost
    /// One pass over the values, as for all [reductions](crate::arguments::Axes): the division is an epilogue of the
    /// sum.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![16_777_217, 1], vec![]], &Device::cpu())?;
    /// assert_eq!(x.reduce_mean_as::<f32>(1)?.to_string(), "tensor([8388609.0, nan], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// NumPy: `np.mean(x, dtype=np.float32)`.
    #[doc(alias = "mean with dtype")]
    #[track_caller]
    pub fn reduce_mean_as<F: FloatElement>(&self, axis: impl IntoReduceAxes) -> Result<RaggedTensor<F>> {
        RaggedTensor::try_from(self.erased().reduce_mean_as(F::DTYPE, axis)?)
    }

    /// The population variance of the values over the axes, in the float type `F`.
    ///
    /// NaN where there are no values, or where one is not finite. The numbers are those of
    /// [`Tensor::reduce_variance_as`]: integers need no f64, and large ones close to each other keep their digits.
    ///
    /// # Errors
    /// `axis` out of range or named twice.
    ///
    /// # Cost
    /// Adjacent axes take one pass over the values, and one more for the least values of 32-bit and 64-bit integers in
    /// f32, f16 or bf16. Axes that are not adjacent take two passes, or three for floats and 64-bit integers. No wait,
    /// but with [`keep`](crate::opt::keep) of axis 0.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![16_777_217, 16_777_219], vec![]], &Device::cpu())?;
    /// let variance = x.reduce_variance_as::<f32>(1)?;
    /// assert_eq!(variance.to_string(), "tensor([1.0, nan], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// NumPy: `np.var(x, dtype=np.float32)`.
    #[doc(alias = "variance with dtype")]
    #[track_caller]
    pub fn reduce_variance_as<F: FloatElement>(&self, axis: impl IntoReduceAxes) -> Result<RaggedTensor<F>> {
        RaggedTensor::try_from(self.erased().reduce_variance_as(F::DTYPE, axis)?)
    }

    /// The population standard deviation of the values over the axes, in the float type `F`.
    ///
    /// The square root of [`reduce_variance_as`](Self::reduce_variance_as), taken before the variance is rounded to the
    /// type: NaN where there are no values, or where one is not finite.
    ///
    /// # Errors
    /// `axis` out of range or named twice.
    ///
    /// # Cost
    /// Adjacent axes take one pass over the values, and one more for the least values of 32-bit and 64-bit integers in
    /// f32, f16 or bf16. Axes that are not adjacent take two passes, or three for floats and 64-bit integers. No wait,
    /// but with [`keep`](crate::opt::keep) of axis 0.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![16_777_217, 16_777_221], vec![]], &Device::cpu())?;
    /// assert_eq!(x.reduce_std_as::<f32>(1)?.to_string(), "tensor([2.0, nan], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// NumPy: `np.std(x, dtype=np.float32)`.
    #[doc(alias = "std with dtype")]
    #[track_caller]
    pub fn reduce_std_as<F: FloatElement>(&self, axis: impl IntoReduceAxes) -> Result<RaggedTensor<F>> {
        RaggedTensor::try_from(self.erased().reduce_std_as(F::DTYPE, axis)?)
    }
}
