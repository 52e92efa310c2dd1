//! Concatenation, sequence by sequence.

use super::{LodTensor, named};
use crate::error::{Error, Result, caller};
use crate::tensor::Tensor;

/// Concatenation.
impl LodTensor {
    /// Joins the sequences of the last level: sequence `i` of the result consists of sequence `i` of each tensor, in
    /// the order of the tensors. Paddle: `sequence_concat`.
    ///
    /// The levels above the last must be equal. Any dtype. A sequence that is empty in all of them is empty.
    ///
    /// # Errors
    /// An empty list; a tensor without levels; different numbers of levels or sequences, dtypes, devices or inner
    /// dimensions. Fails at the read where only the device knows.
    ///
    /// # Cost
    /// A map over the values and a map over the sequences for the splits. More than two distinct tensors, or more than
    /// 8, are appended first: a copy of the values. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let device = Device::cpu();
    /// let x = LodTensor::from_nested([vec![1], vec![2, 3]], &device)?;
    /// let y = LodTensor::from_nested([vec![4, 5], vec![]], &device)?;
    /// let joined = LodTensor::sequence_concat(&[&x, &y])?;
    /// assert_eq!(joined.tensor().to_string(), "<ragged.RaggedTensor [[1, 4, 5], [2, 3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_concat(all: &[impl AsRef<Self>]) -> Result<Self> {
        const OP: &str = "LodTensor::sequence_concat";
        let all: Vec<&Tensor> = all.iter().map(|x| x.as_ref().tensor()).collect();
        let Some(first) = all.first() else {
            return Err(Error::argument(OP, "there must be at least one tensor"));
        };
        Self::from(*first).last_level(first.recorder(OP))?;
        if let Some(other) = all.iter().find(|x| x.ragged_rank() != first.ragged_rank()) {
            return Err(Error::Shape {
                op: OP,
                lhs: first.shape_text(),
                rhs: other.shape_text(),
                what: format!("{} LoD levels cannot be joined with {}", first.ragged_rank(), other.ragged_rank()),
                location: caller(),
            });
        }
        Tensor::concat(&all, first.ragged_rank()).map(Self::from).map_err(named(OP))
    }
}
