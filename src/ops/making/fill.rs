//! Tensors filled with one value, and dimension sizes as tensors.

use crate::dtype::DType;
use crate::element::{Element, Number};
use crate::error::{Error, Result, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::operations;
use crate::ops::{IntoOperand, IntoOperandOf};
use crate::record::operand::Operand;
use crate::shape::RaggedShape;
use crate::tensor::{BytesBound, Fill, Pick, RaggedTensor, Tensor, Values};

operations! {
    /// Tensors of one value.
    const OPERATIONS: family "Construction" on RaggedTensor<T> where T: Element;

    /// A tensor of the given shape, filled with one value.
    ///
    /// The value is a number, a string, or a tensor of rank 0, and determines the dtype. The result has the partitions
    /// of the shape itself. Empty rows stay empty.
    ///
    /// # Errors
    /// A value that is a tensor of rank 1 or more, or is on another device than the shape; a dtype that the device
    /// lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. Waits only for the size of a string that only the device has;
    /// [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RaggedTensor};
    /// let shape = RaggedShape::from_lengths(&[3.into(), [1, 0, 3].into()], &Device::cpu())?;
    /// assert_eq!(RaggedTensor::<i32>::fill(&shape, 7)?.to_string(), "<ragged.RaggedTensor [[7], [], [7, 7, 7]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn fill<'a>(shape: &RaggedShape, value: impl IntoOperandOf<'a, T> as operand) -> T;
    alias "full", "repeat";
    tensorflow "tf.fill";
    polars "pl.repeat";
    waits "for the size of a string that only the device has";
    gradient yes;
    call none;
    row none "it makes a tensor";

    /// A tensor of zeros (false, empty strings) of the given shape and dtype.
    ///
    /// The result has the partitions of the shape itself. Empty rows stay empty.
    ///
    /// # Errors
    /// A dtype that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedShape, Tensor};
    /// let shape = RaggedShape::from_lengths(&[2.into(), [3, 0].into()], &Device::cpu())?;
    /// assert_eq!(Tensor::zeros(&shape, DType::F32)?.to_string(), "<ragged.RaggedTensor [[0.0, 0.0, 0.0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn zeros(shape: &RaggedShape, dtype: DType) -> {dtype};
    tensorflow "tf.zeros";
    polars "pl.zeros";
    gradient none "the result does not depend on the values";
    call none;
    typed hand;
    row none "it makes a tensor";

    /// A tensor of ones (true) of the given shape and dtype.
    ///
    /// The result has the partitions of the shape itself. Empty rows stay empty.
    ///
    /// # Errors
    /// Strings; a dtype that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor, Tensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?;
    /// let ones = Tensor::ones(x.ragged_shape(), DType::Bool)?;
    /// assert_eq!(ones.to_string(), "<ragged.RaggedTensor [[True, True], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn ones(shape: &RaggedShape, dtype: DType) -> {dtype} where T: Number;
    tensorflow "tf.ones";
    polars "pl.ones";
    gradient none "the result does not depend on the values";
    call none;
    typed hand;
    row none "it makes a tensor";
}

#[track_caller]
fn fill<'a>(shape: &RaggedShape, value: impl IntoOperand<'a>) -> Result<Tensor> {
    const OP: &str = "fill";
    match value.into() {
        Operand::Tensor(t) if t.rank() == 0 => t.repeated_to(t.recorder(OP), shape),
        Operand::Tensor(t) => {
            Err(Error::argument(OP, format!("the value must be a scalar, but its shape is {}", t.shape_text())))
        }
        Operand::Value(value) => Tensor::filled(OP, shape, value),
    }
}

#[track_caller]
fn zeros(shape: &RaggedShape, dtype: DType) -> Result<Tensor> {
    Tensor::filled("zeros", shape, Fill::zero(dtype))
}

