//! Repetitions of elements in rows: cycles through a row, and each element several times.

use crate::error::Result;
use crate::graph::access::{RowsRef, Step};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::RowPartition;

/// Own rows that read the row of the same number with [`Step::Cyclic`] or [`Step::Each`]. In the order of the elements
/// that they read, the positions of each row stay in that row.
pub(super) struct Repetition<'a> {
    pub(super) own: &'a RowsRef,
    pub(super) of: &'a RowsRef,
    pub(super) step: Step,
    /// Number of own rows.
    pub(super) nrows: &'a Extent,
}

/// A row whose elements are read in cycles.
struct Cycles {
    cycle: Expr,
    /// Number of whole cycles.
    whole: Expr,
    /// Number of elements of the last cycle, if it is not whole.
    rest: Expr,
}

impl Repetition<'_> {
    fn cycles(&self, row: &Expr) -> Cycles {
        let cycle = self.of.length(row.clone()).max(Expr::u32(1));
        let length = self.own.length(row.clone());
        Cycles { whole: length.clone().div(cycle.clone()), rest: length.rem(cycle.clone()), cycle }
    }

    /// The positions that read each of the elements, of `count` positions in all, as a row per element.
    pub(super) fn readers(&self, rec: Recorder<'_>, elements: &Extent, count: &Extent) -> Result<Node> {
        let element = Expr::index();
        let row = self.of.row_of(element.clone());
        let offset = element.sub(self.of.start(row.clone()));
        let first = match self.step {
            // Each element is read once per repetition of its row, of which the last one may not be whole.
            Step::Cyclic => {
                let Cycles { whole, rest, .. } = self.cycles(&row);
                offset.clone().mul(whole).add(offset.min(rest))
            }
            // Each element is read by consecutive positions.
            Step::Each(repeats) => {
                let (repeats, length) = (repeats_of(repeats), self.own.length(row.clone()));
                offset.min(length.clone()).mul(repeats).min(length)
            }
            Step::Along(_) => offset,
        };
        let is_read = row.clone().lt(self.nrows.expr());
        let first = is_read.select(self.own.start(row).add(first), count.expr());
        rec.splits(elements, &RowPartition::ending_at(first, elements, count), &[])
    }

    /// The position at a place in the order of the elements that are read.
    pub(super) fn position(&self, place: Expr) -> Expr {
        if self.step != Step::Cyclic {
            return place;
        }
        let row = self.own.row_of(place.clone());
        let term = place.sub(self.own.start(row.clone()));
        let Cycles { cycle, whole, rest } = self.cycles(&row);
        // Elements of the last repetition have one term more.
        let more = whole.clone().add(Expr::u32(1));
        let longer = rest.clone().mul(more.clone());
        let is_longer = term.clone().lt(longer.clone());
        let beyond = term.clone().sub(longer);
        let of_cycle = |term: Expr, by: Expr, from: Expr| {
            term.clone().rem(by.clone()).mul(cycle.clone()).add(from).add(term.div(by))
        };
        let k = is_longer.select(of_cycle(term, more, Expr::u32(0)), of_cycle(beyond, whole.max(Expr::u32(1)), rest));
        self.own.within(row, k)
    }

    /// The place of a position in that order.
    pub(super) fn place(&self, position: Expr) -> Expr {
        if self.step != Step::Cyclic {
            return position;
        }
        let row = self.own.row_of(position.clone());
        let term = position.sub(self.own.start(row.clone()));
        let Cycles { cycle, whole, rest } = self.cycles(&row);
        let (offset, repetition) = (term.clone().rem(cycle.clone()), term.div(cycle));
        self.own.within(row, offset.clone().mul(whole).add(offset.min(rest)).add(repetition))
    }
}

impl Step {
    /// Number of elements that a row of length `own` reads of a row of length `of`.
    pub(super) fn length_read(self, own: Expr, of: Expr) -> Expr {
        match self {
            Self::Each(repeats) => {
                let repeats = repeats_of(repeats);
                own.clone().add(repeats.clone().sub(Expr::u32(1))).div(repeats).min(own)
            }
            _ => own.min(of),
        }
    }
}

/// The number of repetitions of each element.
pub(super) fn repeats_of(repeats: u64) -> Expr {
    Expr::u32(u32::try_from(repeats).unwrap_or(u32::MAX))
}
