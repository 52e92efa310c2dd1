//! Softmax of each sequence.

use super::{LodTensor, named};
use crate::error::Result;
use crate::ops::keep;

/// Softmax.
impl LodTensor {
    /// Softmax over each sequence of the last level: the exponential of each value, divided by the sum of the
    /// exponentials of its sequence. Paddle: `sequence_softmax`.
    ///
    /// Columns are separate, where Paddle takes one column only. The dtype and the levels stay; empty sequences stay
    /// empty.
    ///
    /// The definition is Paddle's, which does not subtract the maximum: from about 89 on, the exponentials of f32
    /// overflow (those of f16 from about 11 on), and a sequence with such a value gives NaN, as does one whose
    /// exponentials are all 0: all values below about -104 in f32. [`Tensor::softmax`](crate::Tensor::softmax) of
    /// [`LodTensor::tensor`], along the axis [`LodTensor::lod_level`], has no such limit; its results differ in the
    /// last bits.
    ///
    /// # Errors
    /// A tensor without levels; a dtype other than floats.
    ///
    /// # Cost
    /// A row reduction of the exponentials and a map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let x = LodTensor::from_nested([vec![0.0f32, 0.0], vec![], vec![7.0]], &Device::cpu())?;
    /// assert_eq!(x.sequence_softmax()?.tensor().to_string(), "<ragged.RaggedTensor [[0.5, 0.5], [], [1.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_softmax(&self) -> Result<Self> {
        let rec = self.recorder("sequence_softmax");
        let exponentials = self.sequences(rec)?.exp().map_err(named(rec.op))?;
        let shares = exponentials.truediv(&exponentials.reduce_sum(keep(1))?)?;
        self.for_each_sequence(shares)
    }
}
