//! A lint of whole modules: with all calls inlined, an effective guard separates any two operations of float arithmetic.
//!
//! Compilers inline before they contract and simplify, so that the operand of a sum may be a product of another function.
//! The lint evaluates the entry points abstractly: each call with the provenance of its arguments.

mod tests;

use std::collections::{BTreeSet, HashMap};
use std::ops::{BitOr, Range};

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, BinaryOperator as Op, Block, Expression, Function, Handle, Module, ScalarKind, Statement, Type,
    TypeInner,
};

/// What is known about the provenance of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Provenance {
    /// The value may be the result of a float operation, up to its sign and operations that compilers see through.
    is_result: bool,
    /// The value may be such a result behind an exclusive or with the opaque zero, which a second one cancels.
    is_flipped: bool,
    /// The value may be the result of a fused multiply-add, which is the addend of the next one without a guard.
    is_fused: bool,
    /// The value is the zero that is opaque to compilers.
    is_zero: bool,
}

impl Provenance {
    const NONE: Self = Self { is_result: false, is_flipped: false, is_fused: false, is_zero: false };
    const RESULT: Self = Self { is_result: true, ..Self::NONE };
    const FUSED: Self = Self { is_fused: true, ..Self::NONE };
    const ZERO: Self = Self { is_zero: true, ..Self::NONE };

    fn flipped(self) -> Self {
        Self { is_result: self.is_flipped, is_flipped: self.is_result, is_zero: false, ..self }
    }
}

impl BitOr for Provenance {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self {
            is_result: self.is_result || other.is_result,
            is_flipped: self.is_flipped || other.is_flipped,
            is_fused: self.is_fused || other.is_fused,
            is_zero: self.is_zero && other.is_zero,
        }
    }
}

/// The provenance of each member of a value, those of nested structures in order; elements of an array share theirs.
type Value = Vec<Provenance>;

/// A call of a function, with its arguments.
type Call = (Handle<Function>, Vec<Value>);

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Variable {
    Local(Handle<naga::LocalVariable>),
    Global(Handle<naga::GlobalVariable>),
}

/// The members of variables that have been stored to.
type Memory = HashMap<(Variable, usize), Provenance>;

/// The state of the evaluation of a module.
struct Evaluation<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    /// The contents of private and workgroup memory.
    globals: Memory,
    /// The results of the calls so far.
    calls: HashMap<Call, Value>,
    /// The functions with findings.
    found: BTreeSet<String>,
}

/// The functions in which an operand of a float sum, difference or product is the unguarded result of another, in any
/// call.
pub(super) fn unguarded(module: &Module, info: &ModuleInfo) -> BTreeSet<String> {
    let (globals, calls) = (Memory::new(), HashMap::new());
    let mut evaluation = Evaluation { module, info, globals, calls, found: BTreeSet::new() };
    loop {
        let before = evaluation.globals.clone();
        evaluation.calls.clear();
        for (k, entry) in module.entry_points.iter().enumerate() {
            let arguments = entry.function.arguments.iter().map(|a| vec![Provenance::NONE; members(module, a.ty)]);
            let arguments = arguments.collect();
            Body::new(&entry.function, info.get_entry_point(k), arguments).evaluate(&mut evaluation);
        }
        if evaluation.globals == before {
            return evaluation.found;
        }
    }
}

/// Number of members of a type.
fn members(module: &Module, ty: Handle<Type>) -> usize {
    members_of(module, &module.types[ty].inner)
}

fn members_of(module: &Module, inner: &TypeInner) -> usize {
    match *inner {
        TypeInner::Struct { members: ref all, .. } => all.iter().map(|m| members(module, m.ty)).sum(),
        TypeInner::Array { base, .. } | TypeInner::Pointer { base, .. } => members(module, base),
        _ => 1,
    }
}

/// The members of element `index` of a type: of a structure's member, or of an array's or a vector's element.
fn selected(module: &Module, inner: &TypeInner, index: u32) -> Range<usize> {
    let inner = match *inner {
        TypeInner::Pointer { base, .. } => &module.types[base].inner,
        ref other => other,
    };
    match inner {
        TypeInner::Struct { members: all, .. } => {
            let index = index as usize;
            let mut sizes = all.iter().map(|m| members(module, m.ty));
            let start = sizes.clone().take(index).sum();
            start..start + sizes.nth(index).expect("a member")
        }
        other => 0..members_of(module, other),
    }
}

/// Merges the values of two paths.
fn merged(a: &Value, b: &Value) -> Value {
    a.iter().zip(b).map(|(&a, &b)| a | b).collect()
}

/// The evaluation of one function.
struct Body<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    arguments: Vec<Value>,
    values: Vec<Value>,
    locals: Memory,
    returned: Option<Value>,
}

