//! How the kernel of a recipe evaluates its expressions.

use super::Recipe;
use crate::graph::Extent;

/// How often a kernel evaluates its expressions per position, and whether it knows the row of the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// Once per position, with the row known.
    Once,
    /// Once per position, without the row.
    Rowless,
    /// Twice per position, without the row: in both passes of a scan.
    Twice,
    /// Any number of times per position, possibly none, without the row: in the tiles of a product.
    Repeatedly,
    /// At about a hundred call sites of the kernel's source, as in a hash; only a plain load is worth inlining into
    /// all.
    ManySites,
}

impl Recipe {
    /// How the kernel evaluates the recipe's expressions.
    pub(crate) fn evaluation(&self) -> Evaluation {
        match self {
            Self::Map { .. } | Self::Reduce { .. } | Self::RowScan { .. } | Self::Assert { .. } => Evaluation::Once,
            Self::Scan { .. } | Self::Sort { .. } | Self::RowSort { .. } => Evaluation::Twice,
            Self::Product(_) => Evaluation::Repeatedly,
            Self::Hash { .. } => Evaluation::ManySites,
            Self::Append { .. }
            | Self::RankBitmap { .. }
            | Self::Compact { .. }
            | Self::Histogram { .. }
            | Self::TopK { .. }
            | Self::TileFold { .. } => Evaluation::Rowless,
        }
    }

    /// Extent of the positions at which the kernel evaluates the recipe's expressions, for a result of extent `out`;
    /// `None` if the kernel may skip some of them.
    pub(crate) fn evaluated_at(&self, out: &Extent) -> Option<Extent> {
        match self {
            Self::Map { whole: false, .. } => Some(out.clone()),
            Self::Reduce { on, .. } | Self::RowScan { on, .. } => on.nvals.times("a row", u64::from(on.inner)).ok(),
            Self::RowSort { on, .. } | Self::TopK { on, .. } => Some(on.nvals.clone()),
            Self::Scan { count, .. }
            | Self::Sort { count, .. }
            | Self::RankBitmap { count, .. }
            | Self::Histogram { count, .. }
            | Self::TileFold { count, .. }
            | Self::Assert { count, .. } => Some(count.clone()),
            Self::Map { whole: true, .. }
            | Self::Append { .. }
            | Self::Product(_)
            | Self::Hash { .. }
            | Self::Compact { .. } => None,
        }
    }
}
