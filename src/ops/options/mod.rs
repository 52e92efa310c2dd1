//! Options of operations: functions around the argument that they qualify.
//!
//! The crate's documentation describes the pattern and lists the options.

mod bins;
mod gather;
mod lookup;
mod matrix;
mod padding;
mod reduce;
mod scan;
mod sort;

pub use bins::{Bins, HistogramRange, binary, clamped};
pub use gather::{Along, Batched, Depth, GatherIndices, along, batched};
pub use lookup::{LookupIds, or_default, weighted};
pub use matrix::{Factor, Transposed};
pub use padding::{PaddedShape, Padding, shaped};
pub use reduce::{ReduceAxes, keep};
pub use scan::{ScanAxis, exclusive, reversed};
pub use sort::{SortAxis, descending};
