//! Iterators that methods return: a program names them in a struct or a signature only.
//!
//! ```
//! use ragged::iter::HostRowsIter;
//! use ragged::{Device, RaggedTensor};
//!
//! fn longest(rows: HostRowsIter<'_, f32>) -> usize {
//!     rows.map(<[f32]>::len).max().unwrap_or(0)
//! }
//!
//! let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![2.0]], &Device::cpu())?;
//! assert_eq!(longest(x.rows()?.iter()), 2);
//! # Ok::<(), ragged::Error>(())
//! ```

#[cfg(feature = "json")]
pub use crate::structured::Batches;
pub use crate::tensor::{HostRowIter, HostRowsIntoIter, HostRowsIter};
