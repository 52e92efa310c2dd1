//! Conversion from and to lists of sequences.

use super::{LodTensor, named};
use crate::error::{Error, Result, here, on_behalf};
use crate::ops::Index;
use crate::record::tensor_list::counted_tensors;
use crate::tensor::{HostTensor, Tensor};

/// Lists of sequences, and reads.
impl LodTensor {
    /// The tensor whose outermost sequences are these tensors: a level of their numbers of rows, above the levels that
    /// they have.
    ///
    /// Any dtype. A tensor without rows is an empty sequence.
    ///
    /// # Errors
    /// An empty list; scalars; different ranks, dtypes, devices or inner dimensions.
    ///
    /// # Cost
    /// A map over the values per halving of the list. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor, RaggedTensor};
    /// let device = Device::cpu();
    /// let one = RaggedTensor::from_nested([[1.5f32]], &device)?;
    /// let three = RaggedTensor::from_nested([[2.5f32], [3.5], [4.5]], &device)?;
    /// let x = LodTensor::from_list(&[&one, &three])?;
    /// assert_eq!(x.lod()?, [[0, 1, 4]]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_list(sequences: &[impl AsRef<Tensor>]) -> Result<Self> {
        const OP: &str = "LodTensor::from_list";
        if sequences.is_empty() {
            return Err(Error::argument(OP, "there must be at least one sequence"));
        }
        if let Some(at) = sequences.iter().position(|s| s.as_ref().rank() == 0) {
            return Err(Error::argument(OP, format!("sequence {at} is a scalar, which has no rows")));
        }
        let rows = Tensor::concat(sequences, 0).map_err(named(OP))?;
        let known: Option<Vec<u32>> = sequences.iter().map(|s| s.as_ref().nrows_extent().as_known()).collect();
        let tensor = match known {
            Some(lengths) => Tensor::from_row_lengths(&rows, lengths)?,
            None => {
                let counts = sequences.iter().map(|s| s.as_ref().nrows()).collect::<Result<Vec<_>>>().map_err(here())?;
                Tensor::from_row_lengths(&rows, &Tensor::stack(&counts, 0)?)?
            }
        };
        Ok(tensor.into())
    }

    /// The outermost sequences, each with the levels below: for one level, dense tensors of the rows of each sequence.
    ///
    /// Each is a slice. Any dtype. An empty sequence gives a tensor without rows.
    ///
    /// # Errors
    /// A tensor without levels; more than 2^20 sequences; no host memory for their tensors.
    ///
    /// # Cost
    /// No pass: a slice is computed where it is read. Waits for the number of sequences where only the device knows it.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let sequences = x.to_list()?;
    /// assert_eq!(sequences.len(), 3);
    /// assert_eq!(sequences[0].to_string(), "tensor([1, 2], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_list(&self) -> Result<Vec<Tensor>> {
        const OP: &str = "to_list";
        let rec = self.recorder(OP);
        self.last_level(rec)?;
        let count = rec.on_host(&self.tensor().nrows_extent())?;
        let _counted = counted_tensors(rec, self.tensor(), count.into(), 0)?;
        on_behalf(|| (0..count).map(|at| self.tensor().slice([Index::At(at.into())])).collect())
    }

    /// Reads the data and the levels, with one wait; the `nested_row_splits` of the result are the offsets.
    ///
    /// # Errors
    /// What the operations that give the tensor report at a read; no host memory for the values; a lost device.
    ///
    /// ```
    /// use ragged::{Device, HostValues, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu())?;
    /// let read = x.sequence_reverse()?.to_host()?;
    /// assert_eq!((read.nested_row_splits, read.values), (vec![vec![0, 2, 2, 3]], HostValues::I32(vec![2, 1, 3])));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_host(&self) -> Result<HostTensor> {
        self.tensor().to_host()
    }
}
