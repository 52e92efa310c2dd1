//! Evaluates expressions over elements of several columns by ranges of columns (see `graph/access/column_ranges`): in
//! each range, conditions on the column are decided, and positions are linear, so that they are computed once per element.

use std::sync::Arc;

use super::compiled_expr::{CompiledExpr, Inputs};
use super::encoding::{Dense, Encoded, Value, by_size};
use super::eval::Block;
use super::segments::segments;
use super::template::{Prepared, Template};
use crate::dtype::DType;
use crate::graph::access::{ColumnRange, ColumnRanges, LinearPosition};
use crate::graph::expr::ExprKind;
use crate::graph::planned::{Expr, InPlan};

/// A register that an expression reads, and the columns of it that the columns of the range read.
struct RegisterRead {
    register: usize,
    columns: Vec<u32>,
}

/// An expression, compiled once for all runs.
pub(super) struct ColumnTemplates {
    /// Columns of an element.
    pub(super) width: usize,
    pub(super) dtype: DType,
    ranges: Vec<RangeTemplate>,
    of: ColumnRanges<InPlan>,
}

/// The expression in a range of columns.
struct RangeTemplate {
    first: usize,
    len: usize,
    template: Arc<Template>,
    /// The first operations of the template.
    positions: Vec<LinearPosition>,
    /// The operations after these.
    registers: Vec<RegisterRead>,
}

impl ColumnTemplates {
    /// The templates of an expression that reads register `k` of `width_of(k)` columns; `None` if it reads other elements
    /// than its own. If they are divided, see [`Self::hold`].
    pub(super) fn new(
        step: &Prepared,
        e: &Expr,
        (width, is_divided): (u32, bool),
        width_of: impl Fn(u32) -> u32,
    ) -> Option<Self> {
        let of_range = |range: &ColumnRange<InPlan>| {
            let len = range.columns.end - range.columns.start;
            let mut given: Vec<Expr> = range.positions.iter().map(|(e, _)| e.clone()).collect();
            let mut registers = Vec::new();
            for (read, columns) in range.value.register_reads(len, |register| width_of(register.number))? {
                let ExprKind::Register(register, _) = read.kind() else { return None };
                registers.push(RegisterRead { register: register.number as usize, columns });
                given.push(read);
            }
            let template = Arc::new(Template::new(step, &given, &[&range.value]));
            let positions = range.positions.iter().map(|(_, of)| *of).collect();
            let (first, len) = (range.columns.start as usize, len as usize);
            Some(RangeTemplate { first, len, template, positions, registers })
        };
        let of = if is_divided { e.column_ranges(width) } else { ColumnRanges::undivided(e, width) };
        let ranges = of.ranges.iter().map(of_range).collect::<Option<_>>()?;
        Some(Self { width: width as usize, dtype: e.dtype(), ranges, of })
    }

    /// Whether the templates hold for that number of elements.
    pub(super) fn hold(&self, inputs: &Inputs, elements: usize) -> bool {
        let allowed = self.of.bounds_for(elements);
        self.of.bounds.iter().all(|size| allowed.contains(&(inputs.sizes().value(size) as usize)))
    }

    /// Number of ranges.
    pub(super) fn count(&self) -> usize {
        self.ranges.len()
    }

    pub(super) fn in_run<'a>(&'a self, inputs: &'a Inputs) -> ColumnExprs<'a> {
        let exprs = self.ranges.iter().map(|of| CompiledExpr::of_template(inputs, of.template.clone())).collect();
        ColumnExprs { of: self, exprs }
    }
}

/// An expression in a run.
pub(super) struct ColumnExprs<'a> {
    of: &'a ColumnTemplates,
    exprs: Vec<CompiledExpr<'a>>,
}

impl ColumnExprs<'_> {
    /// Fills `out` with the values of the elements. `registers` hold their numbers of each register.
    pub(super) fn store(&self, elements: &[u32], registers: &[Encoded<'static>], out: &mut [u8]) {
        let ColumnTemplates { width, dtype, ranges, .. } = self.of;
        for (range, expr) in ranges.iter().zip(&self.exprs) {
            let block = range.block(expr, elements, registers);
            if range.len == *width {
                block.store(*dtype, out);
                continue;
            }
            let values = Encoded::filled(*dtype, elements.len() * range.len, |out| {
                block.store(*dtype, out);
            });
            let Encoded::Dense(_, values) = values else { continue };
            let size = dtype.size();
            let own = range.first * size..(range.first + range.len) * size;
            for (out, values) in out.chunks_exact_mut(width * size).zip(values.chunks_exact(range.len * size)) {
                out[own.clone()].copy_from_slice(values);
            }
        }
    }
}

