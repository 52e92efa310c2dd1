//! Masks: the elements at which a condition holds.

use super::by_key::reduce_rows;
use super::rows::Repeats;
use super::slice::single_row;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::shape::{RaggedShape, RowPartition, same_layout};
use crate::tensor::{RaggedTensor, Tensor, Values};

/// How many of the positions stay, at most all of them; known on the device. `keep` is an expression in the position.
pub(super) fn kept(backend: &BackendRef, op: &'static str, count: &Extent, keep: &Expr) -> Result<Extent> {
    if count.capacity() == 0 {
        return Ok(Extent::known(0));
    }
    let all = single_row(backend, op, count.clone())?;
    let rows = (all.rows(), all.nrows_extent());
    let total = reduce_rows(backend, op, ReduceOp::Sum, rows, count, 1, keep.clone().cast(DType::U32))?;
    Ok(Extent::bounded(count.capacity(), Expr::load(&total, Expr::u32(0))))
}

/// The positions that stay, in order, of which there are `stay`.
pub(super) fn kept_positions(
    backend: &BackendRef,
    op: &'static str,
    count: &Extent,
    keep: &Expr,
    stay: &Extent,
) -> Node {
    Node::compact(backend, op, (keep.clone(), Expr::index()), count.clone(), stay.expr())
}

impl Tensor {
    /// The elements at which the mask is true.
    ///
    /// The dimensions of the mask are the first dimensions of the tensor. A mask of rank 1 drops rows, which may be
    /// tensors themselves: the result has the same rank, and is dense where the tensor is. A mask of higher rank drops
    /// elements of its innermost dimension from their rows: no row is dropped, though some may be left empty, and the
    /// mask's dimensions are ragged from then on. Whatever lies below an element goes with it.
    ///
    /// Any dtype, which stays. How many elements are left is known on the device only.
    ///
    /// # Errors
    /// A mask that is not of bools, is a scalar, has more dimensions than the tensor, or is on another device; a mask
    /// whose rows are not as long as the tensor's, at the read where only the device knows.
    ///
    /// # Cost
    /// A sum of the mask a row, a scan of the sums, and a compaction; a scan more for each ragged dimension below the
    /// mask. The mask is read twice, values once and only those that stay. Never waits; memory is taken for as many
    /// elements as there were.
    ///
    /// ```
    /// # fn main() -> ragged::Result<()> {
    /// use ragged::{Device, RaggedTensor};
    /// let cpu = Device::cpu();
    /// let x = RaggedTensor::from_nested(vec![vec![1, 2, 3], vec![4], vec![5, 6]], &cpu)?;
    /// let even = x.floormod(2)?.equal(0)?;
    /// assert_eq!(x.boolean_mask(&even)?.to_string(), "<ragged.RaggedTensor [[2], [4], [6]]>");
    /// let rows = RaggedTensor::from_nested(vec![true, false, true], &cpu)?;
    /// assert_eq!(x.boolean_mask(&rows)?.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [5, 6]]>");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.ragged.boolean_mask`.
    #[track_caller]
    pub fn boolean_mask(&self, mask: &Self) -> Result<Self> {
        const OP: &str = "boolean_mask";
        let backend = self.backend();
        Device::check_same(OP, backend, mask.backend())?;
        if mask.dtype() != DType::Bool {
            return Err(Error::unsupported(OP, mask.dtype(), "the mask must be of bools; compare first"));
        }
        let rank = mask.rank();
        if rank == 0 || rank > self.rank() {
            let what = match rank {
                0 => "the mask is a scalar".into(),
                _ => format!("the mask has {rank} dimensions, the tensor {}", self.rank()),
            };
            return Err(Error::Shape { op: OP, lhs: self.shape_text(), rhs: mask.shape_text(), what });
        }
        let levels = rank - 1;
        let deep = self.deepened(levels.saturating_sub(self.ragged_rank()))?;
        let (above, count, asserts) = mask.covers(OP, &deep, levels)?;
        let flag = Expr::load(mask.numbers(OP)?, Expr::index());
        // Conditions hang on the flags, which all that follows is made of.
        let flags = Node::map(backend, OP, count.clone(), flag, &asserts);
        let keep = Expr::load(&flags, Expr::index());
        let mut parts = above.to_vec();
        let stay = match parts.pop() {
            None => kept(backend, OP, &count, &keep)?,
            Some(rows) => {
                let new = thinned(backend, OP, &rows, &count, &keep)?;
                let stay = new.nvals_extent().clone();
                parts.push(new);
                stay
            }
        };
        let below = deep.below(levels)?;
        let taken = match below.values_ref() {
            Values::Numbers(numbers) if below.ragged_rank() == 0 => {
                let width = below.width();
                let keep = keep.at(&Expr::index().div(Expr::u32(width.max(1))));
                let (numbers, all) = (Expr::load(numbers, Expr::index()), count.times(OP, u64::from(width))?);
                let live = stay.times(OP, u64::from(width))?.expr();
                let values = Values::Numbers(Node::compact(backend, OP, (keep, numbers), all, live));
                Self::new(backend, Vec::new(), Some(stay), below.inner().to_vec(), values)?
            }
            _ => {
                let from = kept_positions(backend, OP, &count, &keep, &stay);
                below.take_rows(OP, stay, Expr::load(&from, Expr::index()), Repeats::Never, &[])?
            }
        };
        parts.extend(taken.partitions().iter().cloned());
        let (outer, inner) = (taken.outer().cloned(), taken.inner().to_vec());
        Self::new(backend, parts, outer, inner, taken.values_ref().clone())
    }

