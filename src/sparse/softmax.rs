//! Softmax.

use super::coordinates::Coordinates;
use super::groups::Groups;
use super::keys::Keys;
use super::{Order, SparseTensor};
use crate::error::Result;
use crate::graph::expr::Expr;

/// Softmax.
impl SparseTensor {
    /// Softmax along the innermost dimension over the entries of each row; absent elements stay absent.
    ///
    /// Rows are entries whose other coordinates are equal. NaN, infinities and the order of sums as for
    /// [`Tensor::softmax`](crate::Tensor::softmax).
    ///
    /// # Errors
    /// A scalar; a dtype other than floats. At the read: entries whose rows are not in row-major order; coordinates
    /// outside of the dense shape.
    ///
    /// # Cost
    /// A rank bitmap over the entries, and that of [`Tensor::softmax`](crate::Tensor::softmax). No wait.
    ///
    /// ```
    /// use ragged::{Device, SparseTensor};
    /// let coordinates = [[0, 0], [0, 3], [2, 1]];
    /// let x = SparseTensor::from_entries(&coordinates, [1.0f32, 1.0, 5.0], [3, 4], &Device::cpu())?;
    /// assert_eq!(x.softmax()?.values().to_string(), "tensor([0.5, 0.5, 1.0], shape=(3,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.softmax`.
    #[track_caller]
    pub fn softmax(&self) -> Result<Self> {
        let rec = self.recorder("softmax");
        let Some(last) = self.rank().checked_sub(1) else {
            return Err(rec.argument("a scalar has no rows"));
        };
        if !self.dtype().is_float() {
            return Err(rec.unsupported(self.dtype(), "cast the values to floats"));
        }
        let above: Vec<usize> = (0..last).collect();
        let conditions = self.require(rec, Order::Sorted, &above)?;
        let keys = Keys::new(&Coordinates::new(rec, self)?, &self.dense_shape, &above);
        let rows = Groups::new(rec, &self.count(), &keys, Expr::index())?;
        let values = self.values.under(rows.members().clone())?.softmax(1)?.values()?;
        let conditions = [&self.conditions[..], &conditions].concat();
        Ok(Self { values: values.on_condition(rec.op, &conditions)?, ..self.clone() })
    }
}
