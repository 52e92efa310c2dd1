//! For users of Polars: columns of lists, and `list.eval`.
//!
//! A column of type `List(Float32)` is a tensor of shape `[n, (values)]`. What `list.*` and `list.eval` do to each list
//! are operations along axis 1 here, on any number of levels, on the CPU or on any GPU. There are no data frames
//! and no nulls: a column is a tensor, and a query is Rust code. Compared with Polars 2.
//!
//! # Concepts
//!
//! | Polars | ragged |
//! |---|---|
//! | `Series` of `List(T)` | [`RaggedTensor<T>`](RaggedTensor) of rank 2, or [`Tensor`], whose dtype is known at run time |
//! | `Array(T, k)` | a uniform dimension |
//! | `List(List(T))`, `List(Array(T, k))` | the same types, of rank 3 |
//! | a column of numbers or strings | a dense tensor of rank 1 |
//! | `DataFrame`, `Struct` columns | [`StructuredTensor`](crate::StructuredTensor): named fields, which may be records, one tensor per field. Otherwise one tensor per column |
//! | `pl.scan_ndjson`, `read_ndjson` | `JsonLines`, with the feature `json`: a file as one list of records, or in batches |
//! | null | none. Operations that would give null take a default, leave the row out, or give an identity element |
//! | lazy frame, `collect` | every operation records; a read (`to_vec`, printing) computes all of it in few kernels. [`to_vecs`](crate::to_vecs) reads several columns at once |
//! | `explain()` | [`Tensor::explain`]: the kernels, and the bytes that each moves |
//! | expression over the elements of a list | a method along axis 1; or [`map_rows`](Tensor::map_rows), whose closure sees one row |
//! | `map_elements(f)`, plugins | a Rust function of tensors, which fuses; for loops per element an [`ElementFunction`](crate::ElementFunction) in WGSL and Rust, with [`map_elements`](Tensor::map_elements) |
//! | types: `Int64`, `Float64` by default | Rust's literals: i32 and f64. Write `1.0f32`: many GPUs emulate f64 |
//! | `ComputeError` of `collect` | [`Error`](crate::Error), from the call if the host can tell, else from the read; it names the line of the call |
//!
//! # Orders
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt};
//!
//! let device = Device::cpu();
//! let price = RaggedTensor::from_nested([vec![2.0f32, 5.0], vec![], vec![10.0]], &device)?;
//! let quantity = RaggedTensor::from_nested([vec![3.0f32, 1.0], vec![], vec![2.0]], &device)?;
//!
//! // (pl.col("price") * pl.col("quantity")).list.sum()
//! let amount = (&price * &quantity)?;
//! assert_eq!(amount.reduce_sum(1)?.to_vec()?, [11.0, 0.0, 20.0]);
//!
//! // pl.col("price").list.eval(pl.element() / pl.element().sum())
//! let share = (&price / &price.reduce_sum(opt::keep(1))?)?;
//! assert_eq!(share.slice(ragged::s![2])?.to_vec()?, [1.0]);
//!
//! // pl.col("price") * pl.col("rate"): one number per row needs a dimension of its own
//! let rate = RaggedTensor::from_nested([1.0f32, 1.0, 0.5], &device)?;
//! assert_eq!((&price * &rate.expand_dims(1)?)?.to_vec()?, [2.0, 5.0, 5.0]);
//!
//! // pl.col("price").list.filter(pl.element() > 3), and df.filter(pl.col("price").list.len() > 0)
//! assert_eq!(price.boolean_mask(&price.greater(3.0)?)?.to_string(), "<ragged.RaggedTensor [[5.0], [], [10.0]]>");
//! let is_filled = price.row_lengths(1)?.greater(0)?;
//! assert_eq!(price.boolean_mask(&is_filled)?.to_string(), "<ragged.RaggedTensor [[2.0, 5.0], [10.0]]>");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Groups and sessions
//!
//! ```
//! use ragged::{Device, RaggedTensor};
//!
//! let device = Device::cpu();
//! // df.group_by("user").agg("time")
//! let user = RaggedTensor::from_nested([7, 3, 7, 7, 3], &device)?;
//! let time = RaggedTensor::from_nested([1, 2, 3, 60, 70], &device)?;
//! let (users, times) = time.group_by_key(&user)?;
//! assert_eq!(users.to_vec()?, [3, 7]); // ascending
//! assert_eq!(times.to_string(), "<ragged.RaggedTensor [[2, 70], [1, 3, 60]]>");
//!
//! // Sessions: a gap of more than 30 begins a new one. Each level is a dimension.
//! let gap = (&times - &times.shift(1, 0, 1)?)?;
//! let sessions = times.split_where(&gap.greater(30)?)?;
//! assert_eq!(sessions.to_string(), "<ragged.RaggedTensor [[[2], [70]], [[1, 3], [60]]]>");
//! assert_eq!(sessions.row_lengths(1)?.to_vec()?, [2, 2]); // sessions of each user
//! assert_eq!(sessions.reduce_max(2)?.to_string(), "<ragged.RaggedTensor [[2, 70], [3, 60]]>");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Text
//!
//! ```
//! use ragged::{Device, RaggedTensor, opt};
//!
//! let text = RaggedTensor::from_nested(["to be or not", "", "be"], &Device::cpu())?;
//! // words = pl.col("text").str.split(" ")
//! let words = text.string_split(opt::white_space())?;
//! // words.list.len(), words.list.contains("be"), words.list.join("-")
//! assert_eq!(words.row_lengths(1)?.to_vec()?, [4, 0, 1]);
//! assert_eq!(words.contains("be", 1)?.to_vec()?, [true, false, true]);
//! assert_eq!(words.reduce_join(1, "-")?.to_vec()?, [b"to-be-or-not".as_slice(), b"", b"be"]);
//! // words.list.eval(pl.element().str.len_bytes()).list.max()
//! assert_eq!(words.string_length()?.reduce_max(1)?.to_vec()?, [3, i32::MIN, 2]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # Construction and conversion
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `pl.Series([[1, 2], []])` | [`RaggedTensor::from_nested(rows, &device)`](RaggedTensor::from_nested) | |
//! | Arrow's offsets and values | [`RaggedTensor::from_row_splits(values, &offsets, &device)`](RaggedTensor::from_row_splits) | no Arrow types; the offsets begin with 0 |
//! | `to_list()`, `to_numpy()` | [`to_nested_vec`](RaggedTensor::to_nested_vec), [`to_vec`](RaggedTensor::to_vec), [`to_ndarray`](RaggedTensor::to_ndarray) | |
//! | `list.to_array(k)` | [`x.to_tensor(shaped(0, [-1, k]))`](Tensor::to_tensor) | pads and crops, where Polars requires equal lengths |
//! | `explode()` | [`x.values()`](Tensor::values), with [`value_rowids`](Tensor::value_rowids) for the row of each value | empty lists give no value |
//! | `implode()` | [`expand_dims(0)`](Tensor::expand_dims) | |
//! | `pl.int_ranges(0, n)` | [`n.range()`](Tensor::range), [`Tensor::ranges(&starts, &ends, 1)`](Tensor::ranges) | |
//! | `cast(pl.Int8)` | [`x.cast::<i8>()`](RaggedTensor::cast), [`saturate_cast`](RaggedTensor::saturate_cast) | never fails: integers wrap, floats give the nearest end; Polars fails, or gives null |
//! | `pl.lit(0)`, constant columns | [`Tensor::fill`], [`zeros_like`](Tensor::zeros_like) | a number beside a tensor needs no column |
//!
//! # Elements of lists
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `list.get(0)` | [`x.nth(0)`](Tensor::nth) | a short row is an error of the read |
//! | `list.get(0, null_on_oob=True)`, `list.first()` | [`x.nth_or(0, value)`](Tensor::nth_or), [`nth_or_skip`](Tensor::nth_or_skip) | |
//! | `list.head(2)`, `list.tail(2)`, `list.slice(1, 2)` | [`x.slice(s![.., ..2])`](Tensor::slice), `s![.., -2..]`, `s![.., 1..3]` | |
//! | `list.gather_every(2)`, `list.reverse()` | `x.slice(s![.., ..;2])`, [`x.reverse(1)`](Tensor::reverse) | |
//! | `list.gather(index)` | [`x.batch_gather(&index)`](Tensor::batch_gather), [`x.gather(along(&index, 1))`](crate::opt::along) for the same positions in every row | negative indices are an error |
//! | `list.filter(e)` | [`x.boolean_mask(&mask)`](Tensor::boolean_mask) | |
//! | `list.sample(n=2, seed=1)` | [`x.sample(2, Seed(1), 1)`](Tensor::sample) | a shorter row gives all it has, where Polars fails |
//! | `list.eval(pl.element().shuffle(seed))` | [`x.shuffle(Seed(seed), 1)`](Tensor::shuffle) | the same order on every device |
//! | `df.filter(mask)`, `df[[2, 0]]` | [`x.boolean_mask(&mask)`](Tensor::boolean_mask), [`x.gather(&rows)`](Tensor::gather) | column by column |
//! | `pl.when(c).then(x).otherwise(y)` | [`c.select(&x, &y)`](Tensor::select) | |
//!
//! # Arithmetic
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `x + y` of lists | `(&x + &y)?` | rows must have equal lengths in both |
//! | list column `*` column | `(&x * &y.expand_dims(1)?)?` | shapes are aligned at the innermost dimension, as in NumPy |
//! | `i + 0.5` of integers | `(i.cast::<f32>()? + 0.5)?` | no supertypes: different dtypes are an error |
//! | `i / j` | [`truediv`](Tensor::truediv) | f64, or f32 for 8 and 16 bits |
//! | `i // j`, `i % j` | [`floordiv`](Tensor::floordiv), `&i % &j` | rounded down in both; a divisor of 0 is an error of the read, not null |
//! | `x == y` | [`equal`](Tensor::equal) | NaN differs from NaN, as in IEEE 754; Polars calls them equal |
//! | `x & y`, `~x` | `&x & &y`, `!&x` | |
//! | `x.round()`, `x.sqrt()`, `x.log1p()` | [`round`](Tensor::round) (halves to even), [`sqrt`](Tensor::sqrt), [`log1p`](Tensor::log1p), … | see the [table](super::operations) |
//!
//! # Reductions
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `list.sum()` | [`x.reduce_sum(1)`](Tensor::reduce_sum) | integers keep their dtype and wrap; Polars widens 8 and 16 bits to 64 |
//! | `list.mean()`, `list.median()` | [`reduce_mean`](Tensor::reduce_mean), [`median`](Tensor::median) | an empty row gives NaN, not null |
//! | `list.min()`, `list.max()` | [`reduce_min`](Tensor::reduce_min), [`reduce_max`](Tensor::reduce_max) | an empty row gives a finite extreme, not null; NaN gives NaN, where Polars skips it |
//! | `list.std()`, `list.var()` | [`reduce_std`](Tensor::reduce_std), [`reduce_variance`](Tensor::reduce_variance) | of the population (`ddof=0`); Polars' default is the sample's (`ddof=1`) |
//! | `list.arg_max()`, `list.arg_min()` | [`argmax`](Tensor::argmax), [`argmin`](Tensor::argmin) | -1 for an empty row; i64 |
//! | `list.any()`, `list.all()` | [`reduce_any`](Tensor::reduce_any), [`reduce_all`](Tensor::reduce_all) | |
//! | `list.len()`, `list.n_unique()` | [`row_lengths(1)`](Tensor::row_lengths), [`n_unique`](Tensor::n_unique) | i64 |
//! | `list.count_matches(v)`, `list.contains(v)` | `x.equal(v)?.count_nonzero(1)`, [`x.contains(v, 1)`](Tensor::contains) | |
//! | `x.explode().sum()` | `x.reduce_sum(..)` | |
//! | `list.eval(pl.element().quantile(0.5))` | [`x.quantile([0.25, 0.5], 1)`](Tensor::quantile) | linear interpolation; Polars' default is the nearest value |
//!
//! # Sorting, scans and sets
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `list.sort(descending=True)` | [`x.sort(descending(1))`](Tensor::sort), [`argsort`](Tensor::argsort) | stable; NaN is last in both orders, where Polars' descending order has it first |
//! | `x.sort_by(y, z, descending=[True, False])` | [`x.sort_by((descending(&y), &z))`](Tensor::sort_by) | within rows, or rows by keys of fewer dimensions; stable |
//! | `list.eval(pl.element().top_k(2))` | [`x.top_k(2, 1)`](Tensor::top_k) | values in descending order, and their positions |
//! | `list.eval(pl.element().cum_sum())` | [`x.cumsum(1)`](Tensor::cumsum), [`reversed`](crate::opt::reversed), [`exclusive`](crate::opt::exclusive) | |
//! | `list.eval(pl.element().ewm_mean(span=9))` | [`x.ewm_mean(span(9.0), 1)`](Tensor::ewm_mean), [`com`](crate::opt::com), [`half_life`](crate::opt::half_life), [`unadjusted`](crate::opt::unadjusted) | floats; any linear recurrence: [`linear_recurrence`](Tensor::linear_recurrence) |
//! | `list.diff()`, `list.shift(1)` | [`x.diff(1)`](Tensor::diff), [`x.shift(1, fill, 1)`](Tensor::shift) | `diff` has one element less instead of a null; `shift` takes its fill value |
//! | `list.unique()` | [`x.unique(1)`](Tensor::unique) | ascending; counts: [`unique_with_counts`](Tensor::unique_with_counts) |
//! | `list.set_union(y)`, … | [`set_union`](Tensor::set_union), [`set_intersection`](Tensor::set_intersection), [`set_difference`](Tensor::set_difference) | ascending; no symmetric difference |
//! | `search_sorted` | [`x.searchsorted(&v)`](Tensor::searchsorted) | in each row; [`right_of`](crate::opt::right_of) |
//! | `rle()` | [`run_lengths`](Tensor::run_lengths) | within rows; values, then lengths |
//! | `list.eval(pl.element().rank())` | `x.argsort(1)?.argsort(1)` | from 0, without ties |
//! | none | [`softmax`](Tensor::softmax), [`sliding_windows`](Tensor::sliding_windows), [`combinations`](Tensor::combinations), [`cartesian`](Tensor::cartesian) | |
//!
//! # Joining, groups, products and counts
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `pl.concat([a, b])`, `list.concat` | [`Tensor::concat(&[&a, &b], 0)`](Tensor::concat), axis 1 | one dtype |
//! | `pl.concat_list("a", "b")` of numbers | [`Tensor::stack(&[&a, &b], 1)`](Tensor::stack), [`zip`](Tensor::zip) | |
//! | `group_by(k).agg(v)` | [`v.group_by_key(&k)`](Tensor::group_by_key) | keys ascend. Within each row where `v` has rows |
//! | `group_by("a", "b")`, `df.unique(["a", "b"])` | [`v.group_by_key((&a, &b))`](Tensor::group_by_key) | the first result are the distinct combinations, one tensor per key; `keys.0.row_lengths(-1)` is their number in each row |
//! | `group_by(k).agg(v.sum())` | `groups.reduce_sum(1)`, or [`v.unsorted_segment_sum(&k, n)`](Tensor::unsorted_segment_sum) for keys below `n` | |
//! | `x.dot(y)` | [`matmul`](Tensor::matmul), or `(&x * &y)?.reduce_sum(1)` per row | |
//! | `value_counts()`, `hist(bins)` | [`unique_with_counts`](Tensor::unique_with_counts), [`bincount`](Tensor::bincount), [`histogram`](Tensor::histogram) | bins include their lower bound, where Polars' include the upper one |
//! | `join` | none | [`searchsorted`](Tensor::searchsorted) and [`gather`](Tensor::gather) for sorted keys |
//!
//! # Strings and hashes
//!
//! Strings are bytes; a variant for UTF-8 characters is a function of its own. A *host step* runs on the host between
//! kernels; a GPU refuses it unless its options allow it
//! ([`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps)).
//!
//! | Polars | ragged | differences |
//! |---|---|---|
//! | `str.split(",")` | [`x.string_split(",")`](Tensor::string_split) | an empty string gives one empty piece in both; [`white_space`](crate::opt::white_space) gives none |
//! | `str.splitn(",", n)` | [`x.string_split(max_splits(",", n - 1))`](crate::opt::max_splits) | a row of pieces, not a struct |
//! | `list.join("-")`, `pl.concat_str(a, b, separator="-")` | [`x.reduce_join(1, "-")`](Tensor::reduce_join), [`Tensor::string_join(&[&a, &b], "-")`](Tensor::string_join) | |
//! | `str.len_bytes()`, `str.len_chars()` | [`string_length`](Tensor::string_length), [`string_length_chars`](Tensor::string_length_chars) | i32 |
//! | `str.slice(p, n)`, `str.head(n)` | [`substr_chars`](Tensor::substr_chars), in bytes [`substr`](Tensor::substr) | a start outside of a string is an error |
//! | `str.to_uppercase()` | [`string_upper_utf8`](Tensor::string_upper_utf8), a host step; [`string_upper`](Tensor::string_upper) of ASCII | |
//! | `str.strip_prefix(p)`, `str.strip_suffix(p)` | [`strip_prefix`](Tensor::strip_prefix), [`strip_suffix`](Tensor::strip_suffix) | |
//! | `str.split(",").list.get(n)` | [`x.nth_field(",", n)`](Tensor::nth_field), [`nth_field_or`](Tensor::nth_field_or) | makes no other piece |
//! | `str.strip_chars()` | [`string_strip`](Tensor::string_strip) | ASCII white space only |
//! | `str.contains("a+")` | [`x.regex_full_match("(?s).*a+.*")`](Tensor::regex_full_match) | matches whole strings; a host step |
//! | `str.replace_all(p, "${1}")`, `str.replace` | [`x.regex_replace(p, r"\1")`](Tensor::regex_replace), [`regex_replace_first`](Tensor::regex_replace_first) | groups are `\1`; a host step |
//! | `str.to_integer()`, `cast(pl.Float64)` | [`string_to_number`](Tensor::string_to_number) | no number is an error, never null; floats are a host step |
//! | `str.extract(r"^(\d+)")` and `cast` | [`string_prefix_to_number`](Tensor::string_prefix_to_number) | the number that a string begins with |
//! | `cast(pl.String)` | [`as_string`](Tensor::as_string) | floats have six digits; those of [`Notation::Shortest`](crate::opt::Notation::Shortest) read back, as Polars' do |
//! | `hash()` | [`fingerprint64`](Tensor::fingerprint64), [`to_hash_bucket_fast`](Tensor::to_hash_bucket_fast) | of strings; values are fixed for good, where Polars' may change with its version |
//!
//! # Missing
//!
//! - Nulls, joins, SQL, categories, dates, decimals, 128-bit integers.
//! - Parquet, Arrow and CSV; out-of-core and streaming execution.
//! - Rolling and dynamic windows by time; windows of a fixed number of elements are
//!   [`sliding_windows`](Tensor::sliding_windows).
//! - Weighted and sample statistics, skewness, correlation, symmetric set differences, ranks with ties.

#[expect(unused_imports, reason = "links of the documentation")]
use crate::{RaggedTensor, Tensor};
