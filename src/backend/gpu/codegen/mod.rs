//! Generates the WGSL of steps: a template of `shaders/`, completed by generated definitions.
//!
//! A [`Module`] collects the arrays, numbers and library functions of one kernel while its functions are generated, and
//! writes the declarations last. Equal structure gives equal text: arrays and numbers are named in the order of first
//! use, and every size and number is a parameter.

mod accumulate;
mod arithmetic;
mod convert;
mod emit;
mod library;
mod pairs;
mod row_kernel;
mod types;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::{Arc, Mutex};

pub(crate) use row_kernel::shares_words;
pub(crate) use types::{elements_per_word, storage_type, value_type, vector_type};

use super::runtime::{Checks, Pipeline};

use crate::dtype::DType;
use crate::graph::expr::{Check, Expr};
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::plan::{Int64Repr, Step};
use crate::graph::scalar::Scalar;
use crate::graph::size::Size;
use crate::graph::walk::for_each_expr;
use crate::math::{self, MathFn};

/// The resource that a kernel binds.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    /// A stored array, read.
    Read(Node),
    /// An output of the step, by index.
    Output(usize),
    /// A scratch buffer, by index.
    Scratch(usize),
    /// A scratch buffer that is only read, by index.
    ScratchRead(usize),
    /// The status block.
    Status,
}

/// Generated text and what it refers to.
pub(crate) struct Module<'a> {
    step: &'a Step,
    /// The first status slot of the step's checks.
    first_slot: u32,
    reads: Vec<Node>,
    scalars: Vec<Word>,
    math: BTreeSet<(&'static str, &'static str)>,
    helpers: BTreeSet<String>,
    functions: String,
    uses_status: bool,
    row_context: Option<(Node, u32)>,
    /// The array that the step fetches from in parts, if any.
    fetched: Option<&'a Node>,
    /// The arrays that are loaded four elements at a time.
    vectors: Vec<Node>,
}

