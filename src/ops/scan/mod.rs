//! Scans, shifts and windows: each element with its neighbours in the row.

pub(super) mod context_windows;
pub(super) mod ewm_mean;
pub(super) mod linear_recurrence;
pub(super) mod row_shift;
pub(super) mod row_windows;
pub(super) mod scan_rows;
mod scanned;
pub(super) mod scans;
