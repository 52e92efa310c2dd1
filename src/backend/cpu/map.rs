//! Evaluates maps and assertions over positions, in blocks, on all cores.

use std::sync::Arc;

use half::{bf16, f16};
use rayon::prelude::*;

use super::array::{Array, Stored};
use super::eval::{Block, Inputs, Program};
use super::lanes::Lane;
use super::number::Number;
use crate::dtype::DType;
use crate::graph::expr::{Check, Expr};

/// Positions per block. A dozen arrays of this length fit a core's private cache, and the fixed cost per block is small
/// in comparison.
const BLOCK: usize = 8192;

/// Most positions per block whose values are copied in runs. Such a block computes only a few numbers per row, so the
/// fixed cost per block weighs more, the shorter the rows are.
const COPIED: usize = 8 * BLOCK;

/// Fills `out` block by block. `f` fills one block from a position on and returns whether the block was copied in runs.
/// The result for the first block sets the size of the others.
fn by_blocks<S: Send>(out: &mut [S], f: impl Fn(u32, &mut [S]) -> bool + Sync) {
    let n = out.len();
    let (first, rest) = out.split_at_mut(n.min(BLOCK));
    let fair = n / (4 * rayon::current_num_threads());
    let block = if f(0, first) { fair.clamp(BLOCK, COPIED) } else { BLOCK };
    rest.par_chunks_mut(block).enumerate().for_each(|(k, out)| {
        f((BLOCK + k * block) as u32, out);
    });
}

fn fill<T: Lane + Send + Sync, S: Stored>(inputs: &Inputs, e: &Expr, out: &mut [S], store: impl Fn(T) -> S + Sync) {
    let program = Program::new(inputs, e);
    by_blocks(out, |start, out| Block::run(&program, start, out.len()).store::<T, S>(out, &store));
}

/// As [`fill`], for types that are stored as they are computed.
fn fill_numbers<T: Number + Stored>(inputs: &Inputs, e: &Expr, out: &mut [T]) {
    let program = Program::new(inputs, e);
    by_blocks(out, |start, out| Block::run(&program, start, out.len()).store_numbers(out));
}

/// Fills the first `n` elements of `out` with the expression's values.
pub(crate) fn map(inputs: &Inputs, e: &Expr, n: usize, out: &mut Array) {
    match e.dtype() {
        DType::Bool => fill(inputs, e, &mut out.slice_mut::<u8>()[..n], |v: bool| u8::from(v)),
        DType::U8 => fill(inputs, e, &mut out.slice_mut::<u8>()[..n], |v: u8| v),
        DType::I8 => fill(inputs, e, &mut out.slice_mut::<i8>()[..n], |v: i8| v),
        DType::U16 => fill(inputs, e, &mut out.slice_mut::<u16>()[..n], |v: u16| v),
        DType::I16 => fill(inputs, e, &mut out.slice_mut::<i16>()[..n], |v: i16| v),
        DType::I32 => fill_numbers::<i32>(inputs, e, &mut out.slice_mut()[..n]),
        DType::U32 => fill_numbers::<u32>(inputs, e, &mut out.slice_mut()[..n]),
        DType::I64 => fill_numbers::<i64>(inputs, e, &mut out.slice_mut()[..n]),
        DType::U64 => fill_numbers::<u64>(inputs, e, &mut out.slice_mut()[..n]),
        DType::F16 => fill(inputs, e, &mut out.slice_mut::<f16>()[..n], |v: f16| v),
        DType::BF16 => fill(inputs, e, &mut out.slice_mut::<bf16>()[..n], |v: bf16| v),
        DType::F32 => fill_numbers::<f32>(inputs, e, &mut out.slice_mut()[..n]),
        DType::F64 => fill_numbers::<f64>(inputs, e, &mut out.slice_mut()[..n]),
        DType::Str => unreachable!("bug: strings are not arrays"),
    }
}

/// Records the first of `n` positions at which the condition fails.
pub(crate) fn assert(inputs: &Inputs, ok: &Expr, check: &Arc<Check>, n: usize) {
    let program = Program::new(inputs, ok);
    (0..n.div_ceil(BLOCK)).into_par_iter().for_each(|k| {
        let start = k * BLOCK;
        Block::run(&program, start as u32, BLOCK.min(n - start)).check(inputs, check);
    });
}
