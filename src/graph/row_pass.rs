//! What one pass over rows gives: any number of reductions, and at most one map of the values by what they gave.

use super::expr::Expr;
use super::finish::Finish;
use super::node::{Node, Rows};
use super::reducer::{Accumulator, Reducer};
use super::step::Step;

/// Longest row that a workgroup reduces at once, for one number an element: longer ones take more kernels.
pub(crate) const BLOCK: u32 = 256;

/// Most bytes that a pass keeps of a row. A workgroup keeps that for each of 264 lanes where its tile is the smallest,
/// and for two rows more; its lists of rows and blocks leave 14,276 bytes of 16 KiB, the memory that every device has.
/// So it is 14,276 / 266, in whole words.
pub(crate) const MAX_STATE: usize = 52;

/// One reduction of a pass.
#[derive(Debug)]
pub(crate) struct RowResult {
    /// The node that it computes.
    pub(crate) out: Node,
    /// What of the rows.
    pub(crate) reducer: Reducer,
    /// The values, with maps substituted.
    pub(crate) value: Expr,
    /// What becomes of the results as they are stored, if anything.
    pub(crate) finish: Option<Finish>,
    /// Whether it is stored: where only the pass's own map reads it, it is not.
    pub(crate) is_stored: bool,
}

/// A map of the elements of the rows by what their rows gave.
#[derive(Debug)]
pub(crate) struct RowMap {
    /// The node that it computes.
    pub(crate) out: Node,
    /// The value of an element. It loads results of the pass, which need not be stored, at the element's own row.
    pub(crate) value: Expr,
}

/// What a step of [`Recipe::Reduce`] computes.
#[derive(Debug)]
pub(crate) struct RowPass {
    /// The reductions, at least one.
    pub(crate) results: Vec<RowResult>,
    /// The map of the same elements, if there is one.
    pub(crate) map: Option<RowMap>,
}

impl RowPass {
    /// The accumulators that it needs, each with its values: results may share them.
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

    /// The column of a result.
    pub(crate) fn column_of(&self, r: &RowResult) -> usize {
        let column = (r.reducer.accumulator(), &r.value);
        self.columns().iter().position(|c| *c == column).expect("bug: a result of no column")
    }

    /// The nodes that it stores.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Node> {
        let results = self.results.iter().filter(|r| r.is_stored).map(|r| &r.out);
        results.chain(self.map.as_ref().map(|m| &m.out))
    }
}

impl Step {
    /// The arrays that it stores.
    pub(crate) fn outputs(&self) -> Vec<&Node> {
        match &self.pass {
            Some(pass) => pass.outputs().collect(),
            None => vec![&self.out],
        }
    }
}

/// How many of `nvals` elements are in rows longer than a block of one number an element, at most.
pub(crate) fn in_long_rows(rows: &Rows, nvals: u32) -> u32 {
    match rows {
        Rows::Splits(node) => node.values_in_long_rows().min(nvals),
        Rows::Uniform(len) if len.value() > BLOCK => nvals,
        Rows::Uniform(_) => 0,
    }
}
