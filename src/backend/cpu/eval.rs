//! Evaluates expressions at a block of positions.
//!
//! An expression is compiled once per step into a list of operations with numbered results. A block memoizes their
//! results and is small enough for them to stay in cache, unless they are a few numbers per row. Consecutive positions
//! are kept as runs (see `run_arithmetic`): consecutive loads borrow slices of the array, and results that depend on the row
//! alone are computed once per row.
//!
//! The branches of a `select` are evaluated only at the positions that take them. Exceptions are branches whose wasted
//! evaluations cost less than partitioning the positions, and elements that are copied directly (see `copies`).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::array::{Array, Stored};
use super::encoding::{Dense, Direction, Encoded, Operand, Value};
use super::loops::{Spread, map_values};
use super::number::Number;
use super::operations;
use super::order_key;
use super::output_writer::OutputWriter;
use super::pool::Pool;
use super::rows_of::rows_of;
use super::run_arithmetic;
use super::selection::{self, Selection};
use super::sequence_division;
use super::simd;
use crate::dtype::DType;
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Arrays that the expressions of a step read, and slots into which their checks report failures.
#[derive(Clone)]
pub(crate) struct Inputs {
    pub(crate) arrays: DigestMap<Arc<Array>>,
    pub(crate) checks: Vec<Arc<Check>>,
    /// The first offending position of each check, or u32::MAX.
    pub(crate) outcomes: Arc<[AtomicU32]>,
    /// Pool that further arrays are allocated from.
    pub(crate) pool: Arc<Pool>,
}

impl Inputs {
    /// Adds the array of a node that no step stored.
    pub(crate) fn add(&mut self, node: &Node, array: Array) -> Arc<Array> {
        let array = Arc::new(array);
        self.arrays.insert(node.digest(), array.clone());
        array
    }

    /// The array of a node that the step reads.
    pub(crate) fn array(&self, node: &Node) -> &Array {
        self.arrays.get(&node.digest()).expect("bug: a step reads an array that was not planned")
    }

    /// The outcome slot of a check.
    fn outcome(&self, check: &Arc<Check>) -> &AtomicU32 {
        let slot = self.checks.iter().position(|c| c == check).expect("bug: an unplanned check");
        &self.outcomes[slot]
    }
}

/// Cost per lane of partitioning a block between two branches, in units of expression costs. Listing the lanes of each
/// branch, picking their operands and merging the results takes longer than a logarithm computed eight lanes at a time.
const PARTITION_COST_PER_POSITION: u32 = 32;

/// The same cost per run, for a condition that is known by runs.
const PARTITION_COST_PER_RUN: u32 = 256;

/// Cost of an expression per position of a block. The rows of ordered positions are found in one walk; those of other
/// positions are found by searches that wait for memory at each step. Exponentials, logarithms, roots and quotients of
/// floats are computed for several lanes at a time, other functions and quotients for one.
fn block_cost(e: &Expr) -> u32 {
    let mut cost = 0u32;
    for_each_expr(e, &mut |e| {
        let is_float = e.dtype().is_float();
        let own = match e.kind() {
            ExprKind::RowOf(..) if e.as_own_row().is_some() => 1,
            ExprKind::RowOf(..) => 4 * e.own_cost(),
            ExprKind::Unary(UnaryOp::Math(MathFn::Exp | MathFn::Log | MathFn::Sqrt), _) => e.own_cost(),
            ExprKind::Binary(BinaryOp::Div, ..) if is_float => e.own_cost(),
            ExprKind::Unary(UnaryOp::Math(_), _) => 8 * e.own_cost(),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2, ..) => 8 * e.own_cost(),
            _ => e.own_cost(),
        };
        cost = cost.saturating_add(own);
    });
    cost
}

