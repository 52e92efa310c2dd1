//! Where and why a value does not fit its column.

use std::fmt;
use std::sync::Arc;

/// A line that does not fit the records of a [`JsonLines`](crate::JsonLines).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The line, counted from 1.
    pub line: u64,
    /// The path of the value in the line, such as `doc.words[3].n`; empty for the line itself.
    pub path: String,
    /// The reason.
    pub what: String,
}

/// One step of a path: into a field of a record, or to an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Field(Arc<str>),
    Item(usize),
}

/// The path of a value, innermost step first: the order in which an error passes the steps on its way up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trail(pub Vec<Segment>);

impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, segment) in self.0.iter().rev().enumerate() {
            match segment {
                Segment::Field(name) if k == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Item(i) => write!(f, "[{i}]")?,
            }
        }
        Ok(())
    }
}
