//! Rows taken from a partition: the partition that they form, and how many values it must have room for.

use super::RowPartition;
use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;

/// Whether a row may be taken more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Each row at most once: the result is no larger than its source.
    Never,
    /// Any number of times. Where nothing bounds the result usefully this costs a wait for its size.
    Maybe,
}

/// Capacities up to this many elements are taken as they are, however few of them are used.
const SMALL: u64 = 1 << 16;
/// Larger capacities may be this many times the source's size before the exact size is asked for.
const SLACK: u64 = 2;

/// The partition of `count` rows with those lengths, each the length of some row of `source`.
pub(crate) fn level_below(
    backend: &BackendRef,
    op: &'static str,
    source: &RowPartition,
    count: &Extent,
    length: Expr,
    repeats: Repeats,
) -> Result<RowPartition> {
    let nvals = u64::from(source.nvals_extent().capacity());
    let longest = source.known_lengths().map(|(_, longest)| longest);
    let at_most = longest.map(|l| u64::from(count.capacity()) * u64::from(l));
    let capacity = match (repeats, at_most) {
        (Repeats::Never, m) => Some(m.map_or(nvals, |m| m.min(nvals))),
        (Repeats::Maybe, Some(m)) if m <= SMALL.max(SLACK * nvals) => Some(m),
        (Repeats::Maybe, _) if nvals == 0 => Some(0),
        _ => None,
    };
    if let Some(capacity) = capacity {
        return Ok(RowPartition::from_lengths(backend, op, count, length, capacity as u32)?
            .with_lengths(longest.map(|l| (0, l))));
    }
    let taken = RowPartition::from_lengths(backend, op, count, length, u32::MAX - 1)?;
    if taken.nvals().is_some() {
        return Ok(taken);
    }
    Ok(taken.measured(backend, op)?.with_lengths(longest.map(|l| (0, l))))
}
