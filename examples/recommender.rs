//! Recommendations from histories: the last ten items that a user liked, their weighted mean embedding, and the items
//! nearest to it.
//!
//!     cargo run --example recommender

use ragged::{Device, RaggedTensor, Result, opt, s};

/// Items per user that count.
pub const LAST: i64 = 10;

/// The `k` items of the catalogue that fit each user best, with their scores, both of shape `[users, k]`.
///
/// `items` and `ratings` are histories of shape `[users, (items)]`, oldest first; ratings below 3 are left out, the others
/// weigh as much as they are. `catalogue` has an embedding per item. A user without any history gets NaN as scores.
///
/// # Errors
/// At the read: an item that the catalogue does not have.
pub fn recommend(
    items: &RaggedTensor<i32>,
    ratings: &RaggedTensor<f32>,
    catalogue: &RaggedTensor<f32>,
    k: u32,
) -> Result<(RaggedTensor<i64>, RaggedTensor<f32>)> {
    let liked = ratings.greater_equal(3.0)?;
    let items = items.boolean_mask(&liked)?.slice(s![.., -LAST..])?;
    let weights = ratings.boolean_mask(&liked)?.slice(s![.., -LAST..])?;
    let weighted = (&catalogue.gather(&items)? * &weights.expand_dims(-1)?)?;
    let users = (&weighted.reduce_sum(1)? / &weights.reduce_sum(opt::keep(1))?)?;
    let (scores, best) = users.matmul(catalogue.t())?.top_k(k, 1)?;
    Ok((best, scores))
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let catalogue = RaggedTensor::dense([1.0f32, 0.0, 0.8, 0.6, 0.0, 1.0, -1.0, 0.0], &[4, 2], &device)?;
    let items = RaggedTensor::from_nested(vec![vec![0, 1, 3], vec![2]], &device)?;
    let ratings = RaggedTensor::from_nested(vec![vec![5.0, 4.0, 1.0], vec![3.0]], &device)?;
    let (best, scores) = recommend(&items, &ratings, &catalogue, 2)?;
    println!("items   {best}");
    println!("scores  {scores}");
    assert_eq!(best.to_vec()?, [0, 1, 2, 1]);
    Ok(())
}
