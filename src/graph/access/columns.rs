//! Reads of the own element: the columns of registers that the columns of an element read.
//!
//! Indices are evaluated at each column of an element `e`, once for each of the first and once as a function of any other
//! `e`, since differences of positions may wrap in the first elements only. Branches that a column does not take read nothing.

use crate::dtype::DType;
use crate::graph::Expr;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::{ExprKind, Register};
use crate::graph::handles::Handles;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;
use crate::graph::walk::for_each_expr;

/// The registers that an expression reads, and for each column of an element the column that is read.
type RegisterReads<R> = Vec<(Expr<R>, Vec<u32>)>;

/// What an expression is at one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// `per_element * e + offset`, a u32 that does not wrap.
    Position {
        per_element: i64,
        offset: i64,
    },
    Flag(bool),
    Unknown,
}

impl<R: Handles> Expr<R> {
    /// The reads of registers in an expression over elements of `own` columns, where register `r` has `of(r)` columns; a
    /// column of a read that is never evaluated is 0. `None` if another element is read, or if that cannot be told.
    pub(crate) fn register_reads(&self, own: u32, of: impl Fn(Register) -> u32) -> Option<RegisterReads<R>> {
        let mut out: RegisterReads<R> = Vec::new();
        if !self.has_registers() {
            return Some(out);
        }
        let mut places: DigestMap<usize> = DigestMap::default();
        for column in 0..own {
            let mut of_column = DigestMap::default();
            for element in [Element::From(FIRST_ELEMENTS)].into_iter().chain((0..FIRST_ELEMENTS).map(Element::Number)) {
                let at = At { own: own.into(), column: column.into(), element, most: i64::MAX, is_within: false };
                for (read, is_certain) in at.reads(self) {
                    let ExprKind::Register(register, index) = read.kind() else { continue };
                    let width = i64::from(of(*register));
                    let found = match (element, at.value(index, &mut DigestMap::default())) {
                        (Element::Number(e), Value::Position { offset, .. }) => Some(offset - width * e),
                        (_, Value::Position { per_element, offset }) if per_element == width => Some(offset),
                        _ => None,
                    };
                    let found =
                        found.filter(|found| (0..width).contains(found)).and_then(|found| u32::try_from(found).ok());
                    let place = *places.entry(read.digest()).or_insert_with(|| {
                        out.push((read.clone(), vec![0; own as usize]));
                        out.len() - 1
                    });
                    match found {
                        // All elements read one column.
                        Some(found) if *of_column.entry(read.digest()).or_insert(found) != found => return None,
                        Some(found) => out[place].1[column as usize] = found,
                        // Differences that wrap lie beyond every bound that conditions compare them with.
                        None if matches!(element, Element::Number(_)) && !is_certain => {}
                        None => return None,
                    }
                }
            }
        }
        Some(out)
    }

    /// The column that an index reads at each column of an element of `own` columns, of elements of `width` columns: `None`
    /// where it leads to another element. `None` if a column cannot be told. Conditions choose by the column: those that hold
    /// for some elements only are unknown.
    pub(crate) fn own_columns(&self, own: u32, width: u32) -> Option<Vec<Option<u32>>> {
        let of_column = |column: u32| {
            // No difference between columns leads to a position below 0.
            let element = Element::From(FIRST_ELEMENTS + i64::from(own.max(width)));
            let at = At { own: own.into(), column: column.into(), element, most: i64::MAX, is_within: false };
            match at.value(self, &mut DigestMap::default()) {
                Value::Position { per_element, offset } if per_element == i64::from(width) => {
                    Some(u32::try_from(offset).ok().filter(|&column| column < width))
                }
                _ => None,
            }
        };
        (0..own).map(of_column).collect()
    }
}

/// The elements that positions are differences from may be two before their own.
const FIRST_ELEMENTS: i64 = 3;

/// Elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Number(i64),
    /// Any one from this on.
    From(i64),
}

/// A column of an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    own: i64,
    column: i64,
    element: Element,
    /// Greatest numbers per element and offsets of positions that are assumed not to wrap, of elements that are not the
    /// first. Sums and products of others are right modulo 2^32.
    most: i64,
    /// Whether the sizes that elements are compared with are numbers of elements: see [`element_bound`].
    is_within: bool,
}

/// Whether a condition compares a position by arithmetic with a number that is that of all positions.
fn bounds_positions<R: Handles>(condition: &Expr<R>) -> bool {
    let mut found = false;
    for_each_expr(condition, &mut |e| {
        if let ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le, position, bound) = e.kind() {
            let is_position = position.dtype() == DType::U32 && position.has_index() && !position.reads();
            found |= is_position && !bound.has_index();
        }
    });
    found
}

