//! Random programs: sources of device-known size, and operations on earlier results; with the outcome of each operation on
//! devices without a history.

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

use super::judges::{differs, fresh};
use super::material::{LARGEST, LENGTHS, Leaves, Material, SIZES};
use super::outcome::Outcome;
use super::source::{SOURCES, Source};
use super::step::{PADDED, Step, steps};
use super::twin::Twin;
use crate::op::{Op, Subject, choose};
use crate::random::Random;

/// An expression of a program.
pub enum Node {
    Source { material: usize, source: &'static Source },
    Fixed { step: &'static Step, of: [usize; 2] },
    Random { op: Op, of: [usize; 2] },
}

impl Node {
    /// The operands' places in the program.
    pub fn operands(&self) -> Option<[usize; 2]> {
        match self {
            Self::Source { .. } => None,
            Self::Fixed { of, .. } | Self::Random { of, .. } => Some(*of),
        }
    }

    pub fn run(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        match self {
            Self::Source { .. } => Ok(x.clone()),
            Self::Fixed { step, .. } => (step.run)(x, y),
            Self::Random { op, .. } => (op.run)(x, y),
        }
    }
}

/// A program with the wanted outcomes.
pub struct Program {
    pub seed: u64,
    pub materials: Vec<Material>,
    pub nodes: Vec<Node>,
    pub wants: Vec<Outcome>,
    /// The wanted tensors of the nodes that can be read.
    pub hosts: Vec<Option<HostTensor>>,
    /// Faults of devices without a history.
    pub faults: Vec<String>,
}

/// Bounds of a program.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub largest: usize,
    pub steps: usize,
    /// Whether a step may be any operation of the families of `fuzz`.
    pub random_steps: bool,
    pub has_f64: bool,
}

/// Most values, and most elements of a padded tensor, for operations whose results may be padded.
const MOST_FOR_PADDING: (usize, usize) = (20_000, 400_000);

/// Elements of the tensor padded to its longest rows.
fn padded_elements(host: &HostTensor) -> usize {
    let longest = |splits: &Vec<u32>| splits.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0);
    let rows = host.nested_row_splits.first().map_or(1, |splits| splits.len() - 1);
    let inner: usize = host.inner_shape.iter().skip(1).product();
    host.nested_row_splits.iter().map(longest).fold(rows.max(1) * inner.max(1), usize::saturating_mul)
}

fn material(random: &mut Random, largest: usize) -> Material {
    let sizes: Vec<usize> = SIZES.into_iter().filter(|&size| size <= largest).collect();
    let size = match random.below(16) {
        0 if largest >= LARGEST => random.of(&[140_000, 200_000, LARGEST]),
        0..=3 => random.of(&sizes),
        4..=9 => random.below(largest.min(40)),
        _ => random.below(largest.min(3000)),
    };
    // Few seeds: programs share arrays.
    Material { size, lengths: random.of(&LENGTHS), seed: random.below(8) as u64 }
}

impl Program {
    /// The program of a seed.
    pub fn random(seed: u64, bounds: Bounds) -> Self {
        let mut random = Random(seed);
        let materials: Vec<_> = (0..1 + random.below(2)).map(|_| material(&mut random, bounds.largest)).collect();
        let empty = Self { seed, materials, nodes: vec![], wants: vec![], hosts: vec![], faults: vec![] };
        let mut generation = Generation { program: empty, isolated: Vec::new(), device: fresh(), twins: Vec::new() };
        for _ in 0..1 + random.below(3) {
            let of = random.below(generation.program.materials.len());
            generation.add_source(of, &SOURCES[random.below(SOURCES.len())]);
        }
        for _ in 0..2 + random.below(bounds.steps) {
            generation.add_step(&mut random, bounds);
        }
        generation.judged()
    }

    /// The tensor of a node, from those of its operands.
    pub fn record(&self, k: usize, leaves: &[Leaves], operands: Option<[&Tensor; 2]>) -> Result<Tensor> {
        match (&self.nodes[k], operands) {
            (Node::Source { material, source }, _) => (source.build)(&leaves[*material]),
            (node, Some([x, y])) => node.run(x, y),
            (_, None) => unreachable!("a step has operands"),
        }
    }

    /// The arrays of the materials on a device.
    pub fn leaves(&self, device: &Device) -> Vec<Leaves> {
        self.materials.iter().map(|&material| Leaves::new(material, device)).collect()
    }

