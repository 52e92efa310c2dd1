//! Steps and their dependencies.

use std::collections::{BTreeSet, HashSet};

use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::plan::Step;
use crate::graph::planned::Node;

/// Steps by number; `None` for a step that was fused into another.
pub(super) struct Steps {
    steps: Vec<Option<Step>>,
    /// The step that computes each array.
    producers: DigestMap<usize>,
    /// The steps that read each array or need its conditions.
    readers: DigestMap<BTreeSet<usize>>,
    /// Position of each step in a topological order, which [`Self::put`] maintains.
    ranks: Vec<usize>,
}

impl Steps {
    /// `steps` in topological order.
    pub(super) fn new(steps: Vec<Step>) -> Self {
        let (producers, readers) = (DigestMap::default(), DigestMap::default());
        let (len, none) = (steps.len(), steps.iter().map(|_| None).collect());
        let mut out = Self { steps: none, producers, readers, ranks: (0..len).collect() };
        for (k, step) in steps.into_iter().enumerate() {
            out.put(k, step);
        }
        out
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn get(&self, k: usize) -> Option<&Step> {
        self.steps[k].as_ref()
    }

    /// For changes that leave the inputs and outputs of the step as they are.
    pub(super) fn get_mut(&mut self, k: usize) -> Option<&mut Step> {
        self.steps[k].as_mut()
    }

    /// Removes a step.
    pub(super) fn take(&mut self, k: usize) -> Option<Step> {
        let step = self.steps[k].take()?;
        for n in inputs(&step) {
            if let Some(readers) = self.readers.get_mut(&n.digest()) {
                readers.remove(&k);
            }
        }
        for n in step.outputs() {
            self.producers.remove(&n.digest());
        }
        Some(step)
    }

    /// Puts a step in the place of one that was removed.
    pub(super) fn put(&mut self, k: usize, step: Step) {
        for n in inputs(&step) {
            self.readers.entry(n.digest()).or_default().insert(k);
        }
        for n in step.outputs() {
            self.producers.insert(n.digest(), k);
        }
        self.steps[k] = Some(step);
        self.restore_order(k);
    }

    /// Moves step `k` behind its dependencies and before its readers in the topological order of the other steps.
    /// Visits only steps between them (Pearce and Kelly, 2006).
    fn restore_order(&mut self, k: usize) {
        let ranks_of = |steps: Vec<usize>| steps.into_iter().map(|k| self.ranks[k]);
        let last_dependency = ranks_of(self.dependencies(k).collect()).max();
        let first_reader = ranks_of(self.dependents(k)).min();
        let own = self.ranks[k];
        if last_dependency.is_none_or(|rank| rank < own) && first_reader.is_none_or(|rank| rank > own) {
            return;
        }
        let (low, high) = (first_reader.map_or(own, |r| r.min(own)), last_dependency.map_or(own, |r| r.max(own)));
        let mut before = self.reachable(k, |k| self.dependencies(k).filter(|&k| self.ranks[k] > low).collect());
        let mut behind =
            self.reachable(k, |k| self.dependents(k).into_iter().filter(|&k| self.ranks[k] < high).collect());
        before.sort_unstable_by_key(|&k| self.ranks[k]);
        behind.sort_unstable_by_key(|&k| self.ranks[k]);
        let order = [before, vec![k], behind].concat();
        let mut ranks: Vec<usize> = order.iter().map(|&k| self.ranks[k]).collect();
        ranks.sort_unstable();
        order.into_iter().zip(ranks).for_each(|(k, rank)| self.ranks[k] = rank);
    }

    /// The steps that `next` reaches from step `k`, without `k`.
    fn reachable(&self, k: usize, next: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
        let (mut seen, mut stack) = (HashSet::new(), next(k));
        while let Some(k) = stack.pop() {
            if seen.insert(k) {
                stack.extend(next(k));
            }
        }
        seen.into_iter().collect()
    }

    /// The step that computes the array.
    pub(super) fn producer(&self, n: &Node) -> Option<usize> {
        self.producers.get(&n.digest()).copied()
    }

    /// The steps that read the array or need its conditions, in ascending order.
    pub(super) fn readers_of(&self, n: &Node) -> impl Iterator<Item = usize> + '_ {
        self.readers.get(&n.digest()).into_iter().flatten().copied()
    }

    /// The first such step from number `from` on.
    pub(super) fn next_reader(&self, n: &Node, from: usize) -> Option<usize> {
        self.readers.get(&n.digest())?.range(from..).next().copied()
    }

    /// The steps on which step `k` depends directly.
    fn dependencies(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        self.steps[k].iter().flat_map(inputs).filter_map(|n| self.producer(n))
    }

    /// The steps that depend on step `k` directly.
    fn dependents(&self, k: usize) -> Vec<usize> {
        self.steps[k].iter().flat_map(Step::outputs).flat_map(|n| self.readers_of(n)).collect()
    }

    /// Whether step `k` depends on step `other`, directly or through steps between them.
    pub(super) fn depends(&self, k: usize, other: usize) -> bool {
        self.any_is_or_depends(self.dependencies(k).collect(), other)
    }

    /// Whether step `k` depends on step `other` through steps between them.
    pub(super) fn depends_indirectly(&self, k: usize, other: usize) -> bool {
        self.any_is_or_depends(self.dependencies(k).filter(|&k| k != other).collect(), other)
    }

    fn any_is_or_depends(&self, mut stack: Vec<usize>, other: usize) -> bool {
        let mut seen = HashSet::new();
        while let Some(k) = stack.pop() {
            if k == other {
                return true;
            }
            // A step depends on no later one of the order.
            if self.ranks[k] > self.ranks[other] && seen.insert(k) {
                stack.extend(self.dependencies(k));
            }
        }
        false
    }

    /// The outputs of the step that are requested, or read by steps other than `reader`.
    pub(super) fn read_elsewhere(&self, step: &Step, reader: usize, roots: &DigestSet) -> DigestSet {
        let is_read = |n: &Node| roots.contains(&n.digest()) || self.readers_of(n).any(|k| k != reader);
        step.outputs().into_iter().filter(|n| is_read(n)).map(Node::digest).collect()
    }

    /// The steps, in their present order.
    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps.into_iter().flatten().collect()
    }

    /// The steps in topological order, stable with respect to their present order.
    pub(super) fn in_order(mut self) -> Vec<Step> {
        let mut order = Vec::with_capacity(self.steps.len());
        let mut seen = HashSet::new();
        for k in 0..self.steps.len() {
            // The dependencies of an entry with `true` are above it on the stack.
            let mut stack = vec![(k, false)];
            while let Some((k, is_ready)) = stack.pop() {
                if is_ready {
                    order.push(k);
                } else if seen.insert(k) {
                    stack.push((k, true));
                    stack.extend(self.dependencies(k).map(|k| (k, false)));
                }
            }
        }
        order.into_iter().filter_map(|k| self.steps[k].take()).collect()
    }
}

/// The arrays that the step reads, and those whose conditions it needs.
fn inputs(step: &Step) -> impl Iterator<Item = &Node> {
    step.reads.iter().chain(&step.after)
}
