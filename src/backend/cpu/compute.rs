//! Computes the outputs of one step.

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::eval::Block;
use super::{
    CpuBackend, append, compact, histogram, map, matmul, rank_bitmap, row_hash, row_kernel, row_scan, row_sort, scan,
    sort, tile_fold, top_k,
};
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::extent::Extent;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

impl CpuBackend {
    /// Computes the step's [outputs](Step::outputs).
    pub(super) fn compute(&self, step: &Step, inputs: &Inputs) -> Result<Vec<Array>> {
        // Every size is exact here.
        let count = |e: &Extent| inputs.sizes().capacity(e) as usize;
        let n = count(step.out.extent());
        let op = step.out.op();
        // Size arithmetic saturates, so that this check detects any size beyond the limit.
        for out in step.outputs() {
            Extent::known_u64(op, inputs.sizes().unsaturated(out.extent().size()))?;
        }
        if let (Recipe::Reduce { on, .. }, Some(kernel)) = (&step.recipe, &step.row_kernel) {
            return row_kernel::run(inputs, kernel, &on.rows, count(&on.nrows), on.inner as usize);
        }
        let pool = &self.pool;
        let mut out = Array::uninit(pool, op, step.out.dtype(), n)?;
        // Elements of `out` beyond the results must be zero; reused memory is not.
        match &step.recipe {
            Recipe::Map { value, .. } => map::map(inputs, value, n, &mut out),
            Recipe::Append { parts } => append::append(inputs, parts, &mut out),
            Recipe::Assert { ok, count: positions, check } => map::assert(inputs, ok, check, count(positions)),
            Recipe::Reduce { .. } => unreachable!("bug: a row reduction without a pass"),
            Recipe::Product(p) => matmul::products(inputs, op, p, count(&p.batches), &mut out)?,
            Recipe::Scan { value, count: positions } => {
                let expr = CompiledExpr::new(inputs, value);
                let values = |start: usize, out: &mut [u32]| {
                    Block::consecutive(&expr, start as u32, out.len()).store(DType::U32, bytemuck::cast_slice_mut(out));
                };
                let total = scan::exclusive_sum(count(positions), values, out.slice_mut());
                if total > u64::from(u32::MAX) {
                    return Err(Error::Limit {
                        what: step.out.op().into(),
                        requested: total,
                        unit: "elements",
                        limit: u64::from(u32::MAX),
                        whose: "a tensor".into(),
                        location: caller(),
                    });
                }
            }
            Recipe::RowScan { op, on, value } => {
                row_scan::row_scan(inputs, *op, &on.rows, count(&on.nrows), on.inner as usize, value, &mut out);
            }
            Recipe::Sort { key, count: positions, bits } => {
                let mut keys = Array::uninit(pool, op, DType::U32, count(positions))?;
                let n = keys.len();
                map::map(inputs, key, n, &mut keys);
                sort::sort_indices(pool, op, |at| &keys.slice()[at], *bits, 0, &mut out.slice_mut()[..n])?;
                out.zero_rest(n);
            }
            Recipe::RowSort { on, key, bits, .. } => {
                row_sort::row_sort(inputs, op, (&on.rows, count(&on.nrows)), (key, *bits), &mut out)?;
            }
            Recipe::TopK { on, key, k, .. } => {
                top_k::top_k(inputs, &on.rows, count(&on.nrows), key, *k as usize, &mut out);
            }
            Recipe::TileFold { op, key, value, count: positions, slots } => {
                let exprs = [key, value];
                tile_fold::tile_fold(inputs, *op, exprs, count(positions), *slots as usize, &mut out);
            }
            Recipe::Hash { op, on, byte, .. } => {
                row_hash::row_hash(inputs, *op, &on.rows, count(&on.nrows), byte, &mut out);
            }
            Recipe::RankBitmap { keep, count: positions } => {
                rank_bitmap::rank_bitmap(inputs, keep, count(positions), &mut out);
            }
            Recipe::Histogram { key, count: positions } => {
                histogram::histogram(inputs, key, count(positions), &mut out);
            }
            Recipe::Compact { bitmap, value, inner, .. } => {
                compact::compact(inputs, bitmap, value, *inner as usize, &mut out);
            }
        }
        Ok(vec![out])
    }
}
