//! Uniform partitions, with rows of one length.

use super::Making;
use crate::error::Result;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::shape::RowPartition;

/// A uniform partition of `nvals` values, and the device-side checks that it depends on.
pub(crate) fn uniform(
    m: Making<'_>,
    len: i64,
    nrows: Option<i64>,
    nvals: &Extent,
) -> Result<(RowPartition, Vec<Node>)> {
    let wrong = |what: String| Err(m.rec.partition(what));
    if len < 0 {
        return wrong(format!("uniform_row_length must not be negative, but is {len}"));
    }
    if let Some(n) = nrows.filter(|&n| n < 0) {
        return wrong(format!("nrows must not be negative, but is {n}"));
    }
    let per_row = m.rec.given(len as u64)?.size().clone();
    let rows = match nrows.map(|n| m.rec.given(n as u64)).transpose()? {
        Some(n) => n,
        None if len == 0 => Extent::known(0),
        None => nvals.part(&per_row),
    };
    let p = m.rec.at(RowPartition::uniform(per_row, rows.clone()))?;
    let mut asserts = Vec::new();
    match (p.nvals_extent().as_known(), nvals.as_known()) {
        (Some(a), Some(b)) if a != b => {
            return wrong(format!(
                "{b} values are not {} rows of uniform_row_length = {len}",
                rows.as_known().unwrap_or_default()
            ));
        }
        (Some(_), Some(_)) => {}
        _ => {
            // Required even for an unchecked partition: rows beyond the values, or values beyond the rows, would hold
            // stale data of another tensor.
            let what = format!("the number of values must be nrows times uniform_row_length = {len}");
            asserts.push(m.condition(Extent::known(1), p.nvals_extent().expr().eq(nvals.expr()), what));
        }
    }
    Ok((p.with_nvals(nvals.clone()), asserts))
}
