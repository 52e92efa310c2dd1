//! Products whose left matrices are computed in blocks of rows and terms, since they read a product that is not stored.

use std::ops::Range;

use super::super::compiled_expr::CompiledExpr;
use super::super::encoding::Value;
use super::super::eval::Block;
use super::super::number::Number;
use super::blocked::{Panels, by_parts, product_of_range};
use super::factor::Factor;
use super::work::Batch;
use crate::graph::canonical_order::product::SECTION;

/// Numbers of the left matrix per block.
const NUMBERS: usize = 1 << 16;

/// Left matrices, as an expression in the flat position.
pub(super) struct ComputedLeft<'a> {
    pub(super) numbers: CompiledExpr<'a>,
    /// Whether they are stored as terms by rows.
    pub(super) transposed: bool,
}

impl ComputedLeft<'_> {
    /// Computes the rows `out` of the product of a batch, from row `first` on, with the right factor.
    pub(super) fn product<T: Value + Number, const N: usize>(
        &self,
        batch: &Batch,
        first: usize,
        right: Factor<'_, T>,
        out: &mut [&mut [T]],
        panels: &mut Panels<T, N>,
    ) {
        let rows = NUMBERS / batch.terms.clamp(1, SECTION as usize);
        for (k, out) in out.chunks_mut(rows).enumerate() {
            let rows = first + k * rows..first + k * rows + out.len();
            by_parts(0..batch.terms, out, &mut |terms, out| {
                let values = self.block(batch, rows.clone(), terms.clone()).eval_as::<T>();
                let left = Factor::left(&values, 0, (rows.len(), terms.len()), self.transposed);
                product_of_range(left, right.skip_terms(terms.start), (terms.len(), batch.terms), out, panels);
            });
        }
    }

    /// The numbers of these rows and terms, in the order in which they are stored.
    fn block(&self, batch: &Batch, rows: Range<usize>, terms: Range<usize>) -> Block<'_> {
        let (lines, columns, width) = match self.transposed {
            false => (rows, terms, batch.terms),
            true => (terms, rows, batch.rows),
        };
        let starts = lines.map(|line| (batch.left + line * width + columns.start) as u32).collect();
        Block::sequences(&self.numbers, starts, columns.len() as u32)
    }
}
