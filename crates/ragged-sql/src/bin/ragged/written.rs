//! Statements as users wrote them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use datafusion::config::Dialect;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectItem, SetExpr, Statement as Sql, Visit, Visitor,
};

/// Names the columns of a query by their expressions as they are written: `ragged_sum(x)`.
pub fn name_columns(statement: &mut Statement) {
    let Statement::Statement(statement) = statement else { return };
    let Sql::Query(query) = &mut **statement else { return };
    let SetExpr::Select(select) = &mut *query.body else { return };
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(expression) = item else { continue };
        if !matches!(expression, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            let alias = Ident::with_quote('"', expression.to_string());
            *item = SelectItem::ExprWithAlias { expr: expression.clone(), alias };
        }
    }
}

/// Whether a query of a select list has further clauses, or is none.
pub fn has_clauses(statement: &Statement) -> bool {
    let has_input = |select: &Select| !select.from.is_empty() || select.selection.is_some();
    select(statement).is_none_or(|(query, select)| has_end(query, select) || has_input(select))
}

/// Whether a query of a condition has clauses after it, or is none.
pub fn has_clauses_after_condition(statement: &Statement) -> bool {
    select(statement).is_none_or(|(query, select)| has_end(query, select))
}

fn select(statement: &Statement) -> Option<(&Query, &Select)> {
    let Statement::Statement(statement) = statement else { return None };
    let Sql::Query(query) = &**statement else { return None };
    let SetExpr::Select(select) = &*query.body else { return None };
    Some((query, select))
}

fn has_end(query: &Query, select: &Select) -> bool {
    let has_groups = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(expressions, _) => !expressions.is_empty(),
    };
    let has_order = query.order_by.is_some() || query.limit_clause.is_some() || query.fetch.is_some();
    has_order || has_groups || select.having.is_some() || select.qualify.is_some()
}

/// The names of functions as a query has them, by their own names.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// Those of a query; none of one that cannot be parsed.
    pub fn of(sql: &str, state: &SessionState) -> Self {
        let mut calls = Calls { state, names: BTreeMap::new() };
        if let Ok(Statement::Statement(statement)) = state.sql_to_statement(sql, &Dialect::default()) {
            // It does not break.
            let _ = statement.visit(&mut calls);
        }
        Self(calls.names)
    }

    /// A message with the names that the query has.
    pub fn applied(&self, message: &str) -> String {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut text = String::new();
        let mut left = message;
        while let Some(start) = left.find(is_part) {
            let end = left[start..].find(|c| !is_part(c)).map_or(left.len(), |length| start + length);
            let word = &left[start..end];
            text.push_str(&left[..start]);
            text.push_str(self.0.get(word).map_or(word, String::as_str));
            left = &left[end..];
        }
        text + left
    }
}

struct Calls<'c> {
    state: &'c SessionState,
    names: BTreeMap<String, String>,
}

impl Visitor for Calls<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::Function(call) = expression {
            let name = call.name.to_string().to_lowercase();
            if let Some(function) = self.state.scalar_functions().get(&name) {
                // Of several names of a function, messages have the first.
                self.names.entry(function.name().to_owned()).or_insert(name);
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_names_of_the_query() {
        let names = Names(BTreeMap::from([("ragged_reduce_sum".into(), "sum_of".into())]));
        let message = "ragged_reduce_sum: usage: ragged_reduce_sum(x); no ragged_reduce_sum_2";
        assert_eq!(names.applied(message), "sum_of: usage: sum_of(x); no ragged_reduce_sum_2");
    }
}
