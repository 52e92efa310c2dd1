//! Sizes that the host knows: all of them, and those that decide types and errors, which do not depend on what was read
//! before.

use super::RaggedShape;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;

/// Sizes that the host knows.
impl RaggedShape {
    /// Number of rows of the outermost dimension, if the host knows it; none for a scalar. [`Tensor::len`] reads it.
    ///
    /// [`Tensor::len`]: crate::Tensor::len
    pub fn nrows(&self) -> Option<usize> {
        self.sizes().first().copied().flatten()
    }

    /// As [`Self::sizes`], with none for a number of rows that the device computes, read or not: for types and errors.
    pub(crate) fn known_sizes(&self) -> Vec<Option<usize>> {
        self.sizes_with(Extent::as_known)
    }

    /// The conditions under which the shape is dense and has these sizes: at most one, about the number of rows, where
    /// the device computes it. `None` if the shape is ragged or has other sizes.
    pub(crate) fn has_sizes(&self, op: &'static str, sizes: &[Option<usize>]) -> Option<Vec<Node>> {
        let mut own = self.known_sizes();
        let mut conditions = Vec::new();
        if let (Some(rows @ None), Some(Some(size))) = (own.first_mut(), sizes.first()) {
            *rows = Some(*size);
            let ok = self.nrows_extent().expr().eq(Expr::u32(u32::try_from(*size).ok()?));
            let check = Check::new(op, format!("the outermost dimension must have size {size}"));
            conditions.push(Node::assert(&self.backend, Extent::known(1), ok, check));
        }
        (self.partitions.is_empty() && own == sizes).then_some(conditions)
    }
}
