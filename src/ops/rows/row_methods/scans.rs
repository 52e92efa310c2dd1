//! Scans of a row.

use crate::error::Result;
use crate::ops::{Row, RowOperand, ScanAxis};

/// Linear recurrences along an axis.
impl Row {
    /// The linear recurrence `y[i] = decay[i] * y[i - 1] + x[i]` along an axis of the row: discounted sums.
    ///
    /// `decay` is a number or a row that broadcasts with this one. `initial` is the result before the first one: a
    /// number, usually 0, or a row that broadcasts to the result without the axis. Axes count in the row.
    /// [`reversed`](crate::opt::reversed) starts at the end: `y[i] = decay[i] * y[i + 1] + x[i]`.
    /// [`exclusive`](crate::opt::exclusive) gives the result before each element. Same dtype; integers wrap, f16 and
    /// bf16 are computed in f32. An empty row stays empty. A preceding result of 0 contributes 0 for any decay; from an
    /// infinity or NaN on, results are infinite or NaN. The bits are the same on every backend and in every batch.
    ///
    /// # Errors
    /// Bool or string values; operands of different dtypes or devices; shapes that do not broadcast, at the read where
    /// only the device knows them; a number that the dtype cannot represent; `axis` out of range; a row of another call.
    ///
    /// # Cost
    /// That of [`cumsum`](Self::cumsum), with two numbers per value. Never waits.
    ///
    /// ```
    /// use ragged::opt::reversed;
    /// use ragged::{Device, RaggedTensor};
    /// let rewards = RaggedTensor::from_nested([vec![1.0f32, 2.0, 4.0], vec![], vec![8.0]], &Device::cpu())?;
    /// let returns: RaggedTensor<f32> = rewards.map_rows(|row| row.linear_recurrence(0.5, 0.0, reversed(0)))?;
    /// assert_eq!(returns.to_string(), "<ragged.RaggedTensor [[3.0, 4.0, 4.0], [], [8.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn linear_recurrence<'a>(
        &self,
        decay: impl Into<RowOperand<'a>>,
        initial: impl Into<RowOperand<'a>>,
        axis: impl Into<ScanAxis>,
    ) -> Result<Self> {
        const OP: &str = "linear_recurrence";
        let (decay, initial) = (decay.into(), initial.into());
        let mut along = self.scan_axis(OP, axis.into())?;
        let rank = self.rank().max(decay.rank());
        along.axis += (rank - self.rank()) as i64;
        let decays = self.rows_of(OP, &decay, rank)?;
        let initials = self.rows_of(OP, &initial, rank - 1)?;
        let (decay, initial) = (decay.or_rows(decays.as_ref()), initial.or_rows(initials.as_ref()));
        Ok(self.with(self.lifted(rank)?.linear_recurrence(decay, initial, along)?))
    }
}
