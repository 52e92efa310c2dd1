//! Options of operations: functions around the argument that they concern.
//!
//! An operation takes its required arguments: `x.reduce_mean(1)`, `x.sort(1)`, `table.gather(&ids)`, `a.matmul(&b)`. An
//! option is a function around one of them, and options of one argument nest:
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt};
//!
//! let x = RaggedTensor::from_nested([vec![3i32, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
//! assert_eq!(x.reduce_sum(1)?.to_vec()?, [6, 0, 9]);
//! assert_eq!(x.reduce_sum(opt::keep(1))?.to_vec()?, [6, 0, 9]);
//! assert_eq!(x.cumsum(opt::exclusive(opt::reversed(1)))?.to_vec()?, [3, 2, 0, 4, 0]);
//! assert_eq!(x.sort(opt::descending(1))?.to_vec()?, [3, 2, 1, 5, 4]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! | argument | options |
//! |---|---|
//! | axes of a reduction | [`keep`]`(1)`: the axis stays, with size 1; `..` are all axes |
//! | axis of a scan | [`exclusive`]`(1)`, [`reversed`]`(1)` |
//! | weights of a moving average | [`com`]`(1.0)`, [`span`]`(3.0)`, [`half_life`]`(2.0)`, [`unadjusted`]`(0.5)` |
//! | initial states of a recurrence | [`backwards`]`([&h])` |
//! | axis of a sort | [`descending`]`(1)` |
//! | key of a sort | [`descending`]`(&key)` |
//! | axis of a sparse concatenation | [`expanding`]`(1)` |
//! | indices of a gather | [`along`]`(&ids, 1)`, [`batched`]`(&ids, 1)` |
//! | values of a search | [`right_of`]`(&values)`: after equal values |
//! | depth of a one-hot encoding | [`along`]`(10, 0)` |
//! | padding of a dense tensor | [`shaped`]`(0, [-1, 128])`, [`with_ragged_rank`]`(0, 2)` |
//! | bins of a count | [`binary`]`(100)`: whether, not how often |
//! | range of a histogram | [`clamped`]`(0.0..1.0)`: values outside count at the ends |
//! | ids of an embedding look-up | [`weighted`]`(&ids, &weights)`, [`or_default`]`(&ids, 0)`, [`max_norm`]`(&ids, 1.0)` |
//! | operand of a matrix product | [`Tensor::t`](crate::Tensor::t): transposed |
//! | keys of attention | [`causal`]`(&keys)`, [`scaled`]`(&keys, 0.5)`, [`masked`]`(&keys, mask)` |
//! | size of a context window | [`starting_at`]`(3, -1)` |
//! | row ids, segment ids, uniform row lengths | [`with_nrows`]`(ids, 4)` |
//! | separator of a split | [`any_of`]`(",;")`, [`nonempty`]`("--")`, [`white_space`]`()`, [`max_splits`]`(":", 1)` |
//! | widths of n-grams | [`padded_with`]`(2, "<", ">")`, [`pad_width`]`(…, 1)`, [`keep_short`]`(3)` |
//! | encoding of text | [`strict`], [`ignore_invalid`], [`replace_invalid`]`(Encoding::Utf8, '?')`, [`replace_controls`] |
//! | hash buckets of a cross | [`keyed`]`(100, key)` |
//!
//! The types of this module have options or are one. They are what the functions return, for options that are known at run
//! time only, such as a [`ScanAxis`] whose direction a user chooses; options structs, such as [`NumberFormat`]; and choices
//! that an argument names, such as [`Combiner`] and [`Encoding`]. What an argument converts to and has no options is in
//! [`arguments`](crate::arguments).

pub use crate::lod::Pool;
pub use crate::ops::{
    Along, AttentionKeys, Base64, Batched, Bins, Combiner, Context, Depth, Encoding, Factor, GatherIndices,
    HashBuckets, HistogramRange, InitialStates, InvalidText, LookupIds, Ngrams, Notation, NumberFormat, Pad,
    PaddedShape, ReduceAxes, RowFactor, RowPadding, RowSought, ScanAxis, SegmentIds, Separator, ShardStrategy,
    Smoothing, SortAxis, SortKeys, Sought, TextEncoding, Transposed, along, any_of, backwards, batched, binary, causal,
    clamped, com, descending, exclusive, half_life, ignore_invalid, keep, keep_short, keyed, masked, max_norm,
    max_splits, nonempty, or_default, pad_width, padded_with, replace_controls, replace_invalid, reversed, right_of,
    scaled, shaped, span, starting_at, strict, unadjusted, weighted, white_space, with_ragged_rank,
};
pub use crate::sparse::{ConcatAxis, expanding};
pub use crate::tensor::{ConstantOptions, RowIds, UniformRows, WithNrows, with_nrows};
