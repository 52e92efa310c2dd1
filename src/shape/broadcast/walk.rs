//! The walk over the dimensions of all operands of a broadcast.

use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::shape::{RaggedShape, RowPartition};

/// One dimension of an operand.
pub(super) enum Dim<'a> {
    Ragged(&'a RowPartition),
    Uniform(Extent),
}

impl Dim<'_> {
    /// Whether the dimension repeats.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::Uniform(n) if n.as_known() == Some(1))
    }
}

/// State of the walk over the dimensions of all operands.
pub(super) struct Walk<'a> {
    pub(super) rec: Recorder<'a>,
    pub(super) layouts: &'a [&'a RaggedShape],
    /// Rank of the result.
    pub(super) rank: usize,
    /// Each operand's size along its outermost dimension.
    pub(super) rows: Vec<Extent>,
    pub(super) asserts: Vec<Node>,
}

impl<'a> Walk<'a> {
    /// Operand `k`'s dimension that corresponds to dimension `d` of the result.
    pub(super) fn dim(&self, k: usize, d: usize) -> Dim<'a> {
        let layout = &self.layouts[k];
        match (d + layout.rank()).checked_sub(self.rank) {
            None => Dim::Uniform(Extent::known(1)),
            Some(0) => Dim::Uniform(self.rows[k].clone()),
            Some(own) => match layout.partitions.get(own - 1) {
                Some(p) => p.uniform_size().map_or(Dim::Ragged(p), |len| Dim::Uniform(Extent::of(len.clone()))),
                None => Dim::Uniform(Extent::of(layout.inner.sizes()[own - 1 - layout.partitions.len()].clone())),
            },
        }
    }

    /// The operand's number of rows. Read back to the host where the rows become an inner dimension of the result.
    pub(super) fn known_if_inside(&self, layout: &RaggedShape) -> Result<Extent> {
        let rows = layout.nrows_extent();
        if layout.rank() == self.rank {
            return Ok(rows);
        }
        match rows.as_known() {
            Some(_) => Ok(rows),
            None => Ok(Extent::given(self.rec.on_host(&rows)?)),
        }
    }

    pub(super) fn mismatch(&self, a: usize, b: usize, what: String) -> Error {
        let (a, b) = (a.min(b), a.max(b));
        self.rec.shape(self.layouts[a].text(), self.layouts[b].text(), what)
    }

    /// Records a device-side check that `ok` holds at every position below `count`.
    pub(super) fn assert(&mut self, a: usize, b: usize, count: Extent, ok: Expr, d: usize) {
        let (a, b) = (self.layouts[a.min(b)].text(), self.layouts[a.max(b)].text());
        let what =
            format!("shapes {a} and {b} have different sizes along dimension {d}, and neither was recorded as 1");
        self.asserts.push(self.rec.assert(count, ok, self.rec.check(what)));
    }
}
