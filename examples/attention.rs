//! Attention over sequences of different lengths: no padding, no mask.
//!
//!     cargo run --example attention

use ragged::{Device, RaggedTensor, Result};

/// Scaled dot-product attention within each sequence; all three have shape `[sequences, (tokens), features]`.
///
/// # Errors
/// Different numbers of sequences, tokens or features.
pub fn attention(
    queries: &RaggedTensor<f32>,
    keys: &RaggedTensor<f32>,
    values: &RaggedTensor<f32>,
) -> Result<RaggedTensor<f32>> {
    let features = queries.shape()[2].unwrap_or(1) as f32;
    // Of shape [sequences, (tokens), (tokens)]: each sequence has scores of its own tokens only.
    let scores = (&queries.matmul(keys.t())? * features.sqrt().recip())?;
    scores.softmax(2)?.matmul(values)
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let tokens = RaggedTensor::dense([1.0f32, 0.0, 0.0, 2.0, 3.0, 3.0, 0.5, 0.5], &[4, 2], &device)?;
    // Sequences of three tokens, none, and one.
    let tokens = RaggedTensor::from_row_splits(&tokens, [0, 3, 3, 4], &device)?;
    let attended = attention(&tokens, &tokens, &tokens)?;
    println!("{attended}");
    assert_eq!(attended.shape(), tokens.shape());
    assert_eq!(attended.to_vec()?[6..], [0.5, 0.5]);
    Ok(())
}
