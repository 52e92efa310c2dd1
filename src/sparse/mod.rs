//! Sparse tensors in coordinate (COO) format: coordinates, a value per coordinate, and a shape.
//!
//! A [`SparseTensor`] is made of two dense tensors. Its operations record those of [`Tensor`] and the same primitives:
//!
//! ```text
//! coordinates   the coordinates of an entry as expressions, subject to the conditions of the tensor
//! keys          row-major sort keys of some of the dimensions, in words of 32 bits; sorting by them
//! groups        runs of entries with equal keys: coalescing, reductions, softmax
//! position      the row-major position of an entry in a dense result
//! ```
//!
//! Each of the other files holds one family of operations.

mod bincount;
mod bincount_of_entries;
mod bincount_weighted;
mod concat;
mod coordinates;
mod cross;
mod dense;
mod eye;
mod fill_empty_rows;
mod groups;
mod host;
mod indicator;
mod keys;
mod lookup;
mod mask;
mod matmul;
mod merge;
mod order;
mod position;
mod ragged;
mod reduce;
mod reshape;
mod slice;
mod softmax;
mod transpose;

pub use concat::{ConcatAxis, expanding};
pub use host::HostSparseTensor;

use std::fmt;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Check;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::integer::{Integer, non_negative};
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

use coordinates::Coordinates;

/// A sparse tensor of any dtype: value `i` is at coordinates `indices[i]`; all other elements are absent.
///
/// ```text
/// [[1, ., ., .],        indices       [[0, 0], [1, 2]]      i64, a row of coordinates per entry
///  [., ., 2, .],        values        [1, 2]
///  [., ., ., .]]        dense_shape   [3, 4]
/// ```
///
/// An *entry* is a value with its coordinates. Coordinates must lie within the dense shape, which every operation
/// checks on the device. Entries may have any order, and several may have equal coordinates. Operations that need
/// entries in row-major order, or distinct coordinates, say so and check it: [`reorder`](Self::reorder) sorts the
/// entries, [`coalesce`](Self::coalesce) also adds up those with equal coordinates. A failed check is an error of every
/// read that depends on it; the tensor stays as it is.
///
/// A dimension may have any size up to 2^63 - 1; only dense results and ragged rows are limited to fewer than 2^32
/// elements. The dtype of values is any, byte strings included. Immutable, and cheap to clone.
#[derive(Debug, Clone)]
pub struct SparseTensor {
    indices: Tensor,
    values: Tensor,
    dense_shape: Vec<u64>,
    /// What is known about the order of the entries.
    order: Order,
    /// Conditions on the coordinates, which operations attach to their results.
    conditions: Vec<Node>,
}

/// Knowledge about the order of entries, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// None.
    Any,
    /// Row-major order; coordinates may be equal.
    Sorted,
    /// Row-major order of distinct coordinates.
    Distinct,
}

/// A size of a dense shape, below 2^63 - 1.
///
/// # Errors
/// A negative or a larger size.
#[track_caller]
fn dense_size(op: &'static str, size: impl Integer) -> Result<u64> {
    match non_negative(op, "a size of the dense shape", size)? {
        n if n >= i64::MAX as u64 => Err(Error::argument(op, "a size of the dense shape must be below 2^63 - 1")),
        n => Ok(n),
    }
}

