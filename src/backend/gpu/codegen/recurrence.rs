//! Generates the functions of `shaders/scan_rows.wgsl`: the phases of a step, and the registers.

use super::emit::Emitter;
use super::phases::{Phase, Phases, RegisterDef, words};
use super::{ModuleBuilder, arithmetic, convert, value_type};
use crate::dtype::DType;
use crate::graph::canonical_order::product::{BLOCK, RUN, SECTION};
use crate::graph::expr::Register;
use crate::graph::opcode::ReduceOp;
use crate::graph::planned::{Expr, Node};
use crate::graph::primitive::StageValue;
use crate::graph::scalar::Scalar;

/// Most words of registers in workgroup memory.
pub(crate) const WORKGROUP_WORDS: u32 = 3072;

/// The registers that expressions may read.
#[derive(Debug, Default)]
pub(super) struct Registers {
    /// The width of each.
    widths: Vec<u32>,
    /// Numbers per element of the expression that is emitted.
    own: u32,
}

impl<'a> ModuleBuilder<'a> {
    /// The number of a register at an index of the expression's own numbers, or at the own position.
    pub(super) fn register(&mut self, number: u32, at: Option<&str>) -> String {
        let (width, own) = (self.registers.widths[number as usize], self.registers.own);
        match at {
            _ if width == 1 => format!("register_{number}(r, 0u)"),
            None if width == own => format!("register_{number}(r, c)"),
            at => {
                // The number lies within the element, whatever the index: loaded programs are not trusted.
                let at = at.unwrap_or("i");
                let [each, last] = [width, width - 1].map(|n| self.number(Scalar::U32(n)));
                format!("register_{number}(r, min({at} - element * {each}, {last}))")
            }
        }
    }

    /// Adds the functions of a recurrence. `rows` are the splits of its rows, if they are stored.
    pub(crate) fn recurrence(
        &mut self,
        of: &Phases,
        initial: &Expr,
        rows: Option<&Node>,
        reversed: bool,
        scratch: bool,
    ) {
        self.registers.widths = of.registers.iter().map(|register| register.width).collect();
        self.memory(scratch);
        for (k, register) in of.registers.iter().enumerate().filter(|(_, register)| register.is_stored) {
            self.register_functions(&k.to_string(), register);
        }
        for (k, phase) in of.phases.iter().enumerate() {
            self.phase(k, phase, of, rows);
        }
        // Mesa's software driver counts a switch, and a return within a branch, as a loop.
        let call = |k| format!("    if (k == {k}u) {{\n        phase_{k}(r, row, element, c);\n    }}\n");
        let calls: String = (0..of.phases.len()).map(call).collect();
        self.push(&format!("fn compute(k: u32, r: u32, row: u32, element: u32, c: u32) {{\n{calls}}}"));
        self.states(of, initial);
        let widths: Vec<u32> = of.phases.iter().map(|phase| phase.width).chain([of.state_numbers]).collect();
        self.table("width_of", &widths);
        self.table("lane_bits_of", &widths.iter().map(|&width| lane_bits(width)).collect::<Vec<_>>());
        let [row_words, stored] = [of.row_words as u32, of.stored_numbers].map(|n| Self::word(self.scalar(n)));
        self.push(&format!(
            "const PHASES: u32 = {}u;\nconst REVERSED: bool = {reversed};\nconst IN_SCRATCH: bool = {scratch};\n\
             fn row_words() -> u32 {{\n    return {row_words};\n}}\n\
             fn stored_numbers() -> u32 {{\n    return {stored};\n}}",
            of.phases.len()
        ));
    }

    /// Adds `word` and `set_word`.
    fn memory(&mut self, scratch: bool) {
        if scratch {
            return self.push(
                "fn word(at: u32) -> u32 {\n    return load_registers(at);\n}\n\
                 fn set_word(at: u32, v: u32) {\n    store_registers(at, v);\n}",
            );
        }
        self.push(&format!(
            "var<workgroup> rg_registers: array<u32, {WORKGROUP_WORDS}>;\n\
             fn word(at: u32) -> u32 {{\n    return rg_registers[at];\n}}\n\
             fn set_word(at: u32, v: u32) {{\n    rg_registers[at] = v;\n}}"
        ));
    }

