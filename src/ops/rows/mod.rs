//! Operations written for one row: [`Row`](row::Row), its methods, and the map over all rows.

pub(super) mod map_rows;
pub(super) mod row;
pub(super) mod row_methods;
pub(super) mod row_operators;
pub(super) mod row_results;
