//! Statements before they are planned: arguments in their order, constants, and clauses that no function of rows takes.

mod arguments;
mod clauses;
mod constants;

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, Diagnostic, Result, Span};
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{Expr, Function, Spanned, VisitMut, VisitorMut};

use crate::fault;
use crate::functions;

/// Writes the arguments of the functions `ragged_*` in their order, with NULL for those that are left out, so that
/// `ragged_sort(x, descending => true)` is `ragged_sort(x, NULL, true)`. DataFusion itself requires all arguments before a named
/// one. Constants such as `2 + 1` and `[0.25, 0.75]` become the literals that are required where they are arguments.
///
/// # Errors
/// A call with a clause that DataFusion would ignore, such as FILTER or OVER; an option that the function does not have. They
/// have the place of the call as [`Diagnostic`].
///
/// ```
/// use datafusion::prelude::SessionContext;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let mut session = SessionContext::new();
/// ragged_sql::register(&mut session, &ragged::Device::cpu())?;
/// let state = session.state();
/// let dialect = state.config().options().sql_parser.dialect;
/// let mut statement = state.sql_to_statement("SELECT ragged_sort([1, 3, 2], descending => true) AS x", &dialect)?;
/// ragged_sql::complete_arguments(&mut statement)?;
/// let plan = state.statement_to_plan(statement).await?;
/// let rows = session.execute_logical_plan(plan).await?.to_string().await?;
/// assert!(rows.contains("| [3, 2, 1] |"), "{rows}");
/// # Ok::<(), datafusion::common::DataFusionError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complete_arguments(statement: &mut Statement) -> Result<()> {
    complete_arguments_of(statement, |name| name.starts_with("ragged_"))
}

/// The same for functions that are also known without `ragged_`, where the names are free.
///
/// # Errors
/// Those of [`complete_arguments`].
pub fn complete_arguments_of(statement: &mut Statement, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    complete(statement, &mut Completing { is_ours })
}

fn complete(statement: &mut Statement, completing: &mut Completing<impl Fn(&str) -> bool>) -> Result<()> {
    let done = match statement {
        Statement::Statement(statement) => statement.visit(completing),
        Statement::Explain(explained) => return complete(&mut explained.statement, completing),
        Statement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => query.visit(completing),
            CopyToSource::Relation(_) => return Ok(()),
        },
        _ => return Ok(()),
    };
    match done {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(fault) => Err(*fault),
    }
}

struct Completing<F> {
    is_ours: F,
}

impl<F: Fn(&str) -> bool> VisitorMut for Completing<F> {
    type Break = Box<DataFusionError>;

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Self::Break> {
        let Expr::Function(call) = expression else { return ControlFlow::Continue(()) };
        let name = name(call);
        if !(self.is_ours)(&name) {
            return ControlFlow::Continue(());
        }
        match clauses::check(call).and_then(|()| complete_call(call, &name)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => ControlFlow::Break(Box::new(at(call, format!("{name}: {why}")))),
        }
    }
}

fn complete_call(call: &mut Function, name: &str) -> Result<(), String> {
    let known = functions::by_name(name).or_else(|| functions::by_name(&format!("ragged_{name}")));
    let Some(function) = known else { return Ok(()) };
    arguments::in_order(call, function)?;
    arguments::fold(call, function);
    Ok(())
}

/// The name as functions are registered: lower case unless it is quoted.
fn name(call: &Function) -> String {
    match &call.name.0[..] {
        [part] => match part.as_ident() {
            Some(ident) if ident.quote_style.is_some() => ident.value.clone(),
            Some(ident) => ident.value.to_ascii_lowercase(),
            None => part.to_string(),
        },
        _ => call.name.to_string(),
    }
}

/// The fault of a call, with its place.
fn at(call: &Function, why: String) -> DataFusionError {
    let span = call.name.0.first().and_then(|part| Span::try_from_sqlparser_span(part.span()));
    let diagnostic = Diagnostic::new_error(why.clone(), span);
    fault::of_plan(why).with_diagnostic(diagnostic)
}
