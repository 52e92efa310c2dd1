//! Operations: their semantics, defined once for all backends.
//!
//! An operation checks its arguments on the host, determines the shape of its result, and records a few nodes. No
//! operation computes. One folder per family, one file per operation or group of operations. What several operations
//! record in the same way is in [`record`](crate::record).

mod accessors;
mod call;
mod counting;
mod declarations;
mod elementwise;
mod indexing;
mod making;
mod options;
mod products;
mod random;
mod reduce;
mod reshaping;
mod rows;
mod scan;
mod segment;
mod sorting;
mod strings;
#[cfg(test)]
mod tests;
mod unicode;

pub use crate::record::axes::Axes;
pub use crate::record::operand::{Operand, OperandOf};
pub(crate) use counting::occurrences::Occurrences;
pub(crate) use declarations::by_values::call_by_values;
pub(crate) use declarations::declare::operations;
pub use declarations::declared::operations;
pub(crate) use declarations::typed::Typed;
pub(crate) use elementwise::element_function::ElementDerivative;
#[cfg(feature = "saved")]
pub(crate) use elementwise::element_function::SavedFunction;
pub use elementwise::element_function::{ElementClosure, ElementFunction, ElementSignature, WgslElement};
pub(crate) use elementwise::equals::Comparison;
pub use indexing::embedding_sparse::Combiner;
pub use indexing::from_shards::ShardStrategy;
pub(crate) use indexing::gather::in_range;
pub use indexing::index::{Ellipsis, Index, NewAxis, SliceItems};
pub(crate) use options::AsRows;
pub use options::{
    Along, AttentionKeys, Batched, Bins, Context, Depth, Factor, GatherIndices, GroupKeys, HistogramRange,
    InitialStates, IntoAxes, IntoGatherIndices, IntoOperand, IntoOperandOf, IntoReduceAxes, LookupIds, LookupRows,
    MaxLength, Ngrams, PaddedShape, Padding, ReduceAxes, RowPadding, ScanAxis, SearchValues, Seed, SegmentIds,
    Separator, Separators, Smoothing, SortAxis, SortBy, SortKeys, Sought, Transposed, along, any_of, backwards,
    batched, binary, causal, clamped, com, descending, exclusive, half_life, keep, keep_short, masked, max_norm,
    max_splits, nonempty, or_default, pad_width, padded_with, reversed, right_of, scaled, shaped, span, starting_at,
    unadjusted, weighted, white_space, with_ragged_rank,
};
pub use reduce::Averaged;
pub use reduce::quantile::Quantiles;
pub use reshaping::reshape::NewShape;
pub use reshaping::split::Parts;
pub use rows::row::{Row, RowOperand};
pub use rows::row_methods::{RowFactor, RowSought};
pub use rows::row_results::RowResults;
pub use scan::scan_rows::ScannedRows;
pub(crate) use segment::Aggregate;
pub use strings::cross::{CrossInput, HashBuckets, keyed};
pub use strings::{Notation, NumberFormat, Pad};
pub use unicode::{
    Base64, Encoding, InvalidText, TextEncoding, ignore_invalid, replace_controls, replace_invalid, strict,
};
