//! For users of Paddle: LoD tensors and the `sequence_*` operations.
//!
//! A [`LodTensor`] is Paddle's `LoDTensor`: rows of data, and levels of detail (LoD) that group them into sequences. Under
//! it lies a [`Tensor`] whose row partitions are the levels, so that every operation of the [table](super::operations)
//! applies too. Operations *record*; a read computes what was recorded. Compared with Paddle 1.8 (`fluid`) and its
//! guide to LoD tensors; Paddle 2 has the operations in `paddle.static.nn`.
//!
//! # Concepts
//!
//! | Paddle | ragged |
//! |---|---|
//! | `LoDTensor` | [`LodTensor`]; [`LodTensor::from`] a [`Tensor`] or [`RaggedTensor`], [`into_tensor`](LodTensor::into_tensor) back: both free |
//! | `recursive_sequence_lengths()` | [`recursive_sequence_lengths`](LodTensor::recursive_sequence_lengths), which reads; [`lengths`](LodTensor::lengths) of one level stay on the device |
//! | `lod()`: offsets | [`lod`](LodTensor::lod), which reads; [`offsets`](LodTensor::offsets) of one level stay on the device |
//! | `has_valid_recursive_sequence_lengths()` | always: levels are checked when the tensor is made |
//! | `set_lod`, `set_recursive_sequence_lengths` | a new tensor: [`from_lod`](LodTensor::from_lod), [`from_lengths`](LodTensor::from_lengths); tensors are immutable |
//! | `fluid.create_lod_tensor(data, lengths, place)` | [`LodTensor::from_lengths`]`(&data, lengths)`; the place is the [`Device`] of the data |
//! | `place`: `CPUPlace()`, `CUDAPlace(0)` | [`Device::cpu`], `Device::gpu`; results have the same bits |
//! | `data(name, shape, dtype, lod_level)` | an argument of a Rust function; of a saved program, a [`TensorSpec`](crate::TensorSpec) whose `ragged_rank` is the LoD level |
//! | `Program`, `Executor.run(feed, fetch_list)` | nothing: a read plans and runs what was recorded, and plans are cached. [`Program::trace`](crate::Program::trace) records once, [`run`](crate::Program::run) takes the tensors in order |
//! | `fetch_list` of several | [`to_host`](crate::to_host)`((&a, &b))` computes shared parts once |
//! | `return_numpy=True`, `numpy.array(t)` | [`to_vec`](RaggedTensor::to_vec) of the flat values, [`to_nested_vec`](RaggedTensor::to_nested_vec), or `to_ndarray` |
//! | `return_numpy=False` | the tensor itself; a read is a call of its own |
//! | an exception of the executor | [`Error`](crate::Error), from the call if the host can tell, else from the read; it names the line of the call |
//!
//! # The guide's program
//!
//! ```
//! use ragged::{Device, LodTensor, RaggedTensor};
//!
//! let place = Device::cpu();
//! // x = fluid.layers.data(name='x', shape=[1], dtype='float32', lod_level=1)
//! // x_d = fluid.create_lod_tensor(numpy.array([[1.1], [2.2], [3.3], [4.4]]), [[1, 3]], place)
//! let data = RaggedTensor::from_nested([[1.1f32], [2.2], [3.3], [4.4]], &place)?;
//! let x = LodTensor::from_lengths(&data, [[1, 3]])?;
//! // y_d = fluid.create_lod_tensor(numpy.array([[1.1]] * 6), [[1, 3], [2, 1, 2, 1]], place)
//! let six = RaggedTensor::from_nested([[1.1f32]; 6], &place)?;
//! let y = LodTensor::from_lengths(&six, [vec![1, 3], vec![2, 1, 2, 1]])?;
//!
//! // out = fluid.layers.sequence_expand(x=x, y=y, ref_level=0)
//! let out = x.sequence_expand(&y, 0)?;
//!
//! // results = exe.run(fluid.default_main_program(), feed={'x': x_d, 'y': y_d}, fetch_list=[out], return_numpy=False)
//! assert_eq!(out.recursive_sequence_lengths()?, [[1, 3, 3, 3]]);
//! // numpy.array(results[0])
//! let values = RaggedTensor::<f32>::try_from(out.data()?)?.to_vec()?;
//! assert_eq!(values, [1.1, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Calls
//!
//! Rows of a sequence are elements along axis 1 of the tensor below, so that a sequence operation has a form on tensors.
//!
//! | Paddle | on a [`LodTensor`] | on rows `x` of a [`Tensor`] |
//! |---|---|---|
//! | `sequence_pool(x, 'average' / 'sum' / 'sqrt' / 'max' / 'min' / 'first' / 'last', pad_value)` | [`sequence_pool`](LodTensor::sequence_pool)`(`[`Pool`](crate::opt::Pool)`::Average, pad_value)` | [`reduce_mean(1)`](Tensor::reduce_mean), [`reduce_sum(1)`](Tensor::reduce_sum), … |
//! | `sequence_first_step`, `sequence_last_step` | [`sequence_first_step`](LodTensor::sequence_first_step), [`sequence_last_step`](LodTensor::sequence_last_step) | [`nth(0)`](Tensor::nth), [`nth(-1)`](Tensor::nth) |
//! | `sequence_softmax(x)` | [`sequence_softmax`](LodTensor::sequence_softmax) | [`softmax(1)`](Tensor::softmax) |
//! | `sequence_reverse(x)` | [`sequence_reverse`](LodTensor::sequence_reverse) | [`reverse(1)`](Tensor::reverse) |
//! | `sequence_expand(x, y, ref_level)`, `sequence_expand_as(x, y)` | [`sequence_expand`](LodTensor::sequence_expand), [`sequence_expand_as`](LodTensor::sequence_expand_as) | [`repeat`](Tensor::repeat) |
//! | `sequence_concat([a, b])` | [`LodTensor::sequence_concat`] | [`concat`](Tensor::concat) along axis 1 |
//! | `sequence_slice(x, offset, length)` | [`sequence_slice`](LodTensor::sequence_slice) | [`slice_rows`](Tensor::slice_rows) |
//! | `sequence_pad(x, pad_value, maxlen)`, `sequence_unpad(x, length)` | [`sequence_pad`](LodTensor::sequence_pad), [`sequence_unpad`](LodTensor::sequence_unpad) | [`to_tensor`](Tensor::to_tensor), [`from_tensor_with_lengths`](Tensor::from_tensor_with_lengths) |
//! | `sequence_mask(lengths, maxlen)` | [`sequence_mask`](LodTensor::sequence_mask) | [`sequence_mask`](Tensor::sequence_mask) |
//! | `sequence_reshape(x, new_dim)` | [`sequence_reshape`](LodTensor::sequence_reshape) | |
//! | `sequence_scatter(x, index, updates)` | [`sequence_scatter`](LodTensor::sequence_scatter) | [`batch_scatter_add`](Tensor::batch_scatter_add) |
//! | `sequence_enumerate(x, win_size, pad_value)` | [`sequence_enumerate`](LodTensor::sequence_enumerate) | [`context_windows`](Tensor::context_windows) |
//! | `sequence_conv(x, num_filters, filter_size)` | [`sequence_conv`](LodTensor::sequence_conv)`(&filter, size)`: the filter is an argument | [`context_windows`](Tensor::context_windows), [`matmul`](Tensor::matmul) |
//!
//! # Missing
//!
//! - `While`: a loop in Rust records its operations. A step that runs along rows, as `StaticRNN` and `DynamicRNN`, is
//!   [`scan_rows`](Tensor::scan_rows); parameters and optimizers are those of the crate `ragged-nn`.
//! - Data types complex64, complex128 and quantized ones.

#[expect(unused_imports, reason = "links of the documentation")]
use crate::{Device, LodTensor, RaggedTensor, Tensor};
