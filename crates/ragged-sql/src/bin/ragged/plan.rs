//! Queries as plans.

use datafusion::common::DataFusionError;
use datafusion::config::Dialect;
use datafusion::prelude::{DataFrame, SQLOptions, SessionContext};

use ragged_sql::Functions;

use crate::exit::Failure;
use crate::inputs::Table;
use crate::{calls, fault, short_names, written};

/// The plan of a query that reads.
///
/// # Errors
/// Faults of the query, with their places.
pub async fn planned(
    session: &SessionContext,
    sql: &str,
    tables: &[Table],
    functions: &Functions,
) -> Result<DataFrame, Failure> {
    let reads_only = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let failed = |error: DataFusionError| fault::of_plan(&error, sql, tables, functions);
    let state = session.state();
    let mut statement = state.sql_to_statement(sql, &Dialect::default()).map_err(failed)?;
    written::name_columns(&mut statement);
    let is_ours =
        |name: &str| state.scalar_functions().get(name).is_some_and(|function| function.name().starts_with("ragged_"));
    ragged_sql::complete_arguments_of(&mut statement, is_ours).map_err(failed)?;
    let plan = match state.statement_to_plan(statement.clone()).await {
        Ok(plan) => plan,
        Err(error) => return Err(failed(calls::with_place(error, &statement, &state, functions).await)),
    };
    reads_only.verify_plan(&plan).map_err(failed)?;
    let names = short_names::of_lists(&plan, functions);
    if !names.is_empty() {
        return Err(fault::not_of_lists(&names, sql));
    }
    // Faults of calls are found before anything is written.
    let plan = state.optimize(&plan).map_err(failed)?;
    Ok(DataFrame::new(state, plan))
}
