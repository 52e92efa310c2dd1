//! The coordinates of entries, as expressions.

use super::SparseTensor;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::tensor::{Tensor, Values};

/// The coordinates of a sparse tensor's entries. What is computed from them is subject to the tensor's conditions.
pub(super) struct Coordinates {
    node: Node,
    rank: u32,
}

impl Coordinates {
    pub(super) fn new(rec: Recorder<'_>, x: &SparseTensor) -> Result<Self> {
        let value = Expr::load(rec.numbers(&x.indices)?, Expr::index());
        let node = rec.map(rec.count(&x.indices)?, value, &x.conditions);
        Ok(Self { node, rank: x.rank() as u32 })
    }

    /// Coordinate `d` of the entry `Index`, i64.
    pub(super) fn of(&self, d: usize) -> Expr {
        Expr::load(&self.node, Expr::index().mul(Expr::u32(self.rank)).add(Expr::u32(d as u32)))
    }

    /// All coordinates of the entry `Index`.
    pub(super) fn all(&self) -> Vec<Expr> {
        (0..self.rank as usize).map(|d| self.of(d)).collect()
    }

    /// Whether the coordinates of the entry `Index` lie within these dimensions.
    pub(super) fn are_inside(&self, dims: &[u64]) -> Expr {
        dims.iter().enumerate().fold(Expr::scalar(true), |all, (d, &size)| {
            // Read as unsigned, a negative coordinate is too large.
            let inside = self.of(d).bitcast(DType::U64).lt(Expr::number(size.min(1 << 63)));
            all.and(inside)
        })
    }

    /// The coordinates as a tensor `[n, rank]`.
    #[track_caller]
    pub(super) fn tensor(&self, x: &SparseTensor) -> Result<Tensor> {
        x.indices.with_value_node(self.node.clone())
    }
}

/// The i64 tensor `[count, rank]` of these coordinates, each an expression in the entry.
pub(super) fn indices_of(
    rec: Recorder<'_>,
    count: &Extent,
    coordinates: &[Expr],
    conditions: &[Node],
) -> Result<Tensor> {
    let rank = coordinates.len() as u32;
    let (entry, dim) = (Expr::index().div(Expr::u32(rank.max(1))), Expr::index().rem(Expr::u32(rank.max(1))));
    // Narrow coordinates are selected before they are widened.
    let narrow = coordinates.iter().all(|c| c.dtype() == DType::U32);
    let at_entry = |e: &Expr| if narrow { e.at(&entry) } else { e.at(&entry).cast(DType::I64) };
    let (last, others) = match coordinates.split_last() {
        Some((last, others)) => (at_entry(last), others),
        None => (Expr::scalar(0i64), [].as_slice()),
    };
    let chosen =
        others.iter().enumerate().rev().fold(last, |below, (d, coordinate)| {
            dim.clone().eq(Expr::u32(d as u32)).select(at_entry(coordinate), below)
        });
    let chosen = chosen.cast(DType::I64);
    let node = rec.map(rec.times(count, rank)?, chosen, conditions);
    rec.tensor(Vec::new(), Some(count.clone()), vec![rank], Values::Numbers(node))
}