impl<'a> Module<'a> {
    /// A module for the step, whose checks report from slot `first_slot` on.
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
            fetched: step.fetches(),
            vectors: Vec::new(),
        };
        for n in &step.reads {
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
        self.step.limits.int64
    }

    /// Removes the row context: the row of each element is searched for instead.
    pub(crate) fn without_row_context(mut self) -> Self {
        self.row_context = None;
        self
    }

    /// The partition whose row each element is given: its splits, and numbers per element.
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

    /// Adds constants to the parameters, and returns the index of the parameter word that holds the first of `words`.
    fn scalar(&mut self, words: &[u32]) -> usize {
        self.scalars.extend(words.iter().map(|&word| Word::Constant(word)));
        self.scalars.len() - words.len()
    }

    /// The parameter word `k` as text.
    fn word(k: usize) -> String {
        format!("p.scalars[{}].{}", k / 4, ["x", "y", "z", "w"][k % 4])
    }

    /// A number, as a parameter. The positions 0 and 1 are literals, since they are part of the kernel's structure.
    pub(crate) fn number(&mut self, s: Scalar) -> String {
        if let Scalar::U32(v @ (0 | 1)) = s {
            return format!("{v}u");
        }
        let bits = s.bits();
        let words = [bits as u32, (bits >> 32) as u32];
        if s.dtype().size() == 8 {
            let k = self.scalar(&words);
            let (low, high) = (Self::word(k), Self::word(k + 1));
            if pairs::is_pair(self, s.dtype()) {
                return format!("{}({low}, {high})", value_type(s.dtype()));
            }
            let bits = format!("(u64({low}) | (u64({high}) << 32u))");
            return match s.dtype() {
                DType::U64 => bits,
                d => format!("bitcast<{}>({bits})", value_type(d)),
            };
        }
        let word = Self::word(self.scalar(&words[..1]));
        match s.dtype() {
            DType::Bool => format!("({word} != 0u)"),
            DType::I8 | DType::I16 | DType::I32 | DType::F32 => format!("bitcast<{}>({word})", value_type(s.dtype())),
            _ => word,
        }
    }

    /// A size, at its capacity: a parameter.
    pub(crate) fn size(&mut self, size: &Size) -> String {
        if let Some(n) = size.as_const() {
            return self.number(Scalar::U32(n));
        }
        self.scalars.push(Word::Size(size.clone()));
        Self::word(self.scalars.len() - 1)
    }

    /// Adds a library function or any other definition, once.
    fn helper(&mut self, text: impl Into<String>) {
        self.helpers.insert(text.into());
    }

    fn math(&mut self, f: MathFn, dtype: DType) -> &'static str {
        if self.math.insert((math::wgsl_name(f, dtype), math::wgsl_source(f, dtype))) {
            for &needed in math::wgsl_depends(f, dtype) {
                self.math(needed, dtype);
            }
        }
        math::wgsl_name(f, dtype)
    }

    /// The status slot to which the check reports.
    fn slot(&mut self, check: &Check) -> u32 {
        self.uses_status = true;
        let k = self.step.checks.iter().position(|c| **c == *check).expect("bug: an unplanned check");
        self.first_slot + k as u32
    }

    /// Adds `fn name(i, row) -> type`, the expression's value at position `i`, in row `row`.
    pub(crate) fn value_function(&mut self, name: &str, e: &Expr) {
        let (lines, result) = emit::Emitter::new(self).function(e);
        let ty = value_type(e.dtype());
        writeln!(self.functions, "fn {name}(i: u32, row: u32) -> {ty} {{\n{lines}    return {result};\n}}")
            .expect("a string takes text");
    }

    /// Adds `fn name(q)`, the expression's values at the four positions from `4 q` on, in storage form. The expression
    /// loads only at its own position, and no other function of the kernel reads these arrays. Loads are emitted
    /// outside the branches that use them: an array that ends before the positions do needs bounds checks.
    pub(crate) fn vector_function(&mut self, name: &str, e: &Expr) {
        let mut arrays: Vec<Node> = Vec::new();
        for_each_expr(e, &mut |e| arrays.extend(e.node().filter(|n| !arrays.contains(n)).cloned()));
        let (mut given, mut loads) = (String::new(), String::new());
        for (k, n) in arrays.iter().enumerate() {
            let array = self.array(n);
            write!(given, ", x{k}: {}", value_type(n.dtype())).expect("a string takes text");
            writeln!(loads, "    let v{k} = b{array}[q];").expect("a string takes text");
        }
        let mut emitter = emit::Emitter::new(self);
        for (k, n) in arrays.iter().enumerate() {
            emitter = emitter.knowing(&Expr::load(n, Expr::index()), format!("x{k}"));
        }
        let (lines, result) = emitter.function(e);
        let (ty, stored) = (value_type(e.dtype()), vector_type(e.dtype()));
        for lane in 0..4 {
            let taken: String = arrays.iter().enumerate().map(|(k, n)| format!(", {}", taken(n, k, lane))).collect();
            writeln!(loads, "    let r{lane} = {name}_one(4u * q + {lane}u{taken});").expect("a string takes text");
        }
        let bits = packed_bits(e.dtype());
        let all = match elements_per_word(e.dtype()) {
            1 => format!("{stored}(r0, r1, r2, r3)"),
            2 => format!(
                "{stored}({name}_bits(r0) | ({name}_bits(r1) << 16u), {name}_bits(r2) | ({name}_bits(r3) << 16u))"
            ),
            _ => format!(
                "{name}_bits(r0) | ({name}_bits(r1) << 8u) | ({name}_bits(r2) << 16u) | ({name}_bits(r3) << 24u)"
            ),
        };
        if elements_per_word(e.dtype()) > 1 {
            self.push(&format!("fn {name}_bits(v: {ty}) -> u32 {{\n    return {bits};\n}}"));
        }
        self.push(&format!(
            "fn {name}_one(i: u32{given}) -> {ty} {{\n{lines}    return {result};\n}}\n\
             fn {name}(q: u32) -> {stored} {{\n{loads}    return {all};\n}}"
        ));
        self.vectors = arrays;
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

    /// Adds `identity` and `add_product` of a sum of products of that dtype.
    pub(crate) fn sum_of_products(&mut self, dtype: DType) {
        let ty = value_type(dtype);
        let sum = arithmetic::add_product(self, dtype);
        let identity = self.number(ReduceOp::Sum.identity(dtype));
        self.push(&format!(
            "fn identity() -> {ty} {{\n    return {identity};\n}}\n\
             fn add_product(sum: {ty}, a: {ty}, b: {ty}) -> {ty} {{\n    return {sum};\n}}"
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
        self.push(&format!("fn {name}(i: u32) -> u32 {{\n    return b{k}[i];\n}}"));
    }

    /// Adds `splits_at` for `live_rows()` rows of one length.
    pub(crate) fn uniform_splits_function(&mut self, len: &Size) {
        let word = self.size(len);
        self.push(&format!("fn splits_at(i: u32) -> u32 {{\n    return min(i, live_rows()) * {word};\n}}"));
    }

    /// Adds `place` and `store` of a map into `out`, of that dtype.
    pub(crate) fn map_output(&mut self, dtype: DType) {
        let lanes = elements_per_word(dtype);
        if lanes == 1 {
            self.push(
                "fn place(tile: u32, t: u32, k: u32) -> u32 {\n    return tile * MAP_TILE + k * 256u + t;\n}\n\
                 fn store(i: u32, row: u32, v: Elem) {\n    out[i] = v;\n}",
            );
            return;
        }
        let bits = packed_bits(dtype);
        let (last, width, shift) = (lanes - 1, 32 / lanes, lanes.trailing_zeros());
        self.push(&format!(
            "fn place(tile: u32, t: u32, k: u32) -> u32 {{\n    \
             return tile * MAP_TILE + (k >> {shift}u) * {stride}u + t * {lanes}u + (k & {last}u);\n}}",
            stride = 256 * lanes,
        ));
        if self.fetched.is_some() {
            // Not all elements of a word are stored by the same dispatch.
            let mask = u32::MAX >> (32 - width);
            return self.push(&format!(
                "fn store(i: u32, row: u32, v: Elem) {{\n    let shift = (i & {last}u) * {width}u;\n    \
                 out[i >> {shift}u] = (out[i >> {shift}u] & ~({mask}u << shift)) | ({bits} << shift);\n}}"
            ));
        }
        self.push(&format!(
            "var<private> word: u32;\n\
             /// The elements of a word come in order; the last one that there is writes the word.\n\
             fn store(i: u32, row: u32, v: Elem) {{\n    let lane = i & {last}u;\n    \
             word = select(word, 0u, lane == 0u) | ({bits} << (lane * {width}u));\n    \
             if (lane == {last}u || i + 1u == live()) {{\n        out[i >> {shift}u] = word;\n    }}\n}}",
        ));
    }

    /// Adds `store` of a compaction into `out`, of that dtype. The elements of a packed word may come from several
    /// workgroups, in any order, so each sets its own bits of a word that was 0.
    pub(crate) fn compact_output(&mut self, dtype: DType) {
        let lanes = elements_per_word(dtype);
        if lanes == 1 {
            self.push("fn store(i: u32, v: Elem) {\n    out[i] = v;\n}");
            return;
        }
        let bits = packed_bits(dtype);
        let (shift, mask, width) = (lanes.trailing_zeros(), lanes - 1, 32 / lanes);
        self.push(&format!(
            "fn store(i: u32, v: Elem) {{\n    \
             atomicOr(&out[i >> {shift}u], {bits} << ((i & {mask}u) * {width}u));\n}}",
        ));
    }

    /// Adds `place` and `store` of a check, which reports the first failing position to the status block.
    pub(crate) fn assert_output(&mut self, slot: u32) {
        self.uses_status = true;
        let k = self.scalar(&[slot]);
        let word = Self::word(k);
        self.push(&format!(
            "fn place(tile: u32, t: u32, k: u32) -> u32 {{\n    return tile * MAP_TILE + k * 256u + t;\n}}\n\
             fn store(i: u32, row: u32, v: Elem) {{\n    \
             if (!v) {{\n        atomicMax(&status[{word}], ~i);\n    }}\n}}",
        ));
    }

    /// Completes the module: `templates`, then everything generated. `out` is the storage type of the output's
    /// elements, if there is an output; `scratch` has the names, types and bindings of the scratch buffers.
    pub(crate) fn finish(
        self,
        templates: &[&'static str],
        elem: &str,
        out: Option<&str>,
        scratch: &[(&str, &str, Binding)],
    ) -> Generated {
        let out = out.map(|ty| ("out".to_owned(), ty.to_owned()));
        self.finish_with(templates, elem, out.as_slice(), scratch)
    }

    /// As [`Module::finish`], with the names and types of any number of outputs.
    pub(crate) fn finish_with(
        mut self,
        templates: &[&'static str],
        elem: &str,
        outputs: &[(String, String)],
        scratch: &[(&str, &str, Binding)],
    ) -> Generated {
        let mut text = String::new();
        // Uniform buffers hold at least one vector of numbers, so that every kernel has the same kind of block.
        let vectors = self.scalars.len().div_ceil(4).max(1);
        self.scalars.resize(vectors * 4, Word::Constant(0));
        write!(
            text,
            "struct Params {{\n    head: array<vec4<u32>, 2>,\n    scalars: array<vec4<u32>, {vectors}>,\n}}\n\
             @group(0) @binding(0) var<uniform> p: Params;\n\
             /// Zero, though no compiler can know: what passes through it keeps its bits.\n\
             fn rg_zero() -> u32 {{\n    return p.head[1].w;\n}}\n\
             alias Elem = {elem};\n"
        )
        .expect("a string takes text");
        let mut bindings = Vec::new();
        let mut declare = |text: &mut String, access: &str, name: &str, ty: &str, binding| {
            bindings.push(binding);
            let n = bindings.len();
            writeln!(text, "@group(0) @binding({n}) var<storage, {access}> {name}: {ty};")
                .expect("a string takes text");
        };
        for (k, n) in self.reads.iter().enumerate() {
            let of = if self.vectors.contains(n) { vector_type } else { storage_type };
            let ty = format!("array<{}>", of(n.dtype()));
            declare(&mut text, "read", &format!("b{k}"), &ty, Binding::Read(n.clone()));
        }
        for (k, (name, ty)) in outputs.iter().enumerate() {
            declare(&mut text, "read_write", name, &format!("array<{ty}>"), Binding::Output(k));
        }
        for (name, ty, binding) in scratch {
            let access = if matches!(binding, Binding::ScratchRead(_)) { "read" } else { "read_write" };
            declare(&mut text, access, name, ty, binding.clone());
        }
        if self.uses_status {
            declare(&mut text, "read_write", "status", "array<atomic<u32>>", Binding::Status);
        }
        text.push_str(&self.functions);
        for helper in &self.helpers {
            text.push_str(helper);
            text.push('\n');
        }
        for (_, source) in &self.math {
            text.push_str(source);
            text.push('\n');
        }
        library::complete(templates, &mut text, self.longs());
        let text = templates.iter().chain([&text.as_str()]).copied().collect::<Vec<_>>().join("\n");
        Generated { text: text.into(), bindings: bindings.into(), scalars: self.scalars, ..Generated::default() }
    }
}

/// Element `lane` of `v{k}`, which holds four elements of the array in storage form.
fn taken(array: &Node, k: usize, lane: usize) -> String {
    let of = ["x", "y", "z", "w"];
    match elements_per_word(array.dtype()) {
        1 => format!("v{k}.{}", of[lane]),
        2 => emit::unpacked(array.dtype(), &format!("v{k}.{}", of[lane / 2]), &format!("{}u", lane % 2 * 16)),
        _ => emit::unpacked(array.dtype(), &format!("v{k}"), &format!("{}u", lane * 8)),
    }
}

/// The value `v` of a packed dtype as the low bits of a word.
const fn packed_bits(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "select(0u, 1u, v)",
        DType::I8 => "(bitcast<u32>(v) & 0xffu)",
        DType::I16 => "(bitcast<u32>(v) & 0xffffu)",
        _ => "v",
    }
}

/// A parameter word that follows the template's own eight.
#[derive(Debug, Clone)]
pub(crate) enum Word {
    /// The same in every run.
    Constant(u32),
    /// The capacity that a size has in the run.
    Size(Size),
}

/// A complete module: the part of a kernel that is the same in every run.
#[derive(Debug)]
pub(crate) struct Generated {
    /// The primitive, and the operations fused into it.
    pub(crate) label: Arc<str>,
    /// WGSL.
    pub(crate) text: Arc<str>,
    /// The bindings, from binding 1 on.
    pub(crate) bindings: Arc<[Binding]>,
    /// The parameter words that follow the template's own eight.
    pub(crate) scalars: Vec<Word>,
    /// Elements per tile, if the text fixes it.
    pub(crate) tile: u32,
    /// The compiled pipelines, by entry point and runtime checks.
    pub(super) pipelines: Mutex<Vec<(&'static str, Checks, Pipeline)>>,
}

impl Default for Generated {
    fn default() -> Self {
        let (label, text, bindings) = (Arc::from(""), Arc::from(""), Arc::from([]));
        Self { label, text, bindings, scalars: Vec::new(), tile: 0, pipelines: Mutex::default() }
    }
}

/// Cache of the modules of one step, keyed by stem, and by a number where a stem has several modules.
#[derive(Debug, Default)]
pub(crate) struct Modules(HashMap<(&'static str, u32), Arc<Generated>>);

impl Modules {
    /// The module of that stem, generated on first use.
    pub(super) fn get(
        &mut self,
        step: &Step,
        (stem, number): (&'static str, u32),
        generate: impl FnOnce() -> Generated,
    ) -> Arc<Generated> {
        let new = || {
            let label = format!("{stem}({})", step.fused.join(" ")).into();
            Arc::new(Generated { label, ..generate() })
        };
        self.0.entry((stem, number)).or_insert_with(new).clone()
    }
}
