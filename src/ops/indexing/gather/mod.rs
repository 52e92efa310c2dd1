//! Gathering: elements by index, along any dimension, alone or batch by batch.

mod indices;
pub(in crate::ops) mod with_default;

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::IntoGatherIndices;
use crate::ops::options::{GatherIndices, batched};
use crate::record::runs::single_row;
use crate::shape::RowPartition;
use crate::tensor::Tensor;
use indices::{Indices, Within, repeats};

use crate::ops::operations;
pub(crate) use indices::{OUT_OF_RANGE, in_range};

operations! {
    /// Elements by index.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// The elements (or rows, or tensors) at `indices` along an axis.
    ///
    /// The axis is the outermost one, or that of [`along`](crate::opt::along)`(&indices, axis)`. The result has the
    /// dimensions of the tensor before the axis, those of `indices` after the batch dimensions, and those of the tensor
    /// behind the axis. Any dtype, which stays.
    ///
    /// With [`batched`](crate::opt::batched)`(&indices, dims)` the first `dims` dimensions of both tensors are the
    /// same, and each batch has indices of its own; the axis is then `dims` unless given. The result has row partitions
    /// down to its last dimension that has one in the tensor or in `indices`, and is dense otherwise. An empty row of
    /// indices gives an empty row.
    ///
    /// An index must be below the size of its dimension; in a ragged dimension, below the length of its row. TensorFlow
    /// reads a value of a later row where an index exceeds its own.
    ///
    /// # Errors
    /// `indices` is no integer tensor, or on another device; `axis` or `batch_dims` out of range, or `axis` below
    /// `batch_dims`; batch dimensions that differ. At the read: an index that is negative or too large.
    ///
    /// # Cost
    /// A map over the values, which fuses into its consumer, and a scan per ragged level of the tensor below `axis`.
    /// Below the outermost axis it waits once where only the device knows how many indices there are, and they become a
    /// dimension of a dense tensor; [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let table = RaggedTensor::from_nested([vec![10, 11], vec![20], vec![]], &device)?;
    /// let rows = RaggedTensor::from_nested([2, 0, 0], &device)?;
    /// assert_eq!(table.gather(&rows)?.to_string(), "<ragged.RaggedTensor [[], [10, 11], [10, 11]]>");
    /// let nested = RaggedTensor::from_nested([vec![1, 0], vec![]], &device)?;
    /// assert_eq!(table.gather(&nested)?.to_string(), "<ragged.RaggedTensor [[[20], [10, 11]], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn gather<'a>(&self, indices: impl IntoGatherIndices<'a> as GatherIndices) -> T;
    alias "take", "index_select";
    tensorflow "tf.gather";
    awkward "ak.Array.__getitem__";
    polars "Expr.gather";
    waits "below the outermost axis, where only the device knows the number of indices";
    gradient yes;
    row hand;

    /// The elements of each row at the indices of the same row.
    ///
    /// All dimensions of `indices` but the last are batch dimensions: they are the first dimensions of the tensor, and
    /// the last holds indices along the next axis. Any dtype, which stays. An empty row of indices gives an empty row.
    /// [`Tensor::gather`] with [`batched`](crate::opt::batched) indices takes other numbers of batch dimensions.
    ///
    /// # Errors
    /// `indices` is no integer tensor, a scalar, on another device, or has other batch dimensions. At the read: an
    /// index that is negative, or not below the length of its row.
    ///
    /// # Cost
    /// A map over the values, which fuses into its consumer, and a scan per ragged level of the tensor below the
    /// indexed axis. Waits once where only the device knows how many indices there are, and they become a dimension of
    /// a dense tensor; [`record_async`](crate::record_async) awaits it.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4]], &device)?;
    /// let at = RaggedTensor::from_nested([vec![2, 0], vec![], vec![0]], &device)?;
    /// assert_eq!(x.batch_gather(&at)?.to_string(), "<ragged.RaggedTensor [[3, 1], [], [4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn batch_gather(&self, indices: &impl AsRef<Tensor> as tensor) -> T;
    alias "take_along_axis", "take_along_dim";
    tensorflow "tf.compat.v1.batch_gather";
    polars "list.gather";
    waits "where only the device knows the number of indices";
    gradient yes;
    row none "`gather` takes the indices of each row";

    /// The elements (or rows, or tensors) that vectors of indices name.
    ///
    /// The last dimension of `indices`, which must be uniform, holds an index into each of the first dimensions of the
    /// tensor. The result has the other dimensions of `indices`, then those of the tensor that are not indexed. Vectors
    /// of length 0 name the whole tensor. Any dtype, which stays.
    ///
    /// With [`batched`](crate::opt::batched)`(&indices, dims)` the first `dims` dimensions of both tensors are the same, and
    /// the vectors of a batch count in that batch. TensorFlow has batches of dense tensors only.
    ///
    /// # Errors
    /// `indices` is no integer tensor, a scalar, on another device, or its last dimension is ragged or longer than the
    /// tensor has dimensions below the batches; `batch_dims` out of range; batch dimensions that differ; an axis. At the
    /// read: an index that is negative, not below the size of its dimension, or not below the length of its row.
    ///
    /// # Cost
    /// A map over the values, which fuses into its consumer, and a scan per ragged level of the tensor below the
    /// indexed axes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, opt::batched};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], &device)?;
    /// let at = RaggedTensor::from_nested([[0, 2], [2, 1]], &device)?;
    /// assert_eq!(x.gather_nd(&at)?.to_vec()?, [3, 5]);
    /// let own = RaggedTensor::from_nested([vec![[2], [0]], vec![], vec![[1]]], &device)?;
    /// assert_eq!(x.gather_nd(batched(&own, 1))?.to_string(), "<ragged.RaggedTensor [[3, 1], [], [5]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn gather_nd<'a>(&self, indices: impl IntoGatherIndices<'a> as GatherIndices) -> T;
    tensorflow "tf.gather_nd";
    gradient yes;
    row hand;
}

