//! Stable sort of u32 keys within rows, in runs of rows on all cores. Twin of `shaders/row_sort.wgsl`.

use std::ops::Range;

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::eval::Block;
use super::parallel;
use super::sort::sort_indices;
use super::work_items::{RowStarts, WorkItem};
use crate::graph::expr::Expr;
use crate::graph::node::Rows;

/// Most elements, and most rows, per run; a longer row is a run of its own.
const CHUNK: usize = 4096;

/// Length up to which rows are sorted by comparisons.
const SHORT: usize = 512;

/// Computes the sorting permutation of the first `nrows` rows: for each place, the position of its element.
pub(crate) fn row_sort(inputs: &Inputs, rows: &Rows, nrows: usize, key: &Expr, bits: u32, out: &mut Array) {
    let (starts, program) = (RowStarts::new(inputs, rows), CompiledExpr::new(inputs, key));
    parallel::for_each(
        starts.work_items_of_values(nrows, 1, CHUNK, out.slice_mut()),
        &|WorkItem { first, last, out }| {
            let from = starts.at(first);
            if last - first == 1 && out.len() > CHUNK {
                // A long row: its keys are evaluated on all cores as well.
                let keys = |at: Range<usize>| Block::run(&program, (from + at.start) as u32, at.len()).eval_as::<u32>();
                return sort_indices(keys, bits, from as u32, out);
            }
            let keys = Block::run(&program, from as u32, out.len()).eval_as::<u32>();
            for row in first..last {
                let (start, end) = (starts.at(row) - from, starts.at(row + 1) - from);
                sort_row(&keys[start..end], bits, (from + start) as u32, &mut out[start..end]);
            }
        },
    );
    out.clear_from(starts.at(nrows));
}

/// Computes the sorting permutation of one row's keys, as positions of a row that starts at `start`.
fn sort_row(keys: &[u32], bits: u32, start: u32, out: &mut [u32]) {
    if keys.len() > SHORT {
        return sort_indices(|at| &keys[at], bits, start, out);
    }
    for (slot, at) in out.iter_mut().zip(start..) {
        *slot = at;
    }
    out.sort_by_key(|&at| keys[(at - start) as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sort_algorithms_agree() {
        for len in [0, 1, 2, SHORT, SHORT + 1, 3000] {
            let keys: Vec<u32> = (0..len as u32).map(|k| k.wrapping_mul(0x9e37_79b9) >> 22).collect();
            let mut out = vec![0; len];
            sort_row(&keys, 10, 7, &mut out);
            let mut expected: Vec<u32> = (7..7 + len as u32).collect();
            expected.sort_by_key(|&at| keys[at as usize - 7]);
            assert_eq!(out, expected, "{len}");
        }
    }
}
