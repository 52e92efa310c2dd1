//! Primitives: what computes the array of a node. One file per primitive holds its expressions and sizes, its
//! constructor, and what the planner asks of it ([`Facts`]).
//!
//! A new primitive takes its file and its lines in the two lists below, a file in each backend (`backend/cpu`:
//! `CpuPrimitive`; `backend/gpu`: `GpuPrimitive`), and a shader.

mod facts;
pub(super) mod positions;
mod rows;

pub(crate) use facts::{Evaluation, Facts};
pub(crate) use positions::Positions;
pub(crate) use rows::{RowDomain, Rows};
pub(crate) use scan_rows::{Stage, StageValue};
pub(crate) use unique_scatter::copied_bytes;

use super::Expr;
use super::handles::Handles;
use super::planned::{self, InPlan};
use super::refs::{Recorded, Reference, Refs, Rewrite};

/// Implements the visit and the rewrite of a primitive's references, in the given order, arrays and extents before
/// expressions. Fields after the semicolon contain no references.
macro_rules! references {
    ($name:ident, $family:literal { $($kind:ident $field:ident),*; $($plain:ident),* }) => {
        impl<R: Refs> $name<R> {
            pub(super) const FAMILY: &'static str = $family;

            pub(super) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
                $(references!(@visit $kind self.$field, f);)*
            }

            pub(super) fn map<W: Rewrite<R>>(&self, r: &mut W) -> $name<W::To> {
                $(let $field = references!(@map $kind self.$field, r);)*
                $name { $($field,)* $($plain: self.$plain,)* }
            }
        }
    };
    (@visit hash $e:expr, $f:ident) => {};
    (@visit domain $e:expr, $f:ident) => { $e.visit($f) };
    (@visit expr $e:expr, $f:ident) => { $f(Reference::Expr(&$e)) };
    (@visit array $e:expr, $f:ident) => { $f(Reference::Array(&$e)) };
    (@visit optional_expr $e:expr, $f:ident) => { $e.iter().for_each(|e| $f(Reference::Expr(e))) };
    (@visit optional $e:expr, $f:ident) => { $e.iter().for_each(|array| $f(Reference::Array(array))) };
    (@visit extent $e:expr, $f:ident) => { $f(Reference::Extent(&$e)) };
    (@visit size $e:expr, $f:ident) => { $f(Reference::Size(&$e)) };
    (@visit check $e:expr, $f:ident) => { $f(Reference::Check(&$e)) };
    (@map domain $e:expr, $r:ident) => { $e.map($r) };
    (@map hash $e:expr, $r:ident) => { $e.map(|key| $r.param(key)) };
    (@map optional_expr $e:expr, $r:ident) => { $e.as_ref().map(|e| $r.expr(e)) };
    (@map optional $e:expr, $r:ident) => { $e.as_ref().map(|array| $r.array(array)) };
    (@map $kind:ident $e:expr, $r:ident) => { $r.$kind(&$e) };
}

pub(crate) mod append;
mod assert;
mod compact;
mod histogram;
mod map;
mod product;
pub(crate) mod rank_bitmap;
mod reduce;
mod row_hash;
mod row_scan;
pub(crate) mod row_sort;
mod scan;
mod scan_rows;
mod sort;
pub(crate) mod tile_fold;
pub(crate) mod top_k;
mod unique_scatter;

/// Defines [`Recipe`], and the macro that evaluates an expression for the primitive of a recipe.
macro_rules! recipes {
    ($d:tt $($module:ident::$name:ident),* $(,)?) => {
        $(pub(crate) use $module::$name;)*

        /// The primitive that computes an array.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[cfg_attr(
            feature = "saved",
            derive(serde::Serialize, serde::Deserialize),
            serde(rename_all = "snake_case", deny_unknown_fields, bound = "R: crate::graph::refs::SavedRefs")
        )]
        pub(crate) enum Recipe<R: Refs = Recorded> {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name<R>),)*
        }

        /// Evaluates an expression with the primitive of a recipe, whichever it is.
        macro_rules! each_primitive {
            ($d recipe:expr, $d p:ident => $d value:expr) => {
                match $d recipe { $($crate::graph::primitive::Recipe::$name($d p) => $d value,)* }
            };
        }
        pub(crate) use each_primitive;

        impl<R: Refs> Recipe<R> {
            /// Name of the kernel template.
            pub(crate) fn family(&self) -> &'static str {
                match self { $(Self::$name(_) => $name::<R>::FAMILY,)* }
            }

            /// Rewrites all references in the recipe.
            pub(crate) fn map<W: Rewrite<R>>(&self, r: &mut W) -> Recipe<W::To> {
                match self { $(Self::$name(p) => Recipe::$name(p.map(r)),)* }
            }
        }
    };
}

