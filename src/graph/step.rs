//! What a plan consists of, and what it must keep to.

use std::sync::Arc;

use super::expr::{Check, Expr};
use super::node::{Node, Recipe};
use super::row_pass::RowPass;

/// What a kernel of the backend may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanLimits {
    /// Storage buffers a kernel can bind, output included.
    pub(crate) storage_buffers: u32,
    /// Whether maps are taken into their consumers at all; off only to test that it changes no bits.
    pub(crate) fuse: bool,
    /// What 64-bit integers are in its kernels.
    pub(crate) longs: Longs,
    /// Whether the driver ends the loops of an invocation after 65,535 turns, without a word.
    pub(crate) ends_loops: bool,
}

/// What 64-bit integers are in a device's kernels. In storage they are 8 bytes, little endian, either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Longs {
    /// The device's own.
    Native,
    /// Pairs of 32-bit words, the low one first.
    Pairs,
}

/// One pass over an array: a recipe whose expressions read stored arrays only.
#[derive(Debug)]
pub(crate) struct Step {
    /// The node that it computes.
    pub(crate) out: Node,
    /// How, with maps substituted.
    pub(crate) recipe: Recipe,
    /// What a row reduction gives, of which the node is the first, or the map.
    pub(crate) pass: Option<RowPass>,
    /// The live count of the output, over stored arrays only.
    pub(crate) live: Option<Expr>,
    /// Stored arrays that it reads, in order of first use; of earlier steps or from before.
    pub(crate) reads: Vec<Node>,
    /// What 64-bit integers are in its kernels.
    pub(crate) longs: Longs,
    /// Whether the driver ends the loops of an invocation after 65,535 turns, without a word.
    pub(crate) ends_loops: bool,
    /// Conditions evaluated on the way.
    pub(crate) checks: Vec<Arc<Check>>,
    /// Conditions that the output depends on besides.
    pub(crate) after: Vec<Node>,
    /// The partition whose row of each element is worth finding once a tile: its splits, and numbers an element has.
    pub(crate) row_context: Option<(Node, u32)>,
    /// The operations taken in, innermost last.
    pub(crate) fused: Vec<&'static str>,
}

/// Steps in an order in which they can run.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
}
