//! The models of `examples/` with generated data on fewer rows, and with their built-in lines.

use ragged::{Device, Result};

use crate::devices::devices;

#[allow(dead_code)]
#[path = "../../examples/characters.rs"]
mod characters;
#[allow(dead_code)]
#[path = "../../examples/graph.rs"]
mod graph;
#[allow(dead_code)]
#[path = "../../examples/lines.rs"]
mod lines;
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

#[test]
fn characters_beat_counts_of_pairs() {
    let found = characters::trained(characters::LINES, 40, &Device::cpu()).expect("a model");
    let (_, of_held_out) = found.of_held_out[found.of_held_out.len() - 1];
    assert!(of_held_out < found.of_pairs, "{of_held_out} of held-out lines, {} of counts", found.of_pairs);
    let [first, .., last] = found.of_batches[..] else { panic!("{:?}", found.of_batches) };
    assert!(last < 0.5 * first, "{first} in the first step, {last} in the last one");
    assert!(found.drawn.iter().any(|line| line.len() > 1), "{:?}", found.drawn);
}

/// 200 steps with the same losses on every device, whose files predict the same on every other one.
#[test]
fn lines_are_told_apart() -> Result<()> {
    let all = devices();
    let runs: Vec<lines::Found> =
        all.iter().map(|device| lines::trained(lines::PLAYS, lines::ARTICLES, 200, device)).collect::<Result<_>>()?;
    let (_, accuracy) = runs[0].accuracies[59];
    let last = runs[0].losses[59];
    assert!(last < 0.1 && accuracy >= 0.75, "a loss of {last}, {accuracy} of the held-out lines");
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(runs[0].losses.len(), 200);
    for (run, other) in runs.iter().zip(all.iter().rev()) {
        assert_eq!(bits(&run.losses), bits(&runs[0].losses));
        assert_eq!(bits(&run.logits), bits(&runs[0].logits));
        let predicted = lines::predicted(&run.file, lines::PLAYS, lines::ARTICLES, other)?;
        assert_eq!(bits(&predicted), bits(&runs[0].logits), "{other:?}");
    }
    Ok(())
}
