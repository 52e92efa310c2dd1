//! A recommender: the next item of a user, from the items before it.
//!
//! ```sh
//! cargo run --release -p ragged-nn --example next_item -- [--small] [CURVE.svg]
//! ```
//!
//! Histories are generated: users and items have tastes that the model does not see, and some items are popular with
//! everyone. A history is a ragged row of items; the mean of their vectors is the user. The score of an item is the product
//! of its vector and the user's, plus a number of the item's own. Training compares the right item with items drawn at
//! random (sampled softmax). The last item of each history is held out; the hit rate is the share of users who have it among
//! the ten items with the highest scores, next to that of the ten most popular items. Items of the history do not count.

mod chart;

use std::error::Error;

use chart::Curve;
use ragged::{Device, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{Adam, Embedding, Initializer, Training, Variables, sparse_categorical_cross_entropy_with_logits};

const WIDTH: usize = 16;
const TASTES: usize = 4;
/// Items drawn at random beside the right one.
const OTHERS: usize = 31;
const BATCH: usize = 128;
const BEST: usize = 10;

/// The score of candidates, `[users, candidates]` or the same ones for all users, `[1, candidates]`.
fn scores(v: &Variables, histories: &Tensor, candidates: &Tensor, items: usize) -> Result<Tensor> {
    let users = Embedding::new("read", items, WIDTH).call(v, histories)?.reduce_mean(1)?.expand_dims(1)?;
    let vectors = Embedding::new("items", items, WIDTH).call(v, candidates)?;
    let own = Embedding::new("own", items, 1).initializer(Initializer::Zeros).call(v, candidates)?;
    users.multiply(&vectors)?.reduce_sum(2)?.add(&own.reduce_sum(2)?)
}

/// Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    /// A number from 0 to 1, without 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    fn taste(&mut self) -> [f64; TASTES] {
        std::array::from_fn(|_| 2.0 * self.uniform() - 1.0)
    }
}

/// The items of each user, each at most once.
fn histories(users: usize, items: usize, random: &mut Random) -> Vec<Vec<i32>> {
    let tastes: Vec<[f64; TASTES]> = (0..items).map(|_| random.taste()).collect();
    let popularity: Vec<f64> = (0..items).map(|_| -random.uniform().max(0.01).ln()).collect();
    let history = |random: &mut Random| {
        let user = random.taste();
        let product = |item: &[f64; TASTES]| user.iter().zip(item).map(|(a, b)| a * b).sum::<f64>();
        let mut weights: Vec<f64> =
            tastes.iter().zip(&popularity).map(|(item, popular)| popular * (4.0 * product(item)).exp()).collect();
        // Most histories are short, a few long.
        let length = (5.0 * (1.0 - random.uniform()).powf(-1.0 / 1.5)).min(items as f64 / 4.0) as usize;
        let mut history = Vec::new();
        for _ in 0..length {
            let mut rest = random.uniform() * weights.iter().sum::<f64>();
            let drawn = weights.iter().position(|weight| {
                rest -= weight;
                rest < 0.0
            });
            let Some(item) = drawn else { continue };
            weights[item] = 0.0;
            history.push(item as i32);
        }
        history
    };
    (0..users).map(|_| history(random)).filter(|history| history.len() >= 3).collect()
}

/// For each history a right item, drawn from it, and the others; the rest of the history; the position of the right item.
fn batch(histories: &[&[i32]], items: usize, random: &mut Random, device: &Device) -> Result<[Tensor; 3]> {
    let (mut rests, mut candidates) = (Vec::new(), Vec::new());
    for history in histories {
        let mut rest = history.to_vec();
        let right = rest.swap_remove(random.below(rest.len()));
        let mut of = [right; OTHERS + 1];
        of[1..].fill_with(|| random.below(items) as i32);
        rests.push(rest);
        candidates.push(of);
    }
    let labels = RaggedTensor::from_nested(vec![0; histories.len()], device)?.into_erased();
    let rests = RaggedTensor::from_nested(rests, device)?.into_erased();
    Ok([rests, RaggedTensor::from_nested(candidates, device)?.into_erased(), labels])
}

