//! Faults of queries, with the place in the query and similar names.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Location, SchemaError, Span};

use ragged_sql::Functions;

use crate::exit::{Failure, message};
use crate::inputs::Table;
use crate::place::{find_call, find_word, first_name, guess, location};

/// The failure of a query that cannot be planned.
pub fn of_plan(error: &DataFusionError, sql: &str, tables: &[Table], functions: &Functions) -> Failure {
    let root = error.find_root();
    let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
    match root {
        DataFusionError::SchemaError(fault, _) => match &**fault {
            SchemaError::FieldNotFound { field, .. } => {
                missing_column(&field.name, field.spans.first().or(span), sql, tables)
            }
            fault => Failure::usage(fault),
        },
        // Faults of files that the schema is read from.
        DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => {
            Failure::data(message(root))
        }
        DataFusionError::SQL(..) => of_text(error, sql),
        DataFusionError::ResourcesExhausted(why) => Failure::limit(why),
        root => {
            let text = message(root);
            if text.starts_with("Substring without for/from") {
                let span = ["substr", "substring"].into_iter().find_map(|name| find_word(sql, name));
                return marked(
                    Failure::usage("substr: the first character is missing"),
                    span,
                    sql,
                    "substr(text, from, count?)",
                );
            }
            let (what, hint) = text.split_once('\n').unwrap_or((&text, ""));
            let hint = hint.trim().replace("Candidate functions:\n\t", "candidates: ").replace("\n\t", ", ");
            let unknown = what.strip_prefix("Invalid function '").and_then(|rest| rest.split_once('\''));
            let (what, hint) = match unknown {
                Some((name, _)) => (format!("no function `{name}`"), similar_function(name, functions)),
                None => (what.to_owned(), hint),
            };
            if let Some(name) = unsupported(&text).filter(|name| has_function(name, functions)) {
                return not_of_lists(&[name], sql);
            }
            let (what, hint) = match missing_table(&what) {
                Some(name) => (format!("no table `{name}`"), known_tables(tables)),
                None => (what, hint),
            };
            let span =
                span.or_else(|| find_call(sql, first_name(&what), functions)).or_else(|| guess(sql, &what, tables));
            marked(Failure::usage(what), span, sql, &hint)
        }
    }
}

/// The failure of a text that cannot be parsed. One that ends early has its place at its end.
pub fn of_text(error: &DataFusionError, sql: &str) -> Failure {
    let DataFusionError::SQL(fault, _) = error.find_root() else { return Failure::usage(message(error.find_root())) };
    let text = fault.to_string();
    let text = text.strip_prefix("sql parser error: ").unwrap_or(&text);
    let (what, place) = text.rsplit_once(" at Line: ").unwrap_or((text, ""));
    let at = location(place).map(|at| Span { start: at, end: at });
    let Some(expected) = what.strip_suffix(", found: EOF") else { return marked(Failure::usage(what), at, sql, "") };
    let last = sql.trim_end().lines().enumerate().last();
    let end = last.map(|(k, line)| Location { line: k as u64 + 1, column: line.chars().count() as u64 + 1 });
    marked(Failure::usage(format!("{expected}, found: the end")), end.map(|at| Span { start: at, end: at }), sql, "")
}

/// The table that a message says is not there: `table 'datafusion.public.x' not found`.
fn missing_table(message: &str) -> Option<&str> {
    let name = message.strip_prefix("table '")?.strip_suffix("' not found")?;
    Some(name.rsplit('.').next().unwrap_or(name))
}

fn known_tables(tables: &[Table]) -> String {
    let names: Vec<&str> = tables.iter().filter_map(|table| table.name.as_deref()).collect();
    match &names[..] {
        [] => "there are no tables; --table NAME=FILE makes one".into(),
        names => format!("the tables are {}", names.join(", ")),
    }
}

/// The function of the closest name.
fn similar_function(name: &str, functions: &Functions) -> String {
    let names = functions
        .all()
        .iter()
        .flat_map(|function| std::iter::once(function.name()).chain(function.aliases().iter().map(String::as_str)));
    let meant = closest(&name.to_lowercase(), names);
    match meant {
        Some(meant) => format!("did you mean `{meant}`? `ragged functions` lists all"),
        None => "`ragged functions` lists all".into(),
    }
}

