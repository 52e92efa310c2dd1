//! What a plan consists of, and what it must keep to.

use std::sync::Arc;

use super::digest::DigestSet;
use super::expr::{Check, Expr, ExprKind};
use super::node::{Node, Recipe, Rows};
use super::opcode::HashOp;
use super::row_pass::RowPass;
use super::size::Size;
use super::unfused::Kept;
use super::walk::{arrays, for_each_expr, for_each_node};
use crate::tuning::Tuning;

/// Bytes of the seat of a long string that is hashed: see `shaders/row_hash_long.wgsl`.
pub(crate) const HASH_SEAT: u64 = 72;

/// What a kernel of the backend may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanLimits {
    /// Arrays a kernel reads and writes, output included.
    pub(crate) arrays: u32,
    /// Storage buffers a kernel can bind: as many as arrays, or more, so that an array can take several.
    pub(crate) bindings: u32,
    /// Bytes that one binding holds; a larger array takes several.
    pub(crate) max_binding: u64,
    /// Whether maps are taken into their consumers at all; off only to test that it changes no bits.
    pub(crate) fuse: bool,
    /// What 64-bit integers are in its kernels.
    pub(crate) longs: Longs,
    /// Whether the driver ends the loops of an invocation after 65,535 turns, without a word.
    pub(crate) ends_loops: bool,
    /// How its kernels are cut.
    pub(crate) tuning: Tuning,
}

impl PlanLimits {
    /// How many bindings an array of so many bytes takes.
    pub(crate) fn windows(&self, bytes: u64) -> u32 {
        if bytes <= self.max_binding { 1 } else { bytes.div_ceil(self.window_bytes()).try_into().unwrap_or(u32::MAX) }
    }

    /// Bytes of each binding of an array that takes several: a power of two.
    pub(crate) fn window_bytes(&self) -> u64 {
        1 << self.max_binding.max(1).ilog2()
    }

    /// Bytes of a long string that a dispatch hashes, a multiple of 64. A hash is a chain over its bytes, serial in one
    /// invocation: the fewer bytes, the more dispatches; the more, the nearer to a driver's watchdog timeout, or to the
    /// number of iterations after which it ends loops. 64 bytes take one iteration of Fingerprint64, up to nine of the
    /// others.
    pub(crate) fn hash_leg(&self, op: HashOp) -> u32 {
        match op {
            HashOp::Fingerprint if self.ends_loops => 3 << 20,
            _ if self.ends_loops => 256 << 10,
            _ => 4 << 20,
        }
    }

    /// The most bytes of a string that are hashed at once: all of them may have to be in one binding.
    pub(crate) fn longest_hashed_at_once(&self, op: HashOp) -> u32 {
        u64::from(self.hash_leg(op)).min(self.window_bytes()) as u32
    }

    /// How many seats strings have that are not hashed at once, of strings of so many bytes in all, none of which is
    /// longer than that.
    pub(crate) fn hash_seats(&self, op: HashOp, nbytes: u32, longest: u32) -> u32 {
        let at_once = self.longest_hashed_at_once(op);
        if longest > at_once { nbytes / at_once + 1 } else { 0 }
    }

    /// As on the smallest device that there may be.
    #[cfg(test)]
    pub(crate) const fn of_core_webgpu(longs: Longs) -> Self {
        let tuning = Tuning::SANE;
        Self { arrays: 8, bindings: 8, max_binding: 128 << 20, fuse: true, longs, ends_loops: true, tuning }
    }
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
    /// What its kernels may use.
    pub(crate) limits: PlanLimits,
    /// Conditions evaluated on the way.
    pub(crate) checks: Vec<Arc<Check>>,
    /// Conditions that the output depends on besides.
    pub(crate) after: Vec<Node>,
    /// The partition whose row of each element is worth finding once a tile: its splits, and numbers an element has.
    pub(crate) row_context: Option<(Node, u32)>,
    /// The operations taken in, innermost last.
    pub(crate) fused: Vec<&'static str>,
    /// Why it reads arrays that other steps store.
    pub(crate) kept: Kept,
}

