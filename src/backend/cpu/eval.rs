//! Evaluates expressions at a block of positions.
//!
//! A block is small enough for its intermediate values to stay in the nearest cache. Shared subexpressions are computed
//! once a block. The branches of a `select` that read memory are evaluated at the positions that take them only.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use half::{bf16, f16};

use super::array::Array;
use super::lanes::{self, Lane, Lanes, Operand};
use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::node::Node;
use crate::graph::plan::for_each_expr;
use crate::graph::scalar::Scalar;

/// What the expressions of a step read, and where their conditions report.
pub(crate) struct Inputs {
    pub(crate) arrays: HashMap<Digest, Arc<Array>>,
    pub(crate) checks: Vec<Arc<Check>>,
    /// The first offending position of each check, or u32::MAX.
    pub(crate) outcomes: Arc<[AtomicU32]>,
}

impl Inputs {
    /// The array of a node that the step reads.
    pub(crate) fn array(&self, node: &Node) -> &Array {
        self.arrays.get(&node.digest()).expect("bug: a step reads an array that was not planned")
    }

    /// A scalar expression's value.
    pub(crate) fn scalar_u32(&self, e: &Expr) -> u32 {
        let mut block = Block::run(self, 0, 1);
        let lanes = block.eval(e);
        u32::operand(&lanes).get(0)
    }
}

/// The positions of a block.
#[derive(Clone)]
enum Positions {
    /// `len` from `start` on.
    Run { start: u32, len: usize },
    /// Any.
    List(Rc<[u32]>),
}

/// Evaluates expressions at some positions, remembering every intermediate value.
pub(crate) struct Block<'a> {
    inputs: &'a Inputs,
    positions: Positions,
    memo: HashMap<Digest, Lanes>,
}

/// Branches up to this cost are computed at every lane and blended.
const BLEND_COST: u32 = 6;

impl<'a> Block<'a> {
    /// A block of `len` positions from `start` on.
    pub(crate) fn run(inputs: &'a Inputs, start: u32, len: usize) -> Self {
        Self { inputs, positions: Positions::Run { start, len }, memo: HashMap::new() }
    }

    /// A block of any positions.
    pub(crate) fn list(inputs: &'a Inputs, positions: Vec<u32>) -> Self {
        Self { inputs, positions: Positions::List(positions.into()), memo: HashMap::new() }
    }

    fn len(&self) -> usize {
        match &self.positions {
            Positions::Run { len, .. } => *len,
            Positions::List(list) => list.len(),
        }
    }

    fn indices(&mut self) -> Rc<[u32]> {
        match &self.positions {
            Positions::Run { start, len } => {
                let list: Rc<[u32]> = (*start..).take(*len).collect();
                list
            }
            Positions::List(list) => list.clone(),
        }
    }

    /// The expression's values, one a position.
    pub(crate) fn eval_as<T: Lane>(&mut self, e: &Expr) -> Rc<[T]> {
        let lanes = self.eval(e);
        match T::operand(&lanes) {
            Operand::One(v) => std::iter::repeat_n(v, self.len()).collect(),
            Operand::Many(s) => Rc::from(s),
        }
    }

    /// The expression's values.
    pub(crate) fn eval(&mut self, e: &Expr) -> Lanes {
        match e.kind() {
            ExprKind::Scalar(s) => return Lanes::One(*s),
            _ if self.len() == 0 => return Lanes::One(Scalar::from_i64(e.dtype(), 0)),
            _ => {}
        }
        if let Some(done) = self.memo.get(&e.digest()) {
            return done.clone();
        }
        let n = self.len();
        let out = match e.kind() {
            ExprKind::Scalar(_) => unreachable!("handled above"),
            ExprKind::Index => Lanes::U32(self.indices()),
            ExprKind::Load(node, at) => self.load(node, at),
            ExprKind::RowOf(splits, at) => {
                let at = self.eval(at);
                Lanes::U32(rows_of(self.inputs.array(splits).slice(), n, u32::operand(&at)))
            }
            ExprKind::Within(splits, row, offset) => {
                let start = Expr::load(splits, row.clone());
                let (start, offset) = (self.eval(&start), self.eval(offset));
                lanes::binary(crate::graph::opcode::BinaryOp::Add, n, &start, &offset)
            }
            ExprKind::Unary(op, a) => {
                let a = self.eval(a);
                lanes::unary(*op, n, &a)
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                lanes::binary(*op, n, &a, &b)
            }
            ExprKind::Cast(a) => {
                let a = self.eval(a);
                lanes::cast(e.dtype(), n, &a)
            }
            ExprKind::Bitcast(a) => {
                let a = self.eval(a);
                lanes::bitcast(e.dtype(), n, &a)
            }
            ExprKind::Select(c, a, b) => self.select(c, a, b),
            ExprKind::Checked(check, ok, v) => {
                self.check(check, ok);
                self.eval(v)
            }
        };
        self.memo.insert(e.digest(), out.clone());
        out
    }

