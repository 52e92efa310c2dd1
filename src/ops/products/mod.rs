//! Products of matrices, and attention.

pub(super) mod attention;
mod masked_values;
pub(super) mod matmul;
pub(super) mod ragged_dot;
