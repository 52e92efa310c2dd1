//! Equality of sizes and of rows: decided on the host where possible, else deferred to a device-side check.

use std::fmt;
use std::sync::Arc;

use super::RowPartition;
use crate::error::{Error, Result};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;

/// Result of comparing two sizes or layouts that must be equal.
#[derive(Debug)]
pub(crate) enum Agreement<D> {
    /// Equal.
    Yes,
    /// Different, with the first difference.
    No(D),
    /// Equal if the condition holds at each position below the extent.
    If(Extent, Expr),
}

impl<D> Agreement<D> {
    /// The check to run on the device; none where the host has decided.
    ///
    /// # Errors
    /// The error that `error` makes of the difference, where the host knows that the two differ.
    pub(crate) fn condition(
        self,
        rec: Recorder<'_>,
        check: impl Into<Arc<Check>>,
        error: impl FnOnce(D) -> Error,
    ) -> Result<Option<Node>> {
        match self {
            Self::Yes => Ok(None),
            Self::No(difference) => Err(error(difference).at(rec.location)),
            Self::If(count, ok) => Ok(Some(Node::assert(rec.backend, count, ok, check.into()))),
        }
    }
}

/// The first difference between the rows of two partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowDifference {
    /// The numbers of rows.
    Rows(u32, u32),
    /// The lengths of this row.
    Length(usize, (u32, u32)),
}

impl RowDifference {
    /// The difference with the partitions in the other order.
    pub(crate) fn swapped(self) -> Self {
        match self {
            Self::Rows(a, b) => Self::Rows(b, a),
            Self::Length(row, (a, b)) => Self::Length(row, (b, a)),
        }
    }
}

impl fmt::Display for RowDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(a, b) => write!(f, "{a} rows on the left, {b} on the right"),
            Self::Length(row, (a, b)) => {
                let noun = if *a == 1 { "element" } else { "elements" };
                write!(f, "row {row} has {a} {noun} on the left, {b} on the right")
            }
        }
    }
}

impl Extent {
    /// Compares two counts; the difference is the pair of both.
    pub(crate) fn agrees(&self, other: &Self) -> Agreement<(u32, u32)> {
        let (a, b) = (self.expr(), other.expr());
        match (self.as_known(), other.as_known()) {
            _ if a == b => Agreement::Yes,
            (Some(a), Some(b)) if a == b => Agreement::Yes,
            (Some(a), Some(b)) => Agreement::No((a, b)),
            _ => Agreement::If(Self::known(1), a.eq(b)),
        }
    }
}

impl RowPartition {
    /// Compares the row lengths of two partitions. A device-side check covers only the rows of `self`, so the caller must
    /// compare the numbers of rows separately.
    pub(crate) fn agrees(&self, other: &Self) -> Agreement<RowDifference> {
        if self.same(other) {
            return Agreement::Yes;
        }
        let unknown = || {
            let ok = self.length(Expr::index()).eq(other.length(Expr::index()));
            Agreement::If(self.nrows_extent().clone(), ok)
        };
        let length = |p: &Self, r: usize| match (p.rows(), p.host_splits()) {
            (Rows::Uniform(len), _) => Some(len.capacity()),
            (_, Some(s)) => Some(s[r + 1] - s[r]),
            _ => None,
        };
        let (Some(a), Some(b)) = (self.nrows_extent().as_known(), other.nrows_extent().as_known()) else {
            return unknown();
        };
        if a != b {
            return Agreement::No(RowDifference::Rows(a, b));
        }
        for r in 0..a as usize {
            match (length(self, r), length(other, r)) {
                (Some(x), Some(y)) if x != y => return Agreement::No(RowDifference::Length(r, (x, y))),
                (Some(_), Some(_)) => {}
                _ => return unknown(),
            }
        }
        Agreement::Yes
    }
}
