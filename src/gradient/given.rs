//! Cotangents that positions give to the elements that they read.

use super::scalar::zero;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain};
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::record::by_key::{ByKey, reduce_rows};

/// What the positions below `count` give to the elements that they read: the cotangent `ct`, an expression in the
/// position.
#[derive(Clone)]
pub(super) struct Given<'a> {
    pub(super) rec: Recorder<'a>,
    pub(super) ct: Expr,
    pub(super) count: Extent,
}

impl Given<'_> {
    /// The value where the condition holds, else 0.
    pub(super) fn only_where(&self, condition: Expr, value: Expr) -> Expr {
        condition.select(value, zero(self.ct.dtype()))
    }

    /// Number of elements of `width` numbers each.
    pub(super) fn elements(&self, width: u32) -> Option<Extent> {
        match width {
            0 => None,
            1 => Some(self.count.clone()),
            width => Some(self.count.part(width)),
        }
    }

    /// What `reduce` makes of the cotangents in the dtype in which they are added, in their own dtype, at the position.
    fn widened(&self, reduce: impl FnOnce(Expr) -> Result<Node>) -> Result<Expr> {
        let dtype = self.ct.dtype();
        let sums = reduce(self.ct.clone().cast(dtype.accumulator()))?;
        Ok(Expr::load(&sums, Expr::index()).cast(dtype))
    }

    /// The sum of each row of `value`, an expression in the number of the rows.
    pub(super) fn sum(&self, on: RowDomain, value: Expr) -> Result<Expr> {
        let rec = self.rec;
        Given { ct: value, ..self.clone() }.widened(|value| reduce_rows(rec, ReduceOp::Sum, on, value))
    }

    /// The sums of the elements of each key, of `inner` numbers each.
    pub(super) fn by_key(&self, key: Expr, keys: &Extent, inner: u32) -> Result<Expr> {
        let (rec, count) = (self.rec, &self.count);
        let by_key = ByKey::new(rec, count, key, keys)?.in_tiles(rec, count);
        self.widened(|value| by_key.reduce(rec, ReduceOp::Sum, inner, &value))
    }
}
