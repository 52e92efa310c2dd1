//! For users of Awkward Array: jagged arrays of numbers and strings.
//!
//! A [`RaggedTensor<T>`](RaggedTensor) is an array of type `n * var * T`, `n * var * var * T`, and so on, with regular
//! dimensions anywhere: row splits (Awkward's offsets) over flat values, without unions or missing values. A
//! [`StructuredTensor`](crate::StructuredTensor) holds records.
//! Operations *record*; a read computes what was recorded, in few kernels, on the CPU or on any GPU. Compared with
//! Awkward 2.
//!
//! # Concepts
//!
//! | Awkward | ragged |
//! |---|---|
//! | `ak.Array` of lists | [`RaggedTensor<T>`](RaggedTensor), or [`Tensor`] with a dtype known at run time |
//! | `array.type`: `3 * var * 2 * float64` | [`x.shape()`](Tensor::shape): `[Some(3), None, Some(2)]`, and [`x.dtype()`](Tensor::dtype) |
//! | `ListOffsetArray`, `RegularArray`, `NumpyArray` | [`RowPartition`](crate::RowPartition) by splits, uniform [`RowPartition`](crate::RowPartition), flat values |
//! | `?float64`, `None` | none. Operations that would give `None` take a default, leave the row out, or give an identity element |
//! | records, `ak.zip` of fields, `array.field`, `array["a", "b"]` | [`StructuredTensor`](crate::StructuredTensor): [`from_fields`](crate::StructuredTensor::from_fields), [`field_value`](crate::StructuredTensor::field_value), [`get`](crate::StructuredTensor::get)`(keys!["a", "b"])`; one tensor per field, or [`zip`](Tensor::zip) for columns of one dtype |
//! | `ak.from_json(…, line_delimited=True)`, `ak.to_json` | `JsonLines`, `StructuredTensor::from_serialize` and `to_value`, with the feature `json` |
//! | unions, behaviors, `ak.Array` in Numba or JAX | none |
//! | integers are int64, floats float64 | literals are i32 and f64, as in Rust. Write `1.0f32`: many GPUs emulate f64 |
//! | `ak.to_backend(array, "cuda")` | [`to_device`](Tensor::to_device); a new tensor lives on the [`Device`] that its factory names |
//! | an operation computes | an operation records; [`to_vec`](RaggedTensor::to_vec), printing and [`eval`](Tensor::eval) compute |
//! | `axis=None` | `..`; every reduction takes its axis |
//! | `ValueError` | [`Error`](crate::Error), from the call if the host can tell, else from the read; it names the line of the call |
//!
//! # Broadcasting is right-aligned
//!
//! This difference changes results silently where sizes happen to agree. Awkward matches a flat array with the *outermost*
//! dimension of a jagged one. Here, as in NumPy and TensorFlow, shapes are aligned at the *innermost* dimension: a
//! vector of one number per row gets a dimension of size 1 first.
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//!
//! let device = Device::cpu();
//! let x = RaggedTensor::from_nested([vec![3, 1, 2], vec![], vec![5, 4]], &device)?;
//! let per_row = RaggedTensor::from_nested([10, 20, 30], &device)?;
//!
//! // x * per_row in Awkward
//! let y = (&x * &per_row.expand_dims(1)?)?;
//! assert_eq!(y.to_string(), "<ragged.RaggedTensor [[30, 10, 20], [], [150, 120]]>");
//! // Without the dimension, every row would have to have 3 values.
//! assert!((&x * &per_row).and_then(|y| y.to_vec()).is_err());
//!
//! // x - ak.mean(x, axis=1)
//! let x = x.cast::<f32>()?;
//! let centred = (&x - &x.reduce_mean(ragged::opt::keep(1))?)?;
//! assert_eq!(centred.to_vec()?, [1.0, -1.0, 0.0, 0.5, -0.5]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Cuts and pairs
//!
//! The fields of a record array are separate tensors with the same rows. A mask is applied to each of them; pairs of one
//! field are two tensors, and pairs of all fields have the same rows.
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//!
//! let device = Device::cpu();
//! let pt = RaggedTensor::from_nested([vec![40.0f32, 15.0, 52.0, 25.0], vec![], vec![33.0]], &device)?;
//! let charge = RaggedTensor::from_nested([vec![1, -1, -1, 1], vec![], vec![1]], &device)?;
//!
//! // muons = muons[muons.pt > 20]
//! let is_good = pt.greater(20.0)?;
//! let (pt, charge) = (pt.boolean_mask(&is_good)?, charge.boolean_mask(&is_good)?);
//! assert_eq!(pt.to_string(), "<ragged.RaggedTensor [[40.0, 52.0, 25.0], [], [33.0]]>");
//!
//! // a, b = ak.unzip(ak.combinations(muons, 2))
//! let [pt, charge_pairs] = [pt.combinations(2, 1)?, charge.cast::<f32>()?.combinations(2, 1)?];
//! // pairs = (a.pt + b.pt)[a.charge != b.charge]
//! let is_opposite = charge_pairs[0].not_equal(&charge_pairs[1])?;
//! let sums = (&pt[0] + &pt[1])?.boolean_mask(&is_opposite)?;
//! assert_eq!(sums.to_string(), "<ragged.RaggedTensor [[92.0, 77.0], [], []]>");
//!
//! // ak.any(pairs > 80, axis=1), ak.num(pairs)
//! assert_eq!(sums.greater(80.0)?.reduce_any(1)?.to_vec()?, [true, false, false]);
//! assert_eq!(sums.row_lengths(1)?.to_vec()?, [2, 0, 0]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Where Awkward gives `None`
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt, s};
//!
//! let x = RaggedTensor::from_nested([vec![3.0f32, 1.0, 2.0], vec![], vec![5.0, 4.0]], &Device::cpu())?;
//!
//! // ak.fill_none(ak.firsts(x), -1), or without the empty rows
//! assert_eq!(x.nth_or(0, -1.0)?.to_vec()?, [3.0, -1.0, 5.0]);
//! assert_eq!(x.nth_or_skip(0)?.to_vec()?, [3.0, 5.0]);
//! // ak.argmax(x, axis=1): None is -1 here
//! assert_eq!(x.argmax(1)?.to_vec()?, [0, -1, 0]);
//! // ak.max(x, axis=1): None is the least finite number here
//! assert_eq!(x.reduce_max(1)?.to_vec()?, [3.0, f32::MIN, 5.0]);
//! // The largest value of each row as a row: x[ak.argmax(x, axis=1, keepdims=True)], without None
//! let largest = x.sort(opt::descending(1))?.slice(s![.., ..1])?;
//! assert_eq!(largest.to_string(), "<ragged.RaggedTensor [[3.0], [], [5.0]]>");
//! // ak.to_numpy(ak.fill_none(ak.pad_none(x, 2, clip=True), 0))
//! assert_eq!(x.to_tensor(opt::shaped(0.0, [-1, 2]))?.to_vec()?, [3.0, 1.0, 0.0, 0.0, 5.0, 4.0]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Construction and conversion
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `ak.Array(lists)`, `ak.from_iter` | [`RaggedTensor::from_nested(lists, &device)`](RaggedTensor::from_nested) | vectors are `var` dimensions, arrays regular ones; of data of any type: [`Tensor::constant`] |
//! | `ak.unflatten(x, counts)` | [`Tensor::from_row_lengths(&x, &counts)`](Tensor::from_row_lengths) | also by splits, row ids, starts, limits |
//! | `ak.from_numpy(a)`, `ak.to_numpy(x)` | [`from_ndarray`](RaggedTensor::from_ndarray), [`to_ndarray`](RaggedTensor::to_ndarray) | arrays of the crate `ndarray`; jagged rows are an error in both |
//! | `ak.from_regular`, `ak.to_regular` | [`Tensor::from_tensor`], [`to_tensor`](Tensor::to_tensor) | `to_tensor` pads; [`reshape`](Tensor::reshape) requires equal rows |
//! | `ak.to_list(x)` | [`to_nested`](Tensor::to_nested), [`to_nested_vec`](RaggedTensor::to_nested_vec) | |
//! | `ak.pad_none(x, n)` with `fill_none` | [`x.pad_rows(n, value, 1)`](Tensor::pad_rows), [`x.to_tensor(shaped(value, [-1, n]))`](Tensor::to_tensor) | the second is `clip=True` |
//! | `ak.values_astype(x, "int32")` | [`x.cast::<i32>()`](RaggedTensor::cast) | floats outside the range give its nearest end |
//! | `ak.ones_like`, `ak.zeros_like` | [`ones_like`](Tensor::ones_like), [`zeros_like`](Tensor::zeros_like) | |
//!
//! # Structure
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `ak.num(x)`, `axis=2` | [`x.row_lengths(1)`](Tensor::row_lengths), `2` | the axis is required |
//! | `ak.flatten(x)` | [`x.values()`](Tensor::values), [`x.merge_dims(0, 1)`](Tensor::merge_dims) | deeper: `merge_dims(1, 2)` |
//! | `ak.ravel(x)`, `ak.flatten(x, axis=None)` | [`x.flat_values()`](Tensor::flat_values) | keeps regular inner dimensions; [`reshape([-1])`](Tensor::reshape) removes them |
//! | `x.layout.offsets` | [`x.row_splits()`](Tensor::row_splits) | |
//! | `ak.local_index(x)` | [`x.local_index(-1)`](Tensor::local_index) | |
//! | `x[:, np.newaxis]` | [`expand_dims`](Tensor::expand_dims), or [`NewAxis`](crate::NewAxis) in a slice | |
//! | `ak.broadcast_arrays(x, y)` | [`x.broadcast_like(&y)`](Tensor::broadcast_like) | right-aligned |
//! | `ak.zip({"a": x, "b": y})`, `ak.unzip` | [`Tensor::zip(&[&x, &y])`](Tensor::zip), [`unzip`](Tensor::unzip) | columns of one dtype, without names |
//!
//! # Indexing and masks
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `x[1]`, `x[1:, ::-1]` | [`x.slice(s![1])`](Tensor::slice), `s![1.., ..;-1]` | the step follows a semicolon |
//! | `x[:, 0]` | [`x.nth(0)`](Tensor::nth) | a row that is too short is an error in both, here of the read; `slice` refuses an integer there |
//! | `x[[2, 0]]` | [`x.gather(&rows)`](Tensor::gather) | negative indices are an error |
//! | `x[ak.Array([[0, 1], [], [1]])]` | [`x.batch_gather(&positions)`](Tensor::batch_gather) | the same |
//! | `x[[True, False, True]]` | [`x.boolean_mask(&rows)`](Tensor::boolean_mask) | drops rows |
//! | `x[x > 2]` | [`x.boolean_mask(&x.greater(2.0)?)`](Tensor::boolean_mask) | drops values, and keeps all rows |
//! | `x.mask[x > 2]`, `ak.drop_none` | none | a mask of its own, or [`select`](Tensor::select) with a value |
//! | `ak.where(c, x, y)` | [`c.select(&x, &y)`](Tensor::select) | the method is the condition's |
//! | `ak.where(c)` | [`c.where_indices()`](Tensor::where_indices) | one tensor `[n, rank]`; jagged conditions too |
//!
//! # Element-wise operations
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `x + y`, `2 * x` | `(&x + &y)?`, `(2 * &x)?` | right-aligned broadcasting; different dtypes are an error: [`cast`](Tensor::cast) first |
//! | `i * 0.5` of integers | `i.cast::<f32>()? * 0.5` | a number must be a value of the dtype |
//! | `i / j` of integers | [`truediv`](Tensor::truediv) | f64, or f32 for 8 and 16 bits |
//! | `i // 0` | [`floordiv`](Tensor::floordiv) | an error of the read, not 0 |
//! | `x > y`, `x == y` | [`greater`](Tensor::greater), [`equal`](Tensor::equal) | methods |
//! | `np.sqrt(x)`, other ufuncs | [`x.sqrt()`](Tensor::sqrt), … | see the [table](super::operations) |
//! | `numba.vectorize`, `np.frompyfunc`, kernels of one's own | a Rust function of tensors, or an [`ElementFunction`](crate::ElementFunction) | the latter is written in WGSL and in Rust, and fuses like any operation |
//! | `ak.nan_to_num(x)` | `x.is_nan()?.select(0.0, &x)` | |
//!
//! # Reductions
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `ak.sum(x)` | [`x.reduce_sum(..)`](Tensor::reduce_sum) | |
//! | `ak.sum(x, axis=1)`, `axis=0` | `x.reduce_sum(1)`, `x.reduce_sum(0)` | axis 0 sums the k-th values of all rows in both. Integers keep their dtype and wrap; Awkward widens to 64 bits |
//! | `ak.prod`, `ak.any`, `ak.all` | [`reduce_prod`](Tensor::reduce_prod), [`reduce_any`](Tensor::reduce_any), [`reduce_all`](Tensor::reduce_all) | |
//! | `ak.max(x, axis=1)`, `ak.min` | [`reduce_max`](Tensor::reduce_max), [`reduce_min`](Tensor::reduce_min) | an empty row gives a finite extreme, not `None`; NaN gives NaN, where Awkward skips it |
//! | `ak.argmax(x, axis=1)` | [`argmax`](Tensor::argmax) | -1, not `None`; NaN is greatest |
//! | `ak.mean`, `ak.var`, `ak.std` | [`reduce_mean`](Tensor::reduce_mean), [`reduce_variance`](Tensor::reduce_variance), [`reduce_std`](Tensor::reduce_std) | NaN for an empty row in both; population variance (`ddof=0`) in both; no weights |
//! | `ak.count(x, axis=1)`, `ak.count_nonzero` | [`row_lengths(1)`](Tensor::row_lengths), [`count_nonzero`](Tensor::count_nonzero) | |
//! | `ak.ptp(x, axis=1)` | `(x.reduce_max(1)? - x.reduce_min(1)?)?` | filter empty rows first |
//! | `keepdims=True` | [`keep(1)`](crate::opt::keep) | |
//! | none | [`median`](Tensor::median), [`quantile`](Tensor::quantile), [`n_unique`](Tensor::n_unique), [`reduce_logsumexp`](Tensor::reduce_logsumexp) | |
//!
//! # Along an axis, and per row
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `ak.sort(x, ascending=False)`, `ak.argsort` | [`x.sort(descending(1))`](Tensor::sort), [`argsort`](Tensor::argsort) | the axis is required; stable; NaN last in both orders, where Awkward has it first |
//! | `ak.softmax(x, axis=1)` | [`softmax`](Tensor::softmax) | |
//! | `ak.combinations(x, 2)`, `ak.argcombinations` | [`x.combinations(2, 1)`](Tensor::combinations), [`argcombinations`](Tensor::argcombinations) | one tensor per member, at most 6; without replacement |
//! | `ak.cartesian([x, y])` | [`Tensor::cartesian(&[&x, &y], 1)`](Tensor::cartesian) | one tensor per factor; [`cartesian_nested`](Tensor::cartesian_nested) for `nested=True` |
//! | `ak.run_lengths(x)` | [`x.run_lengths()`](Tensor::run_lengths) | values and lengths; within rows |
//! | none | [`cumsum`](Tensor::cumsum), [`linear_recurrence`](Tensor::linear_recurrence), [`ewm_mean`](Tensor::ewm_mean), [`top_k`](Tensor::top_k), [`unique`](Tensor::unique), [`diff`](Tensor::diff), [`shift`](Tensor::shift), [`group_by_key`](Tensor::group_by_key), [`set_union`](Tensor::set_union), [`sliding_windows`](Tensor::sliding_windows), [`map_rows`](Tensor::map_rows) | |
//!
//! # Joining, products and counts
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `ak.concatenate([x, y], axis=1)` | [`Tensor::concat(&[&x, &y], 1)`](Tensor::concat) | the axis is required; one dtype |
//! | none: `@` is not implemented | [`matmul`](Tensor::matmul) | rows by a matrix, and batches of matrices of different sizes |
//! | histograms of the package `hist` | [`histogram`](Tensor::histogram), [`bincount`](Tensor::bincount) | of all values, or of each row |
//! | `ak.corr`, `ak.covar`, `ak.linear_fit`, `ak.moment` | none | from [`reduce_mean`](Tensor::reduce_mean) of products |
//!
//! # Strings, hashes and random numbers
//!
//! A string is one element, of bytes; in Awkward it is a list of characters with a parameter. `ak.str` computes on the CPU,
//! by Arrow.
//!
//! | Awkward | ragged | differences |
//! |---|---|---|
//! | `ak.str.split_whitespace(x)`, `ak.str.split_pattern(x, ",")` | [`x.string_split(white_space())`](Tensor::string_split), `x.string_split(",")` | ASCII white space; no empty piece at either end, where Awkward has one |
//! | `ak.str.join(x, "-")` | [`x.reduce_join(-1, "-")`](Tensor::reduce_join) | [`string_join`](Tensor::string_join) joins element by element |
//! | `ak.str.upper(x)` | [`string_upper_utf8`](Tensor::string_upper_utf8), a host step; [`string_upper`](Tensor::string_upper) of ASCII | |
//! | `ak.str.length(x)` | [`string_length_chars`](Tensor::string_length_chars), [`string_length`](Tensor::string_length) in bytes | i32 |
//! | `ak.str.slice(x, a, b)` | [`x.substr_chars(a, b - a)`](Tensor::substr_chars) | a start outside of a string is an error |
//! | `ak.str.replace_substring_regex(x, p, r)` | [`regex_replace`](Tensor::regex_replace) | a host step |
//! | `ak.str.split_pattern_regex(x, p)` | [`regex_split`](Tensor::regex_split) | a host step that finds the pieces |
//! | `ak.str.is_in`, `ak.str.starts_with`, … | [`equal`](Tensor::equal), [`contains`](Tensor::contains); otherwise [`regex_full_match`](Tensor::regex_full_match) | few predicates |
//! | none | [`to_hash_bucket_fast`](Tensor::to_hash_bucket_fast), [`shuffle`](Tensor::shuffle), [`sample`](Tensor::sample) | |
//!
//! # Missing
//!
//! - Missing values, unions, behaviors, categorical types, `datetime64`, complex numbers.
//! - Parquet, Arrow, ROOT and Avro; Arrow's offsets and values go into
//!   [`from_row_splits`](RaggedTensor::from_row_splits).
//! - Nested indices that leave a level out or count from the end, and combinations with replacement.
//! - Numba, JAX and Dask.
//! - 64-bit sizes: a tensor has fewer than 2^32 - 1 values.

#[expect(unused_imports, reason = "links of the documentation")]
use crate::{Device, RaggedTensor, Tensor};
