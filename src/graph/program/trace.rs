//! Tracing: turns a recording into its program and the bindings of this run.

use std::sync::Arc;

use super::{
    ArrayDef, ArrayId, ByNumber, CheckId, ExprDef, ExprId, ExtentDef, FunctionId, InputDef, Locations, Program,
    ScalarId, SizeDef, SizeId,
};
use crate::error::{Error, Result, caller};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::{Node, Stored};
use crate::graph::planned::SizeView;
use crate::graph::refs::{Recorded, Rewrite};
use crate::graph::scalar::param::ScalarParam;
use crate::graph::size::{RecordedSize, RunInput, RunSize, RunTable, Size, SizeKind};

/// Inputs, sizes, scalars and locations of one run of a program.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    /// The recorded node of each array.
    pub(crate) nodes: Vec<Node>,
    /// The results of the inputs, by the number of the array, as of when the program was traced.
    pub(crate) inputs: Vec<Option<Stored>>,
    /// The recorded size of each size in the program.
    pub(crate) sizes: Vec<Size>,
    /// The values of the sizes and of the scalar parameters.
    pub(crate) run: RunTable,
    /// The checks, functions and names of the recording.
    pub(crate) locations: Locations,
}

impl Bindings {
    /// The node of an array.
    pub(crate) fn node(&self, array: ArrayId) -> &Node {
        &self.nodes[array.index()]
    }

    /// The sizes of the run.
    pub(crate) fn view(&self) -> SizeView<'_> {
        SizeView::of(&self.run)
    }

    /// Sets the exact value of a count, which makes it host-known in every recording that refers to the size.
    pub(crate) fn set_count(&self, size: usize, value: u32) {
        if let Some(SizeKind::Count(count)) = self.sizes[size].kind() {
            count.set_exact(value);
        }
    }
}

/// The program that computes the unevaluated nodes of the list, in order.
///
/// # Errors
/// They depend on an input of a program that is traced: see [`Error::Traced`].
#[track_caller]
pub(crate) fn trace(nodes: &[Node]) -> Result<(Program, Bindings)> {
    let mut t = Tracer::new();
    t.outputs(nodes);
    t.define_arrays();
    if t.reads_states {
        return Err(Error::argument("scan_rows", "a state has no value: the step is recorded once, for all elements"));
    }
    if t.is_traced { Err(Error::Traced { op: "a read", location: caller() }) } else { Ok(t.finished()) }
}

/// As [`trace`], with the counts of stored arrays left on the device, as a GPU backend leaves them.
#[cfg(test)]
pub(crate) fn trace_on_device(nodes: &[Node]) -> (Program, Bindings) {
    let mut t = Tracer { leaves_counts: true, ..Tracer::new() };
    t.outputs(nodes);
    t.define_arrays();
    t.finished()
}

/// The program that computes the unevaluated nodes of the list, whether their inputs have values or not.
pub(crate) fn program_of(nodes: &[Node]) -> Program {
    let mut t = Tracer::new();
    t.outputs(nodes);
    t.define_arrays();
    t.finished().0
}

/// A program whose inputs need not have values, and what tensors of its results refer to.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) program: Program,
    /// The recorded nodes and sizes, with the values of those that have one.
    pub(crate) bindings: Bindings,
    /// The array of each node, in order.
    pub(crate) arrays: Vec<ArrayId>,
    /// The definition of each extent, in order.
    pub(crate) extents: Vec<ExtentDef>,
    /// Upper bounds of counts, as sizes of the program.
    pub(crate) bounds: Vec<(SizeId, SizeId)>,
}

/// The program that computes these nodes and extents, which may depend on inputs of a program that is traced.
pub(crate) fn freeze(nodes: &[Node], extents: &[Extent]) -> Frozen {
    let mut t = Tracer::new();
    t.outputs(nodes);
    let arrays = nodes.iter().map(|node| t.number(node)).collect();
    t.define_arrays();
    let extents = extents.iter().map(|x| t.extent(x)).collect();
    let (mut bounds, mut at) = (Vec::new(), 0);
    while at < t.bindings.sizes.len() {
        let size = t.bindings.sizes[at].clone();
        if let (SizeDef::Count { .. }, Some(SizeKind::Count(count))) = (&t.program.sizes[at], size.kind()) {
            let bound = count.bounded_by().unwrap_or_else(|| count.bound().into());
            bounds.push((SizeId(at as u32), t.size_id(&bound)));
        }
        t.define_arrays();
        at += 1;
    }
    let (program, bindings) = t.finished();
    Frozen { program, bindings, arrays, extents, bounds }
}

