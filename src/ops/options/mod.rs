//! Options of operations: functions around the argument that they qualify.
//!
//! The crate's documentation describes the pattern.

mod arguments;
mod attention;
mod bins;
mod gather;
mod group_keys;
mod lookup;
mod matrix;
mod ngrams;
mod padding;
mod reduce;
mod scan;
mod search;
mod seed;
mod segments;
mod separator;
mod sequence;
mod smoothing;
mod sort;
mod states;

pub use arguments::{IntoAxes, IntoGatherIndices, IntoOperand, IntoOperandOf, IntoReduceAxes};
pub use attention::{AttentionKeys, causal, masked, scaled};
pub use bins::{Bins, HistogramRange, binary, clamped};
pub use gather::{Along, Batched, Depth, GatherIndices, along, batched};
pub use group_keys::GroupKeys;
pub(super) use group_keys::next;
pub(crate) use lookup::AsRows;
pub use lookup::{LookupIds, LookupRows, max_norm, or_default, weighted};
pub use matrix::{Factor, Transposed};
pub use ngrams::{Ngrams, keep_short, pad_width, padded_with};
pub use padding::{PaddedShape, Padding, RowPadding, shaped, with_ragged_rank};
pub use reduce::{ReduceAxes, keep};
pub use scan::{ScanAxis, exclusive, reversed};
pub use search::{SearchValues, Sought, right_of};
pub use seed::Seed;
pub use segments::SegmentIds;
pub(crate) use separator::WHITE_SPACE;
pub use separator::{Separator, Separators, any_of, max_splits, nonempty, white_space};
pub use sequence::{Context, MaxLength, starting_at};
pub use smoothing::{Smoothing, com, half_life, span, unadjusted};
pub use sort::{SortAxis, SortBy, SortKeys, descending};
pub use states::{InitialStates, backwards};
