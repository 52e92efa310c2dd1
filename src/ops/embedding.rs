//! Embedding table look-ups.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Embedding table look-ups.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Looks up rows of this dense table by `ids`: [`Tensor::gather`] along the first axis.
    ///
    /// The result has the dimensions and partitions of `ids`, followed by the dimensions of the table but the first.
    /// One map, which fuses into its consumers.
    ///
    /// # Errors
    /// As [`Tensor::gather`]; a table that is ragged.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let table = HostTensor::dense(&[3, 1], HostValues::F32(vec![0.5, 1.5, 2.5])).to_device(&device)?;
    /// let ids = HostTensor::dense(&[2], HostValues::I64(vec![2, 0])).to_device(&device)?;
    /// assert_eq!(table.embedding_lookup(&ids)?.to_host()?.values, HostValues::F32(vec![2.5, 0.5]));
    /// # Ok(())
    /// # }
    /// ```
    fn embedding_lookup(&self, ids: &impl AsRef<Tensor>) -> T;
    tensorflow "tf.nn.embedding_lookup";
    gradient later;
    row hand;
}

#[track_caller]
fn embedding_lookup(x: &Tensor, ids: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.check_table("embedding_lookup")?;
    x.gather(ids)
}

impl Tensor {
    /// # Errors
    /// The tensor is not a dense tensor of rank 1 or more.
    #[track_caller]
    pub(super) fn check_table(&self, op: &'static str) -> Result<()> {
        if self.ragged_rank() == 0 && self.rank() > 0 {
            return Ok(());
        }
        Err(Error::argument(op, format!("a table is dense and has rows, but this has shape {}", self.shape_text())))
    }
}
