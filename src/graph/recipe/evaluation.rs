//! How the kernel of a recipe evaluates its expressions.

use super::Recipe;
use crate::graph::Extent;

/// How often a kernel template evaluates its expression, and whether the row of the position is known there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// Once per position, with the row known.
    Once,
    /// Once per position, without the row.
    Rowless,
    /// Twice per position, without the row: in both passes of a scan.
    Twice,
    /// Any number of times per position, without the row, or never where no result needs it: in the tiles of a product.
    Again,
    /// At about a hundred places of the kernel's source, as a hash reads bytes: anything but a plain load would be
    /// compiled as often.
    Everywhere,
}

impl Recipe {
    /// How the kernel evaluates the recipe's expressions.
    pub(crate) fn evaluation(&self) -> Evaluation {
        match self {
            Self::Map { .. } | Self::Reduce { .. } | Self::RowScan { .. } | Self::Assert { .. } => Evaluation::Once,
            Self::Scan { .. } | Self::Sort { .. } | Self::RowSort { .. } => Evaluation::Twice,
            Self::Product(_) => Evaluation::Again,
            Self::Hash { .. } => Evaluation::Everywhere,
            Self::RankBitmap { .. } | Self::Compact { .. } | Self::Histogram { .. } => Evaluation::Rowless,
        }
    }

    /// Extent of the positions at which the kernel evaluates the recipe's expressions, for a result of extent `out`;
    /// `None` if the kernel may skip some of them.
    pub(crate) fn evaluated_at(&self, out: &Extent) -> Option<Extent> {
        match self {
            Self::Map { whole: false, .. } => Some(out.clone()),
            Self::Reduce { on, .. } | Self::RowScan { on, .. } => on.nvals.times("a row", u64::from(on.inner)).ok(),
            Self::RowSort { on, .. } => Some(on.nvals.clone()),
            Self::Scan { count, .. }
            | Self::Sort { count, .. }
            | Self::RankBitmap { count, .. }
            | Self::Histogram { count, .. }
            | Self::Assert { count, .. } => Some(count.clone()),
            Self::Map { whole: true, .. } | Self::Product(_) | Self::Hash { .. } | Self::Compact { .. } => None,
        }
    }
}
