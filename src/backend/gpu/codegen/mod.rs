//! Generates the WGSL of steps: a template of `shaders/`, completed by generated definitions.
//!
//! A [`ModuleBuilder`] collects the arrays, parameters and library functions of one kernel while its functions are
//! generated; the declarations come last. Programs of equal structure give equal text: names follow the order of first
//! use, and every size and number is a parameter.

mod accessors;
mod accumulate;
mod affine;
mod arithmetic;
mod convert;
mod doubles;
mod emit;
mod kernel_module;
mod library;
mod loops;
mod outputs;
mod pairs;
mod phases;
mod recomputed;
mod recurrence;
mod row_kernel;
mod storage;
mod types;
mod vectors;

use std::collections::BTreeSet;
use std::fmt::Write;

#[cfg(test)]
pub(crate) use accessors::Declarations;
pub(crate) use accessors::{Misses, Windowing};
pub(crate) use affine::AFFINE;
pub(in crate::backend::gpu) use kernel_module::Kernel;
pub(crate) use kernel_module::{KernelModule, ParamWord, StepModules};
pub(crate) use loops::{STORE, iterations_of, looped};
pub(crate) use phases::Phases;
pub(crate) use recurrence::{WORKGROUP_WORDS, lane_bits};
pub(crate) use row_kernel::shares_words;
pub(crate) use storage::{Binding, Element, StorageArray};
#[cfg(test)]
pub(crate) use types::storage_type;
pub(crate) use types::{elements_per_word, value_type};

use crate::dtype::DType;
use crate::graph::function::WgslFunction;
use crate::graph::opcode::ReduceOp;
use crate::graph::plan::{Int64Repr, ProductRepr, Step};
use crate::graph::planned::{Expr, ExprKind, Node, Param, Size};
use crate::graph::program::CheckId;
use crate::graph::scalar::Scalar;
use crate::math::{self, MathFn};
use recurrence::Registers;

/// Builder of a kernel's module: the generated functions, and the arrays, parameters and library functions that they
/// use.
pub(crate) struct ModuleBuilder<'a> {
    step: &'a Step,
    /// The first status slot of the step's checks.
    first_slot: u32,
    reads: Vec<Node>,
    scalars: Vec<ParamWord>,
    math: BTreeSet<(&'static str, &'static str)>,
    helpers: BTreeSet<String>,
    functions: String,
    uses_status: bool,
    row_context: Option<(Node, u32)>,
    /// The products, by number, whose functions are generated.
    products: BTreeSet<usize>,
    /// The registers that expressions may read.
    registers: Registers,
    /// The array of a fetch, which is bound in parts.
    fetched: Option<&'a Node>,
    /// The arrays that are loaded four elements at a time.
    vectors: Vec<Node>,
    /// The arrays, by index, whose bound range the kernel queries.
    ranges: BTreeSet<usize>,
    /// Whether the kernel calls functions of the user.
    calls_user: bool,
    /// Whether doubles are pairs of words in the kernel, and 64-bit integers with them.
    has_paired_doubles: bool,
    /// The functions of doubles whose programs are parameters, and the parameter words that say where.
    programs: Vec<(usize, MathFn)>,
}

impl<'a> ModuleBuilder<'a> {
    /// A module for the step, whose checks report to the status slots from `first_slot` on.
    pub(crate) fn new(step: &'a Step, first_slot: u32) -> Self {
        let mut module = Self {
            step,
            first_slot,
            reads: Vec::new(),
            scalars: Vec::new(),
            math: BTreeSet::new(),
            helpers: BTreeSet::new(),
            functions: String::new(),
            uses_status: false,
            row_context: step.row_context.clone(),
            products: BTreeSet::new(),
            registers: Registers::default(),
            fetched: step.fetches(),
            vectors: Vec::new(),
            ranges: BTreeSet::new(),
            calls_user: false,
            has_paired_doubles: step.emulates_doubles(),
            programs: Vec::new(),
        };
        // A base is copied by a command, or has the buffer of the output.
        for n in step.reads.iter().filter(|n| Some(*n) != step.recipe.base()) {
            module.array(n);
        }
        module
    }

    /// A module that reads none of the step's arrays.
    pub(crate) fn empty(step: &'a Step, first_slot: u32) -> Self {
        let mut module = Self::new(step, first_slot).without_row_context();
        module.reads.clear();
        module
    }

    /// The representation of 64-bit integers in the kernel.
    pub(crate) fn longs(&self) -> Int64Repr {
        if self.has_paired_doubles { Int64Repr::Pairs } else { self.step.limits.int64 }
    }

    /// How the kernel adds products of f32.
    pub(crate) fn products(&self) -> ProductRepr {
        self.step.limits.products
    }

    /// Removes the row context, so that expressions search for the row of each element.
    pub(crate) fn without_row_context(mut self) -> Self {
        self.row_context = None;
        self
    }

    /// The partition in which the kernel knows the row of each element: splits and inner width.
    pub(crate) fn row_context(&self) -> Option<&(Node, u32)> {
        self.row_context.as_ref()
    }

