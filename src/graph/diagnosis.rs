//! The values behind an index that was out of range, computed after a read has failed.
//!
//! A kernel reports the first position at which a condition does not hold. The diagnosis evaluates the compared values
//! at that position, from the recipes that the read was about to evaluate.

use std::sync::Arc;

use super::backend::{Part, Wait};
use super::conditions::unconditional;
use super::digest::DigestSet;
use super::expr::{Check, Expr, ExprKind};
use super::extent::Extent;
use super::node::{Node, Recipe};
use super::opcode::BinaryOp;
use super::walk::{for_each_expr, for_each_node};
use crate::dtype::DType;
use crate::error::Error;

/// The condition that the diagnosis explains.
pub(crate) const OUT_OF_RANGE: &str = "an index is out of range";

/// The fallible nodes of a read, with the recipes that their evaluation drops.
pub(crate) struct Diagnosis(Vec<(Node, Arc<Recipe>)>);

impl Diagnosis {
    /// Keeps the recipes of the nodes that may fail.
    pub(crate) fn of<'a>(nodes: impl Iterator<Item = &'a Node>) -> Self {
        let fallible = nodes.filter(|node| node.is_fallible());
        Self(fallible.filter_map(|node| node.recipe().map(|recipe| (node.clone(), recipe))).collect())
    }

    /// Adds the index and the size to the error of an index that is out of range. Other errors stay as they are.
    pub(crate) async fn explain(self, error: Error, wait: Wait) -> Error {
        let Error::Check { op, what, at, location } = &error else { return error };
        let Some((first, _)) = self.0.first() else { return error };
        if what != OUT_OF_RANGE {
            return error;
        }
        let backend = first.backend().clone();
        let is_this = |check: &Check| check.op == *op && check.what == *what && check.location == *location;
        let Some((index, size)) = self.comparison(&is_this) else { return error };
        let place = Expr::u32(u32::try_from(*at).unwrap_or(u32::MAX));
        let number = |e: &Expr| {
            let value = unconditional(&e.at(&place)).cast(DType::I64);
            Part::whole(Node::map(&backend, "diagnosis", Extent::known(1), value, &[]))
        };
        let Ok(read) = backend.read_parts(vec![number(&index), number(&size)], wait).await else { return error };
        let numbers: Vec<i64> =
            read.iter().filter_map(|bytes| bytes.first_chunk().copied().map(i64::from_le_bytes)).collect();
        match numbers[..] {
            [index, size] if index < 0 || index >= size => {
                let what = format!("{what}: {index} for size {size}");
                Error::Check { op, what, at: *at, location }
            }
            // The position counts another domain: that of a kernel into which the condition was fused.
            _ => error,
        }
    }

    /// The index and the size that the condition compares, as expressions in the position.
    fn comparison(&self, is_this: &impl Fn(&Check) -> bool) -> Option<(Expr, Expr)> {
        let mut found = None;
        let mut seen = DigestSet::default();
        let mut pending: Vec<(Node, Arc<Recipe>)> = self.0.clone();
        while let Some((node, recipe)) = pending.pop() {
            if let Recipe::Assert { ok, check, .. } = &*recipe
                && is_this(check)
            {
                found = found.or_else(|| compared(ok));
            }
            let mut inputs: Vec<Node> = node.asserts().to_vec();
            for e in recipe.exprs() {
                for_each_expr(e, &mut |e| {
                    if let ExprKind::Checked(check, ok, _) = e.kind()
                        && is_this(check)
                    {
                        found = found.take().or_else(|| compared(ok));
                    }
                });
                for_each_node(e, &mut |node| inputs.push(node.clone()));
            }
            let fallible = inputs.into_iter().filter(|node| node.is_fallible() && seen.insert(node.digest()));
            pending.extend(fallible.filter_map(|node| node.recipe().map(|recipe| (node, recipe))));
        }
        found
    }
}

/// The operands of the last comparison `index < size` in a condition, the index with its sign.
fn compared(ok: &Expr) -> Option<(Expr, Expr)> {
    match ok.kind() {
        ExprKind::Binary(BinaryOp::Lt, index, size) => {
            let index = if let ExprKind::Bitcast(signed) = index.kind() { signed } else { index };
            Some((index.clone(), size.clone()))
        }
        ExprKind::Binary(_, a, b) => compared(b).or_else(|| compared(a)),
        _ => None,
    }
}
