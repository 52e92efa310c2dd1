//! Parsing of single lines into a column.

use serde::de::DeserializeSeed as _;

use super::column::Column;
use super::huge::floated_integers;
use super::visit::{Context, Place, Rules};

/// One line: checked text, which spares a check per string, or bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// The value of a line that does not fit: its path, and the reason.
pub(super) struct Unfit {
    pub path: String,
    pub what: String,
}

/// Appends the record of a line to the column. After an error the column holds a part of it.
pub(super) fn parse_line(line: Line<'_>, column: &mut Column, rules: Rules) -> Result<(), Unfit> {
    let before = column.len();
    let context = Context::new(rules, None);
    let failed = match parse(line, column, &context) {
        Ok(()) => return Ok(()),
        Err(failed) => failed,
    };
    if !context.is_suspect() {
        return Err(failed);
    }
    // A number beyond 64 bits or a negative zero: a float, or an integer, which the parser reads as one.
    let integers = match line {
        Line::Text(text) => floated_integers(text.as_bytes()),
        Line::Bytes(bytes) => floated_integers(bytes),
    };
    column.truncate(before);
    parse(line, column, &Context::new(rules, Some(integers)))
}

fn parse(line: Line<'_>, column: &mut Column, context: &Context) -> Result<(), Unfit> {
    let place = Place { column, context, is_line: true };
    let parsed = match line {
        Line::Text(text) => parse_all(serde_json::Deserializer::from_str(text), place),
        Line::Bytes(bytes) => parse_all(serde_json::Deserializer::from_slice(bytes), place),
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

fn parse_all<'de, R: serde_json::de::Read<'de>>(
    mut parser: serde_json::Deserializer<R>,
    place: Place<'_>,
) -> serde_json::Result<()> {
    place.deserialize(&mut parser)?;
    parser.end()
}
