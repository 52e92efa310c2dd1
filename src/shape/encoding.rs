//! Host-side conversion of row encodings to splits, validated or trusted.

use super::RowPartition;
use crate::backend::host_memory::counted_vec;
use crate::error::Result;
use crate::graph::backend::CountedMemory;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;

/// Splits, and the count of their memory, which lasts until they are uploaded.
pub(crate) type CountedSplits = (Vec<u32>, CountedMemory);

/// The meaning of a list of integers that encodes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Row offsets: the start of each row, then the end of the last.
    Splits,
    /// Number of values per row.
    Lengths,
    /// The start of each row.
    Starts,
    /// The end of each row.
    Limits,
}

impl Encoding {
    /// TensorFlow's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Splits => "row_splits",
            Self::Lengths => "row_lengths",
            Self::Starts => "row_starts",
            Self::Limits => "row_limits",
        }
    }

    /// Validates the integers and converts them to splits of `nvals` values, where that number is known.
    ///
    /// # Errors
    /// The first entry that violates the encoding; more than 2^32 - 2 rows or values; no memory for the splits.
    pub(crate) fn splits(self, rec: Recorder<'_>, given: &[i64], nvals: Option<u64>) -> Result<CountedSplits> {
        let total = self.validate(rec, given, nvals)?;
        self.trusted_splits(rec, given, nvals.unwrap_or(total))
    }

    /// Validates the integers for `nvals` values, where that number is known. Returns the number of values that they
    /// imply.
    ///
    /// # Errors
    /// The first entry that violates the encoding; more than 2^32 - 2 rows or values.
    pub(crate) fn validate(self, rec: Recorder<'_>, given: &[i64], nvals: Option<u64>) -> Result<u64> {
        let name = self.name();
        let broken = |what: String| Err(rec.partition(format!("{name} {what}")));
        if self == Self::Splits {
            RowPartition::validate_splits(rec, given, nvals)?;
            return Ok(given.last().map_or(0, |&last| last as u64));
        }
        rec.known(given.len() as u64 + 1)?;
        if given.is_empty() && self != Self::Lengths && nvals.is_some_and(|n| n > 0) {
            return broken(format!("is empty, but there are {} values", nvals.unwrap_or(0)));
        }
        if self == Self::Lengths {
            if let Some(r) = given.iter().position(|&l| l < 0) {
                return broken(format!("must not be negative, but {name}[{r}] is {}", given[r]));
            }
        } else {
            if let Some(r) = given.windows(2).position(|w| w[1] < w[0]) {
                let (a, b) = (given[r], given[r + 1]);
                return broken(format!("must not decrease, but {name}[{}] = {b} is below {name}[{r}] = {a}", r + 1));
            }
            match (self, given.first()) {
                (Self::Starts, Some(&first)) if first != 0 => {
                    return broken(format!("must start at 0, but {name}[0] is {first}"));
                }
                (Self::Limits, Some(&first)) if first < 0 => {
                    return broken(format!("must not be negative, but {name}[0] is {first}"));
                }
                _ => {}
            }
        }
        let total = match self {
            Self::Lengths => given.iter().fold(0u64, |sum, &l| sum.saturating_add(l as u64)),
            _ => given.last().map_or(0, |&last| last as u64),
        };
        rec.known(total)?;
        match (self, nvals) {
            (Self::Lengths, Some(n)) if total != n => {
                return broken(format!("add up to {total}, but there are {n} values"));
            }
            (Self::Starts, Some(n)) if total > n => {
                let (r, last) = (given.len() - 1, total);
                return broken(format!("must not pass the {n} values, but {name}[{r}] is {last}"));
            }
            (Self::Limits, Some(n)) if total != n => {
                return broken(format!("must end at the {n} values, but {name}[{}] is {total}", given.len() - 1));
            }
            _ => {}
        }
        Ok(total)
    }

    /// Converts the integers to splits without validation. An entry that violates the encoding is clamped, so that the
    /// result is always a valid partition of `nvals` values.
    ///
    /// # Errors
    /// No memory for the splits.
    pub(crate) fn trusted_splits(self, rec: Recorder<'_>, given: &[i64], nvals: u64) -> Result<CountedSplits> {
        let last = nvals.min(u64::from(u32::MAX) - 1) as i64;
        let rows = if self == Self::Splits { given.len().saturating_sub(1) } else { given.len() };
        let (mut splits, counted) = rec.at(counted_vec(rec.backend, rec.op, rows + 1))?;
        let mut end = 0i64;
        splits.push(0);
        for r in 0..rows {
            let next = match self {
                Self::Splits => given[r + 1],
                Self::Lengths => end.saturating_add(given[r].max(0)),
                Self::Starts => given.get(r + 1).copied().unwrap_or(last),
                Self::Limits => given[r],
            };
            end = if r + 1 == rows { last } else { next.clamp(end, last) };
            splits.push(end as u32);
        }
        Ok((splits, counted))
    }
}

/// Validates sorted row ids, one per value, and converts them to splits.
///
/// # Errors
/// The first id that is negative, below the one before it, or not below `nrows`; more rows than a tensor can have; no memory
/// for the splits.
pub(crate) fn splits_of_rowids(rec: Recorder<'_>, ids: &[i64], nrows: Option<i64>) -> Result<CountedSplits> {
    let nrows = match nrows {
        Some(n) if n < 0 => return Err(rec.partition(format!("nrows must not be negative, but is {n}"))),
        Some(n) => n,
        None => ids.last().map_or(0, |&last| last.max(-1).saturating_add(1)),
    };
    if let Some(i) = ids.iter().position(|&id| id < 0) {
        let what = format!("value_rowids must not be negative, but value_rowids[{i}] is {}", ids[i]);
        return Err(rec.partition(what));
    }
    if let Some(i) = ids.windows(2).position(|w| w[1] < w[0]) {
        let (a, b) = (ids[i], ids[i + 1]);
        let what = format!("value_rowids must ascend, but value_rowids[{}] = {b} is below {a}", i + 1);
        return Err(rec.partition(what));
    }
    if let Some(i) = ids.iter().position(|&id| id >= nrows) {
        let what = format!("value_rowids[{i}] is {}, but there are {nrows} rows", ids[i]);
        return Err(rec.partition(what));
    }
    trusted_splits_of_rowids(rec, ids, Some(nrows))
}

/// Converts row ids that the caller guarantees to splits; an id out of range is clamped to the nearest row.
///
/// # Errors
/// More rows than a tensor can have; values without rows; no memory for the splits.
pub(crate) fn trusted_splits_of_rowids(rec: Recorder<'_>, ids: &[i64], nrows: Option<i64>) -> Result<CountedSplits> {
    let nrows = nrows.unwrap_or_else(|| ids.last().map_or(0, |&last| last.saturating_add(1))).max(0) as u64;
    let rows = rec.known(nrows)?.capacity() as usize;
    rec.known(nrows + 1)?;
    rec.known(ids.len() as u64)?;
    if rows == 0 && !ids.is_empty() {
        return Err(rec.partition(format!("there are {} values, but no rows", ids.len())));
    }
    let (mut splits, counted) = rec.at(counted_vec(rec.backend, rec.op, rows + 1))?;
    splits.resize(rows + 1, 0u32);
    for &id in ids {
        splits[id.clamp(0, rows as i64 - 1) as usize + 1] += 1;
    }
    for r in 0..rows {
        splits[r + 1] += splits[r];
    }
    Ok((splits, counted))
}
