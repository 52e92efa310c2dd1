//! Generates vectorized maps, which load and compute four elements per invocation.

use std::fmt::Write;

use super::outputs::packed_bits;
use super::types::{elements_per_word, value_type, vector_type};
use super::{ModuleBuilder, emit};
use crate::graph::planned::{Expr, Node};
use crate::graph::walk::for_each_expr;

impl ModuleBuilder<'_> {
    /// Adds `fn name(q)`, the expression's values at the four positions from `4 q` on, in storage form. The expression
    /// loads only at its own position, and no other function of the kernel reads these arrays. Loads are hoisted out of
    /// branches, so they need bounds checks for arrays that are shorter than the map.
    pub(crate) fn vector_function(&mut self, name: &str, e: &Expr) {
        let mut arrays: Vec<Node> = Vec::new();
        for_each_expr(e, &mut |e| arrays.extend(e.node().filter(|n| !arrays.contains(n)).cloned()));
        let (mut given, mut loads) = (String::new(), String::new());
        for (k, n) in arrays.iter().enumerate() {
            let array = self.array(n);
            write!(given, ", x{k}: {}", value_type(n.dtype())).expect("a string takes text");
            writeln!(loads, "    let v{k} = load_b{array}(q);").expect("a string takes text");
        }
        let mut emitter = emit::Emitter::new(self);
        for (k, n) in arrays.iter().enumerate() {
            emitter = emitter.with_value(&Expr::load(n, Expr::index()), format!("x{k}"));
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
