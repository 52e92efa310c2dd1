//! The definitions of a plan, in lists that only grow.

use std::sync::Arc;

use super::node::NodeData;
use super::size::DeviceCount;
use super::{Expr, Extent, Function, InPlan, Node, Param, Recipe, Size};
use crate::dtype::DType;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::ExprKind;
use crate::graph::primitive::Map;
use crate::graph::program::{
    ArrayDef, ArrayId, ByNumber, CheckId, ExprId, ExtentDef, FunctionId, Item, Locations, Program, ScalarId, SizeDef,
    SizeId,
};
use crate::graph::refs::Rewrite;

/// The definitions of a plan, by number: those of the program under its numbers, then the arrays that the planner added.
/// Equal arrays that the planner adds are one array.
#[derive(Debug)]
pub(crate) struct Arena {
    /// The arrays of the program and of the planner, by number.
    arrays: Vec<Node>,
    exprs: Vec<Expr>,
    sizes: Vec<Size>,
    /// The numbers of the arrays in the order in which they were made: each after those that it refers to.
    order: Vec<ArrayId>,
    /// The arrays that the planner added.
    added: DigestMap<ArrayId>,
    /// Number of arrays of the program.
    of_program: usize,
}

impl Arena {
    /// The definitions of a program, with the names of a recording.
    pub(crate) fn new(program: &Program, locations: &Locations) -> Self {
        let order = program.order(&[]).expect("bug: a program that refers to itself");
        let mut defining = Defining {
            program,
            locations,
            arrays: vec![None; program.arrays.len()],
            exprs: vec![None; program.exprs.len()],
            sizes: vec![None; program.sizes.len()],
        };
        order.iter().for_each(|item| defining.define(*item));
        let is_array = |item: Item| if let Item::Array(array) = item { Some(array) } else { None };
        Self {
            arrays: complete(defining.arrays),
            // A file may have expressions that no array and no size refers to.
            exprs: defining.exprs.into_iter().flatten().collect(),
            sizes: complete(defining.sizes),
            order: order.into_iter().filter_map(is_array).collect(),
            added: DigestMap::default(),
            of_program: program.arrays.len(),
        }
    }

    /// The array of that number.
    pub(crate) fn node(&self, array: ArrayId) -> &Node {
        &self.arrays[array.index()]
    }

    /// The arrays of the program.
    pub(crate) fn nodes_of_program(&self) -> &[Node] {
        &self.arrays[..self.of_program]
    }

    /// The number of an array in the program; `None` for an array that the planner added.
    pub(crate) fn in_program(&self, node: &Node) -> Option<ArrayId> {
        Some(node.number()).filter(|array| array.index() < self.of_program)
    }

    /// The counts of the program.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (SizeId, &DeviceCount)> {
        (0..).map(SizeId).zip(&self.sizes).filter_map(|(id, size)| Some((id, size.device_count()?)))
    }

    /// Adds an array of this recipe.
    pub(crate) fn computed(&mut self, op: &'static str, dtype: DType, extent: Extent, recipe: Recipe) -> Node {
        let digest = Digest::of("added", (dtype, &extent, &recipe));
        if let Some(&known) = self.added.get(&digest) {
            return self.arrays[known.index()].clone();
        }
        let counts: Vec<Expr> = recipe.live_counts().chain(extent.live()).collect();
        let fallible = recipe.check().is_some()
            || recipe.exprs().into_iter().chain(&counts).any(Expr::is_fallible)
            || recipe.array().is_some_and(Node::is_fallible);
        let number = ArrayId(self.arrays.len() as u32);
        let recipe = Some(Arc::new(recipe));
        let asserts = Box::default();
        let node =
            Node::new(NodeData { number, digest, dtype, extent, op, recipe, asserts, fallible, vector_padded: true });
        self.arrays.push(node.clone());
        self.order.push(number);
        self.added.insert(digest, number);
        node
    }

    /// Adds an array of which element `i` is `value` at `i`.
    pub(crate) fn map(&mut self, op: &'static str, extent: Extent, value: Expr) -> Node {
        // The identity map of all of `x` is `x`.
        if let ExprKind::Load(n, i) = value.kind()
            && i.is_index()
            && n.extent().is_same(&extent)
        {
            return n.clone();
        }
        self.computed(op, value.dtype(), extent, Recipe::Map(Map { value, whole: false }))
    }
}

