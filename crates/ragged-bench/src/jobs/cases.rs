//! The jobs of `examples/` on random inputs of any size, each with a plain loop that computes the same numbers.
//!
//! The test `jobs` compiles this file too.

#[path = "cases/access_log.rs"]
mod access_log;
#[path = "../../../../examples/attention.rs"]
#[allow(dead_code, reason = "an example's main")]
pub mod attention_job;
#[path = "../../../../examples/graph_layer.rs"]
#[allow(dead_code, reason = "an example's main")]
mod graph_layer_job;
#[path = "../../../../examples/particle_events.rs"]
#[allow(dead_code, reason = "an example's main")]
mod particle_events_job;
#[path = "../../../../examples/recommender.rs"]
#[allow(dead_code, reason = "an example's main")]
mod recommender_job;
#[path = "../../../../examples/sessions.rs"]
#[allow(dead_code, reason = "an example's main")]
mod sessions_job;
#[path = "../../../../examples/stream.rs"]
#[allow(dead_code, reason = "an example's main")]
mod stream_job;

use std::ops::Range;
use std::rc::Rc;

use ragged::{DType, Device, Program, RaggedTensor, Result, TensorSpec};

/// A job with its inputs on a device: computes its numbers and reads them.
pub type Job = Box<dyn Fn() -> Result<Vec<f32>>>;

/// Uploads the inputs of a job to a device.
type Upload = Box<dyn Fn(&Device) -> Result<Job>>;

/// Makes a case with about the given number of values.
type Make = fn(usize) -> Case;

/// A job on inputs in host memory.
pub struct Case {
    /// Number of values of the ragged inputs.
    pub values: usize,
    /// The plain loop.
    pub plain: Box<dyn Fn() -> Vec<f32>>,
    /// Uploads the inputs.
    pub upload: Upload,
}

/// The jobs by name.
pub const ALL: [(&str, Make); 8] = [
    ("particle_events", particle_events),
    ("sessions", sessions),
    ("graph_layer", graph_layer),
    ("recommender", recommender),
    ("attention", attention),
    ("stream", stream),
    ("stream_traced", stream_traced),
    ("access_log", access_log::access_log),
];

/// Pseudorandom numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// A number in the range, in steps of a thousandth of it.
    fn float(&mut self, range: Range<f32>) -> f32 {
        range.start + (range.end - range.start) * self.below(1000) as f32 / 1000.0
    }

    fn floats(&mut self, n: usize, range: Range<f32>) -> Vec<f32> {
        (0..n).map(|_| self.float(range.clone())).collect()
    }

    /// Splits of rows of 0 to `most` values and one row of 700, with a total of about `values` values.
    fn splits(&mut self, values: usize, most: u64) -> Vec<u32> {
        let rows = (values / (most as usize / 2)).max(2);
        let mut splits = vec![0u32];
        for row in 0..rows {
            let len = if row == rows / 2 { 700 } else { self.below(most + 1) as u32 };
            splits.push(splits[row] + len);
        }
        splits
    }
}

/// The number of values under splits.
fn count(splits: &[u32]) -> usize {
    splits.last().map_or(0, |&end| end as usize)
}

/// The values of each row.
fn rows<'a, T>(splits: &'a [u32], values: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    splits.windows(2).map(|ends| &values[ends[0] as usize..ends[1] as usize])
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

