//! Evaluates expressions at a block of positions.
//!
//! An expression is compiled once per step (see `compiled_expr`). A block memoizes the result of each operation; blocks
//! are so small that these results stay in cache, except that blocks of run-length encoded results may be larger.
//! Consecutive positions are encoded as one sequence (see `run_arithmetic`): loads of consecutive elements borrow
//! slices of the array, and results that depend on the row alone are computed once per row.
//!
//! The branches of a `select` are evaluated only at the positions that take them. Exceptions are branches whose excess
//! evaluations cost less than partitioning the positions, and elements that are copied directly (see `copies`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::call;
use super::compiled_expr::{CompiledExpr, Inputs, Op, OpId, PARTITION_COST_PER_POSITION, PARTITION_COST_PER_RUN};
use super::encoding::{Dense, Direction, Encoded, Value};
use super::load::load;
use super::operand::Operand;
use super::operations;
use super::order_key;
use super::rows_of::rows_of;
use super::run_arithmetic;
use super::run_encoding;
use super::selection::{self, Selection};
use super::sequence_division;
use crate::graph::expr::Check;
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;

/// Evaluates a compiled expression at a block of positions and memoizes every intermediate result.
pub(crate) struct Block<'a> {
    expr: &'a CompiledExpr<'a>,
    len: usize,
    /// The positions.
    index: Encoded<'a>,
    memo: Vec<Option<Encoded<'a>>>,
    /// Positions of the step per position of the block. A failed check reports a position of the step.
    stride: u32,
    /// The enclosing block, whose results are reused, and the selection of its positions that this block covers.
    enclosing: Option<(&'a Block<'a>, &'a Selection)>,
}

impl<'a> Block<'a> {
    /// A block of `len` positions from `start` on.
    pub(crate) fn consecutive(expr: &'a CompiledExpr<'a>, start: u32, len: usize) -> Self {
        Self::new(expr, len, Encoded::Sequences(Direction::Ascending, vec![len as u32].into(), vec![start].into()))
    }

    /// A block of one run of `len` positions per start.
    pub(crate) fn sequences(expr: &'a CompiledExpr<'a>, starts: Vec<u32>, len: u32) -> Self {
        let ends: Vec<u32> = (1..=starts.len() as u32).map(|k| k * len).collect();
        Self::new(
            expr,
            starts.len() * len as usize,
            run_encoding::sequences(Direction::Ascending, ends.into(), starts.into()),
        )
    }

    /// A block of `len` positions from `start` on, each of which represents `stride` positions of the step.
    pub(crate) fn strided(expr: &'a CompiledExpr<'a>, start: u32, len: usize, stride: u32) -> Self {
        Self { stride, ..Self::consecutive(expr, start, len) }
    }

    /// A block of runs that end at `ends`. Run `k` starts at position `firsts[k]`.
    pub(crate) fn runs(expr: &'a CompiledExpr<'a>, ends: Vec<u32>, firsts: Vec<u32>) -> Self {
        let len = ends.last().map_or(0, |&n| n as usize);
        Self::new(expr, len, run_encoding::sequences(Direction::Ascending, ends.into(), firsts.into()))
    }

    /// A block of arbitrary positions.
    pub(crate) fn positions(expr: &'a CompiledExpr<'a>, positions: Vec<u32>) -> Self {
        Self::new(expr, positions.len(), u32::wrap(positions.into()))
    }

    fn new(expr: &'a CompiledExpr<'a>, len: usize, index: Encoded<'a>) -> Self {
        Self { expr, len, index, memo: vec![None; expr.ops().len()], stride: 1, enclosing: None }
    }

