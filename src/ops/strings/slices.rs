//! Strings that are ranges of one byte array.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::tensor::Values;

/// `count` strings, of which string `Index` is `length` bytes of `bytes` from `first` on; at most `capacity` bytes in
/// all. A map for each of both expressions, a prefix sum of the lengths, and a map over the bytes of the result.
#[track_caller]
pub(super) fn slices(
    rec: Recorder<'_>,
    count: &Extent,
    bytes: &Node,
    (first, length): (Expr, Expr),
    capacity: impl Into<Size>,
) -> Result<Values> {
    let at = Expr::index();
    // Stored once per string, since both expressions may search or read several arrays.
    let first = rec.map(count.clone(), first, &[]);
    let strings = rec.rows_of_lengths(count, length, capacity.into().min(upper_bound(u64::MAX)))?;
    let (string, offset) = (strings.row_of(at.clone()), strings.offset_of(at));
    let byte = Expr::load(bytes, Expr::load(&first, string).add(offset));
    let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
    Ok(Values::Strings { strings, bytes })
}
