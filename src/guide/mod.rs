//! Guides: this crate for users of other libraries, and the table of all operations.
//!
//! - [`tensorflow`]: ragged tensors of TensorFlow, `tf.sparse` and `StructuredTensor`. Operations here keep TensorFlow's
//!   names and results.
//! - [`paddle`]: LoD tensors and sequence operations of Paddle.
//! - [`awkward`]: arrays of Awkward Array.
//! - [`polars`]: columns of lists in Polars.
//! - [`operations`]: every operation, with its names in the other libraries and where it is computed.
//! - [`devices`]: what each class of adapters computes natively, what is emulated, what is refused.
//! - [`saved`]: programs that are recorded once, and the files that they are saved in.
//!
//! Each of the first four maps the concepts of the library, writes the same small jobs in both, lists calls by topic
//! with their differences, and says what is missing here. The modules contain documentation only; their examples run
//! as tests.
//!
//! In the tables, `x`, `y`, … are tensors, typed ([`RaggedTensor`](crate::RaggedTensor)) or not
//! ([`Tensor`](crate::Tensor)); every call returns a [`Result`](crate::Result), whose `?` is omitted. Options such as
//! [`keep`](crate::opt::keep) and [`along`](crate::opt::along) are functions of this crate around the argument that
//! they concern.

pub mod awkward;
pub mod devices;
pub mod operations;
pub mod paddle;
pub mod polars;
#[cfg(feature = "saved")]
pub mod saved;
pub mod tensorflow;
