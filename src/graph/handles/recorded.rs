//! Implements [`handles`](crate::graph::handles) for recordings.

use std::sync::{Arc, LazyLock};

use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::function::{Function, FunctionDef};
use crate::graph::handles::{ArrayHandle, Common, FunctionHandle, Handles, ParamHandle, SizeHandle};
use crate::graph::refs::Recorded;
use crate::graph::scalar::Scalar;
use crate::graph::scalar::param::ScalarParam;
use crate::graph::scope::Scope;
use crate::graph::size::{RecordedSize, SizeOp};
use crate::graph::{Expr, Node, Size};

impl Handles for Recorded {
    fn common() -> &'static Common<Self> {
        static COMMON: LazyLock<Common<Recorded>> = LazyLock::new(Common::new);
        &COMMON
    }
}

impl ArrayHandle for Node {
    fn digest(&self) -> Digest {
        self.digest()
    }
    fn dtype(&self) -> DType {
        self.dtype()
    }
    fn is_fallible(&self) -> bool {
        self.is_fallible()
    }
    fn scope(&self) -> Option<&Scope> {
        self.scope()
    }
    fn depth(&self) -> u32 {
        self.depth()
    }
}
impl SizeHandle<Recorded> for Size {
    fn digest(&self) -> Digest {
        self.digest()
    }
    fn as_const(&self) -> Option<u32> {
        self.as_const()
    }
    fn varies(&self) -> bool {
        self.varies()
    }
    fn fixed_value(&self) -> Option<u32> {
        self.host_value()
    }
    fn is_host_known(&self) -> bool {
        self.is_host_known()
    }
    fn contains_count(&self) -> bool {
        self.contains_count()
    }
    fn len(array: &Node) -> Self {
        Self::len(array)
    }
    fn op(op: SizeOp, a: &Self, b: &Self) -> Self {
        Self::op(op, a, b)
    }
    fn exact_expr(&self) -> Option<Expr> {
        self.exact_expr()
    }
    fn stored(self) -> Self {
        self.stored()
    }
}

impl ParamHandle for ScalarParam {
    fn digest(&self) -> Digest {
        self.digest()
    }
    fn as_divisor(&self) -> Self {
        self.as_divisor()
    }
    fn computed(&self, f: impl FnOnce(Scalar) -> Option<Scalar>) -> Option<(Self, DType)> {
        f(self.recorded_value()).map(|value| (Self::recorded(value), value.dtype()))
    }
}

impl FunctionHandle for Function {
    fn def(&self) -> &Arc<FunctionDef> {
        self.def()
    }
}