/// The size that the number of an element is compared with, if the expression is `position / own < size`.
pub(super) fn element_bound<R: Handles>(e: &Expr<R>, own: i64) -> Option<&R::Size> {
    let ExprKind::Binary(BinaryOp::Lt, element, size) = e.kind() else { return None };
    let ExprKind::Binary(BinaryOp::IndexDiv, position, by) = element.kind() else { return None };
    match size.kind() {
        ExprKind::Size(size) if position.has_index() && by.as_u32().map(i64::from) == Some(own) => Some(size),
        _ => None,
    }
}

/// Most elements of `own` columns, so that the quotients of positions that wrap are no element.
pub(super) fn most_elements(own: i64) -> i64 {
    (1 << 32) / own.max(1) - MOST_OFFSET
}

/// Greatest offset of a position that is assumed not to wrap, in elements.
const MOST_OFFSET: i64 = 4;

impl At {
    /// The column of an element among those whose own positions are below `2^32 - 4 * own`.
    pub(super) fn bounded(own: i64, column: i64, element: Element) -> Self {
        Self { own, column, element, most: own, is_within: true }
    }

    /// Whether the element is one of the first.
    fn is_first(self) -> bool {
        matches!(self.element, Element::Number(_))
    }

    /// Whether the number of an element is below the number of elements.
    fn is_element(self, value: Value) -> Value {
        match value {
            Value::Position { per_element: 0 | 1, offset: 0 } => Value::Flag(true),
            Value::Position { offset, .. } if self.is_first() && offset >= most_elements(self.own) => {
                Value::Flag(false)
            }
            _ => Value::Unknown,
        }
    }

    /// Whether a position is known not to wrap in any element.
    fn is_bounded(self, value: Value) -> bool {
        match value {
            Value::Position { per_element, offset } if !self.is_first() && per_element > 0 => {
                per_element <= self.most && offset <= self.most.saturating_mul(MOST_OFFSET)
            }
            _ => true,
        }
    }

    /// The registers that are read, and whether they are under no unknown condition that bounds positions.
    fn reads<R: Handles>(self, e: &Expr<R>) -> Vec<(Expr<R>, bool)> {
        let (mut out, mut seen, mut values) =
            (Vec::new(), [DigestSet::default(), DigestSet::default()], DigestMap::default());
        let mut stack = vec![(e.clone(), true)];
        while let Some((e, is_certain)) = stack.pop() {
            if !e.has_registers() || !seen[usize::from(is_certain)].insert(e.digest()) {
                continue;
            }
            match e.kind() {
                ExprKind::Register(..) => out.push((e.clone(), is_certain)),
                ExprKind::Select(condition, a, b) => match self.value(condition, &mut values) {
                    Value::Flag(true) => stack.push((a.clone(), is_certain)),
                    Value::Flag(false) => stack.push((b.clone(), is_certain)),
                    _ => {
                        stack.push((condition.clone(), is_certain));
                        let is_certain = is_certain && !bounds_positions(condition);
                        stack.extend([(a.clone(), is_certain), (b.clone(), is_certain)]);
                    }
                },
                _ => stack.extend(e.operands().map(|operand| (operand.clone(), is_certain))),
            }
        }
        out
    }

