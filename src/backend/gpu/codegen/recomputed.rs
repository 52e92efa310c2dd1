//! Generates the functions of products that no step stores: the number at a position.

use super::{ModuleBuilder, arithmetic, value_type};
use crate::graph::opcode::ReduceOp;
use crate::graph::planned::Node;

impl ModuleBuilder<'_> {
    /// The name of the function that computes the numbers of a product; `None` if a step stores the array. Adds the
    /// function at the first call.
    pub(super) fn recomputed(&mut self, node: &Node) -> Option<String> {
        let k = self.step.recomputed.iter().position(|of| of.node == *node)?;
        let name = format!("product_{k}");
        if self.products.insert(k) {
            self.product_function(k, &name);
        }
        Some(name)
    }

    /// Adds `fn {name}(i) -> type`: a search for the batch of the position, and the terms in ascending order, which are one
    /// run of the canonical order.
    fn product_function(&mut self, k: usize, name: &str) {
        let step = self.step;
        let p = &step.recomputed[k].product;
        let dtype = p.operands[0].dtype();
        // The rows of the step are not those of the operands.
        let context = self.row_context.take();
        for (part, e) in ["rows", "terms", "columns"].into_iter().zip(&p.sizes) {
            self.value_function(&format!("{name}_{part}"), e);
        }
        for (part, e) in ["left_start", "right_start", "start"].into_iter().zip(&p.starts) {
            self.value_function(&format!("{name}_{part}"), e);
        }
        for (part, e) in ["left", "right"].into_iter().zip(&p.operands) {
            self.factor_function(&format!("{name}_{part}"), e);
        }
        self.row_context = context;
        let (ty, sum) = (value_type(dtype), arithmetic::add_product(self, dtype));
        let add = arithmetic::combine(self, ReduceOp::Sum, dtype);
        let zero = self.number(ReduceOp::Sum.identity(dtype));
        let batches = self.size(p.batches.size());
        // Where a line of a matrix begins, and the distance of its terms.
        let line = |is_row_major: bool, at: &str, lines: &str| match is_row_major {
            true => (format!("{at} * terms"), "1u".to_owned()),
            false => (at.to_owned(), lines.to_owned()),
        };
        let (left, left_step) = line(!p.transposed[0], "row", "rows");
        let (right, right_step) = line(p.transposed[1], "column", "columns");
        self.push(&format!(
            "fn {name}_add(sum: {ty}, a: {ty}, b: {ty}) -> {ty} {{\n    return {sum};\n}}\n\
             fn {name}_sum(a: {ty}, b: {ty}) -> {ty} {{\n    return {add};\n}}\n\
             /// The number at position `i` of a product that is not stored.\n\
             fn {name}(i: u32) -> {ty} {{\n    \
             var g = 0u;\n    var last = max({batches}, 1u) - 1u;\n    \
             while (g < last) {{\n        let mid = g + ((last - g + 1u) >> 1u);\n        \
             if ({name}_start(mid, 0u) <= i) {{\n            g = mid;\n        }} else {{\n            \
             last = mid - 1u;\n        }}\n    }}\n    \
             let rows = {name}_rows(g, 0u);\n    let columns = {name}_columns(g, 0u);\n    \
             let terms = {name}_terms(g, 0u);\n    let at = i - {name}_start(g, 0u);\n    \
             let row = at / max(columns, 1u);\n    let column = at % max(columns, 1u);\n    \
             // Numbers of no matrix are 0.\n    let end = select(0u, terms, row < rows);\n    \
             var left = {name}_left_start(g, 0u) + {left};\n    var right = {name}_right_start(g, 0u) + {right};\n    \
             var sum = {zero};\n    for (var term = 0u; term < end; term++) {{\n        \
             sum = {name}_add(sum, {name}_left(left, 0u), {name}_right(right, 0u));\n        \
             left += {left_step};\n        right += {right_step};\n    }}\n    return {name}_sum({zero}, sum);\n}}"
        ));
    }
}
