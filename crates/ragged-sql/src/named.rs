//! Named arguments with gaps.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value, VisitMut, VisitorMut,
};

use crate::functions::{self, Parameter};

/// Writes the arguments of the functions `ragged_*` in their order, with NULL for those that are left out, so that
/// `ragged_sort(x, descending => true)` is `ragged_sort(x, NULL, true)`. DataFusion itself requires all arguments before a named
/// one.
///
/// Calls with names that the function does not have are left as they are: their faults are those of planning.
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
/// ragged_sql::complete_arguments(&mut statement);
/// let plan = state.statement_to_plan(statement).await?;
/// let rows = session.execute_logical_plan(plan).await?.to_string().await?;
/// assert!(rows.contains("| [3, 2, 1] |"), "{rows}");
/// # Ok::<(), datafusion::common::DataFusionError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complete_arguments(statement: &mut Statement) {
    if let Statement::Statement(statement) = statement {
        // It does not break.
        let _ = statement.visit(&mut Completing { is_ours: |name: &str| name.starts_with("ragged_") });
    }
}

/// The same for functions that are also known without `ragged_`, where the names are free.
pub fn complete_arguments_of(statement: &mut Statement, is_ours: impl Fn(&str) -> bool) {
    if let Statement::Statement(statement) = statement {
        let _ = statement.visit(&mut Completing { is_ours });
    }
}

struct Completing<F> {
    is_ours: F,
}

impl<F: Fn(&str) -> bool> VisitorMut for Completing<F> {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(call) = expression {
            let name = call.name.to_string().to_ascii_lowercase();
            if (self.is_ours)(&name) {
                let known = functions::by_name(&name).or_else(|| functions::by_name(&format!("ragged_{name}")));
                if let Some(function) = known {
                    complete(call, &function.parameters);
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn complete(call: &mut Function, parameters: &[Parameter]) {
    let FunctionArguments::List(list) = &mut call.args else { return };
    let is_named = |argument: &FunctionArg| matches!(argument, FunctionArg::Named { .. });
    let Some(first) = list.args.iter().position(is_named) else { return };
    let mut ordered: Vec<Option<FunctionArgExpr>> = vec![None; parameters.len()];
    for (k, argument) in list.args.iter().enumerate() {
        let (at, value) = match argument {
            FunctionArg::Unnamed(value) if k < first => (Some(k), value),
            FunctionArg::Named { name, arg, .. } => {
                (parameters.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(&name.value)), arg)
            }
            _ => return,
        };
        match at.and_then(|at| ordered.get_mut(at)) {
            Some(place @ None) => *place = Some(value.clone()),
            _ => return,
        }
    }
    let last = ordered.iter().rposition(Option::is_some).unwrap_or(0);
    let null = || FunctionArgExpr::Expr(Expr::Value(Value::Null.into()));
    list.args = ordered[..=last].iter().map(|value| FunctionArg::Unnamed(value.clone().unwrap_or_else(null))).collect();
}
