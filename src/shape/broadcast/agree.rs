//! Comparisons of sizes and row lengths: on the host where it knows them, otherwise by device-side checks.

use super::Place;
use super::walk::Walk;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::size::{RecordedSize, Size};
use crate::shape::{Agreement, RowDifference, RowPartition};

impl Walk<'_> {
    pub(super) fn equal_counts(&mut self, a: usize, b: usize, x: &Extent, y: &Extent, d: usize) -> Result<()> {
        match x.agrees(y) {
            Agreement::Yes => {}
            Agreement::No((x, y)) => {
                let (x, y) = if a < b { (x, y) } else { (y, x) };
                return Err(self.mismatch(
                    a,
                    b,
                    format!("{x} and {y} elements along dimension {d}; only a size of 1 repeats"),
                ));
            }
            Agreement::If(count, ok) => self.assert(a, b, count, ok, d),
        }
        Ok(())
    }

    /// Checks that the rows of `q`, at position `place`, are as long as those of `p`.
    pub(super) fn equal_rows(
        &mut self,
        (a, p): (usize, &RowPartition),
        (b, q): (usize, &RowPartition),
        place: &Place,
        d: usize,
    ) -> Result<()> {
        let agreement = match place {
            Place::Same => p.agrees(q),
            Place::First | Place::At(_) => match (place, p.host_splits(), q.host_splits()) {
                (Place::First, Some(p), Some(q)) if q.len() > 1 => {
                    let len = q[1] - q[0];
                    let differs = |row| Agreement::No(RowDifference::Length(row, (p[row + 1] - p[row], len)));
                    first_other_length(p, len).map_or(Agreement::Yes, differs)
                }
                _ => {
                    let ok = p.length(Expr::index()).eq(q.length(place.expr()));
                    Agreement::If(p.nrows_extent().clone(), ok)
                }
            },
        };
        match agreement {
            Agreement::Yes => {}
            Agreement::No(difference) => {
                let difference = if a < b { difference } else { difference.swapped() };
                return Err(self.mismatch(
                    a,
                    b,
                    format!("in ragged dimension {d}, {difference}; rows must have equal lengths"),
                ));
            }
            Agreement::If(count, ok) => {
                self.assert(a, b, count, ok, d);
                if *place == Place::Same {
                    self.equal_counts(a, b, p.nrows_extent(), q.nrows_extent(), d)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that every row of `p` has `len` elements.
    pub(super) fn all_of_length(
        &mut self,
        (a, p): (usize, &RowPartition),
        (b, size): (usize, &Size),
        d: usize,
    ) -> Result<()> {
        let len = size.capacity();
        if p.known_lengths() == Some((len, len)) || p.nrows_extent().as_known() == Some(0) {
            return Ok(());
        }
        let Some(splits) = p.host_splits() else {
            self.assert(a, b, p.nrows_extent().clone(), p.length(Expr::index()).eq(Expr::size(size)), d);
            return Ok(());
        };
        match first_other_length(splits, len) {
            None => Ok(()),
            Some(row) => {
                let found = splits[row + 1] - splits[row];
                let (x, y) = if a < b { (found, len) } else { (len, found) };
                let what = format!(
                    "row {row} of dimension {d} has {x} elements on the left, {y} on the right; a uniform dimension of \
                     a size other than 1 matches only rows of that length"
                );
                Err(self.mismatch(a, b, what))
            }
        }
    }
}

/// The first row whose length is not `len`.
fn first_other_length(splits: &[u32], len: u32) -> Option<usize> {
    splits.windows(2).position(|w| w[1] - w[0] != len)
}
