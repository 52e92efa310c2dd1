//! Shapes: the layout of rows, independent of the values.
//!
//! - *row*: a list of values, or of rows of the next level; *nrows*: number of rows; *nvals*: number of values of all
//!   rows.
//! - *row_splits*: row offsets, `nrows + 1` entries; row `r` is `row_splits[r]..row_splits[r + 1]`.
//! - *value_rowids*: the row of each value. *row_lengths*: the number of values of each row.
//! - *ragged_rank*: the number of partitions of a tensor.

mod agreement;
mod broadcast;
mod dims;
mod display;
mod encoding;
mod equality;
mod host_level;
mod host_splits;
mod known_sizes;
mod lengths;
mod level_below;
mod ragged_shape;
mod reads;
mod row_partition;

pub(crate) use agreement::{Agreement, RowDifference};
pub(crate) use broadcast::{Place, UniformRows, broadcast, same_layout};
pub(crate) use dims::{Dims, width_of};
pub(crate) use encoding::{Encoding, splits_of_rowids, trusted_splits_of_rowids};
pub(crate) use equality::LayoutComparison;
pub(crate) use host_level::HostLevel;
pub(crate) use host_splits::HostSplits;
pub use lengths::Lengths;
pub(crate) use level_below::{Repeats, level_below};
pub use ragged_shape::RaggedShape;
pub use row_partition::RowPartition;
