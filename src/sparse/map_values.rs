//! Functions of the values.

use super::SparseTensor;
use crate::device::Device;
use crate::error::{Error, Result, caller};
use crate::tensor::Tensor;

/// Functions of the values.
impl SparseTensor {
    /// Applies `function` to the values; the coordinates stay.
    ///
    /// The function must give a dense tensor of as many values; its dtype is free.
    ///
    /// # Errors
    /// The errors of the function; another number of values.
    ///
    /// # Cost
    /// That of the function. Never waits by itself.
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
        let rec = self.recorder("map_values");
        let values = function(&self.values)?;
        Device::check_same(rec.op, self.backend(), values.backend())?;
        let location = caller();
        let misfit = |what: &str| {
            let (lhs, rhs) = (self.values.shape_text(), values.shape_text());
            Error::Shape { op: rec.op, lhs, rhs, what: what.into(), location }
        };
        if values.rank() != 1 || values.ragged_rank() > 0 {
            return Err(misfit("the function must give a vector"));
        }
        let check = rec.check("the function gives another number of values");
        let differ = |_| misfit("the function gives another number of values");
        let asserts = self.count().agrees(&values.nrows_extent()).condition(rec, check, differ)?;
        Ok(Self { values: values.on_condition(rec.op, asserts.as_slice())?, ..self.clone() })
    }
}