    /// Adds `register_{name}` and `set_register_{name}`.
    fn register_functions(&mut self, name: &str, register: &RegisterDef) {
        let RegisterDef { dtype, offset, .. } = *register;
        let (ty, offset) = (value_type(dtype), Self::word(self.scalar(offset as u32)));
        let is_wide = words(dtype) == 2;
        let at = format!("first_word + r * row_words() + {offset} + c{}", if is_wide { " * 2u" } else { "" });
        let (bits, stored) = match is_wide {
            true => ("join64(word(at), word(at + 1u))", DType::U64),
            false => ("word(at)", DType::U32),
        };
        let value = if stored == dtype { bits.into() } else { convert::bitcast(self, stored, dtype, bits) };
        let words = if stored == dtype { "v".into() } else { convert::bitcast(self, dtype, stored, "v") };
        let set = match is_wide {
            true => format!(
                "    let words = {words};\n    set_word(at, low64(words));\n    set_word(at + 1u, low64(shr64(words, 32u)));\n"
            ),
            false => format!("    set_word(at, {words});\n"),
        };
        self.push(&format!(
            "fn register_{name}(r: u32, c: u32) -> {ty} {{\n    let at = {at};\n    return {value};\n}}\n\
             fn set_register_{name}(r: u32, c: u32, v: {ty}) {{\n    let at = {at};\n{set}}}"
        ));
    }

