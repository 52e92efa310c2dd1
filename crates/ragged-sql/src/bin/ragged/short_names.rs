//! Names without the prefix, where DataFusion leaves them free.

use std::collections::HashSet;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, ScalarUDF};
use datafusion::prelude::SessionContext;
use ragged_sql::Functions;

/// The function with its names that no function of the session has, without `ragged_`.
pub fn with_short_names(function: &ScalarUDF, taken: &HashSet<String>) -> ScalarUDF {
    let names = std::iter::once(function.name()).chain(function.aliases().iter().map(String::as_str));
    let short: Vec<&'static str> = names
        .filter_map(|name| name.strip_prefix("ragged_"))
        .filter(|name| !taken.contains(*name))
        // Once in a process.
        .map(|name| &*name.to_owned().leak())
        .collect();
    function.clone().with_aliases(short)
}

/// All names of functions of a session.
pub fn taken(session: &SessionContext) -> HashSet<String> {
    let state = session.state();
    let windows = state.udwfs();
    state
        .udfs()
        .into_iter()
        .chain(state.udafs())
        .chain(windows)
        .chain(RESERVED.iter().map(|name| String::from(*name)))
        .collect()
}

/// Words with which SQL begins other expressions.
const RESERVED: &[&str] = &["all", "any", "case", "cast", "exists", "row", "unnest", "where"];

/// The names of a function of DataFusion that is called with a list, where `ragged` has one of that name.
pub fn of_lists(plan: &LogicalPlan, functions: &Functions) -> Vec<String> {
    let is_ours = |name: &str| {
        let full = format!("ragged_{name}");
        functions.all().iter().any(|function| function.name() == full || function.aliases().contains(&full))
    };
    let mut found = Vec::new();
    // The visitors do not fail.
    let _ = plan.apply_with_subqueries(|node| {
        let Some(input) = node.inputs().first().map(|input| input.schema().clone()) else {
            return Ok(TreeNodeRecursion::Continue);
        };
        node.apply_expressions(|expression| {
            expression.apply(|expression| {
                let (name, aliases, arguments) = match expression {
                    Expr::ScalarFunction(call) => (call.name(), call.func.aliases(), &call.args),
                    Expr::AggregateFunction(call) => (call.func.name(), call.func.aliases(), &call.params.args),
                    _ => return Ok(TreeNodeRecursion::Continue),
                };
                let names = std::iter::once(name).chain(aliases.iter().map(String::as_str));
                let ours: Vec<String> = names.filter(|name| is_ours(name)).map(String::from).collect();
                let is_list = |argument: &Expr| argument.get_type(&input).is_ok_and(|kind| kind.is_list());
                if !name.starts_with("ragged_") && !ours.is_empty() && arguments.iter().any(is_list) {
                    found = ours;
                    return Ok(TreeNodeRecursion::Stop);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    found
}
