//! Adjoints of reads of the own element, by the columns that its columns read.
//!
//! Each number of a step reads numbers of its own element at columns that are known. Where parts are joined, the index of a
//! part is right at its own columns only: no arithmetic of positions leads back from it, but the columns do.

use super::access;
use super::given::Given;
use crate::error::Result;
use crate::graph::digest::DigestSet;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, RowDomain, Rows};
use crate::graph::size::Size;
use crate::record::recurrence::numbers_per_element;

/// Most runs of columns of a read.
const MOST_RUNS: usize = 32;

/// Consecutive own columns from `own` on, of which the `k`-th reads column `read + step * k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    own: u32,
    len: u32,
    read: u32,
    step: i64,
}

/// The arrays of a step of which each stage reads numbers of its own element.
pub(super) struct OwnColumns {
    elements: Extent,
    registers: DigestSet,
}

impl OwnColumns {
    pub(super) fn new(elements: &Extent, registers: &[Node]) -> Self {
        Self { elements: elements.clone(), registers: registers.iter().map(Node::digest).collect() }
    }

    /// The cotangents of the elements of `node` that each position reads at `index`, which add up. `None` if the columns are
    /// not known, are many runs, or are one run of all own columns, from which arithmetic leads back.
    pub(super) fn adjoint(&self, given: &Given<'_>, (node, index): (&Node, &Expr)) -> Result<Option<Vec<Expr>>> {
        if !self.registers.contains(&node.digest()) {
            return Ok(None);
        }
        let width_of = |numbers: &Extent| numbers_per_element(numbers, &self.elements);
        let (Some(own), Some(width)) = (width_of(&given.count), width_of(node.extent())) else { return Ok(None) };
        let Some(reads) = reads(&given.ct, index, [own, width]) else { return Ok(None) };
        if let [(_, runs)] = &reads[..]
            && let [Run { len, .. }] = runs[..]
            && len == own
        {
            return Ok(None);
        }
        let mut out = Vec::new();
        for (ct, runs) in reads {
            let of_branch = Given { ct, ..given.clone() };
            for run in runs {
                out.push(self.of_run(&of_branch, run, [own, width])?);
            }
        }
        Ok(Some(out))
    }

    /// The cotangents of `width` numbers of each element, where own columns give those of a run.
    fn of_run(&self, given: &Given<'_>, run: Run, [own, width]: [u32; 2]) -> Result<Expr> {
        let (element, column) = (Expr::index().div(Expr::u32(width)), Expr::index().rem(Expr::u32(width)));
        let of_own = |element: Expr, column: Expr| given.ct.at(&element.mul(Expr::u32(own)).add(column));
        let (first, last) = run.first_and_last_read();
        let mut is_read = column.clone().lt(Expr::u32(last + 1));
        if first > 0 {
            is_read = Expr::u32(first - 1).lt(column.clone()).and(is_read);
        }
        if run.step == 0 {
            // All columns of the run read one.
            let rows = Expr::u32(run.len);
            let term = of_own(Expr::index().div(rows.clone()), Expr::index().rem(rows).add(Expr::u32(run.own)));
            let nvals = given.rec.times(&self.elements, run.len)?;
            let nrows = self.elements.clone();
            let on = RowDomain { rows: Rows::Uniform(Size::from(run.len)), nrows, nvals, inner: 1 };
            let sums = given.sum(on, term)?;
            return Ok(given.only_where(is_read, sums.at(&element)));
        }
        let distance = match run.step > 0 {
            true => column.sub(Expr::u32(run.read)),
            false => Expr::u32(run.read).sub(column),
        };
        let step =
            u32::try_from(run.step.unsigned_abs()).unwrap_or_else(|_| unreachable!("bug: a step beyond columns"));
        if step > 1 {
            is_read = is_read.and(distance.clone().rem(Expr::u32(step)).eq(Expr::u32(0)));
        }
        let own_column = distance.div(Expr::u32(step)).add(Expr::u32(run.own));
        Ok(given.only_where(is_read, of_own(element, own_column)))
    }
}

/// The cotangents of each branch that conditions choose, where `ct` is that of all, and the columns that it reads of elements
/// of `width` numbers. `None` if these are not known, or are many runs.
fn reads(ct: &Expr, index: &Expr, [own, width]: [u32; 2]) -> Option<Vec<(Expr, Vec<Run>)>> {
    if let Some(columns) = index.own_columns(own, width) {
        return Some(vec![(ct.clone(), runs(&columns)?)]);
    }
    let branches = access::branches(ct, index, &access::condition_of(index)?)?;
    let of_branches = branches.into_iter().map(|(ct, index)| reads(&ct, &index, [own, width]));
    Some(of_branches.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The columns that are read, as runs; `None` if these are many.
fn runs(columns: &[Option<u32>]) -> Option<Vec<Run>> {
    let mut out: Vec<Run> = Vec::new();
    for (own, read) in (0..).zip(columns).filter_map(|(own, read)| read.map(|read| (own, read))) {
        let last = out.last_mut().filter(|run| run.own + run.len == own);
        let next = last.and_then(|run| {
            let step = if run.len == 1 { i64::from(read) - i64::from(run.read) } else { run.step };
            (run.read_by(run.len, step) == i64::from(read)).then_some((run, step))
        });
        match next {
            Some((run, step)) => (run.len, run.step) = (run.len + 1, step),
            None => out.push(Run { own, len: 1, read, step: 1 }),
        }
    }
    (out.len() <= MOST_RUNS).then_some(out)
}

impl Run {
    /// The column that the `k`-th own one reads, at that step.
    fn read_by(self, k: u32, step: i64) -> i64 {
        i64::from(self.read) + step * i64::from(k)
    }

    fn first_and_last_read(self) -> (u32, u32) {
        let last = self.read_by(self.len - 1, self.step);
        let last = u32::try_from(last).unwrap_or_else(|_| unreachable!("bug: a column below 0"));
        (self.read.min(last), self.read.max(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_runs() {
        let of = |columns: &[u32]| runs(&columns.iter().map(|&column| Some(column)).collect::<Vec<_>>());
        let run = |own, len, read, step| Run { own, len, read, step };
        assert_eq!(of(&[2, 3, 4, 0, 1]), Some(vec![run(0, 3, 2, 1), run(3, 2, 0, 1)]));
        assert_eq!(of(&[4, 2, 0, 3]), Some(vec![run(0, 3, 4, -2), run(3, 1, 3, 1)]));
        assert_eq!(of(&[1, 1, 1]), Some(vec![run(0, 3, 1, 0)]));
        let far: Vec<u32> = (0..100).map(|k| k * k % 101).collect();
        assert_eq!(of(&far), None, "many runs");
        assert_eq!(runs(&[None, Some(0), None, Some(1)]), Some(vec![run(1, 1, 0, 1), run(3, 1, 1, 1)]));
        assert_eq!(runs(&[None, None]), Some(Vec::new()));
    }
}
