//! Sizes that are read before the rest of a program is computed.

use std::fmt;

use crate::graph::run::stage::EarlyCount;

/// A size that only the device knows, and that a read fetches before it computes what depends on it: an array of its upper bound
/// would take too much memory, or move too many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedSize {
    /// The operation that determines the size.
    pub operation: &'static str,
    /// The most that it can be once the sizes of the waits before are known. Before a run, these are taken to be what they were
    /// last, or as large as the largest input.
    pub bound: u64,
    /// What it was when the same operations were last read with as much data, if the device remembers it. Of a run that was timed,
    /// what it is.
    pub last: Option<u64>,
    /// The wait that fetches it: 1 for the first. Sizes that do not depend on each other share a wait.
    pub wait: u64,
}

impl From<EarlyCount> for ExplainedSize {
    fn from(EarlyCount { op, bound, value, stage }: EarlyCount) -> Self {
        Self { operation: op, bound: bound.into(), last: value.map(u64::from), wait: stage + 1 }
    }
}

impl fmt::Display for ExplainedSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, bound, last, wait } = self;
        write!(f, "size of {operation}: bound {bound}")?;
        if let Some(last) = last {
            write!(f, ", last {last}")?;
        }
        write!(f, "; read in advance, wait {wait}")
    }
}
