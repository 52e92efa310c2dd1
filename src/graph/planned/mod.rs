//! The definitions of a plan: the arrays, expressions and sizes on which the planner and the backends work.
//!
//! The [`Arena`] of a plan begins with the definitions of its program, under the program's numbers; the planner appends
//! the arrays that it adds. Expressions are built, folded and rewritten by the code that recordings use ([`Handles`]),
//! over other leaves: an array is an input or a recipe of the plan; a size is a constant, a place in the table of a run, the
//! length of an array, a count, or arithmetic of these; scalar parameters, checks and functions are their numbers in the
//! program. No definition of a plan knows a device, a value of a run, or a recording.
//!
//! Arrays, expressions and sizes are equal if their digests are. Digests are made of numbers of the program: they identify
//! definitions within one plan only.
//!
//! The planner and the backends import the types of this module in place of those of a recording that have the same
//! names.

mod arena;
mod bound;
mod node;
mod primitives;
mod size;
mod view;

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

pub(crate) use arena::Arena;
pub(crate) use primitives::{Recipe, RowDomain, Rows};
pub(crate) use size::DeviceCount;
pub(crate) use view::SizeView;

use super::digest::Digest;
use super::function::{Function as UserFunction, FunctionDef, WgslFunction};
use super::handles::{Common, FunctionHandle, Handles, ParamHandle};
use super::program::{CheckId, FunctionId, ScalarId};
use super::refs::Refs;
use super::scalar::Scalar;
use super::scalar::param::ScalarDef;
use crate::dtype::DType;

/// The references of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct InPlan;

impl Refs for InPlan {
    type Expr = Expr;
    type Array = Node;
    type Extent = Extent;
    type Size = Size;
    type Param = Param;
    type Check = CheckId;
    type Function = Function;
}

impl Handles for InPlan {
    fn common() -> &'static Common<Self> {
        static COMMON: LazyLock<Common<InPlan>> = LazyLock::new(Common::new);
        &COMMON
    }
}

/// A scalar expression of a plan.
pub(crate) type Expr = super::Expr<InPlan>;
/// The kind of an expression of a plan.
pub(crate) type ExprKind = super::expr::ExprKind<InPlan>;
/// The number of elements of an array of a plan.
pub(crate) type Extent = super::Extent<InPlan>;

/// An array of a plan: an input, or computed by a recipe. Cheap to clone; arrays are made by the [`Arena`] only.
#[derive(Clone)]
pub(crate) struct Node(Arc<node::NodeData>);

/// A symbolic size of a plan; cheap to clone, compared by structure. It has a value in a run only: see [`SizeView`].
#[derive(Debug, Clone)]
pub(crate) enum Size {
    /// A constant of the program.
    Const(u32),
    /// Any other size.
    Symbol(Arc<size::Symbol>),
}

/// A scalar parameter of a plan: a place in the table of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Param {
    number: ScalarId,
    def: ScalarDef,
}

impl Param {
    pub(crate) fn def(&self) -> ScalarDef {
        self.def
    }

    /// The value in a run with those scalars.
    fn value_in(self, scalars: &[Scalar]) -> Scalar {
        let value = scalars[self.number.index()];
        debug_assert!(self.def.accepts(value), "bug: {value:?} for a parameter of {:?}", self.def);
        value
    }
}

impl ParamHandle for Param {
    fn digest(&self) -> Digest {
        Digest::of("scalar of a plan", self.number)
    }
    fn as_divisor(&self) -> Self {
        *self
    }
    fn computed(&self, _: impl FnOnce(Scalar) -> Option<Scalar>) -> Option<(Self, DType)> {
        None
    }
}

/// A function of the user in a plan. The Rust function is that of the run.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    number: FunctionId,
    def: Arc<FunctionDef>,
}

impl Function {
    /// The function of a run.
    pub(crate) fn of_run<'a>(&self, functions: &'a [UserFunction]) -> &'a UserFunction {
        &functions[self.number.index()]
    }
    pub(crate) fn wgsl(&self) -> &WgslFunction {
        &self.def.wgsl
    }
}

impl FunctionHandle for Function {
    fn def(&self) -> &Arc<FunctionDef> {
        &self.def
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}
