//! Sorts, selections, searches, and operations on the sets and the runs of a row.

pub(super) mod group_by_key;
pub(super) mod order_keys;
mod row_keys;
pub(super) mod row_runs;
pub(super) mod row_search;
pub(super) mod row_sets;
pub(super) mod sort;
pub(super) mod sort_by;
pub(super) mod top_k;
pub(super) mod unique;
