//! The jobs of `examples/` against plain loops, on every device.

mod common;

#[path = "../examples/attention.rs"]
#[allow(dead_code, reason = "an example's main")]
mod attention;
#[path = "../examples/graph_layer.rs"]
#[allow(dead_code, reason = "an example's main")]
mod graph_layer;
#[path = "../examples/particle_events.rs"]
#[allow(dead_code, reason = "an example's main")]
mod particle_events;
#[path = "../examples/recommender.rs"]
#[allow(dead_code, reason = "an example's main")]
mod recommender;
#[path = "../examples/sessions.rs"]
#[allow(dead_code, reason = "an example's main")]
mod sessions;
#[path = "../examples/stream.rs"]
#[allow(dead_code, reason = "an example's main")]
mod stream;

use std::ops::Range;

use ragged::RaggedTensor;

/// Numbers without a pattern, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Lengths of rows: many short ones, some without values, one that is long.
fn lengths(random: &mut Random, rows: usize) -> Vec<usize> {
    (0..rows).map(|row| if row == rows / 2 { 700 } else { random.below(9) as usize }).collect()
}

fn nested<T>(lengths: &[usize], mut value: impl FnMut() -> T) -> Vec<Vec<T>> {
    lengths.iter().map(|&len| (0..len).map(|_| value()).collect()).collect()
}

/// A number of that range in steps of a thousandth of it.
fn float(random: &mut Random, range: Range<f32>) -> f32 {
    range.start + (range.end - range.start) * random.below(1000) as f32 / 1000.0
}