impl<'a> Body<'a> {
    fn new(function: &'a Function, info: &'a FunctionInfo, arguments: Vec<Value>) -> Self {
        let values = vec![Value::new(); function.expressions.len()];
        Self { function, info, arguments, values, locals: Memory::new(), returned: None }
    }

    /// The function's result.
    fn evaluate(&mut self, evaluation: &mut Evaluation<'a>) -> Value {
        // Values in loops depend on later stores.
        loop {
            let before = (self.values.clone(), self.locals.clone());
            for (e, _) in self.function.expressions.iter().filter(|(_, e)| e.needs_pre_emit()) {
                self.values[e.index()] = self.expression(evaluation, e);
            }
            for (local, variable) in self.function.local_variables.iter() {
                if let Some(init) = variable.init {
                    merge(&mut self.locals, Variable::Local(local), 0, &self.values[init.index()]);
                }
            }
            self.block(evaluation, &self.function.body);
            if before == (self.values.clone(), self.locals.clone()) {
                return self.returned.clone().unwrap_or_default();
            }
        }
    }

    fn inner<'m>(&'m self, module: &'m Module, e: Handle<Expression>) -> &'m TypeInner {
        self.info[e].ty.inner_with(&module.types)
    }

    fn is_float(&self, module: &Module, e: Handle<Expression>) -> bool {
        self.inner(module, e).scalar().is_some_and(|s| s.kind == ScalarKind::Float)
    }

    /// The provenance of a scalar or a vector.
    fn single(&self, e: Handle<Expression>) -> Provenance {
        self.values[e.index()].first().copied().unwrap_or_default()
    }

    /// The value of an expression, from those of its operands.
    fn expression(&self, evaluation: &mut Evaluation<'_>, e: Handle<Expression>) -> Value {
        let module = evaluation.module;
        let of = |e: Handle<Expression>| &self.values[e.index()];
        match self.function.expressions[e] {
            Expression::FunctionArgument(k) => self.arguments[k as usize].clone(),
            Expression::Binary { op, left, right } => vec![self.binary(evaluation, op, [left, right])],
            Expression::Math { fun: naga::MathFunction::Fma, arg, arg1, arg2, .. } => {
                let factors = self.single(arg) | arg1.map(|e| self.single(e)).unwrap_or_default();
                let addend = arg2.map(|e| self.single(e)).unwrap_or_default();
                if factors.is_result || factors.is_fused || addend.is_result {
                    evaluation.found.insert(self.name().to_owned());
                }
                vec![Provenance::FUSED]
            }
            Expression::Unary { expr, .. } => vec![Provenance { is_zero: false, ..self.single(expr) }],
            Expression::Select { accept, reject, .. } => merged(of(accept), of(reject)),
            // Bits as another type, or a float of another width.
            Expression::As { expr, kind, convert } => {
                let is_transparent = convert.is_none()
                    || self.single(expr).is_zero
                    || kind == ScalarKind::Float && self.is_float(module, expr);
                vec![if is_transparent { self.single(expr) } else { Provenance::NONE }]
            }
            Expression::Load { pointer } => self.load(evaluation, pointer),
            // Of a value; pointers are followed where they are used.
            Expression::Access { base, .. } => of(base).clone(),
            Expression::AccessIndex { base, index } => {
                let range = selected(module, self.inner(module, base), index);
                of(base).get(range).unwrap_or_default().to_vec()
            }
            Expression::Splat { value, .. } => of(value).clone(),
            Expression::Swizzle { vector, .. } => of(vector).clone(),
            Expression::Compose { ty, ref components } => {
                let values = components.iter().map(|&c| of(c));
                match module.types[ty].inner {
                    TypeInner::Struct { .. } => values.flatten().copied().collect(),
                    _ => values.cloned().reduce(|a, b| merged(&a, &b)).unwrap_or_default(),
                }
            }
            _ => vec![Provenance::NONE; members_of(module, self.inner(module, e))],
        }
    }

    /// The function's name.
    fn name(&self) -> &str {
        self.function.name.as_deref().unwrap_or("the entry point")
    }

    fn binary(&self, evaluation: &mut Evaluation<'_>, op: Op, operands: [Handle<Expression>; 2]) -> Provenance {
        let [a, b] = operands.map(|e| self.single(e));
        if self.is_float(evaluation.module, operands[0]) {
            if !matches!(op, Op::Add | Op::Subtract | Op::Multiply) {
                return Provenance::NONE;
            }
            let place = self.name();
            // The product of a conversion is exact: contracted or not, there is one rounding.
            let is_conversion = place.starts_with("f32_of_") || place.starts_with("f64_of_");
            if !is_conversion && [a, b].iter().any(|of| of.is_result || of.is_fused) {
                evaluation.found.insert(place.to_owned());
            }
            return Provenance::RESULT;
        }
        match op {
            // A guard.
            Op::InclusiveOr | Op::Add if a.is_zero || b.is_zero => Provenance::NONE,
            Op::ExclusiveOr if b.is_zero => a.flipped(),
            Op::ExclusiveOr if a.is_zero => b.flipped(),
            // Compilers turn these into operations on the float's sign, and selections.
            Op::And | Op::InclusiveOr | Op::ExclusiveOr => Provenance { is_zero: false, ..a | b },
            _ => Provenance::NONE,
        }
    }

