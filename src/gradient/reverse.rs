//! The pass from results to what they are computed from.
//!
//! ```text
//! cotangents of results
//!     │ arrays in reverse order of their computation
//! primitive    the cotangent of an array to those of the values that its primitive takes
//!     │ expr   through the expression of a value, to the elements that it reads
//!     ▼ access from the elements that each position reads to the positions that read each element
//! cotangents of inputs
//! ```
//!
//! Cotangents are recorded like any other values: the pass computes nothing.

use super::access::{self, Given};
use super::expr::{self, Read};
use super::primitive;
use crate::error::Result;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// Number of contributions that one map adds.
const ADDED_AT_ONCE: usize = 8;

/// The cotangents of arrays.
pub(super) struct Cotangents<'a> {
    pub(super) rec: Recorder<'a>,
    /// The contributions to each array so far, as expressions in its position.
    of: DigestMap<Vec<Expr>>,
    /// The arrays that the inputs are reached from.
    reaching: DigestSet,
}

/// The cotangents of the inputs, where those of results are given as expressions in their positions. `None` for an input
/// that no result depends on.
///
/// # Errors
/// A primitive or a function without a gradient.
pub(super) fn cotangents(rec: Recorder<'_>, results: Vec<(Node, Expr)>, inputs: &[Node]) -> Result<Vec<Option<Node>>> {
    let targets: DigestSet = inputs.iter().map(Node::digest).collect();
    let order = inputs_first(results.iter().map(|(node, _)| node), &targets);
    let mut all = Cotangents { rec, of: DigestMap::default(), reaching: DigestSet::default() };
    for node in &order {
        let reaches = |node: &Node| all.reaching.contains(&node.digest());
        if targets.contains(&node.digest()) || depends_on(node).iter().any(reaches) {
            all.reaching.insert(node.digest());
        }
    }
    for (node, ct) in results {
        all.add(&node, ct);
    }
    for node in order.iter().rev().filter(|node| !targets.contains(&node.digest())) {
        if let Some(ct) = all.total(node) {
            primitive::pull(&mut all, node, &ct)?;
        }
    }
    Ok(inputs.iter().map(|node| all.total(node)).collect())
}

impl Cotangents<'_> {
    /// Whether the inputs are reached from the array.
    fn wants(&self, node: &Node) -> bool {
        self.reaching.contains(&node.digest())
    }

    /// Adds a contribution to the cotangent of an array.
    pub(super) fn add(&mut self, node: &Node, ct: Expr) {
        if self.wants(node) {
            self.of.entry(node.digest()).or_default().push(ct);
        }
    }

    /// Adds what the positions below `count` contribute, where `ct` is the cotangent of `value`; both are expressions in
    /// the position.
    pub(super) fn pull(&mut self, value: &Expr, ct: Expr, count: &Extent) -> Result<()> {
        let reads = expr::reads(self.rec, value, ct, |node| self.wants(node))?;
        for Read { node, index, ct } in reads {
            let given = Given { rec: self.rec, ct, count: count.clone() };
            for ct in access::adjoint(given, &index, node.extent())? {
                self.add(&node, ct);
            }
        }
        Ok(())
    }

    /// The cotangent of an array, as an array; `None` if nothing contributes to it.
    fn total(&mut self, node: &Node) -> Option<Node> {
        let mut parts = self.of.remove(&node.digest())?;
        let rec = Recorder { op: node.op(), ..self.rec };
        loop {
            let sums = parts.chunks(ADDED_AT_ONCE).map(|parts| {
                let sum = parts.iter().cloned().reduce(Expr::add);
                let sum = sum.unwrap_or_else(|| unreachable!("bug: a chunk without elements"));
                match sum.own_load() {
                    Some(array) if array.extent() == node.extent() => array.clone(),
                    _ => rec.map(node.extent().clone(), sum, &[]),
                }
            });
            let sums: Vec<Node> = sums.collect();
            match &sums[..] {
                [sum] => return Some(sum.clone()),
                _ => parts = sums.iter().map(|sum| Expr::load(sum, Expr::index())).collect(),
            }
        }
    }
}

/// The arrays of floats that an array has derivatives of.
fn depends_on(node: &Node) -> Vec<Node> {
    if !node.is_differentiable() {
        return Vec::new();
    }
    let recipe = node.kept_recipe();
    recipe.iter().flat_map(|recipe| recipe.exprs()).flat_map(expr::arrays).collect()
}

/// The arrays that the results have derivatives of, each after those that it has derivatives of, down to the targets.
fn inputs_first<'a>(results: impl Iterator<Item = &'a Node>, targets: &DigestSet) -> Vec<Node> {
    let (mut out, mut seen) = (Vec::new(), DigestSet::default());
    let mut stack: Vec<(Node, bool)> = results.map(|node| (node.clone(), false)).collect();
    while let Some((node, is_ready)) = stack.pop() {
        if is_ready {
            out.push(node);
        } else if seen.insert(node.digest()) {
            let inputs = if targets.contains(&node.digest()) { Vec::new() } else { depends_on(&node) };
            stack.push((node, true));
            stack.extend(inputs.into_iter().map(|input| (input, false)));
        }
    }
    out
}
