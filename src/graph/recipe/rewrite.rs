//! Visits and rewrites of the references in a recipe.

use std::sync::Arc;

use super::Recipe;
use crate::graph::expr::Check;

/// A reference in a recipe.
#[derive(Debug)]
pub(crate) enum Reference<'a, E, A, X, S> {
    Expr(&'a E),
    Array(&'a A),
    Extent(&'a X),
    Size(&'a S),
}

/// Rewrites the references in a recipe; see [`Recipe::map`].
pub(crate) trait Rewrite<E, A, X, S, C = Arc<Check>> {
    type Expr;
    type Array;
    type Extent;
    type Size;
    type Check;
    fn expr(&mut self, e: &E) -> Self::Expr;
    fn array(&mut self, a: &A) -> Self::Array;
    fn extent(&mut self, x: &X) -> Self::Extent;
    fn size(&mut self, s: &S) -> Self::Size;
    fn check(&mut self, c: &C) -> Self::Check;
}

impl<E, A, X, S, C> Recipe<E, A, X, S, C> {
    /// Calls `f` with every reference, arrays and extents before expressions.
    pub(crate) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, E, A, X, S>)) {
        match self {
            Self::Map { value, whole: _ } => f(Reference::Expr(value)),
            Self::Append { parts } => {
                parts.iter().for_each(|(_, count)| f(Reference::Extent(count)));
                parts.iter().for_each(|(value, _)| f(Reference::Expr(value)));
            }
            Self::Reduce { reducer: _, on, value } | Self::RowScan { op: _, on, value } => {
                on.visit(f);
                f(Reference::Expr(value));
            }
            Self::RowSort { on, key, bits: _, longest } => {
                on.visit(f);
                f(Reference::Size(longest));
                f(Reference::Expr(key));
            }
            Self::TopK { on, key, k: _, longest } => {
                on.visit(f);
                f(Reference::Size(longest));
                f(Reference::Expr(key));
            }
            Self::Hash { op: _, on, byte, longest } => {
                on.visit(f);
                f(Reference::Size(longest));
                f(Reference::Expr(byte));
            }
            Self::Scan { value, count }
            | Self::Sort { key: value, count, bits: _ }
            | Self::RankBitmap { keep: value, count }
            | Self::Histogram { key: value, count }
            | Self::Assert { ok: value, count, check: _ } => {
                f(Reference::Extent(count));
                f(Reference::Expr(value));
            }
            Self::TileFold { op: _, key, value, count, slots: _ } => {
                f(Reference::Extent(count));
                f(Reference::Expr(key));
                f(Reference::Expr(value));
            }
            Self::Compact { bitmap, value, count, inner: _ } => {
                f(Reference::Array(bitmap));
                f(Reference::Extent(count));
                f(Reference::Expr(value));
            }
            Self::Product(p) => p.visit(f),
        }
    }

    /// Rewrites all references in the recipe.
    #[expect(clippy::type_complexity, reason = "each kind of reference is a type")]
    pub(crate) fn map<R: Rewrite<E, A, X, S, C>>(
        &self,
        r: &mut R,
    ) -> Recipe<R::Expr, R::Array, R::Extent, R::Size, R::Check> {
        match self {
            Self::Map { value, whole } => Recipe::Map { value: r.expr(value), whole: *whole },
            Self::Append { parts } => {
                let counts: Vec<R::Extent> = parts.iter().map(|(_, count)| r.extent(count)).collect();
                let values = parts.iter().map(|(value, _)| r.expr(value));
                Recipe::Append { parts: values.zip(counts).collect() }
            }
            Self::Reduce { reducer, on, value } => {
                let on = on.map(r);
                Recipe::Reduce { reducer: *reducer, on, value: r.expr(value) }
            }
            Self::RowScan { op, on, value } => {
                let on = on.map(r);
                Recipe::RowScan { op: *op, on, value: r.expr(value) }
            }
            Self::RowSort { on, key, bits, longest } => {
                let (on, longest) = (on.map(r), r.size(longest));
                Recipe::RowSort { on, key: r.expr(key), bits: *bits, longest }
            }
            Self::TopK { on, key, k, longest } => {
                let (on, longest) = (on.map(r), r.size(longest));
                Recipe::TopK { on, key: r.expr(key), k: *k, longest }
            }
            Self::Hash { op, on, byte, longest } => {
                let (on, longest) = (on.map(r), r.size(longest));
                Recipe::Hash { op: *op, on, byte: r.expr(byte), longest }
            }
            Self::Scan { value, count } => {
                let count = r.extent(count);
                Recipe::Scan { value: r.expr(value), count }
            }
            Self::Sort { key, count, bits } => {
                let count = r.extent(count);
                Recipe::Sort { key: r.expr(key), count, bits: *bits }
            }
            Self::RankBitmap { keep, count } => {
                let count = r.extent(count);
                Recipe::RankBitmap { keep: r.expr(keep), count }
            }
            Self::Histogram { key, count } => {
                let count = r.extent(count);
                Recipe::Histogram { key: r.expr(key), count }
            }
            Self::TileFold { op, key, value, count, slots } => {
                let (count, key) = (r.extent(count), r.expr(key));
                Recipe::TileFold { op: *op, key, value: r.expr(value), count, slots: *slots }
            }
            Self::Compact { bitmap, value, count, inner } => {
                let (bitmap, count) = (r.array(bitmap), r.extent(count));
                Recipe::Compact { bitmap, value: r.expr(value), count, inner: *inner }
            }
            Self::Assert { ok, count, check } => {
                let count = r.extent(count);
                Recipe::Assert { ok: r.expr(ok), count, check: r.check(check) }
            }
            Self::Product(p) => Recipe::Product(Box::new(p.map(r))),
        }
    }
}
