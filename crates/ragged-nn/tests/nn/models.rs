//! The models of `examples/` with generated data, on fewer rows.

use ragged::{Device, Result};

#[allow(dead_code)]
#[path = "../../examples/graph.rs"]
mod graph;
#[allow(dead_code)]
#[path = "../../examples/next_item.rs"]
mod next_item;

#[test]
fn messages_of_neighbours_beat_features_alone() -> Result<()> {
    let found: Vec<f64> = graph::accuracies(500, 40, &Device::cpu())?.iter().map(|of| of.0).collect();
    let [none, one, two] = found[..] else { panic!("{found:?}") };
    assert!(one > none + 0.1 && two > none + 0.1, "{none} without messages, {one} after one round, {two} after two");
    Ok(())
}

#[test]
fn histories_beat_the_most_popular_items() -> Result<()> {
    let ([model, popular], _) = next_item::hit_rates(500, 100, 10, &Device::cpu())?;
    assert!(model > popular + 0.05, "{model} by the model, {popular} by the most popular items");
    Ok(())
}
