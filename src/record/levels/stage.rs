//! Reduction or scan of one run of adjacent axes.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain};
use crate::graph::recorder::Recorder;
use crate::graph::reducer::Reducer;
use crate::record::by_key::{ByKey, reduce_rows};
use crate::record::row_scan::{RowPlace, RowScan, Terms};

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
    Rows(RowDomain),
    /// Elements with the same key.
    Keys(ByKey),
}

impl Stage {
    /// Reduces `value`, an expression in the input number.
    pub(crate) fn reduce(&self, rec: Recorder<'_>, by: impl Into<Reducer>, value: Expr) -> Result<Node> {
        match &self.members {
            Members::Rows(rows) => reduce_rows(rec, by, rows.clone(), value),
            Members::Keys(keys) => keys.reduce(rec, by, self.inner, &value),
        }
    }

    /// Scans `terms` over the members of each result. The terms and the returned scan are expressions in the input
    /// number.
    pub(crate) fn scan(&self, rec: Recorder<'_>, terms: impl Into<Terms>, scan: &RowScan) -> Result<Expr> {
        match &self.members {
            Members::Rows(on) => {
                let width = Expr::u32(self.inner.max(1));
                let element = Expr::index().div(width.clone());
                let row = on.rows.row_of(element.clone());
                let at = RowPlace { row, at: element, number: Expr::index().rem(width) };
                scan.record(rec, on.clone(), terms, &at)
            }
            Members::Keys(keys) => keys.scan(rec, self.inner, terms, scan),
        }
    }

    /// Number of members of result `Index`.
    pub(crate) fn count(&self) -> Expr {
        let element = Expr::index().div(Expr::u32(self.inner.max(1)));
        match &self.members {
            Members::Rows(on) => on.rows.length(element),
            Members::Keys(keys) => keys.count(element),
        }
    }

    /// The result that input number `Index` is a member of.
    pub(crate) fn target(&self) -> Expr {
        let width = Expr::u32(self.inner.max(1));
        let element = Expr::index().div(width.clone());
        let row = match &self.members {
            Members::Rows(on) => on.rows.row_of(element),
            Members::Keys(keys) => keys.key(element),
        };
        row.mul(width.clone()).add(Expr::index().rem(width))
    }

    /// Members as rows of adjacent elements.
    pub(crate) fn as_rows(&self) -> Option<&RowDomain> {
        match &self.members {
            Members::Rows(on) => Some(on),
            Members::Keys(_) => None,
        }
    }

    /// Members as elements grouped by key.
    pub(crate) fn as_keys(&self) -> Option<&ByKey> {
        match &self.members {
            Members::Rows(_) => None,
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
