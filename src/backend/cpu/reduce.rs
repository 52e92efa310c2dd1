//! Row reductions over fused expressions: runs of rows whose values fit the cache, each row by its fixed order.

use rayon::prelude::*;

use super::array::{Array, Stored};
use super::eval::{Block, Inputs, Program};
use super::lanes::{Lane, Number};
use super::row_reduce::{ReduceRows, RowFold, block_len, reduce_block, reduce_row};
use super::runs::Starts;
use super::simd;
use crate::dtype::DType;
use crate::graph::expr::Expr;
use crate::graph::node::Rows;
use crate::graph::opcode::ReduceOp;
use crate::graph::scalar::Scalar;

/// Numbers evaluated at a time. A row longer than that is taken in pieces.
const CHUNK: usize = 8192;

/// `out[row * inner + d]` for the first `nrows` rows.
pub(crate) fn reduce(
    inputs: &Inputs,
    op: ReduceOp,
    rows: &Rows,
    nrows: usize,
    inner: usize,
    e: &Expr,
    out: &mut Array,
) {
    macro_rules! typed {
        ($t:ty, $v:ident) => {{
            let Scalar::$v(identity) = op.identity(DType::$v) else { unreachable!("bug: identity of another dtype") };
            let out = &mut out.slice_mut::<$t>()[..nrows * inner];
            match op {
                ReduceOp::Sum => rows_of(inputs, rows, inner, e, identity, <$t as Number>::add, out),
                ReduceOp::Prod => rows_of(inputs, rows, inner, e, identity, <$t as Number>::mul, out),
                ReduceOp::Min => rows_of(inputs, rows, inner, e, identity, <$t as Number>::least, out),
                ReduceOp::Max => rows_of(inputs, rows, inner, e, identity, <$t as Number>::greatest, out),
            }
        }};
    }
    match e.dtype() {
        DType::I32 => typed!(i32, I32),
        DType::U32 => typed!(u32, U32),
        DType::I64 => typed!(i64, I64),
        DType::U64 => typed!(u64, U64),
        DType::F32 => typed!(f32, F32),
        DType::F64 => typed!(f64, F64),
        d => unreachable!("bug: a row reduction over {d} must be recorded over its accumulator"),
    }
}

fn rows_of<T: Lane + Stored>(
    inputs: &Inputs,
    rows: &Rows,
    inner: usize,
    e: &Expr,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy + Sync,
    out: &mut [T],
) {
    let (starts, program) = (Starts::new(inputs, rows), Program::new(inputs, e));
    let runs = starts.runs(inner, CHUNK, out);
    runs.into_par_iter().for_each(|(first, out)| {
        let last = first + out.len() / inner;
        let (from, to) = (starts.at(first), starts.at(last));
        if (to - from) * inner <= CHUNK || to - from <= block_len(inner) {
            let values = Block::run(&program, (from * inner) as u32, (to - from) * inner).eval_as::<T>();
            if inner == 1 {
                let start = |k: usize| starts.at(first + k) - from;
                let ordered = e.dtype().is_float();
                simd::run(ReduceRows { values: &values, start, identity, combine, ordered, out });
                return;
            }
            for (row, out) in (first..last).zip(out.chunks_exact_mut(inner)) {
                let values = &values[(starts.at(row) - from) * inner..(starts.at(row + 1) - from) * inner];
                reduce_row(values, inner, identity, combine, out);
            }
        } else {
            // One long row, in pieces of whole blocks: their partials on all cores, then these in their order.
            let step = (CHUNK / inner).next_multiple_of(block_len(inner)).max(block_len(inner));
            let partials: Vec<Vec<T>> = (0..(to - from).div_ceil(step))
                .into_par_iter()
                .map(|piece| {
                    let at = from + piece * step;
                    let values = Block::run(&program, (at * inner) as u32, step.min(to - at) * inner).eval_as::<T>();
                    let blocks = values.chunks(block_len(inner) * inner);
                    let mut partials = vec![identity; blocks.len() * inner];
                    for (values, partial) in blocks.zip(partials.chunks_exact_mut(inner)) {
                        reduce_block(values, inner, identity, combine, partial);
                    }
                    partials
                })
                .collect();
            let mut fold = RowFold::new(to - from, inner, identity);
            for partial in partials.iter().flat_map(|piece| piece.chunks_exact(inner)) {
                fold.push_partial(partial, combine);
            }
            fold.finish(combine, out);
        }
    });
}