#[track_caller]
fn assert_near(what: &str, got: &[f32], want: &[f32]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (k, (&a, &b)) in got.iter().zip(want).enumerate() {
        let is_near = a == b || (a - b).abs() <= 1e-4 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
        assert!(is_near, "{what}: number {k} is {a}, not {b}");
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = row.iter().map(|x| (x - largest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

#[test]
fn particle_events() {
    let random = &mut Random(1);
    let lengths = lengths(random, 300);
    let [pt, eta, phi] = [10.0..80.0f32, -3.0..3.0, -3.1..3.1].map(|of| nested(&lengths, || float(random, of.clone())));
    let (mut is_pair, mut masses) = (Vec::new(), Vec::new());
    for event in 0..lengths.len() {
        let mut good: Vec<usize> =
            (0..lengths[event]).filter(|&k| pt[event][k] > 20.0 && eta[event][k].abs() < 2.4).collect();
        good.sort_by(|&a, &b| pt[event][b].total_cmp(&pt[event][a]));
        is_pair.push(good.len() >= 2);
        if let [a, b, ..] = good[..] {
            let angles = (eta[event][a] - eta[event][b]).cosh() - (phi[event][a] - phi[event][b]).cos();
            masses.push((2.0 * pt[event][a] * pt[event][b] * angles).sqrt());
        }
    }
    for (name, device) in common::devices() {
        let of = |rows: &Vec<Vec<f32>>| RaggedTensor::from_nested(rows.clone(), &device).expect("uploads");
        let muons = particle_events::Muons { pt: of(&pt), eta: of(&eta), phi: of(&phi) };
        let (pairs, found) = particle_events::masses(&muons).expect("recorded");
        assert_eq!(pairs.to_vec().expect("read"), is_pair, "{name}");
        assert_near(&name, &found.to_vec().expect("read"), &masses);
    }
}

#[test]
fn sessions() {
    let random = &mut Random(2);
    let mut times = nested(&lengths(random, 300), || random.below(40_000) as i64);
    times.iter_mut().for_each(|row| row.sort_unstable());
    let (mut counts, mut visits, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for row in &times {
        let of_user: Vec<&[i64]> = row.chunk_by(|a, b| b - a <= sessions::GAP).collect();
        counts.push(of_user.len() as i64);
        visits.extend(of_user.iter().map(|session| session.len() as i64));
        seconds.extend(of_user.iter().map(|session| session[session.len() - 1] - session[0]));
    }
    for (name, device) in common::devices() {
        let of_users = RaggedTensor::from_nested(times.clone(), &device).expect("uploads");
        let found = sessions::sessions(&of_users).expect("recorded");
        assert_eq!(found.counts.to_vec().expect("read"), counts, "{name}");
        assert_eq!(found.visits.to_vec().expect("read"), visits, "{name}");
        assert_eq!(found.seconds.to_vec().expect("read"), seconds, "{name}");
    }
}

#[test]
fn graph_layer() {
    const WIDTH: usize = 8;
    let random = &mut Random(3);
    let lengths = lengths(random, 200);
    let neighbours = nested(&lengths, || random.below(200) as i32);
    let features: Vec<f32> = (0..lengths.len() * WIDTH).map(|_| float(random, -1.0..1.0)).collect();
    let of = |node: usize| &features[node * WIDTH..][..WIDTH];
    let (mut mean, mut max, mut attention) = (Vec::new(), Vec::new(), Vec::new());
    for (node, row) in neighbours.iter().enumerate() {
        let theirs: Vec<&[f32]> = row.iter().map(|&n| of(n as usize)).collect();
        let scores: Vec<f32> = theirs.iter().map(|x| dot(x, of(node))).map(|s| s.max(0.2 * s)).collect();
        let shares = softmax(&scores);
        for k in 0..WIDTH {
            let column = theirs.iter().map(|x| x[k]);
            mean.push(column.clone().sum::<f32>() / row.len() as f32);
            max.push(column.clone().fold(f32::MIN, f32::max));
            attention.push(column.zip(&shares).map(|(x, share)| x * share).sum());
        }
    }
    for (name, device) in common::devices() {
        let features = RaggedTensor::dense(&features, &[lengths.len(), WIDTH], &device).expect("uploads");
        let neighbours = RaggedTensor::from_nested(neighbours.clone(), &device).expect("uploads");
        let found = graph_layer::layer(&features, &neighbours).expect("recorded");
        assert_near(&name, &found.mean.to_vec().expect("read"), &mean);
        assert_near(&name, &found.max.to_vec().expect("read"), &max);
        assert_near(&name, &found.attention.to_vec().expect("read"), &attention);
    }
}

#[test]
fn recommender() {
    const ITEMS: usize = 50;
    const WIDTH: usize = 4;
    const BEST: usize = 5;
    let random = &mut Random(4);
    let lengths: Vec<usize> = lengths(random, 100);
    let items = nested(&lengths, || random.below(ITEMS as u64) as i32);
    let ratings = nested(&lengths, || 1.0 + random.below(5) as f32);
    let catalogue: Vec<f32> = (0..ITEMS * WIDTH).map(|_| float(random, -1.0..1.0)).collect();
    let (mut users, mut scores) = (Vec::new(), Vec::new());
    for (items, ratings) in items.iter().zip(&ratings) {
        let liked: Vec<(i32, f32)> =
            items.iter().copied().zip(ratings.iter().copied()).filter(|x| x.1 >= 3.0).collect();
        let last = &liked[liked.len().saturating_sub(recommender::LAST as usize)..];
        let weight: f32 = last.iter().map(|x| x.1).sum();
        let number = |k: usize| last.iter().map(|x| catalogue[x.0 as usize * WIDTH + k] * x.1).sum::<f32>() / weight;
        let user: Vec<f32> = (0..WIDTH).map(number).collect();
        let mut all: Vec<f32> = catalogue.chunks(WIDTH).map(|item| dot(item, &user)).collect();
        users.push(user);
        all.sort_by(|a, b| b.total_cmp(a));
        scores.extend_from_slice(&all[..BEST]);
    }
    for (name, device) in common::devices() {
        let items = RaggedTensor::from_nested(items.clone(), &device).expect("uploads");
        let ratings = RaggedTensor::from_nested(ratings.clone(), &device).expect("uploads");
        let table = RaggedTensor::dense(&catalogue, &[ITEMS, WIDTH], &device).expect("uploads");
        let (best, found) = recommender::recommend(&items, &ratings, &table, BEST as u32).expect("recorded");
        let found = found.to_vec().expect("read");
        assert_near(&name, &found, &scores);
        // Scores that are nearly equal may change places: each item has the score beside it.
        for (k, (&item, &score)) in best.to_vec().expect("read").iter().zip(&found).enumerate() {
            let own = dot(&catalogue[item as usize * WIDTH..][..WIDTH], &users[k / BEST]);
            assert_near(&name, &[score], &[own]);
        }
    }
}

#[test]
fn attention() {
    const WIDTH: usize = 8;
    let random = &mut Random(5);
    let lengths: Vec<usize> = (0..40).map(|row| (row * 37) % 90).collect();
    let splits = common::random::splits(&lengths.iter().map(|&len| len as u32).collect::<Vec<_>>());
    let tokens = splits[lengths.len()] as usize;
    let [q, k, v] = [0, 1, 2].map(|_| (0..tokens * WIDTH).map(|_| float(random, -1.0..1.0)).collect::<Vec<f32>>());
    let mut want = Vec::new();
    for ends in splits.windows(2) {
        let rows = |of: &Vec<f32>| {
            of[ends[0] as usize * WIDTH..ends[1] as usize * WIDTH]
                .chunks(WIDTH)
                .map(<[f32]>::to_vec)
                .collect::<Vec<_>>()
        };
        let (q, k, v) = (rows(&q), rows(&k), rows(&v));
        for query in &q {
            let scores: Vec<f32> = k.iter().map(|key| dot(query, key) / (WIDTH as f32).sqrt()).collect();
            let shares = softmax(&scores);
            want.extend((0..WIDTH).map(|at| v.iter().zip(&shares).map(|(v, share)| v[at] * share).sum::<f32>()));
        }
    }
    for (name, device) in common::devices() {
        let of = |values: &Vec<f32>| {
            let dense = RaggedTensor::dense(values, &[tokens, WIDTH], &device)?;
            RaggedTensor::from_row_splits(&dense, &splits, &device)
        };
        let [q, k, v] = [&q, &k, &v].map(|values| of(values).expect("uploads"));
        let found = attention::attention(&q, &k, &v).and_then(|t| t.to_vec()).expect("read");
        assert_near(&name, &found, &want);
    }
}

#[test]
fn stream() {
    let random = &mut Random(6);
    for (name, device) in common::devices() {
        for rows in [0, 1, 7, 300] {
            let batch: Vec<Vec<f32>> = nested(&lengths(random, rows.max(1))[..rows], || float(random, 1.0..2.0));
            let of_row = |row: &Vec<f32>| {
                let mean = row.iter().sum::<f32>() / row.len() as f32;
                row.iter().map(|x| (x - mean) / mean).fold(f32::MIN, f32::max)
            };
            let want: Vec<f32> = batch.iter().map(of_row).collect();
            let batch = RaggedTensor::from_nested(batch, &device).expect("uploads");
            assert_near(&name, &stream::peaks(&batch).and_then(|t| t.to_vec()).expect("read"), &want);
        }
    }
}
