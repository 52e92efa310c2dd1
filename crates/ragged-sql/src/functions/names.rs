//! The names of the functions, and the operations that are none.

/// Operations of rows that are not methods of `Row`, since rows of a query are computed side by side.
pub(super) const OF_ROWS: &[&str] = &["cross", "cross_hashed", "scaled_dot_product_attention", "batch_gather"];

/// Operations of rows that SQL does not offer, and why.
pub(super) const NOT_OFFERED: &[(&str, &str)] = &[
    ("bincount", "its width is that of the greatest value of all rows"),
    ("bincount_weighted", "its width is that of the greatest value of all rows"),
    ("check_numerics", "it checks a batch"),
    ("dropout", "its numbers depend on the batch"),
    ("gather", "batch_gather takes from the row, embedding_lookup from a table"),
    ("gather_nd", "its indices name rows of other positions"),
    ("range", "its argument is the tensor of limits"),
    ("sample", "its numbers depend on the batch"),
    ("sequence_mask", "its width is the longest of all rows"),
    ("shuffle", "its numbers depend on the batch"),
    ("size", "it counts all rows"),
    ("slice", "slices have no literals in SQL"),
    ("split", "it has a list of results"),
    ("stop_gradient", "queries have no gradients"),
    ("tile", "it repeats all rows"),
    ("transpose", "it exchanges rows of the table"),
    ("transpose_rows", "it exchanges rows of the table"),
    ("unzip", "it has a list of results"),
    ("where_indices", "it has as many rows as values that are true"),
];

/// A name of an operation's result.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) result: Option<usize>,
}

/// A function's name without the prefix, and the result that it gives.
type Part = (&'static str, Option<usize>);

/// Operations with several results, and their functions.
const SEVERAL: &[(&str, &[Part])] = &[
    ("fill_empty_rows", &[("fill_empty_rows", Some(0))]),
    ("group_by_key", &[("group_by_key", None), ("group_keys", Some(0))]),
    ("run_lengths", &[("run_values", Some(0)), ("run_lengths", Some(1))]),
    ("top_k", &[("top_k", Some(0)), ("top_k_indices", Some(1))]),
    ("unicode_decode_with_offsets", &[("unicode_decode_offsets", Some(1))]),
    ("unicode_split_with_offsets", &[("unicode_split_offsets", Some(1))]),
    ("unique_with_counts", &[("unique_counts", Some(1))]),
];

/// Names in SQL that are not those of the operation without its family.
const ALIASES: &[(&str, &str)] = &[
    ("row_lengths", "length"),
    ("to_hash_bucket_fast", "hash_bucket"),
    // No other names: they are those of `to_hash_bucket_fast` and of `reduce_join`.
    ("to_hash_bucket", "to_hash_bucket"),
    ("string_join", "string_join"),
    ("scaled_dot_product_attention", "attention"),
    ("string_length", "byte_length"),
    ("string_length_chars", "char_length"),
];

/// Families that an alias leaves out.
const FAMILIES: &[&str] = &["reduce_", "string_", "to_"];

/// Why SQL does not offer the operation.
pub(super) fn not_offered(operation: &str) -> Option<&'static str> {
    NOT_OFFERED.iter().find(|(name, _)| *name == operation).map(|(_, why)| *why)
}

/// The functions of an operation.
pub(super) fn names(operation: &str) -> Vec<Named> {
    let prefixed = |name: &str| format!("ragged_{name}");
    if let Some((_, results)) = SEVERAL.iter().find(|(name, _)| *name == operation) {
        let one = |(name, result): &Part| Named { name: prefixed(name), aliases: Vec::new(), result: *result };
        return results.iter().map(one).collect();
    }
    let short = ALIASES.iter().find(|(name, _)| *name == operation).map(|(_, alias)| *alias);
    let alias = short.or_else(|| FAMILIES.iter().find_map(|family| operation.strip_prefix(family)));
    let alias = alias.filter(|alias| *alias != operation);
    let aliases = alias.map(prefixed).into_iter().collect();
    vec![Named { name: prefixed(operation), aliases, result: Some(0) }]
}
