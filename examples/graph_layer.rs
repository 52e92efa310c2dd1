//! A layer of a graph network: each node collects its neighbours' features by mean, by maximum, and by attention.
//!
//!     cargo run --example graph_layer

use ragged::{Device, RaggedTensor, Result};

/// What each node collects, of shape `[nodes, features]`.
pub struct Collected {
    /// Their mean; NaN without neighbours.
    pub mean: RaggedTensor<f32>,
    /// Their maximum.
    pub max: RaggedTensor<f32>,
    /// Their sum, weighted by a softmax over the products with the node's own features.
    pub attention: RaggedTensor<f32>,
}

/// Collects over `neighbours`, of shape `[nodes, (neighbours)]`: numbers of nodes, that is of rows of `features`.
///
/// # Errors
/// At the read: a number that is no row of `features`.
pub fn layer(features: &RaggedTensor<f32>, neighbours: &RaggedTensor<i32>) -> Result<Collected> {
    // Of shape [nodes, (neighbours), features]: never stored, its readers read the table.
    let theirs = features.gather(neighbours)?;
    let own = features.expand_dims(1)?;
    let scores = (&theirs * &own)?.reduce_sum(2)?.leaky_relu(0.2)?;
    let shares = scores.softmax(1)?.expand_dims(-1)?;
    Ok(Collected {
        mean: theirs.reduce_mean(1)?,
        max: theirs.reduce_max(1)?,
        attention: (&theirs * &shares)?.reduce_sum(1)?,
    })
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let features = RaggedTensor::dense([1.0f32, 0.0, 0.0, 1.0, 2.0, 2.0, -1.0, 3.0], &[4, 2], &device)?;
    let neighbours = RaggedTensor::from_nested(vec![vec![1, 2, 3], vec![0], vec![], vec![3, 3]], &device)?;
    let collected = layer(&features, &neighbours)?;
    println!("mean       {}", collected.mean);
    println!("maximum    {}", collected.max);
    println!("attention  {}", collected.attention);
    assert_eq!(collected.max.to_vec()?[..4], [2.0, 3.0, 1.0, 0.0]);
    assert_eq!(collected.attention.to_vec()?[4..], [0.0, 0.0, -1.0, 3.0]);
    Ok(())
}
