//! Generates the monoid of linear recurrences: affine maps under composition. Bit-identical twin of
//! `backend/cpu/row_scan/affine.rs`.

use super::emit::Emitter;
use super::types::value_type;
use super::{ModuleBuilder, arithmetic, pairs};
use crate::dtype::DType;
use crate::graph::opcode::{BinaryOp, ReduceOp};
use crate::graph::planned::Expr;

/// WGSL type of an affine map.
pub(crate) const AFFINE: &str = "Affine";

impl ModuleBuilder<'_> {
    /// Adds the type [`AFFINE`], `load` of the map `y -> decay * y + value`, `identity`, `combine`, and the accessors of
    /// prefixes: terms in `out` and, of partial prefixes, factors in `factor`.
    pub(crate) fn affine_maps(&mut self, value: &Expr, decay: &Expr) {
        let dtype = value.dtype();
        let ty = value_type(dtype);
        let (lines, loaded) = Emitter::new(self).functions(&[decay, value]);
        let [factor, term] = [&loaded[0], &loaded[1]];
        let one = self.number(ReduceOp::Prod.identity(dtype));
        let zero = self.number(ReduceOp::Sum.identity(dtype));
        let combined = self.composition(dtype, &zero);
        self.push(&format!(
            "struct {AFFINE} {{\n    factor: {ty},\n    term: {ty},\n}}\n\
             fn load(i: u32, row: u32) -> {AFFINE} {{\n{lines}    return {AFFINE}({factor}, {term});\n}}\n\
             fn identity() -> {AFFINE} {{\n    return {AFFINE}({one}, {zero});\n}}\n\
             fn combine(a: {AFFINE}, b: {AFFINE}) -> {AFFINE} {{\n{combined}}}\n\
             fn load_prefix(i: u32) -> {AFFINE} {{\n    return {AFFINE}(load_factor(i), load_out(i));\n}}\n\
             fn store_prefix(i: u32, v: {AFFINE}, is_partial: bool) {{\n    store_out(i, v.term);\n    \
             if (is_partial) {{\n        store_factor(i, v.factor);\n    }}\n}}"
        ));
    }

    /// The body of `combine`: the map `a`, followed by `b`. Zeros are found by their bits, since compilers may assume
    /// that floats are finite and that zeros have no sign.
    fn composition(&mut self, dtype: DType, zero: &str) -> String {
        let is_pair = pairs::is_pair(self, dtype);
        let mut binary = |op, a: &str, b: &str| arithmetic::binary(self, op, dtype, a, b, false);
        let factor = binary(BinaryOp::Mul, "a.factor", "b.factor");
        let product = binary(BinaryOp::Mul, "a.term", "b.factor");
        let sum = binary(BinaryOp::Add, "carried", "b.term");
        let or_zero = |x: &str, of: &str| match dtype {
            DType::F32 => format!("select({x}, {zero}, (bitcast<u32>({of}) << 1u) == 0u)"),
            DType::F64 if is_pair => format!("select({x}, {zero}, is_zero_f64({of}))"),
            DType::F64 => format!("select({x}, {zero}, (bitcast<u64>({of}) << 1u) == 0lu)"),
            _ => x.into(),
        };
        let (carried, term) = (or_zero("product", "a.term"), or_zero("sum", "sum"));
        format!(
            "    let product = {product};\n    let carried = {carried};\n    let sum = {sum};\n    \
             let factor = {factor};\n    return {AFFINE}(factor, {term});\n"
        )
    }
}
