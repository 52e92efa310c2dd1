//! Counts of values: per integer, and per bin of a histogram.

pub(super) mod bincount;
pub(super) mod histogram;
