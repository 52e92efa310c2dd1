//! A tensor engine for variable-length data: rows of different lengths, nested to any depth, beside uniform dimensions,
//! on any GPU that [wgpu](https://docs.rs/wgpu) supports and on the CPU, with the same bits.
//!
//! # Start
//!
//! `cargo add ragged`, then:
//!
//! ```
//! use ragged::prelude::*;
//!
//! /// Scales the values of each row to mean 0 and standard deviation 1.
//! fn standardized(x: &RaggedTensor<f32>) -> ragged::Result<RaggedTensor<f32>> {
//!     let centred = (x - &x.reduce_mean(opt::keep(1))?)?;
//!     centred / (x.reduce_std(opt::keep(1))? + 1e-6)?
//! }
//!
//! // A device: the CPU, `Device::gpu()`, or the best one, `Device::best()`.
//! let device = Device::cpu();
//! // Rows of any lengths; the second one is empty.
//! let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![2.0, 2.0, 2.0]], &device)?;
//! // Operations check their arguments and record.
//! let y = standardized(&x)?;
//! // All five operations are one kernel.
//! assert_eq!(y.explain()?.kernels.len(), 1);
//! // A read computes.
//! assert_eq!(y.round()?.to_vec()?, [-1.0, 1.0, 0.0, 0.0, 0.0]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! The [`guide`] has pages for users of TensorFlow, Paddle, Awkward and Polars, and a table of all operations.
//!
//! # The model
//!
//! ```text
//! [[3, 1, 4], [], [1, 5]]       flat values   3  1  4  1  5          one array on the device
//!                               row splits    0        3  3     5    where rows begin
//! ```
//!
//! A tensor is an array of flat values under row partitions, one for each ragged level; without any it is dense. It lives
//! on a [`Device`] and is immutable; cloning it is cheap. [`RaggedTensor<T>`] has an element type that the compiler
//! checks: `x.cast::<f64>()` of a `RaggedTensor<f32>` is a `RaggedTensor<f64>`. [`Tensor`] has a dtype that is known at run
//! time: for data whose types a file or a user determines, and for functions of any dtype. Both have the same operations, but
//! for a few ([`Operation::owners`]); [`erased`](RaggedTensor::erased) gives the `Tensor` of a `RaggedTensor<T>` and
//! `try_into` the reverse, without a copy.
//!
//! ```
//! use ragged::prelude::*;
//!
//! let digits = RaggedTensor::from_nested([vec![3i32, 1, 4, 1], vec![], vec![5, 9, 2]], &Device::cpu())?;
//! assert_eq!((&digits + 3)?.to_string(), "<ragged.RaggedTensor [[6, 4, 7, 4], [], [8, 12, 5]]>");
//! assert_eq!(digits.slice(s![.., -2..])?.to_string(), "<ragged.RaggedTensor [[4, 1], [], [9, 2]]>");
//!
//! let halves: RaggedTensor<f32> = (digits.cast()? / 2.0)?;
//! let any: Tensor = digits.erased().cast(DType::F32)?;
//! assert_eq!((halves.reduce_sum(1)?.to_vec()?, any.dtype()), (vec![4.5, 0.0, 8.0], DType::F32));
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Arguments and options
//!
//! An operation takes its required arguments, the axis last: `x.reduce_mean(1)`, `table.gather(&ids)`. Axes, sizes and
//! counts are of any integer type. Other tensors are taken as [`Tensor`], as [`RaggedTensor`], or as a type of yours that
//! is `AsRef<Tensor>`; as an operand beside a `RaggedTensor<T>`, that type is passed as `x.as_ref()`
//! ([`OperandOf`](arguments::OperandOf)). A number takes the dtype of the tensor beside it: `&x * 0.5` works for every
//! float dtype, and is an error for integers. A random operation takes its [`Seed`]. An option is a function around the
//! argument that it concerns: [`opt`] lists them.
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt};
//!
//! let x = RaggedTensor::from_nested([vec![3i32, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
//! assert_eq!(x.reduce_sum(opt::keep(1))?.to_vec()?, [6, 0, 9]);
//! assert_eq!(x.cumsum(opt::exclusive(opt::reversed(1)))?.to_vec()?, [3, 2, 0, 4, 0]);
//! assert_eq!(x.sort(opt::descending(1))?.to_vec()?, [3, 2, 1, 5, 4]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Functions of your own
//!
//! A function of tensors is an ordinary Rust function, such as `fn gelu(x: &Tensor) -> Result<Tensor>`; its operations fuse.
//! [`Tensor::map_rows`] turns a function of one row into one of all rows. An [`ElementFunction`] is a function of elements
//! that operations express badly, written in WGSL and in Rust.
//!
//! # Records
//!
//! A [`StructuredTensor`] holds records of named fields over one shape, which may be ragged: a field is one tensor for all
//! records. Paths, [`keys!`] and updates reach nested fields. The feature `json` adds records from anything that implements
//! `serde::Serialize`, records as JSON, and `JsonLines`, which reads JSON lines into columns.
//!
//! # Recording and computing
//!
//! Operations check their arguments and record; they compute nothing. A read (`to_vec`, `to_host`, printing) plans the
//! recorded operations, fuses them into few kernels, runs these and waits once. [`Tensor::eval`] computes without
//! reading. Besides these, only what says so computes: a number for the host (`len`, `equals`), an operation that waits for
//! a size ([`Operation::waits`]) or has a step on the host ([`Operation::host_step`]), and a chain of 131,072 unevaluated
//! arrays, which is evaluated when it is recorded: that bounds the memory of a recording. Sizes that depend on data,
//! such as the number of words of a text, stay on the device. Recording is hash-consed: equal operations on equal
//! operands are one array, which is computed once as long as a tensor of it lives. The functions of the crate, such as
//! [`eval`] and [`to_host`], take several tensors and compute shared arrays once. [`Tensor::explain`] shows the kernels
//! that a read would run and why they are separate, [`Device::stats`] the work that was done.
//!
//! A plan is compiled once per program and cached. Sizes are parameters of a program: batches with other numbers and
//! lengths of rows run the same plan.
//!
//! [`Program::trace`] records a computation once, from a [`TensorSpec`] per input, and [`Program::run`] runs it on any
//! tensors that fit: on the CPU without recording anything.
//!
//! The reads of tensors have async twins ([`Tensor::to_host_async`]) for any executor; [`record_async`] is the async twin of the
//! few operations that wait for a size while they are recorded. Any number of threads may record and read concurrently,
//! on the same tensors.
//!
//! # Gradients
//!
//! [`value_and_grad`] gives the value of a function of tensors and its gradient, [`grad`] the gradient alone. Both are
//! recorded, and computed by a read. A gradient has the layout of its tensor, and is differentiated like any other value.
//! The crate `ragged-nn` trains models with them.
//!
//! ```
//! use ragged::{Device, RaggedTensor, grad};
//!
//! let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
//! let g = grad(|x| x[0].reduce_logsumexp(1)?.slice(ragged::s![..;2])?.reduce_sum(..), &x)?;
//! assert_eq!(g[0].reduce_sum(1)?.to_string(), "tensor([1.0, 0.0, 1.0], shape=(3,), dtype=f32)");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Sharing a GPU
//!
//! A program with its own [`wgpu`] device and queue can share them ([`Device::from_wgpu`]) or use this crate's
//! ([`Device::as_wgpu`]), make tensors of its buffers ([`Tensor::from_wgpu_buffer`]) and bind the buffers of tensors in
//! its own kernels ([`Tensor::values_buffer`]). Nothing is copied, and nothing waits: the queue keeps the order.
//! [`DeviceOptions::max_memory`] bounds the device memory that this crate takes.
//!
//! # Memory
//!
//! [`Tensor::from_shared`] makes a tensor over memory of the program, and [`Tensor::to_shared`] reads one as the memory of its
//! arrays: neither copies on the CPU.
//!
//! A read holds one copy: the array's bytes are converted once, into the vector that is returned. An upload of numbers
//! holds one copy besides its argument. A read from a GPU takes a staging buffer as well. Memory of dropped arrays is
//! kept for reuse and returned before a request is refused.
//!
//! On the CPU, memory is counted before it is written: arrays, intermediate results and results of reads. The limit is
//! the budget of the device ([`Device::cpu_with`], [`CpuOptions::max_memory`]), and the memory that Linux reports as
//! available, or as left in the control group of the process. On a GPU, [`DeviceOptions::max_memory`] bounds the device
//! memory; results of reads, and lists of tensors ([`Tensor::split`]), are counted against the available memory of the
//! host. A request beyond a limit is [`Error::Limit`], which names the bytes that are needed, the limit and its owner;
//! tensors stay usable. Other systems report no available memory: set a budget there.
//!
//! # Numbers
//!
//! A row's result depends on that row alone: not on its batch, its position, or the device. Integers, minima, maxima and
//! copies are exact; float sums and products follow an order that only the row's length and the inner width determine;
//! division, square roots and elementary functions are this crate's own, the same on every backend. Numbers of 8 and 16
//! bits are storage types: integers wrap in their own type; f16 and bf16 are computed in f32 and rounded once per
//! operation; a whole reduction rounds once. On adapters that flush subnormal numbers ([`Device::numerics`]; on Vulkan,
//! kernels ask the driver not to) this holds for normal numbers. NaN propagates; its payload is unspecified.
//!
//! # Errors
//!
//! An error that the host can detect is returned by the call. An error that only the device can detect (an index out of
//! range, rows that do not broadcast) is returned by the read that depends on it, with the operation and the line that
//! recorded it. Every error names the line of the user's call ([`Error::location`]). Bad input never panics, and tensors
//! stay usable after an error. See [`Error`].
//!
//! # Features
//!
//! | feature | default | adds | dependencies |
//! |---|---|---|---|
//! | `gpu` | yes | devices other than the CPU: `Device::gpu`, [`DeviceOptions`], [`wgpu`] and buffers shared with it; the validation of an [`ElementFunction`]'s WGSL | wgpu, naga, ash |
//! | `json` | yes | `JsonLines`, records from and to JSON and serde | serde, serde_json, memchr |
//! | `saved` | yes | `SavedModel`: programs and tensors in files | serde, serde_json, safetensors |
//! | `regex` | yes | `regex_full_match`, `regex_replace`, `regex_replace_first`, `regex_split` | regex |
//! | `ndarray` | yes | `from_ndarray`, `to_ndarray` | ndarray |
//! | `tracing` | no | debug spans with the target `ragged`: `plan`, `compile`, `upload`, `submit`, `wait`, `read`, and `cpu step` for each step of the CPU backend, with bytes, dispatches and operations | tracing |
//! | `wgpu-profiler` | no | `Tensor::eval_profiled`: a scope of [wgpu-profiler](https://docs.rs/wgpu-profiler) for each kernel, with its time on the device; implies `gpu` | wgpu-profiler |
//!
//! With `default-features = false` the crate computes on the CPU and has every operation but those of the table. Results
//! have the same bits with any features.
//!
//! # Glossary
//!
//! - *Row*: an element of the outermost dimension, or a list at any level below it.
//! - *Ragged dimension*: one whose size differs from row to row; a *uniform* one has one size.
//! - *Row partition*: the division of an array into consecutive rows, by row splits or by one uniform row length.
//! - *Row splits*: the positions at which rows begin, and the end of the last row; Arrow calls them offsets.
//! - *Row lengths*, *row starts*, *row limits*, *value rowids*: TensorFlow's other encodings of a row partition.
//! - *Flat values*: the elements below all row partitions, in one array.
//! - *Ragged rank*: the number of row partitions; 0 for a dense tensor.
//! - *Inner dimensions*: the uniform dimensions of the flat values, below all row partitions.
//! - *To record*: to check an operation's arguments and note what to compute, without computing it.
//! - *Read*: a call that gives values to the host; it computes what they depend on.
//! - *Wait*: the host stands by until the device has finished; pages say where one occurs besides reads.
//! - *Host step*: a part of an operation that no kernel computes: the device's data is read, and the result uploaded.
//! - *Device-side check*: a check on data that a kernel makes; a failed one is an error of every read that depends on it.
//! - *Kernel*: one program of the device; operations fuse into few of them.
//! - *Traced program*: a computation with specifications in place of inputs, which is recorded once and run on many.
//! - *Plan*: the kernels of a computation in their order; compiled once and cached.
//! - *Canonical order*: the order of a row's float sums and products, a function of the row's length and the inner width.
//! - *Batch invariance*: a row's result is independent of the other rows.
//! - *Identity element*: the value that a reduction begins with and gives without values, such as 0 of a sum.
//! - *Extent*: the number of elements of an array, known to the host (*host-known*) or only to the device (*device-known*).
//! - *Window*: a range of an array that is larger than one binding of a GPU, bound separately.
//! - *Fusion barrier*: the reason why two operations are separate kernels; [`Explain`] names it.
//! - *Epilogue*: what a kernel computes of its results when it stores them, such as the quotient of a mean.
//! - *Leaf*: a tensor that a function is differentiated by; the gradient has one tensor for each.
//! - *Cotangent*: the derivative of the value that is differentiated by one array of the computation: what a reverse pass
//!   computes for each array, from the value to the leaves.
//! - *Adjoint*: the linear operation that takes the cotangent of a result to that of an operand: a scatter-add for a gather.
//! - *Scope*: the call of [`value_and_grad`] in which a function is differentiated; values that it reads keep their
//!   derivatives until the call returns.
//!
//! # Environment
//!
//! `RAGGED_DEVICE` names the device of [`Device::best`]: `cpu`, `gpu`, or a part of an adapter's name.
//! `RAGGED_DUMP_WGSL` names a folder into which every generated kernel is written.
//! `RAGGED_PORTABLE=1` turns processor-specific loops of the CPU backend off; the results have the same bits.
//! `RAGGED_CHECKED_SHADERS=1` keeps all of wgpu's checks in kernels: [`DeviceOptions::checked_shaders`].
//!
//! Any other value, such as a blank one, is an error of the first call that depends on it: the choice of a device, or a
//! computation on the CPU. The last two variables may also be 0.
#![forbid(unsafe_op_in_unsafe_fn)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "gpu", feature = "saved", feature = "regex", feature = "ndarray")),
    allow(rustdoc::broken_intra_doc_links, reason = "pages of the guide link to items of all default features")
)]
#![cfg_attr(
    not(feature = "gpu"),
    allow(
        dead_code,
        reason = "some of the interface to backends, and the WGSL of functions, is used by the GPU backend only"
    )
)]

