//! A call of every function, and the table that they are of.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, ListArray, StringArray, UInt8Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;

/// Row lengths: empty rows at both ends, and a long one.
pub const LENGTHS: [usize; 9] = [0, 3, 1, 0, 7, 2, 40, 1, 0];

fn lists(values: ArrayRef, lengths: &[usize]) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths.iter().copied()), values, None))
}

fn scrambled(k: usize) -> usize {
    (k.wrapping_mul(2_654_435_761) >> 7) % 1009
}

/// The columns: `id`; `n`, `f`, `d`, `b`, `w`, `u` lists of integers, floats, doubles, bools, words and bytes; `m` integers
/// that `n` does not have; `nn` lists of lists of integers; `v`, `t` a number and a text a row.
pub fn table() -> Vec<(&'static str, ArrayRef)> {
    let total: usize = LENGTHS.iter().sum();
    let numbers = || (0..total).map(|k| scrambled(k) as i32 % 11 - 5);
    let words = ["to be", "Or", "not", "a,b", "", "7", "that is", "question"];
    let rows = LENGTHS.len();
    let inner: Vec<usize> = (0..total).map(|k| scrambled(k) % 4).collect();
    let below: usize = inner.iter().sum();
    let nested = lists(Arc::new(Int32Array::from_iter_values((0..below).map(|k| scrambled(k) as i32 % 9))), &inner);
    vec![
        ("id", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ("n", lists(Arc::new(Int32Array::from_iter_values(numbers())), &LENGTHS)),
        ("m", lists(Arc::new(Int32Array::from_iter_values(numbers().map(|n| n * n + 1))), &LENGTHS)),
        ("f", lists(Arc::new(Float32Array::from_iter_values(numbers().map(|n| n as f32 * 0.3))), &LENGTHS)),
        ("d", lists(Arc::new(Float64Array::from_iter_values(numbers().map(|n| f64::from(n) * 0.7))), &LENGTHS)),
        ("b", lists(Arc::new(BooleanArray::from_iter(numbers().map(|n| Some(n > 0)))), &LENGTHS)),
        ("w", lists(Arc::new(StringArray::from_iter_values((0..total).map(|k| words[scrambled(k) % 8]))), &LENGTHS)),
        ("u", lists(Arc::new(UInt8Array::from_iter_values((0..total).map(|k| b'a' + (k % 26) as u8))), &LENGTHS)),
        ("nn", lists(nested, &LENGTHS)),
        ("v", Arc::new(Int32Array::from_iter_values((0..rows as i32).map(|k| k % 3)))),
        ("t", Arc::new(StringArray::from_iter_values((0..rows).map(|k| words[k % 8])))),
    ]
}

/// Calls of functions that take other arguments than one column of floats, integers, bools or strings.
pub const CALLS: &[&str] = &[
    "ragged_row_lengths(n)",
    "ragged_row_lengths(nn, 2)",
    "ragged_length(w)",
    "ragged_reduce_sum(n)",
    "ragged_reduce_sum(nn)",
    "ragged_reduce_sum(nn, 2)",
    "ragged_reduce_sum(f, axis => -1, keep => true)",
    "ragged_reduce_prod(f)",
    "ragged_reduce_min(d)",
    "ragged_reduce_max(w)",
    "ragged_reduce_mean(n)",
    "ragged_reduce_mean_as(n, 'Float32')",
    "ragged_reduce_variance(f)",
    "ragged_reduce_variance_as(n, 'f32')",
    "ragged_reduce_std(d)",
    "ragged_reduce_std_as(n, 'f64')",
    "ragged_reduce_euclidean_norm(f)",
    "ragged_reduce_logsumexp(f)",
    "ragged_reduce_all(b)",
    "ragged_reduce_any(b)",
    "ragged_count_nonzero(n)",
    "ragged_reduce_join(w, NULL, '-')",
    "ragged_quantile(f, 0.25)",
    "ragged_quantile(f, '[0.25, 0.75]')",
    "ragged_median(n)",
    "ragged_histogram(f, 1, '[-1, 1]', 4)",
    "ragged_histogram_bins(f, '[-1, 1]', 4)",
    "ragged_argmin(ragged_fill_empty_rows(n, 9))",
    "ragged_argmax(ragged_fill_empty_rows(f, 9.5))",
    "ragged_add_n(n, m)",
    "ragged_add(n, m)",
    "ragged_add(n, v)",
    "ragged_add(w, '!')",
    "ragged_cast(n, 'Float64')",
    "ragged_saturate_cast(n, 'UInt8')",
    "ragged_bitcast(n, 'u32')",
    "ragged_one_hot(ragged_abs(n), 6)",
    "ragged_clip_by_value(n, -1, 2)",
    "ragged_left_shift(u, 1)",
    "ragged_right_shift(m, 1)",
    "ragged_select(b, n, 0)",
    "ragged_batch_gather(n, ragged_argsort(f))",
    "ragged_batch_gather_with_default(n, ragged_fill_empty_rows(ragged_abs(n), 0), -1)",
    "ragged_nth(ragged_fill_empty_rows(n, 0), 0)",
    "ragged_nth_or(n, 2, -1)",
    "ragged_boolean_mask(n, b)",
    "ragged_batch_scatter_add(m, ragged_argsort(n), m)",
    "ragged_matmul(ragged_one_hot(ragged_abs(n), 3), ragged_one_hot(ragged_abs(n), 3), transposed => true)",
    "ragged_matmul(ragged_embedding_lookup('TABLE#table', ragged_abs(n)), 'TABLE#table', true)",
    "ragged_merge_dims(nn, 1, 2)",
    "ragged_expand_dims(n, 1)",
    "ragged_squeeze(ragged_expand_dims(n, 1), 1)",
    "ragged_concat(n, m)",
    "ragged_stack(n, m)",
    "ragged_zip(n, m)",
    "ragged_reverse(n, 1)",
    "ragged_repeat(n, 2)",
    "ragged_cartesian(n, m)",
    "ragged_cartesian_nested(n, m)",
    "ragged_combinations(n, 2)",
    "ragged_argcombinations(n, 2)",
    "ragged_context_windows(n, 3, 0)",
    "ragged_sliding_windows(n, 2)",
    "ragged_slice_rows(ragged_pad_rows(n, 1, 0), 0, 1)",
    "ragged_pad_rows(n, 4, -1)",
    "ragged_fill_empty_rows(f, 0.5)",
    "ragged_split_where(n, ragged_greater(n, 0))",
    "ragged_run_values(n)",
    "ragged_run_lengths(n)",
    "ragged_group_by_key(f, n)",
    "ragged_group_keys(f, n)",
    "ragged_set_union(n, m)",
    "ragged_set_intersection(n, m)",
    "ragged_set_difference(n, m)",
    "ragged_contains(n, 2)",
    "ragged_contains(n, v)",
    "ragged_searchsorted(ragged_sort(n), m)",
    "ragged_diff(n)",
    "ragged_shift(n, 1, 0)",
    "ragged_roll(n, 2)",
    "ragged_local_index(n)",
    "ragged_cumsum(f, exclusive => true)",
    "ragged_cumprod(f)",
    "ragged_cummax(n)",
    "ragged_cummin(n)",
    "ragged_linear_recurrence(f, 0.5, 0.0)",
    "ragged_ewm_mean(f, 0.5)",
    "ragged_softmax(f)",
    "ragged_leaky_relu(f)",
    "ragged_log_softmax(f)",
    "ragged_l2_normalize(f)",
    "ragged_sort(w, descending => true)",
    "ragged_argsort(n)",
    "ragged_sort_by(n, f)",
    "ragged_top_k(f, 3)",
    "ragged_top_k_indices(f, 3)",
    "ragged_unique(n)",
    "ragged_unique_counts(n)",
    "ragged_n_unique(n)",
    "ragged_scaled_dot_product_attention(ragged_one_hot(ragged_abs(n), 3, 0.5, 0.0), ragged_one_hot(ragged_abs(n), 3, 0.5, 0.0), ragged_one_hot(ragged_abs(n), 3, 0.5, 0.0))",
    "ragged_embedding_lookup('TABLE#table', ragged_abs(n))",
    "ragged_cross(n, w)",
    "ragged_cross_hashed(n, w, 100)",
    "ragged_to_hash_bucket_strong(w, 100, '[1, 2]')",
    "ragged_to_hash_bucket_fast(w, 100)",
    "ragged_hash_bucket(t, 100)",
    "ragged_to_hash_bucket(w, 100)",
    "ragged_bytes_to_string(u)",
    "ragged_strip_prefix(w, 'to')",
    "ragged_strip_suffix(w, 't')",
    "ragged_nth_field(ragged_add(w, ',x'), ',', 0)",
    "ragged_nth_field_or(w, ',', 1, 'none')",
    "ragged_string_join(w, w, '+')",
    "ragged_string_ngrams(w, 2)",
    "ragged_ngrams(w, '[1, 2]', '_', left_pad => '<', right_pad => '>')",
    "ragged_regex_full_match(w, '[a-z]+')",
    "ragged_regex_replace(w, '[aeiou]', '*')",
    "ragged_regex_replace_first(w, '[aeiou]', '*')",
    "ragged_regex_split(w, ' ')",
    "ragged_string_split(w)",
    "ragged_string_split(t, ',')",
    "ragged_substr(w, 0, 1)",
    "ragged_substr_chars(w, 0, 1)",
    "ragged_string_to_number(ragged_as_string(n), 'Int32')",
    "ragged_string_prefix_to_number(ragged_as_string(n), 'Int64')",
    "ragged_encode_base64(w, 'padded')",
    "ragged_decode_base64(ragged_encode_base64(w))",
    "ragged_unicode_decode(w, 'utf-8')",
    "ragged_unicode_decode_offsets(w, 'utf-8')",
    "ragged_unicode_encode(ragged_unicode_decode(w, 'utf-8'), 'utf-8')",
    "ragged_unicode_script(n)",
    "ragged_unicode_split(w, 'utf-8')",
    "ragged_unicode_split_offsets(w, 'utf-8')",
    "ragged_unicode_transcode(w, 'utf-8', 'utf-8')",
];

/// A column for a function that takes one, by what the operation computes on.
pub fn column_for(elements: &[ragged::DType], position: usize) -> &'static str {
    use ragged::DType;
    let has = |dtype| elements.contains(&dtype);
    match position {
        _ if has(DType::F32) && !has(DType::I32) => "f",
        _ if has(DType::I32) => ["n", "m"][position.min(1)],
        _ if has(DType::Bool) => "b",
        _ if has(DType::Str) => "w",
        _ => "u",
    }
}