    /// Begins a function of numbers of which an element has `own`. `i`, `element`, `c` and `r` are in scope.
    fn of_elements<'m>(&'m mut self, own: u32, rows: Option<&Node>) -> Emitter<'m, 'a> {
        self.registers.own = own;
        self.row_context = rows.map(|splits| (splits.clone(), own));
        let mut emitter = Emitter::new(self);
        if own > 1 {
            emitter.bind(&Expr::index().div(Expr::u32(own)), "element".into());
            emitter.bind(&Expr::index().rem(Expr::u32(own)), "c".into());
        }
        emitter
    }

    /// Adds `phase_{k}`, which computes a column of the registers of a phase.
    fn phase(&mut self, k: usize, phase: &Phase, of: &Phases, rows: Option<&Node>) {
        for &number in &phase.registers {
            if let StageValue::Product { left, right, terms, transposed } = &of.stage(number).value {
                self.factors(number, (left, right), *terms, rows);
                self.product(number, left.dtype(), (*terms, phase.width), *transposed);
            }
        }
        let width = self.number(Scalar::U32(phase.width));
        let mut emitter = self.of_elements(phase.width, rows);
        for &number in &phase.registers {
            let RegisterDef { dtype, is_stored, ref kept, .. } = of.registers[number as usize];
            let value = match &of.stage(number).value {
                StageValue::Map(e) => emitter.guarded(e),
                StageValue::Product { .. } => emitter.define(&format!("product_{number}(r, row, element, c)")),
            };
            if is_stored {
                emitter.statement(&format!("set_register_{number}(r, c, {value});"));
            }
            for first in kept {
                emitter.statement(&format!("store_out(element * stored_numbers() + {first}u + c, {value});"));
            }
            emitter.bind(&Expr::register(Register { scan: 0, number }, dtype, Expr::index()), value);
        }
        let lines = emitter.lines();
        self.push(&format!(
            "fn phase_{k}(r: u32, row: u32, element: u32, c: u32) {{\n    let i = element * {width} + c;\n{lines}}}"
        ));
        self.row_context = None;
    }

    /// Adds `left_{number}` and `right_{number}`: the factors of a product.
    fn factors(&mut self, number: u32, (left, right): (&Expr, &Expr), terms: u32, rows: Option<&Node>) {
        let (ty, each) = (value_type(left.dtype()), self.number(Scalar::U32(terms)));
        let mut emitter = self.of_elements(terms, rows);
        let value = emitter.guarded(left);
        let lines = emitter.lines();
        self.push(&format!(
            "fn left_{number}(r: u32, row: u32, element: u32, c: u32) -> {ty} {{\n    let i = element * {each} + c;\n\
             {lines}    return {value};\n}}"
        ));
        self.row_context = None;
        self.factor_function(&format!("right_{number}"), right);
    }

    /// Adds `product_{number}`: the sum of the products of `terms` factors, at most one group, for a column of
    /// `width`.
    fn product(&mut self, number: u32, dtype: DType, (terms, width): (u32, u32), transposed: bool) {
        let ty = value_type(dtype);
        let in_runs = terms > BLOCK;
        let (add_product, add) =
            (arithmetic::add_product(self, dtype), arithmetic::combine(self, ReduceOp::Sum, dtype));
        let zero = self.number(ReduceOp::Sum.identity(dtype));
        let [terms, width] = [terms, width].map(|n| self.number(Scalar::U32(n)));
        let (start, step) = if transposed { (format!("c * {terms}"), "1u") } else { ("c".into(), &*width) };
        self.push(&format!(
            "fn add_product_{number}(sum: {ty}, a: {ty}, b: {ty}) -> {ty} {{\n    return {add_product};\n}}\n\
             fn add_{number}(a: {ty}, b: {ty}) -> {ty} {{\n    return {add};\n}}"
        ));
        let term =
            format!("sum = add_product_{number}(sum, left_{number}(r, row, element, l), right_{number}(at, 0u));\n");
        let of_terms =
            format!("fn product_{number}(r: u32, row: u32, element: u32, c: u32) -> {ty} {{\n    var at = {start};\n");
        if !in_runs {
            self.push(&format!(
                "{of_terms}    var sum = {zero};\n    for (var l = 0u; l < {terms}; l++) {{\n        {term}        \
                 at += {step};\n    }}\n    return add_{number}({zero}, sum);\n}}"
            ));
            return;
        }
        self.push(&format!(
            "{of_terms}    var of_sections = {zero};\n    var of_blocks = {zero};\n    var of_runs = {zero};\n    \
             for (var first = 0u; first < {terms}; first += {RUN}u) {{\n        \
             let end = first + min({terms} - first, {RUN}u);\n        var sum = {zero};\n        \
             for (var l = first; l < end; l++) {{\n            {term}            at += {step};\n        }}\n        \
             of_runs = add_{number}(of_runs, sum);\n        \
             if (end % {BLOCK}u == 0u) {{\n            of_blocks = add_{number}(of_blocks, of_runs);\n            \
             of_runs = {zero};\n        }}\n        \
             if (end % {SECTION}u == 0u) {{\n            of_sections = add_{number}(of_sections, of_blocks);\n            \
             of_blocks = {zero};\n        }}\n    }}\n    \
             return add_{number}(of_sections, add_{number}(of_blocks, of_runs));\n}}"
        ));
    }

    /// Adds `initial`, `set_state` and `next_state`.
    fn states(&mut self, of: &Phases, initial: &Expr) {
        let ty = value_type(initial.dtype());
        let mut emitter = Emitter::new(self);
        let value = emitter.guarded(initial);
        let lines = emitter.lines();
        let mut end = 0;
        let mut next = String::new();
        for (&k, state) in of.next.iter().zip(&of.registers) {
            let start = self.number(Scalar::U32(end));
            end += state.width;
            let limit = self.number(Scalar::U32(end));
            let is_within = format!("c >= {start} && c < {limit}");
            next.push_str(&format!("    if ({is_within}) {{\n        v = register_{k}(r, c - {start});\n    }}\n"));
        }
        let zero = self.number(ReduceOp::Sum.identity(initial.dtype()));
        self.push(&format!(
            "fn initial(i: u32, row: u32) -> {ty} {{\n{lines}    return {value};\n}}\n\
             /// The states are the first registers, one after another.\n\
             fn set_state(r: u32, c: u32, v: {ty}) {{\n    set_register_0(r, c, v);\n}}\n\
             fn next_state(r: u32, c: u32) -> {ty} {{\n    var v = {zero};\n{next}    return v;\n}}"
        ));
    }

    /// Adds a function that returns entry `k`, at most the last one, of a table of parameters.
    fn table(&mut self, name: &str, entries: &[u32]) {
        let (last, others) = entries.split_last().expect("bug: a table without entries");
        let last = Self::word(self.scalar(*last));
        let mut cases = String::new();
        for (k, &entry) in others.iter().enumerate() {
            let word = Self::word(self.scalar(entry));
            cases.push_str(&format!("    entry = select(entry, {word}, k == {k}u);\n"));
        }
        self.push(&format!("fn {name}(k: u32) -> u32 {{\n    var entry = {last};\n{cases}    return entry;\n}}"));
    }
}

/// Logarithm of the number of invocations for the columns of a row: enough for all, at most 256.
pub(crate) fn lane_bits(width: u32) -> u32 {
    (u32::BITS - width.saturating_sub(1).leading_zeros()).min(8)
}
