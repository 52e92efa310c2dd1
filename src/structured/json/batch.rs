//! Parsing of a batch of lines, in parallel where the types are known.

use std::ops::Range;

use memchr::memchr;
use rayon::prelude::*;

use super::column::{Column, TOO_MANY};
use super::growth::Growth;
use super::misfit::Misfit;
use super::text::{Line, Unfit, parse_line};
use super::visit::Rules;
use crate::error::{Error, Result};

/// Misfits that are kept for the report.
pub(super) const KEPT: usize = 100;
/// Text that is worth a task of its own.
const PIECE_BYTES: usize = 64 << 10;
/// Text after which the memory of the columns is counted again.
const COUNTED_BYTES: usize = 256 << 10;
/// Most bytes of values per byte of text: integers of one digit, in a list.
const MOST_PER_BYTE: u64 = 4;

/// What a batch gave besides its records.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Number of lines.
    pub lines: u64,
    /// Number of lines that were skipped.
    pub skipped: u64,
    /// The first of them, with lines counted in the batch from 1.
    pub misfits: Vec<Misfit>,
    /// The line at which parsing ended.
    pub failure: Option<Misfit>,
    /// The refusal of memory, at which parsing ended too.
    pub refused: Option<Error>,
}

impl Outcome {
    /// Adds the outcome of the lines that follow.
    pub(super) fn extend(&mut self, other: Self) {
        let before = self.lines;
        let moved = |m: Misfit| Misfit { line: m.line + before, ..m };
        self.misfits.extend(other.misfits.into_iter().map(moved));
        self.misfits.truncate(KEPT);
        self.failure = other.failure.map(moved);
        self.refused = other.refused;
        self.lines += other.lines;
        self.skipped += other.skipped;
    }

    /// Whether parsing ended at a line that does not fit, or without memory.
    fn has_ended(&self) -> bool {
        self.failure.is_some() || self.refused.is_some()
    }
}

/// How lines, and values of Rust, become records.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parsing {
    pub rules: Rules,
    /// Whether lines, or records of the outermost list, that do not fit are skipped.
    pub skip: bool,
}

impl Parsing {
    /// Appends the records of the lines of `text` to the column, as if line by line.
    pub(super) fn parse(self, text: &[u8], column: &mut Column, growth: &mut Growth<'_>) -> Outcome {
        let before = column.len();
        self.parse_in_pieces(text, column, growth).unwrap_or_else(|| {
            // The pieces disagree on types that no record had shown before. The order of the lines decides.
            column.truncate(before);
            self.parse_in_order(text, column, growth)
        })
    }

    /// Parses the pieces in parallel, each into columns of its own. None if the result could depend on the division.
    fn parse_in_pieces(self, text: &[u8], column: &mut Column, growth: &mut Growth<'_>) -> Option<Outcome> {
        let tasks = rayon::current_num_threads().min(text.len() / PIECE_BYTES);
        if tasks < 2 {
            return None;
        }
        let (mut outcome, text) = self.parse_first(text, column, growth);
        if outcome.has_ended() {
            return Some(outcome);
        }
        let is_complete = column.is_complete();
        let (shared, known) = (&*growth, &*column);
        let parts: Vec<(Column, Outcome, Growth<'_>)> = pieces(text, tasks)
            .into_par_iter()
            .map(|piece| {
                let (mut own, mut growth) = (known.emptied(), shared.sibling());
                let outcome = self.parse_in_order(piece, &mut own, &mut growth);
                (own, outcome, growth)
            })
            .collect();
        let is_clean = |part: &Outcome| part.misfits.is_empty() && !part.has_ended();
        if !is_complete && !parts.iter().all(|(_, part, _)| is_clean(part)) {
            return None;
        }
        for (own, part, _counted) in parts {
            outcome.extend(part);
            if let Err(refused) = growth.up_to(column.bytes() + own.bytes()) {
                outcome.refused = Some(refused);
            }
            if outcome.refused.is_some() {
                break;
            }
            column.append(own).ok()?;
            if outcome.failure.is_some() {
                break;
            }
        }
        Some(outcome)
    }

    /// Parses lines up to the first record of all, which names the fields, unless they are known. Returns the rest.
    fn parse_first<'a>(self, text: &'a [u8], column: &mut Column, growth: &mut Growth<'_>) -> (Outcome, &'a [u8]) {
        let (mut outcome, mut rest) = (Outcome::default(), text);
        while column.len() == 0 && !column.pinned && !rest.is_empty() && !outcome.has_ended() {
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            outcome.extend(self.parse_in_order(&rest[..end], column, growth));
            rest = &rest[end..];
        }
        (outcome, rest)
    }

    /// Parses line by line.
    fn parse_in_order(self, text: &[u8], column: &mut Column, growth: &mut Growth<'_>) -> Outcome {
        let mut out = Outcome::default();
        out.refused = self.parse_counted(text, column, growth, &mut out).err();
        out
    }

    /// Parses line by line, and counts the memory of the column in steps.
    ///
    /// # Errors
    /// No memory for the column.
    fn parse_counted(self, text: &[u8], column: &mut Column, growth: &mut Growth<'_>, out: &mut Outcome) -> Result<()> {
        let checked = std::str::from_utf8(text).ok();
        let mut counted = 0;
        for range in lines(text) {
            if range.end - counted > COUNTED_BYTES {
                growth.up_to(column.bytes())?;
                counted = range.start;
            }
            let _of_line = match range.len() {
                0..=COUNTED_BYTES => None,
                long => Some(growth.more(MOST_PER_BYTE * long as u64)?),
            };
            out.lines += 1;
            let line = match checked {
                Some(text) => Line::Text(text[range].trim_ascii()),
                None => Line::Bytes(text[range].trim_ascii()),
            };
            if matches!(line, Line::Text("") | Line::Bytes(b"")) {
                continue;
            }
            let before = column.len();
            let Err(Unfit { path, what }) = parse_line(line, column, self.rules) else { continue };
            column.truncate(before);
            let ends = !self.skip || what == TOO_MANY;
            let misfit = Misfit { line: out.lines, path, what };
            if ends {
                out.failure = Some(misfit);
                break;
            }
            out.skipped += 1;
            if out.misfits.len() < KEPT {
                out.misfits.push(misfit);
            }
        }
        growth.up_to(column.bytes())
    }
}

/// Where the lines of a text are, without their ends.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr(b'\n', rest).unwrap_or(rest.len());
        at = start + len + 1;
        Some(start..start + len)
    })
}

/// Divides a text into about `count` pieces of whole lines.
fn pieces(text: &[u8], count: usize) -> Vec<&[u8]> {
    let mut out = Vec::with_capacity(count);
    let mut rest = text;
    for left in (1..=count).rev() {
        let from = rest.len() / left;
        let end =
            if left == 1 { rest.len() } else { memchr(b'\n', &rest[from..]).map_or(rest.len(), |at| from + at + 1) };
        let (piece, after) = rest.split_at(end);
        out.push(piece);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{lines, pieces};

    #[test]
    fn pieces_are_whole_lines_in_order() {
        let text = b"one\ntwo\n\nthree\nfour";
        for count in 1..8 {
            let parts = pieces(text, count);
            assert_eq!(parts.concat(), text);
            assert!(parts.iter().filter(|p| !p.is_empty()).rev().skip(1).all(|p| p.ends_with(b"\n")), "{count}");
        }
        assert_eq!(
            lines(text).map(|line| &text[line]).collect::<Vec<_>>(),
            [&b"one"[..], b"two", b"", b"three", b"four"]
        );
    }
}
