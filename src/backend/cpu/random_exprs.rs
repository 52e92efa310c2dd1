//! Differential test of random expressions: evaluation in blocks and position by position must give the same values and
//! the same failed conditions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::CpuBackend;
use super::array::{Array, ArrayElement};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::encoding::Value;
use super::eval::Block;
use super::pool::Pool;
use super::random_encodings::Random;
use super::template::Prepared;
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::plan::PlanOf;
use crate::graph::planned::{self, ExprKind};
use crate::graph::step::merge;
use crate::graph::walk::for_each_expr;
use crate::math::MathFn;

/// Generator of random expressions.
struct Generator<'m> {
    random: &'m mut Random,
    splits: &'m [Node],
    values: &'m [Node],
    check: Arc<Check>,
}

impl Generator<'_> {
    fn one_of(&mut self, nodes: &[Node]) -> Node {
        nodes[self.random.below(nodes.len() as u32) as usize].clone()
    }

    fn row(&mut self) -> (Node, Expr) {
        let splits = self.one_of(self.splits);
        let row = Expr::row_of(&splits, Expr::index());
        (splits, row)
    }

    /// A random u32 expression: a position, or a property of a row.
    fn index(&mut self, depth: u32) -> Expr {
        let (splits, row) = self.row();
        if depth == 0 || self.random.below(6) == 0 {
            return match self.random.below(6) {
                0 => Expr::index(),
                1 => Expr::u32([0, 1, 2, 7, 50, u32::MAX - 60][self.random.below(6) as usize]),
                2 => row,
                3 => Expr::load(&splits, row),
                4 => Expr::load(&splits, row.clone().add(Expr::u32(1))).sub(Expr::load(&splits, row)),
                // The offset of a position in its row, or its mirror image.
                _ if self.random.below(2) == 0 => Expr::index().sub(Expr::load(&splits, row)),
                _ => mirrored(&splits, &row, Expr::load(&splits, row.clone())),
            };
        }
        let depth = depth - 1;
        let (a, b) = (self.index(depth), self.index(depth));
        match self.random.below(13) {
            0 => Expr::row_of(&splits, a),
            1 => Expr::load(&splits, a),
            2 => Expr::within(&splits, a, b),
            3 => a.add(b),
            4 => a.sub(b),
            5 => a.min(b),
            6 => a.max(b),
            7 => a.mul(b),
            8 => a.binary(
                [BinaryOp::IndexDiv, BinaryOp::IndexRem][self.random.below(2) as usize],
                Expr::u32(1 + self.random.below(20)),
            ),
            9 => self.condition(depth).select(a, b),
            12 => Expr::call(&Function::for_tests(), [a, b].into()),
            // A row of another partition, repeated cyclically over the positions of this one.
            10 => {
                let (splits, row) = self.row();
                let other = self.one_of(self.splits);
                let length = Expr::load(&other, row.clone().add(Expr::u32(1))).sub(Expr::load(&other, row.clone()));
                Expr::within(&other, row.clone(), Expr::index().sub(Expr::load(&splits, row)).rem(length))
            }
            _ => {
                let ok = self.condition(depth);
                a.checked(self.check.clone(), ok)
            }
        }
    }

    fn condition(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return Expr::index().lt(Expr::u32(self.random.below(700)));
        }
        let depth = depth - 1;
        match self.random.below(6) {
            0 | 1 => self.index(depth).lt(self.index(depth)),
            2 | 3 => self.index(depth).le(self.index(depth)),
            4 => self.condition(depth).and(self.condition(depth)),
            _ => self.condition(depth).not(),
        }
    }

    /// A comparison of a position's offset in its row, as slices, concatenations and paddings record them.
    fn offset_condition(&mut self) -> Expr {
        let (splits, row) = self.row();
        let offset = Expr::index().sub(Expr::load(&splits, row.clone()));
        let bound = Expr::u32(self.random.below(9));
        match self.random.below(5) {
            0 => offset.lt(bound),
            1 => bound.le(offset),
            2 => offset.lt(Expr::load(&self.one_of(self.splits), row)),
            3 => row.lt(Expr::u32(self.random.below(100))),
            _ => self.offset_condition().and(self.offset_condition()),
        }
    }

    /// A branch of a `select`: an element of an array, or a constant.
    fn branch(&mut self) -> Expr {
        let (splits, row) = self.row();
        let start = Expr::load(&self.one_of(self.splits), row.clone());
        let at = match self.random.below(8) {
            0 => return Expr::scalar(2.5f32),
            6 => mirrored(&splits, &row, Expr::load(&splits, row.clone())),
            7 => mirrored(&splits, &row, start),
            1 => self.index(2),
            2 => Expr::index().add(Expr::u32(self.random.below(30))),
            3 => Expr::index().sub(Expr::load(&splits, row)).add(start),
            4 => Expr::index().sub(self.index(1)),
            _ => {
                let ok = self.condition(1);
                Expr::index().checked(self.check.clone(), ok)
            }
        };
        let element = Expr::load(&self.one_of(self.values), at);
        match self.random.below(6) {
            // A cheap operation, which is evaluated at all positions, and an expensive one, which is not.
            0 => element.unary(UnaryOp::Math(MathFn::Sqrt)),
            1 => element.unary(UnaryOp::Math(MathFn::Log1p)),
            _ => element,
        }
    }
}

