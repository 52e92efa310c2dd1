//! Matrix products. CPU counterpart of `shaders/matmul.wgsl`. Each element is a left-to-right sum of its terms, so that
//! its bits do not depend on the blocking.

use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::encoding::Value;
use super::eval::Block;
use super::map;
use super::number::Number;
use super::parallel;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::Product;

/// Columns of the register tile.
const COLUMNS: usize = 16;
/// Rows of the register tile.
const ROWS: usize = 4;
/// Rows of results per work item. Each work item packs the panels of the right matrix for itself.
const CHUNK: usize = 64;

/// Strided layout of a matrix: element (r, c) is at `start + r * row + c * column`.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Index of the first element.
    pub start: usize,
    /// Stride between rows.
    pub row: usize,
    /// Stride between columns.
    pub column: usize,
}

impl Layout {
    /// Layout of a `rows` by `columns` matrix that starts at `start`: row-major, or column-major if `transposed`.
    pub fn new(start: usize, (rows, columns): (usize, usize), transposed: bool) -> Self {
        let (row, column) = if transposed { (1, rows) } else { (columns, 1) };
        Self { start, row, column }
    }

    fn at(&self, row: usize, column: usize) -> usize {
        self.start + row * self.row + column * self.column
    }
}

/// Computes rows of a product, from row `first` on, into `out`. The product has `n` columns; each element is a sum of
/// `k` terms.
pub fn rows_of_product<T: Copy>(
    (a, left): (&[T], Layout),
    (b, right): (&[T], Layout),
    (first, k, n): (usize, usize, usize),
    zero: T,
    add: impl Fn(T, T) -> T + Copy,
    mul: impl Fn(T, T) -> T + Copy,
    out: &mut [T],
) {
    let rows = out.len().checked_div(n).unwrap_or(0);
    let mut panel = vec![[zero; COLUMNS]; k];
    for from in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - from);
        for (l, packed) in panel.iter_mut().enumerate() {
            for (c, slot) in packed[..width].iter_mut().enumerate() {
                *slot = b[right.at(l, from + c)];
            }
        }
        for top in (0..rows).step_by(ROWS) {
            let height = ROWS.min(rows - top);
            let mut sums = [[zero; COLUMNS]; ROWS];
            for (l, packed) in panel.iter().enumerate() {
                for (r, sums) in sums[..height].iter_mut().enumerate() {
                    let x = a[left.at(first + top + r, l)];
                    for (sum, &y) in sums.iter_mut().zip(packed) {
                        *sum = add(*sum, mul(x, y));
                    }
                }
            }
            for (r, sums) in sums[..height].iter().enumerate() {
                out[(top + r) * n + from..][..width].copy_from_slice(&sums[..width]);
            }
        }
    }
}

/// Computes the products of the first `batches` batches.
pub(crate) fn products(inputs: &Inputs, op: &str, p: &Product, batches: usize, out: &mut Array) -> Result<()> {
    match p.operands[0].dtype() {
        DType::I32 => typed::<i32>(inputs, op, p, batches, 0, out),
        DType::U32 => typed::<u32>(inputs, op, p, batches, 0, out),
        DType::I64 => typed::<i64>(inputs, op, p, batches, 0, out),
        DType::U64 => typed::<u64>(inputs, op, p, batches, 0, out),
        DType::F32 => typed::<f32>(inputs, op, p, batches, 0.0, out),
        DType::F64 => typed::<f64>(inputs, op, p, batches, 0.0, out),
        d => unreachable!("bug: a product of {d}, which is recorded as u32 or f32"),
    }
}

/// The first `len` elements of an operand. An array is borrowed; any other expression is evaluated into `kept`.
fn operand<'a>(inputs: &'a Inputs, op: &str, e: &Expr, len: usize, kept: &'a mut Option<Array>) -> Result<&'a Array> {
    if let ExprKind::Load(node, at) = e.kind()
        && at.is_index()
        && inputs.array(node).len() >= len
    {
        return Ok(inputs.array(node));
    }
    let mut array = Array::uninit(&inputs.pool, op, e.dtype(), len)?;
    map::map(inputs, e, len, &mut array);
    Ok(kept.insert(array))
}

