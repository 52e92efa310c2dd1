//! Gathered rows of a partition: the resulting partition and its capacity.

use super::RowPartition;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;

/// Whether a row may be gathered more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Each row at most once: the result has no more values than the source.
    Never,
    /// Any number of times: the result is bounded by the row count and the longest row, or unbounded where that is
    /// unknown.
    Maybe,
}

/// The partition of `count` rows with the given lengths, each the length of some row of `source`.
pub(crate) fn level_below(
    rec: Recorder<'_>,
    source: &RowPartition,
    count: &Extent,
    length: Expr,
    repeats: Repeats,
) -> Result<RowPartition> {
    let nvals = source.nvals_extent().size();
    let longest = source.known_lengths().map(|(_, longest)| longest);
    let most = Size::from(upper_bound(u64::MAX));
    let bound = match repeats {
        _ if nvals.as_known() == Some(0) => Size::from(0),
        Repeats::Never => longest.map_or_else(|| nvals.clone(), |longest| count.size().mul(longest).min(nvals)),
        Repeats::Maybe => longest.map_or_else(|| most.clone(), |longest| count.size().mul(longest).min(&most)),
    };
    let below = RowPartition::from_lengths(rec, count, length, bound)?;
    Ok(below.with_lengths(longest.map(|longest| (0, longest))))
}
