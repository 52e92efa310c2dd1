//! The `gather` family.

use ragged::opt::{Combiner, GatherIndices, LookupIds, batched, weighted};
use ragged::{Device, Result, Tensor, s};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

fn combiner(case: &Case) -> Combiner {
    match case.attr_str("combiner") {
        Some("sum") => Combiner::Sum,
        None | Some("mean") => Combiner::Mean,
        Some("sqrtn") => Combiner::SqrtN,
        Some(other) => panic!("no combiner {other}"),
    }
}

/// The mean of the embeddings of each row's words and of its pairs of neighbouring words, with markers at both ends.
fn bigrams(words: &Tensor, table: &Tensor, buckets: i64) -> Result<Tensor> {
    let embeddings = |x: &Tensor| table.embedding_lookup(&x.to_hash_bucket_fast(buckets)?);
    let marker = words.fill_rows(1, "#")?;
    let padded = Tensor::concat(&[&marker, words, &marker], 1)?;
    let pairs = Tensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
    Tensor::concat(&[&embeddings(words)?, &embeddings(&pairs)?], 1)?.reduce_mean(1)
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let inputs = case.tensors(device)?;
    let (x, at) = (&inputs[0], &inputs[1]);
    Ok(match case.op.as_str() {
        "gather" => {
            let (axis, batch_dims) = (case.attr_i64("axis"), case.attr_i64("batch_dims").unwrap_or(0));
            x.gather(GatherIndices::from(at).axis(axis).batch_dims(batch_dims))?.into()
        }
        "batch_gather" => x.batch_gather(at)?.into(),
        "gather_nd" => x.gather_nd(batched(at, case.attr_i64("batch_dims").unwrap_or(0)))?.into(),
        "embedding_lookup" => x.embedding_lookup(at)?.into(),
        "embedding_lookup_sparse" => x.embedding_lookup_sparse(at, combiner(case))?.into(),
        "safe_embedding_lookup_sparse" => {
            let ids = LookupIds::from(at).default(case.attr_i64("default_id"));
            x.safe_embedding_lookup_sparse(ids, combiner(case))?.into()
        }
        "embedding_lookup_sparse_weighted" => {
            x.embedding_lookup_sparse(weighted(at, &inputs[2]), combiner(case))?.into()
        }
        "seed_bigram_pipeline" => bigrams(x, at, case.attr_i64("num_buckets").expect("num_buckets"))?.into(),
        other => return Got::unsupported(other),
    })
}
