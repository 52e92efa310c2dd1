//! What recipes and expressions refer to, and the rewrites of these references.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, LazyLock};

#[cfg(feature = "saved")]
use serde::{Serialize, de::DeserializeOwned};

use super::digest::Digest;
use super::expr::Check;
use super::function::{Function, FunctionDef};
use super::primitive::Recipe;
use super::scalar::Scalar;
use super::scalar_param::ScalarParam;
use super::size::SizeOp;
use super::{Expr, Extent, Node, Size};
use crate::dtype::DType;

/// A kind of references: those of a recording, or numbers in a [`Program`](super::program::Program).
pub(crate) trait Refs: Debug + Clone + Eq + Hash {
    type Expr: Debug + Clone + Eq + Hash;
    type Array: Debug + Clone + Eq + Hash;
    type Extent: Debug + Clone + Eq + Hash;
    type Size: Debug + Clone + Eq + Hash;
    type Param: Debug + Clone + Eq + Hash;
    type Check: Debug + Clone + Eq + Hash;
    type Function: Debug + Clone + Eq + Hash;
}

/// References that give access to what they refer to: those of a recording, and those of a plan. Expressions and extents
/// of both are built, folded and rewritten by the same code.
pub(crate) trait Handles:
    'static
    + Refs<
        Expr = Expr<Self>,
        Array: ArrayHandle<Self>,
        Extent = Extent<Self>,
        Size: SizeHandle<Self>,
        Param: ParamHandle,
        Function: FunctionHandle,
    >
{
    /// The expressions that most others contain, made once.
    fn common() -> &'static Common<Self>;
}

/// The expressions that most others contain.
#[derive(Debug)]
pub(crate) struct Common<R: Handles> {
    /// The flat position.
    pub(crate) index: Expr<R>,
    /// The constants 0, 1, 2 and 3.
    pub(crate) small: [Expr<R>; 4],
}

/// An array.
pub(crate) trait ArrayHandle<R: Refs> {
    fn digest(&self) -> Digest;
    fn dtype(&self) -> DType;
    /// The recipe, of an array that is to be computed.
    fn recipe(&self) -> Option<Arc<Recipe<R>>>;
    /// Whether reading the array may fail because of a condition.
    fn is_fallible(&self) -> bool;
    /// Upper bound of the depth of a walk through unevaluated arrays from here. Walks of plans need no bound.
    fn depth(&self) -> u32 {
        0
    }
}

/// A symbolic size.
pub(crate) trait SizeHandle<R: Handles<Size = Self>>: From<u32> + Eq {
    fn digest(&self) -> Digest;
    /// The value, if the size is a constant.
    fn as_const(&self) -> Option<u32>;
    /// Whether the value varies by run, so that nothing may be folded by it.
    fn varies(&self) -> bool;
    /// The value of a size that does not vary, if the host knows it.
    fn fixed_value(&self) -> Option<u32>;
    /// Whether the host knows the value, in each run.
    fn is_host_known(&self) -> bool;
    /// Whether the size contains a count, host-known or not.
    fn contains_count(&self) -> bool;
    /// Length of the allocated array.
    fn len(array: &R::Array) -> Self;
    fn op(op: SizeOp, a: &Self, b: &Self) -> Self;
    /// The exact value as an expression that reads the counts of the size on the device; `None` if the host knows the
    /// value. The expression saturates as [`SizeOp::apply`] does.
    fn exact_expr(&self) -> Option<Expr<R>>;
    /// The size with its count stored in an array of its own, if the count combines several counts or many operations.
    /// Bounds the cost of reading a count.
    fn stored(self) -> Self;

    /// The value, if the size contains no count: known before anything is computed, and independent of what was read.
    fn as_known(&self) -> Option<u32> {
        if self.varies() || self.contains_count() { None } else { self.fixed_value() }
    }

    /// Whether both are provably equal: one symbol, or equal known values.
    fn is_same(&self, other: &Self) -> bool {
        self == other || self.as_known().is_some_and(|n| Some(n) == other.as_known())
    }
}

/// A scalar parameter.
pub(crate) trait ParamHandle: Sized {
    fn digest(&self) -> Digest;
    /// The parameter as a divisor: with the promise that it is not 0, if the recording binds another value.
    fn as_divisor(&self) -> Self;
    /// The parameter whose value the recording computes from that of this one. `None` in a plan, or if `f` returns none.
    fn computed(&self, f: impl FnOnce(Scalar) -> Option<Scalar>) -> Option<(Self, DType)>;
}

/// A function of the user.
pub(crate) trait FunctionHandle {
    /// The part that a program contains.
    fn def(&self) -> &Arc<FunctionDef>;
}

/// The references of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Recorded;

impl Handles for Recorded {
    fn common() -> &'static Common<Self> {
        static COMMON: LazyLock<Common<Recorded>> = LazyLock::new(Common::new);
        &COMMON
    }
}

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
