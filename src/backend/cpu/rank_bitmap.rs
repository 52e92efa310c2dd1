//! Rank bitmaps: the positions that a condition marks, with their ranks. CPU counterpart of `shaders/rank_bitmap.wgsl`.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::eval::Block;
use super::parallel;
use super::simd::{self, Loop};
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::Mark;
use crate::graph::rank_bitmap::{TILE, TILE_WORDS, WORD};

/// Tiles per evaluated block.
const TILES_PER_BLOCK: usize = 4;

impl CpuPrimitive for Mark<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        rank_bitmap(inputs, &self.keep, inputs.count(&self.count), &mut outputs[0]);
        Ok(())
    }
}

/// Fills `out` with the rank bitmap of the first `n` positions.
pub(crate) fn rank_bitmap(inputs: &Inputs, keep: &Expr, n: usize, out: &mut Array) {
    let expr = CompiledExpr::new(inputs, keep);
    let out: &mut [u32] = out.slice_mut();
    let tiles = out.len() / (1 + TILE_WORDS as usize);
    let (ranks, words) = out.split_at_mut(tiles + 1);
    ranks.fill(0);
    let groups =
        words.chunks_mut(TILES_PER_BLOCK * TILE_WORDS as usize).zip(ranks[..tiles].chunks_mut(TILES_PER_BLOCK));
    parallel::for_each(groups.enumerate().collect(), &|(k, (words, totals))| {
        let start = (k * TILES_PER_BLOCK * TILE as usize).min(n);
        let positions = (words.len() * WORD as usize).min(n - start);
        let marked = Block::consecutive(&expr, start as u32, positions).eval_as::<u8>();
        let mut flags = marked.chunks(WORD as usize);
        for (words, total) in words.chunks_mut(TILE_WORDS as usize).zip(totals) {
            for word in words {
                let bits = bits_of(flags.next().unwrap_or_default());
                *word = (*total << 16) | bits;
                *total += bits.count_ones();
            }
        }
    });
    let mut before = 0;
    for rank in ranks {
        before += std::mem::replace(rank, before);
    }
}

/// Up to 16 flags (bytes of 0 and 1) as bits, the first one in the lowest.
fn bits_of(flags: &[u8]) -> u32 {
    let Ok(flags) = <&[u8; WORD as usize]>::try_from(flags) else {
        return flags.iter().rev().fold(0, |bits, &flag| (bits << 1) | u32::from(flag));
    };
    // Byte `k` of the factor moves flag `7 - k` to bit 56 + 7 - k; no two products share a bit.
    let low = |flags: u64| (flags.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32;
    let flags = u128::from_le_bytes(*flags);
    low(flags as u64) | low((flags >> 64) as u64) << 8
}

/// The ranks of the tiles' first positions, followed by the total number of marked positions.
pub(crate) fn ranks(marks: &Array) -> &[u32] {
    let tiles = marks.len() / (1 + TILE_WORDS as usize);
    &marks.slice()[..tiles + 1]
}

/// The marked positions of a tile.
pub(super) enum MarkedPositions {
    /// All positions.
    Positions(Vec<u32>),
    /// Run-length encoded: the end of each run, counted in marked positions, and its first position.
    Runs { ends: Vec<u32>, firsts: Vec<u32> },
}

/// Least average run length at which marked positions are run-length encoded.
const MIN_RUN_LEN: u32 = 3;

impl MarkedPositions {
    /// The first `most` marked positions of the tile of `words`, which starts at position `first`.
    pub(super) fn new(words: &[u32], first: u32, most: usize) -> Self {
        let (mut total, mut starts, mut before) = (0, 0, 0);
        for word in words {
            let bits = word & 0xffff;
            total += bits.count_ones();
            starts += (bits & !(bits << 1 | before)).count_ones();
            before = bits >> (WORD - 1);
        }
        if total < MIN_RUN_LEN * starts || total as usize > most {
            return Self::Positions(marked(words, first, most));
        }
        let [mut ends, mut firsts] = [(); 2].map(|()| Vec::with_capacity(starts as usize));
        let (mut count, mut next) = (0, u32::MAX);
        for (k, word) in words.iter().enumerate() {
            let mut bits = word & 0xffff;
            while bits != 0 {
                let skipped = bits.trailing_zeros();
                let run = (bits >> skipped).trailing_ones();
                bits &= bits + (1 << skipped);
                let start = first + k as u32 * WORD + skipped;
                count += run;
                if start == next {
                    ends.pop();
                } else {
                    firsts.push(start);
                }
                ends.push(count);
                next = start + run;
            }
        }
        Self::Runs { ends, firsts }
    }
}

/// The first `most` marked positions of the tile of `words`, which starts at position `first`, in ascending order.
pub(crate) fn marked(words: &[u32], first: u32, most: usize) -> Vec<u32> {
    let total: u32 = words.iter().map(|word| (word & 0xffff).count_ones()).sum();
    // Eight numbers are written per byte; the next ones overwrite those beyond its marked positions.
    let mut positions = vec![0; total as usize + 8];
    simd::run(Marked { words, first, out: &mut positions });
    positions.truncate(most.min(total as usize));
    positions
}

/// The indices of the bits that are set in each byte, followed by zeros.
static BITS_OF_BYTES: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 != 0 {
                all[byte][n] = bit as u8;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// See [`marked`].
struct Marked<'l> {
    words: &'l [u32],
    first: u32,
    out: &'l mut [u32],
}

impl Loop for Marked<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { words, mut first, out } = self;
        let mut n = 0;
        for word in words {
            let [low, high, ..] = word.to_le_bytes();
            for byte in [low, high] {
                let to: &mut [u32; 8] = out[n..].first_chunk_mut().expect("bug: more positions than were counted");
                for (to, &bit) in to.iter_mut().zip(&BITS_OF_BYTES[byte as usize]) {
                    *to = first.wrapping_add(u32::from(bit));
                }
                n += byte.count_ones() as usize;
                first = first.wrapping_add(8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::Random;
    use super::*;

    /// The marked positions, bit by bit.
    fn naive(words: &[u32], first: u32) -> Vec<u32> {
        let bits = words.iter().flat_map(|word| (0..WORD).map(move |bit| word >> bit & 1 != 0));
        bits.zip(first..).filter_map(|(is_marked, position)| is_marked.then_some(position)).collect()
    }

    #[test]
    fn runs_are_the_marked_positions() {
        let (mut random, mut in_runs) = (Random(3), 0);
        for _ in 0..2000 {
            let dense = random.below(3);
            let words: Vec<u32> = (0..TILE_WORDS)
                .map(|_| match random.below(1 + dense) {
                    0 => random.below(1 << 16) & random.below(1 << 16),
                    1 => 0xffff,
                    _ => 0xffff >> random.below(16) << random.below(4) & 0xffff,
                })
                .map(|bits| bits | 5 << 16)
                .collect();
            let expected = naive(&words, 4096);
            let most = random.below(TILE) as usize;
            assert_eq!(marked(&words, 4096, most), expected[..most.min(expected.len())]);
            let found = match MarkedPositions::new(&words, 4096, expected.len()) {
                MarkedPositions::Positions(positions) => positions,
                MarkedPositions::Runs { ends, firsts } => {
                    in_runs += 1;
                    let lens = ends.iter().scan(0, |start, &end| Some(end - std::mem::replace(start, end)));
                    firsts.iter().zip(lens).flat_map(|(&first, len)| first..first + len).collect()
                }
            };
            assert_eq!(found, expected);
        }
        assert!((500..1900).contains(&in_runs), "{in_runs}");
    }
}
