//! Shapes, apart from values: how rows are laid out.
//!
//! - *row*: a list of values, or of rows of the next level; *nrows*: how many; *nvals*: how many values all have.
//! - *row_splits*: where rows begin, `nrows + 1` entries; row `r` is `row_splits[r]..row_splits[r + 1]`.
//! - *value_rowids*: for each value, its row. *row_lengths*: for each row, its number of values.
//! - *ragged_rank*: how many partitions a tensor has.

mod agreement;
mod broadcast;
mod encoding;
mod lengths;
mod ragged_shape;
mod row_partition;
mod taken;

pub(crate) use agreement::Agreement;
pub(crate) use broadcast::{Place, UniformRows, broadcast, same_layout};
pub(crate) use encoding::{Encoding, splits_of_rowids, trusted_splits_of_rowids};
pub use lengths::Lengths;
pub use ragged_shape::RaggedShape;
pub use row_partition::RowPartition;
pub(crate) use taken::{Repeats, level_below};
