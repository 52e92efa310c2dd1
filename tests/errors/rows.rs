//! Misuse of operations on rows and on strings.

use ragged::arguments::CrossInput;
use ragged::opt::{
    Base64, Bins, Encoding, NumberFormat, ShardStrategy, SortKeys, any_of, max_splits, padded_with, strict,
};
use ragged::{DType, RaggedTensor, Seed, SparseTensor, Str, Tensor};

use crate::{Misuse, no, read, strings};

/// Operations on strings, called on numbers.
macro_rules! of_numbers {
    ($($name:ident($($argument:expr),*))+) => { &[$((stringify!($name), |s| no(s.t.$name($($argument),*)))),+] };
}
pub const STRINGS: &[(&str, Misuse)] = of_numbers! {
    string_upper() string_lower() string_upper_utf8() string_lower_utf8() string_length() string_length_chars()
    string_strip() string_to_bytes() strip_prefix("a") strip_suffix("a") nth_field(" ", 0) nth_field_or(" ", 0, "")
    bytes_split() string_ngrams(2, " ") regex_full_match("a") regex_split("a") regex_replace("a", "b")
    regex_replace_first("a", "b") substr(0, 1) substr_chars(0, 1) string_to_number(DType::I32)
    string_prefix_to_number(DType::I32) encode_base64(Base64::Padded)
    decode_base64() unicode_decode(Encoding::Utf8) unicode_decode_with_offsets(Encoding::Utf8)
    unicode_split(Encoding::Utf8) unicode_split_with_offsets(Encoding::Utf8) unicode_encode(Encoding::Utf8)
    unicode_script() unicode_transcode(Encoding::Utf8, Encoding::Utf16Be) string_split(" ") reduce_join(1, "")
    to_hash_bucket_fast(3) to_hash_bucket_strong(3, [1, 2]) to_hash_bucket(3) fingerprint64()
};

