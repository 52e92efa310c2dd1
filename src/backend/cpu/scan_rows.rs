//! Recurrences along rows. Twin of `shaders/scan_rows.wgsl`.
//!
//! Rows of similar length form blocks. A core takes all positions of a block, one after another, and computes each stage
//! for all rows of the block that have the position.

use std::cmp::Reverse;

use super::array::Array;
use super::column_blocks::{ColumnExprs, ColumnTemplates, selected};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::Encoded;
use super::eval::Block;
use super::matmul::operand;
use super::packed_matrix::{self, Layout, Matrix, Multiplier, packed};
use super::parallel;
use super::template::Prepared;
use super::work_items::RowStarts;
use crate::error::{Error, Result};
use crate::graph::expr::ExprKind;
use crate::graph::plan::Step;
use crate::graph::planned::{Expr, InPlan};
use crate::graph::primitive::{ScanRows, Stage, StageValue};

/// Most rows of a block.
const ROWS: usize = packed_matrix::VECTORS;

/// Blocks per core, at least: cores that finish early take further blocks.
const BLOCKS_PER_CORE: usize = 2;

impl CpuPrimitive for ScanRows<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let op = step.out.op();
        let made = inputs.step.of_primitive(|| templates(&inputs.step, self, true));
        let elements = inputs.count(&self.on.nvals);
        let general;
        let templates = match made {
            Some(made) if made.iter().all(|stage| stage.value.hold(inputs, elements)) => made,
            _ => {
                general = templates(&inputs.step, self, false);
                let refused = || Error::argument(op, "a step that reads other elements than its own");
                general.as_ref().ok_or_else(refused)?
            }
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
        let blocks = blocks_of(&mut rows, rayon::current_num_threads() * BLOCKS_PER_CORE);
        parallel::for_each(blocks, &|rows| loop_.run(rows));
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

/// Blocks of consecutive rows, each with about a `parts`-th of the elements: few long rows, or many short ones.
fn blocks_of<'b, 'o>(mut rows: &'b mut [RowOutput<'o>], parts: usize) -> Vec<&'b mut [RowOutput<'o>]> {
    let most = rows.iter().map(|row| row.len).sum::<usize>().div_ceil(parts.max(1));
    let mut blocks = Vec::new();
    while !rows.is_empty() {
        let (mut n, mut elements) = (0, 0);
        while n < rows.len().min(ROWS) && (n == 0 || elements + rows[n].len <= most) {
            elements += rows[n].len;
            n += 1;
        }
        let (block, rest) = std::mem::take(&mut rows).split_at_mut(n);
        blocks.push(block);
        rows = rest;
    }
    blocks
}

/// A stage, compiled once for all runs.
struct StageTemplate {
    /// The register whose numbers these are, if nothing is computed.
    same_as: Option<usize>,
    /// The numbers of the register, or of the vector of a product.
    value: ColumnTemplates,
}

impl StageTemplate {
    fn in_run<'a>(&'a self, inputs: &'a Inputs) -> CompiledStage<'a> {
        CompiledStage { of: self, value: self.value.in_run(inputs) }
    }
}

/// The templates of all stages; `None` if one reads other elements than its own. Templates that are
/// divided hold for some runs only.
fn templates(step: &Prepared, scan: &ScanRows<InPlan>, is_divided: bool) -> Option<Vec<StageTemplate>> {
    let of_stage = |stage: &Stage<InPlan>| {
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
        let value = ColumnTemplates::new(step, e, (width, is_divided), |register| scan.width(register))?;
        Some(StageTemplate { same_as, value })
    };
    scan.stages.iter().map(of_stage).collect()
}

struct CompiledStage<'a> {
    of: &'a StageTemplate,
    value: ColumnExprs<'a>,
}

impl CompiledStage<'_> {
    /// The numbers of the elements, from the registers of the same elements.
    fn values(&self, elements: &[u32], registers: &[Encoded<'static>]) -> Encoded<'static> {
        let StageTemplate { same_as, value } = self.of;
        match same_as {
            Some(register) => registers[*register].clone(),
            None => Encoded::filled(value.dtype, elements.len() * value.width, |out| {
                self.value.store(elements, registers, out);
            }),
        }
    }
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
        let bytes = scan.on.inner as usize * scan.initial.dtype().size();
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
                let stored = scan.stored().map(|k| (&registers[k as usize], width(k as usize)));
                store(stored, b, &mut row.out[at * bytes..][..bytes]);
            }
        }
    }

    /// The initial states of the rows.
    fn initial_states(&self, rows: &[RowOutput<'_>]) -> Vec<Encoded<'static>> {
        let (inner, dtype) = (self.scan.state_numbers(), self.scan.initial.dtype());
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

/// Stores the numbers of row `b` of a block, of registers and their widths, one register after another.
fn store<'r>(registers: impl Iterator<Item = (&'r Encoded<'static>, usize)>, b: usize, mut out: &mut [u8]) {
    for (register, width) in registers {
        let (own, rest) = out.split_at_mut(width * register.dtype().size());
        register.slice(b * width..(b + 1) * width).store(own);
        out = rest;
    }
}
