//! Row reductions over fused expressions, in work items whose values fit the cache. Each row is reduced in the
//! canonical order.

use std::ops::Range;

use super::accumulate::Float;
use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::embedding_bag::EmbeddingBag;
use super::eval::Block;
use super::floats::{MinMax, SumProd};
use super::integers::{IntegerMinMax, IntegerSumProd};
use super::map;
use super::moments::MomentsMonoid;
use super::number::Number;
use super::online_softmax::{OnlineSoftmax, SoftmaxState};
use super::order_key;
use super::parallel;
use super::row_reduce::{Monoid, RowFold};
use super::work_items::{RowStarts, WorkItem};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::canonical_order::reduction::block_len;
use crate::graph::expr::Expr;
use crate::graph::node::Rows;
use crate::graph::opcode::ReduceOp;
use crate::graph::reducer::{Accumulator, Reducer};
use crate::graph::row_kernel::{RowKernel, RowResult};
use crate::graph::scalar::Scalar;

/// Numbers per evaluated block. A longer row is evaluated and reduced in several blocks.
const CHUNK: usize = 8192;

/// Runs a row kernel over the first `nrows` rows, with `inner` numbers per value, and its map over the first `live`
/// elements. Returns the outputs in order.
pub(crate) fn pass(
    inputs: &Inputs,
    pass: &RowKernel,
    rows: &Rows,
    nrows: usize,
    inner: usize,
    live: usize,
) -> Result<Vec<Array>> {
    let mut results: Vec<Option<Array>> = pass.results.iter().map(|_| None).collect();
    for k in 0..results.len() {
        if results[k].is_some() {
            continue;
        }
        // Results with the same accumulator are computed by one reduction.
        let like = |r: &RowResult| pass.column_of(r) == pass.column_of(&pass.results[k]);
        let parts: Vec<usize> = (k..results.len()).filter(|&j| like(&pass.results[j])).collect();
        let floats = if parts.len() == 1 { key_conversion(&pass.results[k], nrows * inner) } else { None };
        let mut reduced = Vec::with_capacity(parts.len());
        for &j in &parts {
            let r = &pass.results[j];
            let dtype = if floats.is_some() { r.out.dtype() } else { r.value.dtype() };
            let capacity = r.out.extent().capacity() as usize;
            reduced.push((r.reducer, Array::uninit(&inputs.pool, r.out.op(), dtype, capacity)?));
        }
        reduce(inputs, &pass.results[k], floats, rows, (nrows, inner), &mut reduced);
        for (j, (_, array)) in parts.into_iter().zip(reduced) {
            results[j] = Some(if floats.is_some() { array } else { apply_epilogue(inputs, &pass.results[j], array)? });
        }
    }
    let results = pass.results.iter().zip(results.into_iter().flatten());
    let Some(map) = &pass.map else { return Ok(results.map(|(_, array)| array).collect()) };
    let mut all = inputs.clone();
    let mut stored = Vec::new();
    for (r, array) in results {
        let array = all.add(&r.out, array);
        stored.extend(r.is_stored.then_some(array));
    }
    let capacity = map.out.extent().capacity() as usize;
    let mut out = Array::uninit(&inputs.pool, map.out.op(), map.out.dtype(), capacity)?;
    map::map(&all, &map.value, live, &mut out);
    out.zero_rest(live);
    drop(all);
    let stored = stored.into_iter().filter_map(|array| std::sync::Arc::try_unwrap(array).ok());
    Ok(stored.chain([out]).collect())
}

/// Conversion of keys to result floats: the key that stands for no float, and the value that replaces it.
type KeyConversion = (i32, f32);

/// The conversion of keys to floats, if all `numbers` reduced values are keys and the results are their floats. The
/// reduction then stores floats. A separate map over the keys takes half as long as the reduction of short rows.
fn key_conversion(r: &RowResult, numbers: usize) -> Option<KeyConversion> {
    let epilogue = r.epilogue.as_ref()?;
    let (key, [Scalar::I32(none), Scalar::F32(empty)]) = order_key::unkeyed(&epilogue.value)? else { return None };
    let keeps_keys = matches!(r.reducer.accumulator(), Accumulator::Op(_));
    (keeps_keys && *key == epilogue.reduced && r.out.extent().capacity() as usize == numbers).then_some((none, empty))
}

