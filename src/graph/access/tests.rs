//! Accesses against a naive evaluation of the index at every position.

use super::form::Form;
use super::*;
use crate::Device;
use crate::dtype::DType;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::ExprKind;
use crate::graph::opcode::BinaryOp;
use crate::graph::scalar::Scalar;
use crate::graph::size::RecordedSize;
use crate::graph::{BackendRef, Node, Size};

/// A linear congruential generator (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

/// Arrays of u32, by node.
#[derive(Default)]
struct Arrays(DigestMap<Vec<u32>>);

impl Arrays {
    fn array(&mut self, backend: &BackendRef, values: Vec<u32>) -> Node {
        let data = backend.upload(DType::U32, bytemuck::cast_slice(&values)).expect("uploaded");
        let node = Node::source(backend, DType::U32, values.len() as u32, data);
        self.0.insert(node.digest(), values);
        node
    }

    /// Element `at`; any number beyond the end.
    fn load(&self, node: &Node, at: u32) -> u32 {
        self.0[&node.digest()].get(at as usize).copied().unwrap_or(at ^ 0x5555)
    }

    /// The value at a position. `None` if positions that are divided wrapped.
    fn eval(&self, e: &Expr, i: u32) -> Option<u32> {
        let eval = |e: &Expr| self.eval(e, i);
        Some(match e.kind() {
            ExprKind::Index => i,
            ExprKind::Scalar(Scalar::U32(v)) => *v,
            ExprKind::Scalar(Scalar::Bool(v)) => (*v).into(),
            ExprKind::Size(size) => size.capacity(),
            ExprKind::Load(node, at) => self.load(node, eval(at)?),
            ExprKind::RowOf(splits, at) => {
                let at = eval(at)?;
                self.0[&splits.digest()].partition_point(|&split| split <= at).saturating_sub(1) as u32
            }
            ExprKind::Within(splits, row, offset) => self.load(splits, eval(row)?).wrapping_add(eval(offset)?),
            ExprKind::Select(c, a, b) => eval(if eval(c)? != 0 { a } else { b })?,
            ExprKind::Binary(op, a, b) => {
                if matches!(op, BinaryOp::IndexDiv | BinaryOp::IndexRem) {
                    self.exact(a, i)?;
                }
                let (a, b) = (eval(a)?, eval(b)?);
                match op {
                    BinaryOp::Add => a.wrapping_add(b),
                    BinaryOp::Sub => a.wrapping_sub(b),
                    BinaryOp::Mul => a.wrapping_mul(b),
                    BinaryOp::IndexDiv => a.checked_div(b).unwrap_or(0),
                    BinaryOp::IndexRem => a.checked_rem(b).unwrap_or(0),
                    BinaryOp::Min => a.min(b),
                    BinaryOp::Lt => (a < b).into(),
                    op => unreachable!("{op:?}"),
                }
            }
            kind => unreachable!("{kind:?}"),
        })
    }

