//! The cotangents of what a recurrence reads: a recurrence in the other direction, and one pass over all elements.
//!
//! The step is recorded again for all elements at once, with the states before each, which are known. Its derivative by
//! these states is the step of the reverse recurrence, whose states are the cotangents of the states; what does not
//! depend on them is computed for all elements beforehand. With the cotangents of all states known, those of weights and
//! inputs follow from one pass over all elements: the gradient of a weight is one product.

use super::cotangents::Cotangents;
use super::scalar::zero;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, RowDomain};
use crate::graph::primitive::ScanRows;
use crate::graph::recorder::Recorder;
use crate::graph::scope::Scope;
use crate::graph::walk::for_each_node;
use crate::record::recurrence::{Placeholders, Step, flat, states_before};

/// Adds what the states `node` after each element, of cotangent `ct`, contribute.
///
/// # Errors
/// An operation of the step without a gradient, or whose gradient is no step of a recurrence.
pub(super) fn pull(all: &mut Cotangents<'_>, rec: Recorder<'_>, scan: &ScanRows, node: &Node, ct: &Node) -> Result<()> {
    let dtype = node.dtype();
    let elements = &scan.on.nvals;
    let widths = &scan.states;
    let columns = Columns { rec, scan };
    // The states before each element, as leaves, and the states after it.
    let entered = Scope::enter();
    let before = states_before(scan, |at| Expr::load(node, at));
    let before: Vec<Node> =
        (0..widths.len()).map(|k| Ok(columns.of_state(k, &before)?.leaf(&entered.scope))).collect::<Result<_>>()?;
    let registers = flat(rec, elements, &scan.stages, before.clone(), &[])?;
    let after: Vec<Node> = scan.next.iter().map(|&k| registers[k as usize].clone()).collect();

    // The reverse recurrence: the cotangents of the states before each element, from those after it.
    let later = Placeholders::new(rec, dtype, elements, widths)?;
    let own: Vec<Node> =
        (0..widths.len()).map(|k| columns.of_state(k, &Expr::load(ct, Expr::index()))).collect::<Result<_>>()?;
    let of_after = |k: usize| {
        let (later, own) = (Expr::load(&later.nodes[k], Expr::index()), Expr::load(&own[k], Expr::index()));
        (after[k].clone(), later.add(own))
    };
    let of_before = (all.pass)(rec, (0..widths.len()).map(of_after).collect(), &before)?;
    let of_before: Vec<Node> = of_before
        .into_iter()
        .zip(widths)
        .map(|(ct, &width)| match ct {
            Some(ct) => Ok(ct),
            None => Ok(rec.map(rec.times(elements, width)?, zero(dtype), &[])),
        })
        .collect::<Result<_>>()?;
    let step = Step::of(rec, &later, (elements, widths), &of_before)?;
    let reverse = ScanRows {
        on: scan.on.clone(),
        reversed: !scan.reversed,
        initial: zero(dtype),
        states: widths.clone(),
        stages: step.stages.into(),
        next: step.results.into(),
    };
    let result = rec.scan_rows(reverse.clone(), &step.asserts)?;

    // The cotangents of the initial states: those before the first element of each row.
    let RowDomain { rows, nrows, inner, .. } = &scan.on;
    let (row, column) = (Expr::index().div(Expr::u32(*inner)), Expr::index().rem(Expr::u32(*inner)));
    let length = rows.length(row.clone());
    let first = if scan.reversed { length.clone().sub(Expr::u32(1)) } else { Expr::u32(0) };
    let at = rows.within(row, first).mul(Expr::u32(*inner)).add(column);
    let of_initial = length.eq(Expr::u32(0)).select(zero(dtype), Expr::load(&result, at));
    let count = rec.times(nrows, *inner)?;
    let of_initial = rec.map(count.clone(), of_initial, &[]);
    all.pull(&scan.initial, Expr::load(&of_initial, Expr::index()), &count)?;

    // Those of all else, from the whole cotangents of the states after each element.
    // The states before are inputs too: what depends on the step through them is counted already.
    let inputs = columns.inputs(|input| all.wants(input));
    let whole = states_before(&reverse, |at| Expr::load(&result, at)).add(Expr::load(ct, Expr::index()));
    let results = (0..widths.len())
        .map(|k| Ok((after[k].clone(), Expr::load(&columns.of_state(k, &whole)?, Expr::index()))))
        .collect::<Result<_>>()?;
    let ends = [inputs.clone(), before].concat();
    for (input, ct) in inputs.iter().zip((all.pass)(rec, results, &ends)?) {
        if let Some(ct) = ct {
            all.add(input, Expr::load(&ct, Expr::index()));
        }
    }
    Ok(())
}

/// The columns of states among the numbers of all states.
struct Columns<'a> {
    rec: Recorder<'a>,
    scan: &'a ScanRows,
}

impl Columns<'_> {
    /// The numbers of state `k`, from an expression of the numbers of all states.
    fn of_state(&self, k: usize, all: &Expr) -> Result<Node> {
        let widths = &self.scan.states;
        let width = Expr::u32(widths[k]);
        let element = Expr::index().div(width.clone()).mul(Expr::u32(self.scan.on.inner));
        let at = element.add(Expr::u32(widths[..k].iter().sum())).add(Expr::index().rem(width));
        Ok(self.rec.map(self.rec.times(&self.scan.on.nvals, widths[k])?, all.at(&at), &[]))
    }

    /// The arrays that the step reads.
    fn inputs(&self, wants: impl Fn(&Node) -> bool) -> Vec<Node> {
        let mut out: Vec<Node> = Vec::new();
        for e in self.scan.stages.iter().flat_map(|stage| stage.exprs()) {
            for_each_node(e, &mut |n| {
                if wants(n) && !out.contains(n) {
                    out.push(n.clone());
                }
            });
        }
        out
    }
}
