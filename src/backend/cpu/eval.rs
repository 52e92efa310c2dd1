//! Evaluates expressions at a block of positions.
//!
//! An expression is compiled once per step (see `compiled_expr`). A block memoizes the result of each operation; blocks
//! are so small that these results stay in cache, except that blocks of values in segments may be larger.
//! Consecutive positions are encoded as one sequence (see `arithmetic`): loads of consecutive elements borrow
//! slices of the array, and results that depend on the row alone are computed once per row.
//!
//! The branches of a `select` are evaluated only at the positions that take them. Exceptions are branches whose excess
//! evaluations cost less than partitioning the positions, and elements that are copied directly (see `copies`).

use std::sync::atomic::{AtomicU32, Ordering};

use super::arithmetic;
use super::call;
use super::compiled_expr::{CompiledExpr, Inputs, Op, OpId, PARTITION_COST_PER_POSITION, PARTITION_COST_PER_RUN};
use super::encoding::{Dense, Encoded, Value};
use super::load::load;
use super::operand::Operand;
use super::rows_of::rows_of;
use super::segments::{self, Range, segments};
use crate::graph::program::CheckId;
use crate::graph::scalar::Scalar;

/// Evaluates a compiled expression at a block of positions and memoizes every intermediate result.
pub(crate) struct Block<'a> {
    expr: &'a CompiledExpr<'a>,
    len: usize,
    /// The positions.
    index: Encoded<'a>,
    memo: Vec<Option<Encoded<'a>>>,
    /// For each operation, the number of operations that have yet to read its values. Values without readers are freed,
    /// so that later ones take their memory while it is cached.
    readers: Vec<u32>,
    /// Positions of the step per position of the block. A failed check reports a position of the step.
    stride: u32,
    /// The enclosing block, whose results are reused, and the selection of its positions that this block covers.
    enclosing: Option<(&'a Block<'a>, &'a [Range])>,
}

impl<'a> Block<'a> {
    /// A block of `len` positions from `start` on.
    pub(crate) fn consecutive(expr: &'a CompiledExpr<'a>, start: u32, len: usize) -> Self {
        Self::runs(expr, vec![len as u32], vec![start])
    }

    /// A block of one run of `len` positions per start.
    pub(crate) fn sequences(expr: &'a CompiledExpr<'a>, starts: Vec<u32>, len: u32) -> Self {
        Self::runs(expr, (1..=starts.len() as u32).map(|k| k * len).collect(), starts)
    }

    /// A block of `len` positions from `start` on, each of which represents `stride` positions of the step.
    pub(crate) fn strided(expr: &'a CompiledExpr<'a>, start: u32, len: usize, stride: u32) -> Self {
        Self { stride, ..Self::consecutive(expr, start, len) }
    }

    /// A block of runs that end at `ends`. Run `k` starts at position `firsts[k]`.
    pub(crate) fn runs(expr: &'a CompiledExpr<'a>, ends: Vec<u32>, firsts: Vec<u32>) -> Self {
        let len = ends.last().map_or(0, |&n| n as usize);
        Self::new(expr, len, segments(ends.into(), 1, u32::wrap(firsts.into())))
    }

    /// A block of arbitrary positions.
    pub(crate) fn positions(expr: &'a CompiledExpr<'a>, positions: Vec<u32>) -> Self {
        Self::new(expr, positions.len(), u32::wrap(positions.into()))
    }

    /// A block of `len` positions: those of `index`.
    pub(super) fn new(expr: &'a CompiledExpr<'a>, len: usize, index: Encoded<'a>) -> Self {
        let readers = expr.readers().to_vec();
        Self { expr, len, index, memo: vec![None; expr.ops().len()], readers, stride: 1, enclosing: None }
    }

