//! Gathering: elements by index, along any dimension, alone or batch by batch.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::ops::index::Index;
use crate::ops::rows::Repeats;
use crate::ops::slice::single_row;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor, Values, read_u32};

impl Tensor {
    /// The elements (or rows, or tensors) of `axis` that `indices` names. The result has the dimensions of `self`
    /// before `axis`, those of `indices` after the first `batch_dims`, and those of `self` behind `axis`.
    ///
    /// `axis` is `batch_dims` unless given. With `batch_dims` the first dimensions of both are the same, and each batch
    /// has indices of its own; negative ones count from the rank of `indices`. The result has row partitions as long as
    /// one of its dimensions has one in `self` or `indices`, and is dense otherwise. An empty row of indices gives an
    /// empty row.
    ///
    /// An index into a ragged dimension below others is checked as TensorFlow does: it may name a value behind the end
    /// of its row, which is one of a later row, as long as there are so many values in all. In other dimensions it must
    /// be below their size.
    ///
    /// Costs a map over the values, which fuses into what reads it, and a scan a ragged level of `self` below `axis`.
    /// Where rows of unknown length may be taken many times it waits once a level for the size of the result, and for
    /// strings once for the number of bytes; below the outermost axis also once where only the device knows how many
    /// indices there are, and they become a dimension of a dense tensor.
    ///
    /// TensorFlow: `tf.gather`.
    ///
    /// # Errors
    /// `indices` is no integer tensor, or on another device; `axis` or `batch_dims` out of range, or `axis` below
    /// `batch_dims`; batch dimensions that differ. At the read: an index that is negative or too large.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let table = HostTensor::dense(&[3, 2], HostValues::F32(vec![0., 1., 2., 3., 4., 5.])).to_device(&device)?;
    /// let ids = HostTensor {
    ///     nested_row_splits: vec![vec![0, 2, 2, 3]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![3],
    ///     values: HostValues::I32(vec![2, 0, 1]),
    /// };
    /// let rows = table.gather(&ids.to_device(&device)?, None, 0)?.to_host()?;
    /// assert_eq!(rows.nested_row_splits, [[0, 2, 2, 3]]);
    /// assert_eq!(rows.values, HostValues::F32(vec![4., 5., 0., 1., 2., 3.]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn gather(&self, indices: &Self, axis: Option<i64>, batch_dims: i64) -> Result<Self> {
        const OP: &str = "gather";
        let batch = if batch_dims < 0 { batch_dims + indices.rank() as i64 } else { batch_dims };
        let most = indices.rank().min(self.rank().saturating_sub(1)) as i64;
        if batch < 0 || batch > most {
            return Err(Error::argument(OP, format!("batch_dims {batch_dims} is out of range (at most {most})")));
        }
        let axis = self.axis(OP, axis.unwrap_or(batch))?;
        let batch = batch as usize;
        if axis < batch {
            return Err(Error::argument(OP, format!("axis {axis} lies within the {batch} batch dimensions")));
        }
        let indices = Indices::new(OP, self, indices)?;
        if axis == 0 { indices.into_outermost(self) } else { indices.into_rows(self, axis, batch) }
    }

    /// [`Tensor::gather`] with all dimensions of `indices` but the last as batch dimensions.
    ///
    /// TensorFlow: `tf.compat.v1.batch_gather`.
    ///
    /// # Errors
    /// As [`Tensor::gather`]; `indices` is a scalar.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let x = HostTensor::dense(&[2, 2], HostValues::I32(vec![1, 2, 3, 4])).to_device(&device)?;
    /// let last = HostTensor::dense(&[2, 1], HostValues::I32(vec![1, 0])).to_device(&device)?;
    /// assert_eq!(x.batch_gather(&last)?.to_host()?.values, HostValues::I32(vec![2, 3]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn batch_gather(&self, indices: &Self) -> Result<Self> {
        self.gather(indices, None, -1)
    }

    /// The elements (or rows, or tensors) that vectors of indices name: the last dimension of `indices`, which must be
    /// uniform, holds an index into each of the first dimensions of `self`. The result has the other dimensions of
    /// `indices`, then those of `self` that are not indexed.
    ///
    /// Vectors of length 0 name the whole tensor. Costs as [`Tensor::gather`].
    ///
    /// TensorFlow: `tf.gather_nd`.
    ///
    /// # Errors
    /// `indices` is no integer tensor, a scalar, on another device, or its last dimension is ragged or longer than the
    /// rank of `self`. At the read: an index that is negative or too large, as in [`Tensor::gather`].
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let device = Device::cpu();
    /// let x = HostTensor {
    ///     nested_row_splits: vec![vec![0, 3, 3, 5]],
    ///     uniform_row_lengths: vec![None],
    ///     inner_shape: vec![5],
    ///     values: HostValues::I32(vec![1, 2, 3, 4, 5]),
    /// };
    /// let at = HostTensor::dense(&[2, 2], HostValues::I64(vec![0, 2, 2, 1])).to_device(&device)?;
    /// assert_eq!(x.to_device(&device)?.gather_nd(&at)?.to_host()?.values, HostValues::I32(vec![3, 5]));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn gather_nd(&self, indices: &Self) -> Result<Self> {
        const OP: &str = "gather_nd";
        let mut indices = Indices::new(OP, self, indices)?;
        if indices.scalar {
            return Err(Error::argument(OP, "indices must have a last dimension, but are a scalar"));
        }
        let (vectors, len) = match indices.dims.pop() {
            Some((last, _)) => (last.nrows_extent().clone(), last.uniform_row_length()),
            None => (Extent::known(1), indices.count.as_known()),
        };
        let rank = self.rank() as u32;
        let Some(len) = len.filter(|&n| n <= rank) else {
            let what = format!("the last dimension of indices must be uniform, and {rank} at most");
            return Err(Error::argument(OP, what));
        };
        let params = self.deepened((len as usize).saturating_sub(1 + self.ragged_rank()))?;
        let mut below = params.clone();
        let mut position = Expr::u32(0);
        let mut asserts = Vec::new();
        for k in 0..len {
            let within = match (k as usize).checked_sub(1) {
                None => Within::Outermost(params.nrows_extent()),
                Some(above) => {
                    below = below.values_below()?;
                    Within::Row(&params.partitions()[above], position)
                }
            };
            let at = Expr::index().mul(Expr::u32(len)).add(Expr::u32(k));
            let (place, ok) = within.place(Expr::load(&indices.node, at));
            let check = Check::new(OP, OUT_OF_RANGE);
            if k + 1 == len && below.reads_no_index() {
                asserts.push(Node::assert(self.backend(), vectors.clone(), ok.clone(), check.clone()));
            }
            position = place.checked(check, ok);
        }
        if len == 0 {
            let all = single_row(self.backend(), OP, self.nrows_extent())?;
            below = if self.rank() == 0 { below.deepened(0)? } else { below.under(all)? };
        }
        let taken = below.take_rows(OP, vectors, position, repeats(&indices.count), &asserts)?;
        indices.scalar |= indices.rank == 1;
        indices.above(taken, len > 0 || self.ragged_rank() > 0)
    }

    /// Whether rows of the tensor hold nothing by their type, so that taking them reads no index.
    fn reads_no_index(&self) -> bool {
        let sizes = self.partitions().iter().map(RowPartition::uniform_row_length);
        // The first ragged dimension reads where its rows are; none above it may be of size 0.
        sizes.chain([Some(self.width())]).take_while(Option::is_some).any(|size| size == Some(0))
    }
}

