//! Row kernels: all accumulators of the kernel, their epilogues and its map in one pass over the rows, in work items
//! whose values fit the cache.
//!
//! A work item evaluates the values of its rows once, in one block of expressions with common subexpressions. Each
//! accumulator reduces them in the canonical order. Epilogues are then evaluated once per row, and the map reads their
//! results in the block of the values. A row that is longer than a work item is divided into pieces of whole blocks,
//! which are reduced on all cores; its elements are mapped piece by piece once its results are known.

mod accumulator;
mod column;
mod outputs;
mod states;
mod table_expr;
mod templates;

use std::ops::Range;

use column::{Column, Source};
use outputs::{Outputs, WorkItem};
use states::States;
use templates::compiled;

use super::array::Array;
use super::compiled_expr::{CompiledExpr, Inputs};
use super::compute::CpuPrimitive;
use super::encoding::{Encoded, Ends};
use super::eval::Block;
use super::parallel;
use super::segments::segments;
use super::work_items::RowStarts;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::canonical_order::reduction::block_len;
use crate::graph::plan::Step;
use crate::graph::planned::{InPlan, RowDomain, Rows};
use crate::graph::primitive::Reduce;
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::graph::step::row_kernel::RowKernel;

/// Numbers per evaluated block. A longer row is evaluated and reduced in several blocks.
const CHUNK: usize = 8192;

/// Numbers per evaluated block that are computed as products: several long rows share the packed columns.
const CHUNK_OF_PRODUCTS: usize = 1 << 16;

impl CpuPrimitive for Reduce<InPlan> {
    fn compute(&self, step: &Step, inputs: &Inputs, outputs: &mut [Array]) -> Result<()> {
        let kernel = step.row_kernel.as_ref().expect("bug: a row reduction without a row kernel");
        let RowDomain { rows, nrows, inner, .. } = &self.on;
        run(inputs, kernel, rows, inputs.count(nrows), *inner as usize, outputs);
        Ok(())
    }
}

/// Runs a row kernel over the first `nrows` rows, with `inner` numbers per value, into its outputs in order.
fn run(inputs: &Inputs, kernel: &RowKernel, rows: &Rows, nrows: usize, inner: usize, arrays: &mut [Array]) {
    let nrows = if inner == 0 { 0 } else { nrows };
    let compiled = compiled(inputs, kernel, rows, inner);
    let starts = compiled.starts;
    let mut live = vec![nrows * inner; arrays.len()];
    if compiled.mapped.is_some() {
        *live.last_mut().expect("bug: a map without an output") = starts.at(nrows);
    }
    let ranges = starts.ranges(nrows, inner, compiled.chunk(nrows));
    let outputs = Outputs { starts, inner, maps: compiled.mapped.is_some() };
    parallel::for_each(outputs.items(ranges, arrays), &|item| compiled.item(item));
    arrays.iter_mut().zip(live).for_each(|(array, live)| array.zero_rest(live));
}

/// The results of a row kernel's rows from its accumulators.
struct CompiledResult<'a> {
    reducer: Reducer,
    /// Index of the accumulator.
    column: usize,
    /// The epilogue, whose given values are the reduced ones.
    epilogue: Option<CompiledExpr<'a>>,
    is_stored: bool,
}

/// A row kernel with its expressions compiled.
struct Compiled<'a> {
    starts: RowStarts<'a>,
    inner: usize,
    /// The values of the accumulators, and the map as the whole expression. The given values are the results of each
    /// element's row, if there is a map.
    elements: CompiledExpr<'a>,
    /// Expressions of the value's index, of accumulators that read rows of a table.
    values: CompiledExpr<'a>,
    columns: Vec<Box<dyn Column + 'a>>,
    results: Vec<CompiledResult<'a>>,
    /// The dtype of the mapped elements, if there is a map.
    mapped: Option<DType>,
    /// Whether all accumulators read rows of a table.
    of_tables: bool,
}

