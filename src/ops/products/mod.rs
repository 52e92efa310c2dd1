//! Products of matrices.

pub(super) mod matmul;