    /// The value of arithmetic that does not wrap.
    fn exact(&self, e: &Expr, i: u32) -> Option<u32> {
        match e.kind() {
            ExprKind::Within(splits, row, offset) => {
                self.load(splits, self.eval(row, i)?).checked_add(self.exact(offset, i)?)
            }
            ExprKind::Select(c, a, b) => self.exact(if self.eval(c, i)? != 0 { a } else { b }, i),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                let (a, b) = (self.exact(a, i)?, self.exact(b, i)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    _ => a.checked_mul(b),
                }
            }
            _ => self.eval(e, i),
        }
    }

    fn radix(&self, radix: &Radix, i: u32) -> Option<u64> {
        Some(radix.times * radix.size.as_ref().map_or(Some(1), |size| self.eval(size, i))? as u64)
    }

    fn digits(&self, digits: &[(i64, Digit)], i: u32) -> Option<u32> {
        let mut sum = 0u32;
        for (times, digit) in digits {
            let counter = match &digit.of {
                Counter::Position => i,
                Counter::Offset(rows) => {
                    let element = i / rows.width;
                    element - self.load(&rows.splits, self.row(&rows.splits, element))
                }
            };
            let mut value = u64::from(counter).checked_div(self.radix(&digit.divisor, i)?).unwrap_or(0);
            if let Some(modulus) = &digit.modulus {
                value = value.checked_rem(self.radix(modulus, i)?).unwrap_or(0);
            }
            sum = sum.wrapping_add((*times as u32).wrapping_mul(value as u32));
        }
        Some(sum)
    }

    fn row(&self, splits: &Node, at: u32) -> u32 {
        self.0[&splits.digest()].partition_point(|&split| split <= at).saturating_sub(1) as u32
    }

    /// The index that the access claims.
    fn claimed(&self, access: &Access, i: u32) -> Option<u32> {
        let within = |element: u32, inner: &Inner| {
            Some(element.wrapping_mul(inner.width).wrapping_add(self.digits(&inner.digits, i)?))
        };
        match access {
            // Constants are evaluated at the first position.
            Access::Run { start, step } => Some(self.eval(start, 0)?.wrapping_add((*step as u32).wrapping_mul(i))),
            Access::Fixed(at) => self.eval(at, 0),
            Access::Strided { base, digits } => Some(self.eval(base, 0)?.wrapping_add(self.digits(digits, i)?)),
            Access::Row { rows, inner } => within(self.row(rows, i / inner.own), inner),
            Access::Place { own, of, row, base, step, inner } => {
                let element = i / inner.own;
                let (own_row, k) = match own {
                    RowsRef::Splits(splits) => {
                        let row = self.row(splits, element);
                        (row, element - self.load(splits, row))
                    }
                    RowsRef::Uniform(length) => {
                        let length = self.radix(length, i)? as u32;
                        let row = element.checked_div(length).unwrap_or(0);
                        (row, element.checked_rem(length).unwrap_or(0))
                    }
                };
                let first = match own {
                    RowsRef::Splits(splits) => self.load(splits, own_row),
                    RowsRef::Uniform(length) => own_row * self.radix(length, i)? as u32,
                };
                // Both are constant in the own row: they are evaluated at its first number.
                let (row, base) = (self.eval(row, first * inner.own)?, self.eval(base, first * inner.own)?);
                let (start, length) = match of {
                    RowsRef::Splits(splits) => {
                        let start = self.load(splits, row);
                        (start, self.load(splits, row.wrapping_add(1)).wrapping_sub(start))
                    }
                    RowsRef::Uniform(length) => {
                        let length = self.radix(length, i)? as u32;
                        (row.wrapping_mul(length), length)
                    }
                };
                let step = match step {
                    Step::Along(step) => (*step as u32).wrapping_mul(k),
                    Step::Cyclic => k.checked_rem(length).unwrap_or(0),
                    Step::Each(repeats) => k / *repeats as u32,
                };
                within(start.wrapping_add(base).wrapping_add(step), inner)
            }
            Access::Lines { own, own_width, of, width } => {
                let (element, number) = (i / own_width, i % own_width);
                let row = self.row(own, element);
                let line = row * own_width + number;
                let read = self.load(of, line / width).wrapping_add(element - self.load(own, row));
                Some(read.wrapping_mul(*width).wrapping_add(line % width))
            }
            Access::Gathered { element, inner, .. } => within(self.eval(element, i / inner.own)?, inner),
            Access::Choice(c, of) => self.claimed(&of[usize::from(self.eval(c, i)? == 0)], i),
        }
    }
}

/// Arrays and sizes for random indices.
struct Leaves {
    splits: Vec<Node>,
    positions: Node,
    sizes: Vec<Expr>,
}

impl Leaves {
    fn new(backend: &BackendRef, arrays: &mut Arrays, random: &mut Random) -> Self {
        let mut splits = |random: &mut Random| {
            let mut splits = vec![0];
            while splits[splits.len() - 1] < POSITIONS {
                splits.push(splits[splits.len() - 1] + random.below(7));
            }
            arrays.array(backend, splits)
        };
        let splits = vec![splits(random), splits(random)];
        let positions = arrays.array(backend, (0..POSITIONS).map(|_| random.below(POSITIONS)).collect());
        let size = |k: u32| Expr::size(&Size::input(Digest::of("test", k), k));
        Self { splits, positions, sizes: (0..5).map(size).collect() }
    }

