//! Whether sizes, or rows, are equal: said on the host where it can tell, left to the device where it cannot.

use std::sync::Arc;

use super::RowPartition;
use crate::error::{Error, Result};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};

/// What the host can say about two things that must be equal.
#[derive(Debug)]
pub(crate) enum Agreement<D> {
    /// They are.
    Yes,
    /// They are not; this sets them apart.
    No(D),
    /// They are if the condition holds at each of so many positions.
    If(Extent, Expr),
}

impl<D> Agreement<D> {
    /// The condition for the device to look at; none where the host can tell.
    ///
    /// # Errors
    /// The two differ: what `error` makes of the difference.
    pub(crate) fn condition(
        self,
        backend: &BackendRef,
        check: Arc<Check>,
        error: impl FnOnce(D) -> Error,
    ) -> Result<Option<Node>> {
        match self {
            Self::Yes => Ok(None),
            Self::No(difference) => Err(error(difference)),
            Self::If(count, ok) => Ok(Some(Node::assert(backend, count, ok, check))),
        }
    }
}

impl Extent {
    /// Whether both are the same count; the two counts if they are not.
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
    /// Whether both have rows of the same lengths; the first row that differs if not. Where the device is to tell, it
    /// is told to compare the rows of this one, so that their numbers must be compared for themselves.
    pub(crate) fn agrees(&self, other: &Self) -> Agreement<usize> {
        if self.same(other) {
            return Agreement::Yes;
        }
        let unknown = || {
            let ok = self.length(Expr::index()).eq(other.length(Expr::index()));
            Agreement::If(self.nrows_extent().clone(), ok)
        };
        let length = |p: &Self, r: usize| match (p.rows(), p.host_splits()) {
            (Rows::Uniform(len), _) => Some(len.value()),
            (_, Some(s)) => Some(s[r + 1] - s[r]),
            _ => None,
        };
        let (Some(a), Some(b)) = (self.nrows(), other.nrows()) else { return unknown() };
        if a != b {
            return Agreement::No(a.min(b) as usize);
        }
        for r in 0..a as usize {
            match (length(self, r), length(other, r)) {
                (Some(x), Some(y)) if x != y => return Agreement::No(r),
                (Some(_), Some(_)) => {}
                _ => return unknown(),
            }
        }
        Agreement::Yes
    }
}
