//! The names of a typical program: `use ragged::prelude::*;`.
//!
//! Types of tensors and their device, traits that bound a function over element types, and `s!`. [`opt`] is a module,
//! since its functions have names that programs use for their own values. `Result` and `Error` are left out: the
//! first would shadow the one of the standard library.
//!
//! ```
//! use ragged::prelude::*;
//!
//! /// The last `n` of each row, largest first.
//! fn last<T: Number>(x: &RaggedTensor<T>, n: i64) -> ragged::Result<RaggedTensor<T>> {
//!     x.slice(s![.., -n..])?.sort(opt::descending(1))
//! }
//!
//! let x = RaggedTensor::from_nested([vec![3i32, 1, 4, 1], vec![], vec![5]], &Device::cpu())?;
//! assert_eq!(last(&x, 2)?.to_vec()?, [4, 1, 5]);
//! # Ok::<(), ragged::Error>(())
//! ```

pub use crate::{
    DType, Device, Element, FloatElement, IntegerElement, Number, RaggedTensor, Row, Seed, SparseTensor, Str,
    StructuredTensor, Tensor, opt, s,
};
