//! Names without the prefix, where DataFusion leaves them free.

use std::collections::HashSet;

use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;

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
