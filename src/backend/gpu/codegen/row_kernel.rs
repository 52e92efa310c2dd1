//! Generates the functions of `shaders/row_reduce.wgsl`: the loads, accumulators, epilogues and stores of a row kernel.

use super::emit::Emitter;
use super::kernel_module::KernelModule;
use super::outputs::packed_bits;
use super::storage::{Binding, Element, StorageArray};
use super::types::{elements_per_word, value_type};
use super::{ModuleBuilder, accumulate, arithmetic};
use crate::dtype::DType;
use crate::graph::planned::{Expr, Node, Rows};
use crate::graph::reducer::Accumulator;
use crate::graph::step::row_kernel::{RowKernel, RowMap, RowResult};
use crate::graph::walk::for_each_expr;

/// Whether several elements of the node's array share a word. Several invocations then store to one word: each sets its
/// own bits by an atomic `or`, and the word is cleared beforehand.
pub(crate) fn shares_words(node: &Node) -> bool {
    elements_per_word(node.dtype()) > 1
}

/// The statement that stores element `i` of an output.
fn store(out: &str, dtype: DType, value: &str) -> String {
    match elements_per_word(dtype) {
        1 => format!("store_{out}(i, {value});"),
        lanes => {
            let (shift, mask, width) = (lanes.trailing_zeros(), lanes - 1, 32 / lanes);
            let bits = packed_bits(dtype);
            format!("let v = {value};\n        or_{out}(i >> {shift}u, {bits} << ((i & {mask}u) * {width}u));")
        }
    }
}

