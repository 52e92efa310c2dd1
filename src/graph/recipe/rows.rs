//! The rows that primitives iterate over.

use super::{Reference, Rewrite};
use crate::graph::{Expr, Extent, Node, Size};

/// Row partition that a row primitive iterates over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum Rows<A = Node, S = Size> {
    /// Sorted u32 splits, one more than rows. Entries beyond the live rows repeat the last split, so that rows beyond
    /// the live ones are empty.
    Splits(A),
    /// Every row has this many elements.
    Uniform(S),
}

impl<A, S> Rows<A, S> {
    /// Rewrites the references.
    pub(super) fn map<E, X, C, R: Rewrite<E, A, X, S, C>>(&self, r: &mut R) -> Rows<R::Array, R::Size> {
        match self {
            Self::Splits(node) => Rows::Splits(r.array(node)),
            Self::Uniform(len) => Rows::Uniform(r.size(len)),
        }
    }

    pub(super) fn visit<'a, E: 'a, X: 'a>(&'a self, f: &mut impl FnMut(Reference<'a, E, A, X, S>)) {
        match self {
            Self::Splits(node) => f(Reference::Array(node)),
            Self::Uniform(len) => f(Reference::Size(len)),
        }
    }
}

impl Rows {
    /// First position of row `row`.
    pub(crate) fn start(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::load(node, row),
            Self::Uniform(len) => row.mul(Expr::size(len)),
        }
    }

    /// Number of elements of row `row`.
    pub(crate) fn length(&self, row: Expr) -> Expr {
        match self {
            Self::Splits(_) => self.start(row.clone().add(Expr::u32(1))).sub(self.start(row)),
            Self::Uniform(len) => Expr::size(len),
        }
    }

    /// The row that holds element `at`.
    pub(crate) fn row_of(&self, at: Expr) -> Expr {
        match self {
            Self::Splits(node) => Expr::row_of(node, at),
            Self::Uniform(len) => at.div(Expr::size(&len.max(1))),
        }
    }
}

/// The rows that a row primitive iterates over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct RowDomain<A = Node, X = Extent, S = Size> {
    /// Where rows begin.
    pub(crate) rows: Rows<A, S>,
    /// Number of rows.
    pub(crate) nrows: X,
    /// Total number of elements of the rows, `inner` numbers each.
    pub(crate) nvals: X,
    /// Numbers per element: the inner width.
    pub(crate) inner: u32,
}

impl<A, X, S> RowDomain<A, X, S> {
    pub(super) fn map<E, C, R: Rewrite<E, A, X, S, C>>(&self, r: &mut R) -> RowDomain<R::Array, R::Extent, R::Size> {
        let rows = self.rows.map(r);
        let nrows = r.extent(&self.nrows);
        RowDomain { rows, nrows, nvals: r.extent(&self.nvals), inner: self.inner }
    }

    pub(super) fn visit<'a, E: 'a>(&'a self, f: &mut impl FnMut(Reference<'a, E, A, X, S>)) {
        self.rows.visit(f);
        [&self.nrows, &self.nvals].into_iter().for_each(|x| f(Reference::Extent(x)));
    }
}
