//! Sequences of rows of another width.

use super::LodTensor;
use crate::backend::host_memory::counted_vec;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::shape::RowPartition;
use crate::tensor::Tensor;

/// Reshaping.
impl LodTensor {
    /// The numbers of each sequence of the last level as rows of `new_dim`: a sequence of `n` rows of `d` numbers
    /// becomes one of `n * d / new_dim` rows. Paddle: `sequence_reshape`.
    ///
    /// The values stay in place, and the levels above the last stay. Any dtype. Empty sequences stay empty.
    ///
    /// # Errors
    /// A tensor without levels; rows without numbers; a `new_dim` below 1; a sequence whose numbers are no multiple of
    /// `new_dim`, at the read where only the device knows the lengths.
    ///
    /// # Cost
    /// A map over the sequences; the values are not copied. Never waits.
    ///
    /// ```
    /// use ragged::{Device, LodTensor, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]], &Device::cpu())?;
    /// let x = LodTensor::from_lengths(&rows, [[2, 4]])?;
    /// let y = x.sequence_reshape(4)?;
    /// assert_eq!(y.lod()?, [[0, 1, 3]]);
    /// let error = x.sequence_reshape(3).unwrap_err();
    /// assert!(error.to_string().contains("sequence 0 has 4 numbers, which are no multiple of 3"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn sequence_reshape(&self, new_dim: impl Integer) -> Result<Self> {
        let rec = self.recorder("sequence_reshape");
        let (level, rows) = (self.last_level(rec)?, self.data()?);
        let (old, new) = (rows.width(), rec.known(rec.non_negative("new_dim", new_dim)?)?.capacity());
        if new == 0 || old == 0 {
            let what = format!("rows of {old} numbers cannot become rows of {new}; both must be at least 1");
            return Err(rec.argument(what));
        }
        let numbers = rec.times(&self.rows(), old)?;
        let asserts = multiples(rec, level, (old, new))?;
        let count = numbers.part(new);
        let level = if old == new { level.clone() } else { rescaled(rec, level, (old, new), &count, &rows)? };
        let rows = Tensor::new(rows.backend(), Vec::new(), Some(count), vec![new], rows.values_ref().clone())?;
        self.for_each_sequence(rows.on_condition(rec.op, asserts.as_slice())?.under(level)?)
    }
}

/// The level whose sequences have `old / new` times as many rows.
#[track_caller]
fn rescaled(
    rec: Recorder<'_>,
    level: &RowPartition,
    (old, new): (u32, u32),
    rows: &Extent,
    x: &Tensor,
) -> Result<RowPartition> {
    if let Some(length) = level.uniform_length() {
        let length = u64::from(length) * u64::from(old) / u64::from(new);
        let length = rec.known(length)?.capacity();
        return Ok(RowPartition::uniform(length, level.nrows_extent().clone())?.with_nvals(rows.clone()));
    }
    if let Some(splits) = level.host_splits() {
        let at = |&at: &u32| (u64::from(at) * u64::from(old) / u64::from(new)) as u32;
        let (mut scaled, _counted) = counted_vec(x.backend(), rec.op, splits.len())?;
        scaled.extend(splits.iter().map(at));
        return RowPartition::from_host_splits(rec, scaled);
    }
    let start = level.start(Expr::index()).mul(Expr::u32(old)).div(Expr::u32(new));
    let scaled = RowPartition::from_starts(rec, level.nrows_extent(), &start, rows.size(), &[])?;
    Ok(scaled.with_nvals(rows.clone()))
}

/// The condition that the numbers of each sequence are a multiple of `new`; none where the host knows it.
///
/// # Errors
/// A sequence with another number of numbers, where the host knows the lengths.
#[track_caller]
fn multiples(rec: Recorder<'_>, level: &RowPartition, (old, new): (u32, u32)) -> Result<Option<Node>> {
    if old % new == 0 {
        return Ok(None);
    }
    let of_one;
    let splits = match (level.host_splits(), level.uniform_length()) {
        (Some(splits), _) => splits,
        (None, Some(length)) if level.nrows_extent().as_known() != Some(0) => {
            of_one = [0, length];
            &of_one
        }
        (None, Some(_)) => return Ok(None),
        (None, None) => {
            let check = rec.check(format!("a sequence has a number of numbers that is no multiple of {new}"));
            let numbers = level.length(Expr::index()).mul(Expr::u32(old));
            let ok = numbers.rem(Expr::u32(new)).eq(Expr::u32(0));
            return Ok(Some(rec.assert(level.nrows_extent().clone(), ok, check)));
        }
    };
    let numbers = splits.windows(2).map(|pair| u64::from(pair[1] - pair[0]) * u64::from(old));
    match numbers.enumerate().find(|(_, n)| n % u64::from(new) != 0) {
        Some((sequence, n)) => {
            let what = format!("sequence {sequence} has {n} numbers, which are no multiple of {new}");
            Err(rec.argument(what))
        }
        None => Ok(None),
    }
}
