//! Adjoints of reads of the own element, by the columns that its columns read.
//!
//! Each number of a step reads numbers of its own element at columns that are known. Where no arithmetic of positions leads
//! back from an index, as from that of a part that is joined with others, the columns do.

use super::access;
use super::given::Given;
use super::scalar::zero;
use crate::graph::digest::DigestSet;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Recipe, Rows};
use crate::graph::walk::for_each_node;
use crate::record::recurrence::numbers_per_element;

/// Most runs of columns of a read.
const MOST_RUNS: usize = 32;

/// Most columns that read one column, in a run.
const MOST_READERS: u32 = 8;

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

    /// The cotangents of the elements of `node` that each position reads at `index`, in place of `found`, if these combine
    /// other elements or sort. They add up.
    pub(super) fn adjoint(
        &self,
        given: &Given<'_>,
        (node, index): (&Node, &Expr),
        found: &[Expr],
    ) -> Option<Vec<Expr>> {
        if !self.registers.contains(&node.digest()) || stays_in_elements(found, &given.ct) {
            return None;
        }
        let own = numbers_per_element(&given.count, &self.elements)?;
        let width = numbers_per_element(node.extent(), &self.elements)?;
        of_index(&given.ct, index, [own, width])
    }
}

/// The cotangents of `width` numbers of each element, of which `own` positions read one at `index`. Conditions that are data
/// choose among branches. `None` if that is not known.
fn of_index(ct: &Expr, index: &Expr, [own, width]: [u32; 2]) -> Option<Vec<Expr>> {
    if let Some(columns) = index.own_columns(own, width) {
        return Some(adjoint(ct, &runs(&columns)?, own, width));
    }
    let condition = access::condition_of(index)?;
    let mut out = Vec::new();
    for holds in [true, false] {
        let branch = access::chosen(index, &condition, holds);
        if branch == *index {
            return None;
        }
        let none = zero(ct.dtype());
        let (a, b) = if holds { (ct.clone(), none) } else { (none, ct.clone()) };
        out.extend(of_index(&condition.clone().select(a, b), &branch, [own, width])?);
    }
    Some(out)
}

/// The columns that are read, as runs; `None` if these are many, or if many read one column.
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
    let is_small = out.len() <= MOST_RUNS && out.iter().all(|run| run.step != 0 || run.len <= MOST_READERS);
    is_small.then_some(out)
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

    /// Whether a column is read, and the cotangent that it is given.
    fn given(self, column: &Expr, ct: impl Fn(Expr) -> Expr) -> (Expr, Expr) {
        let (first, last) = self.first_and_last_read();
        let mut is_read = column.clone().lt(Expr::u32(last + 1));
        if first > 0 {
            is_read = Expr::u32(first - 1).lt(column.clone()).and(is_read);
        }
        if self.step == 0 {
            let all = (0..self.len).map(|k| ct(Expr::u32(self.own + k))).reduce(Expr::add);
            return (is_read, all.unwrap_or_else(|| unreachable!("bug: a run of no columns")));
        }
        let distance = match self.step > 0 {
            true => column.clone().sub(Expr::u32(self.read)),
            false => Expr::u32(self.read).sub(column.clone()),
        };
        let by = Expr::u32(u32::try_from(self.step.unsigned_abs()).unwrap_or(u32::MAX));
        if by.as_u32() != Some(1) {
            is_read = is_read.and(distance.clone().rem(by.clone()).eq(Expr::u32(0)));
        }
        (is_read, ct(distance.div(by).add(Expr::u32(self.own))))
    }
}

/// The cotangents of `width` numbers of each element, where `ct` is that of `own` numbers of each.
fn adjoint(ct: &Expr, runs: &[Run], own: u32, width: u32) -> Vec<Expr> {
    let (element, column) = (Expr::index().div(Expr::u32(width)), Expr::index().rem(Expr::u32(width)));
    let of_run = |run: &Run| {
        let (is_read, given) =
            run.given(&column, |own_column| ct.at(&element.clone().mul(Expr::u32(own)).add(own_column)));
        is_read.select(given, zero(ct.dtype()))
    };
    runs.iter().map(of_run).collect()
}

/// Whether expressions read, besides what `ct` reads, only what maps and sums of equal rows computed.
fn stays_in_elements(found: &[Expr], ct: &Expr) -> bool {
    let mut seen = DigestSet::default();
    for_each_node(ct, &mut |node| {
        seen.insert(node.digest());
    });
    let mut next: Vec<Node> = Vec::new();
    found.iter().for_each(|e| for_each_node(e, &mut |node| next.push(node.clone())));
    while let Some(node) = next.pop() {
        if !seen.insert(node.digest()) {
            continue;
        }
        let Some(recipe) = node.kept_recipe() else { continue };
        match &*recipe {
            Recipe::Map(_) => {}
            Recipe::Reduce(reduce) if matches!(reduce.on.rows, Rows::Uniform(_)) => {}
            _ => return false,
        }
        recipe.exprs().into_iter().for_each(|e| for_each_node(e, &mut |node| next.push(node.clone())));
    }
    true
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
        assert_eq!(of(&[1; 9]), None, "many readers");
        let far: Vec<u32> = (0..100).map(|k| k * k % 101).collect();
        assert_eq!(of(&far), None, "many runs");
        assert_eq!(runs(&[None, Some(0), None, Some(1)]), Some(vec![run(1, 1, 0, 1), run(3, 1, 1, 1)]));
        assert_eq!(runs(&[None, None]), Some(Vec::new()));
    }
}