    /// The index of the array in the order of first use.
    fn array(&mut self, node: &Node) -> usize {
        match self.reads.iter().position(|n| n == node) {
            Some(k) => k,
            None => {
                self.reads.push(node.clone());
                self.reads.len() - 1
            }
        }
    }

    /// Adds words to the parameters, and returns the index of the first one.
    fn words<const N: usize>(&mut self, words: [ParamWord; N]) -> usize {
        self.scalars.extend(words);
        self.scalars.len() - N
    }

    /// Adds a constant to the parameters, and returns its index.
    fn scalar(&mut self, word: u32) -> usize {
        self.words([ParamWord::Constant(word)])
    }

    /// The parameter word `k` as text.
    fn word(k: usize) -> String {
        format!("p.scalars[{}].{}", k / 4, ["x", "y", "z", "w"][k % 4])
    }

    /// A constant, in the parameter words. The u32 values 0 and 1 are literals, since they are part of the program's
    /// structure.
    pub(crate) fn number(&mut self, s: Scalar) -> String {
        if let Scalar::U32(v @ (0 | 1)) = s {
            return format!("{v}u");
        }
        let bits = s.bits();
        self.value_of_words(s.dtype(), [bits as u32, (bits >> 32) as u32].map(ParamWord::Constant))
    }

    /// A scalar parameter.
    pub(crate) fn param(&mut self, p: &Param) -> String {
        self.value_of_words(p.def().dtype, [ParamWord::Low(*p), ParamWord::High(*p)])
    }

    /// A value of that dtype, given by the parameter words of its bits.
    fn value_of_words(&mut self, dtype: DType, [low, high]: [ParamWord; 2]) -> String {
        if dtype.size() == 8 {
            let k = self.words([low, high]);
            let (low, high) = (Self::word(k), Self::word(k + 1));
            if pairs::is_pair(self, dtype) {
                return format!("{}({low}, {high})", value_type(dtype));
            }
            let bits = format!("(u64({low}) | (u64({high}) << 32u))");
            return match dtype {
                DType::U64 => bits,
                d => format!("bitcast<{}>({bits})", value_type(d)),
            };
        }
        let word = Self::word(self.words([low]));
        match dtype {
            DType::Bool => format!("({word} != 0u)"),
            DType::I8 | DType::I16 | DType::I32 | DType::F32 => format!("bitcast<{}>({word})", value_type(dtype)),
            _ => word,
        }
    }

    /// A size, at its capacity: a parameter.
    pub(crate) fn size(&mut self, size: &Size) -> String {
        if let Some(n) = size.as_const() {
            return self.number(Scalar::U32(n));
        }
        self.scalars.push(ParamWord::Size(size.clone()));
        Self::word(self.scalars.len() - 1)
    }

    /// Adds a library function or any other definition, once.
    fn helper(&mut self, text: impl Into<String>) {
        self.helpers.insert(text.into());
    }

    /// Adds a function of the user, once.
    fn user_function(&mut self, f: &WgslFunction) {
        self.calls_user = true;
        self.helper(&*f.text);
    }

