//! Construction from coordinates and values.

use super::coordinates::Coordinates;
use super::{Order, SparseTensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, caller, here};
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

/// A size of a dense shape, at most 2^63 - 1.
///
/// # Errors
/// A negative or a larger size.
pub(super) fn dense_size(rec: Recorder<'_>, size: impl Integer) -> Result<u64> {
    match rec.non_negative("a size of the dense shape", size)? {
        n if n > i64::MAX as u64 => Err(rec.argument("a size of the dense shape must be at most 2^63 - 1")),
        n => Ok(n),
    }
}

/// Construction.
impl SparseTensor {
    /// Assembles a sparse tensor from `indices`, integers of shape `[n, rank]`, and `values` of shape `[n]`.
    ///
    /// Entry `i` has the coordinates `indices[i]` and the value `values[i]`. Entries may have any order, and several
    /// may have equal coordinates; without entries all elements are absent. The dtype is that of the values, and is
    /// any. Indices of any integer dtype become i64; those that are i64 are neither computed nor copied.
    ///
    /// # Errors
    /// Other shapes or dtypes; parts on different devices; a size that is negative, or 2^63 or more. At the read of
    /// what an operation gives: coordinates that are negative or beyond the dense shape; as many values as the device
    /// finds, but another number of indices.
    ///
    /// # Cost
    /// A check of the coordinates, which runs with the first operation that reads them. No wait.
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
        let (indices, values) = (indices.as_ref(), values.as_ref());
        Self::assembled(indices.recorder("SparseTensor::new"), indices, values, dense_shape)
    }

    /// As [`new`](Self::new).
    #[track_caller]
    pub(super) fn assembled<I: Integer>(
        rec: Recorder<'_>,
        indices: &Tensor,
        values: &Tensor,
        dense_shape: &[I],
    ) -> Result<Self> {
        Device::check_same(rec.op, indices.backend(), values.backend())?;
        if !indices.dtype().is_integer() {
            return Err(rec.unsupported(indices.dtype(), "indices must be integers"));
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
            op: rec.op,
            lhs: indices.shape_text(),
            rhs: values.shape_text(),
            what: format!("indices must be [n, {rank}] and values [n] for {rank} dimensions"),
            location,
        };
        if !fits {
            return Err(misfit());
        }
        let check = rec.check("there must be as many values as indices");
        let same = indices.nrows_extent().agrees(&values.nrows_extent());
        let same = same.condition(rec, check, |_| misfit())?;
        let size = |&d: &I| dense_size(rec, d);
        let dense_shape = dense_shape.iter().map(size).collect::<Result<_>>().map_err(here())?;
        let mut x = Self::of_parts(indices.clone(), values.clone(), dense_shape, Order::Any);
        let check = rec.check("indices must be at least 0 and below the dense shape");
        let inside = Coordinates::new(rec, &x)?.are_inside(&x.dense_shape);
        x.conditions.extend(same);
        x.conditions.push(rec.assert(x.count(), inside, check));
        Ok(x)
    }

    /// Uploads a sparse tensor: coordinates and a value for each entry, in any order.
    ///
    /// Several entries may have equal coordinates; without entries all elements are absent. The dtype is that of the
    /// values, and is any.
    ///
    /// # Errors
    /// Different numbers of coordinates and values; a size of 2^63 or more; coordinates that are negative or beyond
    /// the dense shape; more than the device can hold; a dtype that it lacks.
    ///
    /// # Cost
    /// A pass over the coordinates on the host, and the upload of both. No wait.
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
    pub fn from_entries<T: Element, const RANK: usize>(
        coordinates: &[[i64; RANK]],
        values: impl IntoValues<T>,
        dense_shape: [u64; RANK],
        device: &Device,
    ) -> Result<Self> {
        let rec = Recorder::new(device.backend(), "SparseTensor::from_entries");
        let outside = |&(_, &index): &(usize, &[i64; RANK])| {
            (0..RANK).any(|d| u64::try_from(index[d]).map_or(true, |c| c >= dense_shape[d]))
        };
        if let Some((at, index)) = coordinates.iter().enumerate().find(outside) {
            let what =
                format!("the coordinates {index:?} of entry {at} are outside of the dense shape {dense_shape:?}");
            return Err(rec.argument(what));
        }
        let flat: Vec<i64> = coordinates.concat();
        let indices =
            RaggedTensor::<i64>::dense(&flat, &[coordinates.len(), RANK], device).map_err(|e| e.of(rec.op))?;
        let values = values.into_values(device).map_err(|e| e.of(rec.op)).map_err(here())?;
        Self::assembled(rec, indices.erased(), values.erased(), &dense_shape)
    }
}