impl Step {
    /// The primitive that computes it: the recipe's, or a map that knows the row of each element.
    pub(crate) fn family(&self) -> &'static str {
        match &self.recipe {
            Recipe::Map { .. } if self.row_context.is_some() => "row_map",
            recipe => recipe.family(),
        }
    }

    /// The arrays that a map reads at the position of its own element, and nowhere else. They may end before the
    /// elements do, which then choose something else.
    pub(crate) fn at_own_position(&self) -> DigestSet {
        let (Recipe::Map { value, .. } | Recipe::Assert { ok: value, .. }) = &self.recipe else {
            return DigestSet::default();
        };
        let mut elsewhere: DigestSet = self.row_context.iter().map(|(splits, _)| splits.digest()).collect();
        let mut at_own = DigestSet::default();
        let count = self.recipe.lives();
        for_each_expr(value, &mut |e| match e.kind() {
            ExprKind::Load(n, at) if at.is_index() => {
                at_own.insert(n.digest());
            }
            _ => elsewhere.extend(e.node().map(Node::digest)),
        });
        for e in self.live.clone().into_iter().chain(count) {
            elsewhere.extend(arrays(&e));
        }
        at_own.difference(&elsewhere).copied().collect()
    }
}

impl Step {
    /// Of what it reads, the arrays in its expressions: not those that only say how many elements there are.
    pub(super) fn value_reads(&self) -> Vec<Node> {
        let mut read = DigestSet::default();
        self.recipe.exprs().into_iter().for_each(|e| read.extend(arrays(e)));
        self.reads.iter().filter(|n| read.contains(&n.digest())).cloned().collect()
    }

    /// The step with a map of what it has `made` in it: its pass computes the map's node, and depends on all that
    /// either depended on.
    pub(super) fn with_map(self, map: Self, made: &[Node], pass: RowPass) -> Self {
        let (mut reads, mut checks, mut after) = (self.reads, self.checks, self.after);
        let is_other = |n: &Node| !made.contains(n);
        let read = map.value_reads();
        merge(&mut reads, read.iter().filter(|n| is_other(n)).cloned());
        merge(&mut after, map.reads.into_iter().filter(|n| is_other(n) && !read.contains(n)));
        merge(&mut checks, map.checks);
        merge(&mut after, map.after.into_iter().filter(is_other));
        let (mut fused, mut kept) = (map.fused, map.kept);
        fused.extend(self.fused);
        kept.extend(self.kept);
        Self { out: map.out, pass: Some(pass), live: map.live, reads, checks, after, fused, kept, ..self }
    }
}

/// Adds what is not there yet.
pub(super) fn merge<T: PartialEq>(into: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for x in more {
        if !into.contains(&x) {
            into.push(x);
        }
    }
}

/// What a recipe whose expressions are resolved reads and looks at.
pub(super) struct Reading {
    /// The arrays, in order of first use.
    pub(super) reads: Vec<Node>,
    /// The conditions.
    pub(super) checks: Vec<Arc<Check>>,
    /// The partition, with its inner width, that the row of the current element is first asked for in.
    pub(super) own_row: Option<(Node, u32)>,
    /// The arrays besides that hold counts which its sizes are made of: they must be there when the step starts.
    pub(super) sized: Vec<Node>,
}

impl Reading {
    /// Of the recipe, and of the live count of what it computes.
    pub(super) fn of(recipe: &Recipe, live: Option<&Expr>) -> Self {
        let reads = recipe.array().cloned().into_iter().collect();
        let mut out = Self { reads, checks: Vec::new(), own_row: None, sized: Vec::new() };
        let lives: Vec<Expr> = recipe.lives().chain(live.cloned()).collect();
        // Kernels that walk splits stop where these do.
        let stops_at_splits = recipe.domain().is_some_and(|on| matches!(on.rows, Rows::Splits(_)));
        let read = if stops_at_splits { &[] } else { &lives[..] };
        for e in recipe.exprs().into_iter().chain(read) {
            for_each_expr(e, &mut |e| {
                if let ExprKind::Checked(check, ..) = e.kind()
                    && !out.checks.contains(check)
                {
                    out.checks.push(check.clone());
                }
                if let Some(n) = e.node()
                    && !out.reads.contains(n)
                {
                    out.reads.push(n.clone());
                }
                if let ExprKind::Size(size) = e.kind() {
                    merge(
                        &mut out.sized,
                        size.counts().into_iter().filter_map(Size::slot_count).map(|c| c.node.clone()),
                    );
                }
                if out.own_row.is_none() {
                    out.own_row = e.as_own_row().map(|(splits, inner)| (splits.clone(), inner));
                }
            });
        }
        for e in &lives {
            for_each_node(e, &mut |n| merge(&mut out.sized, [n.clone()]));
        }
        out.sized.retain(|n| !out.reads.contains(n));
        out
    }
}

/// Steps in an order in which they can run.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
}
