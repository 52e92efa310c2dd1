//! A row kernel whose expressions are compiled once, for all runs.

use std::sync::{Arc, OnceLock};

use super::super::compiled_expr::{CompiledExpr, Inputs, OpId};
use super::super::row_reduce::ChainStep;
use super::super::template::{Prepared, Template};
use super::super::work_items::RowStarts;
use super::accumulator::column;
use super::column::ColumnSource;
use super::table_expr::TableExpr;
use super::{Compiled, CompiledResult};
use crate::dtype::DType;
use crate::graph::planned::{Expr, Rows};
use crate::graph::reducer::{Accumulator, Reducer};
use crate::graph::step::row_kernel::RowKernel;

/// The results of an accumulator, as in [`CompiledResult`].
struct ResultTemplate {
    reducer: Reducer,
    column: usize,
    epilogue: Option<Arc<Template>>,
    is_stored: bool,
}

/// A row kernel without the arrays and sizes of a run.
struct RowTemplate {
    elements: Arc<Template>,
    values: Arc<Template>,
    columns: Vec<(Accumulator, DType, ColumnSource<usize>)>,
    results: Vec<ResultTemplate>,
    mapped: Option<DType>,
}

/// The values of an accumulator, before they are compiled.
enum Values<'e> {
    Elements(&'e Expr),
    Table(TableExpr),
}

impl RowTemplate {
    /// The template of a kernel that reads the rows of tables as such, if `of_tables`.
    fn new(step: &Prepared, kernel: &RowKernel, rows: &Rows, inner: usize, of_tables: bool) -> Self {
        let columns = kernel.columns();
        let source = |e| match TableExpr::of(e, inner).filter(|_| of_tables) {
            Some(table) => Values::Table(table),
            None => Values::Elements(e),
        };
        let sources: Vec<Values<'_>> = columns.iter().map(|(_, e)| source(e)).collect();
        let own = rows.row_of(Expr::index());
        let given: Vec<Expr> = match &kernel.map {
            Some(_) => kernel.results.iter().map(|r| Expr::load(&r.out, own.clone())).collect(),
            None => Vec::new(),
        };
        let (mut of_elements, mut of_values): (Vec<&Expr>, Vec<&Expr>) = (Vec::new(), Vec::new());
        for source in &sources {
            match source {
                Values::Elements(e) => of_elements.push(e),
                Values::Table(of) => {
                    of_values.push(&of.first);
                    of_values.extend(of.chain.iter().filter_map(ChainStep::operand));
                }
            }
        }
        of_elements.extend(kernel.map.iter().map(|map| &map.value));
        let (elements, values) = (Template::new(step, &given, &of_elements), Template::new(step, &[], &of_values));
        let mut ids = [&elements, &values].map(|template| template.ids.iter().copied());
        let mut next = |k: usize| -> OpId { ids[k].next().expect("bug: an expression was not compiled") };
        let of_column = |((accumulator, e), source): (&(Accumulator, &Expr), &Values<'_>)| {
            let source = match source {
                Values::Elements(_) => ColumnSource::Elements(next(0)),
                Values::Table(of) => {
                    let first = next(1);
                    let chain = of.chain.iter().map(|step| step.with_operand(step.operand().map(|_| next(1))));
                    ColumnSource::Table { array: step.array(&of.table), first, chain: chain.collect() }
                }
            };
            (*accumulator, e.dtype(), source)
        };
        let columns = columns.iter().zip(&sources).map(of_column).collect();
        let results = kernel.results.iter().map(|r| ResultTemplate {
            reducer: r.reducer,
            column: kernel.column_of(r),
            epilogue: r.epilogue.as_ref().map(|epilogue| {
                let given = std::slice::from_ref(&epilogue.reduced);
                Arc::new(Template::new(step, given, &[&epilogue.value]))
            }),
            is_stored: r.is_stored,
        });
        let mapped = kernel.map.as_ref().map(|map| map.out.dtype());
        let results = results.collect();
        Self { elements: Arc::new(elements), values: Arc::new(values), columns, results, mapped }
    }

    fn reads_an_empty_table(&self, inputs: &Inputs) -> bool {
        self.columns.iter().any(|(_, _, source)| match source {
            ColumnSource::Elements(_) => false,
            ColumnSource::Table { array, .. } => inputs.arrays[*array].len() == 0,
        })
    }

    fn in_run<'a>(&self, inputs: &'a Inputs, starts: RowStarts<'a>, inner: usize) -> Compiled<'a> {
        let compiled = |template: &Arc<Template>| CompiledExpr::of_template(inputs, template.clone());
        let columns = self.columns.iter();
        Compiled {
            starts,
            inner,
            columns: columns.map(|(accumulator, dtype, of)| column(*accumulator, *dtype, of.in_run(inputs))).collect(),
            results: self
                .results
                .iter()
                .map(|r| CompiledResult {
                    reducer: r.reducer,
                    column: r.column,
                    epilogue: r.epilogue.as_ref().map(compiled),
                    is_stored: r.is_stored,
                })
                .collect(),
            mapped: self.mapped,
            of_tables: self.columns.iter().all(|(.., of)| matches!(of, ColumnSource::Table { .. })),
            elements: compiled(&self.elements),
            values: compiled(&self.values),
        }
    }
}

/// The templates of a step's row kernel.
pub(super) struct RowTemplates {
    template: RowTemplate,
    /// For runs in which a table is empty, so that it has no rows to read.
    of_empty_tables: OnceLock<RowTemplate>,
}

/// The row kernel in a run.
pub(super) fn compiled<'a>(inputs: &'a Inputs, kernel: &RowKernel, rows: &Rows, inner: usize) -> Compiled<'a> {
    let make = |of_tables| RowTemplate::new(&inputs.step, kernel, rows, inner, of_tables);
    let templates =
        inputs.step.of_primitive(|| RowTemplates { template: make(true), of_empty_tables: OnceLock::new() });
    let template = match templates.template.reads_an_empty_table(inputs) {
        false => &templates.template,
        true => templates.of_empty_tables.get_or_init(|| make(false)),
    };
    template.in_run(inputs, RowStarts::new(inputs, rows), inner)
}
