//! Indices of a gather: their layout, the range that they address, and the elements that they select.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::indexing::index::Index;
use crate::record::rows::Repeats;
use crate::record::runs::single_row;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

/// The violated condition of an index. A failed read adds the index and the size.
pub(crate) const OUT_OF_RANGE: &str = "an index is out of range";

/// Whether a gather with `count` indices may repeat a row.
pub(super) fn repeats(count: &Extent) -> Repeats {
    if count.capacity() <= 1 { Repeats::Never } else { Repeats::Maybe }
}

/// The range that an index addresses.
#[derive(Debug)]
pub(super) enum Within<'a> {
    /// The rows of the outermost dimension.
    Outermost(Extent),
    /// The values of that row of a partition.
    Row(&'a RowPartition, Expr),
}

impl Within<'_> {
    /// The position that an index names, and whether there is one.
    pub(super) fn place(&self, index: Expr) -> (Expr, Expr) {
        let narrow = index.clone().cast(DType::U32);
        match self {
            Self::Outermost(n) => (narrow, in_range(&index, n.expr(), n.capacity())),
            Self::Row(p, row) => {
                let size = match p.uniform_size() {
                    Some(len) => Expr::size(len),
                    None => p.length(row.clone()),
                };
                (p.within(row.clone(), narrow), in_range(&index, size, p.nvals_extent().capacity()))
            }
        }
    }
}

/// Whether `0 <= index < size`, where no size is above `capacity`.
pub(crate) fn in_range(index: &Expr, size: Expr, capacity: u32) -> Expr {
    // Read as unsigned, a negative index is too large.
    match index.dtype() {
        DType::I64 => index.clone().bitcast(DType::U64).lt(size.cast(DType::U64)),
        DType::U64 => index.clone().lt(size.cast(DType::U64)),
        DType::I32 => {
            let bits = index.clone().bitcast(DType::U32);
            let below = bits.clone().lt(size);
            if capacity <= 1 << 31 { below } else { bits.lt(Expr::u32(1 << 31)).and(below) }
        }
        _ => index.clone().lt(size),
    }
}

/// Indices with a partition for each dimension but the outermost.
pub(super) struct Indices<'a> {
    rec: Recorder<'a>,
    /// The indices in flat order, and how many.
    pub(super) node: Node,
    pub(super) count: Extent,
    /// How many rows the outermost dimension has.
    nrows: Extent,
    /// The other dimensions, and whether each was a row partition to begin with.
    pub(super) dims: Vec<(RowPartition, bool)>,
    pub(super) rank: usize,
    pub(super) scalar: bool,
}

impl<'a> Indices<'a> {
    /// # Errors
    /// Indices that are no integers, or on another device.
    #[track_caller]
    pub(super) fn new(rec: Recorder<'a>, indices: &Tensor) -> Result<Self> {
        Device::check_same(rec.op, rec.backend, indices.backend())?;
        let node = rec.index_node(indices, "indices")?;
        let deep = indices.inner_to_partitions(indices.inner().len())?;
        Ok(Self {
            rec,
            node,
            count: indices.count()?,
            nrows: indices.nrows_extent(),
            dims: deep.partitions().iter().enumerate().map(|(d, p)| (p.clone(), d < indices.ragged_rank())).collect(),
            rank: indices.rank(),
            scalar: indices.rank() == 0,
        })
    }

    /// The elements of `params`'s outermost dimension.
    #[track_caller]
    pub(super) fn into_outermost(self, params: &Tensor) -> Result<Tensor> {
        let taken = self.take(params, &Within::Outermost(params.nrows_extent()), Vec::new())?;
        self.above(taken, true)
    }

    /// Row `k` of the gathered result: the element of `params` at index `k`.
    #[track_caller]
    fn take(&self, params: &Tensor, within: &Within<'_>, mut asserts: Vec<Node>) -> Result<Tensor> {
        let (position, ok) = within.place(Expr::load(&self.node, Expr::index()));
        let check = Arc::new(self.rec.check_of_index(OUT_OF_RANGE));
        if params.reads_no_index() {
            asserts.push(Node::assert(params.backend(), self.count.clone(), ok.clone(), check.clone()));
        }
        let position = position.checked(check, ok);
        params.take_rows(self.rec, self.count.clone(), position, repeats(&self.count), &asserts)
    }

    /// The gathered rows, one per index, below the dimensions of the indices. They keep their own partitions only if
    /// `ragged`.
    #[track_caller]
    pub(super) fn above(self, taken: Tensor, ragged: bool) -> Result<Tensor> {
        if self.scalar {
            return taken.slice([Index::At(0)]);
        }
        under_all(self.rec.op, self.dims, taken, ragged)
    }