    /// The expression's values, one per position.
    pub(crate) fn eval_as<T: Value>(mut self) -> Dense<'a, T> {
        self.values(self.expr.root())
    }

    /// The values of operation `id`, one per position.
    pub(super) fn values<T: Value>(&mut self, id: OpId) -> Dense<'a, T> {
        if self.len == 0 {
            return Vec::new().into();
        }
        T::expanded(self.len, &self.eval(id))
    }

    /// Records the first position at which the expression, a condition, does not hold.
    pub(crate) fn check(mut self, inputs: &Inputs, check: &CheckId) {
        if self.len == 0 {
            return;
        }
        let ok = self.root();
        self.record(inputs.outcome(check), &ok);
    }

    /// The values of the whole expression.
    pub(super) fn root(&mut self) -> Encoded<'a> {
        self.eval(self.expr.root())
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
            None => self.compute(id),
        };
        self.memo[id] = Some(out.clone());
        out
    }

    /// As [`Block::eval`], for an operation that reads the values. The last reader takes them.
    fn operand(&mut self, id: OpId) -> Encoded<'a> {
        let values = self.eval(id);
        self.readers[id] = self.readers[id].saturating_sub(1);
        if self.readers[id] == 0 {
            self.memo[id] = None;
        }
        values
    }

    /// The values of operation `id`, if an enclosing block has computed them.
    fn enclosing_result(&self, id: OpId) -> Option<Encoded<'a>> {
        let (enclosing, chosen) = self.enclosing?;
        match &enclosing.memo[id] {
            Some(known) => Some(segments::restrict(known, chosen)),
            None => enclosing.enclosing_result(id).map(|known| segments::restrict(&known, chosen)),
        }
    }

    fn compute(&mut self, id: OpId) -> Encoded<'a> {
        let (n, expr) = (self.len, self.expr);
        let inputs = expr.inputs();
        if let Some(constant) = expr.constant(id) {
            return Encoded::Constant(constant);
        }
        match &expr.ops()[id] {
            Op::Scalar(_) | Op::Param(_) | Op::Size(_) => unreachable!("bug: a constant without a value"),
            Op::Index => self.index.clone(),
            Op::Given => unreachable!("bug: a block without its given values"),
            Op::Load(array, dtype, at) => {
                let (array, at) = (&*inputs.arrays[*array], self.operand(*at));
                if array.len() == 0 {
                    // The array has no elements, but the index was evaluated for its checks.
                    return Encoded::Constant(Scalar::from_i64(*dtype, 0));
                }
                load(array, *dtype, n, &at)
            }
            Op::Product(product, dtype, at) => {
                let at = self.operand(*at);
                Encoded::filled(*dtype, n, |out| inputs.products[*product].fill(&at, out))
            }
            Op::RowOf(splits, at) => {
                let at = self.operand(*at);
                rows_of(inputs.arrays[*splits].slice(), n, &at)
            }
            Op::Unary(op, dtype, a) => arithmetic::unary(*op, *dtype, n, &self.operand(*a)),
            Op::Binary(op, a, b) => arithmetic::binary(*op, n, &self.operand(*a), &self.operand(*b)),
            Op::Cast(to, a) => arithmetic::cast(*to, n, &self.operand(*a)),
            Op::Bitcast(to, a) => arithmetic::bitcast(*to, n, &self.operand(*a)),
            Op::Select([c, a, b], costs) => {
                let c = self.operand(*c);
                self.select(&c, *a, *b, *costs)
            }
            Op::Call(function, arguments) => {
                let arguments: Vec<Encoded<'a>> = arguments.iter().map(|&a| self.operand(a)).collect();
                call::call(inputs.function(function), n, &arguments, &inputs.panic)
            }
            Op::Checked(check, ok, v) => {
                let ok = self.operand(*ok);
                self.record(&inputs.outcomes[*check], &ok);
                self.operand(*v)
            }
        }
    }

    /// Records the first position at which the condition fails.
    fn record(&self, outcome: &AtomicU32, ok: &Encoded<'_>) {
        let holds = match ok {
            Encoded::Segments(_, _, flags) => u8::operand(flags),
            flags => u8::operand(flags),
        };
        let fails = match holds {
            Operand::Constant(holds) => holds == 0,
            // No early exit, which would prevent vectorization.
            Operand::Dense(holds) => holds.iter().fold(1, |all, &holds| all & holds) == 0,
        };
        if fails {
            // The positions may be in any order; the least one is reported.
            let (ok, at) = (u8::expanded(self.len, ok), u32::expanded(self.len, &self.index));
            let first = (0..self.len).filter(|&k| ok[k] == 0).map(|k| at[k]).min();
            outcome.fetch_min(first.map_or(u32::MAX, |at| at * self.stride), Ordering::Relaxed);
        }
    }

    fn select(&mut self, condition: &Encoded<'a>, a: usize, b: usize, costs: Option<[u32; 2]>) -> Encoded<'a> {
        let n = self.len;
        let (yes, partition_cost) = match condition {
            Encoded::Constant(Scalar::Bool(yes)) => return self.eval(if *yes { a } else { b }),
            Encoded::Segments(ends, _, flags) => {
                let flags = u8::operand(flags);
                let lens = segments::lens(ends).enumerate();
                let yes = lens.map(|(k, len)| if flags.get(k) != 0 { len as usize } else { 0 }).sum();
                (yes, ends.len() as u64 * u64::from(PARTITION_COST_PER_RUN))
            }
            dense => {
                let flags = u8::expanded(n, dense);
                // Sums of so few flags fit a byte, so that a vector holds many of them.
                let yes: usize = flags.chunks(255).map(|flags| usize::from(flags.iter().sum::<u8>())).sum();
                (yes, n as u64 * u64::from(PARTITION_COST_PER_POSITION))
            }
        };
        // Evaluating both branches everywhere may cost at most as much as partitioning the positions.
        let excess = |[a, b]: [u32; 2]| (n - yes) as u64 * u64::from(a) + yes as u64 * u64::from(b);
        if yes == 0 {
            self.eval(b)
        } else if yes == n {
            self.eval(a)
        } else if costs.is_some_and(|costs| excess(costs) <= partition_cost) {
            segments::blend(n, condition, &self.eval(a), &self.eval(b))
        } else {
            let [at_a, at_b] = segments::partition(condition);
            let (a, b) = (self.eval_selected(a, &at_a), self.eval_selected(b, &at_b));
            segments::merge(n, condition, (&a, &at_a), (&b, &at_b))
        }
    }

    /// The values of operation `id` at the selected positions.
    fn eval_selected<'s>(&'s self, id: OpId, chosen: &'s [Range]) -> Encoded<'s> {
        let len = chosen.iter().map(|(from, to)| (to - from) as usize).sum();
        let index = segments::restrict(&self.index, chosen);
        let (stride, enclosing) = (self.stride, Some((self, chosen)));
        Block { stride, enclosing, ..Block::new(self.expr, len, index) }.eval(id)
    }
}
