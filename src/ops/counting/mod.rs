//! Counts of values: per integer, and per bin of a histogram.

pub(super) mod bin;
pub(super) mod bincount;
pub(super) mod histogram;
pub(super) mod occurrences;
