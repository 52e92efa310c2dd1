//! Columns of a cotangent that are 0 in all rows, by the conditions of its expression.
//!
//! The cotangent of an array of several columns that others read one by one is a sum of choices: the cotangent of a reader
//! where the column is its own, and else 0.

use std::ops::Range;

use crate::graph::expr::{Expr, ExprKind};
use crate::graph::node::{Node, Recipe};
use crate::graph::opcode::BinaryOp;

/// Whether the numbers of an array at `row * inner + column` are 0 for these columns of every row, as far as its expression
/// tells.
pub(super) fn is_zero(array: &Node, inner: u32, columns: Range<u32>) -> bool {
    match array.kept_recipe().as_deref() {
        Some(Recipe::Map(map)) => Columns { inner: inner.into(), columns }.is_zero(&map.value),
        _ => false,
    }
}

/// A number of each position: of the interval, or of the interval and any multiple of `inner` besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    low: i64,
    high: i64,
    by_rows: bool,
}

struct Columns {
    inner: i64,
    columns: Range<u32>,
}

impl Columns {
    fn is_zero(&self, e: &Expr) -> bool {
        match e.kind() {
            ExprKind::Scalar(scalar) => scalar.bits() == 0,
            ExprKind::Load(array, at) if at.is_index() => match array.kept_recipe().as_deref() {
                Some(Recipe::Map(map)) => self.is_zero(&map.value),
                _ => false,
            },
            ExprKind::Binary(BinaryOp::Add, a, b) => self.is_zero(a) && self.is_zero(b),
            ExprKind::Select(condition, a, b) => match self.condition(condition) {
                Some(true) => self.is_zero(a),
                Some(false) => self.is_zero(b),
                None => self.is_zero(a) && self.is_zero(b),
            },
            _ => false,
        }
    }

    /// The value of a condition, if it is the same at all positions.
    fn condition(&self, e: &Expr) -> Option<bool> {
        let ExprKind::Binary(op, a, b) = e.kind() else { return None };
        match op {
            BinaryOp::And => match (self.condition(a), self.condition(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            BinaryOp::Lt => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                match a.by_rows || b.by_rows {
                    false if a.high < b.low => Some(true),
                    false if a.low >= b.high => Some(false),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The values of an integer expression. Positions before the first row do not wrap: what reads these is no reader.
    fn interval(&self, e: &Expr) -> Option<Interval> {
        if let Some(value) = e.as_u32() {
            return Some(Interval { low: value.into(), high: value.into(), by_rows: false });
        }
        match e.kind() {
            ExprKind::Index => {
                let (low, end) = (i64::from(self.columns.start), i64::from(self.columns.end));
                Some(Interval { low, high: end - 1, by_rows: true })
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                (!b.by_rows).then(|| Interval { low: a.low - b.high, high: a.high - b.low, ..a })
            }
            ExprKind::Binary(BinaryOp::IndexRem, a, b) => {
                let (a, by) = (self.interval(a)?, i64::from(b.as_u32().filter(|&by| by > 0)?));
                let is_whole = !a.by_rows || self.inner % by == 0;
                let is_same = a.low.div_euclid(by) == a.high.div_euclid(by);
                let (low, high) = (a.low.rem_euclid(by), a.high.rem_euclid(by));
                (is_whole && is_same).then_some(Interval { low, high, by_rows: false })
            }
            _ => None,
        }
    }
}
