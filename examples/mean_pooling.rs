//! An embedding bag: the mean embedding of each sentence's tokens.
//!
//!     cargo run --example mean_pooling

use ragged::{Device, RaggedTensor, opt};

/// Words of the vocabulary, and numbers of an embedding.
const TABLE: [usize; 2] = [6, 3];

fn main() -> ragged::Result<()> {
    let device = Device::best()?;
    let numbers: Vec<f32> = (0..TABLE[0] * TABLE[1]).map(|k| k as f32 / 2.0).collect();
    let table = RaggedTensor::dense(numbers, &TABLE, &device)?;
    // Token numbers; the second sentence has none.
    let sentences = RaggedTensor::from_nested([vec![0, 2, 2, 5], vec![], vec![4]], &device)?;

    // The embeddings of each sentence form a ragged row. They are never stored: the mean reads the table.
    let embeddings = table.gather(&sentences)?;
    println!("{} sentences become {}", sentences.shape_text(), embeddings.shape_text());
    let means = embeddings.reduce_mean(1)?;
    println!("\nkernels of the read of the means:\n{}", means.explain()?);
    println!("means, NaN for a sentence without tokens:\n  {means}");

    // The same in one call, with zeros instead.
    let pooled = table.embedding_lookup_sparse(&sentences, opt::Combiner::Mean)?;
    println!("pooled:\n  {pooled}");
    assert_eq!(pooled.to_vec()?[3..], [0.0, 0.0, 0.0, 6.0, 6.5, 7.0]);
    Ok(())
}