/// The mirror image of a position in its row, for a row that begins at `start`.
fn mirrored(splits: &Node, row: &Expr, start: Expr) -> Expr {
    let at = |row: Expr| Expr::load(splits, row);
    let len = at(row.clone().add(Expr::u32(1))).sub(at(row.clone()));
    start.add(len.sub(Expr::u32(1)).sub(Expr::index().sub(at(row.clone()))))
}

/// Random inputs of an expression.
fn inputs(random: &mut Random, splits: &[Node], values: &[Node]) -> Inputs {
    let outcomes: Arc<[AtomicU32]> = [AtomicU32::new(u32::MAX)].into();
    let pool = Arc::new(Pool::default());
    let mut inputs = Inputs {
        functions: [Function::for_tests()].into(),
        arrays: Vec::new(),
        products: Vec::new(),
        step: Arc::default(),
        outcomes,
        panic: Arc::default(),
        written_twice: Arc::default(),
        pool: pool.clone(),
        table: Arc::default(),
    };
    let array = |dtype, bytes: &[u8]| Array::from_bytes(&pool, dtype, bytes).expect("a small array");
    for _ in splits {
        let most = [2, 4, 20, 200][random.below(4) as usize];
        let nonempty_share = [1, 2, 3, 8][random.below(4) as usize];
        let rows = 1 + [3, 60, 400][random.below(3) as usize];
        let mut splits = vec![0u32];
        for _ in 0..rows {
            let len = if random.below(nonempty_share) == 0 { random.below(most) } else { 0 };
            splits.push(splits[splits.len() - 1] + len);
        }
        if random.below(40) == 0 {
            splits.truncate(random.below(2) as usize);
        }
        inputs.arrays.push(Arc::new(array(DType::U32, bytemuck::cast_slice(&splits))));
    }
    for _ in values {
        let len = random.below(900);
        let values: Vec<f32> = (0..len).map(|_| random.below(600) as f32).collect();
        inputs.arrays.push(Arc::new(array(DType::F32, bytemuck::cast_slice(&values))));
    }
    inputs
}

/// Compares the evaluation of a block of `n` positions from `start` on with the evaluation of its positions one by one.
/// Returns whether the condition failed.
fn compare<T: Value + ArrayElement + PartialEq + std::fmt::Debug>(
    inputs: &mut Inputs,
    nodes: &[&Node],
    e: &Expr,
    start: u32,
    n: u32,
) -> bool {
    let plan = PlanOf::of_expr(nodes[0].backend(), e);
    let (e, mut checks) = (&plan.expr(), Vec::new());
    for_each_expr(e, &mut |e| {
        if let ExprKind::Checked(check, ..) = e.kind() {
            merge(&mut checks, [*check]);
        }
    });
    // An array that the expression does not read keeps its number.
    let array = |node: &&Node| plan.array(node).map_or(node.digest(), planned::Node::digest);
    inputs.step = Arc::new(Prepared::new(nodes.iter().map(array), checks));
    let inputs = &*inputs;
    let expr = CompiledExpr::new(inputs, e);
    let failed = || inputs.outcomes[0].swap(u32::MAX, Ordering::Relaxed);
    let expected: Vec<T> = (start..start + n).map(|at| Block::positions(&expr, vec![at]).eval_as::<T>()[0]).collect();
    let failed_at = failed();
    let mut out = vec![T::default(); n as usize];
    Block::consecutive(&expr, start, n as usize).store(e.dtype(), bytemuck::cast_slice_mut(&mut out));
    assert_eq!((&out, failed()), (&expected, failed_at), "stored: {e:?}, positions from {start} on");
    let values = Block::consecutive(&expr, start, n as usize).eval_as::<T>();
    assert_eq!((&values[..], failed()), (&expected[..], failed_at), "{e:?}, positions from {start} on");
    let values = Block::positions(&expr, (start..start + n).collect()).eval_as::<T>();
    assert_eq!((&values[..], failed()), (&expected[..], failed_at), "listed: {e:?}, positions from {start} on");
    failed_at != u32::MAX
}

