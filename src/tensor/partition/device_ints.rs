//! Device-side integers that encode rows, of any integer type.

use super::Making;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::tensor::Tensor;
use crate::tensor::integers::{clamped_to, is_not_negative};

/// The integers of a rank-1 tensor, as operands of position arithmetic.
pub(super) struct DeviceInts {
    node: Node,
    pub(super) count: Extent,
    /// The maximum of an entry.
    most: u32,
}

impl DeviceInts {
    pub(super) fn new(m: Making<'_>, name: &'static str, t: &Tensor, most: u32) -> Result<Self> {
        m.rec.at(Device::check_same(m.rec.op, m.rec.backend, t.backend()))?;
        let node = m.rec.at(t.index_node(m.rec.op, name))?;
        let (1, 0, Some(count)) = (t.rank(), t.ragged_rank(), t.outer()) else {
            return Err(m.rec.argument(format!("{name} must be dense of rank 1, but its shape is {}", t.shape_text())));
        };
        Ok(Self { node, count: count.clone(), most })
    }

    /// Entry `at` in its own type.
    pub(super) fn raw(&self, at: Expr) -> Expr {
        Expr::load(&self.node, at)
    }

    /// Entry `at` as a u32, clamped to `0..=most`.
    pub(super) fn clamped(&self, at: Expr) -> Expr {
        clamped_to(self.raw(at), Expr::u32(self.most))
    }

    /// The type in which entries are compared.
    fn compared_in(&self) -> DType {
        match self.node.dtype() {
            wide @ (DType::I64 | DType::U64) => wide,
            _ => DType::U32,
        }
    }

    /// A count in the type in which entries are compared.
    pub(super) fn count_as_entry(&self, n: Expr) -> Expr {
        n.cast(self.compared_in())
    }

    /// Entry `at` in the type in which entries are compared. A negative i32 becomes larger than 2^31; a negative i64
    /// stays below 0.
    pub(super) fn entry(&self, at: Expr) -> Expr {
        self.raw(at).cast(self.compared_in())
    }

    /// Whether entry `at` is in `0..=most`.
    pub(super) fn in_range(&self, at: Expr) -> Expr {
        let below = self.entry(at.clone()).le(self.count_as_entry(Expr::u32(self.most)));
        below.and(is_not_negative(&self.raw(at)))
    }
}