pub(crate) const OUT_OF_RANGE: &str = "an index is out of range for the dimension it counts in";

/// How rows are taken by that many indices: one takes no row twice.
fn repeats(count: &Extent) -> Repeats {
    if count.capacity() <= 1 { Repeats::Never } else { Repeats::Maybe }
}

/// What an index counts in.
#[derive(Debug)]
enum Within<'a> {
    /// The rows of the outermost dimension.
    Outermost(Extent),
    /// The values of that row of a partition.
    ///
    /// In a ragged row an index is checked as TensorFlow does: it may name a value behind the end of its row, one of
    /// a later row, as long as there are so many values in all.
    Row(&'a RowPartition, Expr),
}

impl Within<'_> {
    /// The position that an index names, and whether there is one.
    fn place(&self, index: Expr) -> (Expr, Expr) {
        let narrow = index.clone().cast(DType::U32);
        match self {
            Self::Outermost(n) => (narrow, in_range(&index, n.expr(), n.capacity())),
            Self::Row(p, row) => {
                let start = p.start(row.clone());
                let size = match p.uniform_row_length() {
                    Some(len) => Expr::u32(len),
                    None => p.nvals_extent().expr().sub(start.clone()),
                };
                // The sum, not a position within the row: it may lie behind its end.
                (start.add(narrow), in_range(&index, size, p.nvals_extent().capacity()))
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
struct Indices {
    op: &'static str,
    /// The indices in flat order, and how many.
    node: Node,
    count: Extent,
    /// How many rows the outermost dimension has.
    nrows: Extent,
    /// The other dimensions, and whether each was a row partition to begin with.
    dims: Vec<(RowPartition, bool)>,
    rank: usize,
    scalar: bool,
}

impl Indices {
    /// # Errors
    /// They are no integers, or on another device.
    fn new(op: &'static str, params: &Tensor, indices: &Tensor) -> Result<Self> {
        Device::check_same(op, params.backend(), indices.backend())?;
        if !matches!(indices.dtype(), DType::I32 | DType::I64 | DType::U32 | DType::U64) {
            return Err(Error::unsupported(op, indices.dtype(), "indices are i32 or i64"));
        }
        let deep = indices.deepened(indices.inner().len())?;
        Ok(Self {
            op,
            node: indices.numbers(op)?.clone(),
            count: indices.count()?,
            nrows: indices.nrows_extent(),
            dims: deep.partitions().iter().enumerate().map(|(d, p)| (p.clone(), d < indices.ragged_rank())).collect(),
            rank: indices.rank(),
            scalar: indices.rank() == 0,
        })
    }

    /// The elements of `params`'s outermost dimension.
    #[track_caller]
    fn into_outermost(self, params: &Tensor) -> Result<Tensor> {
        let taken = self.take(params, &Within::Outermost(params.nrows_extent()), Vec::new())?;
        self.above(taken, true)
    }

    /// Row `k` of what comes of this: the element of `params` that index `k` names.
    #[track_caller]
    fn take(&self, params: &Tensor, within: &Within<'_>, mut asserts: Vec<Node>) -> Result<Tensor> {
        let (position, ok) = within.place(Expr::load(&self.node, Expr::index()));
        let check = Check::new(self.op, OUT_OF_RANGE);
        if params.reads_no_index() {
            asserts.push(Node::assert(params.backend(), self.count.clone(), ok.clone(), check.clone()));
        }
        let position = position.checked(check, ok);
        params.take_rows(self.op, self.count.clone(), position, repeats(&self.count), &asserts)
    }

    /// What was taken, one row an index, under the dimensions of the indices. Its own partitions are some to begin
    /// with, unless `ragged` is false.
    fn above(self, taken: Tensor, ragged: bool) -> Result<Tensor> {
        if self.scalar {
            return taken.slice([Index::At(0)]);
        }
        under_all(self.op, self.dims, taken, ragged)
    }

    /// The elements of dimension `axis` of `params`, below the first, by the indices of each batch.
    #[track_caller]
    fn into_rows(self, params: &Tensor, axis: usize, batch: usize) -> Result<Tensor> {
        let op = self.op;
        let deep = params.deepened(axis.saturating_sub(params.ragged_rank()))?;
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
    fn of_each_row(
        &self,
        above: &[RowPartition],
        here: &RowPartition,
        axis: usize,
        batch: usize,
        is_dense: bool,
    ) -> Result<Self> {
        let rows = here.nrows_extent().clone();
        let backend = self.node.backend();
        let own = |dims: Vec<(RowPartition, bool)>, node: Node, count: Extent| Self {
            op: self.op,
            node,
            count,
            nrows: rows.clone(),
            rank: dims.len() + 1,
            dims,
            scalar: false,
        };
        if self.scalar {
            let index = Node::map(backend, self.op, rows.clone(), Expr::load(&self.node, Expr::u32(0)), &[]);
            return Ok(own(Vec::new(), index, rows.clone()));
        }
        let mut dims = self.dims[batch.saturating_sub(1).min(self.dims.len())..].to_vec();
        if batch == axis {
            return Ok(own(dims, self.node.clone(), self.count.clone()));
        }
        let mut batch_of = Expr::u32(0);
        if batch == 0 {
            // All rows have the same indices: those of the one row of everything.
            let number = match self.nrows.as_known() {
                // A dimension of a dense tensor that only the device knows: the wait.
                None if is_dense => Extent::known(read_u32(backend, self.op, self.nrows.expr())?),
                _ => self.nrows.clone(),
            };
            dims.insert(0, (single_row(backend, self.op, number)?, false));
        } else {
            batch_of = above[batch - 1..].iter().rev().fold(Expr::index(), |at, p| p.row_of(at));
        }
        let (partitions, flags): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        let values = Values::Numbers(self.node.clone());
        let all = Tensor::new(backend, partitions, Some(self.count.clone()), Vec::new(), values)?;
        let each = all.take_rows(self.op, rows.clone(), batch_of, Repeats::Maybe, &[])?;
        let dims = each.partitions().iter().cloned().zip(flags).collect();
        Ok(own(dims, each.numbers(self.op)?.clone(), each.count()?))
    }

    /// Conditions for the batch dimensions to be the same, as far as only the device can tell.
    ///
    /// # Errors
    /// They differ, and the host can tell.
    #[track_caller]
    fn same_batches(&self, params: &Tensor, batch: usize) -> Result<Vec<Node>> {
        let (op, backend) = (self.op, params.backend());
        let mut asserts = Vec::new();
        if batch == 0 {
            return Ok(asserts);
        }
        let (rows, own) = (params.nrows_extent(), self.nrows.clone());
        if rows != own {
            if let (Some(a), Some(b)) = (rows.as_known(), own.as_known()) {
                return Err(Error::argument(op, format!("the tensor has {a} batches, but the indices have {b}")));
            }
            let check = Check::new(op, "the tensor and the indices have different numbers of batches");
            asserts.push(Node::assert(backend, Extent::known(1), rows.expr().eq(own.expr()), check));
        }
        for (d, (p, (q, _))) in params.partitions().iter().zip(&self.dims).take(batch - 1).enumerate() {
            match p.first_difference(q) {
                Ok(None) => {}
                Ok(Some(row)) => {
                    let what = format!("batch dimension {} differs from that of the indices at row {row}", d + 1);
                    return Err(Error::argument(op, what));
                }
                Err(()) => {
                    let ok = p.length(Expr::index()).eq(q.length(Expr::index()));
                    let check = Check::new(op, "a batch dimension differs from that of the indices");
                    asserts.push(Node::assert(backend, p.nrows_extent().clone(), ok, check));
                }
            }
        }
        Ok(asserts)
    }
}

/// `taken` under further partitions, each with whether it must stay one. Partitions behind the last that must are inner
/// dimensions.
fn under_all(op: &'static str, dims: Vec<(RowPartition, bool)>, taken: Tensor, ragged: bool) -> Result<Tensor> {
    let above = dims.iter().rposition(|(_, stays)| *stays).map_or(0, |d| d + 1);
    let all = dims.len() + taken.ragged_rank();
    let mut partitions: Vec<RowPartition> = dims.into_iter().map(|(p, _)| p).collect();
    partitions.extend(taken.partitions().iter().cloned());
    let (outer, inner) = (taken.outer().cloned(), taken.inner().to_vec());
    let out = Tensor::new(taken.backend(), partitions, outer, inner, taken.values_ref().clone())?;
    out.shallowed(op, if ragged && taken.ragged_rank() > 0 { all } else { above })
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::gather`].
    ///
    /// # Errors
    /// As [`Tensor::gather`].
    #[track_caller]
    pub fn gather(&self, indices: &impl AsRef<Tensor>, axis: Option<i64>, batch_dims: i64) -> Result<Self> {
        self.erased().gather(indices.as_ref(), axis, batch_dims)?.try_into()
    }

    /// As [`Tensor::batch_gather`].
    ///
    /// # Errors
    /// As [`Tensor::batch_gather`].
    #[track_caller]
    pub fn batch_gather(&self, indices: &impl AsRef<Tensor>) -> Result<Self> {
        self.erased().batch_gather(indices.as_ref())?.try_into()
    }

    /// As [`Tensor::gather_nd`].
    ///
    /// # Errors
    /// As [`Tensor::gather_nd`].
    #[track_caller]
    pub fn gather_nd(&self, indices: &impl AsRef<Tensor>) -> Result<Self> {
        self.erased().gather_nd(indices.as_ref())?.try_into()
    }
}

#[cfg(test)]
mod tests {
    use crate::device::Device;
    use crate::graph::plan::{Longs, PlanLimits, plan};
    use crate::tensor::{HostTensor, HostValues};

    #[test]
    fn a_row_mean_reads_the_table_itself() {
        let device = Device::cpu();
        let table = HostTensor::dense(&[4, 2], HostValues::F32((0..8u8).map(f32::from).collect()));
        let ids = HostTensor {
            nested_row_splits: vec![vec![0, 2, 2, 3]],
            uniform_row_lengths: vec![None],
            inner_shape: vec![3],
            values: HostValues::I64(vec![3, 0, 1]),
        };
        let (table, ids) = (table.to_device(&device).unwrap(), ids.to_device(&device).unwrap());
        let rows = table.gather(&ids, None, 0).unwrap();
        let limits = PlanLimits { storage_buffers: 8, fuse: true, longs: Longs::Native };
        assert_eq!(plan(&rows.nodes().unwrap(), limits).steps.len(), 1);
        let mean = rows.reduce_mean(1, false).unwrap();
        let steps = plan(&mean.nodes().unwrap(), limits).steps;
        assert!(steps.iter().all(|s| s.out.op() != "gather"), "{steps:?}");
    }
}