#[test]
fn blocks_have_the_values_and_conditions_of_their_positions() {
    let backend: BackendRef = Arc::new(CpuBackend::new(0, true));
    // The nodes only name arrays; each round chooses their contents.
    let nodes = |dtype| [(); 3].map(|()| Node::source(&backend, dtype, 1000, Arc::new(())));
    let (splits, values) = (nodes(DType::U32), nodes(DType::F32));
    let nodes: Vec<&Node> = splits.iter().chain(&values).collect();
    let mut random = Random(7);
    let mut failed = 0;
    for round in 0..6000 {
        let check = Check::new("test", "a condition");
        let mut inputs = inputs(&mut random, &splits, &values);
        let (start, n) = (random.below(300), 1 + [5, 100, 700][random.below(3) as usize]);
        let depth = 1 + random.below(4);
        let mut generator = Generator { random: &mut random, splits: &splits, values: &values, check };
        let has_failed = if round % 2 == 0 {
            compare::<u32>(&mut inputs, &nodes, &generator.index(depth), start, n)
        } else {
            let condition = if round % 4 == 1 { generator.offset_condition() } else { generator.condition(2) };
            compare::<f32>(&mut inputs, &nodes, &condition.select(generator.branch(), generator.branch()), start, n)
        };
        failed += usize::from(has_failed);
    }
    assert!(failed > 200, "{failed}");
}

/// Calls of the user's functions are not made at positions that select another branch, also where branches are copied.
#[test]
fn functions_are_called_at_the_positions_of_their_branch() {
    let function = Function::for_tests_with(|x, _| {
        assert!((100..103).contains(&x), "{x} belongs to the other branch");
        x - 100
    });
    let backend: BackendRef = Arc::new(CpuBackend::new(0, true));
    let table = Node::source(&backend, DType::F32, 8, Arc::new(()));
    let pool = Arc::new(Pool::default());
    let mut inputs = Inputs {
        functions: [function.clone()].into(),
        arrays: Vec::new(),
        products: Vec::new(),
        step: Arc::default(),
        outcomes: [AtomicU32::new(u32::MAX)].into(),
        panic: Arc::default(),
        written_twice: Arc::default(),
        pool: pool.clone(),
        table: Arc::default(),
    };
    let values = [10.0f32, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0];
    let array = Array::from_bytes(&pool, DType::F32, bytemuck::cast_slice(&values)).expect("a small array");
    inputs.arrays.push(Arc::new(array));
    let at = |i: Expr| Expr::load(&table, i);
    let inside = || Expr::index().lt(Expr::u32(103));
    let called = || Expr::call(&function, [Expr::index(), Expr::u32(0)].into());
    let zero = || Expr::scalar(0.0f32);
    for e in [
        inside().select(at(called()), zero()),
        inside().select(at(called().add(Expr::u32(1))), at(Expr::u32(7))),
        at(inside().select(called(), Expr::u32(7))),
        Expr::u32(102).lt(Expr::index()).select(zero(), at(called())),
        inside().select(Expr::index().lt(Expr::u32(101)).select(at(called()), at(called().add(Expr::u32(2)))), zero()),
    ] {
        compare::<f32>(&mut inputs, &[&table], &e, 100, 40);
        assert!(inputs.panic.get().is_none(), "{e:?}: {:?}", inputs.panic.get());
    }
}
