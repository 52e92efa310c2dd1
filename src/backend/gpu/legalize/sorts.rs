//! Sorts of rows and selections from them, as sorts of the whole array.

use super::Legalizer;
use crate::dtype::DType;
use crate::graph::opcode::BinaryOp;
use crate::graph::planned::{Expr, Extent, Rows};

impl Legalizer<'_> {
    /// Source positions of the elements of sorted rows, by stable sorts: by the words of the key, least significant
    /// first, each with its number of bits, then by row.
    pub(in crate::backend::gpu) fn row_sort_by_sorts(
        &mut self,
        rows: &Rows,
        nrows: &Extent,
        nvals: &Extent,
        words: &[(Expr, u32)],
    ) -> Expr {
        let all = Extent::known(self.sizes.capacity(nvals));
        let mut position = Expr::index();
        for (word, bits) in words {
            let (word, count) = (self.stored_input(&word.at(&position), nvals, 1), self.count(nvals));
            position = position.at(&Expr::load(&self.sort(word, count, *bits), Expr::index()));
        }
        let splits = self.splits(rows, nrows);
        let row = self.stored_input(&Expr::row_of(&splits, position.clone()), &all, 1);
        let by_row = self.sort(row, all, u32::BITS - self.sizes.capacity(nrows).leading_zeros());
        position.at(&Expr::load(&by_row, Expr::index()))
    }

    /// Source positions of the `k` smallest keys of each row, or 0, by sorts.
    pub(in crate::backend::gpu) fn top_k_by_sorts(
        &mut self,
        rows: &Rows,
        nrows: &Extent,
        nvals: &Extent,
        key: &Expr,
        k: u32,
    ) -> Expr {
        let word = |e: Expr| (e.cast(DType::U32), u32::BITS);
        let words = match key.dtype() {
            DType::U64 => {
                vec![word(key.clone()), word(key.clone().binary(BinaryOp::Shr, Expr::scalar(u64::from(u32::BITS))))]
            }
            _ => vec![(key.clone(), u32::BITS)],
        };
        let sorted = self.row_sort_by_sorts(rows, nrows, nvals, &words);
        let sorted = self.stored_input(&sorted, &Extent::known(self.sizes.capacity(nvals)), 1);
        let splits = self.splits(rows, nrows);
        let (row, place) = (Expr::index().div(Expr::u32(k)), Expr::index().rem(Expr::u32(k)));
        let start = Expr::load(&splits, row.clone());
        let at = start.add(place);
        let is_element = at.clone().lt(Expr::load(&splits, row.add(Expr::u32(1))));
        is_element.select(sorted.at(&at), Expr::u32(0))
    }
}
