//! A graph network: the community of each node of a graph, from its own features and those of its neighbours.
//!
//! ```sh
//! cargo run --release -p ragged-nn --example graph -- [--small] [CURVE.svg]
//! ```
//!
//! The graph is generated: a few nodes have most of the edges (a power law), most edges join nodes of one community, and the
//! features of a node say little about its community. Neighbourhoods are the rows of a ragged tensor. A round of messages
//! takes the mean of the neighbours' vectors; without any round the model is the baseline that sees features only.

mod chart;

use std::error::Error;

use chart::Curve;
use ragged::{Device, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{Activation, Adam, Dense, Training, Variables, sparse_categorical_cross_entropy_with_logits};

const COMMUNITIES: usize = 5;
const FEATURES: usize = 8;
const UNITS: usize = 32;
/// Every third node has a label, the others are to be classified.
const LABELLED: usize = 3;

/// The logits of each node's community after rounds of messages.
fn model(v: &Variables, features: &Tensor, neighbours: &Tensor, rounds: usize) -> Result<Tensor> {
    let mut nodes = Dense::new("own", UNITS).activation(Activation::Relu).call(v, features)?;
    for round in 0..rounds {
        // Each node has a neighbour: the mean of none is NaN.
        let mean = nodes.gather(neighbours)?.reduce_mean(1)?;
        let both = Tensor::concat(&[&nodes, &mean], 1)?;
        nodes = Dense::new(format!("round{round}"), UNITS).activation(Activation::Relu).call(v, &both)?;
    }
    Dense::new("out", COMMUNITIES).call(v, &nodes)
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

    /// Nearly normal, with the variance 1.
    fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.uniform()).sum::<f64>() - 6.0) as f32
    }
}

struct Graph {
    features: Vec<[f32; FEATURES]>,
    neighbours: Vec<Vec<i32>>,
    communities: Vec<i32>,
}

fn graph(nodes: usize, random: &mut Random) -> Graph {
    // Node k is of community k % COMMUNITIES.
    let centres: Vec<[f32; FEATURES]> = (0..COMMUNITIES).map(|_| std::array::from_fn(|_| random.normal())).collect();
    let features = (0..nodes).map(|k| centres[k % COMMUNITIES].map(|c| 0.5 * c + 1.5 * random.normal())).collect();
    let mut neighbours = vec![Vec::new(); nodes];
    for a in 0..nodes {
        // Pareto: the share of nodes with more than n edges falls as n^-1.5.
        let edges = (2.0 * (1.0 - random.uniform()).powf(-1.0 / 1.5)).min(nodes as f64 / 10.0);
        for _ in 0..edges as usize {
            let other = random.below(nodes / COMMUNITIES) * COMMUNITIES;
            let community = if random.uniform() < 0.6 { a } else { random.below(COMMUNITIES) } % COMMUNITIES;
            let b = other + community;
            neighbours[a].push(b as i32);
            neighbours[b].push(a as i32);
        }
    }
    Graph { features, neighbours, communities: (0..nodes).map(|k| (k % COMMUNITIES) as i32).collect() }
}

/// The share of nodes without a label whose community the model finds, after steps of training on those with one; and the
/// losses of these steps.
fn accuracy(graph: &Graph, rounds: usize, steps: usize, device: &Device) -> Result<(f64, Vec<f32>)> {
    let features = RaggedTensor::from_nested(graph.features.clone(), device)?;
    let neighbours = RaggedTensor::from_nested(graph.neighbours.clone(), device)?;
    let labelled: Vec<i32> = (0..graph.features.len()).step_by(LABELLED).map(|k| k as i32).collect();
    let labels: Vec<i32> = labelled.iter().map(|&k| graph.communities[k as usize]).collect();
    let labelled = RaggedTensor::from_nested(labelled, device)?;
    let labels = RaggedTensor::from_nested(labels, device)?;

    let mut v = Variables::new(device, Seed(7));
    let mut step = Training::trace(
        &mut v,
        [&features, &neighbours, &labelled, &labels],
        Adam::new(0.01),
        |v, [x, near, at, y]| sparse_categorical_cross_entropy_with_logits(&model(v, x, near, rounds)?.gather(at)?, y),
    )?;
    let mut losses = Vec::new();
    for _ in 0..steps {
        losses.push(step.run(&mut v, [&features, &neighbours, &labelled, &labels])?);
    }
    let losses = RaggedTensor::<f32>::try_from(Tensor::stack(&losses, 0)?)?.to_vec()?;

    let found = model(&v, features.erased(), neighbours.erased(), rounds)?.argmax(1)?;
    let found = RaggedTensor::<i64>::try_from(found)?.to_vec()?;
    let unlabelled = || (0..found.len()).filter(|k| k % LABELLED != 0);
    let right = unlabelled().filter(|&k| found[k] == i64::from(graph.communities[k])).count();
    Ok((right as f64 / unlabelled().count() as f64, losses))
}

/// The accuracy without messages, after one round, and after two, each with the losses of the steps.
pub fn accuracies(nodes: usize, steps: usize, device: &Device) -> Result<Vec<(f64, Vec<f32>)>> {
    let graph = graph(nodes, &mut Random(1));
    let mut degrees: Vec<usize> = graph.neighbours.iter().map(Vec::len).collect();
    degrees.sort_unstable();
    let edges: usize = degrees.iter().sum();
    let (median, most) = (degrees[nodes / 2], degrees[nodes - 1]);
    println!("{nodes} nodes, {edges} neighbours; median {median}, most {most}");
    (0..3).map(|rounds| accuracy(&graph, rounds, steps, device)).collect()
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let (small, paths): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg == "--small");
    if paths.len() > 1 || paths.iter().any(|path| path.starts_with('-')) {
        return Err("usage: graph [--small] [CURVE.svg]".into());
    }
    let (nodes, steps) = if small.is_empty() { (5000, 100) } else { (500, 40) };
    let found = accuracies(nodes, steps, &Device::cpu())?;
    println!("rounds  accuracy of nodes without a label");
    for (rounds, (found, _)) in found.iter().enumerate() {
        println!("{rounds:<6}  {:.1} %", 100.0 * found);
    }
    if let Some(path) = paths.first() {
        let curve = |(rounds, (_, losses)): (usize, (f64, Vec<f32>))| {
            Curve::of_steps(format!("{rounds} rounds of messages"), losses.into_iter().map(f64::from))
        };
        let curves: Vec<Curve> = found.into_iter().enumerate().map(curve).collect();
        chart::draw(path, ["step", "cross-entropy of nodes with a label"], 0.0..2.0, &curves)?;
    }
    Ok(())
}
