//! Strings, and the text pipeline of `ragged-bench`.

use ragged::opt::{Base64, Encoding, any_of, nonempty};
use ragged::{Result, Tensor, s};

use super::{Program, one};
use crate::sample::Sample;

/// The means of the embeddings of words, and of pairs of neighbouring words, per row.
fn embedded(i: &Sample) -> Result<Tensor> {
    let words = i.words.reduce_join(1, " ")?.string_split(nonempty(any_of(" \t")))?;
    let of_words = i.table.embedding_lookup(&words.to_hash_bucket_fast(50)?)?;
    let marker = words.fill_rows(1, "#")?;
    let padded = Tensor::concat(&[&marker, &words, &marker], 1)?;
    let pairs = Tensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
    let of_pairs = i.table.embedding_lookup(&pairs.to_hash_bucket_fast(50)?)?;
    Tensor::concat(&[&of_words, &of_pairs], 1)?.reduce_mean(1)
}

pub const PROGRAMS: &[Program] = &[
    ("string_split", |i| one(i.words.string_split(" "))),
    ("string_split of lines", |i| one(i.words.reduce_join(1, " ")?.string_split(nonempty(" ")))),
    ("bytes_split", |i| one(i.words.bytes_split())),
    ("string_join", |i| one(Tensor::string_join(&[&i.words, &i.words.reverse(1)?], "+"))),
    ("reduce_join", |i| one(i.words.reduce_join(1, ", "))),
    ("unsorted_segment_join", |i| one(i.words.unsorted_segment_join(&i.ids.floormod(3)?, 3, "-"))),
    ("string_ngrams", |i| one(i.words.string_ngrams(2, "-"))),
    ("substr", |i| one(i.words.substr(1, 2))),
    ("string_length", |i| one(i.words.string_length())),
    ("string_upper", |i| one(i.words.string_upper())),
    ("string_strip", |i| one(i.words.string_strip())),
    ("as_string", |i| one(i.ids.as_string())),
    ("string_prefix_to_number", |i| one(i.ids.as_string()?.string_prefix_to_number(ragged::DType::I32))),
    ("string_to_number", |i| one(i.ids.as_string()?.string_to_number(ragged::DType::I32))),
    ("fingerprint64", |i| one(i.words.fingerprint64())),
    ("to_hash_bucket_strong", |i| one(i.words.to_hash_bucket_strong(100, [1, 2]))),
    ("unicode_decode", |i| one(i.words.unicode_decode(Encoding::Utf8))),
    ("encode_base64", |i| one(i.words.encode_base64(Base64::Unpadded))),
    ("equal", |i| one(i.words.equal(&i.words.reverse(1)?))),
    ("concat in rows", |i| one(Tensor::concat(&[&i.words, &i.words], 1))),
    ("slice in rows", |i| one(i.words.slice(s![.., 1..]))),
    ("a sort of lengths", |i| one(i.words.string_length()?.argsort(1))),
    ("text pipeline", |i| one(embedded(i))),
];