/// Applies the result's epilogue, if any, to the reduced values.
fn apply_epilogue(inputs: &Inputs, r: &RowResult, reduced: Array) -> Result<Array> {
    let Some(epilogue) = &r.epilogue else { return Ok(reduced) };
    let capacity = reduced.len();
    let mut out = Array::uninit(&inputs.pool, r.out.op(), r.out.dtype(), capacity)?;
    let mut inputs = inputs.clone();
    if let Some(node) = epilogue.reduced.node() {
        inputs.add(node, reduced);
    }
    map::map(&inputs, &epilogue.value, capacity, &mut out);
    Ok(out)
}

/// Reduces the first `nrows` rows into `parts`, the stored parts of the accumulator. Column `d` of row `row` is element
/// `row * inner + d`.
fn reduce(
    inputs: &Inputs,
    of: &RowResult,
    floats: Option<KeyConversion>,
    rows: &Rows,
    (nrows, inner): (usize, usize),
    parts: &mut [(Reducer, Array)],
) {
    let e = &of.value;
    let reduction = Reduction { inputs, rows, inner, numbers: nrows * inner, e, floats };
    macro_rules! integers {
        ($op:expr, $t:ty) => {
            match $op {
                ReduceOp::Sum => reduction.write::<$t, _>(IntegerSumProd::<false>, parts),
                ReduceOp::Prod => reduction.write::<$t, _>(IntegerSumProd::<true>, parts),
                ReduceOp::Max => reduction.write::<$t, _>(IntegerMinMax::<true>, parts),
                ReduceOp::Min => reduction.write::<$t, _>(IntegerMinMax::<false>, parts),
            }
        };
    }
    // Operations record minima and maxima of floats as reductions of order keys. Where one is recorded over the floats
    // themselves, their keys are reduced too, and the result is merged with the identity element, which may be finite.
    macro_rules! min_max {
        ($t:ty, $greatest:literal, $none:expr, $identity:expr, $merge:expr) => {{
            let finish = |keys: &mut [<$t as Float>::Key]| {
                for key in keys {
                    let float = if *key == $none { $identity } else { ($merge)(<$t>::of_key(*key), $identity) };
                    *key = bytemuck::cast(float);
                }
            };
            reduction.write_finished::<$t, _>(MinMax::<$greatest>, parts, &finish)
        }};
    }
    macro_rules! floats {
        ($op:expr, $t:ty, $v:ident) => {{
            let Scalar::$v(identity) = $op.identity(DType::$v) else { unreachable!("bug: identity of another dtype") };
            match $op {
                ReduceOp::Sum => reduction.write::<$t, _>(SumProd::<false>, parts),
                ReduceOp::Prod => reduction.write::<$t, _>(SumProd::<true>, parts),
                ReduceOp::Max => min_max!($t, true, <$t>::MIN_KEY, identity, <$t as Number>::maximum),
                ReduceOp::Min => min_max!($t, false, <$t>::MAX_KEY, identity, <$t as Number>::minimum),
            }
        }};
    }
    match (of.reducer.accumulator(), e.dtype()) {
        (Accumulator::Op(op), DType::F32) => floats!(op, f32, F32),
        (Accumulator::Op(op), DType::F64) => floats!(op, f64, F64),
        (Accumulator::Op(op), DType::I32 | DType::I64) if reduction.of_floats(op, parts) => {}
        (Accumulator::Op(op), DType::I32) => integers!(op, i32),
        (Accumulator::Op(op), DType::I64) => integers!(op, i64),
        (Accumulator::Op(op), DType::U32) => integers!(op, u32),
        (Accumulator::Op(op), DType::U64) => integers!(op, u64),
        (Accumulator::Exps, DType::F32) => reduction.online_softmax::<f32>(parts),
        (Accumulator::Exps, DType::F64) => reduction.online_softmax::<f64>(parts),
        (Accumulator::Moments, DType::F32) => reduction.moments::<f32>(parts),
        (Accumulator::Moments, DType::F64) => reduction.moments::<f64>(parts),
        (_, d) => unreachable!("bug: a row reduction over {d} must be recorded over its accumulator"),
    }
    for (_, out) in parts {
        out.zero_rest(reduction.numbers);
    }
}

