//! The rows that primitives iterate over.

use crate::graph::digest::Digest;
use crate::graph::handles::{Handles, SizeHandle};
use crate::graph::refs::{Recorded, Reference, Refs, Rewrite};
use crate::graph::size::{RecordedSize, SizeOp};
use crate::graph::{Expr, Size};

/// Row partition that a row primitive iterates over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) enum Rows<R: Refs = Recorded> {
    /// Sorted u32 splits, one more than rows. Entries beyond the live rows repeat the last split, so that rows beyond
    /// the live ones are empty.
    Splits(R::Array),
    /// Every row has this many elements.
    Uniform(R::Size),
}

impl<R: Refs> Rows<R> {
    /// Rewrites the references.
    pub(super) fn map<W: Rewrite<R>>(&self, r: &mut W) -> Rows<W::To> {
        match self {
            Self::Splits(node) => Rows::Splits(r.array(node)),
            Self::Uniform(len) => Rows::Uniform(r.size(len)),
        }
    }

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
        match self {
            Self::Splits(node) => f(Reference::Array(node)),
            Self::Uniform(len) => f(Reference::Size(len)),
        }
    }
}

impl Rows {
    /// Upper bound of the row lengths, as a size: a parameter of the program.
    pub(super) fn longest(&self, bound: u32) -> Size {
        match self {
            Self::Uniform(_) => Size::Const(bound),
            Self::Splits(splits) => Size::input(Digest::of("longest row", (splits.digest(), bound)), bound),
        }
    }

    /// Upper bound of the row lengths, as far as the host knows.
    pub(crate) fn known_longest(&self) -> u32 {
        match self {
            Self::Splits(node) => node.known_lengths().longest,
            Self::Uniform(len) => len.capacity(),
        }
    }
}

impl<R: Handles> Rows<R> {
    /// First position of row `row`.
    pub(crate) fn start(&self, row: Expr<R>) -> Expr<R> {
        match self {
            Self::Splits(node) => Expr::load(node, row),
            Self::Uniform(len) => row.mul(Expr::size(len)),
        }
    }

    /// Number of elements of row `row`.
    pub(crate) fn length(&self, row: Expr<R>) -> Expr<R> {
        match self {
            Self::Splits(_) => self.start(row.clone().add(Expr::u32(1))).sub(self.start(row)),
            Self::Uniform(len) => Expr::size(len),
        }
    }

    /// Element `offset` of row `row`. The offset must lie within the row wherever the value is used.
    pub(crate) fn within(&self, row: Expr<R>, offset: Expr<R>) -> Expr<R> {
        match self {
            Self::Splits(node) => Expr::within(node, row, offset),
            Self::Uniform(len) => row.mul(Expr::size(len)).add(offset),
        }
    }

    /// The row that holds element `at`.
    pub(crate) fn row_of(&self, at: Expr<R>) -> Expr<R> {
        match self {
            Self::Splits(node) => Expr::row_of(node, at),
            Self::Uniform(len) => at.div(Expr::size(&R::Size::op(SizeOp::Max, len, &1.into()))),
        }
    }
}

/// The rows that a row primitive iterates over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
)]
pub(crate) struct RowDomain<R: Refs = Recorded> {
    /// Where rows begin.
    pub(crate) rows: Rows<R>,
    /// Number of rows.
    pub(crate) nrows: R::Extent,
    /// Total number of elements of the rows, `inner` numbers each.
    pub(crate) nvals: R::Extent,
    /// Numbers per element: the inner width.
    pub(crate) inner: u32,
}

#[cfg(test)]
impl RowDomain {
    /// The rows, their number and that of their elements, of `inner` numbers each.
    pub(crate) fn of((rows, nrows): (Rows, crate::graph::Extent), nvals: crate::graph::Extent, inner: u32) -> Self {
        Self { rows, nrows, nvals, inner }
    }
}

impl<R: Refs> RowDomain<R> {
    pub(super) fn map<W: Rewrite<R>>(&self, r: &mut W) -> RowDomain<W::To> {
        let rows = self.rows.map(r);
        let nrows = r.extent(&self.nrows);
        RowDomain { rows, nrows, nvals: r.extent(&self.nvals), inner: self.inner }
    }

    pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
        self.rows.visit(f);
        [&self.nrows, &self.nvals].into_iter().for_each(|x| f(Reference::Extent(x)));
    }
}