    /// One line per node.
    pub fn text(&self, is_shown: impl Fn(usize) -> bool) -> String {
        let line = |(k, node): (usize, &Node)| {
            let what = match node {
                Node::Source { material, source } => format!("{} of {:?}", source.name, self.materials[*material]),
                Node::Fixed { step, of: [a, b] } => format!("`{}` of {a}, {b}", step.name),
                Node::Random { op, of: [a, b] } => format!("random `{}` of {a}, {b}", op.name),
            };
            format!("  {k} = {what}\n      {}\n", self.wants[k])
        };
        self.nodes.iter().enumerate().filter(|(k, _)| is_shown(*k)).map(line).collect()
    }
}

/// Bytes of all strings: chains of concatenations double them with each step.
fn string_bytes(host: &HostTensor) -> usize {
    match &host.values {
        HostValues::Str(strings) => strings.iter().map(Vec::len).sum(),
        _ => 0,
    }
}

/// A program that grows: each operation runs on uploaded operands, whose sizes the host knows.
struct Generation {
    program: Program,
    device: Device,
    /// Per node the tensor of host-known size, if the operation can be read, and its outcome.
    isolated: Vec<(Option<Tensor>, Outcome)>,
    twins: Vec<Option<Twin>>,
}

impl Generation {
    /// Adds a node; with the outcome of the operation on uploaded operands.
    fn add(&mut self, node: Node, recorded: Result<Tensor>, read: Option<Result<HostTensor>>) {
        let (tensor, host, outcome) = match (recorded, read) {
            (Ok(x), Some(Ok(host))) => {
                let outcome = Outcome::of_read(&x, Ok(&host));
                (Some(host.to_device(&self.device).expect("a tensor that was read")), Some(host), outcome)
            }
            (_, Some(Err(e))) => (None, None, Outcome::Failed(e)),
            (Err(e), _) => (None, None, Outcome::Refused(e)),
            (Ok(_), None) => unreachable!("what is recorded is read"),
        };
        self.isolated.push((tensor, outcome));
        self.program.hosts.push(host);
        self.program.nodes.push(node);
    }

    fn add_source(&mut self, material: usize, source: &'static Source) {
        let of = self.program.materials[material];
        let built = (source.build)(&Leaves::new(of, &fresh()));
        let read = built.as_ref().ok().map(Tensor::to_host);
        self.twins.push((source.twin)(&of));
        self.add(Node::Source { material, source }, built, read);
    }

    /// Adds a random step, unless its result is too large.
    fn add_step(&mut self, random: &mut Random, bounds: Bounds) {
        let readable: Vec<usize> = (0..self.isolated.len()).filter(|&k| self.isolated[k].0.is_some()).collect();
        if readable.is_empty() {
            return;
        }
        // Mostly the newer ones.
        let mut pick = || readable[random.below(readable.len()).max(random.below(readable.len()))];
        let [a, b] = [pick(), pick()];
        let (Some(x), Some(y)) = (&self.isolated[a].0, &self.isolated[b].0) else { return };
        let sizes = [a, b].map(|k| {
            let host = self.program.hosts[k].as_ref().expect("a readable node");
            (host.values.len(), padded_elements(host))
        });
        let is_small = sizes.iter().all(|s| s.0 <= MOST_FOR_PADDING.0 && s.1 <= MOST_FOR_PADDING.1);
        let rank = x.rank().max(1) as i64;
        let node = if bounds.random_steps && is_small && random.once_in(3) {
            let axis = random.signed(rank).clamp(-rank, rank - 1);
            let subject = Subject { dtype: x.dtype(), rank: x.rank(), axis, has_f64: bounds.has_f64 };
            Node::Random { op: choose(random, &subject), of: [a, b] }
        } else if is_small && random.once_in(12) {
            Node::Fixed { step: &PADDED[random.below(PADDED.len())], of: [a, b] }
        } else {
            let all = steps(x.dtype());
            Node::Fixed { step: all[random.below(all.len())], of: [a, b] }
        };
        let recorded = node.run(x, y);
        let read = recorded.as_ref().ok().map(Tensor::to_host);
        let stays = match &read {
            Some(Ok(host)) => host.values.len() <= 2 * bounds.largest && string_bytes(host) <= 32 * bounds.largest,
            // Dependents fail, too.
            Some(Err(_)) => random.once_in(4),
            None => random.once_in(4),
        };
        if stays {
            let twin = match &node {
                Node::Fixed { step, .. } => match (&self.twins[a], &self.twins[b]) {
                    (Some(x), Some(y)) => (step.twin)(x, y),
                    _ => None,
                },
                _ => None,
            };
            self.twins.push(twin);
            self.add(node, recorded, read);
        }
    }