    /// Records the first position at which the condition fails.
    pub(crate) fn check(&mut self, check: &Arc<Check>, ok: &Expr) {
        let n = self.len();
        let ok = self.eval(ok);
        let ok = bool::operand(&ok);
        let slot = self.inputs.checks.iter().position(|c| c == check).expect("bug: an unplanned check");
        if let Some(k) = (0..n).find(|&k| !ok.get(k)) {
            // Later positions of a list may be smaller; the least one is wanted.
            let at = self.indices();
            let first = (k..n).filter(|&k| !ok.get(k)).map(|k| at[k]).min().unwrap_or(at[k]);
            self.inputs.outcomes[slot].fetch_min(first, Ordering::Relaxed);
        }
    }

    fn load(&mut self, node: &Node, at: &Expr) -> Lanes {
        let inputs = self.inputs;
        let array = inputs.array(node);
        if array.len() == 0 {
            // There is nothing to read, but the position's conditions hold or do not.
            if at.has_conditions() {
                self.eval(at);
            }
            return Lanes::One(Scalar::from_i64(node.dtype(), 0));
        }
        let run = match &self.positions {
            Positions::Run { start, len } if at.is_index() && *start as usize + len <= array.len() => {
                Some(*start as usize..*start as usize + len)
            }
            _ => None,
        };
        let at = if run.is_some() { Lanes::One(Scalar::U32(0)) } else { self.eval(at) };
        let n = self.len();
        macro_rules! gather {
            ($t:ty, $v:ident, $f:expr) => {{
                let from: &[$t] = array.slice();
                let last = from.len() - 1;
                let f = $f;
                match (run, u32::operand(&at)) {
                    (Some(run), _) => Lanes::$v(from[run].iter().map(|&x| f(x)).collect()),
                    (None, Operand::One(i)) => Lanes::One(Scalar::from(f(from[(i as usize).min(last)]))),
                    (None, Operand::Many(i)) => {
                        Lanes::$v(i[..n].iter().map(|&i| f(from[(i as usize).min(last)])).collect())
                    }
                }
            }};
        }
        match node.dtype() {
            DType::Bool => gather!(u8, Bool, |x| x != 0),
            DType::U8 => gather!(u8, U8, |x| x),
            DType::I8 => gather!(i8, I8, |x| x),
            DType::U16 => gather!(u16, U16, |x| x),
            DType::I16 => gather!(i16, I16, |x| x),
            DType::I32 => gather!(i32, I32, |x| x),
            DType::U32 => gather!(u32, U32, |x| x),
            DType::I64 => gather!(i64, I64, |x| x),
            DType::U64 => gather!(u64, U64, |x| x),
            DType::F16 => gather!(f16, F16, |x| x),
            DType::BF16 => gather!(bf16, BF16, |x| x),
            DType::F32 => gather!(f32, F32, |x| x),
            DType::F64 => gather!(f64, F64, |x| x),
            DType::Str => unreachable!("bug: strings are not arrays"),
        }
    }

    fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Lanes {
        let n = self.len();
        let condition = self.eval_as::<bool>(c);
        let yes = condition.iter().filter(|&&c| c).count();
        if yes == n {
            return self.eval(a);
        }
        if yes == 0 {
            return self.eval(b);
        }
        let blends = |e: &Expr| {
            let mut pure = e.cost() <= BLEND_COST;
            for_each_expr(e, &mut |e| pure &= !matches!(e.kind(), ExprKind::Checked(..)));
            pure
        };
        if blends(a) && blends(b) {
            let (a, b) = (self.eval(a), self.eval(b));
            return Lanes::blend(n, &condition, &a, &b);
        }
        let side = |this: &mut Self, e: &Expr, want: bool| {
            let at = this.indices();
            let lanes: Vec<u32> = (0..n as u32).filter(|&k| condition[k as usize] == want).collect();
            let positions = Positions::List(lanes.iter().map(|&k| at[k as usize]).collect());
            // What is known at all positions is known at these; only what the branch needs itself is carried over.
            let mut memo = HashMap::new();
            for_each_expr(e, &mut |e| {
                if let Some(known) = this.memo.get(&e.digest()) {
                    memo.insert(e.digest(), known.pick(&lanes));
                }
            });
            Block { inputs: this.inputs, positions, memo }.eval(e)
        };
        let (a, b) = (side(self, a, true), side(self, b, false));
        Lanes::merge(n, &condition, &a, &b)
    }
}

/// The row of each position: the greatest `r` with `splits[r] <= at`. Consecutive positions mostly share a row or move
/// to the next, which is looked at before a search is made.
fn rows_of(splits: &[u32], n: usize, at: Operand<'_, u32>) -> Rc<[u32]> {
    let rows = splits.len().saturating_sub(1);
    if rows == 0 {
        return std::iter::repeat_n(0, n).collect();
    }
    let mut row = 0;
    (0..n)
        .map(|k| {
            let at = at.get(k);
            if !(splits[row] <= at && at < splits[row + 1]) {
                let next = row + 1;
                row = if next < rows && splits[next] <= at && at < splits[next + 1] {
                    next
                } else {
                    splits[..=rows].partition_point(|&s| s <= at).saturating_sub(1).min(rows - 1)
                };
            }
            row as u32
        })
        .collect()
}
