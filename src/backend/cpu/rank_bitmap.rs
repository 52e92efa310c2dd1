//! Rank bitmaps: the positions that a condition marks, with their ranks. CPU counterpart of `shaders/rank_bitmap.wgsl`.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::eval::Block;
use super::parallel;
use crate::graph::expr::Expr;
use crate::graph::rank_bitmap::{TILE, TILE_WORDS, WORD};

/// Tiles per evaluated block.
const TILES_PER_BLOCK: usize = 4;

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
            return Self::Positions(marked(words, first).take(most).collect());
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

/// The marked positions of the tile of `words`, which starts at position `first`, in ascending order.
pub(crate) fn marked(words: &[u32], first: u32) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(move |(k, &word)| {
        let mut left = word & 0xffff;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(first + k as u32 * WORD + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::random_encodings::Random;
    use super::*;

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
            let expected: Vec<u32> = marked(&words, 4096).collect();
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