/// The rows and values of one reduction.
struct Reduction<'a> {
    inputs: &'a Inputs,
    rows: &'a Rows,
    inner: usize,
    /// Number of results.
    numbers: usize,
    e: &'a Expr,
    /// Present if the results are the floats of reduced keys.
    floats: Option<KeyConversion>,
}

impl Reduction<'_> {
    /// Reduces with a monoid whose states are the results, or the keys of the results.
    fn write<T: Number + ArrayElement, M: Monoid<T, State: ArrayElement>>(
        &self,
        monoid: M,
        parts: &mut [(Reducer, Array)],
    ) {
        let finish = |states: &mut [M::State]| {
            if let Some((none, empty)) = self.floats {
                order_key::into_floats(bytemuck::cast_slice_mut(states), none, empty);
            }
        };
        self.write_finished(monoid, parts, &finish);
    }

    /// Reduces with a monoid whose states `finish` converts to the results in place. All parts are equal.
    fn write_finished<T: Number + ArrayElement, M: Monoid<T, State: ArrayElement>>(
        &self,
        monoid: M,
        parts: &mut [(Reducer, Array)],
        finish: &(dyn Fn(&mut [M::State]) + Sync),
    ) {
        let Some(((_, first), others)) = parts.split_first_mut() else { return };
        self.states(monoid, &mut first.slice_mut::<M::State>()[..self.numbers], finish);
        for (_, other) in others {
            other.slice_mut::<M::State>()[..self.numbers].copy_from_slice(&first.slice()[..self.numbers]);
        }
    }

    /// Reduces a minimum or maximum over order keys as one over their floats, which avoids an array of keys. Returns
    /// false and does nothing for other reductions.
    fn of_floats(&self, op: ReduceOp, parts: &mut [(Reducer, Array)]) -> bool {
        let Some((x, nan)) = order_key::keyed(self.e) else { return false };
        let reduction = Reduction { e: x, ..*self };
        match (op, nan) {
            (ReduceOp::Max, Scalar::I32(i32::MAX)) => reduction.write::<f32, _>(MinMax::<true>, parts),
            (ReduceOp::Min, Scalar::I32(i32::MIN)) => reduction.write::<f32, _>(MinMax::<false>, parts),
            (ReduceOp::Max, Scalar::I64(i64::MAX)) => reduction.write::<f64, _>(MinMax::<true>, parts),
            (ReduceOp::Min, Scalar::I64(i64::MIN)) => reduction.write::<f64, _>(MinMax::<false>, parts),
            _ => return false,
        }
        true
    }

    fn online_softmax<F: Float + ArrayElement>(&self, parts: &mut [(Reducer, Array)]) {
        let mut states: Vec<SoftmaxState<F>> = vec![OnlineSoftmax.identity(); self.numbers];
        self.states(OnlineSoftmax, &mut states, &|_| {});
        for (reducer, out) in parts {
            for (out, state) in out.slice_mut::<F>().iter_mut().zip(&states) {
                *out = if *reducer == Reducer::Greatest { F::of_key(state.greatest) } else { state.sum };
            }
        }
    }

    fn moments<F: Float + ArrayElement>(&self, parts: &mut [(Reducer, Array)]) {
        let mut states = vec![Monoid::<F>::identity(MomentsMonoid); self.numbers];
        self.states(MomentsMonoid, &mut states, &|_| {});
        for (_, out) in parts {
            for (out, state) in out.slice_mut::<F>().iter_mut().zip(&states) {
                *out = state.deviations;
            }
        }
    }

    /// Numbers per work item of an embedding bag, which computes one index per value instead of `inner` numbers: up to
    /// [`CHUNK`] values, but few enough for all cores to have work.
    fn embedding_bag_chunk(&self, starts: RowStarts<'_>) -> usize {
        let nrows = self.numbers.checked_div(self.inner).unwrap_or(0);
        let per_task = (starts.at(nrows) - starts.at(0)) * self.inner / (4 * rayon::current_num_threads());
        per_task.clamp(CHUNK, CHUNK * self.inner)
    }

    /// Computes the states of all rows and applies `finish` to them.
    fn states<T: Number + ArrayElement, M: Monoid<T>>(
        &self,
        monoid: M,
        out: &mut [M::State],
        finish: &(dyn Fn(&mut [M::State]) + Sync),
    ) {
        let inner = self.inner;
        let starts = RowStarts::new(self.inputs, self.rows);
        match EmbeddingBag::<T>::new(self.inputs, self.e, inner) {
            Some(values) => starts.reduce(
                (inner, self.embedding_bag_chunk(starts)),
                monoid,
                out,
                &|rows, out| values.rows(monoid, |row| starts.at(rows.start + row), out),
                &|from, len| values.blocks(monoid, from, len),
                finish,
            ),
            None => {
                let expr = CompiledExpr::new(self.inputs, self.e);
                let values = |from: usize, len: usize| {
                    Block::consecutive(&expr, (from * inner) as u32, len * inner).eval_as::<T>()
                };
                starts.reduce(
                    (inner, CHUNK),
                    monoid,
                    out,
                    &|rows, out| {
                        let from = starts.at(rows.start);
                        let values = values(from, starts.at(rows.end) - from);
                        monoid.rows(&values, inner, |row| starts.at(rows.start + row) - from, out);
                    },
                    &|from, len| {
                        let values = values(from, len);
                        let blocks = values.chunks(block_len(inner) * inner);
                        let mut partials = vec![monoid.identity(); blocks.len() * inner];
                        for (values, partial) in blocks.zip(partials.chunks_exact_mut(inner)) {
                            monoid.block(values, inner, partial);
                        }
                        partials
                    },
                    finish,
                );
            }
        }
    }
}

