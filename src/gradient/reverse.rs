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

use super::cotangents::{Cotangents, StepArrays};
use super::unique_rows::UniqueRows;
use super::{expr, primitive};
use crate::error::Result;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// The cotangents of the inputs of a recurrence's step, where those of results are given as expressions in their positions.
/// `None` for an input that no result depends on.
///
/// # Errors
/// A primitive or a function without a gradient.
fn of_step(
    rec: Recorder<'_>,
    results: Vec<(Node, Expr)>,
    inputs: &[Node],
    arrays: StepArrays<'_>,
) -> Result<Vec<Option<Node>>> {
    let totals = of_all(rec, results, inputs, (false, Some(arrays)))?;
    Ok(totals.into_iter().map(|total| total.and_then(Total::into_dense)).collect())
}

/// The cotangent of an input.
pub(super) enum Total {
    Dense(Node),
    Rows(UniqueRows),
}

impl Total {
    fn into_dense(self) -> Option<Node> {
        if let Self::Dense(node) = self { Some(node) } else { None }
    }
}

/// The cotangents of the inputs, where those of results are given as expressions in their positions. `None` for an input that
/// no result depends on. Those of inputs of which a single look-up reads rows are these rows, if `of_rows`.
///
/// # Errors
/// A primitive or a function without a gradient.
pub(super) fn totals(
    rec: Recorder<'_>,
    results: Vec<(Node, Expr)>,
    inputs: &[Node],
    of_rows: bool,
) -> Result<Vec<Option<Total>>> {
    of_all(rec, results, inputs, (of_rows, None))
}

fn of_all(
    rec: Recorder<'_>,
    results: Vec<(Node, Expr)>,
    inputs: &[Node],
    (of_rows, of_step_arrays): (bool, Option<StepArrays<'_>>),
) -> Result<Vec<Option<Total>>> {
    let targets: DigestSet = inputs.iter().map(Node::digest).collect();
    let stored = of_step_arrays.iter().flat_map(|arrays| arrays.stored);
    let stored: DigestMap<&Node> = stored.map(|(read, computed)| (read.digest(), computed)).collect();
    let depends_on = |node: &Node| match stored.get(&node.digest()) {
        _ if targets.contains(&node.digest()) => Vec::new(),
        Some(&computed) => vec![computed.clone()],
        None => depends_on(node),
    };
    let order = inputs_first(results.iter().map(|(node, _)| node), &depends_on);
    let mut reaching = DigestSet::default();
    for node in &order {
        let reaches = |node: &Node| reaching.contains(&node.digest());
        if targets.contains(&node.digest()) || depends_on(node).iter().any(reaches) {
            reaching.insert(node.digest());
        }
    }
    let looked_up = if of_rows { targets.clone() } else { DigestSet::default() };
    let mut all = Cotangents::new(rec, of_step, (reaching, looked_up));
    all.of_step = of_step_arrays;
    for (node, ct) in results {
        all.add(&node, ct);
    }
    for node in order.iter().rev().filter(|node| !targets.contains(&node.digest())) {
        let Some(ct) = all.total(node) else { continue };
        match stored.get(&node.digest()) {
            Some(computed) => all.add(computed, Expr::load(&ct, Expr::index())),
            None => primitive::pull(&mut all, node, &ct)?,
        }
    }
    let total = |node: &Node| match all.rows(node)? {
        Some(rows) => Ok(Some(Total::Rows(rows))),
        None => Ok(all.total(node).map(Total::Dense)),
    };
    inputs.iter().map(total).collect()
}

/// The arrays of floats that an array has derivatives of.
fn depends_on(node: &Node) -> Vec<Node> {
    if !node.is_differentiable() {
        return Vec::new();
    }
    let recipe = node.kept_recipe();
    let of_exprs = recipe.iter().flat_map(|recipe| recipe.exprs()).flat_map(expr::arrays);
    of_exprs.chain(recipe.iter().filter_map(|recipe| recipe.base().cloned())).collect()
}

/// The arrays that the results have derivatives of, each after those that it has derivatives of.
fn inputs_first<'a>(results: impl Iterator<Item = &'a Node>, depends_on: &impl Fn(&Node) -> Vec<Node>) -> Vec<Node> {
    let (mut out, mut seen) = (Vec::new(), DigestSet::default());
    let mut stack: Vec<(Node, bool)> = results.map(|node| (node.clone(), false)).collect();
    while let Some((node, is_ready)) = stack.pop() {
        if is_ready {
            out.push(node);
        } else if seen.insert(node.digest()) {
            let inputs = depends_on(&node);
            stack.push((node, true));
            stack.extend(inputs.into_iter().map(|input| (input, false)));
        }
    }
    out
}
