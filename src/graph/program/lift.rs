//! Nodes of a program: of a plan, or of another recording.
//!
//! Both are made by one walk over the program, and differ in its [`Leaves`]. The inputs, sizes and scalar parameters of
//! a plan are slots: places in the [table of a run](crate::graph::size::RunTable). A plan that depends on the value of
//! a slot is valid for that value only. Those of a recording are given: see [`replay`](super::replay).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::order::Item;
use super::{
    ArrayDef, ArrayId, ByNumber, CheckId, ExprDef, ExprId, ExtentDef, FunctionId, InputDef, Locations, NameId, Program,
    ScalarId, SizeDef, SizeId,
};
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::{Node, Recipe};
use crate::graph::refs::{Recorded, Rewrite};
use crate::graph::scalar_param::ScalarParam;
use crate::graph::size::{Size, Slot, SlotCount};

/// What the nodes of a program are made of.
pub(super) trait Leaves {
    fn input(&mut self, array: ArrayId, form: &InputDef) -> Node;
    fn computed(&mut self, array: ArrayId, parts: Parts) -> Node;
    /// A size that is given with the inputs.
    fn size(&mut self, size: SizeId) -> Size;
    /// The upper bounds of counts, where they are to be made.
    fn bounds(&self) -> &[(SizeId, SizeId)];
    /// A count that `node` holds at `at`.
    fn count(&mut self, size: SizeId, node: Node, at: Size, bound: Option<Size>) -> Size;
    /// The allocated length of an array.
    fn length(&mut self, size: SizeId, node: &Node, is_input: bool) -> Size;
    fn scalar(&mut self, scalar: ScalarId) -> ScalarParam;
    fn check(&mut self, check: CheckId) -> Arc<Check>;
    fn function(&mut self, function: FunctionId) -> Function;
    fn name(&mut self, name: NameId) -> &'static str;
}

/// The parts of a computed node.
pub(super) struct Parts {
    pub(super) op: &'static str,
    pub(super) dtype: DType,
    pub(super) extent: Extent,
    pub(super) fallible: bool,
    pub(super) asserts: Vec<Node>,
    pub(super) recipe: Recipe,
}

/// The nodes and sizes of a program.
pub(super) struct Made {
    pub(super) arrays: Vec<Node>,
    pub(super) sizes: Vec<Size>,
}

/// Makes the nodes of a program.
pub(super) fn make(program: &Program, leaves: &mut dyn Leaves) -> Made {
    let order = program.order(leaves.bounds()).expect("bug: a program that refers to itself");
    let bounds = leaves.bounds().iter().copied().collect();
    let mut maker = Maker {
        program,
        leaves,
        bounds,
        arrays: vec![None; program.arrays.len()],
        exprs: vec![None; program.exprs.len()],
        sizes: vec![None; program.sizes.len()],
    };
    for item in order {
        maker.make(item);
    }
    let (arrays, sizes) = (maker.arrays.into_iter().flatten(), maker.sizes.into_iter().flatten());
    Made { arrays: arrays.collect(), sizes: sizes.collect() }
}

/// The leaves of a plan.
struct Slots<'a> {
    program: &'a Program,
    locations: &'a Locations,
    backend: &'a BackendRef,
    plan: u64,
    scalars: Vec<ScalarParam>,
}

impl Slots<'_> {
    fn digest(&self, array: ArrayId) -> Digest {
        Digest::of("planned", (self.plan, array))
    }

    fn slot(&self, size: SizeId, count: Option<SlotCount>) -> Size {
        Size::slot(Digest::of("size of a plan", (self.plan, size)), Slot::Size(size.index()), count)
    }
}

