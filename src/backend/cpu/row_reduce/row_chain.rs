//! Element-wise chains over rows of a table: the operations between a look-up and a reduction. Leading steps whose operands
//! are the same for all values form a [`Clamp`]; the others are applied to tiles of rows that stay in the L1 cache.

use crate::backend::cpu::accumulate::Reducible;
use crate::backend::cpu::array::ArrayElement;
use crate::backend::cpu::compiled_expr::OpId;
use crate::backend::cpu::encoding::{Dense, Encoded};
use crate::backend::cpu::eval::Block;
use crate::backend::cpu::number::Number;
use crate::backend::cpu::simd::{self, Loop};
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::planned::{Expr, ExprKind};

/// An operation of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainOp {
    Neg,
    Abs,
    Add,
    Sub,
    /// The operand minus the number.
    ReverseSub,
    Mul,
    Div,
    /// The operand over the number.
    ReverseDiv,
    Min,
    Max,
}

/// A step of a chain: its operation, and its operand, an expression of the value's index, if it has one.
#[derive(Debug)]
pub(in super::super) struct ChainStep<E> {
    op: ChainOp,
    operand: Option<E>,
}

/// The chain that `e` applies to the innermost expression for which `source` gives a result, in order of application.
/// `of_value` gives an operand that is the same for all columns of a value.
pub(in super::super) fn chain_of<R>(
    e: &Expr,
    source: &impl Fn(&Expr) -> Option<R>,
    of_value: &impl Fn(&Expr) -> Option<Expr>,
) -> Option<(R, Vec<ChainStep<Expr>>)> {
    if let Some(found) = source(e) {
        return Some((found, Vec::new()));
    }
    let (inner, op, operand) = match e.kind() {
        ExprKind::Unary(UnaryOp::Neg, a) => (a, ChainOp::Neg, None),
        ExprKind::Unary(UnaryOp::Abs, a) => (a, ChainOp::Abs, None),
        ExprKind::Binary(op, a, b) => {
            let [on_left, on_right] = match op {
                BinaryOp::Add => [ChainOp::Add; 2],
                BinaryOp::Sub => [ChainOp::Sub, ChainOp::ReverseSub],
                BinaryOp::Mul => [ChainOp::Mul; 2],
                BinaryOp::Div => [ChainOp::Div, ChainOp::ReverseDiv],
                BinaryOp::Min => [ChainOp::Min; 2],
                BinaryOp::Max => [ChainOp::Max; 2],
                _ => return None,
            };
            match of_value(b) {
                Some(b) => (a, on_left, Some(b)),
                None => (b, on_right, Some(of_value(a)?)),
            }
        }
        _ => return None,
    };
    let (found, mut steps) = chain_of(inner, source, of_value)?;
    steps.push(ChainStep { op, operand });
    Some((found, steps))
}

impl<E> ChainStep<E> {
    /// Whether the step multiplies by its operand.
    pub(super) fn is_scale(&self) -> bool {
        self.op == ChainOp::Mul
    }

    /// The operand, if any.
    pub(in super::super) fn operand(&self) -> Option<&E> {
        self.operand.as_ref()
    }

    /// The same step with another operand.
    pub(in super::super) fn with_operand<T>(&self, operand: Option<T>) -> ChainStep<T> {
        ChainStep { op: self.op, operand }
    }
}

/// The operand of a step.
enum Operand<'a, V> {
    None,
    /// The same for all values.
    One(V),
    /// One per value.
    Each(Dense<'a, V>),
}

/// Steps with the same operands for all values: `x + offset`, at least `low`, at most `high`.
#[derive(Clone, Copy)]
pub(super) struct Clamp<V> {
    offset: V,
    low: Option<V>,
    high: Option<V>,
}

impl<V: Reducible> Clamp<V> {
    /// No steps.
    pub(super) fn none() -> Self {
        // Adding -0 changes no float.
        Self { offset: V::ZERO.neg(), low: None, high: None }
    }

    /// The values times `scale`, clamped.
    #[inline(always)]
    pub(super) fn scaled<const N: usize>(&self, mut values: [V; N], scale: V) -> [V; N] {
        // A loop for each step, since only such loops are compiled to vectors.
        for x in &mut values {
            *x = x.mul(scale).add(self.offset);
        }
        if let Some(low) = self.low {
            for x in &mut values {
                *x = at_least(*x, low);
            }
        }
        if let Some(high) = self.high {
            for x in &mut values {
                *x = at_most(*x, high);
            }
        }
        values
    }
}

