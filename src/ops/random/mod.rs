//! Random operations, from a counter-based generator.

pub(super) mod dropout;
pub(super) mod row_shuffle;