#[track_caller]
fn gather<'a>(x: &Tensor, indices: impl IntoGatherIndices<'a>) -> Result<Tensor> {
    x.gathered(x.recorder("gather"), &indices.into())
}

/// The number of batch dimensions: at most `most`, and at most the rank of the indices.
#[track_caller]
fn batch_dims(op: &'static str, given: &GatherIndices<'_>, most: usize) -> Result<usize> {
    let rank = given.indices.rank();
    let batch = if given.batch_dims < 0 { given.batch_dims + rank as i64 } else { given.batch_dims };
    let most = rank.min(most);
    if batch < 0 || batch > most as i64 {
        let what = format!("batch_dims {} is out of range (at most {most})", given.batch_dims);
        return Err(Error::argument(op, what));
    }
    Ok(batch as usize)
}

#[track_caller]
fn batch_gather(x: &Tensor, indices: &impl AsRef<Tensor>) -> Result<Tensor> {
    x.gathered(x.recorder("batch_gather"), &batched(indices, -1).into())
}

#[track_caller]
fn gather_nd<'a>(x: &Tensor, indices: impl IntoGatherIndices<'a>) -> Result<Tensor> {
    const OP: &str = "gather_nd";
    let given = indices.into();
    if let Some(axis) = given.axis {
        let what = format!("the vectors of indices count from the batch dimensions on; they take no axis ({axis})");
        return Err(Error::argument(OP, what));
    }
    let mut indices = Indices::new(x.recorder(OP), given.indices)?;
    if indices.scalar {
        return Err(Error::argument(OP, "indices must have a last dimension, but are a scalar"));
    }
    let batch = batch_dims(OP, &given, x.rank().min(indices.rank - 1))?;
    let (vectors, len) = match indices.dims.pop() {
        Some((last, _)) => (last.nrows_extent().clone(), last.uniform_length()),
        None => (Extent::known(1), indices.count.as_known()),
    };
    let rank = (x.rank() - batch) as u32;
    let Some(len) = len.filter(|&n| n <= rank) else {
        let what = format!("the last dimension of indices must be uniform, and {rank} at most");
        return Err(Error::argument(OP, what));
    };
    let params = x.inner_to_partitions((batch + len as usize).saturating_sub(1 + x.ragged_rank()))?;
    let mut asserts = indices.same_batches(&params, batch)?;
    let mut below = params.clone();
    for _ in 1..batch {
        below = below.values_below()?;
    }
    // The element of the batch dimensions that a vector counts from.
    let mut position = match batch.checked_sub(1) {
        None => Expr::u32(0),
        Some(above) => indices.dims[above..].iter().rev().fold(Expr::index(), |at, (p, _)| p.row_of(at)),
    };
    for k in 0..len {
        let within = match (batch + k as usize).checked_sub(1) {
            None => Within::Outermost(params.nrows_extent()),
            Some(above) => {
                below = below.values_below()?;
                Within::Row(&params.partitions()[above], position)
            }
        };
        let at = Expr::index().mul(Expr::u32(len)).add(Expr::u32(k));
        let (place, ok) = within.place(Expr::load(&indices.node, at));
        let check = Check::of_index(OP, OUT_OF_RANGE);
        if k + 1 == len && below.reads_no_index() {
            asserts.push(Node::assert(x.backend(), vectors.clone(), ok.clone(), check.clone()));
        }
        position = place.checked(check, ok);
    }
    if batch == 0 && len == 0 {
        let all = single_row(x.recorder(OP), x.nrows_extent())?;
        below = if x.rank() == 0 { below.inner_to_partitions(0)? } else { below.under(all)? };
    }
    for (d, (p, stays)) in indices.dims.iter_mut().take(batch.saturating_sub(1)).enumerate() {
        *p = params.partitions()[d].clone();
        *stays |= d < x.ragged_rank();
    }
    let repeats = repeats(&vectors);
    let taken = below.take_rows(x.recorder(OP), vectors, position, repeats, &asserts)?;
    indices.scalar |= indices.rank == 1;
    indices.above(taken, len > 0 || batch > 0 || x.ragged_rank() > 0)
}

