//! One interface to the references of recordings and of plans, so that one code builds and folds the expressions of both.

mod recorded;

use std::fmt::Debug;
use std::sync::Arc;

use super::digest::Digest;
use super::function::FunctionDef;
use super::refs::Refs;
use super::scalar::Scalar;
use super::scope::Scope;
use super::size::SizeOp;
use super::{Expr, Extent};
use crate::dtype::DType;

/// References that give access to what they refer to: those of a recording, and those of a plan. Expressions and extents
/// of both are built, folded and rewritten by the same code.
pub(crate) trait Handles:
    'static
    + Refs<
        Expr = Expr<Self>,
        Array: ArrayHandle,
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
pub(crate) trait ArrayHandle {
    fn digest(&self) -> Digest;
    fn dtype(&self) -> DType;
    /// Whether reading the array may fail because of a condition.
    fn is_fallible(&self) -> bool;
    /// The open scope, if derivatives are taken of the array or of one that it is computed from. Plans take none.
    fn scope(&self) -> Option<&Scope> {
        None
    }
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
    /// Whether the host knows the value: in a plan, in every run; in a recording, by now.
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
    /// The parameter as a divisor. One that is not 0 in a recording promises to be not 0 in every binding.
    fn as_divisor(&self) -> Self;
    /// The parameter whose value the recording computes from that of this one. `None` in a plan, or if `f` returns none.
    fn computed(&self, f: impl FnOnce(Scalar) -> Option<Scalar>) -> Option<(Self, DType)>;
}

/// A function of the user.
pub(crate) trait FunctionHandle {
    /// The part that a program contains.
    fn def(&self) -> &Arc<FunctionDef>;
}
