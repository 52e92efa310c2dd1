//! Replay: records a program again, on other inputs.
//!
//! A replay is the inverse of [`freeze`](super::freeze): `freeze(replay(P)) == P`. It folds nothing, so that each
//! expression of the program is one of the recording.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::order::Item;
use super::{
    ArrayDef, ArrayId, ByNumber, CheckId, ExprDef, ExprId, ExtentDef, FunctionId, Locations, Program, ScalarId,
    SizeDef, SizeId,
};
use crate::graph::backend::BackendRef;
use crate::graph::digest::Digest;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::refs::{Recorded, Rewrite};
use crate::graph::scalar::Scalar;
use crate::graph::scalar::param::ScalarParam;
use crate::graph::size::Size;

/// What a replay starts from, all by number.
pub(crate) struct ReplayInputs<'a> {
    pub(crate) backend: &'a BackendRef,
    /// The inputs; `None` for computed arrays.
    pub(crate) arrays: Vec<Option<Node>>,
    /// The sizes that come with the inputs; `None` for all others.
    pub(crate) sizes: Vec<Option<Size>>,
    /// Upper bounds of counts.
    pub(crate) bounds: &'a [(SizeId, SizeId)],
    pub(crate) scalars: &'a [Scalar],
    pub(crate) locations: &'a Locations,
}

/// The arrays and sizes of a program in another recording.
#[derive(Debug)]
pub(crate) struct Replayed {
    arrays: Vec<Option<Node>>,
    sizes: Vec<Option<Size>>,
}

impl Replayed {
    /// Arrays and sizes that were made in another way, by number.
    pub(crate) fn of(arrays: Vec<Option<Node>>, sizes: Vec<Option<Size>>) -> Self {
        Self { arrays, sizes }
    }

    pub(crate) fn node(&self, array: ArrayId) -> &Node {
        self.arrays[array.index()].as_ref().expect("bug: an array that is not made")
    }

    pub(crate) fn extent(&self, extent: ExtentDef) -> Extent {
        extent.extent(self.size(extent.size).clone())
    }

    pub(crate) fn size(&self, size: SizeId) -> &Size {
        self.sizes[size.index()].as_ref().expect("bug: a size that is not made")
    }
}

impl Program {
    /// Inputs without values in place of all inputs of the program, by number.
    pub(crate) fn traced_inputs(&self, backend: &BackendRef) -> (Vec<Option<Node>>, Vec<Option<Size>>) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let traced = |what, k: usize| Size::traced(backend, Digest::of(what, (number, k)));
        let array = |(k, def): (usize, &ArrayDef)| match def {
            ArrayDef::Input(form) => {
                let extent = Extent::of(traced("length of an input", k));
                let digest = Digest::of("input of a replay", (number, k));
                Some(Node::traced_input(backend, digest, form.with_extent(extent)))
            }
            ArrayDef::Computed { .. } => None,
        };
        let size = |(k, def): (usize, &SizeDef)| matches!(def, SizeDef::Input).then(|| traced("size of an input", k));
        (self.arrays.iter().enumerate().map(array).collect(), self.sizes.iter().enumerate().map(size).collect())
    }

    /// Records the program again, on these inputs.
    pub(crate) fn replay(&self, inputs: ReplayInputs<'_>) -> Replayed {
        let order = self.order(inputs.bounds).expect("bug: a program that refers to itself");
        let mut maker = Maker {
            program: self,
            bounds: inputs.bounds.iter().copied().collect(),
            inputs,
            arrays: vec![None; self.arrays.len()],
            exprs: vec![None; self.exprs.len()],
            sizes: vec![None; self.sizes.len()],
        };
        order.into_iter().for_each(|item| maker.make(item));
        Replayed::of(maker.arrays, maker.sizes)
    }
}

/// The recording of a program, while it is made.
struct Maker<'a> {
    program: &'a Program,
    inputs: ReplayInputs<'a>,
    bounds: HashMap<SizeId, SizeId>,
    arrays: Vec<Option<Node>>,
    exprs: Vec<Option<Expr>>,
    sizes: Vec<Option<Size>>,
}

impl Maker<'_> {
    /// Makes a definition; those that it refers to are made.
    fn make(&mut self, item: Item) {
        match item {
            Item::Array(array) => self.arrays[array.index()] = Some(self.made_array(array)),
            Item::Expr(expr) => {
                let ExprDef { kind, dtype } = &self.program.exprs[expr.index()];
                self.exprs[expr.index()] = Some(Expr::new(kind.map(self), *dtype));
            }
            Item::Size(size) => self.sizes[size.index()] = Some(self.made_size(size)),
        }
    }

    fn made_array(&mut self, array: ArrayId) -> Node {
        match &self.program.arrays[array.index()] {
            ArrayDef::Input(_) => self.inputs.arrays[array.index()].clone().expect("bug: an input that is not given"),
            ArrayDef::Computed { dtype, op, extent, asserts, recipe, .. } => {
                let extent = self.extent(extent);
                let asserts: Vec<Node> = asserts.iter().map(|a| self.array(a)).collect();
                let recipe = recipe.map(self);
                let op = self.inputs.locations.name(*op);
                Node::recorded(self.inputs.backend, op, *dtype, extent, &asserts, recipe)
            }
        }
    }

    fn made_size(&mut self, size: SizeId) -> Size {
        match &self.program.sizes[size.index()] {
            SizeDef::Const(n) => Size::Const(*n),
            SizeDef::Input => self.inputs.sizes[size.index()].clone().expect("bug: a size that is not given"),
            SizeDef::Len(array) => Size::len(&self.array(array)),
            SizeDef::Count { array, at } => {
                let bound = *self.bounds.get(&size).expect("bug: a count without a bound");
                Size::count(self.array(array), self.size(at), self.size(&bound))
            }
            SizeDef::Op(op, a, b) => Size::op(*op, &self.size(a), &self.size(b)),
        }
    }
}

const IN_ORDER: &str = "bug: a definition before those that it refers to";

impl Rewrite<ByNumber> for Maker<'_> {
    type To = Recorded;

    fn expr(&mut self, e: &ExprId) -> Expr {
        self.exprs[e.index()].clone().expect(IN_ORDER)
    }
    fn array(&mut self, a: &ArrayId) -> Node {
        self.arrays[a.index()].clone().expect(IN_ORDER)
    }
    fn extent(&mut self, x: &ExtentDef) -> Extent {
        x.extent(self.size(&x.size()))
    }
    fn size(&mut self, s: &SizeId) -> Size {
        self.sizes[s.index()].clone().expect(IN_ORDER)
    }
    fn check(&mut self, c: &CheckId) -> Arc<Check> {
        self.inputs.locations.check(*c)
    }
    fn param(&mut self, p: &ScalarId) -> ScalarParam {
        let param = ScalarParam::recorded(self.inputs.scalars[p.index()]);
        if self.program.scalars[p.index()].is_nonzero { param.as_divisor() } else { param }
    }
    fn function(&mut self, f: &FunctionId) -> Function {
        self.inputs.locations.function(*f)
    }
}
