//! Doubles of devices that have none: as pairs of words.

use std::collections::HashSet;

use super::Step;
use crate::dtype::DType;
use crate::graph::planned::{Expr, ExprKind, Node};
use crate::graph::walk::for_each_expr;

/// Representation of 64-bit floats in a device's kernels. Storage is 8 bytes, the bits of IEEE 754, in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Float64Repr {
    /// Native 64-bit floats. Their bits are native 64-bit integers.
    Native,
    /// Pairs of 32-bit words, computed in integers. In kernels with these, 64-bit integers are pairs too.
    Pairs,
}

/// Recipes that add, multiply or compare what their expressions give.
const COMBINING: [&str; 5] = ["row_reduce", "matmul", "row_scan", "scan_rows", "tile_fold"];

impl Step {
    /// Whether doubles are pairs of words in the step's kernels.
    pub(crate) fn emulates_doubles(&self) -> bool {
        self.limits.float64 == Float64Repr::Pairs && self.dtypes().contains(&DType::F64)
    }

    /// Whether the step's kernels compute with such doubles, instead of moving them only.
    pub(crate) fn computes_pairs_of_words(&self) -> bool {
        let is_double = |e: &Expr| e.dtype() == DType::F64;
        let mut computes = false;
        self.for_each_value(&mut |e| {
            computes |= match e.kind() {
                ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Cast(_) => {
                    is_double(e) || e.operands().any(is_double)
                }
                _ => false,
            };
        });
        self.emulates_doubles() && (computes || COMBINING.contains(&self.family()))
    }

    /// The dtypes of the step's arrays and values.
    pub(crate) fn dtypes(&self) -> HashSet<DType> {
        let mut out = HashSet::from([self.out.dtype()]);
        out.extend(self.reads.iter().map(Node::dtype));
        self.for_each_value(&mut |e| {
            out.insert(e.dtype());
        });
        out
    }

    /// Calls `f` with every expression of the step.
    fn for_each_value(&self, f: &mut impl FnMut(&Expr)) {
        let row_kernel = self.row_kernel.iter().flat_map(|kernel| {
            let finished = kernel.results.iter().filter_map(|r| r.epilogue.as_ref()).map(|f| &f.value);
            kernel.results.iter().map(|r| &r.value).chain(finished).chain(kernel.map.iter().map(|m| &m.value))
        });
        let products = self.recomputed.iter().flat_map(|of| of.product.operands.iter());
        for e in self.recipe.exprs().into_iter().chain(row_kernel).chain(products) {
            for_each_expr(e, f);
        }
    }
}