recipes! { $
    map::Map,
    append::Append,
    reduce::Reduce,
    product::Product,
    scan::Scan,
    row_scan::RowScan,
    scan_rows::ScanRows,
    sort::Sort,
    row_sort::RowSort,
    top_k::TopK,
    row_hash::RowHash,
    rank_bitmap::Mark,
    compact::Compact,
    histogram::Histogram,
    tile_fold::TileFold,
    unique_scatter::UniqueScatter,
    assert::Assert,
}

impl<R: Refs> Recipe<R> {
    /// Calls `f` with every reference, arrays and extents before expressions.
    pub(crate) fn visit<'a>(&'a self, f: &mut impl FnMut(Reference<'a, R>)) {
        each_primitive!(self, p => p.visit(f));
    }

    /// The references for which `f` returns something.
    fn select<'a, T>(&'a self, f: impl Fn(Reference<'a, R>) -> Option<T>) -> Vec<T> {
        let mut out = Vec::with_capacity(2);
        self.visit(&mut |part| out.extend(f(part)));
        out
    }

    /// The expressions of the recipe.
    pub(crate) fn exprs(&self) -> Vec<&R::Expr> {
        self.select(|part| if let Reference::Expr(e) = part { Some(e) } else { None })
    }

    /// The array that the recipe reads outside of its expressions, if any: the splits of its rows, the bitmap, or the base
    /// of a scatter.
    pub(crate) fn array(&self) -> Option<&R::Array> {
        self.select(|part| if let Reference::Array(a) = part { Some(a) } else { None }).pop()
    }

    /// The check that the recipe itself is, if any.
    pub(crate) fn check(&self) -> Option<&R::Check> {
        self.select(|part| if let Reference::Check(c) = part { Some(c) } else { None }).pop()
    }
}

impl<R: Handles> Recipe<R> {
    /// The recipe with other expressions, in order.
    pub(crate) fn with_exprs(&self, f: impl FnMut(&Expr<R>) -> Expr<R>) -> Self {
        self.map(&mut super::refs::EachExpr(f))
    }

    /// The device-known counts of the recipe's extents, as expressions that load them.
    pub(crate) fn live_counts(&self) -> impl Iterator<Item = Expr<R>> {
        self.select(|part| if let Reference::Extent(x) = part { x.live() } else { None }).into_iter()
    }
}

impl<R: Refs> Recipe<R> {
    /// The array that the kernel overwrites at some elements, or copies before: see [`UniqueScatter::base`].
    pub(crate) fn base(&self) -> Option<&R::Array> {
        if let Self::UniqueScatter(scatter) = self { scatter.base.as_ref() } else { None }
    }
}

impl Recipe<InPlan> {
    /// What the planner asks of the primitive.
    pub(crate) fn facts(&self) -> &dyn Facts {
        each_primitive!(self, p => p)
    }

    /// The rows that the recipe iterates over, if any.
    pub(crate) fn domain(&self) -> Option<&RowDomain<InPlan>> {
        self.facts().domain()
    }

    /// The row partition that the recipe searches or iterates over, if any.
    pub(crate) fn rows(&self) -> Option<&Rows<InPlan>> {
        match self {
            Self::Product(p) => Some(&p.tiles),
            _ => self.domain().map(|on| &on.rows),
        }
    }

    /// The expression of a map or of an assertion, whose kernels are maps.
    pub(crate) fn mapped(&self) -> Option<&planned::Expr> {
        match self {
            Self::Map(map) => Some(&map.value),
            Self::Assert(assert) => Some(&assert.ok),
            _ => None,
        }
    }

    /// Extent of the positions at which the kernel evaluates the recipe's expressions, for a result of extent `out`;
    /// `None` if the kernel may skip some of them.
    pub(crate) fn evaluated_at(&self, out: &planned::Extent) -> Option<planned::Extent> {
        let facts = self.facts();
        if facts.skips() { None } else { facts.positions(out).first()?.extent().ok() }
    }
}
