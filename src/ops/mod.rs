//! Operations: their semantics, defined once for all backends.
//!
//! An operation checks its arguments on the host, determines the shape of its result, and records a few nodes. No
//! operation computes. One file per family.

#[cfg(test)]
mod accesses;
mod accessors;
mod add_n;
mod arg_extremes;
mod axes;
mod axis_rows;
mod batch_scatter;
mod binary;
mod bincount;
mod broadcast_to;
mod by_hand;
mod by_key;
mod cast;
mod combinations;
mod concat;
mod context_windows;
mod cross;
mod decimal;
mod declare;
mod declared;
mod division;
mod dropout;
mod dynamic_partition;
mod element_function;
mod elementwise;
mod embedding;
mod embedding_sparse;
mod equals;
mod expand_dims;
mod fill;
mod fill_empty_rows;
mod fill_rows;
mod from_tensor;
mod gather;
mod hash;
mod histogram;
mod host_step;
mod index;
mod levels;
mod lines;
mod map_rows;
mod map_values;
mod mask;
mod matmul;
mod matrices;
mod merge_dims;
#[cfg(feature = "ndarray")]
mod ndarray;
mod next_after;
mod norm;
mod nth;
mod one_hot;
mod operand;
mod operators;
mod options;
mod parametric;
mod product_tiles;
mod quantile;
mod range;
mod reduce;
mod reshape;
mod reverse;
mod row;
mod row_integers;
mod row_methods;
mod row_results;
mod row_runs;
mod row_scan;
mod row_search;
mod row_sets;
mod row_shift;
mod row_shuffle;
mod row_slices;
mod row_windows;
mod rows;
mod scans;
mod segment;
mod segment_ids;
mod select;
mod sequence_mask;
mod slice;
mod softmax;
mod sort;
mod sort_key;
mod span;
mod split;
mod squeeze;
mod string_pairs;
mod strings;
mod tensor_list;
mod tile;
mod to_tensor;
mod top_k;
mod transpose;
mod transpose_rows;
mod typed;
mod unary;
mod unicode;
mod unique;
mod zip;

pub use axes::Axes;
pub(crate) use bincount::Occurrences;
pub(crate) use by_key::{ByKey, one_row, reduce_rows};
pub use cross::{CrossInput, HashBuckets, keyed};
pub(crate) use declare::operations;
pub use declared::operations;
#[cfg(feature = "saved")]
pub(crate) use element_function::SavedFunction;
pub use element_function::{ElementClosure, ElementFunction, ElementSignature, WgslElement};
pub use embedding_sparse::Combiner;
pub(crate) use equals::Comparison;
pub use index::{Ellipsis, Index, NewAxis, SliceItems};
pub(crate) use mask::kept_positions;
pub use operand::{Operand, OperandOf};
pub use options::{
    Along, Batched, Bins, Context, Depth, Factor, GatherIndices, HistogramRange, IntoAxes, IntoGatherIndices,
    IntoOperand, IntoOperandOf, IntoReduceAxes, LookupIds, MaxLength, Ngrams, PaddedShape, Padding, ReduceAxes,
    ScanAxis, SearchValues, Seed, SegmentIds, Separator, Separators, SortAxis, Sought, Transposed, along, any_of,
    batched, binary, clamped, descending, exclusive, keep, keep_short, max_splits, nonempty, or_default, pad_width,
    padded_with, reversed, right_of, shaped, starting_at, weighted, white_space,
};
pub use quantile::Quantiles;
pub use reduce::Averaged;
pub use reshape::NewShape;
pub use row::{Row, RowOperand};
pub use row_methods::{RowFactor, RowSought};
pub use row_results::RowResults;
pub(crate) use rows::Repeats;
pub(crate) use segment::Aggregate;
pub use split::Parts;
pub use strings::{Notation, NumberFormat, Pad};
pub(crate) use tensor_list::counted_tensors;
pub(crate) use typed::Typed;
pub use unicode::{
    Base64, Encoding, InvalidText, TextEncoding, ignore_invalid, replace_controls, replace_invalid, strict,
};
