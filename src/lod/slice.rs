//! A part of each sequence.

use super::LodTensor;
use crate::error::Result;
use crate::tensor::Integers;

/// Slices of sequences.
impl LodTensor {
    /// A part of each sequence of the last level: `length[i]` rows of sequence `i`, from row `offset[i]` on. Paddle:
    /// `sequence_slice`.
    ///
    /// Offsets and lengths are lists on the host, or vectors or columns on the device, with one integer per sequence of
    /// the last level. The levels above stay. Any dtype. A length of 0 gives an empty sequence.
    ///
    /// # Errors
    /// A tensor without levels; not one offset and one length per sequence; a negative offset or length; a slice that
    /// exceeds its sequence. Fails at the read where only the device knows.
    ///
    /// # Cost
    /// A prefix sum over the sequences, and one map over the values, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![1, 2, 3], vec![4, 5]], &Device::cpu())?;
    /// assert_eq!(x.sequence_slice(&[0, 1], &[2, 1])?.tensor().to_string(), "<ragged.RaggedTensor [[1, 2], [5]]>");
    /// let error = x.sequence_slice(&[0, -1], &[2, 1]).unwrap_err();
    /// assert!(error.to_string().contains("offset must not be negative, but offset[1] is -1"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_slice<'a>(&self, offset: impl Into<Integers<'a>>, length: impl Into<Integers<'a>>) -> Result<Self> {
        let rec = self.recorder("sequence_slice");
        let (offset, length) = (("offset", offset.into()), ("length", length.into()));
        let sequences = self.sequences(rec)?;
        self.for_each_sequence(sequences.rows_cut(rec, Some(offset), length)?)
    }
}
