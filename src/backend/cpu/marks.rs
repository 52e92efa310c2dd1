//! Marks: which positions stay, and their ranks. Twin of `shaders/marks.wgsl`.

use rayon::prelude::*;

use super::array::Array;
use super::eval::{Block, Inputs, Program};
use crate::graph::expr::Expr;
use crate::graph::marks::{TILE, TILE_WORDS, WORD};

/// Fills `out` with the marks of the first `n` positions.
pub(crate) fn marks(inputs: &Inputs, keep: &Expr, n: usize, out: &mut Array) {
    let program = Program::new(inputs, keep);
    let out: &mut [u32] = out.slice_mut();
    let tiles = out.len() / (1 + TILE_WORDS as usize);
    let (ranks, words) = out.split_at_mut(tiles + 1);
    ranks.fill(0);
    words.par_chunks_mut(TILE_WORDS as usize).zip(&mut *ranks).enumerate().for_each(|(k, (words, total))| {
        let start = (k * TILE as usize).min(n);
        let stays = Block::run(&program, start as u32, (TILE as usize).min(n - start)).eval_as::<bool>();
        let mut flags = stays.chunks(WORD as usize);
        for word in words {
            let flags = flags.next().unwrap_or_default();
            let bits = flags.iter().rev().fold(0, |bits, &stays| (bits << 1) | u32::from(stays));
            *word = (*total << 16) | bits;
            *total += bits.count_ones();
        }
    });
    let mut before = 0;
    for rank in ranks {
        before += std::mem::replace(rank, before);
    }
}

/// The ranks of the tiles' first positions, and how many are marked in all.
pub(crate) fn ranks(marks: &Array) -> &[u32] {
    let tiles = marks.len() / (1 + TILE_WORDS as usize);
    &marks.slice()[..tiles + 1]
}

/// The marked positions of a tile, whose words these are, in order; `first` is its first position.
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
