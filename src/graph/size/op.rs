//! Arithmetic on sizes.

use super::recorded::RecordedSize;
use super::{MAX_DEPTH, SizeKind};
use crate::graph::Size;
use crate::graph::digest::Digest;

/// Arithmetic on sizes: u32, saturating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum SizeOp {
    Add,
    /// 0 where the second operand is larger.
    Sub,
    Mul,
    /// Rounds down; 0 for a divisor of 0.
    Div,
    Min,
    Max,
}

impl SizeOp {
    /// Applies the operation.
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Self::Add => a.saturating_add(b),
            Self::Sub => a.saturating_sub(b),
            Self::Mul => a.saturating_mul(b),
            Self::Div => a.checked_div(b).unwrap_or(0),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

impl SizeOp {
    /// Whether the result is 0 if one of the operands is, whatever the other one is.
    pub(super) const fn keeps_zero(self) -> bool {
        matches!(self, Self::Mul | Self::Min)
    }

    /// Applies the operation without a limit of 32 bits.
    pub(super) fn apply_u64(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Add => a.saturating_add(b),
            Self::Sub => a.saturating_sub(b),
            Self::Mul => a.saturating_mul(b),
            Self::Div => a.checked_div(b).unwrap_or(0),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

impl Size {
    /// Applies `op`, and folds constants and identity elements.
    pub(crate) fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        use SizeOp as O;
        match (op, a.as_const(), b.as_const()) {
            (_, Some(a), Some(b)) => return Self::Const(op.apply(a, b)),
            (O::Add, Some(0), _) | (O::Mul, Some(1), _) => return b.clone(),
            (O::Add | O::Sub, _, Some(0)) | (O::Mul | O::Div, _, Some(1)) => return a.clone(),
            (O::Mul, Some(0), _) | (O::Mul, _, Some(0)) => return Self::Const(0),
            (O::Min | O::Max, ..) if a == b => return a.clone(),
            _ => {}
        }
        let digest = Digest::of("size", (op, a, b));
        let depth = a.depth().max(b.depth()) + 1;
        if depth > MAX_DEPTH
            && !a.varies()
            && !b.varies()
            && let (Some(x), Some(y)) = (a.host_value(), b.host_value())
        {
            let value = op.apply(x, y);
            let counts = a.contains_count() || b.contains_count();
            return if counts { Self::read_count(digest, value) } else { Self::input(digest, value) };
        }
        Self::symbol(digest, depth, SizeKind::Op(op, a.clone(), b.clone()))
    }

    pub(crate) fn add(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Add, self, &other.into())
    }
    pub(crate) fn sub(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Sub, self, &other.into())
    }
    pub(crate) fn mul(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Mul, self, &other.into())
    }
    pub(crate) fn div(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Div, self, &other.into())
    }
    pub(crate) fn min(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Min, self, &other.into())
    }
    pub(crate) fn max(&self, other: impl Into<Self>) -> Self {
        Self::op(SizeOp::Max, self, &other.into())
    }
}
