//! Folds of values by slot within tiles. Twin of `shaders/tile_fold.wgsl`.

use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::Value;
use super::eval::Block;
use super::number::Number;
use super::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::opcode::ReduceOp;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::TileFold;
use crate::graph::scalar::Scalar;
use crate::graph::tile_fold::TILE;

/// Tiles per evaluated block.
const BLOCK_TILES: usize = 4;

impl CpuPrimitive for TileFold<InPlan> {
    fn compute(&self, _: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let (exprs, n) = ([&self.key, &self.value], inputs.count(&self.count));
        tile_fold(inputs, self.op, exprs, n, self.slots as usize, &mut outputs[0]);
        Ok(())
    }
}

/// Fills `out` with the fold of each of `slots` slots in each tile of the first `n` positions. The tiles are folded on
/// all cores, each in order into its own results, which stay in the first-level cache.
pub(crate) fn tile_fold(
    inputs: &Inputs,
    op: ReduceOp,
    [key, value]: [&Expr; 2],
    n: usize,
    slots: usize,
    out: &mut Array,
) {
    if slots == 0 {
        return;
    }
    let (key, values) = (CompiledExpr::new(inputs, key), CompiledExpr::new(inputs, value));
    let tiles = Tiles { key, values, n, slots };
    macro_rules! fold {
        ($dtype:ident, $t:ty) => {{
            let Scalar::$dtype(identity) = op.identity(value.dtype()) else { unreachable!("bug: another identity") };
            let out: &mut [$t] = out.slice_mut();
            match op {
                ReduceOp::Sum => tiles.fold(identity, <$t as Number>::add, out),
                ReduceOp::Prod => tiles.fold(identity, <$t as Number>::mul, out),
                ReduceOp::Min => tiles.fold(identity, <$t as Number>::minimum, out),
                ReduceOp::Max => tiles.fold(identity, <$t as Number>::maximum, out),
            }
        }};
    }
    match value.dtype() {
        DType::U32 => fold!(U32, u32),
        DType::I32 => fold!(I32, i32),
        DType::U64 => fold!(U64, u64),
        DType::I64 => fold!(I64, i64),
        DType::F32 => fold!(F32, f32),
        DType::F64 => fold!(F64, f64),
        other => unreachable!("bug: a fold of {other}"),
    }
}

/// The tiles of the first `n` positions.
struct Tiles<'a> {
    key: CompiledExpr<'a>,
    values: CompiledExpr<'a>,
    n: usize,
    slots: usize,
}

impl Tiles<'_> {
    /// Stores the folds of the tiles, `slots` results per tile.
    fn fold<T: Number + ArrayElement>(&self, identity: T, combine: impl Fn(T, T) -> T + Copy + Sync, out: &mut [T]) {
        const LEN: usize = TILE as usize;
        parallel::for_each_chunk(out, BLOCK_TILES * self.slots, &|block, results| {
            let start = block * BLOCK_TILES * LEN;
            let len = (BLOCK_TILES * LEN).min(self.n.saturating_sub(start));
            let keys = Block::consecutive(&self.key, start as u32, len).eval_as::<u32>();
            let values = Block::consecutive(&self.values, start as u32, len).eval_as::<T>();
            results.fill(identity);
            let tiles = keys.chunks(LEN).zip(values.chunks(LEN)).zip(results.chunks_exact_mut(self.slots));
            for ((keys, values), results) in tiles {
                fold_values(keys, values, combine, results);
            }
        });
    }
}

/// Combines each value with the result of its slot, in order.
fn fold_values<T: Value>(keys: &[u32], values: &[T], combine: impl Fn(T, T) -> T, results: &mut [T]) {
    for (&key, &value) in keys.iter().zip(values) {
        if let Some(result) = results.get_mut(key as usize) {
            *result = combine(*result, value);
        }
    }
}
