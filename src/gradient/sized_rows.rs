//! Rows of a length that is a parameter of the program, as indices read them.

use crate::graph::access::{Radix, RowsRef, Uniform, UniformDigit};
use crate::graph::expr::Expr;
use crate::graph::size::Size;

/// Rows of a length that is a parameter, of which each position reads the place of its own row and offset.
pub(super) struct SizedRows {
    pub(super) own: RowsRef,
    pub(super) of: RowsRef,
    pub(super) row: Expr,
}

impl SizedRows {
    pub(super) fn of(uniform: &Uniform) -> Option<Self> {
        let [a, b] = &uniform.values[..] else { return None };
        let (row, start) = if a.is_negative { (b, a) } else { (a, b) };
        let one = Size::from(1);
        let is_position = matches!(&uniform.digits[..],
            [UniformDigit { is_negative: false, times, divisor, modulus: None }] if *times == one && *divisor == one);
        let is_offset = start.is_negative && start.times == one && !row.is_negative;
        let (splits, _) = row.value.own_row().filter(|(_, width)| is_position && is_offset && *width == 1)?;
        let of = RowsRef::Uniform(Radix { times: 1, size: Some(Expr::size(&row.times)) });
        let this = Self { own: RowsRef::Splits(splits.clone()), of, row: row.value.clone() };
        (start.value == Expr::load(splits, row.value.clone())).then_some(this)
    }
}
