//! Conversion of sparse to dense tensors.

use crate::dtype::DType;
use crate::error::{Result, here};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::sparse::SparseTensor;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

impl SparseTensor {
    /// The dense tensor with the values at their coordinates and `default` elsewhere.
    ///
    /// Has the shape [`dense_shape`](Self::dense_shape) and the values' dtype.
    ///
    /// # Errors
    /// A default of another dtype; a dense shape of 2^32 - 1 elements or more, or of more than 2^32 - 2 along a
    /// dimension. At the read: coordinates outside of the dense shape, repeated, or not in row-major order.
    ///
    /// # Cost
    /// One map over the values, and one over the result, each of whose elements searches for its value. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![], vec![7]], &Device::cpu())?;
    /// let dense = x.to_sparse()?.to_dense(-1)?;
    /// assert_eq!(dense.to_string(), "tensor([[5, 6], [-1, -1], [7, -1]], shape=(3, 2), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.to_dense`.
    #[track_caller]
    pub fn to_dense(&self, default: impl Into<Fill>) -> Result<Tensor> {
        const OP: &str = "to_dense";
        let (values, backend) = (self.values(), self.values().backend());
        let default = default.into().of_dtype(OP, values.dtype())?;
        let dims = self
            .dense_shape()
            .iter()
            .map(|&d| Ok(Extent::known_u64(OP, d)?.capacity()))
            .collect::<Result<Vec<_>>>()
            .map_err(here())?;
        let total = if dims.contains(&0) { 0 } else { dims.iter().fold(1u64, |n, &d| n.saturating_mul(d.into())) };
        let total = Extent::known_u64(OP, total)?;
        let count = values.nrows_extent();
        let place = position(self, OP, &dims)?;
        let inside = Check::new(OP, "coordinates must lie within the dense shape");
        let inside = Node::assert(backend, count.clone(), is_inside(self, OP, &dims)?, inside);
        let before = Expr::load(&place, Expr::index().sub(Expr::u32(1)));
        let sorted = Expr::index().eq(Expr::u32(0)).or(before.lt(Expr::load(&place, Expr::index())));
        let check = Check::new(OP, "coordinates must be in row-major order, none of them twice");
        let asserts = [inside, Node::assert(backend, count.clone(), sorted, check)];
        // The sorted array to search: the positions of the values, then the total as sentinel.
        let entry = Expr::index().lt(count.expr());
        let entry = entry.select(Expr::load(&place, Expr::index()), total.expr());
        let places = Node::splits(backend, OP, &count, &entry, &asserts)?;
        let value = Expr::row_of(&places, Expr::index());
        let found = Expr::load(&places, value.clone()).eq(Expr::index());
        let fill = match &default {
            Fill::String(s) => s.len() as u64 * u64::from(total.capacity()),
            Fill::Number(_) => 0,
        };
        let bound = BytesBound::at_most(values.values_ref().bytes_capacity() + fill);
        let pick = Pick::either(found, Pick::From(values.values_ref(), value), Pick::Fill(default));
        let values = Values::rearranged(backend, OP, &total, &pick, bound, &asserts)?;
        let (outer, inner) = match dims.split_first() {
            Some((&first, inner)) => (Some(Extent::known(first)), inner.to_vec()),
            None => (None, Vec::new()),
        };
        Tensor::new(backend, Vec::new(), outer, inner, values)
    }
}

/// Coordinate `d` of entry `Index`, i64.
#[track_caller]
fn coordinate(x: &SparseTensor, op: &'static str, d: usize) -> Result<Expr> {
    let rank = x.dense_shape().len() as u32;
    let at = Expr::index().mul(Expr::u32(rank)).add(Expr::u32(d as u32));
    Ok(Expr::load(x.indices().numbers(op)?, at))
}

/// Whether the coordinates of entry `Index` lie within these dimensions.
#[track_caller]
fn is_inside(x: &SparseTensor, op: &'static str, dims: &[u32]) -> Result<Expr> {
    dims.iter().enumerate().try_fold(Expr::scalar(true), |all, (d, &size)| {
        let c = coordinate(x, op, d)?;
        Ok(all.and(Expr::scalar(0i64).le(c.clone())).and(c.lt(Expr::scalar(i64::from(size)))))
    })
}

/// The row-major position of every entry in these dimensions, whose product is below 2^32. Arbitrary for an entry with
/// a coordinate out of range.
#[track_caller]
fn position(x: &SparseTensor, op: &'static str, dims: &[u32]) -> Result<Node> {
    let mut at = Expr::u32(0);
    for (d, &size) in dims.iter().enumerate() {
        at = at.mul(Expr::u32(size)).add(coordinate(x, op, d)?.cast(DType::U32));
    }
    Ok(Node::map(x.values().backend(), op, x.values().nrows_extent(), at, &[]))
}
