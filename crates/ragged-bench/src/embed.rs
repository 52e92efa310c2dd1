//! The text pipeline: from a text's bytes to the mean embedding of each line.
//!
//! The benchmark `text_loop` compiles this file too.

use ragged::opt::{any_of, nonempty};
use ragged::{RaggedTensor, Str, Tensor, s};

/// Bytes that separate words.
pub const SPACES: &[u8] = b" \t\r\x0b\x0c";

/// Words of a text by lines, and the mean embedding of each line.
pub struct Embedded {
    /// The words: strings of shape `[lines, (words)]`.
    pub words: Tensor,
    /// The means, of shape `[lines, width]`.
    pub means: Tensor,
}

/// Records the text pipeline: lines of words from one buffer of bytes, the embeddings of words and of pairs of
/// neighbouring words, and their mean per line.
///
/// # Errors
/// The text exceeds the limits of the device.
pub fn embed(text: &[u8], table: &Tensor) -> ragged::Result<Embedded> {
    let buckets = table.shape()[0].unwrap_or(1) as i64;
    let text = RaggedTensor::<Str>::dense([text], &[1], &table.device())?;
    let lines = text.erased().string_split("\n")?.values()?;
    let words = lines.string_split(nonempty(any_of(SPACES)))?;

    let word_embeddings = table.embedding_lookup(&words.to_hash_bucket_fast(buckets)?)?;
    let marker = words.fill_rows(1, "#")?;
    let padded = Tensor::concat(&[&marker, &words, &marker], 1)?;
    let pairs = Tensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
    let pair_embeddings = table.embedding_lookup(&pairs.to_hash_bucket_fast(buckets)?)?;
    let means = Tensor::concat(&[&word_embeddings, &pair_embeddings], 1)?.reduce_mean(1)?;
    Ok(Embedded { words, means })
}
