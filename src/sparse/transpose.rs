//! Permutation of dimensions.

use super::coordinates::{Coordinates, indices_of};
use super::{Order, SparseTensor};
use crate::error::{Result, here};
use crate::ops::Axes;
use crate::ops::IntoAxes;

/// Permutation of dimensions.
impl SparseTensor {
    /// The tensor with its dimensions in another order: dimension `k` of the result is dimension `axes[k]` of this
    /// tensor. `..` reverses them. Entries come out in row-major order.
    ///
    /// # Errors
    /// Axes that do not name each dimension once. At the read: coordinates outside of the dense shape.
    ///
    /// # Cost
    /// A map over the coordinates, and that of [`reorder`](Self::reorder).
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let x = SparseTensor::from_entries(&[[0, 2], [1, 0]], [1, 2], [2, 3], &Device::cpu())?;
    /// let y = x.transpose(..)?;
    /// assert_eq!(y.dense_shape(), [3, 2]);
    /// assert_eq!(y.indices().to_string(), "tensor([[0, 1], [2, 0]], shape=(2, 2), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.transpose`.
    #[track_caller]
    pub fn transpose(&self, axes: impl IntoAxes) -> Result<Self> {
        let rec = self.recorder("transpose");
        let rank = self.rank();
        let moved: Vec<usize> = match axes.into() {
            Axes::All => (0..rank).rev().collect(),
            Axes::List(axes) => axes.iter().map(|&axis| self.axis(rec, axis)).collect::<Result<_>>().map_err(here())?,
        };
        let mut named = moved.clone();
        named.sort_unstable();
        if !named.iter().copied().eq(0..rank) {
            let what = format!("the axes {moved:?} must name each of the {rank} dimensions once");
            return Err(rec.argument(what));
        }
        if named == moved {
            return self.sorted(rec);
        }
        let coordinates = Coordinates::new(rec, self)?;
        let all: Vec<_> = moved.iter().map(|&d| coordinates.of(d)).collect();
        let indices = indices_of(rec, &self.count(), &all, &[])?;
        let dense_shape = moved.iter().map(|&d| self.dense_shape[d]).collect();
        let moved = Self::of_parts(indices, self.values.clone(), dense_shape, Order::Any);
        let sorted = moved.subject_to(&self.conditions).sorted(rec)?;
        // Distinct coordinates stay distinct.
        Ok(Self { order: self.order.max(Order::Sorted), ..sorted })
    }
}