    fn expr(&self, random: &mut Random, depth: u32) -> Expr {
        if depth == 0 || random.below(6) == 0 {
            return match random.below(5) {
                0..3 => Expr::index(),
                3 => Expr::u32(random.below(6)),
                _ => self.sizes[random.below(5) as usize].clone(),
            };
        }
        let splits = self.splits[random.below(2) as usize].clone();
        let factor = Expr::u32([1, 2, 2, 3, 4, 6][random.below(6) as usize]);
        let x = self.expr(random, depth - 1);
        let row = Expr::row_of(&splits, x.clone());
        let start = Expr::load(&splits, row.clone());
        match random.below(19) {
            0 => x.div(factor),
            1 => x.rem(factor),
            2 => x.mul(factor),
            3 => x.div(self.sizes[random.below(5) as usize].clone()),
            4 => x.rem(self.sizes[random.below(5) as usize].clone()),
            5 => x.add(self.expr(random, depth - 1)),
            6 => x.sub(self.expr(random, depth - 1)),
            7 => x.clone().div(factor.clone()).mul(factor.clone()).add(x.rem(factor)),
            8 => row,
            9 => x.sub(start),
            10 => Expr::within(&splits, x, self.expr(random, depth - 1)),
            11 => {
                // An offset in the own row as an offset of another row.
                let other = &self.splits[random.below(2) as usize];
                let offset = x.sub(start);
                let offset = match random.below(4) {
                    0 => offset,
                    1 => offset.div(factor),
                    2 => {
                        let end = Expr::load(other, row.clone().add(Expr::u32(1)));
                        offset.rem(end.sub(Expr::load(other, row.clone())))
                    }
                    _ => Expr::u32(random.below(5)).sub(offset),
                };
                Expr::within(other, row, offset)
            }
            12 => Expr::load(&self.positions, x),
            13 => x.clone().lt(self.expr(random, 1)).select(x, self.expr(random, depth - 1)),
            // A padded row, and rows of one length.
            15 => {
                let by = if random.below(2) == 0 { factor } else { self.sizes[random.below(5) as usize].clone() };
                let i = Expr::index();
                Expr::within(&splits, i.clone().div(by.clone()), i.rem(by))
            }
            16 => {
                let (i, row) = (Expr::index(), Expr::row_of(&splits, Expr::index()));
                row.clone().mul(factor).add(i.sub(Expr::load(&splits, row)))
            }
            // Rows of vectors by lines, and lines as vectors.
            17 => {
                let (i, other) = (Expr::index(), &self.splits[random.below(2) as usize]);
                let by_line = random.below(2) == 0;
                let element = if by_line { i.clone() } else { i.clone().div(factor.clone()) };
                let row = Expr::row_of(&splits, element.clone());
                let offset = element.sub(Expr::load(&splits, row.clone()));
                match by_line {
                    true => Expr::within(other, row.clone().div(factor.clone()), offset)
                        .mul(factor.clone())
                        .add(row.rem(factor)),
                    false => Expr::within(other, row.mul(factor.clone()).add(i.rem(factor)), offset),
                }
            }
            14 => x.clone().div(factor.clone()).mul(Expr::u32(random.below(4))).add(Expr::index().rem(factor)),
            _ => {
                let width = Expr::u32(1 + random.below(3));
                let element = self.expr(random, depth - 1).at(&Expr::index().div(width.clone()));
                element.mul(width.clone()).add(Expr::index().rem(width))
            }
        }
    }
}

const POSITIONS: u32 = 48;

#[test]
fn random_indices_are_what_their_accesses_claim() {
    let device = Device::cpu();
    let (mut random, mut arrays) = (Random(7), Arrays::default());
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..40 {
        let leaves = Leaves::new(device.backend(), &mut arrays, &mut random);
        for _ in 0..500 {
            let depth = 1 + random.below(5);
            let index = leaves.expr(&mut random, depth);
            let values: Option<Vec<u32>> = (0..POSITIONS).map(|i| arrays.eval(&index, i)).collect();
            let Some(values) = values else { continue };
            let access = index.access();
            for (i, value) in (0..POSITIONS).zip(values) {
                let claimed = arrays.claimed(&access, i);
                assert_eq!(claimed, Some(value), "at {i}: {index:?}\nis claimed to be {access:?}");
            }
            for leaf in access.choices() {
                *seen.entry(kind(leaf)).or_default() += 1;
            }
            for width in 2..4 {
                let Some(first) = index.first_of_element(width) else { continue };
                for i in 0..POSITIONS {
                    let element = arrays.eval(&first, i / width).expect("arithmetic that did not wrap");
                    let claimed = element.wrapping_add(i % width);
                    assert_eq!(arrays.eval(&index, i), Some(claimed), "at {i}: {index:?}\nby {width}: {first:?}");
                }
                let is_choice = matches!(index.form(), Form::Choice(..));
                *seen.entry(if is_choice { "first of a choice" } else { "first" }).or_default() += 1;
            }
        }
    }
    let kinds =
        ["run", "own", "fixed", "strided", "row", "place", "cyclic", "each", "uniform", "of uniform", "gathered"];
    for kind in kinds.into_iter().chain(["to lines", "of lines", "first", "first of a choice"]) {
        assert!(seen.get(kind).is_some_and(|&n| n > 5), "{kind}: {seen:?}");
    }
}

fn kind(access: &Access) -> &'static str {
    match access {
        access if access.is_own() => "own",
        Access::Run { .. } => "run",
        Access::Fixed(_) => "fixed",
        Access::Strided { .. } => "strided",
        Access::Row { .. } => "row",
        Access::Place { step: Step::Cyclic, .. } => "cyclic",
        Access::Place { step: Step::Each(_), .. } => "each",
        Access::Place { own: RowsRef::Uniform(_), .. } => "uniform",
        Access::Place { of: RowsRef::Uniform(_), .. } => "of uniform",
        Access::Place { .. } => "place",
        Access::Lines { width: 1, .. } => "to lines",
        Access::Lines { .. } => "of lines",
        Access::Gathered { inner, .. } if inner.own > 1 => "wide",
        Access::Gathered { .. } => "gathered",
        Access::Choice(..) => "choice",
    }
}
