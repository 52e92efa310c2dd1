//! Gathering: elements by index, along any dimension, alone or batch by batch.

mod indices;

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::ops::IntoGatherIndices;
use crate::ops::options::{GatherIndices, batched};
use crate::ops::slice::single_row;
use crate::shape::RowPartition;
use crate::tensor::{RaggedTensor, Tensor};
use indices::{Indices, Within, repeats};

pub(crate) use indices::{OUT_OF_RANGE, in_range};

impl Tensor {
    /// The elements (or rows, or tensors) at `indices` along an axis: the outermost one, or the one of
    /// [`along`](crate::along)`(&indices, axis)`. The result has the dimensions of `self` before the axis, those of
    /// `indices` after the batch dimensions, and those of `self` behind the axis.
    ///
    /// With [`batched`](crate::batched)`(&indices, dims)` the first `dims` dimensions of both tensors are the same, and
    /// each batch has indices of its own; the axis is then `dims` unless given. The result has row partitions down to
    /// its last dimension that has one in `self` or `indices`, and is dense otherwise. An empty row of indices gives an
    /// empty row.
    ///
    /// An index must be below the size of its dimension; in a ragged dimension, below the length of its row. (TensorFlow
    /// reads a value of a later row where an index exceeds its own.)
    ///
    /// Costs a map over the values, which fuses into what reads it, and a scan a ragged level of `self` below `axis`.
    /// Below the outermost axis it waits once where only the device knows how many indices there are, and they become a
    /// dimension of a dense tensor; [`record_async`](crate::record_async) awaits it.
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
    /// let rows = table.gather(&ids.to_device(&device)?)?.to_host()?;
    /// assert_eq!(rows.nested_row_splits, [[0, 2, 2, 3]]);
    /// assert_eq!(rows.values, HostValues::F32(vec![4., 5., 0., 1., 2., 3.]));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("take", "index_select"))]
    #[track_caller]
    pub fn gather<'a>(&self, indices: impl IntoGatherIndices<'a>) -> Result<Self> {
        const OP: &str = "gather";
        let GatherIndices { indices, axis, batch_dims } = indices.into();
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
    pub fn batch_gather(&self, indices: &impl AsRef<Self>) -> Result<Self> {
        self.gather(batched(indices, -1)).map_err(|e| e.of("batch_gather"))
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
    pub fn gather_nd(&self, indices: &impl AsRef<Self>) -> Result<Self> {
        const OP: &str = "gather_nd";
        let mut indices = Indices::new(OP, self, indices.as_ref())?;
        if indices.scalar {
            return Err(Error::argument(OP, "indices must have a last dimension, but are a scalar"));
        }
        let (vectors, len) = match indices.dims.pop() {
            Some((last, _)) => (last.nrows_extent().clone(), last.uniform_length()),
            None => (Extent::known(1), indices.count.as_known()),
        };
        let rank = self.rank() as u32;
        let Some(len) = len.filter(|&n| n <= rank) else {
            let what = format!("the last dimension of indices must be uniform, and {rank} at most");
            return Err(Error::argument(OP, what));
        };
        let params = self.inner_to_partitions((len as usize).saturating_sub(1 + self.ragged_rank()))?;
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
            let check = Check::of_index(OP, OUT_OF_RANGE);
            if k + 1 == len && below.reads_no_index() {
                asserts.push(Node::assert(self.backend(), vectors.clone(), ok.clone(), check.clone()));
            }
            position = place.checked(check, ok);
        }
        if len == 0 {
            let all = single_row(self.backend(), OP, self.nrows_extent())?;
            below = if self.rank() == 0 { below.inner_to_partitions(0)? } else { below.under(all)? };
        }
        let repeats = repeats(&vectors);
        let taken = below.take_rows(OP, vectors, position, repeats, &asserts)?;
        indices.scalar |= indices.rank == 1;
        indices.above(taken, len > 0 || self.ragged_rank() > 0)
    }

    /// Whether rows of the tensor hold nothing by their type, so that taking them reads no index.
    fn reads_no_index(&self) -> bool {
        let sizes = self.partitions().iter().map(RowPartition::uniform_length);
        // The first ragged dimension reads where its rows are; none above it may be of size 0.
        sizes.chain([Some(self.width())]).take_while(Option::is_some).any(|size| size == Some(0))
    }
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::gather`].
    ///
    /// # Errors
    /// As [`Tensor::gather`].
    #[track_caller]
    pub fn gather<'a>(&self, indices: impl IntoGatherIndices<'a>) -> Result<Self> {
        self.erased().gather(indices)?.try_into()
    }

    /// As [`Tensor::batch_gather`].
    ///
    /// # Errors
    /// As [`Tensor::batch_gather`].
    #[track_caller]
    pub fn batch_gather(&self, indices: &impl AsRef<Tensor>) -> Result<Self> {
        self.erased().batch_gather(indices)?.try_into()
    }

    /// As [`Tensor::gather_nd`].
    ///
    /// # Errors
    /// As [`Tensor::gather_nd`].
    #[track_caller]
    pub fn gather_nd(&self, indices: &impl AsRef<Tensor>) -> Result<Self> {
        self.erased().gather_nd(indices)?.try_into()
    }
}

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