impl RangeTemplate {
    fn block<'a>(&self, expr: &'a CompiledExpr<'a>, elements: &[u32], registers: &[Encoded<'static>]) -> Block<'a> {
        let len = self.len as u32;
        let ends: Dense<'static, u32> = (1..=elements.len() as u32).map(|k| k * len).collect::<Vec<_>>().into();
        let linear = |LinearPosition { per_element, offset, per_column }: LinearPosition| {
            let first = Dense::filled(elements.len(), |out: &mut [u32]| {
                for (out, &element) in out.iter_mut().zip(elements) {
                    *out = element.wrapping_mul(per_element).wrapping_add(offset);
                }
            });
            segments(ends.clone(), per_column.into(), u32::wrap(first))
        };
        let own = LinearPosition { per_element: len, offset: 0, per_column: true };
        let mut block = Block::new(expr, elements.len() * self.len, linear(own));
        for (id, position) in self.positions.iter().enumerate() {
            block.memoize(id, linear(*position));
        }
        for (id, read) in (self.positions.len()..).zip(&self.registers) {
            block.memoize(id, selected(&registers[read.register], &read.columns, elements.len()));
        }
        block
    }
}

/// These columns of the first `n` elements of a register of more.
pub(super) fn selected(register: &Encoded<'static>, columns: &[u32], n: usize) -> Encoded<'static> {
    let Encoded::Dense(dtype, bytes) = register else { return register.clone() };
    let width = bytes.len() / (n.max(1) * dtype.size());
    let first = columns.first().map_or(0, |&column| column as usize);
    let is_run = (first..).zip(columns).all(|(at, &column)| at == column as usize);
    if is_run && columns.len() == width {
        return register.clone();
    }
    Encoded::filled(*dtype, n * columns.len(), |out| {
        by_size!(dtype.size(), W => {
            let (from, out): (&[W], &mut [W]) = (bytemuck::cast_slice(bytes), bytemuck::cast_slice_mut(out));
            for (out, from) in out.chunks_exact_mut(columns.len()).zip(from.chunks_exact(width)) {
                if is_run {
                    out.copy_from_slice(&from[first..][..columns.len()]);
                    continue;
                }
                for (out, &column) in out.iter_mut().zip(columns) {
                    *out = from[column as usize];
                }
            }
        });
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::CpuBackend;
    use super::*;
    use crate::graph::backend::{Backend, BackendRef};
    use crate::graph::node::Node;
    use crate::graph::opcode::UnaryOp;
    use crate::graph::recorder::Recorder;
    use crate::graph::{self, Extent};
    use crate::math::{MathFn, f32_unary};

    /// Columns of two arrays as parts of wider elements, each through a function of its own.
    #[test]
    fn parts_of_elements_have_the_values_of_their_functions() {
        const ELEMENTS: u32 = 300;
        let backend: BackendRef = Arc::new(CpuBackend::new(u64::MAX, false));
        for widths in [[16u32, 32], [20, 28], [64, 64], [3, 45]] {
            let own = widths[0] + widths[1];
            let numbers =
                |of: u32| (0..ELEMENTS * of).map(|k| (k * 7919 % 1000) as f32 / 500.0 - 1.0).collect::<Vec<_>>();
            let parts = [(0, MathFn::Exp), (1, MathFn::Sin)].map(|(part, f)| {
                let (of, first) = (widths[part], if part == 0 { 0 } else { widths[0] });
                let data = Backend::upload(&*backend, DType::F32, bytemuck::cast_slice(&numbers(of))).expect("uploads");
                let node = Node::source(&backend, DType::F32, ELEMENTS * of, data);
                let index = graph::Expr::index;
                let (element, column) = (index().div(graph::Expr::u32(own)), index().rem(graph::Expr::u32(own)));
                let column = column.sub(graph::Expr::u32(first));
                let at = element.mul(graph::Expr::u32(of)).add(column.clone());
                let value = graph::Expr::load(&node, at).unary(UnaryOp::Math(f));
                column.lt(graph::Expr::u32(of)).select(value, graph::Expr::scalar(0.0f32))
            });
            let [a, b] = parts;
            let sum = a.add(b);
            let node = Recorder::new(&backend, "test").map(Extent::known(ELEMENTS * own), sum, &[]);
            let bytes = backend.read(&[node]).expect("reads").remove(0);
            let found: &[f32] = bytemuck::cast_slice(&bytes);
            let [exp, sin] = [MathFn::Exp, MathFn::Sin].map(f32_unary);
            let (a, b) = (numbers(widths[0]), numbers(widths[1]));
            for (k, found) in found.iter().enumerate() {
                let (element, column) = (k / own as usize, k % own as usize);
                let want = match column.checked_sub(widths[0] as usize) {
                    None => exp(a[element * widths[0] as usize + column]),
                    Some(column) => sin(b[element * widths[1] as usize + column]),
                };
                assert_eq!(found.to_bits(), want.to_bits(), "{widths:?}, element {element}, column {column}");
            }
        }
    }
}
