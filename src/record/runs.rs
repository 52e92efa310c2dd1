//! Contiguous runs of rows and values, taken without a prefix sum or a search.

use crate::error::Result;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::graph::walk::for_each_expr;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

impl Tensor {
    /// The `count` rows from row `start` on. `start` is an expression that reads arrays at fixed positions only. The
    /// rows are contiguous: no prefix sum and no search, even where only the device knows `start`.
    pub(crate) fn rows_from(&self, rec: Recorder<'_>, start: &Expr, count: Extent) -> Result<Self> {
        let (mut start, mut count) = (start.clone(), count);
        let mut partitions = Vec::with_capacity(self.ragged_rank());
        for p in self.partitions() {
            let (taken, first) = run_of_rows(rec, p, &start, &count)?;
            start = settled(rec, first);
            count = taken.nvals_extent().clone();
            partitions.push(taken);
        }
        let width = self.width_size();
        let numbers = rec.times_size(&count, &width)?;
        let start = start.mul(Expr::size(&width));
        let values = run_of_values(rec, self.values_ref(), &start, &numbers, &rec.at(self.count())?)?;
        rec.tensor(partitions, Some(count), self.inner().clone(), values)
    }
}

/// A partition of one row with `count` values.
pub(crate) fn single_row(rec: Recorder<'_>, count: Extent) -> Result<RowPartition> {
    let one = Extent::known(1);
    match count.as_known() {
        Some(_) => rec.uniform_rows(count.size(), one),
        None => {
            let rows = rec.rows_of_lengths(&one, count.expr(), count.size())?;
            Ok(rows.with_nvals(count))
        }
    }
}

/// Makes a count read arrays at fixed positions only, as the count of an extent must. A count that does not is recorded
/// as an array of one element, which is loaded.
pub(crate) fn settled(rec: Recorder<'_>, count: Expr) -> Expr {
    let mut fixed = true;
    for_each_expr(&count, &mut |e| {
        fixed &= !matches!(e.kind(), ExprKind::Load(_, at) if at.as_size().is_none());
    });
    if fixed {
        return count;
    }
    Expr::load(&rec.map(Extent::known(1), count, &[]), Expr::u32(0))
}

/// Upper bound on the length of a row.
pub(crate) fn longest(p: &RowPartition) -> u32 {
    let nvals = p.nvals_extent().capacity();
    p.known_lengths().map_or(nvals, |(_, longest)| longest.min(nvals))
}

/// The `count` rows of `p` from row `start` on, and the position of their first value. The rows are contiguous: no
/// prefix sum and no search.
pub(crate) fn run_of_rows(
    rec: Recorder<'_>,
    p: &RowPartition,
    start: &Expr,
    count: &Extent,
) -> Result<(RowPartition, Expr)> {
    if start.as_u32() == Some(0) && count.is_same(p.nrows_extent()) {
        return Ok((p.clone(), Expr::u32(0)));
    }
    if let Some(len) = p.uniform_size() {
        return Ok((rec.uniform_rows(len, count.clone())?, p.start(start.clone())));
    }
    let end = match (count.as_known(), p.nrows_extent().as_known()) {
        // There may be fewer rows, which is an error; the count of their values is inside of the splits all the same.
        (Some(_), None) => start.clone().add(count.expr()).min(p.nrows_extent().expr()),
        _ => start.clone().add(count.expr()),
    };
    let known = |at: &Expr| p.known_split(at.as_known()?).map(|split| Expr::size(&split));
    let first = match (known(start), start.as_u32()) {
        (Some(first), _) => first,
        (None, Some(0)) => Expr::u32(0),
        _ => p.start(start.clone()),
    };
    let last = known(&end).unwrap_or_else(|| p.start(end));
    let capacity = count.size().mul(longest(p)).min(p.nvals_extent().size());
    let nvals = Extent::bounded(&capacity, settled(rec, last.sub(first.clone())));
    let from = p.start(Expr::index().add(start.clone())).sub(first.clone());
    let taken = rec.rows_of_starts(count, &from, &capacity, &[])?.with_nvals(nvals);
    Ok((taken.with_lengths(p.known_lengths()), first))
}

/// The `count` values from `start` on. Returns `values` itself if these are all of them.
pub(crate) fn run_of_values(
    rec: Recorder<'_>,
    values: &Values,
    start: &Expr,
    count: &Extent,
    all: &Extent,
) -> Result<Values> {
    if start.as_u32() == Some(0) && count.is_same(all) {
        return Ok(values.clone());
    }
    let read = |node: &Node, count: Extent, start: &Expr| {
        rec.map(count, Expr::load(node, Expr::index().add(start.clone())), &[])
    };
    Ok(match values {
        Values::Numbers(node) => Values::Numbers(read(node, count.clone(), start)),
        Values::Strings { strings, bytes } => {
            let (strings, start) = run_of_rows(rec, strings, start, count)?;
            let bytes = read(bytes, strings.nvals_extent().clone(), &start);
            Values::Strings { strings, bytes }
        }
    })
}
