//! The places that errors name, as parts of their messages.

use std::fmt;
use std::panic::Location;

/// The line of a call, as the end of a message.
pub(super) struct At<'a>(pub(super) &'a Location<'a>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ", at {}:{}", self.0.file(), self.0.line())
    }
}

/// The place of a value in records, as the start of a message.
pub(super) struct RecordAt<'a>(pub(super) Option<u64>, pub(super) &'a str);

impl fmt::Display for RecordAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(line, path) = self;
        if let Some(line) = line {
            write!(f, "line {line}: ")?;
        }
        if path.is_empty() { Ok(()) } else { write!(f, "{path}: ") }
    }
}

/// The line of a WGSL text, as the start of a message.
pub(super) struct LineOf(pub(super) Option<u32>);

impl fmt::Display for LineOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, "line {line} of the WGSL: "))
    }
}
