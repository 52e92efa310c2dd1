//! Selections from rows.

/// The largest number of elements that a selection takes from a row; more are taken from a sort.
pub(crate) const MAX_K: u32 = 16;
