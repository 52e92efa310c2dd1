//! Nodes: one-dimensional arrays of numbers, stored or not yet computed.
//!
//! A node has a dtype, an [`Extent`] and a [`Recipe`]. Nodes are hash-consed: recording the same array twice gives the
//! same node, so that equal partitions are identical and common subexpressions are computed once. An evaluated node
//! keeps its result and drops its recipe, which releases the recipe's inputs. Nodes that derivatives are taken of, and those
//! computed from them, keep their recipes until their [scope](super::scope) is closed.

mod inputs;
mod record;

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use super::Node;
pub(crate) use super::primitive::{Product, Recipe, RowDomain, Rows};
pub(crate) use super::stored::Stored;
pub(in crate::graph) use inputs::InputForm;

use super::digest::Digest;
use super::digest::interned::Interner;
use super::drops::drop_later;
use super::row_lengths::KnownLengths;
use super::scope::Scope;
use super::size::RecordedSize;
use super::{BackendRef, Extent, WeakNode};
use crate::dtype::DType;

/// Contents of a [`Node`].
#[derive(Debug)]
pub(super) struct NodeData {
    digest: Digest,
    dtype: DType,
    extent: Extent,
    backend: BackendRef,
    /// The operation that first recorded the node, for `explain`; not part of the digest.
    op: &'static str,
    recipe: Mutex<Option<Arc<Recipe>>>,
    /// Conditions that must hold for this node to be valid, besides those of its inputs.
    asserts: Box<[Node]>,
    /// Length of the longest chain of unevaluated nodes that ends with this one; bounds the depth of graph walks.
    depth: u32,
    /// For splits: row lengths as far as the host knows them; not part of the digest.
    lengths: KnownLengths,
    /// Whether the storage extends to a multiple of 16 bytes.
    vector_padded: bool,
    /// Whether the node or one of its direct or indirect inputs has a condition, so that reading it may fail.
    fallible: bool,
    /// The scope, if derivatives are taken of the node or of one that it is computed from: it keeps its recipe until the
    /// scope is closed.
    scope: Option<Scope>,
    stored: OnceLock<Stored>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (digest, size) = (self.0.digest.short(), self.0.extent.size());
        if size.varies() {
            write!(f, "Node({digest} {} of a trace)", self.0.dtype)
        } else {
            write!(f, "Node({digest} {} x{})", self.0.dtype, size.capacity())
        }
    }
}
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}
impl Eq for Node {}
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

static INTERNED: Interner<NodeData> = Interner::new();
fn intern(digest: Digest, make: impl FnOnce() -> NodeData) -> Node {
    Node(INTERNED.get_or_insert(digest, make))
}

impl Drop for NodeData {
    fn drop(&mut self) {
        INTERNED.remove_dropped(self.digest);
        let recipe = self.recipe.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let extent = std::mem::replace(&mut self.extent, Extent::known(0));
        drop_later((Some((recipe, std::mem::take(&mut self.asserts), extent)), (None, None)));
    }
}

impl WeakNode {
    /// The node, while something else keeps it.
    pub(crate) fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node)
    }
}

impl Node {
    /// The node, without keeping it alive.
    pub(crate) fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(&self.0))
    }
    pub(crate) fn digest(&self) -> Digest {
        self.0.digest
    }
    /// Address of the node's allocation.
    pub(in crate::graph) fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
    /// Number of references to the node's allocation.
    pub(in crate::graph) fn references(&self) -> usize {
        Arc::strong_count(&self.0)
    }
    pub(crate) fn dtype(&self) -> DType {
        self.0.dtype
    }
    pub(crate) fn extent(&self) -> &Extent {
        &self.0.extent
    }
    pub(crate) fn backend(&self) -> &BackendRef {
        &self.0.backend
    }
    /// The operation that recorded the node.
    pub(crate) fn op(&self) -> &'static str {
        self.0.op
    }
    pub(crate) fn asserts(&self) -> &[Self] {
        &self.0.asserts
    }
    /// Upper bound of the depth of a walk through unevaluated nodes from here; 0 once evaluated.
    pub(crate) fn depth(&self) -> u32 {
        if self.stored().is_some() { 0 } else { self.0.depth }
    }
    /// For recorded splits: row lengths as far as the host knows them.
    pub(in crate::graph) fn known_lengths(&self) -> KnownLengths {
        self.0.lengths
    }
    /// Whether the GPU buffer of the array is padded to a multiple of 16 bytes, a vector of four words. Buffers of the
    /// user's program may not be.
    pub(crate) fn is_vector_padded(&self) -> bool {
        self.0.vector_padded
    }
    /// Whether reading the node may fail because of a condition of the node or of its inputs. Overflow checks of scans
    /// do not count.
    pub(crate) fn is_fallible(&self) -> bool {
        self.0.fallible
    }
    /// Whether derivatives are taken of the node, or of one that it is computed from.
    pub(crate) fn is_differentiable(&self) -> bool {
        self.scope().is_some()
    }
    /// The open scope, if derivatives are taken of the node or of one that it is computed from.
    pub(in crate::graph) fn scope(&self) -> Option<&Scope> {
        self.0.scope.as_ref().filter(|scope| scope.is_open())
    }
    /// Bytes of storage at the capacity.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.extent().capacity()) * self.dtype().size() as u64
    }
    /// The result, once evaluated.
    pub(crate) fn stored(&self) -> Option<&Stored> {
        self.0.stored.get()
    }
    /// The recipe, until the node is evaluated.
    pub(crate) fn recipe(&self) -> Option<Arc<Recipe>> {
        if self.stored().is_some() {
            return None;
        }
        self.0.recipe.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// The recipe, evaluated or not, of a node that [keeps](Self::is_differentiable) it.
    pub(crate) fn kept_recipe(&self) -> Option<Arc<Recipe>> {
        self.0.recipe.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Sets the result on the first call, and drops the recipe unless derivatives need it.
    pub(crate) fn set_stored(&self, stored: Stored) {
        debug_assert!(
            !stored.status.is_empty() || self.extent().host_value().is_none_or(|live| live <= stored.len),
            "bug: {} of {:?} elements are stored: {}",
            stored.len,
            self.extent().host_value(),
            self.op()
        );
        let _ = self.0.stored.set(stored);
        match self.scope().cloned().or_else(Scope::current) {
            Some(scope) => scope.keep(self),
            None => self.drop_recipe(),
        }
    }
    /// Sets the recipe of a node that was evaluated and is recorded again while a function is differentiated.
    fn regain(&self, recipe: Recipe) {
        let Some(scope) = Scope::current().filter(|_| self.stored().is_some()) else { return };
        let mut own = self.0.recipe.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(Arc::new(recipe));
            scope.keep(self);
        }
    }
    /// Drops the recipe, which releases its inputs.
    pub(in crate::graph) fn drop_recipe(&self) {
        let dropped = self.0.recipe.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(dropped);
    }
}