#[inline(always)]
fn at_least<V: Reducible>(x: V, low: V) -> V {
    if x <= low { low } else { x }
}

#[inline(always)]
fn at_most<V: Reducible>(x: V, high: V) -> V {
    if x >= high { high } else { x }
}

/// Whether a comparison with `bound` gives the minimum or maximum: not for NaN, nor for one of the zeros.
fn is_exact<V: Reducible>(compared: fn(V, V) -> V, exact: fn(V, V) -> V, bound: V) -> bool {
    let same = |x: V| bytemuck::bytes_of(&compared(x, bound)) == bytemuck::bytes_of(&exact(x, bound));
    same(V::ZERO) && same(V::ZERO.neg())
}

/// A chain whose operands are evaluated, for consecutive values.
pub(super) struct RowChain<'a, V> {
    steps: Vec<(ChainOp, Operand<'a, V>)>,
}

impl<'a, V: Reducible + ArrayElement> RowChain<'a, V> {
    /// The chain for the values of a block of value indices.
    pub(super) fn new<'b: 'a>(steps: &[ChainStep<OpId>], block: &mut Block<'b>) -> Self {
        let operand = |step: &ChainStep<OpId>| match step.operand {
            None => Operand::None,
            Some(id) => match block.eval(id) {
                constant @ Encoded::Constant(_) => Operand::One(V::operand(&constant).get(0)),
                _ => Operand::Each(block.values(id)),
            },
        };
        Self { steps: steps.iter().map(|step| step.op).zip(steps.iter().map(operand)).collect() }
    }

    /// Takes the leading steps that a [`Clamp`] applies, if there are any.
    pub(super) fn take_clamp(&mut self) -> Option<Clamp<V>> {
        let mut clamp = Clamp::none();
        let mut taken = 0;
        // In the order of their application.
        for op in [ChainOp::Add, ChainOp::Max, ChainOp::Min] {
            match self.steps.get(taken) {
                Some(&(ChainOp::Add, Operand::One(x))) if op == ChainOp::Add => clamp.offset = x,
                Some(&(ChainOp::Sub, Operand::One(x))) if op == ChainOp::Add => clamp.offset = x.neg(),
                Some(&(ChainOp::Max, Operand::One(x))) if op == ChainOp::Max && is_exact(at_least, V::maximum, x) => {
                    clamp.low = Some(x);
                }
                Some(&(ChainOp::Min, Operand::One(x))) if op == ChainOp::Min && is_exact(at_most, V::minimum, x) => {
                    clamp.high = Some(x);
                }
                _ => continue,
            }
            taken += 1;
        }
        self.steps.drain(..taken);
        (taken > 0).then_some(clamp)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Applies the chain to rows of `columns` numbers, whose values are those at `first`, `first + step`, and so on.
    pub(super) fn apply(&self, tile: &mut [V], columns: usize, (first, step): (usize, usize)) {
        for (op, operand) in &self.steps {
            let operand = match operand {
                Operand::None => (V::default(), [].as_slice()),
                Operand::One(x) => (*x, [].as_slice()),
                Operand::Each(all) => (V::default(), &all[first..]),
            };
            simd::run(Apply { op: *op, operand, step, columns, tile });
        }
    }
}

/// One step of a chain. The operand is one number, unless there is one per value.
struct Apply<'l, V> {
    op: ChainOp,
    operand: (V, &'l [V]),
    step: usize,
    columns: usize,
    tile: &'l mut [V],
}

impl<V: Number> Loop for Apply<'_, V> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        match self.op {
            ChainOp::Neg => self.each(|x, _| x.neg()),
            ChainOp::Abs => self.each(|x, _| x.abs()),
            ChainOp::Add => self.each(V::add),
            ChainOp::Sub => self.each(V::sub),
            ChainOp::ReverseSub => self.each(|x, y| y.sub(x)),
            ChainOp::Mul => self.each(V::mul),
            ChainOp::Div => self.each(V::div),
            ChainOp::ReverseDiv => self.each(|x, y| y.div(x)),
            ChainOp::Min => self.each(V::minimum),
            ChainOp::Max => self.each(V::maximum),
        }
    }
}

impl<V: Number> Apply<'_, V> {
    #[inline(always)]
    fn each(self, f: impl Fn(V, V) -> V) {
        let (one, each) = self.operand;
        if each.is_empty() {
            for x in self.tile {
                *x = f(*x, one);
            }
            return;
        }
        for (row, &y) in self.tile.chunks_exact_mut(self.columns).zip(each.iter().step_by(self.step)) {
            for x in row {
                *x = f(*x, y);
            }
        }
    }
}
