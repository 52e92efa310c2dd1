//! The values behind a failed check, computed after a read has failed.
//!
//! A kernel reports the first position at which a condition does not hold. The diagnosis evaluates the integers that the
//! condition compares at that position, from the recipes that the read was about to evaluate. A check that an earlier
//! [`Tensor::eval`](crate::Tensor::eval) computed has no recipe any more; its error names the position only.

use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result, quoted};
use crate::graph::backend::{BackendRef, Part, ReadBytes, Wait};
use crate::graph::conditions::unconditional;
use crate::graph::digest::DigestSet;
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Recipe};
use crate::graph::opcode::BinaryOp;
use crate::graph::primitive::Assert;
use crate::graph::size::RecordedSize;
use crate::graph::walk::{for_each_expr, for_each_node};

/// Reads the parts as [`Backend::read_parts`](crate::graph::backend::Backend::read_parts) does. The error of a failed check names
/// the compared integers.
pub(crate) async fn read_parts(backend: &BackendRef, parts: Vec<Part>, wait: Wait) -> Result<Vec<ReadBytes>> {
    let diagnosis = Diagnosis::of(backend, parts.iter().map(|part| &part.node));
    match backend.read_parts(parts, wait).await {
        Ok(read) => Ok(read),
        Err(error) => Err(diagnosis.explain(error, wait).await),
    }
}

/// The recipes below a read that have conditions, or inputs with conditions. The evaluation drops them from their nodes.
struct Diagnosis {
    backend: BackendRef,
    recipes: Vec<Arc<Recipe>>,
}

impl Diagnosis {
    /// Keeps the recipes that may fail. Keeps no node: one more reference would make its array a result.
    fn of<'a>(backend: &BackendRef, nodes: impl Iterator<Item = &'a Node>) -> Self {
        let mut out = Self { backend: backend.clone(), recipes: Vec::new() };
        let mut seen = DigestSet::default();
        nodes.for_each(|node| out.keep(node, &mut seen));
        let mut next = 0;
        while let Some(recipe) = out.recipes.get(next).cloned() {
            for e in recipe.exprs() {
                for_each_node(e, &mut |node| out.keep(node, &mut seen));
            }
            next += 1;
        }
        out
    }

    fn keep(&mut self, node: &Node, seen: &mut DigestSet) {
        if node.is_fallible() && seen.insert(node.digest()) {
            self.recipes.extend(node.recipe());
            node.asserts().iter().for_each(|assert| self.keep(assert, seen));
        }
    }

    /// Adds the compared integers to the error of a check. Other errors stay as they are.
    async fn explain(self, error: Error, wait: Wait) -> Error {
        let Error::Check { op, what, at, location } = &error else { return error };
        let is_this = |check: &Check| check.op == *op && check.what == *what && check.location == *location;
        if let Some(text) = self.string(&is_this, *at, wait).await {
            return Error::Check { op, what: format!("{what}: {text}"), at: *at, location };
        }
        let Some(comparison) = self.comparison(&is_this) else { return error };
        let place = Expr::u32(u32::try_from(*at).unwrap_or(u32::MAX));
        let number = |e: &Expr| {
            let value = unconditional(&e.at(&place)).cast(DType::I64);
            Part::whole(Node::map(&self.backend, "diagnosis", Extent::known(1), value, &[]))
        };
        let [a, b] = comparison.operands.each_ref().map(number);
        let Ok(read) = self.backend.read_parts(vec![a, b], wait).await else { return error };
        let numbers: Vec<i64> =
            read.iter().filter_map(|bytes| bytes.first_chunk().copied().map(i64::from_le_bytes)).collect();
        match numbers[..] {
            [a, b] => match comparison.violation(a, b) {
                Some(values) => Error::Check { op, what: format!("{what}: {values}"), at: *at, location },
                // The position counts another domain: that of a kernel into which the condition was fused.
                None => error,
            },
            _ => error,
        }
    }

    /// The comparison in the condition of a check, as expressions in the position.
    fn comparison(&self, is_this: &impl Fn(&Check) -> bool) -> Option<Comparison> {
        self.find(is_this, &mut |check, ok| Comparison::of(check, ok))
    }

    /// The string that the condition of a check is about, in quotes: its first bytes.
    async fn string(&self, is_this: &impl Fn(&Check) -> bool, at: u64, wait: Wait) -> Option<String> {
        /// Maximum number of bytes that are read.
        const READ: u32 = 4096;
        let (splits, bytes, accepts) = self.find(is_this, &mut |check, _| {
            let of = check.strings.as_ref()?;
            let splits = of.splits.as_ref().map(|splits| splits.upgrade()).map_err(|len| len.capacity());
            Some((splits, of.bytes.upgrade()?, of.accepts))
        })?;
        let at = u32::try_from(at).ok()?;
        let (start, end) = match splits {
            Ok(splits) => {
                let part = Part::of(splits?, at..at.checked_add(2)?);
                let read = self.backend.read_parts(vec![part], wait).await.ok()?;
                let ends: Vec<u32> = bytemuck::pod_collect_to_vec(read.first()?);
                (*ends.first()?, *ends.get(1)?)
            }
            Err(len) => (at.checked_mul(len)?, at.checked_add(1)?.checked_mul(len)?),
        };
        let end = end.min(start.saturating_add(READ));
        let read = self.backend.read_parts(vec![Part::of(bytes, start..end)], wait).await.ok()?;
        let string: &[u8] = read.first()?;
        if accepts(string) {
            return None;
        }
        Some(quoted(string))
    }

    /// The first result of `f` for a check that is sought and its condition.
    fn find<T>(&self, is_this: &impl Fn(&Check) -> bool, f: &mut dyn FnMut(&Check, &Expr) -> Option<T>) -> Option<T> {
        let mut found = None;
        for recipe in &self.recipes {
            if let Recipe::Assert(Assert { ok, check, .. }) = &**recipe
                && is_this(check)
            {
                found = found.or_else(|| f(check, ok));
            }
            for e in recipe.exprs() {
                for_each_expr(e, &mut |e| {
                    if let ExprKind::Checked(check, ok, _) = e.kind()
                        && is_this(check)
                    {
                        found = found.take().or_else(|| f(check, ok));
                    }
                });
            }
        }
        found
    }
}

