//! Products of matrices, and attention.

pub(super) mod attention;
pub(super) mod matmul;