/// Reduces a range of rows to their states.
type RowsReducer<'f, S> = dyn Fn(Range<usize>, &mut [S]) + Sync + 'f;

impl RowStarts<'_> {
    /// Reduces all rows, with `inner` numbers per value, on all cores. `rows` reduces the rows of a work item (see
    /// [`RowStarts::work_items`]). A row of more than `chunk` numbers is divided into pieces of whole blocks; `blocks`
    /// computes the partials of a piece from its first value and its number of values. `finish` is applied to the
    /// states of each work item while they are cached.
    fn reduce<T: Copy, M: Monoid<T>>(
        &self,
        (inner, chunk): (usize, usize),
        monoid: M,
        out: &mut [M::State],
        rows: &RowsReducer<'_, M::State>,
        blocks: &(dyn Fn(usize, usize) -> Vec<M::State> + Sync),
        finish: &(dyn Fn(&mut [M::State]) + Sync),
    ) {
        parallel::for_each(self.work_items(inner, chunk, out), &|WorkItem { first, end, out }| {
            let (from, to) = (self.at(first), self.at(end));
            if (to - from) * inner <= chunk || to - from <= block_len(inner) {
                rows(first..end, out);
            } else {
                // One long row: computes the partials of its blocks on all cores, then folds them in order.
                let step = (chunk / inner).next_multiple_of(block_len(inner)).max(block_len(inner));
                let piece = |k: usize| {
                    let at = from + k * step;
                    blocks(at, step.min(to - at))
                };
                let partials = parallel::collect((to - from).div_ceil(step), &piece);
                let mut fold = RowFold::new(to - from, inner, monoid);
                for partial in partials.iter().flat_map(|piece| piece.chunks_exact(inner)) {
                    fold.push_partial(partial);
                }
                fold.finish(out);
            }
            finish(out);
        });
    }
}
