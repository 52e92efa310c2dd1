//! Compaction: the values at the positions that stay. Twin of `shaders/compact.wgsl`.

use rayon::prelude::*;

use super::array::{Array, Stored};
use super::eval::{Block, Inputs, Program};
use super::lanes::Lane;
use crate::dtype::DType;
use crate::graph::expr::Expr;

/// Positions looked at together.
const BLOCK: usize = 2048;

/// Which positions of a block stay, a bit each.
type Flags = [u64; BLOCK / 64];

/// How many positions stay.
fn staying(flags: &Flags) -> usize {
    flags.iter().map(|w| w.count_ones() as usize).sum()
}

/// The positions, counted from `start` on, whose bits are set.
fn positions(flags: &Flags, start: u32) -> Vec<u32> {
    let mut out = Vec::with_capacity(staying(flags));
    for (k, &word) in flags.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            out.push(start + k as u32 * 64 + left.trailing_zeros());
            left &= left - 1;
        }
    }
    out
}

/// Cuts `out` where the values of each block begin: first all are counted, so that every block then knows its place.
fn places<'o, S>(counts: &[usize], mut out: &'o mut [S]) -> Vec<&'o mut [S]> {
    let mut places = Vec::with_capacity(counts.len());
    for &n in counts {
        let (own, rest) = out.split_at_mut(n.min(out.len()));
        places.push(own);
        out = rest;
    }
    places
}

fn fill<T: Lane + Send + Sync, S: Stored>(
    inputs: &Inputs,
    blocks: &[Flags],
    value: &Expr,
    out: &mut [S],
    store: impl Fn(T) -> S + Sync,
) {
    let counts: Vec<usize> = blocks.iter().map(staying).collect();
    let program = Program::new(inputs, value);
    places(&counts, out).into_par_iter().zip(blocks).enumerate().for_each(|(k, (out, flags))| {
        let positions = positions(flags, (k * BLOCK) as u32);
        let n = positions.len().min(out.len());
        Block::list(&program, positions).store::<T, S>(&mut out[..n], &store);
    });
}

/// Fills `out` with the values of those of the first `n` positions that stay, in order.
pub(crate) fn compact(inputs: &Inputs, keep: &Expr, value: &Expr, n: usize, out: &mut Array) {
    let program = Program::new(inputs, keep);
    let blocks: Vec<Flags> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map(|k| {
            let start = k * BLOCK;
            let stays = Block::run(&program, start as u32, BLOCK.min(n - start)).eval_as::<bool>();
            let mut flags = [0u64; BLOCK / 64];
            for (i, _) in stays.iter().enumerate().filter(|(_, stays)| **stays) {
                flags[i / 64] |= 1 << (i % 64);
            }
            flags
        })
        .collect();
    match value.dtype() {
        DType::Bool => fill(inputs, &blocks, value, out.slice_mut::<u8>(), |v: bool| u8::from(v)),
        DType::U8 => fill(inputs, &blocks, value, out.slice_mut::<u8>(), |v: u8| v),
        DType::I8 => fill(inputs, &blocks, value, out.slice_mut::<i8>(), |v: i8| v),
        DType::U16 => fill(inputs, &blocks, value, out.slice_mut::<u16>(), |v: u16| v),
        DType::I16 => fill(inputs, &blocks, value, out.slice_mut::<i16>(), |v: i16| v),
        DType::I32 => fill(inputs, &blocks, value, out.slice_mut::<i32>(), |v: i32| v),
        DType::U32 => fill(inputs, &blocks, value, out.slice_mut::<u32>(), |v: u32| v),
        DType::I64 => fill(inputs, &blocks, value, out.slice_mut::<i64>(), |v: i64| v),
        DType::U64 => fill(inputs, &blocks, value, out.slice_mut::<u64>(), |v: u64| v),
        DType::F16 => fill(inputs, &blocks, value, out.slice_mut::<half::f16>(), |v: half::f16| v),
        DType::BF16 => fill(inputs, &blocks, value, out.slice_mut::<half::bf16>(), |v: half::bf16| v),
        DType::F32 => fill(inputs, &blocks, value, out.slice_mut::<f32>(), |v: f32| v),
        DType::F64 => fill(inputs, &blocks, value, out.slice_mut::<f64>(), |v: f64| v),
        DType::Str => unreachable!("bug: strings are not arrays"),
    }
    out.clear_from(blocks.iter().map(staying).sum());
}