/// Whether the item is among the best ones that are not in the history.
fn is_hit(scores: &[f32], history: &[i32], item: i32) -> bool {
    let own = scores[item as usize];
    let is_better = |other: &usize| scores[*other] > own && !history.contains(&(*other as i32));
    (0..scores.len()).filter(is_better).count() < BEST
}

/// The hit rates of the model and of the most popular items; and the mean loss of each epoch.
pub fn hit_rates(users: usize, items: usize, epochs: usize, device: &Device) -> Result<([f64; 2], Vec<f32>)> {
    let mut random = Random(1);
    let all = histories(users, items, &mut random);
    let values: usize = all.iter().map(Vec::len).sum();
    println!("{} users, {items} items, {values} items of histories", all.len());
    let (train, held_out): (Vec<&[i32]>, Vec<i32>) =
        all.iter().map(|history| (&history[..history.len() - 1], history[history.len() - 1])).unzip();

    let mut v = Variables::new(device, Seed(7));
    let [x, candidates, y] = batch(&train[..BATCH.min(train.len())], items, &mut random, device)?;
    let mut step = Training::trace(&mut v, [&x, &candidates, &y], Adam::new(0.01), |v, [x, candidates, y]| {
        sparse_categorical_cross_entropy_with_logits(&scores(v, x, candidates, items)?, y)
    })?;
    let mut curve = Vec::new();
    for epoch in 1..=epochs {
        let mut losses = Vec::new();
        for users in train.chunks(BATCH) {
            let [x, candidates, y] = batch(users, items, &mut random, device)?;
            losses.push(step.run(&mut v, [&x, &candidates, &y])?);
        }
        let loss = RaggedTensor::<f32>::try_from(Tensor::stack(&losses, 0)?.reduce_mean(..)?)?.item()?;
        if epoch % 5 == 0 {
            println!("epoch {epoch}: loss {loss:.4}");
        }
        curve.push(loss);
    }

    let mut popular = vec![0f32; items];
    train.iter().copied().flatten().for_each(|&item| popular[item as usize] += 1.0);
    let candidates = RaggedTensor::dense((0..items as i32).collect::<Vec<_>>(), &[1, items], device)?;
    let mut hits = [0, 0];
    for (users, items_of) in train.chunks(BATCH).zip(held_out.chunks(BATCH)) {
        let x = RaggedTensor::from_nested(users.iter().map(|user| user.to_vec()).collect::<Vec<_>>(), device)?;
        let found = RaggedTensor::<f32>::try_from(scores(&v, x.erased(), candidates.erased(), items)?)?.to_vec()?;
        for ((scores, history), &item) in found.chunks(items).zip(users).zip(items_of) {
            hits[0] += usize::from(is_hit(scores, history, item));
            hits[1] += usize::from(is_hit(&popular, history, item));
        }
    }
    Ok((hits.map(|hits| hits as f64 / train.len() as f64), curve))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (small, paths): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg == "--small");
    if paths.len() > 1 || paths.iter().any(|path| path.starts_with('-')) {
        return Err("usage: next_item [--small] [CURVE.svg]".into());
    }
    let (users, items, epochs) = if small.is_empty() { (4000, 500, 30) } else { (500, 100, 10) };
    let ([model, popular], losses) = hit_rates(users, items, epochs, &Device::cpu())?;
    println!("             hit rate of {BEST}");
    println!("model        {:.1} %", 100.0 * model);
    println!("most popular {:.1} %", 100.0 * popular);
    if let Some(path) = paths.first() {
        // The loss of equal scores.
        let equal = f64::from(OTHERS as u32 + 1).ln();
        let curves = [
            Curve::of_steps("model", losses.into_iter().map(f64::from)),
            Curve::new("equal scores", vec![(1.0, equal), (epochs as f64, equal)]),
        ];
        chart::draw(path, ["epoch", "sampled cross-entropy"], 0.0..5.0, &curves)?;
    }
    Ok(())
}
