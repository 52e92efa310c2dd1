//! Operations that make tensors from sizes, ranges or values.

pub(super) mod fill;
pub(super) mod fill_rows;
#[cfg(feature = "ndarray")]
pub(super) mod ndarray;
pub(super) mod one_hot;
pub(super) mod range;
pub(super) mod sequence_mask;