#[derive(Default)]
struct Tracer {
    program: Program,
    bindings: Bindings,
    arrays: DigestMap<ArrayId>,
    exprs: DigestMap<ExprId>,
    sizes: DigestMap<SizeId>,
    /// Whether the program depends on an input without a value.
    is_traced: bool,
    /// Whether the program reads the states of a step that is being recorded.
    reads_states: bool,
    /// Whether the counts of stored arrays stay on the device.
    leaves_counts: bool,
}

impl Tracer {
    fn new() -> Self {
        let mut t = Self::default();
        t.exprs.reserve(128);
        t.sizes.reserve(32);
        t.arrays.reserve(32);
        t.bindings.run.sizes.reserve(32);
        t
    }

    /// Makes the unevaluated nodes outputs, each once.
    fn outputs(&mut self, nodes: &[Node]) {
        for node in nodes.iter().filter(|n| n.stored().is_none()) {
            if node.is_traced() {
                self.is_traced = true;
                continue;
            }
            let id = self.number(node);
            // The numbers are those of the outputs so far: a new one is the next.
            if id.index() == self.program.outputs.len() {
                self.program.outputs.push(id);
            }
        }
    }

    /// Defines the arrays that are numbered, and those that they refer to.
    fn define_arrays(&mut self) {
        while self.program.arrays.len() < self.bindings.nodes.len() {
            let at = self.program.arrays.len();
            let node = self.bindings.nodes[at].clone();
            let (def, stored) = self.definition(&node);
            let len = match (&def, &stored) {
                (_, Some(stored)) => Some(stored.len),
                (ArrayDef::Input(_), None) => Some(node.extent().capacity()),
                (ArrayDef::Computed { .. }, None) => None,
            };
            let input = |len| RunInput { len, lengths: node.known_lengths() };
            self.bindings.run.inputs.push(len.map(input));
            self.program.arrays.push(def);
            self.bindings.inputs.push(stored);
        }
    }

    fn finished(mut self) -> (Program, Bindings) {
        // Counts that were read while the program was traced, and arrays that another thread has stored meanwhile, change
        // the lengths of arrays that were defined before.
        if self.program.sizes.iter().any(|def| matches!(def, SizeDef::Len(_))) {
            let RunTable { sizes, inputs, scalars, .. } = std::mem::take(&mut self.bindings.run);
            let given: Vec<Option<u32>> = sizes.iter().map(|size| Some(size.bound)).collect();
            self.bindings.run = self.program.run_table(inputs, &given, &[], scalars);
        } else {
            self.program.recompute(&mut self.bindings.run);
        }
        (self.program.hashed(), self.bindings)
    }

    /// The number of an array; assigns the next number if the array has none.
    fn number(&mut self, node: &Node) -> ArrayId {
        let next = ArrayId(self.bindings.nodes.len() as u32);
        let number = *self.arrays.entry(node.digest()).or_insert(next);
        if number == next {
            self.bindings.nodes.push(node.clone());
        }
        number
    }

    fn definition(&mut self, node: &Node) -> (ArrayDef, Option<Stored>) {
        // Another thread may store the node meanwhile. This run uses the state read here.
        let recipe = if node.stored().is_none() { node.recipe() } else { None };
        let (dtype, fallible) = (node.dtype(), node.is_fallible());
        let Some(recipe) = recipe else {
            let stored = node.stored().cloned();
            self.is_traced |= stored.is_none();
            let def = ArrayDef::Input(InputDef { dtype, fallible, is_vector_padded: node.is_vector_padded() });
            return (def, stored);
        };
        let extent = self.extent(node.extent());
        let asserts = node.asserts().iter().map(|n| self.number(n)).collect();
        let recipe = recipe.map(self);
        let op = self.bindings.locations.name_in(&mut self.program, node.op());
        (ArrayDef::Computed { dtype, op, fallible, extent, asserts, recipe: Box::new(recipe) }, None)
    }

    /// The number of a size, after its operands.
    fn size_id(&mut self, size: &Size) -> SizeId {
        if let Some(&known) = self.sizes.get(&size.digest()) {
            return known;
        }
        if !matches!(size.kind(), Some(SizeKind::Op(..))) {
            return self.define_size(size);
        }
        // Sizes of traced programs may be nested to any depth.
        let mut stack = vec![size];
        while let Some(&size) = stack.last() {
            let first = stack.len();
            if let Some(SizeKind::Op(_, a, b)) = size.kind()
                && !self.sizes.contains_key(&size.digest())
            {
                stack.extend([b, a].into_iter().filter(|operand| !self.sizes.contains_key(&operand.digest())));
            }
            if stack.len() == first {
                stack.pop();
                self.define_size(size);
            }
        }
        self.sizes[&size.digest()]
    }

