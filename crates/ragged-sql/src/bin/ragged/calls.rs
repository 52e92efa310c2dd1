//! Which call of a query has a fault.

use std::ops::ControlFlow;

use datafusion::common::{DataFusionError, Diagnostic, Span};
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Query, SelectItem, SetExpr, Spanned, Statement as Sql, Visit, Visitor,
};

use ragged_sql::Functions;

use crate::place::first_name;

/// The error with the place of the call that has the fault: the first that has it by itself.
pub async fn with_place(
    error: DataFusionError,
    statement: &Statement,
    state: &SessionState,
    functions: &Functions,
) -> DataFusionError {
    let has_place = error.diagnostic().is_some_and(|diagnostic| diagnostic.span.is_some());
    let DataFusionError::Plan(why) = error.find_root() else { return error };
    let name = first_name(why);
    let is_ours = functions.all().iter().any(|function| function.name() == name);
    let Some(query) = query(statement).filter(|_| is_ours && !has_place) else { return error };
    let mut calls = Calls { name, state, found: Vec::new() };
    // It does not break.
    let _ = query.visit(&mut calls);
    for (call, span) in calls.found {
        let Some(alone) = alone(query, call) else { break };
        let planned = state.statement_to_plan(alone).await;
        if planned.is_err_and(|error| matches!(error.find_root(), DataFusionError::Plan(of_call) if of_call == why)) {
            let diagnostic = Diagnostic::new_error(why.clone(), span);
            return error.with_diagnostic(diagnostic);
        }
    }
    error
}

fn query(statement: &Statement) -> Option<&Query> {
    let Statement::Statement(statement) = statement else { return None };
    if let Sql::Query(query) = &**statement { Some(query) } else { None }
}

/// A query of that call and nothing else, of the same tables.
fn alone(query: &Query, call: Expr) -> Option<Statement> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let mut select = select.clone();
    select.projection = vec![SelectItem::UnnamedExpr(call)];
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    (select.distinct, select.selection, select.having, select.qualify) = (None, None, None, None);
    let query = Query { body: Box::new(SetExpr::Select(select)), order_by: None, limit_clause: None, ..query.clone() };
    Some(Statement::Statement(Box::new(Sql::Query(Box::new(query)))))
}

/// The calls of a function, those within others before these.
struct Calls<'c> {
    name: &'c str,
    state: &'c SessionState,
    found: Vec<(Expr, Option<Span>)>,
}

impl Visitor for Calls<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::Function(call) = expression {
            let name = call.name.to_string().to_lowercase();
            if self.state.scalar_functions().get(&name).is_some_and(|function| function.name() == self.name) {
                let span = call.name.0.first().and_then(|part| Span::try_from_sqlparser_span(part.span()));
                self.found.push((expression.clone(), span));
            }
        }
        ControlFlow::Continue(())
    }
}
