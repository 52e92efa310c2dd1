//! Histograms: the number of positions with each key. Twin of `shaders/histogram.wgsl`.

use std::sync::atomic::Ordering;

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::Histogram;

/// Positions per block.
const BLOCK: usize = 8192;

/// Largest number of bins of which each part of the positions has its own counts: they fit a core's private cache.
const FEW: usize = 1 << 16;

/// Largest number of bins with four tables per part. Increments of one counter wait for one another; equal keys in
/// succession then use different tables.
const INTERLEAVED: usize = 1 << 11;

/// Parts of the positions per core.
const PARTS: usize = 4;

impl CpuPrimitive for Histogram<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        histogram(inputs, &self.key, inputs.count(&self.count), &mut outputs[0]);
        Ok(())
    }
}

/// Fills `out` with the number of the first `n` positions that have each key. Keys beyond `out` are not counted.
pub(crate) fn histogram(inputs: &Inputs, key: &Expr, n: usize, out: &mut Array) {
    let program = CompiledExpr::new(inputs, key);
    let bins = out.len();
    if bins == 0 {
        return;
    }
    out.slice_mut::<u32>().fill(0);
    let blocks = n.div_ceil(BLOCK);
    let for_each_block = |blocks: std::ops::Range<usize>, f: &mut dyn FnMut(&[u32])| {
        for k in blocks {
            let start = k * BLOCK;
            f(&Block::consecutive(&program, start as u32, BLOCK.min(n - start)).eval_as::<u32>());
        }
    };
    if bins > FEW {
        let counts = out.atomic_words();
        parallel::for_each_index(blocks, &|k| {
            for_each_block(k..k + 1, &mut |keys| {
                for count in keys.iter().filter_map(|&key| counts.get(key as usize)) {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        return;
    }
    let parts = (PARTS * rayon::current_num_threads()).min(blocks);
    let counted = parallel::collect(parts, &|part| {
        let blocks = blocks * part / parts..blocks * (part + 1) / parts;
        if bins <= INTERLEAVED {
            let mut counts = vec![[0u32; 4]; bins + 1];
            for_each_block(blocks, &mut |keys| count_interleaved(keys, &mut counts));
            counts.iter().map(|lanes| lanes.iter().sum()).collect()
        } else {
            // One more counter, for keys that are not counted.
            let mut counts = vec![0u32; bins + 1];
            for_each_block(blocks, &mut |keys| keys.iter().for_each(|&key| counts[(key as usize).min(bins)] += 1));
            counts
        }
    });
    for counts in counted {
        out.slice_mut::<u32>().iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
    }
}

/// Counts keys in four tables. The last entry counts the keys of no bin.
fn count_interleaved(keys: &[u32], counts: &mut [[u32; 4]]) {
    let none = counts.len() - 1;
    let (fours, rest) = keys.as_chunks::<4>();
    for four in fours {
        for (lane, &key) in four.iter().enumerate() {
            counts[(key as usize).min(none)][lane] += 1;
        }
    }
    for &key in rest {
        counts[(key as usize).min(none)][0] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_counts_are_the_counts() {
        let keys: Vec<u32> = (0..1003u32).map(|k| k.wrapping_mul(0x9E37_79B9) >> 28).chain([u32::MAX, 7, 10]).collect();
        let mut counts = vec![[0; 4]; 11];
        count_interleaved(&keys, &mut counts);
        for (bin, lanes) in counts[..10].iter().enumerate() {
            let expected = keys.iter().filter(|&&key| key as usize == bin).count();
            assert_eq!(lanes.iter().sum::<u32>() as usize, expected, "bin {bin}");
        }
    }
}
