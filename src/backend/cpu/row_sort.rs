//! Stable sort of u32 keys within rows, on all cores. CPU counterpart of `shaders/row_sort.wgsl`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use super::pool::Pool;
use super::sort::sort_indices;
use super::work_items::{RowStarts, WorkItem};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan, Rows};
use crate::graph::primitive::RowSort;

/// Most elements, and most rows, per work item. A longer row is a work item by itself.
const CHUNK: usize = 4096;

/// Length up to which rows are sorted by comparisons.
const MAX_COMPARISON_SORT_LEN: usize = 512;

impl CpuPrimitive for RowSort<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let rows = (&self.on.rows, inputs.count(&self.on.nrows));
        row_sort(inputs, step.out.op(), rows, (&self.key, self.bits), &mut outputs[0])
    }
}

/// Computes the sorting permutation of the first `nrows` rows: for each position of the sorted rows, the position of
/// its element.
///
/// # Errors
/// The memory for sorting a long row, 16 bytes per key, is not available.
pub(crate) fn row_sort(
    inputs: &Inputs,
    name: &str,
    (rows, nrows): (&Rows, usize),
    (key, bits): (&Expr, u32),
    out: &mut Array,
) -> Result<()> {
    let failed = OnceLock::new();
    // Another work item may have failed first.
    let note = |sorted: Result<()>| {
        if let Err(error) = sorted {
            let _ = failed.set(error);
        }
    };
    let pool = &inputs.pool;
    let (starts, expr) = (RowStarts::new(inputs, rows), CompiledExpr::new(inputs, key));
    parallel::for_each(
        starts.work_items_of_values(nrows, 1, CHUNK, out.slice_mut()),
        &|WorkItem { first, end, out }| {
            let from = starts.at(first);
            if end - first == 1 && out.len() > CHUNK {
                // The keys of a long row are evaluated on all cores, too.
                let keys =
                    |at: Range<usize>| Block::consecutive(&expr, (from + at.start) as u32, at.len()).eval_as::<u32>();
                return note(sort_indices(pool, name, keys, bits, from as u32, out));
            }
            let keys = Block::consecutive(&expr, from as u32, out.len()).eval_as::<u32>();
            for row in first..end {
                let (start, end) = (starts.at(row) - from, starts.at(row + 1) - from);
                note(sort_row((pool, name), &keys[start..end], bits, (from + start) as u32, &mut out[start..end]));
            }
        },
    );
    out.zero_rest(starts.at(nrows));
    failed.into_inner().map_or(Ok(()), Err)
}

/// Computes the sorting permutation of the keys of a row that starts at position `start`.
fn sort_row((pool, name): (&Arc<Pool>, &str), keys: &[u32], bits: u32, start: u32, out: &mut [u32]) -> Result<()> {
    if keys.len() > MAX_COMPARISON_SORT_LEN {
        return sort_indices(pool, name, |at| &keys[at], bits, start, out);
    }
    for (slot, at) in out.iter_mut().zip(start..) {
        *slot = at;
    }
    out.sort_by_key(|&at| keys[(at - start) as usize]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sort_algorithms_agree() {
        for len in [0, 1, 2, MAX_COMPARISON_SORT_LEN, MAX_COMPARISON_SORT_LEN + 1, 3000] {
            let keys: Vec<u32> = (0..len as u32).map(|k| k.wrapping_mul(0x9e37_79b9) >> 22).collect();
            let mut out = vec![0; len];
            sort_row((&Arc::default(), "test"), &keys, 10, 7, &mut out).expect("small enough");
            let mut expected: Vec<u32> = (7..7 + len as u32).collect();
            expected.sort_by_key(|&at| keys[at as usize - 7]);
            assert_eq!(out, expected, "{len}");
        }
    }
}