    /// Adds a function, once, and returns its name.
    fn math(&mut self, f: MathFn, dtype: DType) -> &'static str {
        if pairs::is_pair(self, dtype) {
            return doubles::function(self, f);
        }
        if self.math.insert((math::wgsl_name(f, dtype), math::wgsl_source(f, dtype))) {
            for &needed in math::wgsl_depends(f, dtype) {
                self.math(needed, dtype);
            }
        }
        math::wgsl_name(f, dtype)
    }

    /// The status slot to which the check reports.
    fn slot(&mut self, check: CheckId) -> u32 {
        self.uses_status = true;
        let k = self.step.checks.iter().position(|c| *c == check).expect("bug: an unplanned check");
        self.first_slot + k as u32
    }

    /// Adds `fn name(i, row) -> type`, the expression's value at position `i`, in row `row`.
    pub(crate) fn value_function(&mut self, name: &str, e: &Expr) {
        let (lines, result) = emit::Emitter::new(self).function(e);
        let ty = value_type(e.dtype());
        writeln!(self.functions, "fn {name}(i: u32, row: u32) -> {ty} {{\n{lines}    return {result};\n}}")
            .expect("a string takes text");
    }

    /// As [`ModuleBuilder::value_function`], of a value that the template multiplies: guarded, unless it is loaded.
    pub(crate) fn factor_function(&mut self, name: &str, e: &Expr) {
        let (lines, result) = emit::Emitter::new(self).function(e);
        let is_computed = e.dtype().is_float() && !matches!(e.kind(), ExprKind::Load(..));
        let result = if is_computed { arithmetic::guard(self, e.dtype(), &result) } else { result };
        let ty = value_type(e.dtype());
        self.push(&format!("fn {name}(i: u32, row: u32) -> {ty} {{\n{lines}    return {result};\n}}"));
    }

    /// Adds `fn name() -> u32`, which evaluates a count.
    pub(crate) fn count_function(&mut self, name: &str, e: &Expr) {
        let (lines, result) = emit::Emitter::new(self).function(e);
        writeln!(
            self.functions,
            "fn {name}() -> u32 {{\n    let i = 0u;\n    let row = 0u;\n{lines}    return {result};\n}}"
        )
        .expect("a string takes text");
    }

    /// Adds `combine` and `identity` of a reduction of that dtype.
    pub(crate) fn monoid(&mut self, op: ReduceOp, dtype: DType, identity: Scalar) {
        let ty = value_type(dtype);
        let combine = arithmetic::combine(self, op, dtype);
        let identity = self.number(identity);
        self.push(&format!(
            "fn identity() -> {ty} {{\n    return {identity};\n}}\n\
             fn combine(a: {ty}, b: {ty}) -> {ty} {{\n    return {combine};\n}}"
        ));
    }

    /// Adds `identity`, `add_product` and `add_sums` of a sum of products of that dtype.
    pub(crate) fn sum_of_products(&mut self, dtype: DType) {
        let ty = value_type(dtype);
        let sum = arithmetic::add_product(self, dtype);
        let sums = arithmetic::combine(self, ReduceOp::Sum, dtype);
        let identity = self.number(ReduceOp::Sum.identity(dtype));
        self.push(&format!(
            "fn identity() -> {ty} {{\n    return {identity};\n}}\n\
             fn add_product(sum: {ty}, a: {ty}, b: {ty}) -> {ty} {{\n    return {sum};\n}}\n\
             fn add_sums(a: {ty}, b: {ty}) -> {ty} {{\n    return {sums};\n}}"
        ));
    }

    /// Adds any text.
    pub(crate) fn push(&mut self, text: &str) {
        self.functions.push_str(text);
        if !text.ends_with('\n') {
            self.functions.push('\n');
        }
    }

    /// Adds `splits_at` for rows given by splits.
    pub(crate) fn splits_function(&mut self, splits: &Node) {
        self.array_function("splits_at", splits);
    }

    /// Adds `fn name(i) -> u32`, element `i` of an array of u32.
    pub(crate) fn array_function(&mut self, name: &str, array: &Node) {
        let k = self.array(array);
        self.push(&format!("fn {name}(i: u32) -> u32 {{\n    return load_b{k}(i);\n}}"));
    }

    /// Adds `splits_at` for `live_rows()` rows of one length.
    pub(crate) fn uniform_splits_function(&mut self, len: &Size) {
        let word = self.size(len);
        self.push(&format!("fn splits_at(i: u32) -> u32 {{\n    return min(i, live_rows()) * {word};\n}}"));
    }

    /// Completes the module: `templates`, then the generated text. `out` is the storage type of the output's elements,
    /// if there is an output; `scratch` are the scratch buffers.
    pub(crate) fn finish(
        self,
        templates: &[&'static str],
        elem: &str,
        out: Option<Element>,
        scratch: Vec<StorageArray>,
    ) -> KernelModule {
        self.finish_with(templates, elem, out.map(|element| ("out".into(), element)).into_iter().collect(), scratch)
    }

    /// As [`ModuleBuilder::finish`], with the names and element types of any number of outputs.
    pub(crate) fn finish_with(
        mut self,
        templates: &[&'static str],
        elem: &str,
        outputs: Vec<(String, Element)>,
        scratch: Vec<StorageArray>,
    ) -> KernelModule {
        doubles::place_programs(&mut self);
        // WGSL has no empty arrays, so the block has at least one vector.
        self.scalars.resize(self.scalars.len().div_ceil(4).max(1) * 4, ParamWord::Constant(0));
        let mut arrays: Vec<StorageArray> = Vec::new();
        for (k, n) in self.reads.iter().enumerate() {
            let element = if self.vectors.contains(n) { Element::vector(n.dtype()) } else { Element::of(n.dtype()) };
            let has_range = self.ranges.contains(&k);
            let name = format!("b{k}");
            arrays.push(StorageArray { has_range, ..StorageArray::new(name, element, Binding::Read(n.clone())) });
        }
        for (k, (name, element)) in outputs.into_iter().enumerate() {
            arrays.push(StorageArray::new(name, element, Binding::Output(k)));
        }
        arrays.extend(scratch);
        if self.uses_status {
            arrays.push(StorageArray::new("status", Element::ATOMIC, Binding::Status));
        }
        let longs = self.longs();
        let mut functions = self.functions;
        for helper in &self.helpers {
            functions.push_str(helper);
            functions.push('\n');
        }
        for (_, source) in &self.math {
            functions.push_str(source);
            functions.push('\n');
        }
        let types = arrays.iter().map(|a| &*a.element.ty).chain([elem]);
        library::complete(templates, types, &mut functions, longs);
        let module = KernelModule::new(templates, elem, arrays, self.scalars, functions);
        if self.calls_user { module.with_user_functions() } else { module }
    }
}
