//! What a recurrence stores of each element: the states after it, and what is kept.

use std::ops::Range;

use crate::error::Result;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::Node;
use crate::graph::primitive::{ScanRows, StageValue};
use crate::graph::recorder::Recorder;
use crate::graph::walk::for_each_expr;

/// The numbers that a recurrence stores, as columns of the array of its results.
#[derive(Clone, Copy)]
pub(crate) struct StoredNumbers<'a> {
    pub(crate) rec: Recorder<'a>,
    pub(crate) scan: &'a ScanRows,
    /// The array: `scan.on.inner` numbers of each element.
    pub(crate) array: &'a Node,
}

impl StoredNumbers<'_> {
    /// The columns of what is stored `n`-th: a state after the element, or a register that is kept.
    pub(crate) fn columns(&self, n: usize) -> Range<u32> {
        let width = |k: u32| self.scan.width(k);
        let first = self.scan.stored().take(n).map(width).sum();
        first..first + self.scan.stored().nth(n).map_or(0, width)
    }

    /// What is stored `n`-th, of all elements.
    pub(crate) fn nth(&self, n: usize) -> Result<Node> {
        self.of_columns(self.columns(n), Expr::u32(self.scan.on.inner), |at| Expr::load(self.array, at))
    }

    /// State `k` before each element.
    pub(crate) fn state_before(&self, k: usize) -> Result<Node> {
        let scan = self.scan;
        if let Some(n) = scan.kept.iter().position(|&register| register as usize == k) {
            return self.nth(scan.next.len() + n);
        }
        let first = scan.states[..k].iter().sum::<u32>();
        let before = states_before(scan, |at| Expr::load(self.array, at));
        self.of_columns(first..first + scan.states[k], Expr::u32(scan.state_numbers()), |at| before.at(&at))
    }

    fn of_columns(&self, columns: Range<u32>, all: Expr, load: impl Fn(Expr) -> Expr) -> Result<Node> {
        let (count, width) = (columns.end - columns.start, Expr::u32(columns.end - columns.start));
        let element = Expr::index().div(width.clone());
        let at = if all.as_u32() == Some(count) {
            Expr::index()
        } else {
            element.mul(all).add(Expr::u32(columns.start)).add(Expr::index().rem(width))
        };
        Ok(self.rec.map(self.rec.times(&self.scan.on.nvals, count)?, load(at), &[]))
    }
}

/// The number at position `element * state_numbers + column` of the states before the element, from `stored`, what the
/// recurrence stores, at `element * on.inner + column`.
fn states_before(scan: &ScanRows, stored: impl Fn(Expr) -> Expr) -> Expr {
    let on = &scan.on;
    let width = Expr::u32(scan.state_numbers());
    let (element, column) = (Expr::index().div(width.clone()), Expr::index().rem(width.clone()));
    let row = on.rows.row_of(element.clone());
    let start = on.rows.start(row.clone());
    let offset = element.sub(start);
    let one = Expr::u32(1);
    let (is_first, neighbour) = if scan.reversed {
        let last = on.rows.length(row.clone()).sub(one.clone());
        (offset.clone().eq(last), offset.add(one))
    } else {
        (offset.clone().eq(Expr::u32(0)), offset.sub(one))
    };
    let initial = scan.initial.at(&row.clone().mul(width).add(column.clone()));
    let at = on.rows.within(row, neighbour);
    is_first.select(initial, stored(at.mul(Expr::u32(on.inner)).add(column)))
}

/// The states that the step reads.
pub(crate) fn read_states(scan: &ScanRows) -> Vec<usize> {
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
    (0..read.len()).filter(|&k| read[k]).collect()
}

impl ScanRows {
    /// The recurrence, which keeps what its gradient reads besides the states after each element, if derivatives are
    /// taken of it: the states before each element, and products.
    pub(crate) fn keeping_for_gradient(mut self) -> Self {
        let mut exprs = self.stages.iter().flat_map(|stage| stage.exprs()).chain([&self.initial]);
        let dtype = self.initial.dtype();
        let is_differentiable = exprs.any(Expr::is_differentiable);
        drop(exprs);
        if !dtype.is_float() || !is_differentiable {
            return self;
        }
        let first = self.states.len() as u32;
        let is_product =
            |value: &StageValue| matches!(value, StageValue::Product { left, .. } if left.dtype() == dtype);
        let products = (first..).zip(&self.stages).filter(|(_, stage)| is_product(&stage.value)).map(|(k, _)| k);
        let mut kept: Vec<u32> = read_states(&self).into_iter().map(|k| k as u32).collect();
        kept.extend(products.filter(|k| !self.next.contains(k)));
        let numbers = kept.iter().try_fold(self.on.inner, |all, &k| all.checked_add(self.width(k)));
        if let Some(numbers) = numbers {
            self.on.inner = numbers;
            self.kept = kept.into();
        }
        self
    }
}
