//! The arrays of a plan.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Extent, Node, Recipe};
use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::handles::ArrayHandle;
use crate::graph::program::ArrayId;

/// Contents of a [`Node`].
#[derive(Debug)]
pub(super) struct NodeData {
    pub(super) number: ArrayId,
    pub(super) digest: Digest,
    pub(super) dtype: DType,
    pub(super) extent: Extent,
    /// The operation that recorded the array, for `explain`.
    pub(super) op: &'static str,
    /// `None` for an input.
    pub(super) recipe: Option<Arc<Recipe>>,
    /// Conditions that must hold for the array to be valid, besides those of its inputs.
    pub(super) asserts: Box<[Node]>,
    pub(super) fallible: bool,
    pub(super) vector_padded: bool,
}

impl Node {
    pub(super) fn new(data: NodeData) -> Self {
        Self(Arc::new(data))
    }

    /// The number in the plan: that in the program for an array of the program.
    pub(crate) fn number(&self) -> ArrayId {
        self.0.number
    }
    pub(crate) fn digest(&self) -> Digest {
        self.0.digest
    }
    pub(crate) fn dtype(&self) -> DType {
        self.0.dtype
    }
    pub(crate) fn extent(&self) -> &Extent {
        &self.0.extent
    }
    /// The operation that recorded the array.
    pub(crate) fn op(&self) -> &'static str {
        self.0.op
    }
    pub(crate) fn asserts(&self) -> &[Self] {
        &self.0.asserts
    }
    /// Whether the GPU buffer of the array is padded to a multiple of 16 bytes, a vector of four words. Buffers of the
    /// user's program may not be.
    pub(crate) fn is_vector_padded(&self) -> bool {
        self.0.vector_padded
    }
    /// Whether reading the array may fail because of a condition of the array or of its inputs. Overflow checks of scans
    /// do not count.
    pub(crate) fn is_fallible(&self) -> bool {
        self.0.fallible
    }
    /// The recipe; `None` for an input.
    pub(crate) fn recipe(&self) -> Option<Arc<Recipe>> {
        self.0.recipe.clone()
    }
    /// Whether the array is an input of the program.
    pub(crate) fn is_input(&self) -> bool {
        self.0.recipe.is_none()
    }
}

impl ArrayHandle for Node {
    fn digest(&self) -> Digest {
        self.digest()
    }
    fn dtype(&self) -> DType {
        self.dtype()
    }
    fn is_fallible(&self) -> bool {
        self.is_fallible()
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Node({} {} of a plan)", self.0.number.index(), self.0.dtype)
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