/// The most similar of the names, unless none is similar.
fn closest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let similarity = |known: &str| strsim::normalized_damerau_levenshtein(&known.to_lowercase(), &name.to_lowercase());
    let rated = names.map(|known| (similarity(known), known)).filter(|(similarity, _)| *similarity >= 0.5);
    rated.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// The failure of a call of DataFusion's own function for a list, where `ragged` has one of that name.
pub fn not_of_lists(names: &[impl AsRef<str>], sql: &str) -> Failure {
    let mut written = names.iter().map(AsRef::as_ref).filter_map(|name| Some((name, find_word(sql, name)?)));
    let Some((name, span)) = written.next() else {
        return Failure::usage("a function of DataFusion does not compute on the values of lists");
    };
    let failure =
        Failure::usage(format!("`{name}` is a function of DataFusion, which does not compute on the values of lists"));
    marked(failure, Some(span), sql, &format!("did you mean `ragged_{name}`?"))
}

fn missing_column(name: &str, span: Option<Span>, sql: &str, tables: &[Table]) -> Failure {
    let files: Vec<String> = tables.iter().map(Table::description).collect();
    let known: Vec<(String, String)> = tables.iter().flat_map(|table| columns(&table.schema)).collect();
    let meant = closest(name, known.iter().map(|(column, _)| column.as_str()));
    let close = known.iter().find(|(column, _)| Some(column.as_str()) == meant);
    let others: Vec<&str> =
        known.iter().map(|(column, _)| column.as_str()).filter(|column| Some(*column) != meant).collect();
    let shown = others[..others.len().min(MOST_COLUMNS)].join(", ");
    let dots = if others.len() > MOST_COLUMNS { ", …" } else { "" };
    let hint = match close {
        Some((column, kind)) if others.is_empty() => format!("did you mean `{}` ({kind})?", quoted(column)),
        Some((column, kind)) => format!("did you mean `{}` ({kind})? others: {shown}{dots}", quoted(column)),
        None => format!("the columns are {shown}{dots}"),
    };
    let failure = Failure::usage(format!("no column `{name}` in {}", files.join(", ")));
    marked(failure, span.or_else(|| find_word(sql, name)), sql, &hint)
}

/// Most columns that a message lists.
const MOST_COLUMNS: usize = 12;

fn columns(schema: &SchemaRef) -> impl Iterator<Item = (String, String)> {
    schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string()))
}

/// The name as SQL must write it: without quotes, names are lower case.
fn quoted(name: &str) -> String {
    if is_word(name) && !name.chars().any(char::is_uppercase) { name.into() } else { format!("\"{name}\"") }
}

fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(is_part) && text.starts_with(|c: char| !c.is_ascii_digit() && is_part(c))
}

/// The function of DataFusion that a message says does not take its arguments.
fn unsupported(message: &str) -> Option<&str> {
    let (_, call) = message.split_once("No function matches the given name and argument types '")?;
    let (name, arguments) = call.split_once('(')?;
    arguments.contains("List(").then_some(name)
}

fn has_function(name: &str, functions: &Functions) -> bool {
    let full = format!("ragged_{name}");
    functions.all().iter().any(|function| function.name() == full || function.aliases().contains(&full))
}

/// The failure with the line of the query, a mark below the place, and the hint behind it.
fn marked(failure: Failure, span: Option<Span>, sql: &str, hint: &str) -> Failure {
    let line =
        span.and_then(|span| Some((span, sql.lines().nth(usize::try_from(span.start.line).ok()?.checked_sub(1)?)?)));
    let Some((span, line)) = line else {
        return if hint.is_empty() { failure } else { failure.with(format!("  {hint}")) };
    };
    let from = usize::try_from(span.start.column).unwrap_or(1).max(1) - 1;
    let is_one_line = span.end.line == span.start.line && span.end.column > span.start.column;
    let width = if is_one_line { (span.end.column - span.start.column) as usize } else { 1 };
    let hint = if hint.is_empty() { String::new() } else { format!("  {hint}") };
    let before: String = line.chars().take(from).map(|c| if c == '\t' { c } else { ' ' }).collect();
    failure.with(format!("  {line}\n  {before:from$}{}{hint}", "^".repeat(width)))
}
