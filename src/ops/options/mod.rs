//! Options of operations: functions around the argument that they qualify.
//!
//! An operation takes its required arguments only. What else it can do is an option, written as a function around the
//! argument that it concerns: [`keep`]`(1)` is axis 1, kept with one row. Options of one argument nest, in any order.
//!
//! Each option makes a struct with public fields, for options that are known at run time only.
//!
//! | option | on | operations |
//! |---|---|---|
//! | [`keep`]`(axes)` | axes | `reduce_…`, `count_nonzero`, `quantile`, `median`: a reduced axis stays, with size 1 |
//! | [`exclusive`]`(axis)`, [`reversed`]`(axis)` | an axis | `cumsum`, `cumprod`, `cummax`, `cummin` |
//! | [`descending`]`(axis)` | an axis | `sort`, `argsort` |
//! | [`right_of`]`(&values)` | values | `searchsorted`: the position after equal values |
//! | [`along`]`(&indices, axis)`, [`batched`]`(&indices, dims)` | indices | `gather`; [`along`]`(depth, axis)`: `one_hot` |
//! | [`shaped`]`(padding, shape)` | a padding | `to_tensor` |
//! | [`with_nrows`]`(rowids, nrows)` | row ids, a uniform row length | `from_value_rowids`, `from_uniform_row_length` |
//! | [`weighted`]`(&ids, &weights)`, [`or_default`]`(&ids, id)` | ids | `embedding_lookup_sparse`, `safe_embedding_lookup_sparse` |
//! | [`Tensor::t`](crate::Tensor::t) | a matrix | `matmul`: the transposed operand |
//!
//! ```
//! use ragged::{Device, RaggedTensor, descending, exclusive, keep, reversed};
//!
//! let x = RaggedTensor::from_nested([vec![3, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
//! assert_eq!(x.reduce_sum(1)?.to_vec()?, [6, 0, 9]);
//! assert_eq!(x.reduce_sum(keep(1))?.to_string(), "<ragged.RaggedTensor [[6], [0], [9]]>");
//! assert_eq!(x.cumsum(exclusive(reversed(1)))?.to_vec()?, [3, 2, 0, 4, 0]);
//! assert_eq!(x.sort(descending(1))?.to_vec()?, [3, 2, 1, 5, 4]);
//! # Ok::<(), ragged::Error>(())
//! ```

mod gather;
mod lookup;
mod matrix;
mod padding;
mod reduce;
mod scan;
mod search;
mod sort;

pub use gather::{Along, Batched, Depth, GatherIndices, along, batched};
pub use lookup::{LookupIds, or_default, weighted};
pub use matrix::{Factor, Transposed};
pub use padding::{PaddedShape, Padding, shaped};
pub use reduce::{ReduceAxes, keep};
pub use scan::{ScanAxis, exclusive, reversed};
pub use search::{Sought, right_of};
pub use sort::{SortAxis, descending};
