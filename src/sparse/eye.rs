//! The identity matrix.

use super::coordinates::indices_of;
use super::{Order, SparseTensor, dense_size};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::scalar::Scalar;
use crate::integer::Integer;
use crate::tensor::{Tensor, Values};

impl SparseTensor {
    /// The matrix of `rows` by `columns` with ones on the diagonal, of any numeric dtype.
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
        const OP: &str = "eye";
        if !dtype.is_float() && !dtype.is_integer() {
            return Err(Error::unsupported(OP, dtype, "it needs a numeric dtype"));
        }
        let (rows, columns) = (dense_size(OP, rows)?, dense_size(OP, columns)?);
        let (backend, count) = (device.backend(), Extent::known_u64(OP, rows.min(columns))?);
        let indices = indices_of(backend, OP, &count, &[Expr::index(), Expr::index()], &[])?;
        let one = Expr::scalar(Scalar::from_i64(dtype, 1));
        let values = Values::Numbers(Node::map(backend, OP, count.clone(), one, &[]));
        let values = Tensor::new(backend, Vec::new(), Some(count), [], values)?;
        Ok(Self::of_parts(indices, values, vec![rows, columns], Order::Distinct))
    }
}