fn typed<T: Value + Number + ArrayElement>(
    inputs: &Inputs,
    op: &str,
    p: &Product,
    batches: usize,
    zero: T,
    out: &mut Array,
) -> Result<()> {
    if batches == 0 {
        return Ok(());
    }
    let of = |e: &Expr| -> Vec<usize> {
        let expr = CompiledExpr::new(inputs, e);
        let values = Block::consecutive(&expr, 0, batches).eval_as::<u32>();
        values.iter().map(|&v| v as usize).collect()
    };
    let [ms, ks, ns] = p.sizes.each_ref().map(of);
    let [lefts, rights, outs] = p.starts.each_ref().map(of);
    let needed = |starts: &[usize], rows: &[usize], columns: &[usize]| {
        (0..batches).map(|g| starts[g] + rows[g] * columns[g]).max().unwrap_or(0)
    };
    let (mut a, mut b) = (None, None);
    let a = operand(inputs, op, &p.operands[0], needed(&lefts, &ms, &ks), &mut a)?.slice::<T>();
    let b = operand(inputs, op, &p.operands[1], needed(&rights, &ks, &ns), &mut b)?.slice::<T>();
    // Work items: the batch, the first row, and the output of the rows.
    let mut items: Vec<(usize, usize, &mut [T])> = Vec::new();
    let (mut rest, mut at) = (out.slice_mut::<T>(), 0);
    for g in (0..batches).filter(|&g| ms[g] * ns[g] > 0) {
        let skipped = outs[g].saturating_sub(at);
        if skipped + ms[g] * ns[g] > rest.len() {
            break;
        }
        let (mut piece, tail) = std::mem::take(&mut rest)[skipped..].split_at_mut(ms[g] * ns[g]);
        (rest, at) = (tail, outs[g] + ms[g] * ns[g]);
        let mut first = 0;
        while !piece.is_empty() {
            let rows = CHUNK.min(piece.len() / ns[g]);
            let (chunk, left) = piece.split_at_mut(rows * ns[g]);
            items.push((g, first, chunk));
            (piece, first) = (left, first + rows);
        }
    }
    parallel::for_each(items, &|(g, first, out)| {
        let left = Layout::new(lefts[g], (ms[g], ks[g]), p.transposed[0]);
        let right = Layout::new(rights[g], (ks[g], ns[g]), p.transposed[1]);
        rows_of_product((a, left), (b, right), (first, ks[g], ns[g]), zero, T::add, T::mul, out);
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of the product, element by element, as bits.
    fn literal(a: &[f32], b: &[f32], (m, k, n): (usize, usize, usize), transposed: [bool; 2]) -> Vec<u32> {
        let at = |x: &[f32], r: usize, c: usize, (rows, columns): (usize, usize), t: bool| {
            if t { x[c * rows + r] } else { x[r * columns + c] }
        };
        let sum = |i: usize, j: usize| {
            (0..k)
                .fold(0.0, |sum: f32, l| sum + at(a, i, l, (m, k), transposed[0]) * at(b, l, j, (k, n), transposed[1]))
        };
        (0..m * n).map(|p| sum(p / n, p % n).to_bits()).collect()
    }

    #[test]
    fn results_have_the_bits_of_the_definition_for_all_block_sizes() {
        for (m, k, n) in [(1, 1, 1), (3, 0, 2), (4, 7, 16), (5, 33, 17), (65, 3, 15), (9, 100, 31)] {
            for transposed in [[false, false], [true, false], [false, true], [true, true]] {
                let values = |n: usize, f: usize| (0..n).map(|p| ((p * f % 101) as f32).sqrt()).collect::<Vec<_>>();
                let (a, b) = (values(m * k, 31), values(k * n, 57));
                let mut out = vec![f32::NAN; m * n];
                let (left, right) = (Layout::new(0, (m, k), transposed[0]), Layout::new(0, (k, n), transposed[1]));
                for (chunk, out) in out.chunks_mut(3 * n).enumerate() {
                    let at = (3 * chunk, k, n);
                    rows_of_product((&a, left), (&b, right), at, 0.0, |x, y| x + y, |x, y| x * y, out);
                }
                let bits: Vec<u32> = out.iter().map(|x| x.to_bits()).collect();
                assert_eq!(bits, literal(&a, &b, (m, k, n), transposed), "{m} x {k} x {n} {transposed:?}");
            }
        }
    }
}
