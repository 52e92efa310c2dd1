//! Addition of the updates of each sequence to a row.

use super::LodTensor;
use crate::error::{Error, Result, caller};
use crate::tensor::Tensor;

/// Addition at indices.
impl LodTensor {
    /// Adds the updates of sequence `i` to row `i` of this tensor, at the indices of sequence `i`. An index may occur
    /// several times. Paddle: `sequence_scatter`.
    ///
    /// The rows are `[width, ..]`, one for each sequence of the last level of `index`; `updates` has the levels of
    /// `index`, and a row for each index. The shape, the levels and the dtype stay; integers wrap. A row whose sequence
    /// is empty stays. The updates of one element are added up in their order, and the sum is added to the element, as
    /// by [`Tensor::batch_scatter_add`]: the same bits on every device.
    ///
    /// # Errors
    /// `index` or `updates` without levels; other numbers of sequences or updates; updates of another size or dtype;
    /// bools and strings; indices that are not integers. At the read: an index that is negative or not below the width.
    ///
    /// # Cost
    /// A sort of the indices, a row reduction of the updates and a map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let device = Device::cpu();
    /// let x = LodTensor::from_nested([[10, 20, 30], [40, 50, 60]], &device)?;
    /// let index = LodTensor::from_nested([vec![0i64, 2, 0], vec![1]], &device)?;
    /// let updates = LodTensor::from_nested([vec![1, 2, 3], vec![4]], &device)?;
    /// let y = x.sequence_scatter(&index, &updates)?;
    /// assert_eq!(y.data()?.to_string(), "tensor([[14, 20, 32], [40, 54, 60]], shape=(2, 3), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_scatter(&self, index: &Self, updates: &Self) -> Result<Self> {
        let rec = self.recorder("sequence_scatter");
        let data = self.data()?;
        let (at, new) = (index.sequences(rec)?, updates.sequences(rec)?);
        if data.inner().is_empty() {
            let what = format!("the rows need elements to add to, but the data are {}", data.shape_text());
            return Err(rec.argument(what));
        }
        if index.lod_level() != updates.lod_level() {
            return Err(Error::Shape {
                op: rec.op,
                lhs: index.tensor().shape_text(),
                rhs: updates.tensor().shape_text(),
                what: format!("the index has {} LoD levels, the updates {}", index.lod_level(), updates.lod_level()),
                location: caller(),
            });
        }
        let added: Tensor = data.scatter_added(rec, &at, &new)?;
        Self::under(self.tensor().partitions(), added)
    }
}