impl SparseTensor {
    /// Assembles a sparse tensor from `indices`, integers of shape `[n, rank]`, and `values` of shape `[n]`.
    ///
    /// Indices of any integer dtype become i64; those that are i64 are neither computed nor copied.
    ///
    /// # Errors
    /// Other shapes or dtypes; parts on different devices; a size that is negative, or 2^63 - 1 or more. At the read of
    /// what an operation gives: coordinates that are negative or beyond the dense shape; as many values as the device
    /// finds, but another number of indices.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let device = Device::cpu();
    /// let indices = RaggedTensor::from_nested([[0i64, 0], [1, 2]], &device)?;
    /// let values = RaggedTensor::from_nested([1.0f32, 2.0], &device)?;
    /// let x = SparseTensor::new(&indices, &values, &[2, 3])?;
    /// assert_eq!(x.dense_shape(), [2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.SparseTensor`.
    #[track_caller]
    pub fn new<I: Integer>(
        indices: &impl AsRef<Tensor>,
        values: &impl AsRef<Tensor>,
        dense_shape: &[I],
    ) -> Result<Self> {
        const OP: &str = "SparseTensor";
        let (indices, values) = (indices.as_ref(), values.as_ref());
        Device::check_same(OP, indices.backend(), values.backend())?;
        if !indices.dtype().is_integer() {
            return Err(Error::unsupported(OP, indices.dtype(), "indices must be integers"));
        }
        // An index beyond i64 becomes negative, which is out of range as well.
        let indices = &indices.cast(DType::I64)?;
        let rank = dense_shape.len();
        let fits = indices.ragged_rank() == 0
            && values.ragged_rank() == 0
            && indices.rank() == 2
            && values.rank() == 1
            && indices.shape()[1] == Some(rank);
        let location = caller();
        let misfit = || Error::Shape {
            op: OP,
            lhs: indices.shape_text(),
            rhs: values.shape_text(),
            what: format!("indices must be [n, {rank}] and values [n] for {rank} dimensions"),
            location,
        };
        if !fits {
            return Err(misfit());
        }
        let check = Check::new(OP, "there must be as many values as indices");
        let same = indices.nrows_extent().agrees(&values.nrows_extent());
        let same = same.condition(Recorder::new(indices.backend(), OP), check, |_| misfit())?;
        let size = |&d: &I| dense_size(OP, d);
        let dense_shape = dense_shape.iter().map(size).collect::<Result<_>>().map_err(here())?;
        let mut x = Self::of_parts(indices.clone(), values.clone(), dense_shape, Order::Any);
        let check = Check::new(OP, "indices must be at least 0 and below the dense shape");
        let inside = Coordinates::new(OP, &x)?.are_inside(&x.dense_shape);
        x.conditions.extend(same);
        x.conditions.push(Node::assert(x.backend(), x.count(), inside, check));
        Ok(x)
    }

    /// Uploads a sparse tensor: coordinates and a value for each entry, in any order.
    ///
    /// # Errors
    /// Different numbers of coordinates and values; a size of 2^63 - 1 or more; coordinates that are negative or beyond the
    /// dense shape; more than the device can hold.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?;
    /// assert_eq!(
    ///     x.to_dense(0)?.to_string(),
    ///     "tensor([[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]], shape=(3, 4), dtype=i32)"
    /// );
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_entries<T: crate::Element, const RANK: usize>(
        coordinates: &[[i64; RANK]],
        values: impl IntoValues<T>,
        dense_shape: [u64; RANK],
        device: &Device,
    ) -> Result<Self> {
        const OP: &str = "from_entries";
        let outside = |&(_, &index): &(usize, &[i64; RANK])| {
            (0..RANK).any(|d| u64::try_from(index[d]).map_or(true, |c| c >= dense_shape[d]))
        };
        if let Some((at, index)) = coordinates.iter().enumerate().find(outside) {
            let what =
                format!("the coordinates {index:?} of entry {at} are outside of the dense shape {dense_shape:?}");
            return Err(Error::argument(OP, what));
        }
        let flat: Vec<i64> = coordinates.concat();
        let indices = RaggedTensor::<i64>::dense(&flat, &[coordinates.len(), RANK], device).map_err(|e| e.of(OP))?;
        let values = values.into_values(device).map_err(|e| e.of(OP)).map_err(here())?;
        Self::new(&indices, &values, &dense_shape)
    }

    /// A tensor whose coordinates are in the order `order`, and lie within the dense shape.
    fn of_parts(indices: Tensor, values: Tensor, dense_shape: Vec<u64>, order: Order) -> Self {
        Self { indices, values, dense_shape, order, conditions: Vec::new() }
    }

    /// Adds conditions that everything computed from the entries depends on: those of the tensors that it is made of.
    fn subject_to(mut self, conditions: &[Node]) -> Self {
        self.conditions.extend_from_slice(conditions);
        self
    }

