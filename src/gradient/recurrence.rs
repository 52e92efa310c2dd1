//! The cotangents of what a recurrence reads: a recurrence in the other direction, and one pass over all elements.
//!
//! The step is recorded again for all elements at once, with the states before each, which are known. Its derivative by
//! these states is the step of the reverse recurrence, whose states are the cotangents of the states; what does not
//! depend on them is computed for all elements beforehand. With the cotangents of all states known, those of weights and
//! inputs follow from one pass over all elements: the gradient of a weight is one product.

use std::cmp::Reverse;

use super::cotangents::{Cotangents, Pass};
use super::scalar::zero;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, RowDomain};
use crate::graph::primitive::ScanRows;
use crate::graph::recorder::Recorder;
use crate::graph::scope::Scope;
use crate::graph::walk::for_each_node;
use crate::record::recurrence::{Known, Placeholders, Step, flat, states_before};

/// Adds what the states `node` after each element, of cotangent `ct`, contribute.
///
/// # Errors
/// An operation of the step without a gradient, or whose gradient is no step of a recurrence.
pub(super) fn pull(all: &mut Cotangents<'_>, rec: Recorder<'_>, scan: &ScanRows, node: &Node, ct: &Node) -> Result<()> {
    let dtype = node.dtype();
    let elements = &scan.on.nvals;
    let widths = &scan.states;
    let columns = Columns { rec, scan };
    // The states before each element, and those after it, as leaves.
    let entered = Scope::enter();
    let leaves = |of: &Node| -> Result<Vec<Node>> {
        (0..widths.len()).map(|k| Ok(columns.of_state(k, of)?.leaf(&entered.scope))).collect()
    };
    let before = leaves(&columns.of_all(states_before(scan, |at| Expr::load(node, at)))?)?;
    let after = After::new(rec, scan, &before, leaves(node)?)?;

    // The reverse recurrence: the cotangents of the states before each element, from those after it.
    let later = Placeholders::new(rec, dtype, elements, widths)?;
    let of_after = |k: usize| {
        let own = columns.of_state(k, ct)?;
        Ok(Expr::load(&later.nodes[k], Expr::index()).add(Expr::load(&own, Expr::index())))
    };
    let cts = (0..widths.len()).map(of_after).collect::<Result<_>>()?;
    let of_before = after.pull(rec, all.pass, cts, &before)?;
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
    let whole = columns.of_all(whole)?;
    let of_after = |k: usize| Ok(Expr::load(&columns.of_state(k, &whole)?, Expr::index()));
    let cts = (0..widths.len()).map(of_after).collect::<Result<_>>()?;
    let ends = [inputs.clone(), before].concat();
    for (input, ct) in inputs.iter().zip(after.pull(rec, all.pass, cts, &ends)?) {
        if let Some(ct) = ct {
            all.add(input, Expr::load(&ct, Expr::index()));
        }
    }
    Ok(())
}

/// The states after each element. Stages that read one read the numbers that the recurrence stored, which therefore are
/// not computed again: the cotangents of these are added to those of the state.
struct After {
    /// The states, as functions of those before, and of what they read.
    computed: Vec<Node>,
    /// The states as stages read them.
    stored: Vec<Node>,
    /// The states, the one that is computed last first.
    order: Vec<usize>,
}

impl After {
    fn new(rec: Recorder<'_>, scan: &ScanRows, before: &[Node], stored: Vec<Node>) -> Result<Self> {
        let states = scan.states.len() as u32;
        let stages = (0..).zip(&scan.next).filter(|(_, register)| **register >= states);
        let read: Vec<(u32, Node)> = stages.map(|(k, &register)| (register, stored[k as usize].clone())).collect();
        let registers = flat(rec, &scan.on.nvals, &scan.stages, before.to_vec(), Known { read: &read, given: &[] })?;
        let computed = scan.next.iter().map(|&register| registers[register as usize].clone()).collect();
        let mut order: Vec<usize> = (0..scan.next.len()).collect();
        order.sort_by_key(|&k| Reverse(scan.next[k]));
        Ok(Self { computed, stored, order })
    }

    /// The cotangents of each of `ends`, from the contributions to each state besides those of later stages.
    fn pull(&self, rec: Recorder<'_>, pass: Pass, mut cts: Vec<Expr>, ends: &[Node]) -> Result<Vec<Option<Node>>> {
        for (position, &k) in self.order.iter().enumerate() {
            let earlier = &self.order[position + 1..];
            let stored: Vec<Node> = earlier.iter().map(|&k| self.stored[k].clone()).collect();
            if stored.is_empty() {
                break;
            }
            let found = pass(rec, vec![(self.computed[k].clone(), cts[k].clone())], &stored)?;
            for (&state, ct) in earlier.iter().zip(found) {
                if let Some(ct) = ct {
                    cts[state] = cts[state].clone().add(Expr::load(&ct, Expr::index()));
                }
            }
        }
        // The pass ends at the stored states too: what depends on the recurrence through them is counted.
        let targets = [ends, &self.stored].concat();
        let mut found = pass(rec, self.computed.iter().cloned().zip(cts).collect(), &targets)?;
        found.truncate(ends.len());
        Ok(found)
    }
}

/// The columns of states among the numbers of all states.
struct Columns<'a> {
    rec: Recorder<'a>,
    scan: &'a ScanRows,
}

impl Columns<'_> {
    /// An array of the numbers of all states.
    fn of_all(&self, value: Expr) -> Result<Node> {
        Ok(self.rec.map(self.rec.times(&self.scan.on.nvals, self.scan.on.inner)?, value, &[]))
    }

    /// The numbers of state `k`, from those of all states.
    fn of_state(&self, k: usize, all: &Node) -> Result<Node> {
        let widths = &self.scan.states;
        let width = Expr::u32(widths[k]);
        let element = Expr::index().div(width.clone()).mul(Expr::u32(self.scan.on.inner));
        let at = match widths.len() {
            1 => Expr::index(),
            _ => element.add(Expr::u32(widths[..k].iter().sum())).add(Expr::index().rem(width)),
        };
        Ok(self.rec.map(self.rec.times(&self.scan.on.nvals, widths[k])?, Expr::load(all, at), &[]))
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
