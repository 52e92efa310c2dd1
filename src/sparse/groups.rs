//! Groups of entries with equal keys.

use super::keys::Keys;
use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::{Aggregate, kept_positions};
use crate::record::by_key::reduce_rows;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

/// Groups of entries with equal keys, in ascending order of the keys.
pub(super) struct Groups {
    backend: BackendRef,
    /// The entry at the place `Index` in order.
    entries: Expr,
    /// The partition of the places into groups.
    members: RowPartition,
    /// First place of each group.
    first: Node,
}

impl Groups {
    /// The groups of `count` entries, where the entry at each place in ascending order of the keys is `entries`.
    #[track_caller]
    pub(super) fn new(
        backend: &BackendRef,
        op: &'static str,
        count: &Extent,
        keys: &Keys,
        entries: Expr,
    ) -> Result<Self> {
        let rec = Recorder::new(backend, op);
        let at = Expr::index();
        let before = at.clone().max(Expr::u32(1)).sub(Expr::u32(1));
        let differ = keys.differ(&entries.at(&before), &entries);
        let begins = at.clone().eq(Expr::u32(0)).or(differ);
        let marks = RankBitmap::new(rec, count, begins);
        let found = marks.total();
        let first = kept_positions(rec, &marks, &found);
        let start = at.clone().lt(found.expr()).select(Expr::load(&first, at), count.expr());
        let members = RowPartition::from_starts(rec, &found, &start, count.size(), &[])?;
        let members = members.with_nvals(count.clone());
        Ok(Self { backend: backend.clone(), entries, members, first })
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
    #[track_caller]
    pub(super) fn aggregate(&self, op: &'static str, values: &Tensor, what: Aggregate) -> Result<Expr> {
        let (members, rec) = (&self.members, Recorder::new(&self.backend, op));
        let value = Expr::load(values.numbers(op)?, self.entries.clone());
        let reduce = |by, value: Expr| {
            let node = reduce_rows(rec, by, members.domain(1), value)?;
            Ok(Expr::load(&node, Expr::index()))
        };
        what.of(rec, value, members.nvals_extent().capacity(), &members.length(Expr::index()), reduce)
    }

    /// The vector of a value per group, an expression in the group.
    #[track_caller]
    pub(super) fn tensor(&self, op: &'static str, value: Expr) -> Result<Tensor> {
        let values = Values::Numbers(Node::map(&self.backend, op, self.count().clone(), value, &[]));
        Tensor::new(&self.backend, Vec::new(), Some(self.count().clone()), [], values)
    }
}
