//! Lifting: turns a program into nodes for the planner.
//!
//! Planned nodes differ from recorded ones in their sizes and scalar parameters. Those that vary by run are slots: places
//! in the [table of a run](crate::graph::size::RunTable). A plan that depends on the value of a slot is valid for that
//! value only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ArrayDef, ArrayId, CheckId, ExprId, ExtentDef, FunctionId, Locations, Program, ScalarId, SizeDef, SizeId};
use crate::graph::backend::BackendRef;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::{Check, Expr, RewriteExpr};
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::{InputForm, Node};
use crate::graph::recipe::Rewrite;
use crate::graph::scalar_param::ScalarParam;
use crate::graph::size::{Size, Slot, SlotCount};

/// The nodes and sizes of a program.
#[derive(Debug)]
pub(crate) struct Lifted {
    arrays: Vec<Node>,
    sizes: Vec<Size>,
    numbers: DigestMap<ArrayId>,
}

impl Lifted {
    /// Lifts the program, with the names of a recording. `backend` is the placeholder backend of the nodes; it computes
    /// nothing.
    pub(crate) fn new(program: &Program, locations: &Locations, backend: &BackendRef) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let plan = NEXT.fetch_add(1, Ordering::Relaxed);
        let slot = |(k, def)| ScalarParam::slot(Digest::of("scalar of a plan", (plan, k)), k, def);
        let scalars: Vec<ScalarParam> = (0u32..).zip(program.scalars.iter().copied()).map(slot).collect();
        let mut lifter = Lifter {
            program,
            locations,
            backend,
            plan,
            scalars: &scalars,
            arrays: vec![None; program.arrays.len()],
            exprs: vec![None; program.exprs.len()],
            sizes: vec![None; program.sizes.len()],
        };
        (0..program.arrays.len() as u32).for_each(|k| lifter.lift_with_inputs(ArrayId(k)));
        let arrays: Vec<Node> = lifter.arrays.into_iter().flatten().collect();
        let sizes: Vec<Size> = lifter.sizes.into_iter().map(|size| size.unwrap_or(Size::Const(0))).collect();
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

struct Lifter<'a> {
    program: &'a Program,
    locations: &'a Locations,
    backend: &'a BackendRef,
    plan: u64,
    scalars: &'a [ScalarParam],
    arrays: Vec<Option<Node>>,
    exprs: Vec<Option<Expr>>,
    sizes: Vec<Option<Size>>,
}

impl Lifter<'_> {
    /// Lifts an array after its inputs, without recursion.
    fn lift_with_inputs(&mut self, array: ArrayId) {
        let mut stack = vec![(array, false)];
        while let Some((array, is_ready)) = stack.pop() {
            if self.arrays[array.index()].is_some() {
                continue;
            }
            if is_ready {
                self.lift_array(array);
            } else {
                stack.push((array, true));
                stack.extend(self.program.inputs(array).into_iter().map(|a| (a, false)));
            }
        }
    }

    fn lift_array(&mut self, array: ArrayId) {
        let program = self.program;
        let digest = Digest::of("planned", (self.plan, array));
        let node = match &program.arrays[array.index()] {
            ArrayDef::Input { dtype, fallible, is_vector_padded } => {
                let extent = Extent::of(Size::slot(Digest::of("length", digest), Slot::Input(array.index()), None));
                let (fallible, vector_padded) = (*fallible, *is_vector_padded);
                let form = InputForm { dtype: *dtype, extent, fallible, vector_padded };
                Node::input_of_plan(self.backend, digest, form, array.index())
            }
            ArrayDef::Computed { dtype, op, extent, asserts, recipe, fallible } => {
                let extent = self.extent(extent);
                let asserts: Vec<Node> = asserts.iter().map(|&a| self.array(&a)).collect();
                let recipe = recipe.map(self);
                let op = self.locations.name(*op);
                Node::planned(self.backend, digest, op, (*dtype, extent, *fallible), asserts, recipe)
            }
        };
        self.arrays[array.index()] = Some(node);
    }
}

impl Rewrite<ExprId, ArrayId, ExtentDef, SizeId, CheckId> for Lifter<'_> {
    type Expr = Expr;
    type Array = Node;
    type Extent = Extent;
    type Size = Size;
    type Check = Arc<Check>;

    fn expr(&mut self, e: &ExprId) -> Expr {
        if let Some(known) = &self.exprs[e.0 as usize] {
            return known.clone();
        }
        // Operands have smaller numbers, so that missing ones are lifted in ascending order.
        let (mut missing, mut stack) = (Vec::new(), vec![*e]);
        let mut seen = std::collections::HashSet::new();
        while let Some(e) = stack.pop() {
            if self.exprs[e.0 as usize].is_none() && seen.insert(e) {
                missing.push(e);
                stack.extend(self.program.exprs[e.0 as usize].kind.operands());
            }
        }
        missing.sort_unstable_by_key(|e| e.0);
        for e in missing {
            let def = &self.program.exprs[e.0 as usize];
            let kind = def.kind.map::<ExtentDef, _>(self);
            self.exprs[e.0 as usize] = Some(Expr::new(kind, def.dtype));
        }
        self.exprs[e.0 as usize].clone().expect("bug: an expression that was not lifted")
    }

    fn array(&mut self, a: &ArrayId) -> Node {
        self.arrays[a.index()].clone().expect("bug: an array before its inputs")
    }

    fn extent(&mut self, x: &ExtentDef) -> Extent {
        let size = self.size(&x.size);
        if x.whole { Extent::whole_of(size) } else { Extent::of(size) }
    }

    fn size(&mut self, s: &SizeId) -> Size {
        let at = s.0 as usize;
        if let Some(known) = &self.sizes[at] {
            return known.clone();
        }
        let identity = Digest::of("size of a plan", (self.plan, s));
        let size = match &self.program.sizes[at] {
            SizeDef::Const(n) => Size::Const(*n),
            SizeDef::Input => Size::slot(identity, Slot::Size(at), None),
            SizeDef::Len(array) => match &self.program.arrays[array.index()] {
                ArrayDef::Input { .. } => Size::slot(identity, Slot::Size(at), None),
                ArrayDef::Computed { .. } => Size::len(&self.array(array)),
            },
            SizeDef::Count { array, at: index } => {
                let count = SlotCount { node: self.array(array), at: self.size(index) };
                Size::slot(identity, Slot::Size(at), Some(count))
            }
            SizeDef::Op(op, a, b) => {
                let (a, b) = (self.size(a), self.size(b));
                Size::op(*op, &a, &b)
            }
        };
        self.sizes[at] = Some(size.clone());
        size
    }

    fn check(&mut self, c: &CheckId) -> Arc<Check> {
        Check::planned(c.0)
    }
}

impl RewriteExpr<ExprId, ArrayId, ExtentDef, SizeId, ScalarId, CheckId, FunctionId> for Lifter<'_> {
    type Param = ScalarParam;
    type Function = Function;
    fn param(&mut self, p: &ScalarId) -> ScalarParam {
        self.scalars[p.0 as usize].clone()
    }
    fn function(&mut self, f: &FunctionId) -> Function {
        Function::planned(f.0, &self.program.functions[f.0 as usize])
    }
}
