//! Ranges of columns: an expression over elements of several columns as one expression per range of columns in which
//! conditions on the column have one value, such as the parts of a concatenation.

use std::ops::{Range, RangeInclusive};

use super::columns::{At, Element, Value, element_bound, most_elements};
use crate::dtype::DType;
use crate::graph::Expr;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::ExprKind;
use crate::graph::handles::Handles;
use crate::graph::walk::for_each_expr;

/// Most columns of an element that is divided.
const MOST_COLUMNS: u32 = 4096;

/// Most ranges: from there on, they are too short for loops over them.
const MOST_RANGES: usize = 16;

/// An expression by ranges of columns.
#[derive(Debug)]
pub(crate) struct ColumnRanges<R: Handles> {
    own: u32,
    /// Sizes that are at least the number of elements, and few enough that the quotients of positions that wrap exceed them.
    pub(crate) bounds: Vec<R::Size>,
    pub(crate) ranges: Vec<ColumnRange<R>>,
}

impl<R: Handles> ColumnRanges<R> {
    /// One range of all columns, which holds for all runs.
    pub(crate) fn undivided(e: &Expr<R>, own: u32) -> Self {
        let all = ColumnRange { columns: 0..own, value: e.clone(), positions: Vec::new() };
        Self { own, bounds: Vec::new(), ranges: vec![all] }
    }

    /// The values of the bounds for which the ranges hold, if there are that many elements.
    pub(crate) fn bounds_for(&self, elements: usize) -> RangeInclusive<usize> {
        elements..=most_elements(self.own.into()) as usize
    }
}

/// The expression in a range of columns.
#[derive(Debug)]
pub(crate) struct ColumnRange<R: Handles> {
    pub(crate) columns: Range<u32>,
    /// The expression over elements of these columns, which position `i` is column `i % columns.len()` of.
    pub(crate) value: Expr<R>,
    /// The subexpressions of `value` that are linear positions.
    pub(crate) positions: Vec<(Expr<R>, LinearPosition)>,
}

/// `per_element * element + offset`, plus the number of the column in its range if it is `per_column`; modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinearPosition {
    pub(crate) per_element: u32,
    pub(crate) offset: u32,
    pub(crate) per_column: bool,
}

impl<R: Handles> Expr<R> {
    /// The sizes that numbers of elements of `own` columns are compared with.
    fn element_bounds(&self, own: u32) -> Vec<R::Size> {
        let mut out: Vec<R::Size> = Vec::new();
        for_each_expr(self, &mut |e| {
            if let Some(size) = element_bound(e, own.into())
                && !out.contains(size)
            {
                out.push(size.clone());
            }
        });
        out
    }

    /// The expression by ranges of the columns of elements of `own` columns, for runs in which the bounds hold: see
    /// [`ColumnRanges::bounds`]. One range of all columns if the expression has conditions, whose failures name positions, or
    /// calls functions.
    pub(crate) fn column_ranges(&self, own: u32) -> ColumnRanges<R> {
        let mut calls = false;
        for_each_expr(self, &mut |e| calls |= matches!(e.kind(), ExprKind::Call(..)));
        if calls || self.has_conditions() || !(1..=MOST_COLUMNS).contains(&own) {
            return ColumnRanges::undivided(self, own);
        }
        ColumnRanges { own, bounds: self.element_bounds(own), ranges: self.ranges(own) }
    }

    fn ranges(&self, own: u32) -> Vec<ColumnRange<R>> {
        let mut ranges: Vec<(Range<u32>, Vec<Option<bool>>)> = Vec::new();
        for column in 0..own {
            let taken = Columns::new(own, column..column + 1).taken(self);
            match ranges.last_mut() {
                Some((range, known)) if *known == taken => range.end = column + 1,
                _ => ranges.push((column..column + 1, taken)),
            }
            if ranges.len() > MOST_RANGES {
                ranges = vec![(0..own, Vec::new())];
                break;
            }
        }
        let range = |(columns, _): (Range<u32>, _)| {
            let mut of = Columns::new(own, columns.clone());
            let value = of.rewritten(self);
            ColumnRange { columns, value, positions: of.positions }
        };
        ranges.into_iter().map(range).collect()
    }
}