    /// The number of a size whose operands are numbered.
    fn define_size(&mut self, size: &Size) -> SizeId {
        if let Some(&known) = self.sizes.get(&size.digest()) {
            return known;
        }
        let (def, value) = match size.kind() {
            None => (SizeDef::Const(size.capacity()), size.capacity()),
            Some(SizeKind::Input(n)) => (SizeDef::Input, *n),
            Some(SizeKind::Traced(_)) => {
                self.is_traced = true;
                (SizeDef::Input, size.capacity())
            }
            Some(SizeKind::Len(node)) => {
                let node = node.clone();
                (SizeDef::Len(self.number(&node)), size.capacity())
            }
            Some(SizeKind::Count(count)) => {
                // The CPU backend reads the value without waiting.
                if let (None, Some((node, at)), false) = (count.exact(), count.location(), self.leaves_counts)
                    && let Some(stored) = node.stored()
                    && let Some(value) = node.backend().try_read_u32(stored, at.capacity())
                {
                    count.set_exact(value);
                }
                match (count.exact(), count.location()) {
                    (None, Some((node, at))) => {
                        let (array, at) = (self.number(&node), self.size_id(&at));
                        (SizeDef::Count { array, at }, count.bound())
                    }
                    _ => (SizeDef::Input, size.capacity()),
                }
            }
            Some(SizeKind::Op(op, a, b)) => {
                let (a, b) = (self.sizes[&a.digest()], self.sizes[&b.digest()]);
                let value = |id: SizeId| self.bindings.run.sizes[id.index()].bound;
                (SizeDef::Op(*op, a, b), op.apply(value(a), value(b)))
            }
        };
        let id = SizeId(self.program.sizes.len() as u32);
        self.program.sizes.push(def);
        self.bindings.sizes.push(size.clone());
        self.bindings.run.sizes.push(RunSize { bound: value, exact: None });
        self.sizes.insert(size.digest(), id);
        id
    }

    /// The number of an expression, after its operands.
    fn expr_id(&mut self, e: &Expr) -> ExprId {
        if e.as_param().is_some() {
            return self.define(e);
        }
        if let Some(&known) = self.exprs.get(&e.digest()) {
            return known;
        }
        let mut last = ExprId(0);
        // The operands of an entry with `true` are numbered.
        let mut stack = vec![(e, false)];
        while let Some((e, is_ready)) = stack.pop() {
            if !is_ready {
                if !self.exprs.contains_key(&e.digest()) {
                    stack.push((e, true));
                    let first = stack.len();
                    stack.extend(e.operands().filter(|o| o.as_param().is_none()).map(|o| (o, false)));
                    stack[first..].reverse();
                }
                continue;
            }
            // Operands that two operations share are on the stack twice.
            if self.exprs.contains_key(&e.digest()) {
                continue;
            }
            last = self.define(e);
            self.exprs.insert(e.digest(), last);
        }
        last
    }

    /// Adds an expression whose operands are numbered, except scalar parameters, which are numbered at each use.
    fn define(&mut self, e: &Expr) -> ExprId {
        self.reads_states |= matches!(e.kind(), ExprKind::Register(register, _) if register.scan != 0);
        let kind = e.kind().map(self);
        let id = ExprId(self.program.exprs.len() as u32);
        self.program.exprs.push(ExprDef { kind, dtype: e.dtype() });
        id
    }
}

impl Rewrite<Recorded> for Tracer {
    type To = ByNumber;
    fn expr(&mut self, e: &Expr) -> ExprId {
        self.expr_id(e)
    }
    fn array(&mut self, a: &Node) -> ArrayId {
        self.number(a)
    }
    fn extent(&mut self, x: &Extent) -> ExtentDef {
        ExtentDef { size: self.size_id(x.size()), whole: x.is_whole() }
    }
    fn size(&mut self, s: &Size) -> SizeId {
        self.size_id(s)
    }
    fn check(&mut self, c: &Arc<Check>) -> CheckId {
        self.bindings.locations.number(c)
    }
    fn param(&mut self, p: &ScalarParam) -> ScalarId {
        self.program.scalars.push(p.def());
        let value = p.recorded_value();
        self.bindings.run.scalars.push(value);
        ScalarId(self.program.scalars.len() as u32 - 1)
    }
    fn function(&mut self, f: &Function) -> FunctionId {
        self.bindings.locations.function_in(&mut self.program, f)
    }
}