    /// The coordinates of the values: i64, `[n, rank]`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.indices().to_nested()?.to_string(), "[[0, 0], [0, 1], [1, 0]]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn indices(&self) -> &Tensor {
        &self.indices
    }
    /// The values: `[n]`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.values().to_nested()?.to_string(), "[5, 6, 7]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn values(&self) -> &Tensor {
        &self.values
    }
    /// The shape of the equivalent dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.dense_shape(), [2, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dense_shape(&self) -> &[u64] {
        &self.dense_shape
    }
    /// Number of dimensions.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.rank(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.dense_shape.len()
    }
    /// The element type.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.dtype(), DType::I32);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }
    /// The device that the tensor lives on.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.device(), Device::cpu());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn device(&self) -> Device {
        self.values.device()
    }

    fn backend(&self) -> &BackendRef {
        self.values.backend()
    }
    /// Number of entries.
    fn count(&self) -> Extent {
        self.values.nrows_extent()
    }

    /// Normalizes a negative axis.
    ///
    /// # Errors
    /// `axis < -rank` or `axis >= rank`.
    #[track_caller]
    fn axis(&self, op: &'static str, axis: impl Integer) -> Result<usize> {
        let (axis, rank) = (axis.saturating_i64(), self.rank());
        if axis < -(rank as i64) || axis >= rank as i64 {
            return Err(Error::Axis { op, axis, rank, location: caller() });
        }
        Ok(axis.rem_euclid(rank as i64) as usize)
    }

    /// Fails unless both tensors have one dense shape, one dtype and one device.
    #[track_caller]
    fn check_alike(&self, op: &'static str, other: &Self) -> Result<()> {
        Device::check_same(op, self.backend(), other.backend())?;
        if self.dtype() != other.dtype() {
            return Err(Error::DTypes { op, lhs: self.dtype(), rhs: other.dtype(), location: caller() });
        }
        if self.dense_shape != other.dense_shape {
            let (lhs, rhs) = (format!("{:?}", self.dense_shape), format!("{:?}", other.dense_shape));
            return Err(Error::Shape {
                op,
                lhs,
                rhs,
                what: "the dense shapes must be equal".into(),
                location: caller(),
            });
        }
        Ok(())
    }

    /// Applies `function` to the values; the coordinates stay.
    ///
    /// The function must give a dense tensor of as many values; its dtype is free. The cost is that of the function.
    ///
    /// # Errors
    /// The errors of the function; another number of values.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0], [3]], [-1.5f32, 2.0], [4], &Device::cpu())?;
    /// assert_eq!(x.map_values(|v| v.abs())?.values().to_string(), "tensor([1.5, 2.0], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.map_values`, of one tensor.
    #[track_caller]
    pub fn map_values(&self, function: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Self> {
        const OP: &str = "map_values";
        let values = function(&self.values)?;
        Device::check_same(OP, self.backend(), values.backend())?;
        let location = caller();
        let misfit = |what: &str| {
            let (lhs, rhs) = (self.values.shape_text(), values.shape_text());
            Error::Shape { op: OP, lhs, rhs, what: what.into(), location }
        };
        if values.rank() != 1 || values.ragged_rank() > 0 {
            return Err(misfit("the function must give a vector"));
        }
        let check = Check::new(OP, "the function gives another number of values");
        let differ = |_| misfit("the function gives another number of values");
        let asserts =
            self.count().agrees(&values.nrows_extent()).condition(Recorder::new(self.backend(), OP), check, differ)?;
        Ok(Self { values: values.on_condition(OP, asserts.as_slice())?, ..self.clone() })
    }

    /// Copies the tensor to another device, through host memory; on its own device, the tensor itself.
    ///
    /// # Errors
    /// What the operations that give the tensor report at a read; more than the other device can hold; values of a
    /// dtype that it does not have.
    ///
    /// # Cost
    /// A read of coordinates and values, with one wait, and their upload.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.to_device(&Device::cpu())?.to_string(), x.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        if *device == self.device() {
            return Ok(self.clone());
        }
        Ok(Self { order: self.order, ..self.to_host()?.to_device(device)? })
    }
}

/// The components, read from the device: `SparseTensor(indices=…, values=…, dense_shape=[3, 4])`.
impl fmt::Display for SparseTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { indices, values, dense_shape, .. } = self;
        write!(f, "SparseTensor(indices={indices}, values={values}, dense_shape={dense_shape:?})")
    }
}