    /// Compares the isolated operations, the naive twins and a device without a history that reads only the end.
    fn judged(self) -> Program {
        let Self { mut program, isolated, twins, .. } = self;
        for (k, host) in program.hosts.iter().enumerate() {
            let got = host.as_ref().and_then(Twin::of);
            if let (Some(want), Some(got)) = (&twins[k], got)
                && *want != got
            {
                program.faults.push(format!("[naive twin] {k} isolated: {}, not the naive {want:.80?}", isolated[k].1));
            }
        }
        let (wants, hosts) = read_together(&mut program);
        // Whether the layout differs from the one of the isolated operations: host-known sizes decide more. Where only
        // the uniform lengths do, the canonical order of floats may be another one, and nothing else; unless these rows have
        // no elements.
        let (mut differs_in_layout, mut differs_in_order) = (vec![false; wants.len()], vec![false; wants.len()]);
        for (k, want) in wants.iter().enumerate() {
            let operands: Vec<usize> = program.nodes[k].operands().into_iter().flatten().collect();
            let is_float = hosts[k].as_ref().is_some_and(|host| host.values.dtype().is_float());
            differs_in_order[k] = operands.iter().any(|&of| differs_in_order[of]);
            if operands.iter().any(|&of| differs_in_layout[of]) || is_float && differs_in_order[k] {
                differs_in_layout[k] = true;
            } else if let Some(text) = differs(&isolated[k].1, want) {
                program.faults.push(format!("{k} on a fresh device: {text}"));
            } else {
                differs_in_layout[k] = want.difference(&isolated[k].1, false).is_some()
                    || hosts[k].as_ref().is_some_and(|host| want.knows_other_lengths_of_nothing(&isolated[k].1, host));
                differs_in_order[k] |= !want.has_uniform_lengths_of(&isolated[k].1);
            }
        }
        (program.wants, program.hosts) = (wants, hosts);
        program
    }
}

/// Records the program on a fresh device, and reads all nodes together.
fn read_together(program: &mut Program) -> (Vec<Outcome>, Vec<Option<HostTensor>>) {
    let mut readable: Vec<bool> = program.hosts.iter().map(Option::is_some).collect();
    loop {
        let leaves = program.leaves(&fresh());
        let mut recorded: Vec<Result<Tensor, Outcome>> = Vec::new();
        for k in 0..program.nodes.len() {
            let result = match program.nodes[k].operands().map(|[a, b]| (&recorded[a], &recorded[b])) {
                None => program.record(k, &leaves, None).map_err(Outcome::Refused),
                Some((Ok(x), Ok(y))) => program.record(k, &leaves, Some([x, y])).map_err(Outcome::Refused),
                Some(_) => Err(Outcome::Absent),
            };
            recorded.push(result);
        }
        let together: Vec<(usize, &Tensor)> = recorded
            .iter()
            .enumerate()
            .filter(|(k, _)| readable[*k])
            .filter_map(|(k, r)| Some((k, r.as_ref().ok()?)))
            .collect();
        let tensors: Vec<&Tensor> = together.iter().map(|(_, x)| *x).collect();
        let mut hosts: Vec<Option<HostTensor>> = recorded.iter().map(|_| None).collect();
        match ragged::to_host(&tensors) {
            Ok(read) => together.iter().zip(read).for_each(|((k, _), host)| hosts[*k] = Some(host)),
            // A check of one of them fails: it is read after the others, on another device.
            Err(e) => {
                if let Some(failed) = together.iter().find(|(_, x)| x.check().is_err()) {
                    readable[failed.0] = false;
                    continue;
                }
                program.faults.push(format!("[success] a read of all nodes failed, and no read of one: {e}"));
            }
        }
        let mut outcomes = Vec::new();
        for (k, result) in recorded.iter().enumerate() {
            outcomes.push(match result {
                Ok(x) => {
                    let read = hosts[k].take().map_or_else(|| x.to_host(), Ok);
                    let outcome = Outcome::of_read(x, read.as_ref());
                    hosts[k] = read.ok();
                    outcome
                }
                Err(outcome) => outcome.clone(),
            });
        }
        return (outcomes, hosts);
    }
}
