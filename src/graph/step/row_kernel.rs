//! Row kernels: any number of reductions over the same rows, and at most one map of the elements that uses their
//! results.

use crate::graph::canonical_order::BLOCK;
use crate::graph::planned::{Expr, Node, Rows, SizeView};
use crate::graph::reducer::{Accumulator, Reducer};

/// Epilogue of a row reduction: the value that is stored in place of the reduced one.
#[derive(Debug)]
pub(crate) struct Epilogue {
    /// The reduced value as it occurs in `value`: the load of an array that is never stored, at the index of the
    /// result.
    pub(crate) reduced: Expr,
    /// The stored value, an expression in the index of the result.
    pub(crate) value: Expr,
}

/// One reduction of a row kernel.
#[derive(Debug)]
pub(crate) struct RowResult {
    /// The node that the reduction computes.
    pub(crate) out: Node,
    /// The result of each row.
    pub(crate) reducer: Reducer,
    /// The values, with maps substituted.
    pub(crate) value: Expr,
    /// Epilogue of the results, if any.
    pub(crate) epilogue: Option<Epilogue>,
    /// Whether the result is stored; false if only the kernel's own map reads it.
    pub(crate) is_stored: bool,
}

/// A map of the elements that uses the results of their rows.
#[derive(Debug)]
pub(crate) struct RowMap {
    /// The node that the map computes.
    pub(crate) out: Node,
    /// The value of an element. The expression loads results of the kernel, stored or not, at the element's own row.
    pub(crate) value: Expr,
}

/// The reductions and the map of a row reduction step.
#[derive(Debug)]
pub(crate) struct RowKernel {
    /// The reductions, at least one.
    pub(crate) results: Vec<RowResult>,
    /// The map of the same elements, if any.
    pub(crate) map: Option<RowMap>,
}

impl RowKernel {
    /// The distinct accumulators of the kernel, each with its values. Results may share an accumulator.
    pub(crate) fn columns(&self) -> Vec<(Accumulator, &Expr)> {
        let mut out: Vec<(Accumulator, &Expr)> = Vec::new();
        for r in &self.results {
            let column = (r.reducer.accumulator(), &r.value);
            if !out.contains(&column) {
                out.push(column);
            }
        }
        out
    }

    /// Index of the result's accumulator in [`Self::columns`].
    pub(crate) fn column_of(&self, r: &RowResult) -> usize {
        let column = (r.reducer.accumulator(), &r.value);
        self.columns().iter().position(|c| *c == column).expect("bug: a result without an accumulator")
    }

    /// The nodes that the kernel stores.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Node> {
        let results = self.results.iter().filter(|r| r.is_stored).map(|r| &r.out);
        results.chain(self.map.as_ref().map(|m| &m.out))
    }
}

/// Upper bound of the number of elements in rows longer than [`BLOCK`], of `nvals` elements.
pub(crate) fn in_long_rows(sizes: SizeView<'_>, rows: &Rows, nvals: u32) -> u32 {
    match rows {
        Rows::Splits(node) => sizes.known_lengths(node).in_long_rows.min(nvals),
        Rows::Uniform(len) if sizes.value(len) > BLOCK => nvals,
        Rows::Uniform(_) => 0,
    }
}