#[track_caller]
fn ones(shape: &RaggedShape, dtype: DType) -> Result<Tensor> {
    const OP: &str = "ones";
    if dtype == DType::Str {
        return Err(Error::unsupported(OP, dtype, "there is no string that is one"));
    }
    Tensor::filled(OP, shape, Fill::Number(Scalar::from_i64(dtype, 1)))
}

impl Tensor {
    #[track_caller]
    fn filled(op: &'static str, shape: &RaggedShape, value: Fill) -> Result<Self> {
        let rec = Recorder::new(&shape.backend, op);
        let count = shape.count(op)?;
        let bytes = match &value {
            Fill::Number(_) => 0,
            Fill::String(s) => u64::from(count.capacity()) * s.len() as u64,
        };
        let pick = Pick::Fill(value);
        let bound = BytesBound::at_most(bytes);
        let values = rec.rearranged(&count, &pick, bound, &shape.conditions)?;
        Self::new(&shape.backend, shape.partitions.clone(), shape.outer.clone(), shape.inner.clone(), values)
    }
}

/// Dimension sizes on the device, including those that the host does not know.
impl RaggedShape {
    /// Size of a uniform dimension, as an i64 scalar on the device: `DynamicRaggedShape.__getitem__`. One map, no wait.
    /// [`sizes`](Self::sizes) gives the sizes that the host knows.
    ///
    /// # Errors
    /// A ragged dimension, whose rows have no common length; an axis that the shape does not have.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// assert_eq!(x.ragged_shape().size(0)?.to_string(), "tensor(3, shape=(), dtype=i64)");
    /// assert!(x.ragged_shape().size(1).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self, axis: impl Integer) -> Result<Tensor> {
        let rec = Recorder::new(&self.backend, OP);
        let axis = axis.saturating_i64();
        const OP: &str = "RaggedShape::size";
        let axis = self.axis(OP, axis)?;
        let size = match axis.checked_sub(1) {
            None => self.nrows_extent().expr(),
            Some(below) => match self.partitions.get(below) {
                None => Expr::u32(self.inner[below - self.ragged_rank()]),
                Some(p) => p
                    .uniform_length()
                    .map(Expr::u32)
                    .ok_or_else(|| {
                        Error::argument(
                            OP,
                            format!("dimension {axis} of {} is ragged: its rows have no common length", self.text()),
                        )
                    })
                    .map_err(here())?,
            },
        };
        let node = rec.map(Extent::known(1), size.cast(DType::I64), &self.conditions);
        rec.tensor(Vec::new(), None, [], Values::Numbers(node))
    }
}

/// Tensors of one value.
impl<T: Element> RaggedTensor<T> {
    /// A tensor of zeros (false, empty strings) of the given shape.
    ///
    /// The result has the partitions of the shape itself. Empty rows stay empty.
    ///
    /// # Errors
    /// A type that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RaggedTensor};
    /// let shape = RaggedShape::from_lengths(&[2.into(), [3, 0].into()], &Device::cpu())?;
    /// assert_eq!(RaggedTensor::<f32>::zeros(&shape)?.to_string(), "<ragged.RaggedTensor [[0.0, 0.0, 0.0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.zeros`.
    #[track_caller]
    pub fn zeros(shape: &RaggedShape) -> Result<Self> {
        Tensor::zeros(shape, T::DTYPE)?.try_into()
    }
}

/// Tensors of one value.
impl<T: Number> RaggedTensor<T> {
    /// A tensor of ones (true) of the given shape.
    ///
    /// The result has the partitions of the shape itself. Empty rows stay empty.
    ///
    /// # Errors
    /// A type that the device lacks.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?;
    /// assert_eq!(RaggedTensor::<f32>::ones(x.ragged_shape())?.to_string(), "<ragged.RaggedTensor [[1.0, 1.0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.ones`.
    #[track_caller]
    pub fn ones(shape: &RaggedShape) -> Result<Self> {
        Tensor::ones(shape, T::DTYPE)?.try_into()
    }
}