fn particle_events(values: usize) -> Case {
    let mut random = Random(1);
    let splits = Rc::new(random.splits(values, 8));
    let n = count(&splits);
    let muons = Rc::new([10.0..80.0, -3.0..3.0, -3.1..3.1].map(|range| random.floats(n, range)));
    let plain = {
        let (splits, muons) = (splits.clone(), muons.clone());
        move || {
            let [pt, eta, phi] = &*muons;
            let (mut is_pair, mut masses) = (Vec::new(), Vec::new());
            for ends in splits.windows(2) {
                let is_good = |&k: &usize| pt[k] > 20.0 && eta[k].abs() < 2.4;
                let mut good: Vec<usize> = (ends[0] as usize..ends[1] as usize).filter(is_good).collect();
                good.sort_by(|&a, &b| pt[b].total_cmp(&pt[a]));
                is_pair.push(f32::from(u8::from(good.len() >= 2)));
                if let [a, b, ..] = good[..] {
                    let angles = (eta[a] - eta[b]).cosh() - (phi[a] - phi[b]).cos();
                    masses.push((2.0 * pt[a] * pt[b] * angles).sqrt());
                }
            }
            is_pair.extend(masses);
            is_pair
        }
    };
    let upload = move |device: &Device| -> Result<Job> {
        let of = |values: &Vec<f32>| RaggedTensor::from_row_splits(values, &*splits, device);
        let pt = of(&muons[0])?;
        let of_pt = |values: &Vec<f32>| pt.with_flat_values(&RaggedTensor::dense(values, &[n], device)?);
        let (eta, phi) = (of_pt(&muons[1])?, of_pt(&muons[2])?);
        let muons = particle_events_job::Muons { pt, eta, phi };
        Ok(Box::new(move || {
            let (is_pair, masses) = particle_events_job::masses(&muons)?;
            let mut all = is_pair.cast::<f32>()?.to_vec()?;
            all.extend(masses.to_vec()?);
            Ok(all)
        }))
    };
    Case { values: 3 * n, plain: Box::new(plain), upload: Box::new(upload) }
}

fn sessions(values: usize) -> Case {
    let mut random = Random(2);
    let splits = Rc::new(random.splits(values, 32));
    let n = count(&splits);
    let mut times: Vec<i64> = Vec::with_capacity(n);
    for ends in splits.windows(2) {
        let first = times.len();
        times.extend((ends[0]..ends[1]).map(|_| random.below(100_000) as i64));
        times[first..].sort_unstable();
    }
    let times = Rc::new(times);
    let plain = {
        let (splits, times) = (splits.clone(), times.clone());
        move || {
            let [mut counts, mut visits, mut seconds] = [const { Vec::new() }; 3];
            for row in rows(&splits, &times) {
                let before = visits.len();
                for session in row.chunk_by(|a, b| b - a <= sessions_job::GAP) {
                    visits.push(session.len() as f32);
                    seconds.push((session[session.len() - 1] - session[0]) as f32);
                }
                counts.push((visits.len() - before) as f32);
            }
            [counts, visits, seconds].concat()
        }
    };
    let upload = move |device: &Device| -> Result<Job> {
        let times = RaggedTensor::from_row_splits(&*times, &*splits, device)?;
        Ok(Box::new(move || {
            let found = sessions_job::sessions(&times)?;
            let mut all = Vec::new();
            for numbers in [found.counts, found.visits, found.seconds] {
                all.extend(numbers.cast::<f32>()?.to_vec()?);
            }
            Ok(all)
        }))
    };
    Case { values: n, plain: Box::new(plain), upload: Box::new(upload) }
}

fn graph_layer(values: usize) -> Case {
    const WIDTH: usize = 16;
    let mut random = Random(3);
    let splits = Rc::new(random.splits(values, 16));
    let (nodes, n) = (splits.len() - 1, count(&splits));
    let neighbours: Rc<Vec<i32>> = Rc::new((0..n).map(|_| random.below(nodes as u64) as i32).collect());
    let features = Rc::new(random.floats(nodes * WIDTH, -1.0..1.0));
    let plain = {
        let (splits, neighbours, features) = (splits.clone(), neighbours.clone(), features.clone());
        move || {
            let of = |node: usize| &features[node * WIDTH..][..WIDTH];
            let mut all = vec![0.0f32; 3 * nodes * WIDTH];
            let (mean, others) = all.split_at_mut(nodes * WIDTH);
            let (max, attention) = others.split_at_mut(nodes * WIDTH);
            for (node, row) in rows(&splits, &neighbours).enumerate() {
                let own = node * WIDTH..(node + 1) * WIDTH;
                let theirs = || row.iter().map(|&neighbour| of(neighbour as usize));
                let scores: Vec<f32> = theirs().map(|x| dot(x, of(node))).map(|s| s.max(0.2 * s)).collect();
                max[own.clone()].fill(f32::MIN);
                for (x, share) in theirs().zip(softmax(&scores)) {
                    for (k, at) in own.clone().enumerate() {
                        mean[at] += x[k];
                        max[at] = max[at].max(x[k]);
                        attention[at] += x[k] * share;
                    }
                }
                mean[own].iter_mut().for_each(|x| *x /= row.len() as f32);
            }
            all
        }
    };
    let upload = move |device: &Device| -> Result<Job> {
        let features = RaggedTensor::dense(&*features, &[nodes, WIDTH], device)?;
        let neighbours = RaggedTensor::from_row_splits(&*neighbours, &*splits, device)?;
        Ok(Box::new(move || {
            let found = graph_layer_job::layer(&features, &neighbours)?;
            let read = ragged::to_host([found.mean.erased(), found.max.erased(), found.attention.erased()])?;
            let mut all = Vec::new();
            for t in read {
                if let ragged::HostValues::F32(values) = t.values {
                    all.extend(values);
                }
            }
            Ok(all)
        }))
    };
    Case { values: n, plain: Box::new(plain), upload: Box::new(upload) }
}

