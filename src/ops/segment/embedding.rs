//! Embedding table look-ups.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Embedding look-ups.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Looks up the rows of a dense table by id.
    ///
    /// The tensor is the table, of any dtype, which stays. The result has the dimensions and partitions of `ids`,
    /// followed by the dimensions of the table but the first. Empty rows of ids give empty rows. [`Tensor::gather`]
    /// along the first axis is the same for ragged tensors too.
    ///
    /// # Errors
    /// A table that is ragged or a scalar; ids of a dtype other than integers, or on another device. At the read: an id
    /// that is negative or not below the number of rows of the table.
    ///
    /// # Cost
    /// One map, which fuses into its consumers. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::dense([0.5f32, 1.5, 2.5], &[3, 1], &device)?;
    /// let ids = RaggedTensor::from_nested([vec![2, 0], vec![]], &device)?;
    /// assert_eq!(table.embedding_lookup(&ids)?.to_string(), "<ragged.RaggedTensor [[[2.5], [0.5]], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn embedding_lookup(&self, ids: &impl AsRef<Tensor>) -> T;
    alias "embedding";
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
    pub(crate) fn check_table(&self, op: &'static str) -> Result<()> {
        if self.ragged_rank() == 0 && self.rank() > 0 {
            return Ok(());
        }
        Err(Error::argument(op, format!("a table is dense and has rows, but this has shape {}", self.shape_text())))
    }
}
