//! Differential test of random programs: evaluation in blocks and position by position give the same values and the
//! same failed conditions.

use crate::graph::digest::DigestMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::CpuBackend;
use super::array::{Array, Stored};
use super::compiled_expr::{CompiledExpr, Inputs};
use super::encoding::Value;
use super::eval::Block;
use super::pool::Pool;
use super::random_encodings::Numbers;
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::math::MathFn;

/// Generator of random programs.
struct Maker<'m> {
    numbers: &'m mut Numbers,
    splits: &'m [Node],
    values: &'m [Node],
    check: Arc<Check>,
}

impl Maker<'_> {
    fn one_of(&mut self, nodes: &[Node]) -> Node {
        nodes[self.numbers.below(nodes.len() as u32) as usize].clone()
    }

    fn row(&mut self) -> (Node, Expr) {
        let splits = self.one_of(self.splits);
        let row = Expr::row_of(&splits, Expr::index());
        (splits, row)
    }

    /// A random u32 expression: a position, or a property of a row.
    fn place(&mut self, depth: u32) -> Expr {
        let (splits, row) = self.row();
        if depth == 0 || self.numbers.below(6) == 0 {
            return match self.numbers.below(6) {
                0 => Expr::index(),
                1 => Expr::u32([0, 1, 2, 7, 50, u32::MAX - 60][self.numbers.below(6) as usize]),
                2 => row,
                3 => Expr::load(&splits, row),
                4 => Expr::load(&splits, row.clone().add(Expr::u32(1))).sub(Expr::load(&splits, row)),
                // The offset of a position in its row, or its mirror image.
                _ if self.numbers.below(2) == 0 => Expr::index().sub(Expr::load(&splits, row)),
                _ => mirrored(&splits, &row, Expr::load(&splits, row.clone())),
            };
        }
        let depth = depth - 1;
        let (a, b) = (self.place(depth), self.place(depth));
        match self.numbers.below(12) {
            0 => Expr::row_of(&splits, a),
            1 => Expr::load(&splits, a),
            2 => Expr::within(&splits, a, b),
            3 => a.add(b),
            4 => a.sub(b),
            5 => a.min(b),
            6 => a.max(b),
            7 => a.mul(b),
            8 => a.binary(
                [BinaryOp::IndexDiv, BinaryOp::IndexRem][self.numbers.below(2) as usize],
                Expr::u32(1 + self.numbers.below(20)),
            ),
            9 => self.condition(depth).select(a, b),
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
            return Expr::index().lt(Expr::u32(self.numbers.below(700)));
        }
        let depth = depth - 1;
        match self.numbers.below(6) {
            0 | 1 => self.place(depth).lt(self.place(depth)),
            2 | 3 => self.place(depth).le(self.place(depth)),
            4 => self.condition(depth).and(self.condition(depth)),
            _ => self.condition(depth).not(),
        }
    }

    /// A comparison of the kind that slices, concatenations and paddings record: of a position's offset in its row.
    fn front(&mut self) -> Expr {
        let (splits, row) = self.row();
        let offset = Expr::index().sub(Expr::load(&splits, row.clone()));
        let bound = Expr::u32(self.numbers.below(9));
        match self.numbers.below(5) {
            0 => offset.lt(bound),
            1 => bound.le(offset),
            2 => offset.lt(Expr::load(&self.one_of(self.splits), row)),
            3 => row.lt(Expr::u32(self.numbers.below(100))),
            _ => self.front().and(self.front()),
        }
    }

    /// A branch of a `select`: an element of an array, or a constant.
    fn side(&mut self) -> Expr {
        let (splits, row) = self.row();
        let start = Expr::load(&self.one_of(self.splits), row.clone());
        let at = match self.numbers.below(8) {
            0 => return Expr::scalar(2.5f32),
            6 => mirrored(&splits, &row, Expr::load(&splits, row.clone())),
            7 => mirrored(&splits, &row, start),
            1 => self.place(2),
            2 => Expr::index().add(Expr::u32(self.numbers.below(30))),
            3 => Expr::index().sub(Expr::load(&splits, row)).add(start),
            4 => Expr::index().sub(self.place(1)),
            _ => {
                let ok = self.condition(1);
                Expr::index().checked(self.check.clone(), ok)
            }
        };
        let element = Expr::load(&self.one_of(self.values), at);
        match self.numbers.below(6) {
            // An operation that is evaluated at all positions, and one that is not.
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

/// The inputs of the programs.
fn inputs(numbers: &mut Numbers, splits: &[Node], values: &[Node], check: &Arc<Check>) -> Inputs {
    let outcomes: Arc<[AtomicU32]> = [AtomicU32::new(u32::MAX)].into();
    let pool = Arc::new(Pool::default());
    let mut inputs = Inputs { arrays: DigestMap::default(), checks: vec![check.clone()], outcomes, pool: pool.clone() };
    let array = |dtype, bytes: &[u8]| Array::from_bytes(&pool, dtype, bytes).expect("a small array");
    for node in splits {
        let most = [2, 4, 20, 200][numbers.below(4) as usize];
        let filled = [1, 2, 3, 8][numbers.below(4) as usize];
        let rows = 1 + [3, 60, 400][numbers.below(3) as usize];
        let mut splits = vec![0u32];
        for _ in 0..rows {
            let len = if numbers.below(filled) == 0 { numbers.below(most) } else { 0 };
            splits.push(splits[splits.len() - 1] + len);
        }
        if numbers.below(40) == 0 {
            splits.truncate(numbers.below(2) as usize);
        }
        inputs.add(node, array(DType::U32, bytemuck::cast_slice(&splits)));
    }
    for node in values {
        let len = numbers.below(900);
        let values: Vec<f32> = (0..len).map(|_| numbers.below(600) as f32).collect();
        inputs.add(node, array(DType::F32, bytemuck::cast_slice(&values)));
    }
    inputs
}

/// Compares the evaluation of `n` positions from `start` on as a block with their evaluation one by one. Returns
/// whether the condition failed.
fn compare<T: Value + Stored + PartialEq + std::fmt::Debug>(inputs: &Inputs, e: &Expr, start: u32, n: u32) -> bool {
    let program = CompiledExpr::new(inputs, e);
    let failed = || inputs.outcomes[0].swap(u32::MAX, Ordering::Relaxed);
    let expected: Vec<T> = (start..start + n).map(|at| Block::list(&program, vec![at]).eval_as::<T>()[0]).collect();
    let failed_at = failed();
    let mut out = vec![T::default(); n as usize];
    Block::run(&program, start, n as usize).store(e.dtype(), bytemuck::cast_slice_mut(&mut out));
    assert_eq!((&out, failed()), (&expected, failed_at), "stored: {e:?} from {start} on");
    let values = Block::run(&program, start, n as usize).eval_as::<T>();
    assert_eq!((&values[..], failed()), (&expected[..], failed_at), "{e:?} from {start} on");
    let values = Block::list(&program, (start..start + n).collect()).eval_as::<T>();
    assert_eq!((&values[..], failed()), (&expected[..], failed_at), "listed: {e:?} from {start} on");
    failed_at != u32::MAX
}

#[test]
fn blocks_have_the_values_and_conditions_of_their_positions() {
    let backend: BackendRef = Arc::new(CpuBackend::new(0, true));
    // These nodes only name arrays, whose contents are chosen for each program.
    let nodes = |dtype| [(); 3].map(|()| Node::source(&backend, dtype, 1000, Arc::new(())));
    let (splits, values) = (nodes(DType::U32), nodes(DType::F32));
    let mut numbers = Numbers(7);
    let mut failed = 0;
    for round in 0..6000 {
        let check = Check::new("test", "a condition");
        let inputs = inputs(&mut numbers, &splits, &values, &check);
        let (start, n) = (numbers.below(300), 1 + [5, 100, 700][numbers.below(3) as usize]);
        let depth = 1 + numbers.below(4);
        let mut maker = Maker { numbers: &mut numbers, splits: &splits, values: &values, check };
        let has_failed = if round % 2 == 0 {
            compare::<u32>(&inputs, &maker.place(depth), start, n)
        } else {
            let condition = if round % 4 == 1 { maker.front() } else { maker.condition(2) };
            compare::<f32>(&inputs, &condition.select(maker.side(), maker.side()), start, n)
        };
        failed += usize::from(has_failed);
    }
    assert!(failed > 200, "{failed}");
}
