//! Strings: splits, joins, hashes.

use ragged::Tensor;
use ragged::opt::{any_of, descending, nonempty};

use crate::op::{Op, Subject, op};
use crate::random::Random;

pub fn pick(random: &mut Random, _: &Subject) -> Op {
    match random.below(18) {
        0 => op("words", |x, _| x.string_split(nonempty(" "))),
        1 => op("fields", |x, _| x.string_split(any_of(" a"))),
        2 => op("string_join", |x, y| Tensor::string_join(&[x, y], "-")),
        3 => op("string_join of itself", |x, _| Tensor::string_join(&[x, x], "")),
        4 => op("add", |x, y| x.add(y)),
        5 => op("equal", |x, y| x.equal(y)),
        6 => op("fingerprint64", |x, _| x.fingerprint64()),
        7 => op("to_hash_bucket_fast", |x, _| x.to_hash_bucket_fast(1000)),
        8 => op("to_hash_bucket_strong", |x, _| x.to_hash_bucket_strong(1000, [1, 2])),
        9 => op("bytes", |x, _| x.string_to_bytes()?.bytes_to_string()),
        10 => op("strip_prefix", |x, y| x.strip_prefix(&y.substr(0, 1)?)),
        11 => op("strip_suffix", |x, _| x.strip_suffix("a")),
        12 => op("nth_field_or", |x, _| x.nth_field_or(" ", 1, "-")),
        13 => op("fields between overlapping separators", |x, _| x.string_split("aba")),
        14 => op("sort", |x, _| x.sort(-1)),
        15 => op("argsort", |x, _| x.argsort(descending(-1))),
        16 => op("reduce_max", |x, _| x.reduce_max(-1)),
        _ => op("to_hash_bucket", |x, _| x.to_hash_bucket(7)),
    }
}
