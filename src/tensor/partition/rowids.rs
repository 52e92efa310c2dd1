//! Partitions from row ids, the row of each value.

use super::device_ints::DeviceInts;
use super::{Making, Trust};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::{RowPartition, splits_of_rowids, trusted_splits_of_rowids};
use crate::tensor::Tensor;
use crate::tensor::integers::{Integers, Source};

/// The partition whose value `i` is in row `ids[i]`.
pub(crate) fn from_rowids(
    m: Making<'_>,
    ids: Integers<'_>,
    nrows: Option<i64>,
    nvals: Option<&Extent>,
) -> Result<RowPartition> {
    let ids = match &ids.0 {
        Source::Device(t) => return rowids_on_device(m, t, nrows, nvals),
        Source::Host(ids) => ids,
    };
    let given = ids.len() as u64;
    match nvals.map(Extent::as_known) {
        Some(Some(n)) if u64::from(n) != given => {
            return Err(m.rec.partition(format!("value_rowids has {given} entries, but there are {n} values")));
        }
        _ => {}
    }
    // A single id can imply any number of rows, so the device limit is checked before the host builds the splits.
    let rows = nrows.or_else(|| ids.last().map(|last| last.saturating_add(1))).unwrap_or(0).max(0) as u64;
    if rows < u64::from(u32::MAX) - 1 {
        m.fits(4 * (rows + 1))?;
    }
    let (splits, _counted) = match m.trust {
        Trust::Check => splits_of_rowids(m.rec, ids, nrows)?,
        Trust::Vouched => trusted_splits_of_rowids(m.rec, ids, nrows)?,
    };
    let p = RowPartition::from_host_splits(m.rec, splits)?;
    match nvals {
        Some(n) if n.as_known().is_none() => ending_at(m, p, n, "value_rowids must have one entry for each value"),
        _ => Ok(p),
    }
}

/// The partition with a device-side check that it ends at a number of values that only the device knows.
fn ending_at(m: Making<'_>, p: RowPartition, nvals: &Extent, what: &str) -> Result<RowPartition> {
    let mut asserts = match m.trust {
        Trust::Check => {
            vec![m.condition(Extent::known(1), nvals.expr().eq(p.nvals_extent().expr()), what.into())]
        }
        Trust::Vouched => Vec::new(),
    };
    asserts.extend(m.rows_for(nvals, p.nrows_extent())?);
    let splits = RowPartition::ending_at(p.start(Expr::index()), p.nrows_extent(), nvals);
    let splits = m.rec.splits(p.nrows_extent(), &splits, &asserts)?;
    Ok(RowPartition::from_splits_node(splits, p.nrows_extent().clone(), nvals.size()).with_nvals(nvals.clone()))
}

/// Searchable array for sorted keys below u32::MAX - 1, given by position: [`Expr::row_of`] at `r` finds the number of
/// keys below `r`.
///
/// The array holds each key plus 1, between the sentinels 0 and u32::MAX; the search finds the last entry at or below
/// `r`.
pub(crate) fn counts_below(rec: Recorder<'_>, count: &Extent, key: impl Fn(Expr) -> Expr) -> Result<Node> {
    let (i, one) = (Expr::index(), Expr::u32(1));
    let at = i.clone().sub(one.clone());
    let inside = at.clone().lt(count.expr()).select(key(at).add(one), Expr::u32(u32::MAX));
    let fenced = i.eq(Expr::u32(0)).select(Expr::u32(0), inside);
    let places = rec.plus(&count.whole(), &Extent::known(2))?;
    Ok(rec.map(places, fenced, &[]))
}

fn rowids_on_device(m: Making<'_>, t: &Tensor, nrows: Option<i64>, nvals: Option<&Extent>) -> Result<RowPartition> {
    let name = "value_rowids";
    if let Some(n) = nrows.filter(|&n| n < 0) {
        return Err(m.rec.partition(format!("nrows must not be negative, but is {n}")));
    }
    let nrows = nrows.map(|n| m.rec.known(n as u64)).transpose()?;
    // Ids stay below u32::MAX - 1, so that an id plus 1 never equals the sentinel.
    let ints = DeviceInts::new(m, name, t, u32::MAX - 3)?;
    let (i, one, len) = (Expr::index(), Expr::u32(1), ints.count.expr());
    if let (Some(Some(n)), Some(given)) = (nvals.map(Extent::as_known), ints.count.as_known())
        && n != given
    {
        return Err(m.rec.partition(format!("{name} has {given} entries, but there are {n} values")));
    }
    let nrows = match nrows {
        Some(n) => n,
        None => {
            let last = ints.clamped(len.clone().sub(one.clone())).add(one.clone());
            match ints.count.as_known() {
                Some(0) => Extent::known(0),
                _ => {
                    let nrows = len.clone().eq(Expr::u32(0)).select(Expr::u32(0), last);
                    Extent::bounded(upper_bound(u64::MAX) - 1, nrows)
                }
            }
        }
    };
    let count = m.rec.plus(&nrows, &Extent::known(1))?;
    let mut asserts = Vec::new();
    if m.trust == Trust::Check {
        let all = |count: &Extent, ok, what: &str| m.condition(count.clone(), ok, format!("{name} {what}"));
        let pairs = Extent::bounded(ints.count.size().sub(1), len.clone().max(one.clone()).sub(one.clone()));
        let ascends = ints.raw(i.clone()).le(ints.raw(i.clone().add(one)));
        asserts.push(all(&ints.count, ints.in_range(i.clone()), "must not be negative"));
        asserts.push(all(&pairs, ascends, "must ascend"));
        asserts.push(all(&ints.count, ints.clamped(i).lt(nrows.expr()), "must be below nrows"));
        if let Some(n) = nvals.filter(|&n| n != &ints.count) {
            let same = n.expr().eq(len);
            asserts.push(all(&Extent::known(1), same, "must have one entry for each value"));
        }
    }
    // Counts each row's values among the sorted ids; the prefix sums ascend even if the ids do not.
    let below = counts_below(m.rec, &ints.count, |at| ints.clamped(at))?;
    let nvals = nvals.unwrap_or(&ints.count).clone();
    let below = m.rec.map(count.clone(), Expr::row_of(&below, Expr::index()), &[]);
    let (a, b) = (Expr::load(&below, Expr::index()), Expr::load(&below, Expr::index().add(Expr::u32(1))));
    let lengths = a.clone().le(b.clone()).select(b.sub(a), Expr::u32(0));
    let sums = m.rec.scan(nrows.clone(), lengths)?;
    asserts.extend(m.rows_for(&nvals, &nrows)?);
    let splits = RowPartition::ending_at(Expr::load(&sums, Expr::index()), &nrows, &nvals);
    let splits = m.rec.splits(&nrows, &splits, &asserts)?;
    Ok(RowPartition::from_splits_node(splits, nrows, nvals.size()).with_nvals(nvals))
}
