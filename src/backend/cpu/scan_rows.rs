//! Recurrences along rows. Twin of `shaders/scan_rows.wgsl`.
//!
//! Rows of similar length form blocks. A core takes all positions of a block, one after another, and computes each stage
//! for all rows of the block that have the position.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::{Encoded, by_size};
use super::eval::Block;
use super::matmul::operand;
use super::packed_matrix::{self, Layout, Matrix, Multiplier, packed};
use super::parallel;
use super::template::{Prepared, Template};
use super::work_items::RowStarts;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::ExprKind;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::{ScanRows, StageValue};

/// Most rows of a block.
const ROWS: usize = packed_matrix::VECTORS;

/// Blocks per core: cores that finish early take further blocks.
const BLOCKS_PER_CORE: usize = 4;

impl CpuPrimitive for ScanRows<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let op = step.out.op();
        let templates = inputs.step.of_primitive(|| templates(&inputs.step, self));
        let Some(templates) = templates else {
            return Err(Error::argument(op, "a step that reads other elements than its own"));
        };
        let starts = RowStarts::new(inputs, &self.on.rows);
        let (nrows, size) = (inputs.count(&self.on.nrows), self.initial.dtype().size());
        let scratch = (size_of::<RowOutput<'_>>() as u64) * nrows as u64;
        let _scratch = inputs.pool.reserve_host(op, scratch)?;
        let out = &mut outputs[0];
        out.zero_rest(starts.at(nrows) * self.on.inner as usize);
        let mut kept: Vec<Option<Array>> = self.stages.iter().map(|_| None).collect();
        let (mut matrices, mut reserved) = (Vec::with_capacity(self.stages.len()), Vec::new());
        for (stage, kept) in self.stages.iter().zip(&mut kept) {
            let StageValue::Product { left, right, terms, transposed } = &stage.value else {
                matrices.push(None);
                continue;
            };
            let (terms, columns) = (*terms as usize, stage.width as usize);
            let layout = Layout { terms, columns, transposed: *transposed };
            let matrix = operand(inputs, op, right, terms * columns, kept)?;
            reserved.push(inputs.pool.reserve_host(op, layout.bytes(left.dtype()))?);
            matrices.push(Some(packed(matrix, left.dtype(), layout)));
        }
        let stages = templates.iter().map(|of| of.in_run(inputs)).collect();
        let loop_ = Loop { scan: self, stages, initial: CompiledExpr::new(inputs, &self.initial), matrices };
        let mut rows = rows_of(starts, nrows, self.on.inner as usize * size, out.bytes_mut());
        rows.sort_by_key(|row| Reverse(row.len));
        let blocks = rayon::current_num_threads() * BLOCKS_PER_CORE;
        let each = rows.len().div_ceil(blocks).clamp(1, ROWS);
        parallel::for_each_chunk(&mut rows, each, &|_, rows| loop_.run(rows));
        Ok(())
    }
}

/// A row and its results.
struct RowOutput<'o> {
    row: usize,
    start: usize,
    len: usize,
    out: &'o mut [u8],
}

/// The rows that are not empty, with the bytes of their results: `bytes` of each element.
fn rows_of<'o>(starts: RowStarts<'_>, nrows: usize, bytes: usize, mut out: &'o mut [u8]) -> Vec<RowOutput<'o>> {
    let mut rows = Vec::new();
    for row in 0..nrows {
        let (start, end) = (starts.at(row), starts.at(row + 1));
        let (own, rest) = std::mem::take(&mut out).split_at_mut((end - start) * bytes);
        out = rest;
        if end > start {
            rows.push(RowOutput { row, start, len: end - start, out: own });
        }
    }
    rows
}

/// The columns of a register that a stage reads, as an operation of its template.
struct Given {
    register: usize,
    /// The columns; none if they are all columns, in order.
    columns: Option<Vec<u32>>,
}

/// A stage, compiled once for all runs.
struct StageTemplate {
    /// The register whose numbers these are, if nothing is computed.
    same_as: Option<usize>,
    template: Arc<Template>,
    given: Vec<Given>,
    /// Numbers of each element: of the register, or of the vector of a product.
    width: usize,
    dtype: DType,
}

impl StageTemplate {
    fn in_run<'a>(&'a self, inputs: &'a Inputs) -> CompiledStage<'a> {
        CompiledStage { of: self, expr: CompiledExpr::of_template(inputs, self.template.clone()) }
    }
}

/// The templates of all stages; `None` if one reads other elements than its own.
fn templates(step: &Prepared, scan: &ScanRows<InPlan>) -> Option<Vec<StageTemplate>> {
    let of_stage = |stage: &crate::graph::primitive::Stage<InPlan>| {
        let (e, width): (&Expr, u32) = match &stage.value {
            StageValue::Map(value) => (value, stage.width),
            StageValue::Product { left, terms, .. } => (left, *terms),
        };
        let same_as = match e.kind() {
            ExprKind::Register(register, at) if at.is_index() && scan.width(register.number) == width => {
                Some(register.number as usize)
            }
            _ => None,
        };
        let mut read: Vec<Expr> = Vec::new();
        let mut given = Vec::new();
        for (e, columns) in e.register_reads(width, |register| scan.width(register.number))? {
            let ExprKind::Register(register, _) = e.kind() else { return None };
            let is_whole = columns.iter().copied().eq(0..scan.width(register.number));
            given.push(Given { register: register.number as usize, columns: (!is_whole).then_some(columns) });
            read.push(e);
        }
        let template = Arc::new(Template::new(step, &read, &[e]));
        Some(StageTemplate { same_as, template, given, width: width as usize, dtype: e.dtype() })
    };
    scan.stages.iter().map(of_stage).collect()
}

