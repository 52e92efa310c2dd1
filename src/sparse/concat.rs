//! Concatenation.

use super::coordinates::{Coordinates, indices_of};
use super::{Order, SparseTensor};
use crate::device::Device;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::setters::setters;
use crate::tensor::Tensor;

/// Axis of a concatenation; see [`expanding`]. Converts from any integer.
///
/// Options that are known at run time only:
///
/// ```
/// use ragged::opt::{ConcatAxis, expanding};
/// assert_eq!(ConcatAxis::from(1).expand(true), expanding(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConcatAxis {
    /// The axis.
    pub axis: i64,
    /// Whether the other dimensions may differ; the largest counts.
    pub expand: bool,
}

setters! {
    impl[] ConcatAxis {
        expand: bool;
    }
}

impl<I: Integer> From<I> for ConcatAxis {
    fn from(axis: I) -> Self {
        Self { axis: axis.saturating_i64(), expand: false }
    }
}

/// Concatenates tensors whose other dimensions differ: each takes the largest size of any tensor. TensorFlow's
/// `expand_nonconcat_dims`.
///
/// ```
/// use ragged::opt::expanding;
/// use ragged::{Device, SparseTensor};
/// let device = Device::cpu();
/// let x = SparseTensor::from_entries(&[[0, 1]], [1], [1, 2], &device)?;
/// let y = SparseTensor::from_entries(&[[2, 0]], [5], [3, 1], &device)?;
/// let joined = SparseTensor::concat(&[&x, &y], expanding(1))?;
/// assert_eq!(joined.to_dense(0)?.to_string(), "tensor([[0, 1, 0], [0, 0, 0], [0, 0, 5]], shape=(3, 3), dtype=i32)");
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn expanding(axis: impl Into<ConcatAxis>) -> ConcatAxis {
    ConcatAxis { expand: true, ..axis.into() }
}

/// Concatenation.
impl SparseTensor {
    /// Concatenates sparse tensors along `axis`.
    ///
    /// The dense shapes add up along the axis, and entries come out in row-major order. Unlike ragged rows, which are
    /// joined end to end, every row is as wide as the dense shape says. [`expanding`]`(axis)` lets the other dimensions
    /// differ.
    ///
    /// # Errors
    /// No tensors; `axis` out of range; dtypes or devices that differ; dense shapes that differ along other axes.
    ///
    /// # Cost
    /// A map over the entries of each tensor, and a sort of all entries by as many key bits as the dense shape takes.
    /// Along axis 0, entries that are known to be in order are not sorted. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// let twice = SparseTensor::concat(&[&x, &x], 1)?;
    /// assert_eq!(twice.to_dense(0)?.to_string(), "tensor([[5, 6, 5, 6], [7, 0, 7, 0]], shape=(2, 4), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.concat`.
    #[track_caller]
    pub fn concat(all: &[impl AsRef<Self>], axis: impl Into<ConcatAxis>) -> Result<Self> {
        const OP: &str = "SparseTensor::concat";
        let all: Vec<&Self> = all.iter().map(AsRef::as_ref).collect();
        let ConcatAxis { axis, expand } = axis.into();
        let Some(first) = all.first() else {
            return Err(Error::argument(OP, "there must be at least one tensor"));
        };
        let rec = first.recorder(OP);
        let axis = first.axis(rec, axis)?;
        let mut dense_shape = first.dense_shape.clone();
        dense_shape[axis] = 0;
        let (mut indices, mut values) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
        for x in &all {
            first.check_joins(rec, x, axis, expand)?;
            indices.push(x.shifted(rec, axis, dense_shape[axis])?);
            values.push(&x.values);
            for (d, (own, &other)) in dense_shape.iter_mut().zip(&x.dense_shape).enumerate() {
                *own = if d == axis { own.saturating_add(other) } else { (*own).max(other) };
            }
        }
        if dense_shape[axis] > i64::MAX as u64 {
            return Err(rec.argument(format!("dimension {axis} of the result must be at most 2^63 - 1")));
        }
        let (indices, values) = (Tensor::concat(&indices, 0)?, Tensor::concat(&values, 0)?);
        let least = all.iter().map(|x| x.order).min().unwrap_or(Order::Any);
        let order = if axis == 0 || all.len() == 1 { least } else { Order::Any };
        let joined = Self::of_parts(indices, values, dense_shape, order);
        let sorted = all.iter().fold(joined, |joined, x| joined.subject_to(&x.conditions)).sorted(rec)?;
        // Distinct coordinates stay distinct.
        Ok(Self { order: least.max(Order::Sorted), ..sorted })
    }

    /// Fails unless `other` can be concatenated to this tensor.
    #[track_caller]
    fn check_joins(&self, rec: Recorder<'_>, other: &Self, axis: usize, expand: bool) -> Result<()> {
        Device::check_same(rec.op, self.backend(), other.backend())?;
        if self.dtype() != other.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: self.dtype(), rhs: other.dtype(), location: caller() });
        }
        let (own, dims) = (&self.dense_shape, &other.dense_shape);
        let fits = own.len() == dims.len() && (expand || (0..own.len()).all(|d| d == axis || dims[d] == own[d]));
        if fits {
            return Ok(());
        }
        let what = match own.len() == dims.len() {
            true => format!("they may differ along axis {axis} only; expanding({axis}) takes the largest sizes"),
            false => "the ranks differ".into(),
        };
        Err(Error::Shape { op: rec.op, lhs: format!("{own:?}"), rhs: format!("{dims:?}"), what, location: caller() })
    }

    /// The coordinates, shifted by `by` along dimension `axis`.
    #[track_caller]
    fn shifted(&self, rec: Recorder<'_>, axis: usize, by: u64) -> Result<Tensor> {
        let coordinates = Coordinates::new(rec, self)?;
        if by == 0 {
            return coordinates.tensor(self);
        }
        let mut all = coordinates.all();
        all[axis] = coordinates.of(axis).add(Expr::number(by as i64));
        indices_of(rec, &self.count(), &all, &[])
    }
}

impl AsRef<Self> for SparseTensor {
    fn as_ref(&self) -> &Self {
        self
    }
}