    /// The value of an expression at the column.
    pub(super) fn value<R: Handles>(self, e: &Expr<R>, known: &mut DigestMap<Value>) -> Value {
        if let Some(&known) = known.get(&e.digest()) {
            return known;
        }
        let constant = |offset: u32| Value::Position { per_element: 0, offset: offset.into() };
        let value = match e.kind() {
            ExprKind::Index => match self.element {
                Element::Number(e) => Value::Position { per_element: 0, offset: self.own * e + self.column },
                Element::From(_) => Value::Position { per_element: self.own, offset: self.column },
            },
            ExprKind::Scalar(Scalar::U32(n)) => constant(*n),
            ExprKind::Scalar(Scalar::Bool(flag)) => Value::Flag(*flag),
            ExprKind::Unary(UnaryOp::Not, a) => match self.value(a, known) {
                Value::Flag(flag) => Value::Flag(!flag),
                _ => Value::Unknown,
            },
            ExprKind::Binary(_, a, _) if self.is_within && element_bound(e, self.own).is_some() => {
                self.is_element(self.value(a, known))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a, known), self.value(b, known));
                self.binary(*op, a, b)
            }
            ExprKind::Select(condition, a, b) => match self.value(condition, known) {
                Value::Flag(true) => self.value(a, known),
                Value::Flag(false) => self.value(b, known),
                _ => {
                    let (a, b) = (self.value(a, known), self.value(b, known));
                    if a == b { a } else { Value::Unknown }
                }
            },
            ExprKind::Checked(_, _, value) => self.value(value, known),
            _ => Value::Unknown,
        };
        known.insert(e.digest(), value);
        value
    }

    fn binary(self, op: BinaryOp, a: Value, b: Value) -> Value {
        use Value::{Flag, Position, Unknown};
        match (op, a, b) {
            (BinaryOp::And, Flag(false), _) | (BinaryOp::And, _, Flag(false)) => return Flag(false),
            (BinaryOp::Or, Flag(true), _) | (BinaryOp::Or, _, Flag(true)) => return Flag(true),
            (BinaryOp::And, Flag(true), Flag(true)) => return Flag(true),
            (BinaryOp::Or, Flag(false), Flag(false)) => return Flag(false),
            _ => {}
        }
        let is_modular = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        let is_exact = is_modular || self.is_bounded(a) && self.is_bounded(b);
        if !is_exact {
            return Unknown;
        }
        let (Position { per_element: p, offset: x }, Position { per_element: q, offset: y }) = (a, b) else {
            return Unknown;
        };
        let position = |per_element: Option<i64>, offset: Option<i64>| match (per_element, offset) {
            (Some(per_element), Some(offset)) => self.position(per_element, offset),
            _ => Unknown,
        };
        match op {
            BinaryOp::Add => position(p.checked_add(q), x.checked_add(y)),
            BinaryOp::Sub => position(p.checked_sub(q), x.checked_sub(y)),
            BinaryOp::Mul if q == 0 => position(p.checked_mul(y), x.checked_mul(y)),
            BinaryOp::Mul if p == 0 => position(q.checked_mul(x), y.checked_mul(x)),
            BinaryOp::Shr if p == 0 && q == 0 => {
                position(Some(0), u32::try_from(y).ok().and_then(|y| x.checked_shr(y)))
            }
            BinaryOp::IndexDiv | BinaryOp::Div if q == 0 && y > 0 && p % y == 0 => {
                self.position(p / y, x.div_euclid(y))
            }
            BinaryOp::IndexRem | BinaryOp::Rem if q == 0 && y > 0 && p % y == 0 => self.position(0, x.rem_euclid(y)),
            BinaryOp::Min if p == q => self.position(p, x.min(y)),
            BinaryOp::Max if p == q => self.position(p, x.max(y)),
            BinaryOp::Lt if p == q => Flag(x < y),
            BinaryOp::Le if p == q => Flag(x <= y),
            BinaryOp::Eq if p == q => Flag(x == y),
            BinaryOp::Ne if p == q => Flag(x != y),
            _ => Unknown,
        }
    }

    /// `per_element * e + offset` as a u32: that of the first elements wraps, that of others must not. Offsets of others
    /// are below half of the range, so that greater ones are negative.
    fn position(self, per_element: i64, offset: i64) -> Value {
        const RANGE: i64 = 1 << 32;
        let wrapped = offset.rem_euclid(RANGE);
        let Element::From(first) = self.element else { return Value::Position { per_element: 0, offset: wrapped } };
        let offset = if per_element > 0 && wrapped >= RANGE / 2 { wrapped - RANGE } else { wrapped };
        let least = per_element.saturating_mul(first).saturating_add(offset);
        match per_element >= 0 && (0..RANGE).contains(&least) {
            true => Value::Position { per_element, offset },
            false => Value::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn i() -> Expr {
        Expr::index()
    }

    fn u(n: u32) -> Expr {
        Expr::u32(n)
    }

    fn read(at: Expr) -> Expr {
        Expr::register(Register { scan: 0, number: 0 }, DType::F32, at)
    }

    /// The columns that the columns of an element of `own` read of a register of `of`, by the first read.
    fn columns(e: &Expr, own: u32, of: u32) -> Option<Vec<u32>> {
        Some(e.register_reads(own, |_| of)?.swap_remove(0).1)
    }

    #[test]
    fn columns_of_own_elements() {
        assert_eq!(columns(&read(i()), 3, 3), Some(vec![0, 1, 2]));
        assert_eq!(columns(&read(i()), 3, 4), None, "elements of other widths");
        // The second half, and every other column.
        let half = i().div(u(2)).mul(u(4)).add(i().rem(u(2))).add(u(2));
        assert_eq!(columns(&read(half), 2, 4), Some(vec![2, 3]));
        let others = i().div(u(2)).mul(u(4)).add(i().rem(u(2)).mul(u(2)));
        assert_eq!(columns(&read(others), 2, 4), Some(vec![0, 2]));
        // One number for all columns, and the reverse.
        assert_eq!(columns(&read(i().div(u(3))), 3, 1), Some(vec![0, 0, 0]));
        let reverse = i().div(u(3)).mul(u(3)).add(u(2)).sub(i().rem(u(3)));
        assert_eq!(columns(&read(reverse), 3, 3), Some(vec![2, 1, 0]));
        // The element behind the one before, as a difference from a number that stands for -3.
        let behind = i().sub(u(3)).sub(u(3u32.wrapping_neg()));
        assert_eq!(columns(&read(behind.div(u(3)).mul(u(3))), 3, 3), Some(vec![0, 0, 0]));
    }

    #[test]
    fn columns_that_an_index_leads_to() {
        // The last two of five, as the first two of a part of which two are joined: the others lead to the next element.
        let within = i().div(u(5)).mul(u(2)).add(i().rem(u(5)));
        let at = within.clone().div(u(2)).mul(u(5)).add(within.rem(u(2))).add(u(3));
        assert_eq!(at.own_columns(5, 5), Some(vec![Some(3), Some(4), None, None, None]));
        assert_eq!(
            i().rem(u(5)).lt(u(2)).select(at.clone(), i()).own_columns(5, 5),
            Some([3, 4, 2, 3, 4].map(Some).to_vec())
        );
        let is_any = read(i()).lt(Expr::scalar(0.5f32));
        assert_eq!(is_any.select(at, i()).own_columns(5, 5), None);
        assert_eq!(i().add(u(1)).own_columns(1, 1), Some(vec![None]));
        assert_eq!(i().add(i()).own_columns(1, 1), None);
    }

    #[test]
    fn branches_that_are_not_taken_read_nothing() {
        // Two columns of a register, then one of another value.
        let (element, column) = (i().div(u(3)), i().rem(u(3)));
        let both = column.clone().lt(u(2)).select(read(element.mul(u(2)).add(column)), Expr::scalar(0.0f32));
        assert_eq!(columns(&both, 3, 2), Some(vec![0, 1, 0]));
        // What a slice gives back: columns 1 and 2 of four. Before them, the difference is in the element before.
        let back = |of: u32, from: u32| {
            let offset = i().sub(u(from));
            let (element, column) = (offset.clone().div(u(of)), offset.rem(u(of)));
            column.clone().lt(u(2)).select(read(element.mul(u(2)).add(column)), Expr::scalar(0.0f32))
        };
        assert_eq!(columns(&back(4, 1), 4, 2), Some(vec![0, 0, 1, 0]));
        // Of five, the second column of the first element: -1 wraps to a multiple of five.
        assert_eq!(columns(&back(5, 2), 5, 2), None);
    }

    #[test]
    fn the_first_elements_read_what_others_read() {
        // Of three numbers each: the first two elements, which the difference wraps in, read their own columns of six.
        let (element, six) = (i().div(u(3)), u(6));
        let at = element.mul(six.clone()).add(i());
        let e = i().lt(i().sub(six)).select(read(at), Expr::scalar(0.0f32));
        assert_eq!(columns(&e, 3, 6), None);
        // Conditions that are data hold anywhere, also where the difference wraps.
        let data = Expr::register(Register { scan: 0, number: 1 }, DType::F32, i().div(u(8))).lt(Expr::scalar(0.5f32));
        let before = data.select(Expr::scalar(0.0f32), read(i().sub(u(8)).div(u(8)).add(u(1))));
        assert_eq!(before.register_reads(8, |_| 1).map(|reads| reads.len()), None);
    }

    #[test]
    fn other_elements_have_no_columns() {
        for (what, at) in [
            ("the element before", i().sub(u(1))),
            ("the element behind", i().add(u(1))),
            ("every other element", i().mul(u(2))),
            ("pairs of elements", i().div(u(2))),
            ("a fixed element", u(0)),
            ("elements over and over", i().rem(u(8))),
        ] {
            assert_eq!(columns(&read(at), 1, 1), None, "{what}");
        }
        let transposed = i().div(u(3)).add(i().rem(u(3)).mul(u(100)));
        assert_eq!(columns(&read(transposed), 3, 3), None);
    }
}
