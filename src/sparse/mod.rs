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
mod create;
mod cross;
mod dense;
mod eye;
mod fill_empty_rows;
mod groups;
mod host;
mod indicator;
mod keys;
mod lookup;
mod map_values;
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
use crate::error::{Error, Result, caller};
use crate::graph::backend::BackendRef;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::tensor::Tensor;

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

/// Parts and sizes.
impl SparseTensor {
    /// The coordinates of the values: i64, `[n, rank]`.
    ///
    /// Row `i` has the coordinates of entry `i`, in the order of the entries. No pass, no wait. Reads of this part
    /// check nothing; those of [`SparseTensor::to_host`] check the coordinates.
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
    /// The values of the entries: `[n]`, of the dtype of the tensor.
    ///
    /// In the order of the entries. No pass, no wait.
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
    /// The shape of the equivalent dense tensor: a size for each dimension.
    ///
    /// Known on the host: no pass, no wait.
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
    /// Number of dimensions: coordinates per entry.
    ///
    /// Known on the host: no pass, no wait.
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
    /// The element type: that of the values.
    ///
    /// Known on the host: no pass, no wait.
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
}

impl SparseTensor {
    /// A tensor whose coordinates are in the order `order`, and lie within the dense shape.
    fn of_parts(indices: Tensor, values: Tensor, dense_shape: Vec<u64>, order: Order) -> Self {
        Self { indices, values, dense_shape, order, conditions: Vec::new() }
    }

    /// Adds conditions that everything computed from the entries depends on: those of the tensors that it is made of.
    fn subject_to(mut self, conditions: &[Node]) -> Self {
        self.conditions.extend_from_slice(conditions);
        self
    }

    fn backend(&self) -> &BackendRef {
        self.values.backend()
    }

    /// The recorder of a call of the method `op`, at the line of the caller.
    #[track_caller]
    fn recorder(&self, op: &'static str) -> Recorder<'_> {
        self.values.recorder(op)
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
    fn axis(&self, rec: Recorder<'_>, axis: impl Integer) -> Result<usize> {
        let (axis, rank) = (axis.saturating_i64(), self.rank());
        if axis < -(rank as i64) || axis >= rank as i64 {
            return Err(Error::Axis { op: rec.op, axis, rank, location: caller() });
        }
        Ok(axis.rem_euclid(rank as i64) as usize)
    }

    /// Fails unless both tensors have one dense shape, one dtype and one device.
    #[track_caller]
    fn check_alike(&self, rec: Recorder<'_>, other: &Self) -> Result<()> {
        Device::check_same(rec.op, self.backend(), other.backend())?;
        if self.dtype() != other.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: self.dtype(), rhs: other.dtype(), location: caller() });
        }
        if self.dense_shape != other.dense_shape {
            let (lhs, rhs) = (format!("{:?}", self.dense_shape), format!("{:?}", other.dense_shape));
            return Err(Error::Shape {
                op: rec.op,
                lhs,
                rhs,
                what: "the dense shapes must be equal".into(),
                location: caller(),
            });
        }
        Ok(())
    }
}

/// The components, read from the device: `SparseTensor(indices=…, values=…, dense_shape=[3, 4])`.
impl fmt::Display for SparseTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { indices, values, dense_shape, .. } = self;
        write!(f, "SparseTensor(indices={indices}, values={values}, dense_shape={dense_shape:?})")
    }
}