    /// The expression's values, one per position.
    pub(crate) fn eval_as<T: Value>(mut self) -> Dense<'a, T> {
        if self.len == 0 {
            return Vec::new().into();
        }
        let values = self.root();
        T::expanded(self.len, &values.dense())
    }

    /// Records the first position at which the expression, a condition, does not hold.
    pub(crate) fn check(mut self, inputs: &Inputs, check: &Arc<Check>) {
        if self.len == 0 {
            return;
        }
        let ok = self.root();
        self.record(inputs.outcome(check), &ok);
    }

    /// The values of the whole expression.
    pub(super) fn root(&mut self) -> Encoded<'a> {
        self.eval(self.expr.ops().len() - 1)
    }

    /// Whether the block has no positions.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets the values of operation `id`.
    pub(super) fn memoize(&mut self, id: OpId, values: Encoded<'a>) {
        self.memo[id] = Some(values);
    }

    /// The compiled expression.
    pub(super) fn expr(&self) -> &'a CompiledExpr<'a> {
        self.expr
    }

    /// The values of operation `id`.
    pub(super) fn eval(&mut self, id: OpId) -> Encoded<'a> {
        let expr = self.expr;
        match &expr.ops()[id] {
            Op::Scalar(s) => return Encoded::Constant(*s),
            Op::Index => return self.index.clone(),
            _ => {}
        }
        if let Some(done) = &self.memo[id] {
            return done.clone();
        }
        let out = match self.enclosing_result(id) {
            Some(known) => known,
            None => self.compute(&expr.ops()[id]),
        };
        self.memo[id] = Some(out.clone());
        out
    }

    /// The values of operation `id`, if an enclosing block has computed them.
    fn enclosing_result(&self, id: OpId) -> Option<Encoded<'a>> {
        let (enclosing, chosen) = self.enclosing?;
        match &enclosing.memo[id] {
            Some(known) => Some(selection::restrict(known, chosen)),
            None => enclosing.enclosing_result(id).map(|known| selection::restrict(&known, chosen)),
        }
    }

    fn compute(&mut self, op: &Op<'a>) -> Encoded<'a> {
        let n = self.len;
        match op {
            Op::Scalar(s) => Encoded::Constant(*s),
            Op::Index => self.index.clone(),
            Op::Load(array, dtype, at) => {
                let at = self.eval(*at);
                if array.len() == 0 {
                    // The array has no elements, but the index was evaluated for its checks.
                    return Encoded::Constant(Scalar::from_i64(*dtype, 0));
                }
                load(array, *dtype, n, &at)
            }
            Op::RowOf(splits, at) => {
                let at = self.eval(*at);
                rows_of(splits, n, &at)
            }
            Op::Unary(op, a) => {
                let a = self.eval(*a);
                run_arithmetic::map_runs(n, &a, |n, a| operations::unary(*op, n, a))
            }
            Op::Binary(op, a, b) => {
                let first = self.eval(*a);
                if let Some(cycle) = self.cycle(*op, &first, *b) {
                    return cycle;
                }
                run_arithmetic::binary(*op, n, &first, &self.eval(*b))
            }
            Op::Cast(to, a) => {
                let a = self.eval(*a);
                run_arithmetic::map_runs(n, &a, |n, a| operations::cast(*to, n, a))
            }
            Op::Bitcast(to, a) => {
                let a = self.eval(*a);
                run_arithmetic::map_runs(n, &a, |n, a| operations::bitcast(*to, n, a))
            }
            Op::ToKey(nan, x) => {
                let x = self.eval(*x);
                run_arithmetic::map_runs(n, &x, |n, x| order_key::keys(n, x, *nan))
            }
            Op::ToSortKey(nan_and_inverted, x) => {
                let x = self.eval(*x);
                run_arithmetic::map_runs(n, &x, |n, x| order_key::sort_keys(n, x, *nan_and_inverted))
            }
            Op::FromKey(none_and_empty, key) => {
                let key = self.eval(*key);
                run_arithmetic::map_runs(n, &key, |n, key| order_key::floats(n, key, *none_and_empty))
            }
            Op::Select([c, a, b], costs) => {
                let c = self.eval(*c);
                self.select(&c, *a, *b, *costs)
            }
            Op::Call(function, arguments, panic) => {
                let arguments: Vec<Encoded<'a>> = arguments.iter().map(|&a| self.eval(a)).collect();
                call::call(function, n, &arguments, panic)
            }
            Op::Checked(outcome, ok, v) => {
                let ok = self.eval(*ok);
                self.record(outcome, &ok);
                self.eval(*v)
            }
        }
    }

    /// Fuses `start` plus the remainder `id` into one pass (see `sequence_division::cycle`). `None` for other
    /// operations or operands, or if the remainder has been evaluated already.
    pub(super) fn cycle(&mut self, op: BinaryOp, start: &Encoded<'a>, id: OpId) -> Option<Encoded<'a>> {
        match self.expr.ops()[id] {
            Op::Binary(BinaryOp::IndexRem, x, by) if op == BinaryOp::Add && self.memo[id].is_none() => {
                let (x, by) = (self.eval(x), self.eval(by));
                sequence_division::cycle(start, &x, &by)
            }
            _ => None,
        }
    }

    /// Records the first position at which the condition fails.
    fn record(&self, outcome: &AtomicU32, ok: &Encoded<'_>) {
        let holds = match ok {
            Encoded::Runs(_, values) => bool::operand(values),
            dense => bool::operand(dense),
        };
        let fails = match holds {
            Operand::Constant(holds) => !holds,
            // No early exit, which would prevent vectorization.
            Operand::Dense(holds) => !holds.iter().fold(true, |all, &holds| all & holds),
        };
        if fails {
            // The positions may be in any order; the least one is reported.
            let (ok, at) = (ok.dense(), self.index.dense());
            let (ok, at) = (bool::operand(&ok), u32::operand(&at));
            let first = (0..self.len).filter(|&k| !ok.get(k)).map(|k| at.get(k)).min();
            outcome.fetch_min(first.map_or(u32::MAX, |at| at * self.stride), Ordering::Relaxed);
        }
    }

    fn select(&mut self, condition: &Encoded<'a>, a: usize, b: usize, costs: Option<[u32; 2]>) -> Encoded<'a> {
        let n = self.len;
        // Whether evaluating both branches everywhere costs at most as much as partitioning the positions.
        let blends = |yes: usize, partition_cost: u64| {
            let excess = |[a, b]: [u32; 2]| (n - yes) as u64 * u64::from(a) + yes as u64 * u64::from(b);
            costs.is_some_and(|costs| excess(costs) <= partition_cost)
        };
        match condition {
            Encoded::Constant(Scalar::Bool(yes)) => self.eval(if *yes { a } else { b }),
            Encoded::Runs(ends, flags) => {
                let flags = bool::operand(flags);
                let lens = run_encoding::lens(ends);
                let of_yes = lens.iter().enumerate().map(|(k, &len)| if flags.get(k) { len as usize } else { 0 });
                match of_yes.sum() {
                    0 => self.eval(b),
                    yes if yes == n => self.eval(a),
                    yes if blends(yes, ends.len() as u64 * u64::from(PARTITION_COST_PER_RUN)) => {
                        let (a, b) = (self.eval(a), self.eval(b));
                        selection::blend(n, condition, &a, &b)
                    }
                    _ => {
                        let [at_a, at_b] = Self::partition(ends, flags);
                        selection::merge(ends, flags, &self.eval_selected(a, &at_a), &self.eval_selected(b, &at_b))
                    }
                }
            }
            dense => {
                let flags = bool::expanded(n, dense);
                match flags[..n].iter().filter(|&&c| c).count() {
                    0 => self.eval(b),
                    yes if yes == n => self.eval(a),
                    yes if blends(yes, n as u64 * u64::from(PARTITION_COST_PER_POSITION)) => {
                        let (a, b) = (self.eval(a).dense(), self.eval(b).dense());
                        Encoded::blend(n, &flags, &a, &b)
                    }
                    _ => {
                        let side =
                            |want| Selection::List((0..n as u32).filter(|&k| flags[k as usize] == want).collect());
                        let (at_a, at_b) = (side(true), side(false));
                        Encoded::merge(
                            n,
                            &flags,
                            &self.eval_selected(a, &at_a).dense(),
                            &self.eval_selected(b, &at_b).dense(),
                        )
                    }
                }
            }
        }
    }

    /// The positions of the runs whose flag is set, and those of the other runs. The runs end at `ends`.
    fn partition(ends: &[u32], flags: Operand<'_, bool>) -> [Selection; 2] {
        let mut sides = [true, false].map(|_| Vec::with_capacity(ends.len()));
        let mut start = 0;
        for (k, &end) in ends.iter().enumerate() {
            let side: &mut Vec<(u32, u32)> = &mut sides[usize::from(!flags.get(k))];
            match side.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => side.push((start, end)),
            }
            start = end;
        }
        sides.map(Selection::Ranges)
    }

    /// The values of operation `id` at the selected positions.
    fn eval_selected<'s>(&'s self, id: OpId, chosen: &'s Selection) -> Encoded<'s> {
        let memo = vec![None; self.expr.ops().len()];
        let index = selection::restrict(&self.index, chosen);
        let (expr, stride) = (self.expr, self.stride);
        Block { expr, len: chosen.len(), index, memo, stride, enclosing: Some((self, chosen)) }.eval(id)
    }
}
