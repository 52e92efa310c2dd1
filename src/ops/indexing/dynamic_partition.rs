//! Groups elements by group number.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, caller, on_behalf};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::{Integer, non_negative};
use crate::ops::indexing::gather::in_range;
use crate::ops::operations;
use crate::record::by_key::ByKey;
use crate::record::rows::Repeats;
use crate::record::tensor_list::counted_tensors;
use crate::shape::{RowPartition, same_layout};
use crate::tensor::Tensor;

operations! {
    /// Groups by group number.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Groups the elements by group number: row `k` of the result holds the elements whose entry of `partitions` is
    /// `k`.
    ///
    /// The elements of a group keep their order. The result has `num_partitions` rows; a group without elements is an
    /// empty row. The dimensions of `partitions` are the first dimensions of the tensor, all of them or fewer. Each
    /// entry applies to one element: a number, a row or a tensor. A scalar puts the whole tensor into one group. The
    /// result is ragged, of rank `1 + rank - partitions.rank() + 1`. Any dtype, which stays.
    ///
    /// # Errors
    /// `partitions` of a dtype other than integers, on another device, of higher rank, or with other rows than the
    /// tensor. At the read: an entry that is negative or not below `num_partitions`.
    ///
    /// # Cost
    /// A stable sort of as many bits as the groups need, a map over the values, and a scan per ragged dimension of an
    /// element. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested(["a", "b", "c", "d"], &device)?;
    /// let groups = RaggedTensor::from_nested([2, 0, 2, 0], &device)?;
    /// let sorted = x.stack_dynamic_partitions(&groups, 3)?;
    /// assert_eq!(sorted.to_string(), "<ragged.RaggedTensor [[b'b', b'd'], [], [b'a', b'c']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn stack_dynamic_partitions(&self, partitions: &impl AsRef<Tensor> as tensor, num_partitions: impl Integer as integer) -> T;
    alias "group_by";
    tensorflow "tf.ragged.stack_dynamic_partitions";
    gradient yes;
    row none "a partition spans rows";

    /// Groups the elements by group number, as one tensor per group.
    ///
    /// Tensor `k` holds the elements whose entry of `partitions` is `k`, in their order. The dimensions of `partitions`
    /// are the first dimensions of the tensor, all of them or fewer. Each entry applies to one element: a number, a row
    /// or a tensor. Dense tensors give dense ones; a group without elements gives a tensor without rows. Any dtype,
    /// which stays. Only the device knows the size of each group. [`Tensor::stack_dynamic_partitions`] gives the groups
    /// as rows of one tensor.
    ///
    /// # Errors
    /// `partitions` of a dtype other than integers, on another device, of higher rank, or with other rows than the
    /// tensor; more than 2^20 groups; no host memory for their tensors. At the read: an entry that is negative or not
    /// below `num_partitions`.
    ///
    /// # Cost
    /// A stable sort of as many bits as the groups need, a map over the values, and a scan per ragged dimension of an
    /// element. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1], vec![2, 3], vec![]], &device)?;
    /// let groups = RaggedTensor::from_nested([1, 0, 1], &device)?;
    /// let parts = x.dynamic_partition(&groups, 2)?;
    /// assert_eq!(parts[1].to_string(), "<ragged.RaggedTensor [[1], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn dynamic_partition(&self, partitions: &impl AsRef<Tensor> as tensor, num_partitions: impl Integer as integer) -> [T];
    alias "partition_by";
    tensorflow "tf.dynamic_partition";
    polars "DataFrame.partition_by";
    gradient yes;
    row none "a partition spans rows";
}

#[track_caller]
fn stack_dynamic_partitions(
    x: &Tensor,
    partitions: &impl AsRef<Tensor>,
    num_partitions: impl Integer,
) -> Result<Tensor> {
    const OP: &str = "stack_dynamic_partitions";
    let num_partitions = non_negative(OP, "num_partitions", num_partitions)?;
    let groups = Groups::new(OP, x, partitions.as_ref(), num_partitions)?;
    groups.sorted.under(groups.rows)
}

#[track_caller]
fn dynamic_partition(x: &Tensor, partitions: &impl AsRef<Tensor>, num_partitions: impl Integer) -> Result<Vec<Tensor>> {
    const OP: &str = "dynamic_partition";
    let rec = x.recorder(OP);
    let num_partitions = rec.non_negative("num_partitions", num_partitions)?;
    let _counted = counted_tensors(rec, x, num_partitions, 1)?;
    let Groups { sorted, rows } = Groups::new(OP, x, partitions.as_ref(), num_partitions)?;
    let rec = x.recorder(OP);
    let part = |k| {
        let (start, len) = (rows.start(Expr::u32(k)), rows.length(Expr::u32(k)));
        sorted.rows_from(rec, &start, Extent::bounded(rows.nvals_extent().size(), len))
    };
    on_behalf(|| (0..num_partitions as u32).map(part).collect())
}

/// The elements in group order, and the partition whose rows are the groups.
struct Groups {
    sorted: Tensor,
    rows: RowPartition,
}

impl Groups {
    #[track_caller]
    fn new(op: &'static str, data: &Tensor, partitions: &Tensor, num: u64) -> Result<Self> {
        let backend = data.backend();
        let rec = Recorder::new(backend, op);
        Device::check_same(op, backend, partitions.backend())?;
        if !partitions.dtype().is_integer() {
            return Err(rec.unsupported(partitions.dtype(), "partitions must be integers"));
        }
        if partitions.rank() == 0 {
            return Self::new(op, &data.expand_dims(0)?, &partitions.expand_dims(0)?, num);
        }
        let last = partitions.rank() - 1;
        let location = caller();
        let misfit = |what: &str| {
            let (lhs, rhs) = (data.shape_text(), partitions.shape_text());
            Error::Shape { op, lhs, rhs, what: what.into(), location }
        };
        if last >= data.rank() {
            return Err(misfit("there are more dimensions of partitions than of the tensor"));
        }
        let above = data.ragged_shape().slice(..=last as i64)?.with_ragged_rank(last)?;
        let mut asserts = same_layout(rec, &above, &partitions.ragged_shape().with_ragged_rank(last)?)?;
        let (data, partitions) = (data.merged(0, last)?, partitions.merged(0, last)?);
        let (count, groups) = (data.nrows_extent(), rec.given(num)?);
        let group = Expr::load(&rec.index_node(&partitions, "partitions")?, Expr::index());
        let ok = in_range(&group, groups.expr(), groups.capacity());
        let check = Check::of_index(op, format!("an entry of partitions is negative or not below {num}"));
        asserts.push(Node::assert(backend, count.clone(), ok.clone(), check));
        let key = ok.select(group.cast(DType::U32), groups.expr());
        let keys = ByKey::new(rec, &count, key, &groups)?;
        let order = Expr::load(keys.order(), Expr::index());
        let sorted = data.take_rows(rec, count.clone(), order, Repeats::Never, &asserts)?;
        let rows = match keys.rows(1).rows {
            Rows::Splits(splits) => RowPartition::from_splits_node(splits, groups, count.size()),
            // No elements or no groups: empty rows, still ragged by type.
            Rows::Uniform(_) => rec.rows_of_lengths(&groups, Expr::u32(0), 0)?,
        };
        Ok(Self { sorted, rows: rows.with_nvals(count) })
    }
}
