//! Reversal of each sequence.

use super::LodTensor;
use crate::error::Result;

/// Reversal.
impl LodTensor {
    /// Reverses the rows of each sequence of the last level. Paddle: `sequence_reverse`, of one level.
    ///
    /// The levels and the dtype stay, which may be any. Empty sequences stay empty.
    ///
    /// # Errors
    /// A tensor without levels.
    ///
    /// # Cost
    /// Index arithmetic: one map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![vec![1, 2, 3], vec![]], vec![vec![4, 5]]], &Device::cpu())?;
    /// let reversed = x.sequence_reverse()?;
    /// assert_eq!(reversed.tensor().to_string(), "<ragged.RaggedTensor [[[3, 2, 1], []], [[5, 4]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_reverse(&self) -> Result<Self> {
        self.last_level(self.recorder("sequence_reverse"))?;
        self.tensor().reverse(self.lod_level()).map(Self::from)
    }
}
