//! Products that no step stores: their numbers are computed for the block of positions at which a step loads them.

use std::ops::Range;
use std::sync::Arc;

use super::super::array::{Array, ArrayElement};
use super::super::compiled_expr::Inputs;
use super::super::encoding::{Encoded, Value};
use super::super::map;
use super::super::number::Number;
use super::super::product_numbers::ProductNumbers;
use super::super::segments::lens;
use super::batches_of;
use super::blocked::{Panels, product};
use super::factor::Factor;
use super::work::Batch;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::plan::Step;
use crate::graph::planned::Expr;
use crate::graph::step::recomputed::RecomputedProduct;

/// The products that a step loads although no step stores them, in a run.
pub(crate) fn products_of(step: &Step, inputs: &Inputs) -> Result<Vec<Arc<dyn ProductNumbers>>> {
    step.recomputed.iter().map(|of| numbers(inputs, step.out.op(), of)).collect()
}

/// The product in a run.
fn numbers(inputs: &Inputs, op: &str, of: &RecomputedProduct) -> Result<Arc<dyn ProductNumbers>> {
    Ok(match of.node.dtype() {
        DType::I32 => Arc::new(Typed::<i32, 16>::new(inputs, op, of)?),
        DType::U32 => Arc::new(Typed::<u32, 16>::new(inputs, op, of)?),
        DType::I64 => Arc::new(Typed::<i64, 8>::new(inputs, op, of)?),
        DType::U64 => Arc::new(Typed::<u64, 8>::new(inputs, op, of)?),
        DType::F32 => Arc::new(Typed::<f32, 16>::new(inputs, op, of)?),
        DType::F64 => Arc::new(Typed::<f64, 8>::new(inputs, op, of)?),
        d => unreachable!("bug: a product of {d}, which is recorded as u32 or f32"),
    })
}

/// A product with register tiles of `N` columns.
struct Typed<T, const N: usize> {
    /// The batches with results, in order of their positions.
    batches: Vec<Batch>,
    operands: [Operand<T>; 2],
}

/// The matrices of one operand.
struct Operand<T> {
    array: Arc<Array>,
    transposed: bool,
    of: std::marker::PhantomData<fn(T)>,
}

/// Numbers of adjacent rows, in the same columns.
struct Rectangle<'b> {
    batch: &'b Batch,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<T: Value + Number + ArrayElement, const N: usize> Typed<T, N> {
    fn new(inputs: &Inputs, op: &str, RecomputedProduct { node, product: p }: &RecomputedProduct) -> Result<Self> {
        let batches = batches_of(inputs, p, inputs.count(&p.batches), inputs.count(node.extent()));
        let longest = |len: fn(&Batch) -> usize| batches.iter().map(len).max().unwrap_or(0);
        let left = shared(inputs, op, &p.operands[0], longest(|g| g.left + g.rows * g.terms))?;
        let right = shared(inputs, op, &p.operands[1], longest(|g| g.right + g.terms * g.columns))?;
        let operand = |array, transposed| Operand { array, transposed, of: std::marker::PhantomData };
        Ok(Self { batches, operands: [operand(left, p.transposed[0]), operand(right, p.transposed[1])] })
    }

    /// Computes the numbers of a rectangle, row by row.
    fn compute(&self, Rectangle { batch, rows, columns }: Rectangle<'_>, out: &mut [T], panels: &mut Panels<T, N>) {
        let [left, right] = &self.operands;
        let Batch { rows: m, terms, columns: n, .. } = *batch;
        let left = Factor::left(left.array.slice::<T>(), batch.left, (m, terms), left.transposed).skip(rows.start);
        let right = Factor::right(right.array.slice::<T>(), batch.right, (terms, n), right.transposed);
        let out = &mut out.chunks_exact_mut(columns.len()).collect::<Vec<_>>();
        product(left, right.skip(columns.start), terms, out, panels);
    }

    /// Calls `f` with the numbers at `len` positions from `first` on: parts of rows, and `None` for numbers of no matrix.
    fn for_each_row<'b>(&'b self, mut first: usize, len: usize, f: &mut dyn FnMut(Option<Rectangle<'b>>, usize)) {
        let end = first + len;
        let mut k = self.batches.partition_point(|batch| batch.end() <= first);
        while first < end {
            let Some(batch) = self.batches.get(k).filter(|batch| batch.out < end) else {
                return f(None, end - first);
            };
            if first < batch.out {
                f(None, batch.out - first);
                first = batch.out;
            }
            while first < end.min(batch.end()) {
                let (row, column) = ((first - batch.out) / batch.columns, (first - batch.out) % batch.columns);
                let n = (batch.columns - column).min(end - first);
                f(Some(Rectangle { batch, rows: row..row + 1, columns: column..column + n }), n);
                first += n;
            }
            k += 1;
        }
    }
}

impl<T: Value + Number + ArrayElement, const N: usize> ProductNumbers for Typed<T, N> {
    fn fill(&self, at: &Encoded<'_>, out: &mut [u8]) {
        let mut out: &mut [T] = bytemuck::cast_slice_mut(out);
        let mut panels = Panels::new();
        let mut pending: Option<Rectangle<'_>> = None;
        let mut flush = |pending: Option<Rectangle<'_>>, out: &mut &mut [T]| {
            if let Some(rectangle) = pending {
                let (own, rest) = std::mem::take(out).split_at_mut(rectangle.rows.len() * rectangle.columns.len());
                self.compute(rectangle, own, &mut panels);
                *out = rest;
            }
        };
        for_each_run(at, out.len(), &mut |first, len| {
            self.for_each_row(first as usize, len, &mut |row, n| {
                match (&mut pending, row) {
                    (Some(all), Some(row))
                        if std::ptr::eq(all.batch, row.batch)
                            && all.rows.end == row.rows.start
                            && all.columns == row.columns =>
                    {
                        all.rows.end += 1;
                    }
                    (_, row) => {
                        let is_number = row.is_some();
                        flush(std::mem::replace(&mut pending, row), &mut out);
                        if !is_number {
                            let (none, rest) = std::mem::take(&mut out).split_at_mut(n);
                            none.fill(T::default());
                            out = rest;
                        }
                    }
                };
            });
        });
        flush(pending, &mut out);
    }
}

/// Calls `f` with each run of consecutive positions: the first one, and their number.
fn for_each_run(at: &Encoded<'_>, n: usize, f: &mut dyn FnMut(u32, usize)) {
    if let Encoded::Segments(ends, 1, firsts) = at {
        let firsts = u32::expanded(ends.len(), firsts);
        lens(ends).zip(firsts.iter()).for_each(|(len, &first)| f(first, len as usize));
        return;
    }
    let all = u32::expanded(n, at);
    all.chunk_by(|a, b| a.checked_add(1) == Some(*b)).for_each(|run| f(run[0], run.len()));
}

/// The first `len` elements of an operand: an array of the step, or the values of any other expression.
fn shared(inputs: &Inputs, op: &str, e: &Expr, len: usize) -> Result<Arc<Array>> {
    if let Some(node) = e.own_load() {
        let array = &inputs.arrays[inputs.step.array(node)];
        if array.len() >= len {
            return Ok(array.clone());
        }
    }
    let mut array = Array::uninit(&inputs.pool, op, e.dtype(), len)?;
    map::map(inputs, e, len, &mut array);
    Ok(Arc::new(array))
}
