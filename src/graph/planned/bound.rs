//! Upper bounds of positions and sizes, by the row lengths that the host knows.

use super::view::SizeView;
use super::{Expr, ExprKind, Recipe};
use crate::graph::opcode::BinaryOp;

/// A place in tables of so many entries per position.
type Place = Option<(u32, u32)>;

impl SizeView<'_> {
    /// The greatest value of an integer expression, as far as the host knows: of lengths of rows, and of tables of them.
    pub(crate) fn bound(self, e: &Expr) -> Option<u64> {
        self.bound_at(e, None)
    }

    /// As [`Self::bound`], of an entry of a table.
    fn bound_at(self, e: &Expr, place: Place) -> Option<u64> {
        if let Some(value) = e.as_u32() {
            return Some(value.into());
        }
        match e.kind() {
            ExprKind::Size(size) => Some(self.value(size).into()),
            ExprKind::Load(array, at) => match array.recipe().as_deref() {
                Some(Recipe::Map(map)) => self.bound_at(&map.value, Some(place_of(at)?)),
                _ => None,
            },
            ExprKind::Binary(BinaryOp::Sub, end, start) => self.length(end, start),
            ExprKind::Binary(BinaryOp::Min, a, b) => [a, b].into_iter().filter_map(|e| self.bound_at(e, place)).min(),
            ExprKind::Select(condition, a, b) => match (entry(condition), place) {
                (Some((width, entry)), Some((of, place))) if width == of => {
                    self.bound_at(if entry == place { a } else { b }, Some((of, place)))
                }
                _ => Some(self.bound_at(a, place)?.max(self.bound_at(b, place)?)),
            },
            _ => None,
        }
    }

    /// The longest row, of `end - start` where these are the splits of a row.
    fn length(self, end: &Expr, start: &Expr) -> Option<u64> {
        let (ExprKind::Load(splits, next), ExprKind::Load(other, row)) = (end.kind(), start.kind()) else {
            return None;
        };
        let follows = matches!(next.kind(), ExprKind::Binary(BinaryOp::Add, a, b) if a == row && b.as_u32() == Some(1));
        let longest = self.known_lengths(splits).longest;
        (splits == other && follows && longest != u32::MAX).then_some(longest.into())
    }
}

/// The width of the tables and the entry that a position `index * width + entry` reads.
fn place_of(at: &Expr) -> Option<(u32, u32)> {
    let of_row = |e: &Expr| match e.kind() {
        ExprKind::Binary(BinaryOp::Mul, index, width) if index.is_index() => width.as_u32(),
        _ if e.is_index() => Some(1),
        _ => None,
    };
    match at.kind() {
        ExprKind::Binary(BinaryOp::Add, row, entry) => Some((of_row(row)?, entry.as_u32()?)),
        _ => Some((of_row(at)?, 0)),
    }
}

/// The width and the entry of `index % width == entry`.
fn entry(condition: &Expr) -> Option<(u32, u32)> {
    let ExprKind::Binary(BinaryOp::Eq, of, entry) = condition.kind() else { return None };
    match of.kind() {
        ExprKind::Binary(BinaryOp::IndexRem, index, width) if index.is_index() => {
            Some((width.as_u32()?, entry.as_u32()?))
        }
        _ => None,
    }
}
