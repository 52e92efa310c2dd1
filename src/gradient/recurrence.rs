//! The cotangents of what a recurrence reads: a recurrence in the other direction, and one pass over all elements.
//!
//! The step is recorded again for all elements at once, with the states before each, which are known; what the recurrence
//! [keeps](ScanRows::kept) is read, not computed again. Its derivative by
//! these states is the step of the reverse recurrence, whose states are the cotangents of the states; what does not
//! depend on them is computed for all elements beforehand. With the cotangents of all states known, those of weights and
//! inputs follow from one pass over all elements: the gradient of a weight is one product. Elementary functions that the
//! step and the pass have in common are stored: see [`factors`](super::factors).

use super::cotangents::{Cotangents, Pass, StepArrays};
use super::factors::Factors;
use super::own_columns::OwnColumns;
use super::scalar::zero;
use super::zero_columns::is_zero;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, RowDomain};
use crate::graph::primitive::ScanRows;
use crate::graph::recorder::Recorder;
use crate::graph::scope::Scope;
use crate::graph::walk::for_each_node;
use crate::record::recurrence::{Known, Placeholders, Step, StoredNumbers, flat, read_states};

/// Adds what the numbers `node` that the recurrence stores, of cotangent `ct`, contribute.
///
/// # Errors
/// An operation of the step without a gradient, or whose gradient is no step of a recurrence.
pub(super) fn pull(all: &mut Cotangents<'_>, rec: Recorder<'_>, scan: &ScanRows, node: &Node, ct: &Node) -> Result<()> {
    let dtype = node.dtype();
    let elements = &scan.on.nvals;
    let widths = &scan.states;
    let numbers = StoredNumbers { rec, scan, array: node };
    // The states before each element, and what is stored of it, as leaves.
    let entered = Scope::enter();
    let leaf = |of: Node| of.leaf(&entered.scope);
    let before = (0..widths.len()).map(|k| Ok(leaf(numbers.state_before(k)?))).collect::<Result<Vec<Node>>>()?;
    let stored = (0..scan.stored().count()).map(|n| Ok(leaf(numbers.nth(n)?))).collect::<Result<Vec<Node>>>()?;
    let step = DifferentiatedStep::new(rec, scan, &before, stored)?;

    // The reverse recurrence: the cotangents of the states before each element, from those after it. It keeps the whole
    // cotangents of the states after each element, which the pass over all elements reads.
    let passed = passed(scan);
    let of_passed: Vec<u32> = passed.iter().map(|&k| widths[k]).collect();
    let later = Placeholders::new(rec, dtype, elements, &of_passed)?;
    let of_ct = StoredNumbers { array: ct, ..numbers };
    let own = (0..scan.stored().count()).map(|n| match is_zero(ct, scan.on.inner, of_ct.columns(n)) {
        true => Ok(None),
        false => of_ct.nth(n).map(Some),
    });
    let own = own.collect::<Result<Vec<Option<Node>>>>()?;
    let load = |node: &Node| Expr::load(node, Expr::index());
    let mut cts: Vec<Option<Expr>> = own.iter().map(|own| own.as_ref().map(load)).collect();
    let mut whole = Vec::with_capacity(passed.len());
    for (&k, later) in passed.iter().zip(&later.nodes) {
        let sum = match &own[k] {
            Some(own) => rec.map(own.extent().clone(), load(later).add(load(own)), &[]),
            None => later.clone(),
        };
        cts[k] = Some(load(&sum));
        whole.push(sum);
    }
    // The first pass only finds what the passes have in common.
    let inputs = inputs(scan, |input| all.wants(input));
    let ends = [inputs.clone(), before.clone()].concat();
    let factors = Factors::to_find(elements);
    step.pull(rec, (all.pass, &factors), &cts, &ends)?;
    let factors = factors.stored(rec)?;
    let before_passed: Vec<Node> = passed.iter().map(|&k| before[k].clone()).collect();
    let of_before = step.pull(rec, (all.pass, &factors), &cts, &before_passed)?;
    let none = |width: u32| Ok(rec.map(rec.times(elements, width)?, zero(dtype), &[]));
    let of_before = of_before.into_iter().zip(&of_passed).map(|(ct, &width)| ct.map_or_else(|| none(width), Ok));
    let results = [of_before.collect::<Result<Vec<Node>>>()?, whole].concat();
    let reverse = Step::of(rec, &later, (elements, &of_passed), &results)?;
    let (next, kept) = reverse.results.split_at(passed.len());
    let passed_numbers: u32 = of_passed.iter().sum();
    let scan_back = ScanRows {
        on: RowDomain { inner: 2 * passed_numbers, ..scan.on.clone() },
        reversed: !scan.reversed,
        initial: zero(dtype),
        states: of_passed.into(),
        stages: reverse.stages.into(),
        next: next.into(),
        kept: kept.into(),
    };
    let result = rec.scan_rows(scan_back.clone(), &reverse.asserts)?;

    // The cotangents of the initial states: those before the first element of each row.
    let RowDomain { rows, nrows, .. } = &scan.on;
    let inner = scan.state_numbers();
    let (row, column) = (Expr::index().div(Expr::u32(inner)), Expr::index().rem(Expr::u32(inner)));
    let length = rows.length(row.clone());
    let first = if scan.reversed { length.clone().sub(Expr::u32(1)) } else { Expr::u32(0) };
    let at = rows.within(row, first).mul(Expr::u32(scan_back.on.inner));
    let of_column = of_column(widths, &passed, &column, &|column| Expr::load(&result, at.clone().add(column)), dtype);
    let of_initial = length.eq(Expr::u32(0)).select(zero(dtype), of_column);
    let count = rec.times(nrows, inner)?;
    let of_initial = rec.map(count.clone(), of_initial, &[]);
    all.pull(&scan.initial, Expr::load(&of_initial, Expr::index()), &count)?;

    // Those of all else, from the whole cotangents of the states after each element.
    // The states before are inputs too: what depends on the step through them is counted already.
    let of_reverse = StoredNumbers { rec, scan: &scan_back, array: &result };
    for (n, &k) in passed.iter().enumerate() {
        cts[k] = Some(load(&of_reverse.nth(passed.len() + n)?));
    }
    for (input, ct) in inputs.iter().zip(step.pull(rec, (all.pass, &factors), &cts, &ends)?) {
        if let Some(ct) = ct {
            all.add(input, load(&ct));
        }
    }
    Ok(())
}