/// Arrays are dropped before those that they refer to, so that the stack does not grow with the length of a chain.
impl Drop for Arena {
    fn drop(&mut self) {
        self.exprs.clear();
        self.sizes.clear();
        let mut arrays: Vec<Option<Node>> = std::mem::take(&mut self.arrays).into_iter().map(Some).collect();
        for array in self.order.iter().rev() {
            arrays[array.index()] = None;
        }
    }
}

/// The definitions of a program, while they are made.
struct Defining<'a> {
    program: &'a Program,
    locations: &'a Locations,
    arrays: Vec<Option<Node>>,
    exprs: Vec<Option<Expr>>,
    sizes: Vec<Option<Size>>,
}

impl Defining<'_> {
    /// Makes a definition; those that it refers to are made.
    fn define(&mut self, item: Item) {
        match item {
            Item::Array(array) => self.arrays[array.index()] = Some(self.node(array)),
            Item::Expr(expr) => {
                let def = &self.program.exprs[expr.index()];
                self.exprs[expr.index()] = Some(Expr::new(def.kind.map(self), def.dtype));
            }
            Item::Size(size) => self.sizes[size.index()] = Some(self.defined_size(size)),
        }
    }

    fn node(&mut self, number: ArrayId) -> Node {
        let digest = Digest::of("array of a plan", number);
        Node::new(match &self.program.arrays[number.index()] {
            ArrayDef::Input(form) => NodeData {
                number,
                digest,
                dtype: form.dtype,
                extent: Extent::of(Size::input_len(number)),
                op: "source",
                recipe: None,
                asserts: Box::default(),
                fallible: form.fallible,
                vector_padded: form.is_vector_padded,
            },
            ArrayDef::Computed { dtype, op, extent, asserts, recipe, fallible } => NodeData {
                number,
                digest,
                dtype: *dtype,
                extent: self.extent(extent),
                op: self.locations.name(*op),
                recipe: Some(Arc::new(recipe.map(self))),
                asserts: asserts.iter().map(|a| self.array(a)).collect(),
                fallible: *fallible,
                vector_padded: true,
            },
        })
    }

    fn defined_size(&mut self, size: SizeId) -> Size {
        match &self.program.sizes[size.index()] {
            SizeDef::Const(n) => Size::Const(*n),
            SizeDef::Input => Size::given(size),
            SizeDef::Len(array) => {
                let node = self.array(array);
                if node.is_input() { Size::given(size) } else { Size::len(&node) }
            }
            SizeDef::Count { array, at } => {
                let (node, at) = (self.array(array), self.size(at));
                Size::count(size, DeviceCount { node, at })
            }
            SizeDef::Op(op, a, b) => Size::op(*op, &self.size(a), &self.size(b)).numbered(size),
        }
    }
}

/// All definitions of a list; each is made.
fn complete<T>(definitions: Vec<Option<T>>) -> Vec<T> {
    definitions.into_iter().map(|definition| definition.expect(IN_ORDER)).collect()
}

const IN_ORDER: &str = "bug: a definition before those that it refers to";

impl Rewrite<ByNumber> for Defining<'_> {
    type To = InPlan;

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
    fn param(&mut self, p: &ScalarId) -> Param {
        Param { number: *p, def: self.program.scalars[p.index()] }
    }
    fn check(&mut self, c: &CheckId) -> CheckId {
        *c
    }
    fn function(&mut self, f: &FunctionId) -> Function {
        Function { number: *f, def: self.program.functions[f.index()].clone() }
    }
}