/// An operation of a program. Operands are given by their places in the list of operations.
pub(super) enum Op<'a> {
    Scalar(Scalar),
    Index,
    Load(&'a Array, DType, usize),
    RowOf(&'a [u32], usize),
    Unary(UnaryOp, usize),
    Binary(BinaryOp, usize, usize),
    Cast(DType, usize),
    Bitcast(DType, usize),
    /// Order keys of floats (see `order_key`): the key of NaN, and the floats.
    ToKey(Scalar, usize),
    /// Floats of order keys: the key of no float with its replacement value, and the keys.
    FromKey([Scalar; 2], usize),
    /// The condition and the branches; the costs of the branches, if both may be evaluated at all positions.
    Select([usize; 3], Option<[u32; 2]>),
    /// The slot for failures, the condition, the value.
    Checked(&'a AtomicU32, usize, usize),
}

/// An expression, compiled for many blocks. Each distinct subexpression occurs once, operands first.
pub(crate) struct Program<'a> {
    ops: Vec<Op<'a>>,
    /// For each operation, whether it or its operands contain checks.
    conditions: Vec<bool>,
}

impl<'a> Program<'a> {
    pub(crate) fn new(inputs: &'a Inputs, e: &Expr) -> Self {
        let mut program = Self { ops: Vec::new(), conditions: Vec::new() };
        program.place(inputs, e, &mut DigestMap::default());
        program
    }

    /// Compiles the expression and returns the place of its result.
    fn place(&mut self, inputs: &'a Inputs, e: &Expr, known: &mut DigestMap<usize>) -> usize {
        if let Some(&place) = known.get(&e.digest()) {
            return place;
        }
        let mut at = |e: &Expr| self.place(inputs, e, known);
        let op = match e.kind() {
            ExprKind::Scalar(s) => Op::Scalar(*s),
            ExprKind::Size(size) => Op::Scalar(Scalar::U32(size.value())),
            ExprKind::Index => Op::Index,
            ExprKind::Load(node, i) => Op::Load(inputs.array(node), node.dtype(), at(i)),
            ExprKind::RowOf(splits, i) => Op::RowOf(inputs.array(splits).slice(), at(i)),
            ExprKind::Within(splits, row, offset) => {
                let start = at(&Expr::load(splits, row.clone()));
                Op::Binary(BinaryOp::Add, start, at(offset))
            }
            ExprKind::Unary(op, a) => Op::Unary(*op, at(a)),
            ExprKind::Binary(op, a, b) => Op::Binary(*op, at(a), at(b)),
            ExprKind::Cast(a) => Op::Cast(e.dtype(), at(a)),
            ExprKind::Bitcast(a) => Op::Bitcast(e.dtype(), at(a)),
            ExprKind::Select(c, a, b) => {
                if let Some((x, nan)) = order_key::keyed(e) {
                    let x = at(x);
                    return self.push(e, Op::ToKey(nan, x), known);
                }
                if let Some((key, none_and_empty)) = order_key::unkeyed(e) {
                    let key = at(key);
                    return self.push(e, Op::FromKey(none_and_empty, key), known);
                }
                let everywhere = !a.has_conditions() && !b.has_conditions();
                Op::Select([at(c), at(a), at(b)], everywhere.then(|| [a, b].map(block_cost)))
            }
            ExprKind::Checked(check, ok, v) => Op::Checked(inputs.outcome(check), at(ok), at(v)),
        };
        self.push(e, op, known)
    }

    /// The operations, operands first; the last one is the whole expression.
    pub(super) fn ops(&self) -> &[Op<'a>] {
        &self.ops
    }

    /// Whether the operation at `place` or its operands contain checks. Such an operation must not be evaluated at
    /// positions that do not use its result.
    pub(super) fn has_conditions(&self, place: usize) -> bool {
        self.conditions[place]
    }

    fn push(&mut self, e: &Expr, op: Op<'a>, known: &mut DigestMap<usize>) -> usize {
        self.ops.push(op);
        self.conditions.push(e.has_conditions());
        known.insert(e.digest(), self.ops.len() - 1);
        self.ops.len() - 1
    }
}

/// Evaluates a program at a block of positions and memoizes every intermediate result.
pub(crate) struct Block<'a> {
    program: &'a Program<'a>,
    len: usize,
    /// The positions.
    index: Encoded<'a>,
    memo: Vec<Option<Encoded<'a>>>,
    /// Positions of the step per position of the block. Failed checks report positions of the step.
    each: u32,
    /// The enclosing block and the selection of its lanes that this block covers. Results of the enclosing block are
    /// reused.
    within: Option<(&'a Block<'a>, &'a Selection)>,
}

impl<'a> Block<'a> {
    /// A block of `len` positions from `start` on.
    pub(crate) fn run(program: &'a Program<'a>, start: u32, len: usize) -> Self {
        Self::new(program, len, Encoded::Sequences(Direction::Ascending, vec![len as u32].into(), vec![start].into()))
    }

    /// A block of one run of `len` positions per start.
    pub(crate) fn sequences(program: &'a Program<'a>, starts: Vec<u32>, len: u32) -> Self {
        let ends: Vec<u32> = (1..=starts.len() as u32).map(|k| k * len).collect();
        Self::new(
            program,
            starts.len() * len as usize,
            run_arithmetic::sequences(Direction::Ascending, ends.into(), starts.into()),
        )
    }

    /// A block of `len` positions from `start` on, each of which represents `each` positions of the step.
    pub(crate) fn of_each(program: &'a Program<'a>, start: u32, len: usize, each: u32) -> Self {
        Self { each, ..Self::run(program, start, len) }
    }

    /// A block of runs that end at `ends`. Run `k` starts at position `firsts[k]`.
    pub(crate) fn in_runs(program: &'a Program<'a>, ends: Vec<u32>, firsts: Vec<u32>) -> Self {
        let len = ends.last().map_or(0, |&n| n as usize);
        Self::new(program, len, run_arithmetic::sequences(Direction::Ascending, ends.into(), firsts.into()))
    }

    /// A block of arbitrary positions.
    pub(crate) fn list(program: &'a Program<'a>, positions: Vec<u32>) -> Self {
        Self::new(program, positions.len(), u32::wrap(positions.into()))
    }

    fn new(program: &'a Program<'a>, len: usize, index: Encoded<'a>) -> Self {
        Self { program, len, index, memo: vec![None; program.ops.len()], each: 1, within: None }
    }

    /// The expression's values, one per position.
    pub(crate) fn eval_as<T: Value>(mut self) -> Dense<'a, T> {
        if self.len == 0 {
            return Vec::new().into();
        }
        let lanes = self.root();
        T::expanded(self.len, &lanes.dense())
    }

    /// Fills `out` with the bytes of the expression's values, one per position. Returns whether the intermediate state is
    /// a few numbers per run, which permits larger blocks.
    pub(crate) fn store(self, dtype: DType, out: &mut [u8]) -> bool {
        match dtype {
            DType::I32 => self.store_numbers::<i32>(bytemuck::cast_slice_mut(out)),
            DType::U32 => self.store_numbers::<u32>(bytemuck::cast_slice_mut(out)),
            DType::I64 => self.store_numbers::<i64>(bytemuck::cast_slice_mut(out)),
            DType::U64 => self.store_numbers::<u64>(bytemuck::cast_slice_mut(out)),
            DType::F32 => self.store_numbers::<f32>(bytemuck::cast_slice_mut(out)),
            DType::F64 => self.store_numbers::<f64>(bytemuck::cast_slice_mut(out)),
            other => self.store_bytes(other.size(), out),
        }
    }

    /// As [`Block::store`], for numbers. A final arithmetic operation writes to `out` directly, without an intermediate
    /// block of results.
    pub(crate) fn store_numbers<T: Number + Stored>(mut self, out: &mut [T]) -> bool {
        if let Some(&Op::Binary(op, a, b)) = self.program.ops.last()
            && self.len > 0
        {
            let first = self.eval(a);
            if let Some(cycle) = self.cycle(op, &first, b) {
                self.memo[self.program.ops.len() - 1] = Some(cycle);
            } else if run_arithmetic::store::<T>(op, &first, &self.eval(b), out) {
                return false;
            }
        }
        self.store_bytes(size_of::<T>(), bytemuck::cast_slice_mut(out))
    }

    /// As [`Block::store`], for values of `size` bytes.
    fn store_bytes(self, size: usize, out: &mut [u8]) -> bool {
        match size {
            1 => self.store_words::<u8>(out),
            2 => self.store_words::<u16>(bytemuck::cast_slice_mut(out)),
            4 => self.store_words::<u32>(bytemuck::cast_slice_mut(out)),
            _ => self.store_words::<u64>(bytemuck::cast_slice_mut(out)),
        }
    }

    /// As [`Block::store`], for values of the size of `W`.
    fn store_words<W: Stored>(mut self, out: &mut [W]) -> bool {
        if self.len == 0 {
            return false;
        }
        if let Some(in_runs) = self.copy(out) {
            return in_runs;
        }
        match self.root() {
            Encoded::Runs(ends, values) => match values.dense().words() {
                Operand::Constant(v) => out.fill(v),
                Operand::Dense(values) => {
                    simd::run(Spread { ends: &ends, values, out: OutputWriter::of(out) });
                }
            },
            lanes => match lanes.dense().words() {
                Operand::Constant(v) => out.fill(v),
                Operand::Dense(values) => out.copy_from_slice(&values[..out.len()]),
            },
        }
        false
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
    fn root(&mut self) -> Encoded<'a> {
        self.eval(self.program.ops.len() - 1)
    }

    /// The program.
    pub(super) fn program(&self) -> &'a Program<'a> {
        self.program
    }

    /// The values of the operation at `place`.
    pub(super) fn eval(&mut self, place: usize) -> Encoded<'a> {
        let program = self.program;
        match &program.ops[place] {
            Op::Scalar(s) => return Encoded::Constant(*s),
            Op::Index => return self.index.clone(),
            _ => {}
        }
        if let Some(done) = &self.memo[place] {
            return done.clone();
        }
        let out = match self.known_outside(place) {
            Some(known) => known,
            None => self.compute(&program.ops[place]),
        };
        self.memo[place] = Some(out.clone());
        out
    }

    /// The values of the operation at `place`, if an enclosing block has computed them.
    fn known_outside(&self, place: usize) -> Option<Encoded<'a>> {
        let (outside, chosen) = self.within?;
        match &outside.memo[place] {
            Some(known) => Some(selection::restrict(known, chosen)),
            None => outside.known_outside(place).map(|known| selection::restrict(&known, chosen)),
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
                run_arithmetic::each(n, &a, |n, a| operations::unary(*op, n, a))
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
                run_arithmetic::each(n, &a, |n, a| operations::cast(*to, n, a))
            }
            Op::Bitcast(to, a) => {
                let a = self.eval(*a);
                run_arithmetic::each(n, &a, |n, a| operations::bitcast(*to, n, a))
            }
            Op::ToKey(nan, x) => {
                let x = self.eval(*x);
                run_arithmetic::each(n, &x, |n, x| order_key::keys(n, x, *nan))
            }
            Op::FromKey(none_and_empty, key) => {
                let key = self.eval(*key);
                run_arithmetic::each(n, &key, |n, key| order_key::floats(n, key, *none_and_empty))
            }
            Op::Select([c, a, b], costs) => {
                let c = self.eval(*c);
                self.select(&c, *a, *b, *costs)
            }
            Op::Checked(outcome, ok, v) => {
                let ok = self.eval(*ok);
                self.record(outcome, &ok);
                self.eval(*v)
            }
        }
    }

    /// Fuses `start` plus the remainder at `place` into one pass (see `sequence_division::cycle`). `None` for other operations or
    /// operands, or if the remainder has been evaluated already.
    fn cycle(&mut self, op: BinaryOp, start: &Encoded<'a>, place: usize) -> Option<Encoded<'a>> {
        match self.program.ops[place] {
            Op::Binary(BinaryOp::IndexRem, x, by) if op == BinaryOp::Add && self.memo[place].is_none() => {
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
            // Positions of a list may be in any order; the least one is reported.
            let (ok, at) = (ok.dense(), self.index.dense());
            let (ok, at) = (bool::operand(&ok), u32::operand(&at));
            let first = (0..self.len).filter(|&k| !ok.get(k)).map(|k| at.get(k)).min();
            outcome.fetch_min(first.map_or(u32::MAX, |at| at * self.each), Ordering::Relaxed);
        }
    }

    fn select(&mut self, condition: &Encoded<'a>, a: usize, b: usize, costs: Option<[u32; 2]>) -> Encoded<'a> {
        let n = self.len;
        // Whether evaluating both branches at all positions costs no more than partitioning the lanes.
        let blends = |yes: usize, partition_cost: u64| {
            let wasted = |[a, b]: [u32; 2]| (n - yes) as u64 * u64::from(a) + yes as u64 * u64::from(b);
            costs.is_some_and(|costs| wasted(costs) <= partition_cost)
        };
        match condition {
            Encoded::Constant(Scalar::Bool(yes)) => self.eval(if *yes { a } else { b }),
            Encoded::Runs(ends, flags) => {
                let flags = bool::operand(flags);
                let lens = run_arithmetic::lens(ends);
                let of_yes = lens.iter().enumerate().map(|(k, &len)| if flags.get(k) { len as usize } else { 0 });
                match of_yes.sum() {
                    0 => self.eval(b),
                    yes if yes == n => self.eval(a),
                    yes if blends(yes, ends.len() as u64 * u64::from(PARTITION_COST_PER_RUN)) => {
                        let (a, b) = (self.eval(a), self.eval(b));
                        selection::blend(n, condition, &a, &b)
                    }
                    _ => {
                        let [at_a, at_b] = Self::sides(ends, flags);
                        selection::merge(ends, flags, &self.part(a, &at_a), &self.part(b, &at_b))
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
                        Encoded::merge(n, &flags, &self.part(a, &at_a).dense(), &self.part(b, &at_b).dense())
                    }
                }
            }
        }
    }

    /// The lanes of the runs whose flag is set, and those of the other runs. The runs end at `ends`.
    fn sides(ends: &[u32], flags: Operand<'_, bool>) -> [Selection; 2] {
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

    /// The values of the operation at `place` at the selected positions.
    fn part<'s>(&'s self, place: usize, chosen: &'s Selection) -> Encoded<'s> {
        let memo = vec![None; self.program.ops.len()];
        let index = selection::restrict(&self.index, chosen);
        let (program, each) = (self.program, self.each);
        Block { program, len: chosen.len(), index, memo, each, within: Some((self, chosen)) }.eval(place)
    }
}

/// Loads the elements at the given indices. An index out of range loads the last element.
fn load<'a>(array: &'a Array, dtype: DType, n: usize, at: &Encoded<'_>) -> Encoded<'a> {
    match at {
        Encoded::Constant(Scalar::U32(i)) => {
            Encoded::Constant(element(array, dtype, (*i as usize).min(array.len() - 1)))
        }
        Encoded::Runs(ends, values) => run_arithmetic::runs(ends.clone(), load(array, dtype, ends.len(), values)),
        Encoded::Sequences(Direction::Ascending, ends, firsts)
            if let (&[end], &[first]) = (&ends[..], &firsts[..])
                && dtype != DType::Bool
                && first as usize + end as usize <= array.len() =>
        {
            borrow(array, dtype, first as usize..first as usize + end as usize)
        }
        at => match dtype.size() {
            1 => Encoded::of_words(dtype, gather::<u8>(array.slice(), n, at)),
            2 => Encoded::of_words(dtype, gather::<u16>(array.slice(), n, at)),
            4 => Encoded::of_words(dtype, gather::<u32>(array.slice(), n, at)),
            _ => Encoded::of_words(dtype, gather::<u64>(array.slice(), n, at)),
        },
    }
}

/// Element `i` of an array.
fn element(array: &Array, dtype: DType, i: usize) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(array.slice::<u8>()[i] != 0),
        _ => borrow(array, dtype, i..i + 1).get(0),
    }
}

/// The elements `range` of an array of another dtype than bool, in place.
fn borrow(array: &Array, dtype: DType, range: Range<usize>) -> Encoded<'_> {
    macro_rules! typed {
        ($($v:ident),*) => {
            match dtype {
                $(DType::$v => Encoded::$v(Dense::Borrowed(&array.slice()[range])),)*
                DType::Bool | DType::Str => unreachable!("bug: {dtype} elements are not stored as values"),
            }
        };
    }
    typed!(U8, I8, U16, I16, I32, U32, I64, U64, F16, BF16, F32, F64)
}

/// The elements at the given indices, as words of their size.
fn gather<W: Stored + Default>(from: &[W], n: usize, at: &Encoded<'_>) -> Vec<W> {
    let last = from.len() - 1;
    let one = |i: u32| from[(i as usize).min(last)];
    let Encoded::Sequences(direction, ends, firsts) = at else {
        let at = at.dense();
        return match u32::operand(&at) {
            Operand::Dense(at) => map_values(&at[..n], one),
            Operand::Constant(i) => vec![one(i); n],
        };
    };
    let mut out = OutputWriter::new(n);
    let mut start = 0;
    for (&end, &first) in ends.iter().zip(firsts.iter()) {
        let len = (end - start) as usize;
        let i = first as usize;
        match direction {
            Direction::Ascending if i + len <= from.len() => out.convert(from, i, len, |x| x),
            Direction::Descending if i < from.len() && len <= i + 1 => out.convert_back(from, i, len, |x| x),
            direction => out.extend((0..len).map(|k| one(direction.after(first, k as u32)))),
        }
        start = end;
    }
    out.finish()
}