fn recommender(values: usize) -> Case {
    const ITEMS: usize = 100;
    const WIDTH: usize = 8;
    const BEST: usize = 5;
    let mut random = Random(4);
    let splits = Rc::new(random.splits(values, 64));
    let n = count(&splits);
    let items: Rc<Vec<i32>> = Rc::new((0..n).map(|_| random.below(ITEMS as u64) as i32).collect());
    let ratings: Rc<Vec<f32>> = Rc::new((0..n).map(|_| 1.0 + random.below(5) as f32).collect());
    let catalogue = Rc::new(random.floats(ITEMS * WIDTH, -1.0..1.0));
    let users = {
        let (splits, items, ratings, catalogue) = (splits.clone(), items.clone(), ratings.clone(), catalogue.clone());
        move || -> Vec<[f32; WIDTH]> {
            let user = |(items, ratings): (&[i32], &[f32])| {
                let (mut sum, mut weight) = ([0.0; WIDTH], 0.0);
                let liked = items.iter().zip(ratings).rev().filter(|(_, rating)| **rating >= 3.0);
                for (item, rating) in liked.take(recommender_job::LAST as usize) {
                    let of_item = &catalogue[*item as usize * WIDTH..][..WIDTH];
                    sum.iter_mut().zip(of_item).for_each(|(sum, x)| *sum += x * rating);
                    weight += rating;
                }
                sum.map(|x| x / weight)
            };
            rows(&splits, &items).zip(rows(&splits, &ratings)).map(user).collect()
        }
    };
    let scores_of = {
        let catalogue = catalogue.clone();
        move |user: &[f32; WIDTH]| -> Vec<f32> { catalogue.chunks(WIDTH).map(|item| dot(item, user)).collect() }
    };
    let plain = {
        let (users, scores_of) = (users.clone(), scores_of.clone());
        move || {
            let mut best = Vec::new();
            for user in users() {
                let mut scores = scores_of(&user);
                scores.sort_by(|a, b| b.total_cmp(a));
                best.extend_from_slice(&scores[..BEST]);
            }
            // The scores of the recommended items: items with nearly equal scores may be swapped.
            [best.clone(), best].concat()
        }
    };
    let upload = move |device: &Device| -> Result<Job> {
        let items = RaggedTensor::from_row_splits(&*items, &*splits, device)?;
        let ratings = RaggedTensor::from_row_splits(&*ratings, &*splits, device)?;
        let table = RaggedTensor::dense(&*catalogue, &[ITEMS, WIDTH], device)?;
        let own: Vec<Vec<f32>> = users().iter().map(&scores_of).collect();
        Ok(Box::new(move || {
            let (best, scores) = recommender_job::recommend(&items, &ratings, &table, BEST as u32)?;
            let mut all = scores.to_vec()?;
            let best = best.to_vec()?;
            all.extend(best.iter().enumerate().map(|(k, &item)| own[k / BEST][item as usize]));
            Ok(all)
        }))
    };
    Case { values: n, plain: Box::new(plain), upload: Box::new(upload) }
}