pub mod arguments;
mod backend;
mod device;
mod dtype;
mod element;
mod environment;
mod error;
mod explain;
mod gradient;
mod graph;
pub mod guide;
mod integer;
pub mod iter;
mod lod;
mod math;
mod numerics;
pub mod operation;
mod ops;
pub mod opt;
pub mod prelude;
mod program;
mod record;
mod setters;
mod shape;
mod sparse;
mod stats;
mod structured;
mod tensor;
mod trace;
mod tuning;
pub use backend::cpu::options::CpuOptions;
#[cfg(feature = "gpu")]
pub use backend::gpu::runtime::DeviceOptions;
pub use device::Device;
pub use dtype::DType;
pub use element::{
    Arithmetic, BitElement, Element, FloatElement, IntegerElement, Number, SignedElement, Str, Summable,
};
pub use error::{Error, Result};
pub use explain::{Explain, ExplainedInput, ExplainedKernel, ExplainedSize};
pub use gradient::{Gradient, RowsGradient, grad, sparse_value_and_grad, value_and_grad};
pub use graph::run::recording::record_async;
pub use graph::scalar::Scalar;
pub use graph::step::fusion_barrier::FusionBarrier;
pub use graph::step::many_dispatches::ManyDispatches;
pub use half::{bf16, f16};
pub use integer::Integer;
pub use lod::LodTensor;
pub use numerics::{FloatNumerics, Numerics, ProductRounding};
pub use operation::Operation;
pub use ops::{
    Averaged, ElementClosure, ElementFunction, ElementSignature, Ellipsis, NewAxis, Row, ScannedRows, Seed,
    WgslElement, operations,
};
#[cfg(feature = "saved")]
pub use program::{LoadOptions, SavedModel};
pub use program::{Program, TensorSpec};
pub use shape::{Lengths, RaggedShape, RowPartition};
pub use sparse::{HostSparseTensor, SparseTensor};
pub use stats::Stats;
pub use structured::{FieldPath, FieldValue, Key, RecordShape, StructuredTensor, Update};
#[cfg(feature = "json")]
pub use structured::{JsonLines, JsonOptions, JsonType, Misfit};
#[cfg(feature = "gpu")]
pub use tensor::DeviceBuffer;
pub use tensor::{
    HostRow, HostRows, HostTensor, HostValues, Nested, RaggedTensor, SharedBytes, SharedRows, SharedTensor, Tensor,
    eval, explain, explain_timed, to_host, to_host_async, to_vecs,
};
pub use tuning::Tuning;

/// The version of wgpu-profiler whose scopes [`Tensor::eval_profiled`] returns.
#[cfg(feature = "wgpu-profiler")]
pub use wgpu_profiler;

/// The version of wgpu that this crate works with: its devices and buffers can be exchanged with this crate's.
#[cfg(feature = "gpu")]
pub use wgpu;

/// Runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
