//! Sparse sums of weights by integer.

use super::coordinates::indices_of;
use super::{Order, SparseTensor};
use crate::device::Device;
use crate::element::{Arithmetic, Number};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::ops::{Bins, IntoAxes};
use crate::shape::same_layout;
use crate::tensor::{RaggedTensor, Tensor};

/// Sparse counts of integers, weighted.
impl Tensor {
    /// The sums of `bincount_weighted` along axis 0 or 1 of the integers that occur, as a sparse tensor
    /// sorted by row and value.
    ///
    /// The weights have the layout of this tensor, and their dtype is that of the result; integers wrap. A sum of 0
    /// stays. No bin takes memory: integers may be as large as 2^63 - 2. The result has at least one bin, also of no
    /// values, unless fewer are asked for. A row without values has no entries. The weights of an integer are added in
    /// their order, in the canonical order of row reductions.
    ///
    /// # Errors
    /// Byte strings as values; an axis that is out of range or above 1, or several axes; a negative number of bins, or
    /// [`binary`](crate::opt::binary) bins; weights of another layout or on another device, of bools or byte strings.
    /// At the read: negative values, floats that are not whole numbers; integers of 64 bits above 2^63 - 2.
    ///
    /// # Cost
    /// A sort of the values by row and value, a reduction of the weights, and the wait of
    /// [`bincount_sparse`](Self::bincount_sparse).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 1, 5], vec![], vec![0]], &Device::cpu())?.into_erased();
    /// let w = RaggedTensor::from_nested([vec![0.5f32, 1.0, 2.0], vec![], vec![4.0]], &Device::cpu())?;
    /// let sums = x.bincount_sparse_weighted(&w, 1, ..)?;
    /// assert_eq!(sums.indices().to_string(), "tensor([[0, 1], [0, 5], [2, 0]], shape=(3, 2), dtype=i64)");
    /// assert_eq!(sums.values().to_string(), "tensor([1.0, 2.5, 4.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.bincount(…, weights=…)`.
    #[track_caller]
    pub fn bincount_sparse_weighted(
        &self,
        weights: &impl AsRef<Self>,
        axis: impl IntoAxes,
        bins: impl Into<Bins>,
    ) -> Result<SparseTensor> {
        let rec = self.recorder("bincount_sparse_weighted");
        let weights = weights.as_ref();
        Device::check_same(rec.op, self.backend(), weights.backend())?;
        let conditions = same_layout(rec, self.ragged_shape(), weights.ragged_shape())?;
        let (above, shape) = match self.counted_rows(rec, &axis.into())? {
            None => (Vec::new(), Vec::new()),
            Some((row, rows)) => (vec![row], vec![rec.on_host(&rows)?.into()]),
        };
        let flat = |x: &Self| Self::new(x.backend(), Vec::new(), Some(x.count()?), [], x.values_ref().clone());
        sums_by_bin(rec, (&flat(self)?, &flat(weights)?), (above, shape), no_binary(rec, bins.into())?, &conditions)
    }
}

/// Sparse counts of integers, weighted.
impl<T: Number> RaggedTensor<T> {
    /// The sums of `bincount_weighted` along axis 0 or 1 of the integers that occur, as a
    /// sparse tensor sorted by row and value.
    ///
    /// The result has the shape of [`bincount_sparse`](Self::bincount_sparse), and the dtype of the weights; integers
    /// wrap, NaN propagates. A sum of 0 stays. A row without values has no entries. The sums have the order of
    /// [`bincount_weighted`](Self::bincount_weighted).
    ///
    /// # Errors
    /// An axis that is out of range or above 1, or several axes; a negative number of bins, or
    /// [`binary`](crate::opt::binary) bins; weights of another layout or on another device. At the read: negative
    /// values, floats that are not whole numbers; integers of 64 bits above 2^63 - 2.
    ///
    /// # Cost
    /// A sort of the values by row and value, a reduction of the weights, and the wait of
    /// [`bincount_sparse`](Self::bincount_sparse).
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 1, 5], vec![], vec![0]], &Device::cpu())?;
    /// let w = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &Device::cpu())?;
    /// let sums = x.bincount_sparse_weighted(&w, 0, ..)?;
    /// assert_eq!(sums.values().to_string(), "tensor([4, 2, 4], shape=(3,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.bincount(…, weights=…)`.
    #[track_caller]
    pub fn bincount_sparse_weighted<W: Arithmetic>(
        &self,
        weights: &RaggedTensor<W>,
        axis: impl IntoAxes,
        bins: impl Into<Bins>,
    ) -> Result<SparseTensor> {
        self.erased().bincount_sparse_weighted(weights, axis, bins)
    }
}

/// Fails for bins that count each value once.
#[track_caller]
pub(super) fn no_binary(rec: Recorder<'_>, bins: Bins) -> Result<Bins> {
    if bins.binary {
        return Err(rec.argument("binary bins have no weights; count without weights, or drop binary"));
    }
    Ok(bins)
}

/// The sums of the weights by the coordinates `above`, expressions in the value, and by the bin of each value. `shape`
/// is that of the dimensions above.
#[track_caller]
pub(super) fn sums_by_bin(
    rec: Recorder<'_>,
    (values, weights): (&Tensor, &Tensor),
    (mut above, mut shape): (Vec<Expr>, Vec<u64>),
    bins: Bins,
    conditions: &[Node],
) -> Result<SparseTensor> {
    let (bin, number) = values.sparse_bins(rec, bins)?;
    above.push(bin.clone());
    shape.push(number);
    let indices = indices_of(rec, &values.count()?, &above, conditions)?;
    let all = SparseTensor::of_parts(indices.clone(), weights.clone(), shape, Order::Any).subject_to(conditions);
    // A number that the dtype of the bins does not hold is above all of them.
    match (bins.most, Scalar::U64(number).converted(bin.dtype())) {
        (Some(_), Some(number)) => all.kept_where(rec, &indices, bin.lt(Expr::number(number)))?.coalesced(rec),
        _ => all.coalesced(rec),
    }
}
