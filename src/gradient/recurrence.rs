//! The cotangents of what a recurrence reads: a recurrence in the other direction, and one pass over all elements.
//!
//! The step is recorded again for all elements at once, with the states before each, which are known. Its derivative by
//! these states is the step of the reverse recurrence, whose states are the cotangents of the states; what does not
//! depend on them is computed for all elements beforehand. With the cotangents of all states known, those of weights and
//! inputs follow from one pass over all elements: the gradient of a weight is one product. Elementary functions that the
//! step and the pass have in common are stored: see [`factors`](super::factors).

use std::cmp::Reverse;

use super::cotangents::{Cotangents, Pass};
use super::factors::Factors;
use super::scalar::zero;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::{Node, RowDomain};
use crate::graph::primitive::ScanRows;
use crate::graph::recorder::Recorder;
use crate::graph::scope::Scope;
use crate::graph::walk::{for_each_expr, for_each_node};
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

    // The reverse recurrence: the cotangents of the states before each element, from those after it. These are states
    // too, which no stage reads: the pass over all elements needs them.
    let passed = passed(scan);
    let of_passed: Vec<u32> = passed.iter().map(|&k| widths[k]).collect();
    let states = [&of_passed[..], &of_passed[..]].concat();
    let later = Placeholders::new(rec, dtype, elements, &states)?;
    let own = (0..widths.len()).map(|k| columns.of_state(k, ct)).collect::<Result<Vec<_>>>()?;
    let load = |node: &Node| Expr::load(node, Expr::index());
    let mut cts: Vec<Expr> = own.iter().map(load).collect();
    let mut whole = Vec::with_capacity(passed.len());
    for (&k, later) in passed.iter().zip(&later.nodes) {
        let sum = rec.map(own[k].extent().clone(), load(later).add(load(&own[k])), &[]);
        cts[k] = load(&sum);
        whole.push(sum);
    }
    // The first pass only finds what the passes have in common.
    let inputs = columns.inputs(|input| all.wants(input));
    let ends = [inputs.clone(), before.clone()].concat();
    let factors = Factors::to_find(elements);
    after.pull(rec, (all.pass, &factors), cts.clone(), &ends)?;
    let factors = factors.stored(rec)?;
    let before_passed: Vec<Node> = passed.iter().map(|&k| before[k].clone()).collect();
    let of_before = after.pull(rec, (all.pass, &factors), cts.clone(), &before_passed)?;
    let none = |width: u32| Ok(rec.map(rec.times(elements, width)?, zero(dtype), &[]));
    let of_before = of_before.into_iter().zip(&of_passed).map(|(ct, &width)| ct.map_or_else(|| none(width), Ok));
    let results = [of_before.collect::<Result<Vec<Node>>>()?, whole].concat();
    let step = Step::of(rec, &later, (elements, &states), &results)?;
    let reverse = ScanRows {
        on: RowDomain { inner: states.iter().sum(), ..scan.on.clone() },
        reversed: !scan.reversed,
        initial: zero(dtype),
        states: states.into(),
        stages: step.stages.into(),
        next: step.results.into(),
    };
    let result = rec.scan_rows(reverse.clone(), &step.asserts)?;

    // The cotangents of the initial states: those before the first element of each row.
    let RowDomain { rows, nrows, inner, .. } = &scan.on;
    let (row, column) = (Expr::index().div(Expr::u32(*inner)), Expr::index().rem(Expr::u32(*inner)));
    let length = rows.length(row.clone());
    let first = if scan.reversed { length.clone().sub(Expr::u32(1)) } else { Expr::u32(0) };
    let at = rows.within(row, first).mul(Expr::u32(reverse.on.inner));
    let of_column = of_column(widths, &passed, &column, &|column| Expr::load(&result, at.clone().add(column)), dtype);
    let of_initial = length.eq(Expr::u32(0)).select(zero(dtype), of_column);
    let count = rec.times(nrows, *inner)?;
    let of_initial = rec.map(count.clone(), of_initial, &[]);
    all.pull(&scan.initial, Expr::load(&of_initial, Expr::index()), &count)?;

    // Those of all else, from the whole cotangents of the states after each element.
    // The states before are inputs too: what depends on the step through them is counted already.
    let of_reverse = Columns { rec, scan: &reverse };
    for (n, &k) in passed.iter().enumerate() {
        cts[k] = load(&of_reverse.of_state(passed.len() + n, &result)?);
    }
    for (input, ct) in inputs.iter().zip(after.pull(rec, (all.pass, &factors), cts, &ends)?) {
        if let Some(ct) = ct {
            all.add(input, load(&ct));
        }
    }
    Ok(())
}

/// The states that the step reads, from which cotangents pass to earlier elements; all if it reads none.
fn passed(scan: &ScanRows) -> Vec<usize> {
    let mut read: Vec<bool> = (0..).take(scan.states.len()).map(|k| scan.next.contains(&k)).collect();
    for e in scan.stages.iter().flat_map(|stage| stage.exprs()) {
        for_each_expr(e, &mut |e| {
            if let ExprKind::Register(register, _) = e.kind()
                && let Some(read) = read.get_mut(register.number as usize)
            {
                *read = true;
            }
        });
    }
    let is_any = read.contains(&true);
    (0..read.len()).filter(|&k| read[k] || !is_any).collect()
}

/// The number at a column of all states of these widths, from the columns of those that are passed; 0 of the others.
fn of_column(widths: &[u32], passed: &[usize], column: &Expr, load: &impl Fn(Expr) -> Expr, dtype: DType) -> Expr {
    if passed.len() == widths.len() {
        return load(column.clone());
    }
    let start = |k: usize| widths[..k].iter().sum::<u32>();
    let mut out = zero(dtype);
    let mut first: u32 = passed.iter().map(|&k| widths[k]).sum();
    for &k in passed.iter().rev() {
        first -= widths[k];
        let of_state = load(column.clone().sub(Expr::u32(start(k))).add(Expr::u32(first)));
        let below = column.clone().lt(Expr::u32(start(k))).select(zero(dtype), of_state);
        out = column.clone().lt(Expr::u32(start(k + 1))).select(below, out);
    }
    out
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
    fn pull(
        &self,
        rec: Recorder<'_>,
        (pass, factors): (Pass, &Factors),
        mut cts: Vec<Expr>,
        ends: &[Node],
    ) -> Result<Vec<Option<Node>>> {
        for (position, &k) in self.order.iter().enumerate() {
            let earlier = &self.order[position + 1..];
            let stored: Vec<Node> = earlier.iter().map(|&k| self.stored[k].clone()).collect();
            if stored.is_empty() {
                break;
            }
            let found = pass(rec, vec![(self.computed[k].clone(), cts[k].clone())], &stored, factors)?;
            for (&state, ct) in earlier.iter().zip(found) {
                if let Some(ct) = ct {
                    cts[state] = cts[state].clone().add(Expr::load(&ct, Expr::index()));
                }
            }
        }
        // The pass ends at the stored states too: what depends on the recurrence through them is counted.
        let targets = [ends, &self.stored].concat();
        let mut found = pass(rec, self.computed.iter().cloned().zip(cts).collect(), &targets, factors)?;
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
