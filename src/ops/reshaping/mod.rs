//! Operations that change the dimensions of a tensor, or join and split tensors, and keep the elements.

pub(super) mod broadcast_to;
pub(super) mod combinations;
pub(super) mod concat;
pub(super) mod expand_dims;
pub(super) mod fill_empty_rows;
pub(super) mod from_tensor;
pub(super) mod merge_dims;
pub(super) mod reshape;
pub(super) mod reverse;
pub(super) mod split;
pub(super) mod squeeze;
pub(super) mod tile;
pub(super) mod to_tensor;
pub(super) mod transpose;
pub(super) mod transpose_rows;
pub(super) mod zip;