/// A range of columns of elements.
struct Columns<R: Handles> {
    len: u32,
    /// Each column, in the first element and in any other, with the values that are known.
    columns: Vec<[(At, DigestMap<Value>); 2]>,
    known: DigestMap<Expr<R>>,
    positions: Vec<(Expr<R>, LinearPosition)>,
}

impl<R: Handles> Columns<R> {
    fn new(own: u32, range: Range<u32>) -> Self {
        let of = |column: u32, element| At::bounded(own.into(), column.into(), element);
        let at = |column| [Element::From(1), Element::Number(0)].map(|e| (of(column, e), DigestMap::default()));
        let len = range.end - range.start;
        Self { len, columns: range.map(at).collect(), known: DigestMap::default(), positions: Vec::new() }
    }

    /// The value of a condition, if it is the same one in all elements and columns.
    fn flag(&mut self, condition: &Expr<R>) -> Option<bool> {
        let mut values = self.columns.iter_mut().flatten().map(|(at, known)| match at.value(condition, known) {
            Value::Flag(flag) => Some(flag),
            _ => None,
        });
        let first = values.next()??;
        values.all(|flag| flag == Some(first)).then_some(first)
    }

    /// The branches of choices that are taken, in the order of a walk that leaves out the others.
    fn taken(&mut self, e: &Expr<R>) -> Vec<Option<bool>> {
        let (mut out, mut seen, mut stack) = (Vec::new(), DigestSet::default(), vec![e]);
        while let Some(e) = stack.pop() {
            if !e.has_index() || !seen.insert(e.digest()) {
                continue;
            }
            match e.kind() {
                ExprKind::Select(condition, a, b) => {
                    let flag = self.flag(condition);
                    out.push(flag);
                    match flag {
                        Some(flag) => stack.push(if flag { a } else { b }),
                        None => stack.extend([condition, a, b]),
                    }
                }
                _ => stack.extend(e.operands()),
            }
        }
        out
    }

    /// The expression over elements of the columns of this range only.
    fn rewritten(&mut self, e: &Expr<R>) -> Expr<R> {
        if !e.has_index() {
            return e.clone();
        }
        if let Some(known) = self.known.get(&e.digest()) {
            return known.clone();
        }
        let out = self.position(e).unwrap_or_else(|| match e.kind() {
            ExprKind::Select(condition, a, b) if let Some(flag) = self.flag(condition) => {
                self.rewritten(if flag { a } else { b })
            }
            _ => {
                let operands: Vec<Expr<R>> = e.operands().map(|operand| self.rewritten(operand)).collect();
                e.with_operands(operands.into_iter())
            }
        });
        self.known.insert(e.digest(), out.clone());
        out
    }

    /// The expression, if it is a linear position.
    fn position(&mut self, e: &Expr<R>) -> Option<Expr<R>> {
        let linear = self.linear(e)?;
        let (len, index) = (Expr::u32(self.len), Expr::index());
        let LinearPosition { per_element, offset, per_column } = linear;
        // A difference, if positions of the first element wrap.
        let moved = |e: Expr<R>| match offset.cast_signed() {
            by if by < 0 => e.sub(Expr::u32(by.unsigned_abs())),
            _ => e.add(Expr::u32(offset)),
        };
        let out = if per_column && per_element == self.len {
            moved(index)
        } else {
            let element = moved(index.clone().div(len.clone()).mul(Expr::u32(per_element)));
            if per_column { element.add(index.rem(len)) } else { element }
        };
        let is_known = !out.has_index() || self.positions.iter().any(|(known, _)| *known == out);
        if !is_known && !out.is_index() {
            self.positions.push((out.clone(), linear));
        }
        Some(out)
    }

