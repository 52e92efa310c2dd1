//! Which origin numbers the elements of a join have.

use std::ops::Range;

use super::join::{Join, running};
use super::pieces::Numbering;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::size::RecordedSize;
use crate::shape::RowPartition;

impl Join<'_> {
    /// The origin numbers of a level: alternating ones, unless the host knows that a source is too large.
    pub(super) fn numbering(&self, level: usize) -> Numbering {
        let is_large = |p: &RowPartition| p.nvals_extent().as_known().is_some_and(|n| u64::from(n) > self.share());
        if !self.of_sources(level).any(is_large) {
            return Numbering::Alternating(self.sources.len() as u32);
        }
        let counts: Vec<Expr> = self.of_sources(level).map(|p| p.nvals_extent().expr()).collect();
        Numbering::Appended(running(&counts))
    }

    /// Number of elements of a source that alternating origin numbers hold.
    fn share(&self) -> u64 {
        (1u64 << 32) / self.sources.len() as u64
    }

    /// Requires that alternating origin numbers hold the elements of these levels, as far as the host does not know it: of
    /// sizes that are read, or given, later.
    pub(super) fn check_numbering(&mut self, levels: Range<usize>) {
        let Ok(most) = u32::try_from(self.share()) else { return };
        let holds = |p: &RowPartition| {
            let count = p.nvals_extent();
            let is_open = count.as_known().is_none() && count.capacity() > most;
            is_open.then(|| count.expr().le(Expr::u32(most)))
        };
        let all = levels.flat_map(|level| self.of_sources(level).filter_map(holds).collect::<Vec<_>>());
        if let Some(ok) = all.reduce(Expr::and) {
            let check = self.rec.check(format!("a tensor has more than {most} elements within rows of rows"));
            self.asserts.push(self.rec.assert(Extent::known(1), ok, check));
        }
    }
}