pub const OTHERS: &[(&str, Misuse)] = &[
    ("regex_full_match of no expression", |s| no(s.words.regex_full_match("("))),
    ("regex_split of no expression", |s| no(s.words.regex_split("("))),
    ("regex_split by a set", |s| no(s.words.regex_split(any_of("ab")))),
    ("regex_replace of no expression", |s| no(s.words.regex_replace("(", ""))),
    ("regex_replace by a missing group", |s| no(s.words.regex_replace("a", r"\3"))),
    ("regex_replace_first of no expression", |s| no(s.words.regex_replace_first("(", ""))),
    ("bytes_to_string of wider integers", |s| no(s.ints.erased().bytes_to_string())),
    ("bytes_to_string of a scalar", |s| no(s.ints.cast::<u8>()?.reduce_max(..)?.bytes_to_string())),
    ("strip_prefix of another shape", |s| no(s.words.strip_prefix(&s.other_words))),
    ("strip_suffix by a number", |s| no(s.words.strip_suffix(1))),
    ("nth_field of an empty separator", |s| no(s.words.nth_field("", 0))),
    ("nth_field of no field, on the device", |s| read(s.words.nth_field(" ", 9))),
    ("nth_field_or of a limit of 0", |s| no(s.words.nth_field_or(max_splits(" ", 0), 0, ""))),
    ("nth_field_or a number", |s| no(s.words.nth_field_or(" ", 0, 1))),
    ("nth_field_or a tensor", |s| no(s.words.nth_field_or(" ", 0, &s.words))),
    ("from_bytes of a byte", |s| no(RaggedTensor::<Str>::from_bytes(1u8, &s.words.device()))),
    ("to_strings of other bytes", |s| no(RaggedTensor::<Str>::from_bytes([b"\xFF"], &s.words.device())?.to_strings())),
    ("to_strings_async of a failed check", |s| {
        no(pollster::block_on(strings(&s.words.substr(5, 1)?)?.to_strings_async()))
    }),
    ("to_strings_lossy of a failed check", |s| no(strings(&s.words.substr(5, 1)?)?.to_strings_lossy())),
    ("string_ngrams of width 0", |s| no(s.words.string_ngrams(0, " "))),
    ("string_ngrams of a list of widths", |s| no(s.words.string_ngrams(padded_with(0, "<", ">"), " "))),
    ("string_to_number of no float", |s| no(s.words.string_to_number(DType::F32))),
    ("string_to_number of no integer", |s| read(s.words.string_to_number(DType::I64))),
    ("string_prefix_to_number of no integer", |s| read(s.words.string_prefix_to_number(DType::I64))),
    ("string_prefix_to_number of a typed tensor", |s| no(strings(&s.words)?.string_prefix_to_number::<f32>())),
    ("equal of strings in other rows", |s| no(strings(&s.words)?.equal(&strings(&s.other_words)?))),
    ("equal of strings in other rows, on the device", |s| {
        let some = |w: &Tensor| w.boolean_mask(&w.string_length()?.greater(0)?);
        read(some(&s.words)?.equal(&some(&s.other_words)?))
    }),
    ("substr outside, on the device", |s| read(s.words.substr(5, 1))),
    ("decode_base64 of other text, on the device", |s| read(s.words.decode_base64())),
    ("unicode_encode of no code point, on the device", |s| {
        read(s.ints.erased().subtract(9)?.unicode_encode(strict(Encoding::Utf8)))
    }),
    ("string_format", |s| no(s.t.string_format("{} {}"))),
    ("string_join", |s| no(Tensor::string_join(&[&s.words, &s.other_words], ""))),
    ("unsorted_segment_join", |s| no(s.words.unsorted_segment_join(&s.words, 3, ""))),
    ("combinations", |s| no(s.x.combinations(-1, 1))),
    ("combinations of too many", |s| {
        let long = RaggedTensor::from_nested(vec![(0..100_000).collect::<Vec<i32>>(), vec![]], &s.device)?;
        no(long.combinations(2, 1)?[0].to_host())
    }),
    ("argcombinations", |s| no(s.x.argcombinations(2, 7))),
    ("cartesian", |s| no(Tensor::cartesian(&[&s.t, s.dense.erased()], 1))),
    ("cartesian_nested", |s| no(Tensor::cartesian_nested(&[&s.t, s.dense.erased()], 1))),
    ("from_shards", |s| no(Tensor::from_shards(&[s.dense.erased(), &s.t], ShardStrategy::Mod))),
    ("batch_gather_with_default", |s| no(s.t.batch_gather_with_default(&s.words, 0))),
    ("batch_gather_with_default of a vector", |s| no(s.t.batch_gather_with_default(&s.ints, &s.t.flat_values()?))),
    ("cross", |s| no(Tensor::cross([CrossInput::from(&s.t)]))),
    ("cross_hashed", |s| no(Tensor::cross_hashed([&s.ints], -1))),
    ("SparseTensor::cross", |_| no(SparseTensor::cross([] as [CrossInput; 0]))),
    ("SparseTensor::cross_hashed", |_| no(SparseTensor::cross_hashed([] as [CrossInput; 0], 3))),
    ("split_where", |s| no(s.x.split_where(&s.x))),
    ("run_lengths", |s| no(s.t.reduce_sum(..)?.run_lengths())),
    ("sort_by", |s| no(s.x.sort_by(&s.other_rows))),
    ("sort_by of no key", |s| no(s.x.sort_by(SortKeys::from([&s.x; 0])))),
    ("sort_by of keys of two ranks", |s| no(s.x.sort_by((&s.x, &s.x.reduce_sum(1)?)))),
    ("group_by_key", |s| no(s.x.group_by_key(&s.other_rows))),
    ("group_by_key of no key", |s| no(s.x.group_by_key([&s.x; 0]))),
    ("group_by_key of keys of two ranks", |s| no(s.x.group_by_key((&s.x, &s.x.reduce_sum(1)?)))),
    ("searchsorted", |s| no(s.t.searchsorted(&s.words))),
    ("set_union", |s| no(s.t.set_union(&s.words))),
    ("set_intersection", |s| no(s.t.set_intersection(&s.words))),
    ("set_difference", |s| no(s.t.set_difference(&s.words))),
    ("shift", |s| no(s.x.shift(1, 0.0, 7))),
    ("roll", |s| no(s.x.roll(1i64 << 40, 1))),
    ("shuffle", |s| no(s.x.shuffle(Seed(1), 7))),
    ("sample", |s| no(s.x.sample(-1, Seed(1), 1))),
    ("sliding_windows", |s| no(s.x.sliding_windows(0, 1))),
    ("pad_rows", |s| no(s.x.pad_rows(-1, 0.0, 1))),
    ("nth_or_skip", |s| no(s.x.flat_values()?.nth_or_skip(0))),
    ("transpose_rows", |s| no(s.x.flat_values()?.transpose_rows())),
    ("zip", |s| no(Tensor::zip(&[&s.t, &s.words]))),
    ("unzip", |s| no(s.x.unzip())),
    ("bincount of bins", |s| no(s.ints.bincount(1, Bins::from(-1)))),
    ("stack_dynamic_partitions", |s| no(s.x.stack_dynamic_partitions(&s.ints, -1))),
    ("safe_embedding_lookup_sparse", |s| no(s.x.safe_embedding_lookup_sparse(&s.ints, ragged::opt::Combiner::Sum))),
    ("sparse_segment_sum", |s| no(s.t.sparse_segment_sum(&s.words, &s.words))),
    ("sparse_segment_sum of pairs", |s| no(s.t.sparse_segment_sum(&s.ints, &s.words))),
    ("sparse_segment_mean", |s| no(s.t.sparse_segment_mean(&s.words, &s.words))),
    ("sparse_segment_sqrt_n", |s| no(s.t.sparse_segment_sqrt_n(&s.words, &s.words))),
    ("row_splits_to_segment_ids", |s| no(s.words.row_splits_to_segment_ids())),
    ("segment_ids_to_row_splits", |s| no(s.words.segment_ids_to_row_splits())),
    ("segment_ids_to_row_splits_of", |s| no(s.words.segment_ids_to_row_splits_of(3))),
    ("map_rows: an operator of rows", |s| no(s.x.erased().map_rows(|row| row.sort(4)))),
    ("map_rows: other rows, on the device", |s| {
        let some = |x: &Tensor, least: f64| x.boolean_mask(&x.greater(least)?);
        let (a, b) = (some(&s.t, 0.5)?, some(&s.t, 1.5)?);
        read(Tensor::map_rows_of(&[&a, &b], |rows| &rows[0] + &rows[1]))
    }),
    ("map_rows: a negative", |s| no(s.flags.erased().map_rows(|row| -row))),
    ("map_rows: not", |s| no(s.t.map_rows(|row| !row))),
    ("at", |s| no(s.x.erased().map_rows(|row| row.at(7)).and_then(|y| y.to_host()))),
    ("string_to_number of a typed tensor", |s| no(strings(&s.words)?.string_to_number::<f32>())),
    ("map_rows_of", |_| no(Tensor::map_rows_of(&[] as &[Tensor], |rows| Ok(rows[0].clone())))),
    ("scan_rows of a typed tensor", |s| {
        no(s.x.scan_rows([] as [&Tensor; 0], |states, _| Ok((states.to_vec(), vec![]))))
    }),
    ("scan_rows_of", |s| {
        no(Tensor::scan_rows_of(&[] as &[Tensor], [&s.dense], |states, _| Ok((states.to_vec(), vec![]))))
    }),
    ("map_flat_values_of", |_| no(Tensor::map_flat_values_of(&[] as &[Tensor], |all| Ok(all[0].clone())))),
    ("strings that are numbers", |s| no(RaggedTensor::<Str>::try_from(s.t.clone()))),
];

/// What only a GPU refuses: host steps.
pub const OF_A_GPU: &[(&str, Misuse)] = &[
    ("as_string", |s| no(s.t.as_string())),
    ("as_string_with", |s| no(s.t.as_string_with(&NumberFormat::default().precision(3)))),
    ("regex_full_match", |s| no(s.words.regex_full_match("a"))),
    ("regex_replace", |s| no(s.words.regex_replace("a", "b"))),
    ("regex_replace_first", |s| no(s.words.regex_replace_first("a", "b"))),
];
