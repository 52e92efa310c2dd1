//! What the runs of a step share: the numbers of its arrays, and its compiled expressions.

use std::sync::{Arc, Mutex, PoisonError};

use super::compiled_expr::Template;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::Check;
use crate::graph::node::{Node, Recipe};
use crate::graph::plan::Step;

/// The shared part of the runs of one step.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// The number of each array that the step reads.
    arrays: DigestMap<usize>,
    pub(super) checks: Vec<Arc<Check>>,
    /// The expressions that the step's loops compile, by their digests.
    templates: Mutex<DigestMap<Arc<Template>>>,
}

impl Prepared {
    pub(super) fn of(step: &Step) -> Self {
        let mut checks = step.checks.clone();
        if let Recipe::Assert { check, .. } = &step.recipe {
            checks.push(check.clone());
        }
        Self::new(step.reads.iter().map(Node::digest), checks)
    }

    /// Of a step that reads these arrays, in this order.
    pub(super) fn new(arrays: impl Iterator<Item = Digest>, checks: Vec<Arc<Check>>) -> Self {
        Self { arrays: arrays.zip(0..).collect(), checks, templates: Mutex::default() }
    }

    /// The number of an array that the step reads.
    pub(super) fn array(&self, node: &Node) -> usize {
        *self.arrays.get(&node.digest()).expect("bug: a step reads an array that was not planned")
    }

    /// The number of a check.
    pub(super) fn check(&self, check: &Arc<Check>) -> usize {
        self.checks.iter().position(|c| c == check).expect("bug: an unplanned check")
    }

    /// The template of that digest, compiled at the first call.
    pub(super) fn template(&self, digest: Digest, compile: impl FnOnce() -> Template) -> Arc<Template> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.entry(digest).or_insert_with(|| Arc::new(compile())).clone()
    }
}
