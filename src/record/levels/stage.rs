//! Reduction or scan of one run of adjacent axes.

use crate::error::Result;
use crate::graph::backend::BackendRef;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::graph::reducer::Reducer;
use crate::record::by_key::{ByKey, reduce_rows};
use crate::record::row_scan::{RowPlace, RowScan};

/// Assigns each input number to the result that it is reduced to.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(super) members: Members,
    /// Numbers per element: the product of the dimensions below that stay.
    pub(super) inner: u32,
    /// Number of input numbers.
    pub(super) numbers: Extent,
}

#[derive(Debug)]
pub(super) enum Members {
    /// A row of adjacent elements.
    Rows { rows: Rows, nrows: Extent, nvals: Extent },
    /// Elements with the same key.
    Keys(ByKey),
}

impl Stage {
    /// Reduces `value`, an expression in the input number.
    #[track_caller]
    pub(crate) fn reduce(
        &self,
        backend: &BackendRef,
        name: &'static str,
        by: impl Into<Reducer>,
        value: Expr,
    ) -> Result<Node> {
        match &self.members {
            Members::Rows { rows, nrows, nvals } => {
                reduce_rows(backend, name, by, (rows, nrows), nvals, self.inner, value)
            }
            Members::Keys(keys) => keys.reduce(backend, name, by, self.inner, &value),
        }
    }

    /// Scans `value` over the members of each result. `value` and the returned scan are expressions in the input
    /// number.
    #[track_caller]
    pub(crate) fn scan(&self, backend: &BackendRef, name: &'static str, value: Expr, scan: &RowScan) -> Result<Expr> {
        match &self.members {
            Members::Rows { rows, nrows, nvals } => {
                let width = Expr::u32(self.inner.max(1));
                let element = Expr::index().div(width.clone());
                let row = rows.row_of(element.clone());
                let at = RowPlace { row, at: element, number: Expr::index().rem(width) };
                scan.record(backend, name, (rows, nrows), nvals, self.inner, value, &at)
            }
            Members::Keys(keys) => keys.scan(backend, name, self.inner, &value, scan),
        }
    }

    /// Number of members of result `Index`.
    pub(crate) fn count(&self) -> Expr {
        let element = Expr::index().div(Expr::u32(self.inner.max(1)));
        match &self.members {
            Members::Rows { rows, .. } => rows.length(element),
            Members::Keys(keys) => keys.count(element),
        }
    }

    /// The result that input number `Index` is a member of.
    pub(crate) fn target(&self) -> Expr {
        let width = Expr::u32(self.inner.max(1));
        let element = Expr::index().div(width.clone());
        let row = match &self.members {
            Members::Rows { rows, .. } => rows.row_of(element),
            Members::Keys(keys) => keys.key(element),
        };
        row.mul(width.clone()).add(Expr::index().rem(width))
    }

    /// Members as rows of adjacent elements: the rows, their number, and the number of elements.
    pub(crate) fn as_rows(&self) -> Option<(&Rows, &Extent, &Extent)> {
        match &self.members {
            Members::Rows { rows, nrows, nvals } => Some((rows, nrows, nvals)),
            Members::Keys(_) => None,
        }
    }

    /// Members as elements grouped by key.
    pub(crate) fn as_keys(&self) -> Option<&ByKey> {
        match &self.members {
            Members::Rows { .. } => None,
            Members::Keys(keys) => Some(keys),
        }
    }

    /// Numbers per element.
    pub(crate) fn inner(&self) -> u32 {
        self.inner
    }

    /// Number of input numbers.
    pub(crate) fn numbers(&self) -> &Extent {
        &self.numbers
    }
}