impl ModuleBuilder<'_> {
    /// Adds `load`, `identity`, `combine` and `store`, and the functions of the element map. Returns the name of the
    /// accumulator's type.
    pub(crate) fn row_kernel(&mut self, kernel: &RowKernel, rows: &Rows) -> String {
        let columns: Vec<(Accumulator, Expr)> = kernel.columns().into_iter().map(|(a, e)| (a, e.clone())).collect();
        let elem = match columns.as_slice() {
            [(accumulator @ Accumulator::Op(_), value)] => {
                self.value_function("load", value);
                accumulate::define(self, *accumulator, value.dtype(), "");
                value_type(value.dtype()).to_owned()
            }
            columns => {
                self.state_functions(columns);
                "State".into()
            }
        };
        let is_plain = elem != "State";
        let mut of = |r: &RowResult| {
            let v = if is_plain { "v".into() } else { format!("v.c{}", kernel.column_of(r)) };
            accumulate::result(self, r.reducer, r.value.dtype(), &v)
        };
        let results: Vec<String> = kernel.results.iter().map(&mut of).collect();
        let names = output_names(kernel);
        let mut body = String::new();
        let stored = kernel.results.iter().zip(&results).filter(|(r, _)| r.is_stored);
        for ((r, v), out) in stored.zip(&names) {
            body.push_str(&self.stored_result(r, v, out));
        }
        self.push(&format!("fn store(i: u32, row: u32, v: Elem) {{\n{body}}}"));
        self.row_map(kernel, rows, &results);
        elem
    }

    /// Whether `load` uses its argument `row`.
    pub(crate) fn loads_by_row(&self, kernel: &RowKernel) -> bool {
        let mut found = false;
        for (_, value) in kernel.columns() {
            for_each_expr(value, &mut |e| {
                let own = e.own_row().map(|(splits, inner)| (splits.clone(), inner));
                found |= own.is_some() && own == self.row_context;
            });
        }
        found
    }

    /// Adds the functions of a state of several fields, one per column.
    fn state_functions(&mut self, columns: &[(Accumulator, Expr)]) {
        let values: Vec<&Expr> = columns.iter().map(|(_, e)| e).collect();
        let (lines, loaded) = Emitter::new(self).functions(&values);
        let (mut fields, mut of_values) = (String::new(), Vec::new());
        let (mut identities, mut combined) = (Vec::new(), Vec::new());
        for (k, ((accumulator, value), x)) in columns.iter().zip(loaded).enumerate() {
            let dtype = value.dtype();
            accumulate::define(self, *accumulator, dtype, &format!("c{k}_"));
            fields.push_str(&format!("    c{k}: {},\n", accumulate::state(*accumulator, dtype)));
            of_values.push(accumulate::of_value(self, *accumulator, dtype, &x));
            identities.push(format!("c{k}_identity()"));
            combined.push(format!("c{k}_combine(a.c{k}, b.c{k})"));
        }
        self.push(&format!(
            "struct State {{\n{fields}}}\n\
             fn load(i: u32, row: u32) -> State {{\n{lines}    return State({});\n}}\n\
             fn identity() -> State {{\n    return State({});\n}}\n\
             fn combine(a: State, b: State) -> State {{\n    return State({});\n}}",
            of_values.join(", "),
            identities.join(", "),
            combined.join(", ")
        ));
    }

    /// The statements that store a result whose reduced value is `v`.
    fn stored_result(&mut self, r: &RowResult, v: &str, out: &str) -> String {
        if r.epilogue.is_none() {
            return format!("    store_{out}(i, {v});\n");
        }
        let (lines, result) = self.finished(r, v);
        format!("    {{\n{lines}    {}\n    }}\n", store(out, r.out.dtype(), &result))
    }

    /// The epilogue of a result whose reduced value is `v`: its lines, and the name of the final value.
    fn finished(&mut self, r: &RowResult, v: &str) -> (String, String) {
        // Guards a product against contraction into a sum, as a store and a load would.
        let dtype = r.value.dtype();
        let v = if dtype.is_float() { arithmetic::guard(self, dtype, v) } else { v.into() };
        match &r.epilogue {
            None => (String::new(), v),
            Some(epilogue) => {
                let emitter = Emitter::new(self).with_value(&epilogue.reduced, "reduced".into());
                let (lines, result) = emitter.function(&epilogue.value);
                (format!("    let reduced = {v};\n{lines}"), result)
            }
        }
    }

    /// Adds the functions of the element map.
    fn row_map(&mut self, kernel: &RowKernel, rows: &Rows, reduced: &[String]) {
        let Some(RowMap { out, value, .. }) = &kernel.map else {
            return self.push(
                "const MAPS = false;\nstruct Row {\n    none: u32,\n}\n\
                 fn finished(row: u32, v: Elem) -> Row {\n    return Row();\n}\nfn map(i: u32, row: u32, r: Row) {\n}",
            );
        };
        let (mut fields, mut body, mut all) = (String::new(), String::new(), Vec::new());
        for (k, (r, v)) in kernel.results.iter().zip(reduced).enumerate() {
            let ty = value_type(r.out.dtype());
            let (lines, result) = self.finished(r, v);
            fields.push_str(&format!("    r{k}: {ty},\n"));
            body.push_str(&format!("    var r{k}: {ty};\n    {{\n{lines}    r{k} = {result};\n    }}\n"));
            all.push(format!("r{k}"));
        }
        let own = rows.row_of(Expr::index());
        let emitter = kernel.results.iter().enumerate().fold(Emitter::new(self), |emitter, (k, r)| {
            emitter.with_value(&Expr::load(&r.out, own.clone()), format!("r.r{k}"))
        });
        let (lines, result) = emitter.function(value);
        self.push(&format!(
            "const MAPS = true;\nstruct Row {{\n{fields}}}\n\
             fn finished(row: u32, v: Elem) -> Row {{\n    let i = row;\n{body}    return Row({});\n}}\n\
             fn map(i: u32, row: u32, r: Row) {{\n{lines}    {}\n}}",
            all.join(", "),
            store("mapped", out.dtype(), &result)
        ));
    }

    /// Completes the module of a row kernel, with the name and the bytes of the accumulator's type.
    pub(crate) fn finish_row_kernel(
        self,
        templates: &[&'static str],
        (elem, bytes): (&str, usize),
        kernel: &RowKernel,
    ) -> KernelModule {
        let part = StorageArray::new("part", Element::new("Elem", bytes), Binding::Scratch(0));
        let names = output_names(kernel).into_iter().zip(kernel.outputs());
        let outputs = names.map(|(name, node)| (name, Element::of_shared_words(node.dtype()))).collect();
        self.finish_with(templates, elem, outputs, vec![part])
    }
}

/// The names of the outputs in the text, in order.
fn output_names(kernel: &RowKernel) -> Vec<String> {
    let stored = kernel.results.iter().filter(|r| r.is_stored).count();
    let results = (0..stored).map(|k| if k == 0 { "out".into() } else { format!("out{k}") });
    results.chain(kernel.map.as_ref().map(|_| "mapped".into())).collect()
}