struct CompiledStage<'a> {
    of: &'a StageTemplate,
    expr: CompiledExpr<'a>,
}

impl CompiledStage<'_> {
    /// The numbers of the elements, from the registers of the same elements.
    fn values(&self, elements: &[u32], registers: &[Encoded<'static>]) -> Encoded<'static> {
        let StageTemplate { same_as, given, width, dtype, .. } = self.of;
        let numbers = elements.len() * width;
        if let Some(register) = same_as {
            return registers[*register].slice(0..numbers);
        }
        let starts = elements.iter().map(|&element| element.wrapping_mul(*width as u32)).collect();
        let mut block = Block::sequences(&self.expr, starts, *width as u32);
        for (id, given) in given.iter().enumerate() {
            let register = &registers[given.register];
            let values = match &given.columns {
                None => register.slice(0..numbers),
                Some(columns) => selected(register, columns, elements.len()),
            };
            block.memoize(id, values);
        }
        Encoded::filled(*dtype, numbers, |out| {
            block.store(*dtype, out);
        })
    }
}

/// These columns of the first `n` elements of a register.
fn selected(register: &Encoded<'static>, columns: &[u32], n: usize) -> Encoded<'static> {
    let Encoded::Dense(dtype, bytes) = register else { return register.clone() };
    Encoded::filled(*dtype, n * columns.len(), |out| {
        by_size!(dtype.size(), W => {
            let (from, out): (&[W], &mut [W]) = (bytemuck::cast_slice(bytes), bytemuck::cast_slice_mut(out));
            // All registers of a block have as many elements.
            let width = from.len() / n.max(1);
            for (out, from) in out.chunks_exact_mut(columns.len()).zip(from.chunks_exact(width)) {
                for (out, &column) in out.iter_mut().zip(columns) {
                    *out = from[column as usize];
                }
            }
        });
    })
}

struct Loop<'a> {
    scan: &'a ScanRows<InPlan>,
    stages: Vec<CompiledStage<'a>>,
    initial: CompiledExpr<'a>,
    /// The matrix of each stage that is a product.
    matrices: Vec<Option<Box<dyn Matrix + 'a>>>,
}

impl Loop<'_> {
    /// Computes the rows of a block, the longest first.
    fn run(&self, rows: &mut [RowOutput<'_>]) {
        let scan = self.scan;
        let mut states = self.initial_states(rows);
        let mut matrices: Vec<Option<Box<dyn Multiplier + '_>>> =
            self.matrices.iter().map(|matrix| matrix.as_ref().map(|of| of.multiplier())).collect();
        let width = |k: usize| scan.width(k as u32) as usize;
        let (mut elements, mut registers) = (Vec::new(), Vec::new());
        let longest = rows.first().map_or(0, |row| row.len);
        for position in 0..longest {
            let active = rows.partition_point(|row| row.len > position);
            let place = |row: &RowOutput<'_>| if scan.reversed { row.len - 1 - position } else { position };
            elements.clear();
            elements.extend(rows[..active].iter().map(|row| (row.start + place(row)) as u32));
            registers.clear();
            registers.extend(
                states
                    .iter()
                    .enumerate()
                    .map(|(k, state): (usize, &Encoded<'static>)| state.slice(0..active * width(k))),
            );
            for (stage, matrix) in self.stages.iter().zip(&mut matrices) {
                let values = stage.values(&elements, &registers);
                registers.push(match matrix {
                    Some(matrix) => matrix.products(&values, active),
                    None => values,
                });
            }
            states.clear();
            states.extend(scan.next.iter().map(|&k| registers[k as usize].clone()));
            for (b, row) in rows[..active].iter_mut().enumerate() {
                let at = place(row);
                store(&states, b, &scan.states, row.out, at);
            }
        }
    }

    /// The initial states of the rows.
    fn initial_states(&self, rows: &[RowOutput<'_>]) -> Vec<Encoded<'static>> {
        let (inner, dtype) = (self.scan.on.inner, self.scan.initial.dtype());
        let starts = rows.iter().map(|row| row.row as u32 * inner).collect();
        let block = Block::sequences(&self.initial, starts, inner);
        let all = Encoded::filled(dtype, rows.len() * inner as usize, |out| {
            block.store(dtype, out);
        });
        let mut first = 0;
        let of_state = |&width: &u32| {
            let columns: Vec<u32> = (first..first + width).collect();
            first += width;
            selected(&all, &columns, rows.len())
        };
        self.scan.states.iter().map(of_state).collect()
    }
}

/// Stores the states of row `b` of a block to element `at` of the row.
fn store(states: &[Encoded<'static>], b: usize, widths: &[u32], out: &mut [u8], at: usize) {
    let inner = widths.iter().sum::<u32>() as usize;
    let mut first = at * inner;
    for (state, &width) in states.iter().zip(widths) {
        let (size, width) = (state.dtype().size(), width as usize);
        let own: Range<usize> = first * size..(first + width) * size;
        state.slice(b * width..(b + 1) * width).store(&mut out[own]);
        first += width;
    }
}
