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

use super::cotangents::Cotangents;
use super::{expr, primitive};
use crate::error::Result;
use crate::graph::digest::DigestSet;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// The cotangents of the inputs, where those of results are given as expressions in their positions. `None` for an input
/// that no result depends on.
///
/// # Errors
/// A primitive or a function without a gradient.
pub(super) fn cotangents(rec: Recorder<'_>, results: Vec<(Node, Expr)>, inputs: &[Node]) -> Result<Vec<Option<Node>>> {
    let targets: DigestSet = inputs.iter().map(Node::digest).collect();
    let order = inputs_first(results.iter().map(|(node, _)| node), &targets);
    let mut reaching = DigestSet::default();
    for node in &order {
        let reaches = |node: &Node| reaching.contains(&node.digest());
        if targets.contains(&node.digest()) || depends_on(node).iter().any(reaches) {
            reaching.insert(node.digest());
        }
    }
    let mut all = Cotangents::new(rec, cotangents, reaching);
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
