//! Groups of entries with equal keys.

use super::keys::Keys;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::Aggregate;
use crate::record::by_key::reduce_rows;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

/// Groups of entries with equal keys, in ascending order of the keys.
pub(super) struct Groups {
    /// The entry at the place `Index` in order.
    entries: Expr,
    /// The partition of the places into groups.
    members: RowPartition,
    /// First place of each group.
    first: Node,
}

impl Groups {
    /// The groups of `count` entries, where the entry at each place in ascending order of the keys is `entries`.
    pub(super) fn new(rec: Recorder<'_>, count: &Extent, keys: &Keys, entries: Expr) -> Result<Self> {
        let at = Expr::index();
        let before = at.clone().max(Expr::u32(1)).sub(Expr::u32(1));
        let differ = keys.differ(&entries.at(&before), &entries);
        let begins = at.clone().eq(Expr::u32(0)).or(differ);
        let marks = RankBitmap::new(rec, count, begins);
        let found = marks.total();
        let first = rec.kept(&marks, found.clone());
        let start = at.clone().lt(found.expr()).select(Expr::load(&first, at), count.expr());
        let members = RowPartition::from_starts(rec, &found, &start, count.size(), &[])?;
        let members = members.with_nvals(count.clone());
        Ok(Self { entries, members, first })
    }

    /// Number of groups.
    pub(super) fn count(&self) -> &Extent {
        self.members.nrows_extent()
    }

    /// The partition of the places into groups.
    pub(super) fn members(&self) -> &RowPartition {
        &self.members
    }

    /// The first entry of the group `Index`.
    pub(super) fn first(&self) -> Expr {
        self.entries.at(&Expr::load(&self.first, Expr::index()))
    }

    /// The aggregate of the values of each group, an expression in the group.
    pub(super) fn aggregate(&self, rec: Recorder<'_>, values: &Tensor, what: Aggregate) -> Result<Expr> {
        let members = &self.members;
        let value = Expr::load(rec.numbers(values)?, self.entries.clone());
        let reduce = |by, value: Expr| {
            let node = reduce_rows(rec, by, members.domain(1), value)?;
            Ok(Expr::load(&node, Expr::index()))
        };
        what.of(rec, value, members.nvals_extent().capacity(), &members.length(Expr::index()), reduce)
    }

    /// The vector of a value per group, an expression in the group.
    pub(super) fn tensor(&self, rec: Recorder<'_>, value: Expr) -> Result<Tensor> {
        let values = Values::Numbers(rec.map(self.count().clone(), value, &[]));
        rec.tensor(Vec::new(), Some(self.count().clone()), [], values)
    }
}
