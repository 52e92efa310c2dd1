//! Matrix products. CPU counterpart of `shaders/matmul.wgsl`.

pub(crate) mod blocked;
mod by_terms;
mod computed_left;
pub(crate) mod factor;
pub(crate) mod recomputed;
#[cfg(test)]
mod tests;
mod tile;
mod work;

use self::blocked::{Panels, product};
use self::computed_left::ComputedLeft;
use self::factor::Factor;
use self::work::{Batch, Division, divide};
use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::Value;
use super::eval::Block;
use super::map;
use super::number::Number;
use super::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::Product;

impl CpuPrimitive for Product<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        products(inputs, step.out.op(), self, inputs.count(&self.batches), &mut outputs[0])
    }
}

/// Computes the products of the first `batches` batches.
pub(crate) fn products(inputs: &Inputs, op: &str, p: &Product<InPlan>, batches: usize, out: &mut Array) -> Result<()> {
    match p.operands[0].dtype() {
        DType::I32 => typed::<i32, 16>(inputs, op, p, batches, out),
        DType::U32 => typed::<u32, 16>(inputs, op, p, batches, out),
        DType::I64 => typed::<i64, 8>(inputs, op, p, batches, out),
        DType::U64 => typed::<u64, 8>(inputs, op, p, batches, out),
        DType::F32 => typed::<f32, 16>(inputs, op, p, batches, out),
        DType::F64 => typed::<f64, 8>(inputs, op, p, batches, out),
        d => unreachable!("bug: a product of {d}, which is recorded as u32 or f32"),
    }
}

/// The first `len` elements of an operand. An array is borrowed; any other expression is evaluated into `kept`.
pub(super) fn operand<'a>(
    inputs: &'a Inputs,
    op: &str,
    e: &Expr,
    len: usize,
    kept: &'a mut Option<Array>,
) -> Result<&'a Array> {
    if let Some(node) = e.own_load()
        && inputs.array(node).len() >= len
    {
        return Ok(inputs.array(node));
    }
    let mut array = Array::uninit(&inputs.pool, op, e.dtype(), len)?;
    map::map(inputs, e, len, &mut array);
    Ok(kept.insert(array))
}

/// The sizes and starts of the batches whose results fit `room` elements. Results never overlap, whatever the starts.
fn batches_of(inputs: &Inputs, p: &Product<InPlan>, count: usize, room: usize) -> Vec<Batch> {
    let of = |e: &Expr| -> Vec<u32> {
        Block::consecutive(&CompiledExpr::new(inputs, e), 0, count).eval_as::<u32>().to_vec()
    };
    let [rows, terms, columns] = p.sizes.each_ref().map(of);
    let [left, right, out] = p.starts.each_ref().map(of);
    let mut batches = Vec::with_capacity(count);
    let mut end = 0;
    for g in (0..count).filter(|&g| rows[g] > 0 && columns[g] > 0) {
        let [rows, terms, columns] = [rows[g], terms[g], columns[g]].map(|n| n as usize);
        let out = end.max(out[g] as usize);
        end = out.saturating_add(rows.saturating_mul(columns));
        if end > room {
            break;
        }
        batches.push(Batch { rows, terms, columns, left: left[g] as usize, right: right[g] as usize, out });
    }
    batches
}

/// Computes the products with register tiles of `N` columns, which are two AVX2 vectors or one of AVX-512. Elements of `out` without a
/// result are 0.
fn typed<T: Value + Number + ArrayElement, const N: usize>(
    inputs: &Inputs,
    op: &str,
    p: &Product<InPlan>,
    batches: usize,
    out: &mut Array,
) -> Result<()> {
    let scratch = (size_of::<Batch>() + 6 * size_of::<u32>()) as u64;
    let _scratch = inputs.pool.reserve_host(op, scratch * batches as u64)?;
    let batches = batches_of(inputs, p, batches, out.len());
    out.zero_rest(batches.last().map_or(0, Batch::end));
    if batches.is_empty() {
        return Ok(());
    }
    let results = out.slice_mut();
    for (before, batch) in batches.iter().zip(&batches[1..]) {
        results[before.end()..batch.out].fill(T::default());
    }
    results[..batches[0].out].fill(T::default());
    let longest = |len: fn(&Batch) -> usize| batches.iter().map(len).max().unwrap_or(0);
    let (mut a, mut b) = (None, None);
    let b = operand(inputs, op, &p.operands[1], longest(|g| g.right + g.terms * g.columns), &mut b)?.slice::<T>();
    let right = |batch: &Batch, column: usize| {
        Factor::right(b, batch.right, (batch.terms, batch.columns), p.transposed[1]).skip(column)
    };
    let Division { mut items, by_terms } = divide(&batches, rayon::current_num_threads(), results);
    let numbers = CompiledExpr::new(inputs, &p.operands[0]);
    if numbers.recomputes() {
        let left = ComputedLeft { numbers, transposed: p.transposed[0] };
        items.extend(by_terms);
        parallel::for_each(items, &|item| {
            let mut panels = Panels::<T, N>::new();
            item.for_each(&mut |batch, (row, column), out| {
                left.product(batch, row, right(batch, column), out, &mut panels);
            });
        });
        return Ok(());
    }
    let a = operand(inputs, op, &p.operands[0], longest(|g| g.left + g.rows * g.terms), &mut a)?.slice::<T>();
    let factors = |batch: &Batch, (row, column): (usize, usize)| {
        let left = Factor::left(a, batch.left, (batch.rows, batch.terms), p.transposed[0]).skip(row);
        (left, right(batch, column))
    };
    parallel::for_each(items, &|item| {
        let mut panels = Panels::<T, N>::new();
        item.for_each(&mut |batch, at, out| {
            let (left, right) = factors(batch, at);
            product(left, right, batch.terms, out, &mut panels);
        });
    });
    for item in by_terms {
        let mut done = Ok(());
        item.for_each(&mut |batch, at, out| {
            let (left, right) = factors(batch, at);
            done = by_terms::product::<T, N>((&inputs.pool, op), left, right, batch.terms, out);
        });
        done?;
    }
    Ok(())
}
