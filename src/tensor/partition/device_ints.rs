//! Device-side integers that encode rows, of any supported integer type.

use super::Making;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::scalar::Scalar;
use crate::tensor::Tensor;

/// The integers of a rank-1 tensor, as operands of position arithmetic.
pub(super) struct DeviceInts<'a> {
    node: &'a Node,
    pub(super) count: Extent,
    /// The maximum of an entry.
    most: u32,
}

impl<'a> DeviceInts<'a> {
    #[track_caller]
    pub(super) fn new(m: Making<'_>, name: &'static str, t: &'a Tensor, most: u32) -> Result<Self> {
        Device::check_same(m.op, m.backend, t.backend())?;
        let integers = matches!(t.dtype(), DType::I32 | DType::U32 | DType::I64);
        if !integers {
            return Err(Error::unsupported(m.op, t.dtype(), format!("{name} must be i32, u32 or i64")));
        }
        let (1, 0, Some(count)) = (t.rank(), t.ragged_rank(), t.outer()) else {
            return Err(Error::argument(
                m.op,
                format!("{name} must be dense of rank 1, but its shape is {}", t.shape_text()),
            ));
        };
        Ok(Self { node: t.numbers(m.op)?, count: count.clone(), most })
    }

    /// Entry `at` in its own type.
    pub(super) fn raw(&self, at: Expr) -> Expr {
        Expr::load(self.node, at)
    }

    /// Entry `at` as a u32, clamped to `0..=most`.
    pub(super) fn clamped(&self, at: Expr) -> Expr {
        let (x, most) = (self.raw(at), Expr::u32(self.most));
        match x.dtype() {
            DType::I64 => {
                let limit = Expr::scalar(Scalar::I64(i64::from(self.most)));
                x.max(Expr::scalar(0i64)).min(limit).cast(DType::U32)
            }
            DType::I32 => x.max(Expr::scalar(0i32)).cast(DType::U32).min(most),
            _ => x.min(most),
        }
    }

    /// A count in the type in which entries are compared.
    pub(super) fn count_as_entry(&self, n: Expr) -> Expr {
        if self.node.dtype() == DType::I64 { n.cast(DType::I64) } else { n }
    }

    /// Entry `at` in the type in which entries are compared. A negative i32 becomes larger than every count; a negative
    /// i64 stays below 0.
    pub(super) fn entry(&self, at: Expr) -> Expr {
        let x = self.raw(at);
        if x.dtype() == DType::I64 { x } else { x.cast(DType::U32) }
    }

    /// Whether entry `at` is in `0..=most`.
    pub(super) fn in_range(&self, at: Expr) -> Expr {
        let x = self.entry(at);
        let below = x.clone().le(self.count_as_entry(Expr::u32(self.most)));
        if x.dtype() == DType::I64 { below.and(Expr::scalar(0i64).le(x)) } else { below }
    }
}
