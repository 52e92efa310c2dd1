//! Table of all operations.
//!
//! The operations are methods of [`Tensor`], whose dtype is known at run time; [`RaggedTensor`] has them for the
//! element types that they take. The columns:
//!
//! - *TensorFlow*: the function with the same meaning; the pages of the operations list the differences. `–` marks an
//!   operation that TensorFlow does not have for rows; [Awkward](super::awkward) and [Polars](super::polars) may.
//! - *CPU*: the CPU backend computes the operation, with the GPU's bits.
//! - *GPU*: where the operation is computed.
//!   - *device*: kernels, fused with those before and after; recording never waits.
//!   - *device, may wait*: the same, but for some arguments the shape of the result depends on a size that only the
//!     device knows. Recording then waits for that size once; the page of the operation says when.
//!     [`record_async`](crate::record_async) awaits it.
//!   - *host step*: no kernel computes the operation. Recording evaluates the input, reads it, computes on the host and
//!     uploads the result. A GPU refuses host steps unless
//!     [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps) allows them, and
//!     [`Stats`](crate::Stats) counts them.
//! - *gradient*: gradients are not implemented. *later* marks operations that will have one, *none* those without a
//!   useful derivative: results of integers, bools or strings, and functions that are constant almost everywhere.
//!
//! Reductions of axis 0 with [`keep`](crate::keep) wait for the longest row where only the device knows it.
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
//! use ragged::{Device, RaggedTensor, descending};
//!
//! let x = RaggedTensor::from_nested([vec![3i32, 1, 2], vec![], vec![5, 4]], &Device::cpu())?;
//! let best = x.multiply(10)?.sort(descending(1))?;
//! assert_eq!(best.to_string(), "<ragged.RaggedTensor [[30, 20, 10], [], [50, 40]]>");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Construction
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`constant`](Tensor::constant) | `tf.ragged.constant` | yes | device | none |
//! | [`RaggedTensor::from_nested`](RaggedTensor::from_nested) | `tf.ragged.constant` | yes | device | none |
//! | [`RaggedTensor::dense`](RaggedTensor::dense) | `tf.constant` | yes | device | none |
//! | [`RaggedTensor::from_ndarray`](RaggedTensor::from_ndarray) | `tf.constant` | yes | device | none |
//! | [`from_row_splits`](Tensor::from_row_splits) | `tf.RaggedTensor.from_row_splits` | yes | device | later |
//! | [`from_row_lengths`](Tensor::from_row_lengths) | `tf.RaggedTensor.from_row_lengths` | yes | device | later |
//! | [`from_row_starts`](Tensor::from_row_starts) | `tf.RaggedTensor.from_row_starts` | yes | device | later |
//! | [`from_row_limits`](Tensor::from_row_limits) | `tf.RaggedTensor.from_row_limits` | yes | device | later |
//! | [`from_value_rowids`](Tensor::from_value_rowids) | `tf.RaggedTensor.from_value_rowids` | yes | device | later |
//! | [`from_uniform_row_length`](Tensor::from_uniform_row_length) | `tf.RaggedTensor.from_uniform_row_length` | yes | device | later |
//! | [`from_nested_row_splits`](Tensor::from_nested_row_splits) | `tf.RaggedTensor.from_nested_row_splits` | yes | device | later |
//! | [`from_nested_row_lengths`](Tensor::from_nested_row_lengths) | `tf.RaggedTensor.from_nested_row_lengths` | yes | device | later |
//! | [`from_nested_value_rowids`](Tensor::from_nested_value_rowids) | `tf.RaggedTensor.from_nested_value_rowids` | yes | device | later |
//! | [`from_row_splits_unchecked`](Tensor::from_row_splits_unchecked), [`from_row_lengths_unchecked`](Tensor::from_row_lengths_unchecked), [`from_row_starts_unchecked`](Tensor::from_row_starts_unchecked), [`from_row_limits_unchecked`](Tensor::from_row_limits_unchecked), [`from_value_rowids_unchecked`](Tensor::from_value_rowids_unchecked), [`from_uniform_row_length_unchecked`](Tensor::from_uniform_row_length_unchecked), [`from_nested_row_splits_unchecked`](Tensor::from_nested_row_splits_unchecked), [`from_nested_row_lengths_unchecked`](Tensor::from_nested_row_lengths_unchecked), [`from_nested_value_rowids_unchecked`](Tensor::from_nested_value_rowids_unchecked) | `…(validate=False)` | yes | device | later |
//! | [`from_row_partitions`](Tensor::from_row_partitions) | `tf.RaggedTensor._from_nested_row_partitions` | yes | device | later |
//! | [`from_tensor`](Tensor::from_tensor) | `tf.RaggedTensor.from_tensor` | yes | device | later |
//! | [`from_tensor_with_lengths`](Tensor::from_tensor_with_lengths) | `tf.RaggedTensor.from_tensor(…, lengths)` | yes | device | later |
//! | [`from_tensor_with_nested_lengths`](Tensor::from_tensor_with_nested_lengths) | `tf.RaggedTensor.from_tensor(…, lengths)` | yes | device | later |
//! | [`from_tensor_with_padding`](Tensor::from_tensor_with_padding) | `tf.RaggedTensor.from_tensor(…, padding=…)` | yes | device | later |
//! | [`from_sparse`](Tensor::from_sparse) | `tf.RaggedTensor.from_sparse` | yes | device | later |
//! | [`from_wgpu_buffer`](Tensor::from_wgpu_buffer) | – | yes | device | later |
//! | [`fill`](Tensor::fill) | `tf.fill` | yes | device, may wait | later |
//! | [`fill_rows`](Tensor::fill_rows) | `tf.fill` | yes | device | none |
//! | [`zeros`](Tensor::zeros) | `tf.zeros` | yes | device | none |
//! | [`ones`](Tensor::ones) | `tf.ones` | yes | device | none |
//! | [`zeros_like`](Tensor::zeros_like) | `tf.zeros_like` | yes | device | none |
//! | [`ones_like`](Tensor::ones_like) | `tf.ones_like` | yes | device | none |
//! | [`range`](Tensor::range) | `tf.ragged.range` | yes | device | none |
//! | [`ranges`](Tensor::ranges) | `tf.ragged.range` | yes | device | none |
//!
//! # Parts, sizes and copies
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`values`](Tensor::values) | `tf.RaggedTensor.values` | yes | device | later |
//! | [`flat_values`](Tensor::flat_values) | `tf.RaggedTensor.flat_values` | yes | device | later |
//! | [`row_splits`](Tensor::row_splits) | `tf.RaggedTensor.row_splits` | yes | device | none |
//! | [`row_starts`](Tensor::row_starts) | `tf.RaggedTensor.row_starts` | yes | device | none |
//! | [`row_limits`](Tensor::row_limits) | `tf.RaggedTensor.row_limits` | yes | device | none |
//! | [`value_rowids`](Tensor::value_rowids) | `tf.RaggedTensor.value_rowids` | yes | device | none |
//! | [`row_lengths`](Tensor::row_lengths) | `tf.RaggedTensor.row_lengths` | yes | device | none |
//! | [`nrows`](Tensor::nrows) | `tf.RaggedTensor.nrows` | yes | device | none |
//! | [`nested_row_splits`](Tensor::nested_row_splits) | `tf.RaggedTensor.nested_row_splits` | yes | device | none |
//! | [`nested_row_lengths`](Tensor::nested_row_lengths) | `tf.RaggedTensor.nested_row_lengths` | yes | device | none |
//! | [`nested_value_rowids`](Tensor::nested_value_rowids) | `tf.RaggedTensor.nested_value_rowids` | yes | device | none |
//! | [`bounding_shape`](Tensor::bounding_shape) | `tf.RaggedTensor.bounding_shape` | yes | device | none |
//! | [`bounding_shape_of`](Tensor::bounding_shape_of) | `tf.RaggedTensor.bounding_shape(axis)` | yes | device | none |
//! | [`bounding_size`](Tensor::bounding_size) | `tf.RaggedTensor.bounding_shape(axis)` | yes | device | none |
//! | [`size`](Tensor::size) | `tf.size` | yes | device | none |
//! | [`with_values`](Tensor::with_values) | `tf.RaggedTensor.with_values` | yes | device | later |
//! | [`with_flat_values`](Tensor::with_flat_values) | `tf.RaggedTensor.with_flat_values` | yes | device | later |
//! | [`row_splits_to_segment_ids`](Tensor::row_splits_to_segment_ids) | `tf.ragged.row_splits_to_segment_ids` | yes | device | none |
//! | [`segment_ids_to_row_splits`](Tensor::segment_ids_to_row_splits) | `tf.ragged.segment_ids_to_row_splits` | yes | device, may wait | none |
//! | [`segment_ids_to_row_splits_of`](Tensor::segment_ids_to_row_splits_of) | `tf.ragged.segment_ids_to_row_splits(…, num_segments)` | yes | device | none |
//! | [`to_tensor`](Tensor::to_tensor) | `tf.RaggedTensor.to_tensor` | yes | device, may wait | later |
//! | [`to_sparse`](Tensor::to_sparse) | `tf.RaggedTensor.to_sparse` | yes | device, may wait | later |
//! | [`to_device`](Tensor::to_device) | `tf.identity` | yes | device | later |
//! | [`to_device_async`](Tensor::to_device_async) | `tf.identity` | yes | device | later |
//!
//! # Indexing and gathering
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`slice`](Tensor::slice) | `tf.RaggedTensor.__getitem__` | yes | device, may wait | later |
//! | [`row_at`](Tensor::row_at) | `tf.RaggedTensor.__getitem__` | yes | device | later |
//! | [`nth`](Tensor::nth) | – | yes | device | later |
//! | [`nth_or`](Tensor::nth_or) | – | yes | device | later |
//! | [`nth_or_skip`](Tensor::nth_or_skip) | – | yes | device | later |
//! | [`gather`](Tensor::gather) | `tf.gather` | yes | device, may wait | later |
//! | [`batch_gather`](Tensor::batch_gather) | `tf.compat.v1.batch_gather` | yes | device, may wait | later |
//! | [`gather_nd`](Tensor::gather_nd) | `tf.gather_nd` | yes | device | later |
//! | [`embedding_lookup`](Tensor::embedding_lookup) | `tf.nn.embedding_lookup` | yes | device | later |
//! | [`embedding_lookup_sparse`](Tensor::embedding_lookup_sparse) | `tf.nn.embedding_lookup_sparse` | yes | device | later |
//! | [`safe_embedding_lookup_sparse`](Tensor::safe_embedding_lookup_sparse) | `tf.nn.safe_embedding_lookup_sparse` | yes | device | later |
//!
//! # Masks and selection
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`boolean_mask`](Tensor::boolean_mask) | `tf.ragged.boolean_mask` | yes | device | later |
//! | [`select`](Tensor::select) | `tf.where(condition, x, y)` | yes | device | later |
//! | [`select_rows`](Tensor::select_rows) | `tf.compat.v1.where` | yes | device | later |
//! | [`where_indices`](Tensor::where_indices) | `tf.where(condition)` | yes | device | none |
//!
//! # Element-wise, one operand
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`abs`](Tensor::abs) | `tf.math.abs` | yes | device | later |
//! | [`sign`](Tensor::sign) | `tf.math.sign` | yes | device | none |
//! | [`square`](Tensor::square) | `tf.math.square` | yes | device | later |
//! | [`round`](Tensor::round) | `tf.math.round` | yes | device | none |
//! | [`negative`](Tensor::negative) | `tf.math.negative` | yes | device | later |
//! | [`acos`](Tensor::acos) | `tf.math.acos` | yes | device | later |
//! | [`acosh`](Tensor::acosh) | `tf.math.acosh` | yes | device | later |
//! | [`asin`](Tensor::asin) | `tf.math.asin` | yes | device | later |
//! | [`asinh`](Tensor::asinh) | `tf.math.asinh` | yes | device | later |
//! | [`atan`](Tensor::atan) | `tf.math.atan` | yes | device | later |
//! | [`atanh`](Tensor::atanh) | `tf.math.atanh` | yes | device | later |
//! | [`ceil`](Tensor::ceil) | `tf.math.ceil` | yes | device | none |
//! | [`cos`](Tensor::cos) | `tf.math.cos` | yes | device | later |
//! | [`cosh`](Tensor::cosh) | `tf.math.cosh` | yes | device | later |
//! | [`erf`](Tensor::erf) | `tf.math.erf` | yes | device | later |
//! | [`erfc`](Tensor::erfc) | `tf.math.erfc` | yes | device | later |
//! | [`erfinv`](Tensor::erfinv) | `tf.math.erfinv` | yes | device | later |
//! | [`erfcinv`](Tensor::erfcinv) | `tf.math.erfcinv` | yes | device | later |
//! | [`ndtri`](Tensor::ndtri) | `tf.math.ndtri` | yes | device | later |
//! | [`lgamma`](Tensor::lgamma) | `tf.math.lgamma` | yes | device | later |
//! | [`digamma`](Tensor::digamma) | `tf.math.digamma` | yes | device | later |
//! | [`bessel_i0`](Tensor::bessel_i0), [`bessel_i0e`](Tensor::bessel_i0e), [`bessel_i1`](Tensor::bessel_i1), [`bessel_i1e`](Tensor::bessel_i1e) | `tf.math.bessel_i0`, `tf.math.bessel_i0e`, `tf.math.bessel_i1`, `tf.math.bessel_i1e` | yes | device | later |
//! | [`exp`](Tensor::exp) | `tf.math.exp` | yes | device | later |
//! | [`expm1`](Tensor::expm1) | `tf.math.expm1` | yes | device | later |
//! | [`floor`](Tensor::floor) | `tf.math.floor` | yes | device | none |
//! | [`log`](Tensor::log) | `tf.math.log` | yes | device | later |
//! | [`log1p`](Tensor::log1p) | `tf.math.log1p` | yes | device | later |
//! | [`log_sigmoid`](Tensor::log_sigmoid) | `tf.math.log_sigmoid` | yes | device | later |
//! | [`reciprocal`](Tensor::reciprocal) | `tf.math.reciprocal` | yes | device | later |
//! | [`reciprocal_no_nan`](Tensor::reciprocal_no_nan) | `tf.math.reciprocal_no_nan` | yes | device | later |
//! | [`rint`](Tensor::rint) | `tf.math.rint` | yes | device | none |
//! | [`rsqrt`](Tensor::rsqrt) | `tf.math.rsqrt` | yes | device | later |
//! | [`sigmoid`](Tensor::sigmoid) | `tf.math.sigmoid` | yes | device | later |
//! | [`sin`](Tensor::sin) | `tf.math.sin` | yes | device | later |
//! | [`sinh`](Tensor::sinh) | `tf.math.sinh` | yes | device | later |
//! | [`softplus`](Tensor::softplus) | `tf.math.softplus` | yes | device | later |
//! | [`sqrt`](Tensor::sqrt) | `tf.math.sqrt` | yes | device | later |
//! | [`tan`](Tensor::tan) | `tf.math.tan` | yes | device | later |
//! | [`tanh`](Tensor::tanh) | `tf.math.tanh` | yes | device | later |
//! | [`relu`](Tensor::relu) | `tf.nn.relu` | yes | device | later |
//! | [`relu6`](Tensor::relu6) | `tf.nn.relu6` | yes | device | later |
//! | [`elu`](Tensor::elu) | `tf.nn.elu` | yes | device | later |
//! | [`selu`](Tensor::selu) | `tf.nn.selu` | yes | device | later |
//! | [`silu`](Tensor::silu) | `tf.nn.silu` | yes | device | later |
//! | [`softsign`](Tensor::softsign) | `tf.nn.softsign` | yes | device | later |
//! | [`leaky_relu`](Tensor::leaky_relu) | `tf.nn.leaky_relu` | yes | device | later |
//! | [`gelu`](Tensor::gelu) | `tf.nn.gelu` | yes | device | later |
//! | [`gelu_tanh`](Tensor::gelu_tanh) | `tf.nn.gelu(…, approximate=True)` | yes | device | later |
//! | [`is_nan`](Tensor::is_nan), [`is_inf`](Tensor::is_inf), [`is_finite`](Tensor::is_finite) | `tf.math.is_nan`, `tf.math.is_inf`, `tf.math.is_finite` | yes | device | none |
//! | [`logical_not`](Tensor::logical_not) | `tf.math.logical_not` | yes | device | none |
//! | [`bitwise_invert`](Tensor::bitwise_invert) | `tf.bitwise.invert` | yes | device | none |
//! | [`cast`](Tensor::cast) | `tf.cast` | yes | device | later |
//! | [`saturate_cast`](Tensor::saturate_cast) | `tf.saturate_cast` | yes | device | later |
//! | [`bitcast`](Tensor::bitcast) | `tf.bitcast` | yes | device | none |
//! | [`clip_by_value`](Tensor::clip_by_value) | `tf.clip_by_value` | yes | device | later |
//! | [`check_numerics`](Tensor::check_numerics) | `tf.debugging.check_numerics` | yes | device | later |
//! | [`dropout`](Tensor::dropout) | `tf.nn.dropout` | yes | device | later |
//! | [`one_hot`](Tensor::one_hot) | `tf.one_hot` | yes | device, may wait | none |
//!
//! # Element-wise, several operands
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`add`](Tensor::add) | `tf.math.add` | yes | device | later |
//! | [`add_n`](Tensor::add_n) | `tf.math.add_n` | yes | device | later |
//! | [`subtract`](Tensor::subtract) | `tf.math.subtract` | yes | device | later |
//! | [`multiply`](Tensor::multiply) | `tf.math.multiply` | yes | device | later |
//! | [`RaggedTensor::scalar_mul`](RaggedTensor::scalar_mul) | `tf.math.scalar_mul` | yes | device | later |
//! | [`truediv`](Tensor::truediv) | `tf.math.truediv` | yes | device | later |
//! | [`realdiv`](Tensor::realdiv) | `tf.realdiv` | yes | device | later |
//! | [`floordiv`](Tensor::floordiv) | `tf.math.floordiv` | yes | device | none |
//! | [`floormod`](Tensor::floormod) | `tf.math.floormod` | yes | device | later |
//! | [`truncatediv`](Tensor::truncatediv) | `tf.truncatediv` | yes | device | none |
//! | [`truncatemod`](Tensor::truncatemod) | `tf.truncatemod` | yes | device | later |
//! | [`pow`](Tensor::pow) | `tf.math.pow` | yes | device | later |
//! | [`maximum`](Tensor::maximum) | `tf.math.maximum` | yes | device | later |
//! | [`minimum`](Tensor::minimum) | `tf.math.minimum` | yes | device | later |
//! | [`squared_difference`](Tensor::squared_difference) | `tf.math.squared_difference` | yes | device | later |
//! | [`divide_no_nan`](Tensor::divide_no_nan) | `tf.math.divide_no_nan` | yes | device | later |
//! | [`multiply_no_nan`](Tensor::multiply_no_nan) | `tf.math.multiply_no_nan` | yes | device | later |
//! | [`atan2`](Tensor::atan2) | `tf.math.atan2` | yes | device | later |
//! | [`xlogy`](Tensor::xlogy) | `tf.math.xlogy` | yes | device | later |
//! | [`xlog1py`](Tensor::xlog1py) | `tf.math.xlog1py` | yes | device | later |
//! | [`xdivy`](Tensor::xdivy) | `tf.math.xdivy` | yes | device | later |
//! | [`nextafter`](Tensor::nextafter) | `tf.math.nextafter` | yes | device | none |
//! | [`sigmoid_cross_entropy_with_logits`](Tensor::sigmoid_cross_entropy_with_logits) | `tf.nn.sigmoid_cross_entropy_with_logits` | yes | device | later |
//! | [`equal`](Tensor::equal) | `tf.math.equal` | yes | device | none |
//! | [`not_equal`](Tensor::not_equal) | `tf.math.not_equal` | yes | device | none |
//! | [`less`](Tensor::less) | `tf.math.less` | yes | device | none |
//! | [`less_equal`](Tensor::less_equal) | `tf.math.less_equal` | yes | device | none |
//! | [`greater`](Tensor::greater) | `tf.math.greater` | yes | device | none |
//! | [`greater_equal`](Tensor::greater_equal) | `tf.math.greater_equal` | yes | device | none |
//! | [`logical_and`](Tensor::logical_and) | `tf.math.logical_and` | yes | device | none |
//! | [`logical_or`](Tensor::logical_or) | `tf.math.logical_or` | yes | device | none |
//! | [`logical_xor`](Tensor::logical_xor) | `tf.math.logical_xor` | yes | device | none |
//! | [`bitwise_and`](Tensor::bitwise_and), [`bitwise_or`](Tensor::bitwise_or), [`bitwise_xor`](Tensor::bitwise_xor) | `tf.bitwise.bitwise_and`, `tf.bitwise.bitwise_or`, `tf.bitwise.bitwise_xor` | yes | device | none |
//! | [`left_shift`](Tensor::left_shift) | `tf.bitwise.left_shift` | yes | device | none |
//! | [`right_shift`](Tensor::right_shift) | `tf.bitwise.right_shift` | yes | device | none |
//! | [`broadcast_to`](Tensor::broadcast_to) | `tf.broadcast_to` | yes | device, may wait | later |
//! | [`broadcast_like`](Tensor::broadcast_like) | `tf.broadcast_to` | yes | device, may wait | later |
//! | [`map_flat_values`](Tensor::map_flat_values) | `tf.ragged.map_flat_values` | yes | device | later |
//! | [`map_flat_values_of`](Tensor::map_flat_values_of) | `tf.ragged.map_flat_values` | yes | device | later |
//! | [`map_elements`](Tensor::map_elements); several operands: [`ElementFunction::call`](crate::ElementFunction#method.call) | `tf.vectorized_map`, custom ops | yes | device | none |
//! | [`map_rows`](Tensor::map_rows) | `tf.map_fn` | yes | device | later |
//! | [`map_rows_of`](Tensor::map_rows_of) | `tf.map_fn` | yes | device | later |
//!
//! # Reductions
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`reduce_sum`](Tensor::reduce_sum) | `tf.math.reduce_sum` | yes | device | later |
//! | [`reduce_prod`](Tensor::reduce_prod) | `tf.math.reduce_prod` | yes | device | later |
//! | [`reduce_min`](Tensor::reduce_min) | `tf.math.reduce_min` | yes | device | later |
//! | [`reduce_max`](Tensor::reduce_max) | `tf.math.reduce_max` | yes | device | later |
//! | [`reduce_mean`](Tensor::reduce_mean) | `tf.math.reduce_mean` | yes | device | later |
//! | [`reduce_variance`](Tensor::reduce_variance) | `tf.math.reduce_variance` | yes | device | later |
//! | [`reduce_std`](Tensor::reduce_std) | `tf.math.reduce_std` | yes | device | later |
//! | [`reduce_logsumexp`](Tensor::reduce_logsumexp) | `tf.math.reduce_logsumexp` | yes | device | later |
//! | [`reduce_euclidean_norm`](Tensor::reduce_euclidean_norm) | `tf.math.reduce_euclidean_norm` | yes | device | later |
//! | [`reduce_all`](Tensor::reduce_all) | `tf.math.reduce_all` | yes | device | none |
//! | [`reduce_any`](Tensor::reduce_any) | `tf.math.reduce_any` | yes | device | none |
//! | [`count_nonzero`](Tensor::count_nonzero) | `tf.math.count_nonzero` | yes | device | none |
//! | [`argmin`](Tensor::argmin) | `tf.argmin` | yes | device | none |
//! | [`argmax`](Tensor::argmax) | `tf.argmax` | yes | device | none |
//! | [`quantile`](Tensor::quantile) | `tfp.stats.quantiles` | yes | device | later |
//! | [`median`](Tensor::median) | `tfp.stats.percentile(…, 50.0)` | yes | device | later |
//! | [`n_unique`](Tensor::n_unique) | – | yes | device | none |
//! | [`contains`](Tensor::contains) | – | yes | device | none |
//!
//! # Along an axis
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`cumsum`](Tensor::cumsum) | `tf.math.cumsum` | yes | device | later |
//! | [`cumprod`](Tensor::cumprod) | `tf.math.cumprod` | yes | device | later |
//! | [`cummax`](Tensor::cummax) | – | yes | device | later |
//! | [`cummin`](Tensor::cummin) | – | yes | device | later |
//! | [`softmax`](Tensor::softmax) | `tf.nn.softmax` | yes | device | later |
//! | [`log_softmax`](Tensor::log_softmax) | `tf.nn.log_softmax` | yes | device | later |
//! | [`l2_normalize`](Tensor::l2_normalize) | `tf.math.l2_normalize` | yes | device | later |
//! | [`sort`](Tensor::sort) | `tf.sort` | yes | device | later |
//! | [`argsort`](Tensor::argsort) | `tf.argsort(…, stable=True)` | yes | device | none |
//! | [`top_k`](Tensor::top_k) | `tf.math.top_k` | yes | device | later |
//! | [`unique`](Tensor::unique) | `tf.unique` | yes | device | none |
//! | [`unique_with_counts`](Tensor::unique_with_counts) | `tf.unique_with_counts` | yes | device | none |
//! | [`searchsorted`](Tensor::searchsorted) | `tf.searchsorted` | yes | device | none |
//! | [`diff`](Tensor::diff) | – | yes | device | later |
//! | [`shift`](Tensor::shift) | – | yes | device | later |
//! | [`roll`](Tensor::roll) | `tf.roll` | yes | device | later |
//! | [`reverse`](Tensor::reverse) | `tf.reverse` | yes | device | later |
//! | [`local_index`](Tensor::local_index) | – | yes | device | none |
//!
//! # Rows: pairs, windows, groups, sets, samples
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`combinations`](Tensor::combinations) | – | yes | device | later |
//! | [`argcombinations`](Tensor::argcombinations) | – | yes | device | none |
//! | [`cartesian`](Tensor::cartesian) | – | yes | device | later |
//! | [`zip`](Tensor::zip) | `tf.stack(…, axis=-1)` | yes | device | later |
//! | [`unzip`](Tensor::unzip) | `tf.unstack(…, axis=-1)` | yes | device | later |
//! | [`sliding_windows`](Tensor::sliding_windows) | – | yes | device | later |
//! | [`pad_rows`](Tensor::pad_rows) | – | yes | device | later |
//! | [`fill_empty_rows`](Tensor::fill_empty_rows) | `tf.raw_ops.RaggedFillEmptyRows` | yes | device, may wait | later |
//! | [`split_where`](Tensor::split_where) | – | yes | device | later |
//! | [`run_lengths`](Tensor::run_lengths) | – | yes | device | none |
//! | [`group_by_key`](Tensor::group_by_key) | – | yes | device | later |
//! | [`set_union`](Tensor::set_union) | `tf.sets.union` | yes | device | none |
//! | [`set_intersection`](Tensor::set_intersection) | `tf.sets.intersection` | yes | device | none |
//! | [`set_difference`](Tensor::set_difference) | `tf.sets.difference` | yes | device | none |
//! | [`shuffle`](Tensor::shuffle) | `tf.random.shuffle` | yes | device | later |
//! | [`sample`](Tensor::sample) | – | yes | device | later |
//! | [`slice_rows`](Tensor::slice_rows) | – | yes | device | later |
//! | [`context_windows`](Tensor::context_windows) | – | yes | device | later |
//! | [`sequence_mask`](Tensor::sequence_mask) | `tf.sequence_mask` | yes | device, may wait | none |
//!
//! # Joining, repeating and shapes
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`concat`](Tensor::concat) | `tf.concat` | yes | device | later |
//! | [`stack`](Tensor::stack) | `tf.ragged.stack` | yes | device | later |
//! | [`split`](Tensor::split) | `tf.split` | yes | device | later |
//! | [`tile`](Tensor::tile) | `tf.tile` | yes | device | later |
//! | [`repeat`](Tensor::repeat) | `tf.repeat` | yes | device | later |
//! | [`expand_dims`](Tensor::expand_dims) | `tf.expand_dims` | yes | device, may wait | later |
//! | [`squeeze`](Tensor::squeeze) | `tf.squeeze` | yes | device | later |
//! | [`merge_dims`](Tensor::merge_dims) | `tf.RaggedTensor.merge_dims` | yes | device | later |
//! | [`reshape`](Tensor::reshape) | `tf.reshape` | yes | device, may wait | later |
//! | [`reshape_like`](Tensor::reshape_like) | `tf.reshape` | yes | device, may wait | later |
//! | [`transpose`](Tensor::transpose) | `tf.transpose` | yes | device, may wait | later |
//! | [`transpose_rows`](Tensor::transpose_rows) | – | yes | device | later |
//! | [`dynamic_partition`](Tensor::dynamic_partition) | `tf.dynamic_partition` | yes | device | later |
//! | [`stack_dynamic_partitions`](Tensor::stack_dynamic_partitions) | `tf.ragged.stack_dynamic_partitions` | yes | device | later |
//!
//! # Products and segments
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`matmul`](Tensor::matmul) | `tf.matmul` | yes | device, may wait | later |
//! | [`unsorted_segment_sum`](Tensor::unsorted_segment_sum) | `tf.math.unsorted_segment_sum` | yes | device | later |
//! | [`unsorted_segment_prod`](Tensor::unsorted_segment_prod) | `tf.math.unsorted_segment_prod` | yes | device | later |
//! | [`unsorted_segment_min`](Tensor::unsorted_segment_min) | `tf.math.unsorted_segment_min` | yes | device | later |
//! | [`unsorted_segment_max`](Tensor::unsorted_segment_max) | `tf.math.unsorted_segment_max` | yes | device | later |
//! | [`unsorted_segment_mean`](Tensor::unsorted_segment_mean) | `tf.math.unsorted_segment_mean` | yes | device | later |
//! | [`unsorted_segment_sqrt_n`](Tensor::unsorted_segment_sqrt_n) | `tf.math.unsorted_segment_sqrt_n` | yes | device | later |
//! | [`segment_sum`](Tensor::segment_sum) | `tf.math.segment_sum` | yes | device, may wait | later |
//! | [`segment_prod`](Tensor::segment_prod) | `tf.math.segment_prod` | yes | device, may wait | later |
//! | [`segment_min`](Tensor::segment_min) | `tf.math.segment_min` | yes | device, may wait | later |
//! | [`segment_max`](Tensor::segment_max) | `tf.math.segment_max` | yes | device, may wait | later |
//! | [`segment_mean`](Tensor::segment_mean) | `tf.math.segment_mean` | yes | device, may wait | later |
//! | [`sparse_segment_sum`](Tensor::sparse_segment_sum) | `tf.sparse.segment_sum` | yes | device, may wait | later |
//! | [`sparse_segment_mean`](Tensor::sparse_segment_mean) | `tf.sparse.segment_mean` | yes | device, may wait | later |
//! | [`sparse_segment_sqrt_n`](Tensor::sparse_segment_sqrt_n) | `tf.sparse.segment_sqrt_n` | yes | device, may wait | later |
//! | [`batch_scatter_add`](Tensor::batch_scatter_add) | `tf.tensor_scatter_nd_add` | yes | device | later |
//!
//! # Counts
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`bincount`](Tensor::bincount) | `tf.math.bincount` | yes | device, may wait | none |
//! | [`bincount_weighted`](Tensor::bincount_weighted) | `tf.math.bincount(…, weights=…)` | yes | device, may wait | later |
//! | [`bincount_sparse`](Tensor::bincount_sparse) | `tf.sparse.bincount` | yes | device, may wait | none |
//! | [`histogram`](Tensor::histogram) | `tf.histogram_fixed_width` | yes | device | none |
//! | [`histogram_bins`](Tensor::histogram_bins) | `tf.histogram_fixed_width_bins` | yes | device | none |
//!
//! # Strings
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`string_join`](Tensor::string_join) | `tf.strings.join` | yes | device | none |
//! | [`reduce_join`](Tensor::reduce_join) | `tf.strings.reduce_join` | yes | device | none |
//! | [`unsorted_segment_join`](Tensor::unsorted_segment_join) | `tf.strings.unsorted_segment_join` | yes | device | none |
//! | [`string_split`](Tensor::string_split) | `tf.strings.split` | yes | device | none |
//! | [`bytes_split`](Tensor::bytes_split) | `tf.strings.bytes_split` | yes | device | none |
//! | [`string_ngrams`](Tensor::string_ngrams) | `tf.strings.ngrams` | yes | device | none |
//! | [`substr`](Tensor::substr) | `tf.strings.substr` | yes | device | none |
//! | [`substr_chars`](Tensor::substr_chars) | `tf.strings.substr(…, unit='UTF8_CHAR')` | yes | device | none |
//! | [`string_length`](Tensor::string_length) | `tf.strings.length` | yes | device | none |
//! | [`string_length_chars`](Tensor::string_length_chars) | `tf.strings.length(…, unit='UTF8_CHAR')` | yes | device | none |
//! | [`string_strip`](Tensor::string_strip) | `tf.strings.strip` | yes | device | none |
//! | [`string_upper`](Tensor::string_upper) | `tf.strings.upper` | yes | device | none |
//! | [`string_lower`](Tensor::string_lower) | `tf.strings.lower` | yes | device | none |
//! | [`string_upper_utf8`](Tensor::string_upper_utf8) | `tf.strings.upper(…, encoding='utf-8')` | yes | host step | none |
//! | [`string_lower_utf8`](Tensor::string_lower_utf8) | `tf.strings.lower(…, encoding='utf-8')` | yes | host step | none |
//! | [`as_string`](Tensor::as_string) | `tf.strings.as_string` | yes | device; floats: host step | none |
//! | [`as_string_with`](Tensor::as_string_with) | `tf.strings.as_string` | yes | device; floats: host step | none |
//! | [`string_to_number`](Tensor::string_to_number) | `tf.strings.to_number` | yes | device; floats: host step | none |
//! | [`string_format`](Tensor::string_format) | `tf.strings.format` | yes | host step | none |
//! | [`regex_full_match`](Tensor::regex_full_match) | `tf.strings.regex_full_match` | yes | host step | none |
//! | [`regex_replace`](Tensor::regex_replace) | `tf.strings.regex_replace` | yes | host step | none |
//! | [`regex_replace_first`](Tensor::regex_replace_first) | `tf.strings.regex_replace(…, replace_global=False)` | yes | host step | none |
//! | [`unicode_decode`](Tensor::unicode_decode) | `tf.strings.unicode_decode` | yes | device | none |
//! | [`unicode_decode_with_offsets`](Tensor::unicode_decode_with_offsets) | `tf.strings.unicode_decode_with_offsets` | yes | device | none |
//! | [`unicode_encode`](Tensor::unicode_encode) | `tf.strings.unicode_encode` | yes | device | none |
//! | [`unicode_split`](Tensor::unicode_split) | `tf.strings.unicode_split` | yes | device | none |
//! | [`unicode_split_with_offsets`](Tensor::unicode_split_with_offsets) | `tf.strings.unicode_split_with_offsets` | yes | device | none |
//! | [`unicode_transcode`](Tensor::unicode_transcode) | `tf.strings.unicode_transcode` | yes | device | none |
//! | [`unicode_script`](Tensor::unicode_script) | `tf.strings.unicode_script` | yes | device | none |
//! | [`encode_base64`](Tensor::encode_base64) | `tf.io.encode_base64` | yes | device | none |
//! | [`decode_base64`](Tensor::decode_base64) | `tf.io.decode_base64` | yes | device | none |
//!
//! # Hashes and crosses
//!
//! | operation | TensorFlow | CPU | GPU | gradient |
//! |---|---|---|---|---|
//! | [`fingerprint64`](Tensor::fingerprint64) | – | yes | device | none |
//! | [`to_hash_bucket_fast`](Tensor::to_hash_bucket_fast) | `tf.strings.to_hash_bucket_fast` | yes | device | none |
//! | [`to_hash_bucket_strong`](Tensor::to_hash_bucket_strong) | `tf.strings.to_hash_bucket_strong` | yes | device | none |
//! | [`to_hash_bucket`](Tensor::to_hash_bucket) | `tf.strings.to_hash_bucket` | yes | device | none |
//! | [`cross`](Tensor::cross) | `tf.ragged.cross` | yes | device | none |
//! | [`cross_hashed`](Tensor::cross_hashed) | `tf.ragged.cross_hashed` | yes | device | none |

#[expect(unused_imports, reason = "links of the documentation")]
use crate::{RaggedTensor, Tensor};