/// The states that the step reads, from which cotangents pass to earlier elements; all if it reads none.
fn passed(scan: &ScanRows) -> Vec<usize> {
    let read = read_states(scan);
    if read.is_empty() { (0..scan.states.len()).collect() } else { read }
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

/// The step on all elements at once. Stages that read a register that is stored read the numbers that the recurrence
/// stored, which therefore are not computed again: the cotangents of these are added to those of the register.
struct DifferentiatedStep {
    /// What is stored, as a function of the states before, and of what the stages read.
    computed: Vec<Node>,
    /// What is stored, as stages read it, with what it is a function of.
    stored: Vec<(Node, Node)>,
    columns: OwnColumns,
}

impl DifferentiatedStep {
    fn new(rec: Recorder<'_>, scan: &ScanRows, before: &[Node], stored: Vec<Node>) -> Result<Self> {
        let states = scan.states.len() as u32;
        let of_stages = scan.stored().zip(stored).filter(|(register, _)| *register >= states);
        let read: Vec<(u32, Node)> = of_stages.collect();
        let elements = &scan.on.nvals;
        let registers = flat(rec, elements, &scan.stages, before.to_vec(), Known { read: &read, given: &[] })?;
        let columns = OwnColumns::new(elements, &registers.read);
        let computed = |register: u32| registers.computed[register as usize].clone();
        let stored = read.into_iter().map(|(register, node)| (node, computed(register))).collect();
        Ok(Self { computed: scan.stored().map(computed).collect(), stored, columns })
    }

    /// The cotangents of each of `ends`, from the contributions to what is stored besides those of the step.
    fn pull(
        &self,
        rec: Recorder<'_>,
        (pass, factors): (Pass, &Factors),
        cts: &[Option<Expr>],
        ends: &[Node],
    ) -> Result<Vec<Option<Node>>> {
        let results = self.computed.iter().zip(cts).filter_map(|(node, ct)| Some((node.clone(), ct.clone()?)));
        pass(rec, results.collect(), ends, StepArrays { factors, stored: &self.stored, columns: &self.columns })
    }
}

/// The arrays that the step reads.
fn inputs(scan: &ScanRows, wants: impl Fn(&Node) -> bool) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for e in scan.stages.iter().flat_map(|stage| stage.exprs()) {
        for_each_node(e, &mut |n| {
            if wants(n) && !out.contains(n) {
                out.push(n.clone());
            }
        });
    }
    out
}