impl Leaves for Slots<'_> {
    fn input(&mut self, array: ArrayId, form: &InputDef) -> Node {
        let digest = self.digest(array);
        let extent = Extent::of(Size::slot(Digest::of("length", digest), Slot::Input(array.index()), None));
        Node::input_of_plan(self.backend, digest, form.with_extent(extent), array.index())
    }
    fn computed(&mut self, array: ArrayId, parts: Parts) -> Node {
        let Parts { op, dtype, extent, fallible, asserts, recipe } = parts;
        Node::planned(self.backend, self.digest(array), op, (dtype, extent, fallible), asserts, recipe)
    }
    fn size(&mut self, size: SizeId) -> Size {
        self.slot(size, None)
    }
    fn bounds(&self) -> &[(SizeId, SizeId)] {
        &[]
    }
    fn count(&mut self, size: SizeId, node: Node, at: Size, _: Option<Size>) -> Size {
        self.slot(size, Some(SlotCount { node, at }))
    }
    fn length(&mut self, size: SizeId, node: &Node, is_input: bool) -> Size {
        if is_input { self.slot(size, None) } else { Size::len(node) }
    }
    fn scalar(&mut self, scalar: ScalarId) -> ScalarParam {
        self.scalars[scalar.0 as usize].clone()
    }
    fn check(&mut self, check: CheckId) -> Arc<Check> {
        Check::planned(check.0)
    }
    fn function(&mut self, function: FunctionId) -> Function {
        Function::planned(function.0, &self.program.functions[function.0 as usize])
    }
    fn name(&mut self, name: NameId) -> &'static str {
        self.locations.name(name)
    }
}

/// The nodes and sizes of a plan.
#[derive(Debug)]
pub(crate) struct Lifted {
    arrays: Vec<Node>,
    sizes: Vec<Size>,
    numbers: DigestMap<ArrayId>,
}

impl Lifted {
    /// The nodes of a plan of the program, with the names of a recording. `backend` is the placeholder backend of the
    /// nodes; it computes nothing.
    pub(crate) fn new(program: &Program, locations: &Locations, backend: &BackendRef) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let plan = NEXT.fetch_add(1, Ordering::Relaxed);
        let slot = |(k, def)| ScalarParam::slot(Digest::of("scalar of a plan", (plan, k)), k, def);
        let scalars = (0u32..).zip(program.scalars.iter().copied()).map(slot).collect();
        let Made { arrays, sizes } = make(program, &mut Slots { program, locations, backend, plan, scalars });
        let numbers = (0..).map(ArrayId).zip(&arrays).map(|(k, n)| (n.digest(), k)).collect();
        Self { arrays, sizes, numbers }
    }

    /// The node of an array.
    pub(crate) fn node(&self, array: ArrayId) -> &Node {
        &self.arrays[array.index()]
    }

    /// The nodes of all arrays.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.arrays.iter()
    }

    /// The array of a node; `None` for a node that the planner made.
    pub(crate) fn array(&self, node: &Node) -> Option<ArrayId> {
        self.numbers.get(&node.digest()).copied()
    }

    /// The slot of each count, with its size in the program.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (SizeId, &Size)> {
        (0..).map(SizeId).zip(&self.sizes).filter(|(_, size)| size.slot_count().is_some())
    }
}

struct Maker<'a> {
    program: &'a Program,
    leaves: &'a mut dyn Leaves,
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
            ArrayDef::Input(form) => self.leaves.input(array, form),
            ArrayDef::Computed { dtype, op, extent, asserts, recipe, fallible } => {
                let extent = self.extent(extent);
                let asserts: Vec<Node> = asserts.iter().map(|a| self.array(a)).collect();
                let recipe = recipe.map(self);
                let op = self.leaves.name(*op);
                let (dtype, fallible) = (*dtype, *fallible);
                self.leaves.computed(array, Parts { op, dtype, extent, fallible, asserts, recipe })
            }
        }
    }

    fn made_size(&mut self, size: SizeId) -> Size {
        match &self.program.sizes[size.index()] {
            SizeDef::Const(n) => Size::Const(*n),
            SizeDef::Input => self.leaves.size(size),
            SizeDef::Len(array) => {
                let is_input = matches!(self.program.arrays[array.index()], ArrayDef::Input { .. });
                let node = self.array(array);
                self.leaves.length(size, &node, is_input)
            }
            SizeDef::Count { array, at } => {
                let bound = self.bounds.get(&size).copied().map(|bound| self.size(&bound));
                let (node, at) = (self.array(array), self.size(at));
                self.leaves.count(size, node, at, bound)
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
        x.extent(self.size(&x.size))
    }
    fn size(&mut self, s: &SizeId) -> Size {
        self.sizes[s.index()].clone().expect(IN_ORDER)
    }
    fn check(&mut self, c: &CheckId) -> Arc<Check> {
        self.leaves.check(*c)
    }
    fn param(&mut self, p: &ScalarId) -> ScalarParam {
        self.leaves.scalar(*p)
    }
    fn function(&mut self, f: &FunctionId) -> Function {
        self.leaves.function(*f)
    }
}
