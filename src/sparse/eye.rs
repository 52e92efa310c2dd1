//! The identity matrix.

use super::coordinates::indices_of;
use super::create::dense_size;
use super::{Order, SparseTensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::integer::Integer;
use crate::tensor::Values;

/// Identity matrices.
impl SparseTensor {
    /// The matrix of `rows` by `columns` with ones on the diagonal.
    ///
    /// Its entries, one for each row or column of the shorter side, are in row-major order. Any numeric dtype.
    ///
    /// # Errors
    /// A size that is negative, or 2^63 or more; bools or byte strings; a diagonal of 2^32 - 1 entries or more.
    ///
    /// # Cost
    /// Two maps over the diagonal. No wait.
    ///
    /// ```
    /// use ragged::{DType, Device, SparseTensor};
    /// let x = SparseTensor::eye(2, 3, DType::F32, &Device::cpu())?;
    /// assert_eq!(x.to_dense(0)?.to_string(), "tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], shape=(2, 3), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.eye`.
    #[track_caller]
    pub fn eye(rows: impl Integer, columns: impl Integer, dtype: DType, device: &Device) -> Result<Self> {
        let rec = Recorder::new(device.backend(), "SparseTensor::eye");
        if !dtype.is_float() && !dtype.is_integer() {
            return Err(rec.unsupported(dtype, "it needs a numeric dtype"));
        }
        let (rows, columns) = (dense_size(rec, rows)?, dense_size(rec, columns)?);
        let count = rec.known(rows.min(columns))?;
        let indices = indices_of(rec, &count, &[Expr::index(), Expr::index()], &[])?;
        let one = Expr::scalar(Scalar::from_i64(dtype, 1));
        let values = Values::Numbers(rec.map(count.clone(), one, &[]));
        let values = rec.tensor(Vec::new(), Some(count), [], values)?;
        Ok(Self::of_parts(indices, values, vec![rows, columns], Order::Distinct))
    }
}
