//! Recording of operations: the arrays, rows and keys that the operations of [`ops`](crate::ops) have in common.
//!
//! Nothing here is an operation of its own.

pub(crate) mod axes;
pub(crate) mod axis_rows;
pub(crate) mod by_key;
pub(crate) mod decimal;
pub(crate) mod elementwise;
pub(crate) mod host_step;
pub(crate) mod levels;
pub(crate) mod lines;
pub(crate) mod matrices;
pub(crate) mod next_after;
pub(crate) mod operand;
pub(crate) mod product_tiles;
pub(crate) mod recurrence;
pub(crate) mod row_integers;
pub(crate) mod row_scan;
pub(crate) mod rows;
pub(crate) mod runs;
pub(crate) mod scaling;
pub(crate) mod sort_key;
pub(crate) mod span;
pub(crate) mod string_rank;
pub(crate) mod tensor_list;
mod tensors;
