//! Faults of the user's WGSL.

/// The reason why a text is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The line, counted from 1.
    pub(super) line: Option<u32>,
    pub(super) what: String,
}

impl Fault {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }
    pub(super) fn at(line: u32, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }
}
