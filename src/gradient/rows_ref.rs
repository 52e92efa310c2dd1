//! Arithmetic of the rows that accesses refer to.

use crate::graph::access::{Radix, RowsRef};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::size::Size;

/// The radix as a size.
pub(super) fn size_of(radix: &Radix) -> Option<Size> {
    let times = Size::from(u32::try_from(radix.times).ok()?);
    Some(match &radix.size {
        None => times,
        Some(size) => size.as_size()?.mul(&times),
    })
}

impl RowsRef {
    /// Number of rows that have elements among the first `count`.
    pub(super) fn nrows(&self, count: &Extent) -> Option<Extent> {
        Some(match self {
            Self::Splits(splits) => Extent::of(splits.extent().size().sub(1)),
            Self::Uniform(length) => count.part(size_of(length)?.max(1)),
        })
    }

    pub(super) fn start(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(splits) => Expr::load(splits, row),
            Self::Uniform(length) => row.mul(length.expr()),
        }
    }

    pub(super) fn within(&self, row: Expr, offset: Expr) -> Expr {
        match self {
            Self::Splits(splits) => Expr::within(splits, row, offset),
            Self::Uniform(length) => row.mul(length.expr()).add(offset),
        }
    }

    pub(super) fn length(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(_) => self.start(row.clone().add(Expr::u32(1))).sub(self.start(row)),
            Self::Uniform(length) => length.expr(),
        }
    }

    pub(super) fn row_of(&self, element: Expr) -> Expr {
        match self {
            Self::Splits(splits) => Expr::row_of(splits, element),
            Self::Uniform(length) => element.div(length.expr()),
        }
    }
}

impl Radix {
    pub(super) fn expr(&self) -> Expr {
        let times = Expr::u32(u32::try_from(self.times).unwrap_or(u32::MAX));
        match &self.size {
            Some(size) => size.clone().mul(times),
            None => times,
        }
    }
}
