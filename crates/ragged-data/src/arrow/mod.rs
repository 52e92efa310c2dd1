//! Arrow arrays and record batches, from and to tensors and records.
//!
//! ```
//! use arrow_array::types::Int32Type;
//! use arrow_array::{Array, ListArray};
//! use ragged::{Device, RaggedTensor};
//! use ragged_data::arrow::{FromArrow, ToArrow};
//! let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![]), Some(vec![Some(3)])]);
//! let x = RaggedTensor::<i32>::from_arrow(&lists, &Device::cpu())?;
//! assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
//! let sums = x.reduce_sum(1)?.to_arrow()?;
//! assert_eq!(format!("{:?}", sums.data_type()), "Int32");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Types
//!
//! | Arrow | here | copied on the CPU |
//! |---|---|---|
//! | Int8 to UInt64, Float16, Float32, Float64 | the dtype of that name | no |
//! | Date32, Time32, YearMonth intervals | i32 | no |
//! | Date64, Time64, Timestamp, Duration | i64 | no |
//! | Boolean | bool | yes: bits become bytes |
//! | Utf8, Binary | byte strings | no |
//! | LargeUtf8, LargeBinary | byte strings | 4 bytes per string |
//! | Utf8View, BinaryView | byte strings | yes |
//! | FixedSizeBinary | byte strings | no |
//! | List, Map | a ragged dimension | no |
//! | LargeList | a ragged dimension | 4 bytes per row |
//! | ListView, LargeListView | a ragged dimension | 4 bytes per row; a gather unless the rows follow each other |
//! | FixedSizeList | a uniform dimension | no |
//! | Struct | records ([`StructuredTensor`]) | as its fields |
//! | Dictionary | its values, gathered | no |
//!
//! Other types (decimals, unions, run-end encoded, day-time intervals, Null) are errors that say what to cast to. A sliced array
//! is read in place; offsets that do not begin at 0 are copied, 4 bytes per row. Nulls follow [`Nulls`].
//!
//! The way back is [`ToArrow::to_arrow`], which chooses List, FixedSizeList, Utf8 and the type of the dtype's name, or
//! [`ToArrow::to_arrow_as`] of any type of the table but Dictionary, with the order of its fields. Nothing but bools and 64-bit
//! offsets is copied on the CPU. bf16 has no Arrow type.
//!
//! [`StructuredTensor`]: ragged::StructuredTensor

mod batches;
mod bits;
mod convert;
mod decode;
mod encode;
mod masked;
mod memory;
mod nulls;
mod record_batch;
mod with_nulls;

pub use batches::batches;
pub use convert::{FromArrow, ToArrow};
pub use masked::{Mask, Masked};
pub use nulls::Nulls;
pub use record_batch::{FromRecordBatch, ToRecordBatch};
