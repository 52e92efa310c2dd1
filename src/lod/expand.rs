//! Repetition of sequences or rows, as often as the sequences of another tensor are long.

use super::LodTensor;
use crate::device::Device;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::integer::Integer;
use crate::record::rows::Repeats;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

/// Repetition of sequences.
impl LodTensor {
    /// Repeats each outermost sequence of this tensor (each row, if it has no levels) as often as the sequence of `y`
    /// with the same index in level `ref_level` is long. Paddle: `sequence_expand`.
    ///
    /// -1 is the last level of `y`. The levels of this tensor stay: one level gives one level of repeated sequences,
    /// none gives none. A sequence for an empty one of `y` is dropped. Any dtype; the data of `y` are not read.
    ///
    /// # Errors
    /// A level that `y` does not have; another number of sequences than level `ref_level` of `y` has, at the read where
    /// only the device knows it; another device.
    ///
    /// # Cost
    /// One map over the result, which fuses into its consumer, and a prefix sum per level. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let device = Device::cpu();
    /// let x = LodTensor::from_nested([vec![1], vec![2, 3]], &device)?;
    /// let y = LodTensor::from_nested([vec![0, 0], vec![0]], &device)?;
    /// let expanded = x.sequence_expand(&y, 0)?;
    /// assert_eq!(expanded.lod()?, [[0, 1, 2, 4]]);
    /// assert_eq!(expanded.data()?.to_string(), "tensor([1, 1, 2, 3], shape=(4,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_expand(&self, y: &Self, ref_level: impl Integer) -> Result<Self> {
        let rec = self.recorder("sequence_expand");
        repeated(rec, self.tensor(), y.level(rec, ref_level.saturating_i64())?, y).map(Self::from)
    }

    /// Repeats each row of this tensor, which has no levels, to a sequence as long as the sequence of `y` with the same
    /// index in its last level. The result has the levels of `y`. Paddle: `sequence_expand_as`.
    ///
    /// Any dtype; the data of `y` are not read. The row of an empty sequence of `y` is dropped.
    ///
    /// # Errors
    /// This tensor has levels, or `y` has none; another number of rows than `y` has sequences, at the read where only
    /// the device knows it; another device.
    ///
    /// # Cost
    /// One map, which fuses into its consumer. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor};
    /// let device = Device::cpu();
    /// let x = LodTensor::from_nested([1, 2, 3], &device)?;
    /// let y = LodTensor::from_nested([vec![0, 0], vec![], vec![0]], &device)?;
    /// assert_eq!(x.sequence_expand_as(&y)?.tensor().to_string(), "<ragged.RaggedTensor [[1, 1], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_expand_as(&self, y: &Self) -> Result<Self> {
        let rec = self.recorder("sequence_expand_as");
        let level = y.last_level(rec)?;
        if self.lod_level() > 0 {
            let what = format!(
                "it repeats rows, but the tensor has {} levels; sequence_expand repeats sequences, and data() are the \
                 rows without levels",
                self.lod_level()
            );
            return Err(rec.argument(what));
        }
        Self::under(y.tensor().partitions(), repeated(rec, self.tensor(), level, y)?)
    }
}

/// The rows of `x`, row `r` as often as row `r` of `level` (a level of `y`) is long.
#[track_caller]
fn repeated(rec: Recorder<'_>, x: &Tensor, level: &RowPartition, y: &LodTensor) -> Result<Tensor> {
    Device::check_same(rec.op, x.backend(), y.tensor().backend())?;
    if x.rank() == 0 {
        return Err(rec.argument("a scalar has no rows"));
    }
    let location = caller();
    let check = rec.check("there must be as many sequences as the level of y has");
    let asserts = x.nrows_extent().agrees(level.nrows_extent()).condition(rec, check, |(n, m)| Error::Shape {
        op: rec.op,
        lhs: x.shape_text(),
        rhs: y.tensor().shape_text(),
        what: format!("{n} sequences cannot be repeated by the lengths of {m}"),
        location,
    })?;
    x.take_rows(rec, level.nvals_extent().clone(), level.row_of(Expr::index()), Repeats::Maybe, asserts.as_slice())
}