impl Tensor {
    /// [`gather`], for an operation of another name.
    pub(in crate::ops) fn gathered(&self, rec: Recorder<'_>, given: &GatherIndices<'_>) -> Result<Self> {
        let batch = rec.at(batch_dims(rec.op, given, self.rank().saturating_sub(1)))?;
        let axis = rec.at(self.axis(rec.op, given.axis.unwrap_or(batch as i64)))?;
        if axis < batch {
            return Err(rec.argument(format!("axis {axis} lies within the {batch} batch dimensions")));
        }
        let indices = Indices::new(rec, given.indices)?;
        rec.at(if axis == 0 { indices.into_outermost(self) } else { indices.into_rows(self, axis, batch) })
    }

    /// Whether a dimension of size 0 makes the rows of the tensor empty by type, so that a gather of rows reads no index.
    fn reads_no_index(&self) -> bool {
        let sizes = self.partitions().iter().map(RowPartition::uniform_length);
        // The first ragged dimension reads where its rows are; none above it may be of size 0.
        sizes.chain([Some(self.width())]).take_while(Option::is_some).any(|size| size == Some(0))
    }
}

#[cfg(feature = "gpu")]
#[cfg(test)]
mod tests {
    use crate::device::Device;
    use crate::graph::plan::{Int64Repr, PlanLimits, PlanOf};
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
        let rows = table.gather(&ids).unwrap();
        let limits = PlanLimits::of_core_webgpu(Int64Repr::Native);
        assert_eq!(PlanOf::new(&rows.nodes().unwrap(), limits).steps.len(), 1);
        let mean = rows.reduce_mean(1).unwrap();
        let steps = PlanOf::new(&mean.nodes().unwrap(), limits).steps;
        assert!(steps.iter().all(|s| s.out.op() != "gather"), "{steps:?}");
    }
}
