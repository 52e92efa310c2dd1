//! What recipes and expressions refer to, and the rewrites of these references.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

#[cfg(feature = "saved")]
use serde::{Serialize, de::DeserializeOwned};

use crate::graph::expr::Check;
use crate::graph::function::Function;
use crate::graph::scalar::param::ScalarParam;
use crate::graph::{Expr, Extent, Node, Size};

/// A kind of references: those of a recording, numbers in a [`Program`](crate::graph::program::Program), or those of a plan.
pub(crate) trait Refs: Debug + Clone + Eq + Hash {
    type Expr: Debug + Clone + Eq + Hash;
    type Array: Debug + Clone + Eq + Hash;
    type Extent: Debug + Clone + Eq + Hash;
    type Size: Debug + Clone + Eq + Hash;
    type Param: Debug + Clone + Eq + Hash;
    type Check: Debug + Clone + Eq + Hash;
    type Function: Debug + Clone + Eq + Hash;
}

/// The references of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Recorded;

impl Refs for Recorded {
    type Expr = Expr;
    type Array = Node;
    type Extent = Extent;
    type Size = Size;
    type Param = ScalarParam;
    type Check = Arc<Check>;
    type Function = Function;
}

/// References that a file can hold.
#[cfg(feature = "saved")]
pub(crate) trait SavedRefs:
    Refs<
        Expr: Serialize + DeserializeOwned,
        Array: Serialize + DeserializeOwned,
        Extent: Serialize + DeserializeOwned,
        Size: Serialize + DeserializeOwned,
        Param: Serialize + DeserializeOwned,
        Check: Serialize + DeserializeOwned,
        Function: Serialize + DeserializeOwned,
    >
{
}

/// A reference in a recipe.
#[derive(Debug)]
pub(crate) enum Reference<'a, R: Refs> {
    Expr(&'a R::Expr),
    Array(&'a R::Array),
    Extent(&'a R::Extent),
    Size(&'a R::Size),
    Check(&'a R::Check),
}

/// Rewrites references of kind `R`.
pub(crate) trait Rewrite<R: Refs> {
    type To: Refs;
    fn expr(&mut self, e: &R::Expr) -> <Self::To as Refs>::Expr;
    fn array(&mut self, a: &R::Array) -> <Self::To as Refs>::Array;
    fn extent(&mut self, x: &R::Extent) -> <Self::To as Refs>::Extent;
    fn size(&mut self, s: &R::Size) -> <Self::To as Refs>::Size;
    fn param(&mut self, p: &R::Param) -> <Self::To as Refs>::Param;
    fn check(&mut self, c: &R::Check) -> <Self::To as Refs>::Check;
    fn function(&mut self, f: &R::Function) -> <Self::To as Refs>::Function;
}

/// Rewrites expressions only.
pub(super) struct EachExpr<F>(pub(super) F);

impl<R: Refs, F: FnMut(&R::Expr) -> R::Expr> Rewrite<R> for EachExpr<F> {
    type To = R;
    fn expr(&mut self, e: &R::Expr) -> R::Expr {
        self.0(e)
    }
    fn array(&mut self, a: &R::Array) -> R::Array {
        a.clone()
    }
    fn extent(&mut self, x: &R::Extent) -> R::Extent {
        x.clone()
    }
    fn size(&mut self, s: &R::Size) -> R::Size {
        s.clone()
    }
    fn param(&mut self, p: &R::Param) -> R::Param {
        p.clone()
    }
    fn check(&mut self, c: &R::Check) -> R::Check {
        c.clone()
    }
    fn function(&mut self, f: &R::Function) -> R::Function {
        f.clone()
    }
}
