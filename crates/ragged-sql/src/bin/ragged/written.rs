//! Statements as users wrote them.

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem, SetExpr, Statement as Sql};

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
