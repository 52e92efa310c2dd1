//! Candidates per query of a search engine: shares, the best ones, and a summary of each query.
//!
//!     cargo run --example ranking

use ragged::{Device, RaggedTensor, Result};

fn main() -> Result<()> {
    let device = Device::best()?;
    // Three queries with 4, no and 2 candidates; of each candidate the document, its score, and two features.
    let documents = RaggedTensor::from_nested([vec![17, 4, 99, 8], vec![], vec![3, 17]], &device)?;
    let scores = RaggedTensor::from_nested([vec![0.5f32, 3.0, -2.0, 2.0], vec![], vec![1.0, 1.0]], &device)?;
    let features = RaggedTensor::from_nested(
        [[1.0f32, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5], [2.0, 0.0], [0.0, 4.0]],
        &device,
    )?;
    let features = scores.with_flat_values(&features)?;

    // Softmax over the candidates of each query: a query's shares depend on its own candidates alone.
    let shares = scores.softmax(1)?;
    // A query with fewer than two candidates keeps what it has.
    let (_, places) = scores.top_k(2, 1)?;
    let best = documents.batch_gather(&places)?;
    // Attention: features weighted by the shares, summed up a query.
    let weighted = (&shares.expand_dims(-1)? * &features)?;
    let pooled = weighted.reduce_sum(1)?;
    // Candidates with a positive score; a query may have none.
    let relevant = documents.boolean_mask(&scores.greater(0.0)?)?;

    println!("shares    {shares}");
    println!("best      {best}");
    println!("relevant  {relevant}");
    println!("pooled    {pooled}");
    assert_eq!(best.to_vec()?, [4, 8, 3, 17]);
    assert_eq!(pooled.to_nested_vec::<Vec<Vec<f32>>>()?[1..], [vec![0.0, 0.0], vec![1.0, 2.0]]);
    Ok(())
}
