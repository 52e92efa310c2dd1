//! Places in queries.

use datafusion::common::{Location, Span};

use ragged_sql::Functions;

use crate::inputs::Table;

/// `12, Column: 5`
pub fn location(text: &str) -> Option<Location> {
    let (line, column) = text.split_once(", Column: ")?;
    Some(Location { line: line.parse().ok()?, column: column.trim().parse().ok()? })
}

/// Where a function is called, under any of its names.
pub fn find_call(sql: &str, name: &str, functions: &Functions) -> Option<Span> {
    let function = functions.all().iter().find(|function| function.name() == name)?;
    let names = std::iter::once(name).chain(function.aliases().iter().map(String::as_str));
    names.flat_map(|name| [name, name.trim_start_matches("ragged_")]).find_map(|name| find_word(sql, name))
}

/// Where a word is in the query.
pub fn find_word(sql: &str, word: &str) -> Option<Span> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    sql.lines().enumerate().find_map(|(k, line)| {
        let lower = line.to_ascii_lowercase();
        let at = lower
            .match_indices(&word.to_ascii_lowercase())
            .map(|(at, _)| at)
            .find(|at| !lower[..*at].ends_with(is_part) && !lower[at + word.len()..].starts_with(is_part))?;
        let column = line[..at].chars().count() as u64 + 1;
        let at = |column| Location { line: k as u64 + 1, column };
        Some(Span { start: at(column), end: at(column + word.chars().count() as u64) })
    })
}

/// Where what a message quotes is in the query; else the first column of a type of lists that it names.
pub fn guess(sql: &str, message: &str, tables: &[Table]) -> Option<Span> {
    let parts: Vec<&str> = message.split(['\'', '"', '`']).collect();
    // Behind an opening quote, and before the closing one.
    let quoted = parts.iter().skip(1).step_by(2).take((parts.len() - 1) / 2);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let words = quoted.flat_map(|part| part.split(|c| !is_part(c))).map(|word| word.rsplit('.').next().unwrap_or(word));
    let of_words = words.filter(|word| !word.is_empty()).find_map(|word| find_word(sql, word));
    let of_types = || {
        let fields = tables.iter().flat_map(|table| table.schema.fields());
        let named =
            fields.filter(|field| field.data_type().is_nested() && message.contains(&field.data_type().to_string()));
        named.filter_map(|field| find_word(sql, field.name())).min_by_key(|span| (span.start.line, span.start.column))
    };
    of_words.or_else(of_types)
}

/// The name that a message starts with, which is that of a function in messages about calls.
pub fn first_name(message: &str) -> &str {
    message.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_as_a_whole() {
        let at = |line, column| Location { line, column };
        assert_eq!(find_word("SELECT\nab(b) ", "b"), Some(Span { start: at(2, 4), end: at(2, 5) }));
        assert_eq!(find_word("SELECT\näb, B", "b"), Some(Span { start: at(2, 5), end: at(2, 6) }));
        assert_eq!(find_word("SELECT b_", "b"), None);
    }

    #[test]
    fn places_are_those_that_messages_quote() {
        let column = |message| Some(guess("SELECT\nab, f(b)", message, &[])?.start.column);
        assert_eq!(column("no 'f(Int64)' is \"ab\""), Some(5));
        assert_eq!(column("column \"input.b\" must be f"), Some(7));
        assert_eq!(column("it's a fault of ab"), None);
    }
}