fn attention(values: usize) -> Case {
    const WIDTH: usize = 16;
    let mut random = Random(5);
    let splits = Rc::new(random.splits(values / WIDTH, 128));
    let tokens = count(&splits);
    let inputs = Rc::new([0, 1, 2].map(|_| random.floats(tokens * WIDTH, -1.0..1.0)));
    let plain = {
        let (splits, inputs) = (splits.clone(), inputs.clone());
        move || {
            let [q, k, v] = [0, 1, 2].map(|of: usize| inputs[of].as_chunks::<WIDTH>().0);
            let mut all = Vec::with_capacity(tokens * WIDTH);
            for ends in splits.windows(2) {
                let own = ends[0] as usize..ends[1] as usize;
                for query in &q[own.clone()] {
                    let score = |key: &[f32; WIDTH]| dot(query, key) / (WIDTH as f32).sqrt();
                    let scores: Vec<f32> = k[own.clone()].iter().map(score).collect();
                    let mut sum = [0.0; WIDTH];
                    for (value, share) in v[own.clone()].iter().zip(softmax(&scores)) {
                        sum.iter_mut().zip(value).for_each(|(sum, x)| *sum += x * share);
                    }
                    all.extend(sum);
                }
            }
            all
        }
    };
    let upload = move |device: &Device| -> Result<Job> {
        let of = |values: &Vec<f32>| {
            let dense = RaggedTensor::dense(values, &[tokens, WIDTH], device)?;
            RaggedTensor::from_row_splits(&dense, &*splits, device)
        };
        let (q, k, v) = (of(&inputs[0])?, of(&inputs[1])?, of(&inputs[2])?);
        Ok(Box::new(move || attention_job::attention(&q, &k, &v)?.to_vec()))
    };
    Case { values: 3 * tokens * WIDTH, plain: Box::new(plain), upload: Box::new(upload) }
}

/// The largest value of each row relative to the row's mean, of batches of about 3,000 values. `peaks` makes the
/// function that computes one batch on a device.
fn peaks_of_batches(values: usize, peaks: impl Fn() -> Result<Peaks> + 'static) -> Case {
    type Batch = (Vec<u32>, Vec<f32>);
    let mut random = Random(6);
    let batches: Vec<Batch> = (0..(values / 3000).max(3))
        .map(|batch| {
            let splits = random.splits(1000 + (batch * 37) % 4000, 100);
            let values = random.floats(count(&splits), 1.0..2.0);
            (splits, values)
        })
        .collect();
    let batches = Rc::new(batches);
    let values = batches.iter().map(|batch| batch.1.len()).sum();
    let plain = {
        let batches = batches.clone();
        move || {
            let peak = |row: &[f32]| {
                let mean = row.iter().sum::<f32>() / row.len() as f32;
                row.iter().map(|x| (x - mean) / mean).fold(f32::MIN, f32::max)
            };
            batches.iter().flat_map(|(splits, values)| rows(splits, values).map(peak)).collect()
        }
    };
    let upload = move |device: &Device| -> Result<Job> {
        let (batches, device, peaks) = (batches.clone(), device.clone(), peaks()?);
        Ok(Box::new(move || {
            let mut all = Vec::new();
            for (splits, values) in &*batches {
                let batch = RaggedTensor::from_row_splits(values, splits, &device)?;
                all.extend(peaks(&batch)?.to_vec()?);
            }
            Ok(all)
        }))
    };
    Case { values, plain: Box::new(plain), upload: Box::new(upload) }
}

/// Computes the peaks of a batch.
type Peaks = Box<dyn Fn(&RaggedTensor<f32>) -> Result<RaggedTensor<f32>>>;

/// Each batch is recorded.
fn stream(values: usize) -> Case {
    peaks_of_batches(values, || Ok(Box::new(stream_job::peaks)))
}

/// One program, traced before, runs on each batch.
fn stream_traced(values: usize) -> Case {
    peaks_of_batches(values, || {
        let rows = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
        let program = Program::trace(&[rows], |x| stream_job::peaks(&x[0].clone().try_into()?))?;
        Ok(Box::new(move |batch| program.run(batch)?.remove(0).try_into()))
    })
}
