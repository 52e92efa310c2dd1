//! Exclusive prefix sums of u32. CPU counterpart of `shaders/scan.wgsl`.
//!
//! The cores evaluate blocks and scan them in place; a second pass adds the total before each block.

use rayon::prelude::*;

use super::array::Array;
use super::block_scan;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::plan::Step;
use crate::graph::planned::InPlan;
use crate::graph::primitive::Scan;

/// Positions per block.
const BLOCK: usize = 8192;

impl CpuPrimitive for Scan<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let expr = CompiledExpr::new(inputs, &self.value);
        let values = |start: usize, out: &mut [u32]| {
            Block::consecutive(&expr, start as u32, out.len()).store(DType::U32, bytemuck::cast_slice_mut(out));
        };
        let total = exclusive_sum(inputs.count(&self.count), values, outputs[0].slice_mut());
        if total <= u64::from(u32::MAX) {
            return Ok(());
        }
        Err(Error::Limit {
            what: step.out.op().into(),
            requested: total,
            unit: "elements",
            limit: u64::from(u32::MAX),
            whose: "a tensor".into(),
            location: caller(),
        })
    }
}

/// Fills `out` with the exclusive prefix sums of the first `n` values, then repeats the total, so that rows beyond `n`
/// are empty. `values` stores the values from a position on into a slice. Sums wrap; the returned total does not.
///
/// # Panics
/// If `out` is not longer than `n`.
pub fn exclusive_sum(n: usize, values: impl Fn(usize, &mut [u32]) + Sync, out: &mut [u32]) -> u64 {
    assert!(out.len() > n, "an exclusive sum has one entry more than its input");
    let (head, tail) = out.split_at_mut(n);
    let total = if n > BLOCK { rayon::scope(|_| sum_blocks(head, &values)) } else { sum_blocks(head, &values) };
    tail.fill(total as u32);
    total
}

/// Scans all values; returns the total. A caller in rayon's thread pool stays in it between the two passes.
fn sum_blocks(head: &mut [u32], values: &(impl Fn(usize, &mut [u32]) + Sync)) -> u64 {
    let mut starts: Vec<u64> = (head.par_chunks_mut(BLOCK).enumerate())
        .map(|(k, block)| {
            values(k * BLOCK, block);
            block_scan::exclusive_sum(block)
        })
        .collect();
    let mut total = 0;
    for sum in &mut starts {
        let before = total;
        total += *sum;
        *sum = before;
    }
    // The first block has no offset. It is excluded by slicing rather than by `skip`, which rayon executes on another
    // thread.
    let rest = head.get_mut(BLOCK..).unwrap_or_default();
    rest.par_chunks_mut(BLOCK).zip(starts.get(1..).unwrap_or_default()).for_each(|(block, &start)| {
        for slot in block {
            *slot = slot.wrapping_add(start as u32);
        }
    });
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(values: &[u32], out: &mut [u32]) -> u64 {
        exclusive_sum(values.len(), |start, out| out.copy_from_slice(&values[start..start + out.len()]), out)
    }

    #[test]
    fn entries_beyond_the_input_repeat_the_total() {
        let mut out = [9; 6];
        assert_eq!(sums(&[3, 0, 4], &mut out), 7);
        assert_eq!(out, [0, 3, 3, 7, 7, 7]);
        assert_eq!(sums(&[], &mut out[..1]), 0);
        assert_eq!(out[0], 0);
    }

    #[test]
    fn wrapping_sums_return_the_true_total() {
        let mut out = [0; 3];
        assert_eq!(sums(&[u32::MAX, 0], &mut out), u64::from(u32::MAX));
        assert_eq!(sums(&[u32::MAX, 1], &mut out), 1 << 32);
        assert_eq!(out, [0, u32::MAX, 0]);
    }

    #[test]
    fn blocks_are_offset_by_the_previous_total() {
        for n in [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let values: Vec<u32> = (0..n as u32).map(|k| k.wrapping_mul(0x9E37_79B9) >> 12).collect();
            let mut out = vec![7; n + 2];
            let total = sums(&values, &mut out);
            let before = |k: usize| values[..k].iter().map(|&v| u64::from(v)).sum::<u64>();
            assert_eq!(total, before(n));
            for k in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, n - 1, n, n + 1] {
                assert_eq!(out.get(k), (k < n + 2).then(|| before(k.min(n)) as u32).as_ref(), "{k} of {n}");
            }
        }
    }
}
