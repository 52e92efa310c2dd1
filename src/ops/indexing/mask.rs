//! Boolean masks: selects the elements at which a condition holds.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, caller, here};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::record::rows::Repeats;
use crate::shape::{RaggedShape, RowPartition, same_layout};
use crate::tensor::{Tensor, Values};

operations! {
    /// Boolean masks.
    const OPERATIONS: family "Masks and selection" on RaggedTensor<T> where T: Element;

    /// Selects the elements at which the mask is true.
    ///
    /// The dimensions of the mask are the first dimensions of the tensor. A mask of rank 1 drops rows, which may be
    /// tensors themselves: the result has the same rank, and is dense where the tensor is. A mask of higher rank drops
    /// elements of its innermost dimension from their rows. No row is dropped then, though rows may become empty, and
    /// the mask's dimensions become ragged. Everything below a dropped element is dropped too. Any dtype, which stays.
    /// Only the device knows the number of elements that remain.
    ///
    /// # Errors
    /// A mask that is not of bools, is a scalar, has more dimensions than the tensor, or is on another device. A mask
    /// whose row lengths differ from the tensor's, at the read where only the device knows them.
    ///
    /// # Cost
    /// A rank bitmap (a bit and a rank per element of the mask, a quarter of a byte), a map over the rows, and a
    /// compaction; a scan per ragged dimension below the mask. The mask is computed once. Only the values that stay are
    /// read, once. Never waits. A GPU allocates memory for the original number of elements, the CPU backend for those
    /// that stay.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![1, 2, 3], vec![5], vec![6]], &device)?;
    /// let is_even = x.floormod(2)?.equal(0)?;
    /// assert_eq!(x.boolean_mask(&is_even)?.to_string(), "<ragged.RaggedTensor [[2], [], [6]]>");
    /// let rows = RaggedTensor::from_nested([true, false, true], &device)?;
    /// assert_eq!(x.boolean_mask(&rows)?.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [6]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn boolean_mask(&self, mask: &impl AsRef<Tensor> as tensor) -> T;
    alias "filter", "masked_select", "compress";
    tensorflow "tf.ragged.boolean_mask";
    awkward "ak.Array.__getitem__";
    polars "list.filter";
    gradient yes;
    row hand;
}

#[track_caller]
fn boolean_mask(x: &Tensor, mask: &impl AsRef<Tensor>) -> Result<Tensor> {
    const OP: &str = "boolean_mask";
    let mask = mask.as_ref();
    let backend = x.backend();
    let rec = Recorder::new(backend, OP);
    Device::check_same(OP, backend, mask.backend())?;
    if mask.dtype() != DType::Bool {
        return Err(rec.unsupported(mask.dtype(), "the mask must be of bools; compare first"));
    }
    let rank = mask.rank();
    if rank == 0 || rank > x.rank() {
        let what = match rank {
            0 => "the mask is a scalar".into(),
            _ => format!("the mask has {rank} dimensions, the tensor {}", x.rank()),
        };
        return Err(Error::Shape { op: OP, lhs: x.shape_text(), rhs: mask.shape_text(), what, location: caller() });
    }
    let levels = rank - 1;
    let deep = x.inner_to_partitions(levels.saturating_sub(x.ragged_rank()))?;
    let (above, count, asserts) = mask.covers(rec, &deep, levels)?;
    let flag = Expr::load(rec.numbers(mask)?, Expr::index());
    // The conditions are attached to the flags, on which everything below depends.
    let flags = rec.map(count.clone(), flag, &asserts);
    let marks = RankBitmap::new(rec, &count, Expr::load(&flags, Expr::index()));
    let mut parts = above.to_vec();
    let stay = match parts.pop() {
        None => marks.total(),
        Some(rows) => {
            let new = thinned(rec, &rows, &marks)?;
            let stay = new.nvals_extent().clone();
            parts.push(new);
            stay
        }
    };
    let below = deep.below(levels)?;
    let taken = match below.values_ref() {
        Values::Numbers(numbers) if below.ragged_rank() == 0 => {
            let (value, width) = (Expr::load(numbers, Expr::index()), below.width());
            let extent = rec.times_size(&stay, &below.width_size())?;
            let values = Values::Numbers(rec.compact(&marks, (value, width), extent));
            rec.tensor(Vec::new(), Some(stay), below.inner().clone(), values)?
        }
        _ => {
            let from = rec.kept(&marks, stay.clone());
            below.take_rows(rec, stay, Expr::load(&from, Expr::index()), Repeats::Never, &[])?
        }
    };
    parts.extend(taken.partitions().iter().cloned());
    let (outer, inner) = (taken.outer().cloned(), taken.inner().clone());
    rec.tensor(parts, outer, inner, taken.values_ref().clone())
}

impl Tensor {
    /// The tensor below its first `levels` partitions.
    #[track_caller]
    fn below(&self, levels: usize) -> Result<Self> {
        (0..levels).try_fold(self.clone(), |x, _| x.values_below()).map_err(here())
    }

    /// The first `levels` partitions of `x`, for each of whose elements this mask has a flag; the number of these
    /// elements; and the conditions that only the device can check.
    fn covers<'x>(
        &self,
        rec: Recorder<'_>,
        x: &'x Self,
        levels: usize,
    ) -> Result<(&'x [RowPartition], Extent, Vec<Node>)> {
        let mask = rec.at(self.inner_to_partitions(self.inner().len()))?;
        let shape = |t: &Self| {
            let partitions = t.partitions()[..levels].to_vec();
            let outer = partitions.last().map_or_else(|| t.nrows_extent(), |p| p.nvals_extent().clone());
            RaggedShape::of_parts(rec, partitions, Some(outer), [], Vec::new())
        };
        let own = shape(x)?;
        let asserts = same_layout(rec, &own, &shape(&mask)?)?;
        Ok((&x.partitions()[..levels], own.outer.unwrap_or_else(|| Extent::known(0)), asserts))
    }
}

/// The partition after only the marked values stay: each row begins at the rank of its old start.
fn thinned(rec: Recorder<'_>, rows: &RowPartition, marks: &RankBitmap) -> Result<RowPartition> {
    let start = marks.rank(&rows.start(Expr::index()));
    let new = rec.rows_of_starts(rows.nrows_extent(), &start, marks.count().size(), &[])?;
    Ok(new.with_lengths(rows.known_lengths().map(|(_, longest)| (0, longest))))
}