    /// The elements of dimension `axis` of `params`, below the first, by the indices of each batch.
    #[track_caller]
    pub(super) fn into_rows(self, params: &Tensor, axis: usize, batch: usize) -> Result<Tensor> {
        let op = self.rec.op;
        let deep = params.inner_to_partitions(axis.saturating_sub(params.ragged_rank()))?;
        let (above, here) = (&deep.partitions()[..axis - 1], &deep.partitions()[axis - 1]);
        let asserts = self.same_batches(&deep, batch)?;
        let mut dims: Vec<(RowPartition, bool)> = Vec::with_capacity(self.rank + axis);
        for (d, p) in above.iter().enumerate() {
            let batched = d + 1 < batch && self.dims[d].1;
            dims.push((p.clone(), d < params.ragged_rank() || batched));
        }
        let is_dense = params.ragged_rank() <= axis && !self.dims.iter().any(|(_, stays)| *stays);
        let of_row = self.of_each_row(above, here, axis, batch, is_dense)?;
        // The row of `here` that an index counts in is its outermost ancestor.
        let row = of_row.dims.iter().rev().fold(Expr::index(), |at, (p, _)| p.row_of(at));
        let within = Within::Row(here, row);
        let mut below = deep.clone();
        for _ in 0..axis {
            below = below.values_below()?;
        }
        let taken = of_row.take(&below, &within, asserts)?;
        dims.extend(of_row.dims);
        under_all(op, dims, taken, true)
    }

    /// The indices of each row of `here`, whose batch is its ancestor through the partitions `above`. They become inner
    /// dimensions if all is dense below.
    #[track_caller]
    fn of_each_row(
        &self,
        above: &[RowPartition],
        here: &RowPartition,
        axis: usize,
        batch: usize,
        is_dense: bool,
    ) -> Result<Self> {
        let rows = here.nrows_extent().clone();
        let rec = self.rec;
        let own = |dims: Vec<(RowPartition, bool)>, node: Node, count: Extent| Self {
            rec,
            node,
            count,
            nrows: rows.clone(),
            rank: dims.len() + 1,
            dims,
            scalar: false,
        };
        if self.scalar {
            let index = rec.map(rows.clone(), Expr::load(&self.node, Expr::u32(0)), &[]);
            return Ok(own(Vec::new(), index, rows.clone()));
        }
        let mut dims = self.dims[batch.saturating_sub(1).min(self.dims.len())..].to_vec();
        if batch == axis {
            return Ok(own(dims, self.node.clone(), self.count.clone()));
        }
        let mut batch_of = Expr::u32(0);
        if batch == 0 {
            // All rows have the same indices: the batch is one row that holds all of them.
            let number = match is_dense {
                // A dimension of a dense tensor: the wait, where only the device knows it.
                true => Extent::known(rec.on_host(&self.nrows)?),
                false => self.nrows.clone(),
            };
            dims.insert(0, (single_row(rec, number)?, false));
        } else {
            batch_of = above[batch - 1..].iter().rev().fold(Expr::index(), |at, p| p.row_of(at));
        }
        let (partitions, flags): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        let values = Values::Numbers(self.node.clone());
        let all = rec.tensor(partitions, Some(self.count.clone()), [], values)?;
        let each = all.take_rows(rec, rows.clone(), batch_of, Repeats::Maybe, &[])?;
        let dims = each.partitions().iter().cloned().zip(flags).collect();
        Ok(own(dims, each.numbers(self.rec.op)?.clone(), each.count()?))
    }

    /// Conditions for the batch dimensions to be the same, as far as only the device can tell.
    ///
    /// # Errors
    /// Batch dimensions that differ, where the host knows them.
    #[track_caller]
    pub(super) fn same_batches(&self, params: &Tensor, batch: usize) -> Result<Vec<Node>> {
        let rec = self.rec;
        let mut asserts = Vec::new();
        if batch == 0 {
            return Ok(asserts);
        }
        let check = rec.check("the tensor and the indices have different numbers of batches");
        asserts.extend(params.nrows_extent().agrees(&self.nrows).condition(rec, check, |(a, b)| {
            rec.argument(format!("the tensor has {a} batches, but the indices have {b}"))
        })?);
        for (d, (p, (q, _))) in params.partitions().iter().zip(&self.dims).take(batch - 1).enumerate() {
            let check = rec.check("a batch dimension differs from that of the indices");
            asserts.extend(p.agrees(q).condition(rec, check, |difference| {
                let what = format!("batch dimension {} differs from that of the indices: {difference}", d + 1);
                rec.argument(what)
            })?);
        }
        Ok(asserts)
    }
}

/// Adds outer partitions to `taken`. The flag of a partition says whether it must stay one; partitions after the last
/// flagged one become inner dimensions.
#[track_caller]
pub(super) fn under_all(
    op: &'static str,
    dims: Vec<(RowPartition, bool)>,
    taken: Tensor,
    ragged: bool,
) -> Result<Tensor> {
    let above = dims.iter().rposition(|(_, stays)| *stays).map_or(0, |d| d + 1);
    let all = dims.len() + taken.ragged_rank();
    let mut partitions: Vec<RowPartition> = dims.into_iter().map(|(p, _)| p).collect();
    partitions.extend(taken.partitions().iter().cloned());
    let (outer, inner) = (taken.outer().cloned(), taken.inner().clone());
    let out = Tensor::new(taken.backend(), partitions, outer, inner, taken.values_ref().clone())?;
    out.partitions_to_inner(op, if ragged && taken.ragged_rank() > 0 { all } else { above })
}
