//! Operations that take or write the elements at positions: slices, gathers, masks.

pub(super) mod batch_scatter;
pub(super) mod dynamic_partition;
pub(super) mod embedding;
pub(super) mod embedding_sparse;
pub(super) mod from_shards;
pub(super) mod gather;
pub(super) mod index;
pub(super) mod mask;
pub(super) mod nth;
pub(super) mod row_slices;
pub(super) mod slice;
