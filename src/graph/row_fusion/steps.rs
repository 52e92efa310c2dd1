//! Steps and their dependencies.

use std::collections::HashSet;

use crate::graph::Node;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::plan::Step;

/// Steps by number; `None` for a step that was fused into another.
pub(super) struct Steps {
    pub(super) steps: Vec<Option<Step>>,
}

impl Steps {
    /// The number of the step that computes each array.
    pub(super) fn producers(&self) -> DigestMap<usize> {
        let steps = self.steps.iter().enumerate().filter_map(|(k, s)| Some((k, s.as_ref()?)));
        steps.flat_map(|(k, s)| s.outputs().into_iter().map(move |n| (n.digest(), k))).collect()
    }

    /// The steps on which step `k` depends directly.
    pub(super) fn dependencies<'a>(
        &'a self,
        producers: &'a DigestMap<usize>,
        k: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let nodes = self.steps[k].iter().flat_map(|s| s.reads.iter().chain(&s.after));
        nodes.filter_map(|n| producers.get(&n.digest()).copied())
    }

    /// Whether step `k` depends on step `other`, directly or through steps between them.
    pub(super) fn depends(&self, producers: &DigestMap<usize>, k: usize, other: usize) -> bool {
        self.any_is_or_depends(producers, self.dependencies(producers, k).collect(), other)
    }

    /// Whether step `k` depends on step `other` through steps between them.
    pub(super) fn depends_indirectly(&self, producers: &DigestMap<usize>, k: usize, other: usize) -> bool {
        self.any_is_or_depends(producers, self.dependencies(producers, k).filter(|&k| k != other).collect(), other)
    }

    fn any_is_or_depends(&self, producers: &DigestMap<usize>, mut stack: Vec<usize>, other: usize) -> bool {
        let mut seen = HashSet::new();
        while let Some(k) = stack.pop() {
            if k == other {
                return true;
            }
            if seen.insert(k) {
                stack.extend(self.dependencies(producers, k));
            }
        }
        false
    }

    /// The outputs of the step that are requested, or read by steps other than `reader`.
    pub(super) fn read_elsewhere(&self, step: &Step, reader: usize, roots: &DigestSet) -> DigestSet {
        let others = self.steps.iter().enumerate().filter(|(k, _)| *k != reader).filter_map(|(_, s)| s.as_ref());
        let read: DigestSet = others.flat_map(|s| s.reads.iter().chain(&s.after)).map(Node::digest).collect();
        let outputs = step.outputs().into_iter().map(Node::digest);
        outputs.filter(|d| roots.contains(d) || read.contains(d)).collect()
    }

    /// The steps in topological order, stable with respect to their present order.
    pub(super) fn in_order(mut self) -> Vec<Step> {
        let producers = self.producers();
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
                    stack.extend(self.dependencies(&producers, k).map(|k| (k, false)));
                }
            }
        }
        order.into_iter().filter_map(|k| self.steps[k].take()).collect()
    }
}