    /// The tensor below its first `levels` partitions.
    fn below(&self, levels: usize) -> Result<Self> {
        (0..levels).try_fold(self.clone(), |x, _| x.values_below())
    }

    /// The first `levels` partitions of `x`, whose elements this mask has a flag for each of; how many these are; and
    /// the conditions for that which only the device can see.
    #[track_caller]
    fn covers<'x>(
        &self,
        op: &'static str,
        x: &'x Self,
        levels: usize,
    ) -> Result<(&'x [RowPartition], Extent, Vec<Node>)> {
        let mask = self.deepened(self.inner().len())?;
        let shape = |t: &Self| {
            let partitions = t.partitions()[..levels].to_vec();
            let outer = partitions.last().map_or_else(|| t.nrows_extent(), |p| p.nvals_extent().clone());
            RaggedShape::of_parts(op, x.backend(), partitions, Some(outer), Vec::new(), Vec::new())
        };
        let own = shape(x)?;
        let asserts = same_layout(x.backend(), op, &own, &shape(&mask)?)?;
        Ok((&x.partitions()[..levels], own.outer.unwrap_or_else(|| Extent::known(0)), asserts))
    }
}

/// The rows once only the values stay that `keep` (an expression in the value) holds of.
fn thinned(
    backend: &BackendRef,
    op: &'static str,
    rows: &RowPartition,
    count: &Extent,
    keep: &Expr,
) -> Result<RowPartition> {
    let (nrows, flags) = (rows.nrows_extent(), keep.clone().cast(DType::U32));
    let lengths = reduce_rows(backend, op, ReduceOp::Sum, (rows.rows(), nrows), count, 1, flags)?;
    let length = Expr::load(&lengths, Expr::index());
    let new = RowPartition::from_lengths(backend, op, nrows, length, count.capacity())?;
    Ok(new.with_lengths(rows.known_lengths().map(|(_, longest)| (0, longest))))
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::boolean_mask`].
    ///
    /// # Errors
    /// As [`Tensor::boolean_mask`].
    #[track_caller]
    pub fn boolean_mask(&self, mask: &RaggedTensor<bool>) -> Result<Self> {
        self.erased().boolean_mask(mask.erased())?.try_into()
    }
}