impl Compiled<'_> {
    /// Numbers per work item: [`CHUNK`], or more if blocks hold few intermediate results, so that the fixed cost per item
    /// matters more; but few enough for all cores to have work.
    fn chunk(&self, nrows: usize) -> usize {
        let most = if self.of_tables {
            // One index per value instead of `inner` numbers.
            CHUNK * self.inner
        } else if self.elements.only_loads() {
            4 * CHUNK
        } else if self.elements.recomputes() {
            return CHUNK_OF_PRODUCTS;
        } else {
            CHUNK
        };
        let per_task = (self.starts.at(nrows) - self.starts.at(0)) * self.inner / (4 * rayon::current_num_threads());
        per_task.clamp(CHUNK, most.max(CHUNK))
    }

    fn item(&self, WorkItem { rows, outputs }: WorkItem<'_>) {
        let (from, to) = (self.starts.at(rows.start), self.starts.at(rows.end));
        let mut outputs = outputs.into_iter();
        if rows.len() > 1 || to - from <= self.piece() {
            let mut source = self.source(from, to - from);
            let states = self.columns.iter().map(|column| column.rows(&mut source, self.starts, rows.clone()));
            let mut states: Vec<Box<dyn States>> = states.collect();
            let results = self.results(rows.start, rows.len(), &mut states, &mut outputs);
            if let Some(out) = outputs.next().filter(|out| !out.is_empty()) {
                self.map(source.elements, self.by_element(rows, results).into_iter(), out);
            }
            return;
        }
        let results = self.results(rows.start, 1, &mut self.long_row(from, to), &mut outputs);
        if let Some(out) = outputs.next() {
            let results: Vec<Scalar> = results.iter().map(|result| result.get(0)).collect();
            let size = out.len() / (to - from);
            parallel::for_each_chunk(out, self.piece() * size, &|k, out| {
                let start = from + k * self.piece();
                let elements = Block::consecutive(&self.elements, start as u32, out.len() / size);
                self.map(elements, results.iter().map(|&result| Encoded::Constant(result)), out);
            });
        }
    }

    /// Values per piece of a long row: whole blocks.
    fn piece(&self) -> usize {
        let block = block_len(self.inner);
        if self.elements.recomputes() {
            return CHUNK_OF_PRODUCTS;
        }
        (CHUNK / self.inner.max(1)).next_multiple_of(block).max(block)
    }

    /// The source of `len` values from value `from` on.
    fn source(&self, from: usize, len: usize) -> Source<'_> {
        let inner = self.inner;
        Source {
            elements: Block::consecutive(&self.elements, (from * inner) as u32, len * inner),
            values: (!self.values.ops().is_empty())
                .then(|| Block::strided(&self.values, from as u32, len, inner as u32)),
            from,
            inner,
        }
    }

    /// Reduces a row of several blocks: the partials of the blocks on all cores, then a fold of the partials in order.
    fn long_row(&self, from: usize, to: usize) -> Vec<Box<dyn States>> {
        let pieces = parallel::collect((to - from).div_ceil(self.piece()), &|k| {
            let at = from + k * self.piece();
            let len = self.piece().min(to - at);
            let mut source = self.source(at, len);
            self.columns.iter().map(|column| column.blocks(&mut source, len)).collect::<Vec<_>>()
        });
        let mut pieces: Vec<_> = pieces.into_iter().map(Vec::into_iter).collect();
        let of_columns = self.columns.iter().map(|column| {
            let partials = pieces.iter_mut().filter_map(Iterator::next).collect();
            column.fold(self.inner, to - from, partials)
        });
        of_columns.collect()
    }

    /// The results of `n` rows from row `first` on, from the states of each accumulator. Stores those with an output.
    fn results<'o>(
        &self,
        first: usize,
        n: usize,
        states: &mut [Box<dyn States>],
        outputs: &mut impl Iterator<Item = &'o mut [u8]>,
    ) -> Vec<Encoded<'_>> {
        let results = self.results.iter().enumerate().map(|(k, r)| {
            let is_last = self.results[k + 1..].iter().all(|other| other.column != r.column);
            let mut result = states[r.column].results(r.reducer, is_last);
            if let Some(epilogue) = &r.epilogue {
                let mut block = Block::consecutive(epilogue, (first * self.inner) as u32, n * self.inner);
                block.memoize(0, result);
                result = block.root().dense();
            }
            if r.is_stored
                && let Some(out) = outputs.next()
            {
                result.store(out);
            }
            result
        });
        results.collect()
    }

    /// The results of each element's row, from those of the rows. Leading and trailing rows without elements are left
    /// out, as in the rows of consecutive positions, so that both have the same runs.
    fn by_element<'r>(&self, rows: Range<usize>, results: Vec<Encoded<'r>>) -> Vec<Encoded<'r>> {
        let (from, to) = (self.starts.at(rows.start), self.starts.at(rows.end));
        let ends: Vec<u32> = rows.map(|row| (self.starts.at(row + 1) - from) as u32).collect();
        let first = ends.partition_point(|&end| end == 0);
        let end = ends.partition_point(|&end| (end as usize) < to - from) + 1;
        if end - first == 1 {
            return results.iter().map(|result| Encoded::Constant(result.get(first))).collect();
        }
        let is_all = (first, end) == (0, ends.len());
        let ends: Ends = ends[first..end].to_vec().into();
        let of_rows = |result: Encoded<'r>| match is_all {
            true => result,
            false => result.slice(first..end),
        };
        results.into_iter().map(|result| segments(ends.clone(), 0, of_rows(result))).collect()
    }

    /// Maps the elements, given the results of their rows.
    fn map<'b>(&self, mut elements: Block<'b>, results: impl Iterator<Item = Encoded<'b>>, out: &mut [u8]) {
        results.enumerate().for_each(|(id, result)| elements.memoize(id, result));
        if let Some(dtype) = self.mapped {
            elements.store(dtype, out);
        }
    }
}
