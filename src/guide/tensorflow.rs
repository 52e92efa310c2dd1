//! For users of TensorFlow: `tf.RaggedTensor` and the operations that take it.
//!
//! Operations keep TensorFlow's names, and its results: the test suite compares them with thousands of cases that
//! TensorFlow 2.21 computed. Three things are new. A call returns a [`Result`]. It *records*, and a read computes. Every
//! tensor lives on one [`Device`], and all devices give the same bits.
//!
//! # Concepts
//!
//! | TensorFlow | ragged |
//! |---|---|
//! | `tf.RaggedTensor` | [`RaggedTensor<T>`](RaggedTensor), whose dtype is its type, or [`Tensor`], whose dtype is known at run time. Nearly all methods are on both; [`erased`](RaggedTensor::erased) and `try_from` convert without a copy |
//! | `tf.Tensor` | the same types, with ragged rank 0: an operation takes dense and ragged tensors alike |
//! | shape `[3, None]` | [`x.shape()`](Tensor::shape) gives `[Some(3), None]`. `None` also marks a size that only the device knows |
//! | `row_splits_dtype` | none: splits are stored in 32 bits, accessors give i64. A tensor has fewer than 2^32 - 1 values |
//! | `DynamicRaggedShape`, `RowPartition` | [`RaggedShape`], [`RowPartition`] |
//! | eager mode | a read (`to_vec`, `item`, printing) computes what was recorded, fused into few kernels |
//! | `tf.function` | not needed: the plan of a read is cached, and batches of other sizes use it again. A [`Program`](crate::Program) of a [`TensorSpec`](crate::TensorSpec), TensorFlow's `tf.RaggedTensorSpec`, is recorded once |
//! | `tf.saved_model` | `SavedModel`: named programs and tensors in one file |
//! | `InvalidArgumentError` | [`Error`], from the call if the host can tell, else from the read. It names the line of the call |
//! | `with tf.device(…)` | the device of the operands; tensors move by [`to_device`](Tensor::to_device) only |
//! | keyword arguments | functions around an argument: `keepdims=True` is [`keep`]`(1)`; see the [crate's page](crate#arguments-and-options) |
//! | `None` as axis | `..` |
//! | `x + 1`, `x * y` | `(&x + 1)?`, `(&x * &y)?` |
//! | `tf.IndexedSlices` | [`RowsGradient`](crate::RowsGradient), by [`sparse_value_and_grad`](crate::sparse_value_and_grad) |
//! | `tf.GradientTape` | [`value_and_grad`](crate::value_and_grad), [`grad`](crate::grad) of a function of tensors |
//!
//! Rust's literals have Rust's types: `[1.0]` holds f64, where `tf.ragged.constant` gives f32. Write `1.0f32`; many GPUs
//! emulate f64. Integer literals are i32 in both.
//!
//! # Words and bigrams
//!
//! The use case of TensorFlow's guide: mean embeddings of words and bigrams, with TensorFlow's lines as comments.
//!
//! ```
//! use ragged::{Device, RaggedTensor, Str, s};
//!
//! let device = Device::cpu();
//! // queries = tf.ragged.constant([['Who', 'is', 'Dan', 'Smith'], ['Pause']])
//! let queries = RaggedTensor::from_nested([vec!["Who", "is", "Dan", "Smith"], vec!["Pause"]], &device)?;
//! // table = tf.ones([1024, 4])
//! let table = RaggedTensor::dense(vec![1.0f32; 1024 * 4], &[1024, 4], &device)?;
//!
//! // word_buckets = tf.strings.to_hash_bucket_fast(queries, 1024)
//! // word_embeddings = tf.nn.embedding_lookup(table, word_buckets)
//! let word_embeddings = table.embedding_lookup(&queries.to_hash_bucket_fast(1024)?)?;
//!
//! // marker = tf.fill([queries.nrows(), 1], '#')
//! let marker: RaggedTensor<Str> = queries.fill_rows(1, "#")?.try_into()?;
//! // padded = tf.concat([marker, queries, marker], axis=1)
//! let padded = RaggedTensor::concat(&[&marker, &queries, &marker], 1)?;
//! // bigrams = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator='+')
//! let bigrams = RaggedTensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
//! assert_eq!(bigrams.slice(s![1])?.to_vec()?, [b"#+Pause".as_slice(), b"Pause+#"]);
//!
//! // bigram_embeddings = tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(bigrams, 1024))
//! let bigram_embeddings = table.embedding_lookup(&bigrams.to_hash_bucket_fast(1024)?)?;
//! // average = tf.reduce_mean(tf.concat([word_embeddings, bigram_embeddings], axis=1), axis=1)
//! let average = RaggedTensor::concat(&[&word_embeddings, &bigram_embeddings], 1)?.reduce_mean(1)?;
//! assert_eq!(average.shape(), [Some(2), Some(4)]);
//! assert_eq!(average.to_vec()?, [1.0; 8]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Slices, and where errors appear
//!
//! An integer in a ragged dimension is refused, as in TensorFlow; [`nth`](Tensor::nth) is the operation that asks for
//! that element of each row. An error that the host can detect is returned by the call; one that depends on data on the
//! device is returned by the read, and names the line that recorded the operation.
//!
//! ```
//! use ragged::{Device, RaggedTensor, s};
//!
//! let device = Device::cpu();
//! let x = RaggedTensor::from_nested([vec![3, 1, 4, 1], vec![], vec![5, 9, 2]], &device)?;
//! assert_eq!(x.slice(s![0])?.to_vec()?, [3, 1, 4, 1]); // x[0]
//! assert_eq!(x.slice(s![.., ..2])?.to_string(), "<ragged.RaggedTensor [[3, 1], [], [5, 9]]>"); // x[:, :2]
//! assert_eq!(x.slice(s![.., ..;-1])?.to_string(), "<ragged.RaggedTensor [[1, 4, 1, 3], [], [2, 9, 5]]>"); // x[:, ::-1]
//! assert!(x.slice(s![.., 0]).is_err()); // x[:, 0] is a ValueError
//! assert_eq!(x.nth_or(0, -1)?.to_vec()?, [3, -1, 5]);
//!
//! // tf.gather(x, [2, 7]): the index is data, and the read fails.
//! let rows = x.gather(&RaggedTensor::from_nested([2, 7], &device)?)?;
//! let error = rows.to_vec().unwrap_err().to_string();
//! assert!(error.contains("7 for size 3"), "{error}");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Standardized rows, padded
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt};
//!
//! // x = tf.ragged.constant([[1., 3.], [], [5.]])
//! let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
//! // centred = x - tf.reduce_mean(x, axis=1, keepdims=True)
//! let centred = (&x - &x.reduce_mean(opt::keep(1))?)?;
//! // scaled = centred / (tf.math.reduce_std(x, axis=1, keepdims=True) + 1.)
//! let scaled = (&centred / &(x.reduce_std(opt::keep(1))? + 1.0)?)?;
//! // scaled.to_tensor(default_value=-9., shape=[None, 3])
//! let padded = scaled.to_tensor(opt::shaped(-9.0, [-1, 3]))?;
//! assert_eq!(padded.to_vec()?, [-0.5, 0.5, -9.0, -9.0, -9.0, -9.0, 0.0, -9.0, -9.0]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Functions of rows
//!
//! `tf.map_fn` runs a function row by row, and must be told the result's spec. [`map_rows`](Tensor::map_rows) calls the
//! closure once, on a symbolic [`Row`](crate::Row); its operations run for all rows together.
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//!
//! let x = RaggedTensor::from_nested([vec![3, 1, 4, 1], vec![], vec![5, 9, 2]], &Device::cpu())?;
//! // tf.map_fn(lambda row: tf.sort(row)[-2:], x, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
//! let top: RaggedTensor<i32> = x.map_rows(|row| row.sort(0)?.slice(ragged::s![-2..]))?;
//! assert_eq!(top.to_string(), "<ragged.RaggedTensor [[3, 4], [], [5, 9]]>");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Functions of elements
//!
//! `tf.vectorized_map`, `tf.map_fn` over elements and `tf.numpy_function` have two counterparts. An ordinary Rust function
//! of tensors (`fn gelu(x: &Tensor) -> Result<Tensor>`) is the first choice: its operations fuse into one kernel. A loop or
//! a table per element, for which TensorFlow needs a custom op, is an [`ElementFunction`](crate::ElementFunction): one
//! function in WGSL and in Rust, which fuses like any operation, and whose sides
//! [`check`](crate::ElementFunction::check) compares.
//!
//! ```
//! use ragged::{Device, ElementFunction, RaggedTensor};
//!
//! let text = "fn morton(x: u32, y: u32) -> u32 {
//!     var code = 0u;
//!     for (var k = 0u; k < 16u; k++) {
//!         code |= ((x >> k) & 1u) << (2u * k) | ((y >> k) & 1u) << (2u * k + 1u);
//!     }
//!     return code;
//! }";
//! let morton = ElementFunction::new("morton", text, |x: u32, y: u32| {
//!     (0..16).fold(0, |code, k| code | ((x >> k) & 1) << (2 * k) | ((y >> k) & 1) << (2 * k + 1))
//! })?;
//! let x = RaggedTensor::from_nested([vec![1u32, 2], vec![], vec![3]], &Device::cpu())?;
//! assert_eq!(morton.call(&x, 1)?.to_string(), "<ragged.RaggedTensor [[3, 6], [], [7]]>");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Construction and conversion
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.ragged.constant(rows)` | [`RaggedTensor::from_nested(rows, &device)`](RaggedTensor::from_nested), [`ragged!`](crate::ragged) | vectors are ragged dimensions, arrays uniform ones |
//! | `tf.ragged.constant(rows, ragged_rank=1)` of data of any type | [`Tensor::constant`] | options in [`ConstantOptions`](crate::opt::ConstantOptions); ragged dimensions by default, as in TensorFlow |
//! | `tf.constant(values, shape=…)` | [`RaggedTensor::dense(values, &shape, &device)`](RaggedTensor::dense) | |
//! | `RaggedTensor.from_row_splits(v, s)`, … | [`RaggedTensor::from_row_splits(v, s, &device)`](RaggedTensor::from_row_splits), [`Tensor::from_row_splits(&v, s)`](Tensor::from_row_splits) | lists on the host are checked by the call, tensors by the read |
//! | `from_value_rowids(v, ids, nrows=4)` | [`from_value_rowids(v, with_nrows(ids, 4), …)`](crate::opt::with_nrows) | |
//! | `validate=False` | [`from_row_splits_unchecked`](Tensor::from_row_splits_unchecked), … | invalid splits give unspecified rows, and never access memory out of bounds |
//! | `from_tensor(d)`, `lengths=`, `padding=-1` | [`from_tensor`](Tensor::from_tensor), [`from_tensor_with_lengths`](Tensor::from_tensor_with_lengths), [`from_tensor_with_padding(&d, -1)`](Tensor::from_tensor_with_padding) | one function per case; the ragged rank is an argument, and [`with_ragged_rank`](crate::opt::with_ragged_rank) around a padding |
//! | `x.to_tensor(v, shape=[None, 3])` | [`x.to_tensor(shaped(v, [-1, 3]))`](Tensor::to_tensor) | the padding is an argument: `x.to_tensor(0)` |
//! | `x.to_list()`, `x.numpy()` | [`to_nested`](Tensor::to_nested), [`to_nested_vec`](RaggedTensor::to_nested_vec), [`to_vec`](RaggedTensor::to_vec), [`to_ndarray`](RaggedTensor::to_ndarray) | each computes and waits once; all have async forms |
//! | `x.to_sparse()`, `from_sparse(s)` | [`to_sparse`](Tensor::to_sparse), [`from_sparse`](Tensor::from_sparse) | any rank; unsorted coordinates are an error |
//! | `tf.fill`, `tf.zeros`, `tf.ones_like` | [`Tensor::fill`], [`Tensor::zeros`], [`ones_like`](Tensor::ones_like) | a [`RaggedShape`] as shape |
//! | `tf.ragged.range(starts, limits, deltas)` | [`Tensor::ranges(&starts, &limits, 1)`](Tensor::ranges), [`limits.range()`](Tensor::range) | floats are `start + k * delta`, without accumulated rounding errors |
//!
//! # Shapes
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `x.row_splits`, `row_lengths()`, `value_rowids()`, … | [`row_splits`](Tensor::row_splits), [`row_lengths(1)`](Tensor::row_lengths), [`value_rowids`](Tensor::value_rowids), … | i64; the axis of `row_lengths` is required |
//! | `x.nrows()`, `tf.size(x)` | [`nrows`](Tensor::nrows), [`size`](Tensor::size) | scalars on the device; [`x.shape()[0]`](Tensor::shape) is the host's; [`len`](Tensor::len) reads the number if the host lacks it |
//! | `for row in x` | [`for row in &x.rows()?`](RaggedTensor::rows); of a run-time dtype [`for row in x.rows()?`](Tensor::rows) | one read for all rows |
//! | `x[i]` of a scalar tensor | `x.slice(s![&i])`, also in inner dimensions | no read |
//! | `tf.reduce_all(tf.equal(x, y))`, `StructuredTensor.__eq__` | [`x.equals(&y)`](Tensor::equals), [`StructuredTensor::equals`](crate::StructuredTensor::equals) | a truth value of the host |
//! | `x.bounding_shape()` | [`bounding_shape`](Tensor::bounding_shape) | |
//! | `tf.shape(x)` | [`ragged_shape`](Tensor::ragged_shape) | no computation |
//! | `tf.expand_dims`, `tf.squeeze`, `x.merge_dims` | [`expand_dims`](Tensor::expand_dims), [`squeeze`](Tensor::squeeze), [`merge_dims`](Tensor::merge_dims) | `squeeze(..)` also works for ragged tensors |
//! | `tf.reshape(x, shape)`, `tf.broadcast_to` | [`reshape`](Tensor::reshape), [`broadcast_to`](Tensor::broadcast_to) | sizes or a [`RaggedShape`]; also [`reshape_like`](Tensor::reshape_like), [`broadcast_like`](Tensor::broadcast_like) |
//! | `tf.transpose(x, perm)` | [`transpose`](Tensor::transpose) | uniform dimensions of ragged tensors too; [`transpose_rows`](Tensor::transpose_rows) swaps rows and columns |
//!
//! # Indexing and gathering
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `x[1]`, `x[:, 1:-1]`, `x[..., ::2]` | [`x.slice(s![1])`](Tensor::slice), `s![.., 1..-1]`, `s![Ellipsis, ..;2]` | Python's rules per row; the step follows a semicolon |
//! | `x[i]` of a tensor `i` | [`x.row_at(&i)`](Tensor::row_at) | |
//! | `tf.gather(x, i)` | [`x.gather(&i)`](Tensor::gather) | an index beyond its row is an error, where TensorFlow reads a value of a later row |
//! | `tf.gather(x, i, axis=1)`, `batch_dims=1` | [`x.gather(along(&i, 1))`](crate::opt::along), [`x.gather(batched(&i, 1))`](crate::opt::batched) | |
//! | `tf.gather_nd`, `batch_dims=1` | [`gather_nd(&ids)`](Tensor::gather_nd), [`gather_nd(batched(&ids, 1))`](crate::opt::batched) | batches of ragged tensors too |
//! | `tf.compat.v1.batch_gather` | [`batch_gather`](Tensor::batch_gather), [`batch_gather_with_default`](Tensor::batch_gather_with_default) | |
//! | `tf.nn.embedding_lookup(table, ids, max_norm=1.0)` | [`table.embedding_lookup(max_norm(&ids, 1.0))`](Tensor::embedding_lookup) | embeddings within the norm stay as they are; a list of tables is joined by [`from_shards`](Tensor::from_shards) |
//! | `tf.nn.embedding_lookup_sparse(table, ids, weights, combiner='mean')` | [`table.embedding_lookup_sparse(weighted(&ids, &weights), Combiner::Mean)`](Tensor::embedding_lookup_sparse) | one row reduction; looked-up rows are not stored. Ids and weights are ragged or sparse |
//!
//! # Element-wise operations
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `x + y`, `x * 2` | `&x + &y`, `&x * 2`; [`add`](Tensor::add), [`multiply`](Tensor::multiply) | the same broadcasting; a number takes the tensor's dtype; different dtypes are an error in both |
//! | `x / y` of integers | [`truediv`](Tensor::truediv) | f64, or f32 for 8 and 16 bits, as in TensorFlow; typed integers have no `/` |
//! | `x // y`, `x % y` | [`floordiv`](Tensor::floordiv), `&x % &y` | rounding as in Python, of the exact quotient; an integer divisor of 0 is an error of the read |
//! | `x & y`, `~x` | `&x & &y`, `!&x` | logical on bools; bitwise on integers, which TensorFlow refuses |
//! | `x == y`, `x < y` | [`x.equal(&y)`](Tensor::equal), [`x.less(&y)`](Tensor::less) | methods, as Rust's operators give one bool; shapes that do not broadcast are an error, not `False` |
//! | `tf.cast(x, tf.int32)` | [`x.cast(DType::I32)`](Tensor::cast), [`x.cast::<i32>()`](RaggedTensor::cast) | a float outside the range gives its nearest end, NaN gives 0 |
//! | `tf.ragged.map_flat_values(f, x)` | [`x.map_flat_values(f)`](Tensor::map_flat_values) | several tensors: [`Tensor::map_flat_values_of`] |
//! | `tf.nn.dropout(x, rate)` | [`x.dropout(rate, Seed(seed))`](Tensor::dropout) | the seed alone decides, at every call and on every device |
//! | `tf.one_hot(i, depth)` | [`i.one_hot(depth, 1f32, 0f32)`](Tensor::one_hot) | the two values are required and give the dtype |
//!
//! All other functions of `tf.math`, `tf.nn` and `tf.bitwise` that exist here have their last name: `tf.math.log1p` is
//! [`log1p`](Tensor::log1p). See the [table of operations](super::operations).
//!
//! # Reductions
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.reduce_sum(x)`, `axis=1`, `axis=[0, 2]` | [`x.reduce_sum(..)`](Tensor::reduce_sum), `1`, `[0, 2]` | the axis is required |
//! | `keepdims=True` | [`keep(1)`](crate::opt::keep) | |
//! | `tf.reduce_mean` of integers | [`reduce_mean`](Tensor::reduce_mean) | floats as in ragged TensorFlow (f64; f32 for 8 and 16 bits), of an exact sum, where TensorFlow's may wrap. TensorFlow's dense integers give rounded integers; here they give floats too. In f32, also on a GPU that emulates f64: `x.reduce_mean_as::<f32>(1)`, as [`segment_mean_as`](Tensor::segment_mean_as) |
//! | `tf.reduce_max` | [`reduce_max`](Tensor::reduce_max) | an empty row gives the least finite value in both; NaN gives NaN, where TensorFlow's result depends on the order. Of bools: any |
//! | `tf.math.reduce_variance` | [`reduce_variance`](Tensor::reduce_variance) | population variance in both; without TensorFlow's cancellation |
//! | `tf.argmax(x, axis)` of dense tensors | [`argmax`](Tensor::argmax) | ragged too; -1 for an empty row |
//! | sums | [`reduce_sum`](Tensor::reduce_sum) | the order depends on the row's length alone: the same bits in every batch and on every device |
//!
//! # Along an axis: scans, softmax, sorting
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.cumsum(x, axis, exclusive=True, reverse=True)` | [`x.cumsum(exclusive(reversed(axis)))`](Tensor::cumsum) | NaN and infinities stay in their row; TensorFlow's leak into the following rows |
//! | `tf.scan(lambda y, x: d * y + x, x)`, `tfp.math.scan_associative` of affine maps | [`x.linear_recurrence(d, initial, axis)`](Tensor::linear_recurrence) | along each row, in the dispatches of `cumsum`; other steps: [`scan_rows`](Tensor::scan_rows) |
//! | `tf.nn.softmax(x, axis)` | [`softmax`](Tensor::softmax) | the axis is required; axis 0 of ragged rows works |
//! | `tf.sort`, `tf.argsort` of dense tensors | [`sort`](Tensor::sort), [`argsort`](Tensor::argsort) with [`descending`](crate::opt::descending) | ragged too; stable, NaN last |
//! | `tf.math.top_k(x, k)` of dense tensors | [`x.top_k(k, axis)`](Tensor::top_k) | rows shorter than `k` give what they have; indices are i64, not i32 |
//! | `tf.unique(x)` of vectors | [`x.unique(-1)`](Tensor::unique) | of each row; ascending, where TensorFlow keeps the order of occurrence |
//! | `tf.searchsorted(s, v, side='right')` | [`s.searchsorted(right_of(&v))`](Tensor::searchsorted) | ragged too |
//!
//! # Joining and rearranging
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.concat([x, y], axis)` | [`Tensor::concat(&[&x, &y], axis)`](Tensor::concat), [`RaggedTensor::concat`] | all elements of the list have one Rust type: `x.erased()` beside a [`Tensor`] |
//! | `tf.ragged.stack`, `tf.stack` | [`Tensor::stack`] | |
//! | `tf.tile(x, [1, 2])`, `tf.repeat` | [`x.tile(&[1, 2])`](Tensor::tile), [`repeat`](Tensor::repeat) | `repeat` also of ragged tensors, with one number of repeats |
//! | `tf.split(x, 3, axis)` | [`x.split(3, axis)`](Tensor::split) | uniform dimensions only, and a size of -1 for dense tensors only, in both |
//! | `tf.reverse(x, [1])` | [`x.reverse(1)`](Tensor::reverse) | |
//! | `tf.dynamic_partition(x, p, n)` | [`x.dynamic_partition(&p, n)`](Tensor::dynamic_partition) | |
//!
//! # Masks
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.ragged.boolean_mask(x, m)` | [`x.boolean_mask(&m)`](Tensor::boolean_mask) | the number of remaining values stays on the device; nothing waits |
//! | `tf.where(c, x, y)` | [`c.select(&x, &y)`](Tensor::select) | the method is the condition's |
//! | `tf.where(c)` | [`c.where_indices()`](Tensor::where_indices) | |
//! | `tf.compat.v1.where(c, x, y)` with a vector `c` | [`c.select_rows(&x, &y)`](Tensor::select_rows) | |
//!
//! # Products, segments and counts
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.matmul(a, b, transpose_b=True)` | [`a.matmul(b.t())`](Tensor::matmul) | `[.., k]` of any rank by one matrix, which TensorFlow refuses; ragged batches as in TensorFlow |
//! | `tf.keras.layers.Attention()([q, v, k], use_causal_mask=True)` | [`q.scaled_dot_product_attention(causal(&k), &v)`](Tensor::scaled_dot_product_attention) | rows of any lengths, without padding; [`scaled`](crate::opt::scaled)`(&k, 1.0)` gives the scores of Keras, which are not divided by the root of the width |
//! | `tf.math.unsorted_segment_sum(x, ids, n)` | [`x.unsorted_segment_sum(&ids, n)`](Tensor::unsorted_segment_sum), … | deterministic |
//! | `tf.math.segment_sum(x, ids)` | [`x.segment_sum(&ids)`](Tensor::segment_sum), … | waits for the number of segments |
//! | `tf.math.bincount(x, minlength=2, maxlength=8, axis=-1)` | [`x.bincount(-1, 2..=8)`](Tensor::bincount) | the range of [`Bins`](crate::opt::Bins) holds both limits; [`binary`](crate::opt::binary) is `binary_output` |
//! | `tf.sparse.bincount`, `tf.histogram_fixed_width`, `tf.histogram_fixed_width_bins` | [`bincount_sparse`](Tensor::bincount_sparse), [`bincount_sparse_weighted`](Tensor::bincount_sparse_weighted), [`histogram`](Tensor::histogram), [`histogram_bins`](Tensor::histogram_bins) | ragged, dense and sparse tensors; values outside a histogram are dropped unless [`clamped`](crate::opt::clamped) |
//!
//! # Strings and hashes
//!
//! Strings are bytes, as in TensorFlow. A variant for UTF-8 characters is a function of its own.
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.strings.split(x)`, `sep=','` | [`x.string_split(white_space())`](Tensor::string_split), `x.string_split(",")` | the separator is required; [`max_splits`](crate::opt::max_splits), [`nonempty`](crate::opt::nonempty), [`any_of`](crate::opt::any_of) |
//! | `tf.strings.join([x, y], separator)` | [`Tensor::string_join(&[&x, &y], separator)`](Tensor::string_join) | |
//! | `tf.strings.reduce_join(x, axis, separator=…)` | [`x.reduce_join(axis, separator)`](Tensor::reduce_join) | the same, also for leading empty strings and the order of axes |
//! | `tf.strings.ngrams(x, 2, separator=' ', pad_values=…)` | [`x.string_ngrams(padded_with(2, "<", ">"), " ")`](Tensor::string_ngrams) | [`pad_width`](crate::opt::pad_width), [`keep_short`](crate::opt::keep_short) |
//! | `tf.strings.substr(x, p, n)`, `unit='UTF8_CHAR'` | [`substr`](Tensor::substr), [`substr_chars`](Tensor::substr_chars) | dense arguments broadcast |
//! | `tf.strings.length`, `upper`, `lower`, `strip` | [`string_length`](Tensor::string_length), [`string_upper`](Tensor::string_upper), [`string_lower`](Tensor::string_lower), [`string_strip`](Tensor::string_strip) | `encoding='utf-8'`: [`string_upper_utf8`](Tensor::string_upper_utf8), a host step |
//! | `tf.strings.to_number`, `as_string`, `format` | [`string_to_number`](Tensor::string_to_number), [`as_string`](Tensor::as_string), [`string_format`](Tensor::string_format) | floats and `format` are host steps; `shortest=True` is [`Notation::Shortest`](crate::opt::Notation::Shortest) with precision 6 |
//! | `tf.strings.regex_replace(x, p, r)` | [`x.regex_replace(p, r)`](Tensor::regex_replace) | a host step; the syntax of the crate `regex`, close to RE2's |
//! | `tf.strings.unicode_decode(x, 'UTF-8', errors='strict')` | [`x.unicode_decode(strict(Encoding::Utf8))`](Tensor::unicode_decode) | [`ignore_invalid`](crate::opt::ignore_invalid), [`replace_invalid`](crate::opt::replace_invalid) |
//! | `tf.strings.to_hash_bucket_fast(x, n)` | [`x.to_hash_bucket_fast(n)`](Tensor::to_hash_bucket_fast) | the same hashes, `to_hash_bucket` and `_strong` too |
//! | `tf.ragged.cross([x, y])` | [`Tensor::cross([&x, &y])`](Tensor::cross), [`Tensor::cross_hashed`] | |
//!
//! A *host step* runs on the host between kernels; a GPU refuses it unless its options allow it
//! ([`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps)).
//!
//! # Rows and random numbers
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.map_fn(f, x)` | [`x.map_rows(f)`](Tensor::map_rows) | see above; [`Tensor::map_rows_of`] of several tensors |
//! | `tf.vectorized_map`, `tf.numpy_function`, custom ops | functions of tensors; [`ElementFunction`](crate::ElementFunction) | see above; [`map_elements`](Tensor::map_elements) |
//! | `tf.sets.intersection`, … | [`set_intersection`](Tensor::set_intersection), [`set_union`](Tensor::set_union), [`set_difference`](Tensor::set_difference) | rows of ragged tensors of any dtype |
//! | `tf.random.shuffle(x)` | [`x.shuffle(Seed(seed), 0)`](Tensor::shuffle) | any axis, so that each row can be shuffled by itself |
//! | `tf.raw_ops.RaggedFillEmptyRows` | [`fill_empty_rows`](Tensor::fill_empty_rows) | |
//! | none | [`combinations`](Tensor::combinations), [`sliding_windows`](Tensor::sliding_windows), [`split_where`](Tensor::split_where), [`group_by_key`](Tensor::group_by_key), [`shift`](Tensor::shift), … | see [Awkward](super::awkward) and [Polars](super::polars) |
//!
//! # `tf.sparse`
//!
//! A [`SparseTensor`] is TensorFlow's: indices, values and a dense shape, of any rank. Entries keep the order in which they
//! are given; [`reorder`](SparseTensor::reorder) sorts them. Indices are i64.
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `tf.SparseTensor(indices, values, dense_shape)` | [`SparseTensor::new`] of tensors, [`from_entries`](SparseTensor::from_entries) of lists | |
//! | `.indices`, `.values`, `.dense_shape` | [`indices`](SparseTensor::indices), [`values`](SparseTensor::values), [`dense_shape`](SparseTensor::dense_shape) | `to_host((s.indices(), s.values()))` reads both at once |
//! | `tf.sparse.to_dense`, `from_dense`, `tf.sparse_to_dense` | [`to_dense`](SparseTensor::to_dense), [`from_dense`](SparseTensor::from_dense), [`sparse_to_dense`](Tensor::sparse_to_dense) | the default value is an argument |
//! | `tf.sparse.to_indicator`, `mask`, `retain` | [`to_indicator`](SparseTensor::to_indicator), [`mask`](SparseTensor::mask), [`retain`](SparseTensor::retain) | |
//! | `tf.sparse.concat(axis, all, expand_nonconcat_dims=True)` | [`SparseTensor::concat`]`(&all, `[`expanding`](crate::opt::expanding)`(axis))` | |
//! | `tf.sparse.reorder`, `fill_empty_rows`, `reshape`, `transpose`, `slice`, `split` | methods of the same names | |
//! | `tf.sparse.reduce_sum`, `reduce_max` | [`reduce_sum`](SparseTensor::reduce_sum), [`reduce_max`](SparseTensor::reduce_max); with a sparse result [`reduce_sum_sparse`](SparseTensor::reduce_sum_sparse) | |
//! | `tf.sparse.sparse_dense_matmul`, `add`, `softmax` | [`matmul`](SparseTensor::matmul), [`add`](SparseTensor::add) and [`add_dense`](SparseTensor::add_dense), [`softmax`](SparseTensor::softmax) | |
//! | `tf.sparse.map_values(f, s)` | [`map_values`](SparseTensor::map_values) | |
//!
//! # `StructuredTensor`
//!
//! A [`StructuredTensor`] is `tf.experimental.StructuredTensor`: records of named fields over one shape.
//!
//! | TensorFlow | ragged | differences |
//! |---|---|---|
//! | `from_fields(fields, shape)` | [`from_fields`](StructuredTensor::from_fields), [`from_fields_and_rank`](StructuredTensor::from_fields_and_rank), [`from_shape`](StructuredTensor::from_shape) | always validated |
//! | `from_pyval(value)`, `to_pyval()` | `from_serialize`, `to_value`, with the feature `json` | values of serde; [`from_serialize_with`](crate::StructuredTensor::from_serialize_with) reads `None` as default values, or leaves the record out |
//! | `s['a']`, `s[0]['a']`, `s[:, 'a']` | [`s.get(keys!["a"])`](StructuredTensor::get), `keys![0, "a"]`, `keys![.., "a"]` | an index is a number or a scalar tensor |
//! | `field_value(path)`, `field_names()` | [`field_value`](StructuredTensor::field_value), [`field_names`](StructuredTensor::field_names) | |
//! | `with_updates({path: f})` | [`with_updates`](StructuredTensor::with_updates) of [`Update`](crate::Update)s | |
//! | `promote`, `merge_dims`, `partition_outer_dimension` | methods of the same names | |
//! | `rank`, `nrows()`, `row_partitions`, `shape` | [`rank`](StructuredTensor::rank), [`nrows`](StructuredTensor::nrows), [`row_partitions`](StructuredTensor::row_partitions), [`shape`](StructuredTensor::shape) | |
//!
//! # Missing
//!
//! - Keras's `fit`, callbacks and metrics, and its layers other than `Dense`, `Embedding`, `LayerNormalization`, `Dropout`, `LSTM`,
//!   `GRU`, `Bidirectional` and `MultiHeadAttention`, which the crate `ragged-nn` has, with variables, losses and optimizers: a
//!   `Sequential` is a function of layers, `compile` is `Training::trace`, and `fit` is a loop over `Training::run`.
//! - Input is that of the crate `ragged-data`: `tf.data`, `tf.io.parse_example` and TFRecord.
//! - `tf.while_loop` and `tf.cond` on tensors: a loop in Rust records its operations, and a condition on data is a read.
//! - Scatters (`tf.tensor_scatter_nd_update`); segment sums add by index. `tf.einsum`, `tf.linalg`, convolutions,
//!   `tf.image`, Fourier transforms.
//! - Complex and quantized numbers; random numbers other than dropout, shuffles and samples.
//! - Broadcasting of a ragged dimension whose rows all have length 1: only uniform dimensions repeat, as in TensorFlow.

#[expect(unused_imports, reason = "links of the documentation")]
use crate::{
    Device, Error, RaggedShape, RaggedTensor, Result, RowPartition, SparseTensor, StructuredTensor, Tensor, opt::keep,
};
