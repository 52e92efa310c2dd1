//! Table of all operations.
//!
//! The operations are methods of [`Tensor`], whose dtype is known at run time; [`RaggedTensor`] has them for the
//! element types that they take. The last three tables are of [`SparseTensor`], of [`StructuredTensor`] and of
//! [`LodTensor`]. [`operations`](crate::operations()) lists all for programs. The columns:
//!
//! - *TensorFlow*, *Awkward*, *Polars*: the function with the same meaning; the pages of the operations list the
//!   differences. `–` marks an operation that the library does not have for rows.
//! - *computed by*: on the CPU every operation is computed, with the GPU's bits. On a GPU:
//!   - *device*: kernels, fused with those before and after; recording never waits.
//!   - *device; may wait*: the same, but for some arguments the shape of the result depends on a size that only the
//!     device knows. Recording then waits for that size once. [`record_async`](crate::record_async) awaits it.
//!   - *host step*: no kernel computes that part. Recording evaluates the input, reads it, computes on the host and
//!     uploads the result. A GPU refuses host steps unless
//!     [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps) allows them, and
//!     [`Stats`](crate::Stats) counts them.
//! - *on a row*: [`Row`], in [`map_rows`](Tensor::map_rows), has the operation.
//! - *gradient*: whether [`value_and_grad`](crate::value_and_grad) differentiates the operation where its values are
//!   floats; *none* marks those without a useful derivative. A gradient is differentiated like any other value, unless the
//!   column says that the operation has no second derivative.
//!
//! Reductions of axis 0 with [`keep`](crate::opt::keep) wait for the longest row where only the device knows it.
//!
//! | element-wise operators | methods |
//! |---|---|
//! | `+ - * / %` | [`add`](Tensor::add), [`subtract`](Tensor::subtract), [`multiply`](Tensor::multiply), [`truediv`](Tensor::truediv), [`floormod`](Tensor::floormod) |
//! | `& \| ^ !` | [`logical_and`](Tensor::logical_and), … on bools; [`bitwise_and`](Tensor::bitwise_and), … on integers |
//! | `<< >>` | [`left_shift`](Tensor::left_shift), [`right_shift`](Tensor::right_shift) |
//! | unary `-` | [`negative`](Tensor::negative) |
//!
//! An operation is a method of the tensor and takes tensors, numbers and options; it returns a [`Result`](crate::Result):
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt};
//!
//! let x = RaggedTensor::from_nested([vec![3i32, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
//! let best = x.multiply(10)?.sort(opt::descending(1))?;
//! assert_eq!(best.to_string(), "<ragged.RaggedTensor [[30, 20, 10], [], [50, 40]]>");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
#![doc = include_str!("operations.md")]

#[expect(unused_imports, reason = "links of the documentation")]
use crate::{LodTensor, RaggedTensor, Row, SparseTensor, StructuredTensor, Tensor};