    /// The variable that a pointer points into, and the members.
    fn place(&self, evaluation: &Evaluation<'_>, pointer: Handle<Expression>) -> (Variable, Range<usize>) {
        let module = evaluation.module;
        match self.function.expressions[pointer] {
            Expression::LocalVariable(v) => {
                (Variable::Local(v), 0..members(module, self.function.local_variables[v].ty))
            }
            Expression::GlobalVariable(v) => (Variable::Global(v), 0..members(module, module.global_variables[v].ty)),
            Expression::Access { base, .. } => self.place(evaluation, base),
            Expression::AccessIndex { base, index } => {
                let (variable, range) = self.place(evaluation, base);
                let within = selected(module, self.inner(module, base), index);
                (variable, range.start + within.start..range.start + within.end)
            }
            // No function takes a pointer; the lint would be blind to its contents.
            ref other => panic!("a pointer that is {other:?}"),
        }
    }

    /// The contents of memory. A store to a buffer, with a load from it, is a guard.
    fn load(&self, evaluation: &Evaluation<'_>, pointer: Handle<Expression>) -> Value {
        let (variable, range) = self.place(evaluation, pointer);
        let memory = if matches!(variable, Variable::Local(_)) { &self.locals } else { &evaluation.globals };
        range.map(|k| memory.get(&(variable, k)).copied().unwrap_or_default()).collect()
    }

    fn store(&mut self, evaluation: &mut Evaluation<'_>, pointer: Handle<Expression>, value: Handle<Expression>) {
        let (variable, range) = self.place(evaluation, pointer);
        let value = &self.values[value.index()];
        match variable {
            Variable::Local(_) => merge(&mut self.locals, variable, range.start, value),
            Variable::Global(v) => {
                let space = evaluation.module.global_variables[v].space;
                if matches!(space, AddressSpace::Private | AddressSpace::WorkGroup) {
                    merge(&mut evaluation.globals, variable, range.start, value);
                }
            }
        }
    }

    fn block(&mut self, evaluation: &mut Evaluation<'a>, block: &'a Block) {
        for statement in block {
            match statement {
                // In the order of the program, so that zeros are known.
                Statement::Emit(range) => {
                    for e in range.clone() {
                        self.values[e.index()] = self.expression(evaluation, e);
                    }
                }
                Statement::Block(block) => self.block(evaluation, block),
                Statement::If { accept, reject, .. } => {
                    self.block(evaluation, accept);
                    self.block(evaluation, reject);
                }
                Statement::Switch { cases, .. } => cases.iter().for_each(|case| self.block(evaluation, &case.body)),
                Statement::Loop { body, continuing, .. } => {
                    self.block(evaluation, body);
                    self.block(evaluation, continuing);
                }
                Statement::Return { value: Some(value) } => {
                    let value = self.values[value.index()].clone();
                    self.returned = Some(self.returned.as_ref().map_or(value.clone(), |other| merged(other, &value)));
                }
                Statement::Store { pointer, value } => self.store(evaluation, *pointer, *value),
                Statement::WorkGroupUniformLoad { pointer, result } => {
                    self.values[result.index()] = self.load(evaluation, *pointer);
                }
                Statement::Call { function, arguments, result } => {
                    let arguments = arguments.iter().map(|a| self.values[a.index()].clone()).collect();
                    let returned = evaluation.call((*function, arguments));
                    if let Some(result) = result {
                        self.values[result.index()] = returned;
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'a> Evaluation<'a> {
    /// The result of a call.
    fn call(&mut self, call: Call) -> Value {
        let (module, info): (&'a Module, &'a ModuleInfo) = (self.module, self.info);
        let function = &module.functions[call.0];
        if function.name.as_deref() == Some("rg_zero") {
            return vec![Provenance::ZERO];
        }
        if let Some(known) = self.calls.get(&call) {
            return known.clone();
        }
        let returned = Body::new(function, &info[call.0], call.1.clone()).evaluate(self);
        self.calls.insert(call, returned.clone());
        returned
    }
}

/// Adds a value that is stored to a variable, from a member on.
fn merge(memory: &mut Memory, variable: Variable, start: usize, value: &Value) {
    for (k, &provenance) in value.iter().enumerate() {
        let stored = memory.entry((variable, start + k)).or_insert(provenance);
        *stored = *stored | provenance;
    }
}
