//! Parsing of single lines into a column.

use serde::de::DeserializeSeed as _;

use super::column::Column;
use super::huge::first_big_integer;
use super::visit::{Context, Place, Rules};

/// The value of a line that does not fit: its path, and the reason.
pub(super) struct Unfit {
    pub path: String,
    pub what: String,
}

/// Appends the record of a line to the column. After an error the column holds a part of it.
pub(super) fn parse_line(line: &[u8], is_utf8: bool, column: &mut Column, rules: Rules) -> Result<(), Unfit> {
    let before = column.len();
    let context = Context::new(rules, Some(0));
    let failed = match parse(line, is_utf8, column, &context) {
        Ok(()) => return Ok(()),
        Err(failed) => failed,
    };
    if !context.is_suspect() {
        return Err(failed);
    }
    // A number beyond 64 bits: a float, or an integer, which the parser has rounded to one.
    let context = Context::new(rules, first_big_integer(line));
    column.truncate(before);
    parse(line, is_utf8, column, &context)
}

fn parse(line: &[u8], is_utf8: bool, column: &mut Column, context: &Context) -> Result<(), Unfit> {
    // Checked text spares a check per string.
    let text = if is_utf8 { std::str::from_utf8(line).ok() } else { None };
    let place = Place { column, context, is_line: true };
    let parsed = match text {
        Some(text) => {
            let mut parser = serde_json::Deserializer::from_str(text);
            place.deserialize(&mut parser).and_then(|()| parser.end())
        }
        None => {
            let mut parser = serde_json::Deserializer::from_slice(line);
            place.deserialize(&mut parser).and_then(|()| parser.end())
        }
    };
    parsed.map_err(|e| {
        let (path, reason) = context.take();
        let what = reason.unwrap_or_else(|| {
            // The parser sees one line of text, so that its own line is always 1.
            let text = e.to_string();
            let end = format!(" at line {} column {}", e.line(), e.column());
            let what = text.strip_suffix(&end).unwrap_or(&text);
            format!("{what} (column {})", e.column())
        });
        Unfit { path, what }
    })
}
