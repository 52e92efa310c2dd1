//! Recording of nodes with recipes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::{NodeData, Recipe, intern};
use crate::dtype::DType;
use crate::graph::digest::{Digest, DigestSet};
use crate::graph::primitive::Map;
use crate::graph::recorder::Recorder;
use crate::graph::row_lengths::KnownLengths;
use crate::graph::scope::Scope;
use crate::graph::{BackendRef, Expr, Extent, Node};

impl Recorder<'_> {
    /// A node of this recipe.
    pub(in crate::graph) fn recorded(self, dtype: DType, extent: Extent, asserts: &[Node], recipe: Recipe) -> Node {
        Node::recorded(self.backend, self.op, dtype, extent, asserts, recipe)
    }
}

impl Node {
    /// A node of this recipe.
    pub(in crate::graph) fn recorded(
        backend: &BackendRef,
        op: &'static str,
        dtype: DType,
        extent: Extent,
        asserts: &[Self],
        recipe: Recipe,
    ) -> Self {
        // The digest depends on the set of conditions. The list keeps the order of recording, which is the same for
        // every batch.
        let mut seen = DigestSet::default();
        let asserts: Vec<Self> = asserts.iter().filter(|assert| seen.insert(assert.digest())).cloned().collect();
        let mut which: Vec<Digest> = asserts.iter().map(Self::digest).collect();
        which.sort_unstable();
        let digest = Digest::of("node", (backend.id(), dtype, &extent, &which, &recipe));
        // Created and dropped outside of the table's lock, since dropping the last reference to a node locks the table.
        let live_counts: Vec<Expr> = recipe.live_counts().chain(extent.live()).collect();
        let mut given = Some(recipe);
        let node = intern(digest, || {
            let recipe = given.take().unwrap_or_else(|| unreachable!("bug: a node is made twice"));
            let (mut depth, mut fallible, mut scope) = (0, recipe.check().is_some(), None);
            for e in recipe.exprs().into_iter().chain(&live_counts) {
                depth = depth.max(e.depth());
                fallible |= e.is_fallible();
                scope = scope.or_else(|| e.scope().cloned());
            }
            for n in recipe.array().into_iter().chain(&asserts) {
                depth = depth.max(n.depth());
                fallible |= n.is_fallible();
                scope = scope.or_else(|| n.scope().cloned());
            }
            NodeData {
                digest,
                dtype,
                extent,
                backend: backend.clone(),
                op,
                recipe: Mutex::new(Some(Arc::new(recipe))),
                asserts: asserts.into(),
                depth: depth + 1,
                lengths: KnownLengths::NONE,
                vector_padded: true,
                fallible,
                scope,
                stored: OnceLock::new(),
            }
        });
        if let Some(recipe) = given {
            node.regain(recipe);
        }
        node
    }

    /// The same values as a node that equals no other, and that derivatives are taken of within the scope.
    pub(crate) fn leaf(&self, scope: &Scope) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let digest = Digest::of("leaf", NEXT.fetch_add(1, Ordering::Relaxed));
        let value = Expr::load(self, Expr::index());
        intern(digest, || NodeData {
            digest,
            dtype: self.dtype(),
            extent: self.extent().clone(),
            backend: self.backend().clone(),
            op: "leaf",
            depth: value.depth() + 1,
            lengths: KnownLengths::NONE,
            vector_padded: true,
            fallible: self.is_fallible(),
            scope: Some(scope.clone()),
            recipe: Mutex::new(Some(Arc::new(Recipe::Map(Map { value, whole: false })))),
            asserts: Box::default(),
            stored: OnceLock::new(),
        })
    }
}