/// A comparison of integers.
struct Comparison {
    op: BinaryOp,
    operands: [Expr; 2],
}

impl Comparison {
    /// The comparison that decides a condition: the last one of a conjunction, such as `index < size` after the test of
    /// the sign, and the first one of a disjunction, whose others are exceptions.
    ///
    /// Equalities compare sizes. An inequality counts only if it compares an index with a size: others compare sums that
    /// the user did not give.
    fn of(check: &Check, ok: &Expr) -> Option<Self> {
        match ok.kind() {
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Lt | BinaryOp::Le), a, b) => {
                // An index is compared as unsigned, and shown with its sign.
                let signed = |e: &Expr| if let ExprKind::Bitcast(of) = e.kind() { of.clone() } else { e.clone() };
                let operands = [signed(a), signed(b)];
                let is_of_integers = operands.iter().all(|e| e.dtype().is_integer());
                // `x % n == 0` compares nothing that the user knows.
                let is_remainder = *op == BinaryOp::Eq && b.as_known() == Some(0);
                let is_named = *op == BinaryOp::Eq || check.is_of_index;
                (is_named && is_of_integers && !is_remainder).then_some(Self { op: *op, operands })
            }
            ExprKind::Binary(BinaryOp::And, a, b) => Self::of(check, b).or_else(|| Self::of(check, a)),
            ExprKind::Binary(BinaryOp::Or, a, b) => Self::of(check, a).or_else(|| Self::of(check, b)),
            _ => None,
        }
    }

    /// The two integers in words, if the comparison is false.
    fn violation(&self, a: i64, b: i64) -> Option<String> {
        match self.op {
            BinaryOp::Lt => (a < 0 || a >= b).then(|| format!("{a} for size {b}")),
            BinaryOp::Le => (a > b).then(|| format!("{a} exceeds {b}")),
            _ => (a != b).then(|| format!("{a} and {b}")),
        }
    }
}