    fn linear(&mut self, e: &Expr<R>) -> Option<LinearPosition> {
        if e.dtype() != DType::U32 {
            return None;
        }
        let mut offsets = Vec::with_capacity(self.columns.len());
        let mut of_all = None;
        for [later, first] in &mut self.columns {
            let [later, first] = [later, first].map(|(at, known)| at.value(e, known));
            let (Value::Position { per_element, offset }, Value::Position { offset: of_first, .. }) = (later, first)
            else {
                return None;
            };
            // Positions are modulo 2^32: as u32, those of the first element and of others have one form.
            let (per_element, offset) = (u32::try_from(per_element).ok()?, offset as u32);
            if offset != of_first as u32 || *of_all.get_or_insert(per_element) != per_element {
                return None;
            }
            offsets.push(offset);
        }
        let (per_element, &offset) = (of_all?, offsets.first()?);
        let ascends = |by: u32| (0..).zip(&offsets).all(|(k, &at)| at == offset.wrapping_add(by * k));
        // One column is both.
        let per_column = ascends(1);
        (per_column || ascends(0)).then_some(LinearPosition { per_element, offset, per_column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::expr::Register;

    fn u(n: u32) -> Expr {
        Expr::u32(n)
    }

    fn register(number: u32, at: Expr) -> Expr {
        Expr::register(Register { scan: 0, number }, DType::F32, at)
    }

    /// What a slice of `columns` gives back to elements of `own` columns, from register `number`.
    fn back(number: u32, own: u32, columns: Range<u32>) -> Expr {
        let offset = Expr::index().sub(u(columns.start));
        let (element, column) = (offset.clone().div(u(own)), offset.rem(u(own)));
        let len = columns.end - columns.start;
        let at = element.mul(u(len)).add(column.clone());
        column.lt(u(len)).select(register(number, at), Expr::scalar(0.0f32))
    }

    #[test]
    fn parts_have_a_range_each() {
        let sum = back(0, 8, 0..3).add(back(1, 8, 3..8));
        let ranges = sum.column_ranges(8).ranges;
        assert_eq!(ranges.iter().map(|of| of.columns.clone()).collect::<Vec<_>>(), [0..3, 3..8]);
        let zero = || Expr::scalar(0.0f32);
        assert_eq!(ranges[0].value, register(0, Expr::index()).add(zero()));
        assert_eq!(ranges[1].value, zero().add(register(1, Expr::index())));
    }

    /// Differences that wrap in the first element are no multiples of 12: a condition on the element leaves them out.
    #[test]
    fn parts_of_any_width_keep_their_reads() {
        let part = |number: u32, columns: Range<u32>| {
            let is_element = Expr::index().sub(u(columns.start)).div(u(12)).lt(u(1000));
            is_element.select(back(number, 12, columns), Expr::scalar(0.0f32))
        };
        let sum = part(0, 0..3).add(part(1, 3..6)).add(part(2, 6..12));
        let width = |of: Register| [3, 3, 6][of.number as usize];
        assert!(sum.register_reads(12, width).is_some());
        let ranges = sum.column_ranges(12).ranges;
        assert!(ranges.len() > 1);
        for ColumnRange { columns, value, .. } in ranges {
            assert!(value.register_reads(columns.end - columns.start, width).is_some(), "{columns:?}: {value:?}");
        }
    }

    #[test]
    fn conditions_on_elements_stay() {
        let is_first = Expr::index().div(u(4)).eq(u(0));
        let e = is_first.select(register(0, Expr::index()), register(1, Expr::index()));
        let ranges = e.column_ranges(4).ranges;
        assert_eq!(ranges.len(), 1);
        assert_eq!(ranges[0].value, e);
    }

    #[test]
    fn positions_are_linear() {
        let at = Expr::index().div(u(4)).mul(u(16)).add(u(8)).add(Expr::index().rem(u(4)));
        let ranges = register(0, at).column_ranges(4).ranges;
        let position = LinearPosition { per_element: 16, offset: 8, per_column: true };
        assert_eq!(ranges[0].positions.iter().map(|(_, of)| *of).collect::<Vec<_>>(), [position]);
    }

    #[test]
    fn quotients_of_positions_that_may_wrap_are_unknown() {
        let quotient = Expr::index().mul(u(64)).div(u(256));
        let flag = quotient.eq(Expr::index().div(u(4)));
        let e = flag.select(register(0, Expr::index()), register(1, Expr::index()));
        assert_eq!(e.column_ranges(4).ranges[0].value, e);
    }
}
