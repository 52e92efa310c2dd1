//! `ragged run`.

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::config::Dialect;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{DataFrame, SessionContext};

use crate::arguments::Run;
use crate::counted::{Count, Counted};
use crate::execution::Plan;
use crate::exit::{Failure, message};
use crate::fault;
use crate::inputs::{self, INPUT, Table};
use crate::located::{Query, with_places};
use crate::output::Output;
use crate::plan::planned;
use crate::progress::Progress;
use crate::session::session;
use crate::written::{self, Names};

/// Computes the rows and writes them.
///
/// # Errors
/// Faults of the command, of the query, of the inputs, and of the output.
pub async fn run(run: &Run) -> Result<(), Failure> {
    let (session, functions) = session(run)?;
    let count = Arc::new(Count::default());
    session.register_object_store(ObjectStoreUrl::local_filesystem().as_ref(), Arc::new(Counted::new(&count)));
    let (sql, tables) = query(run, &session, &count).await?;
    let names = Names::of(&sql, &session.state());
    let computed = compute(run, Query { session, sql, tables, functions }, &count).await;
    computed.map_err(|failure| failure.renamed(&names))
}

async fn compute(run: &Run, query: Query, count: &Arc<Count>) -> Result<(), Failure> {
    let Query { session, sql, tables, functions } = &query;
    let frame = planned(session, sql, tables, functions).await?;
    if run.explain {
        return explain(run, frame, tables).await;
    }
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let output = Output::new(&run.output, run.format, &schema)?;
    let context = Arc::new(frame.task_ctx());
    let failed = |error: DataFusionError| fault::of_plan(&error, sql, tables, functions);
    let plan = Plan::new(run, frame, tables).await.map_err(failed)?;
    count.start();
    let progress = Progress::new(plan.node(), tables, count, functions.clone(), run.json_progress);
    let rows = plan.rows(run, &context).map_err(|error| Failure::of_rows(&error))?;
    let rows = with_places(rows, &Arc::new(query));
    let done = output.write(rows, &progress).await;
    progress.clear();
    done
}

/// The query of the command, and its tables. Each part that the user wrote has lines of its own, so that faults can show it.
async fn query(run: &Run, session: &SessionContext, count: &Arc<Count>) -> Result<(String, Vec<Table>), Failure> {
    if let Some(sql) = &run.sql {
        if let Some(input) = run.select.iter().chain(&run.inputs).next() {
            return Err(Failure::usage(format!("{input}: the tables of a query are given by --table NAME=FILE")));
        }
        let mut tables = Vec::new();
        for table in &run.tables {
            let Some((name, path)) = table.split_once('=').filter(|(name, _)| is_name(name)) else {
                return Err(Failure::usage(format!(
                    "--table {table}: it must be NAME=FILE; a name has letters, digits and _"
                )));
            };
            tables.push(inputs::register(session, Some(name), &[path.to_owned()], count).await?);
        }
        return Ok((sql.clone(), tables));
    }
    let select = run.select.as_deref().unwrap_or("*");
    if select.trim().is_empty() {
        return Err(Failure::usage("the select list is empty; `*` has all columns"));
    }
    check_clauses(session, select, run.condition.as_deref())?;
    let table = inputs::register(session, None, &run.inputs, count).await?;
    let select = match &run.program {
        Some(file) => format!("ragged_program('{}',\n{select}\n) AS result", file.replace('\'', "''")),
        None => format!("\n{select}\n"),
    };
    let condition = run.condition.as_ref().map_or(String::new(), |condition| format!("WHERE\n{condition}"));
    Ok((format!("SELECT {select} FROM {INPUT} {condition}"), vec![table]))
}

/// Parses the select list and the condition by themselves, so that faults show what the user wrote and nothing else.
///
/// # Errors
/// Faults of each, with their places; other clauses of a query.
fn check_clauses(session: &SessionContext, select: &str, condition: Option<&str>) -> Result<(), Failure> {
    let state = session.state();
    let parse = |sql: &str| {
        let parsed = state.sql_to_statement(sql, &Dialect::default());
        parsed.map_err(|error| fault::of_text(&error, sql))
    };
    let list = parse(&format!("SELECT\n{select}"))?;
    if written::has_clauses(&list) {
        return Err(Failure::usage(
            "the select list has clauses of a query: its input is the file of the command, --where chooses rows, and --sql takes a whole \
             query",
        ));
    }
    if let Some(condition) = condition
        && written::has_clauses_after_condition(&parse(&format!("SELECT 1 WHERE\n{condition}"))?)
    {
        return Err(Failure::usage("--where has clauses of a query after its condition; --sql takes a whole query"));
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

async fn explain(run: &Run, frame: DataFrame, tables: &[Table]) -> Result<(), Failure> {
    let logical = frame.logical_plan().display_indent().to_string();
    let plan = Plan::new(run, frame, tables).await.map_err(|error| Failure::usage(message(error.find_root())))?;
    crate::output::print(&format!("{logical}\n\n{}", displayable(&**plan.node()).indent(false)))
}
