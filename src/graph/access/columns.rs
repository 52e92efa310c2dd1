//! Accesses that stay within the own element: the columns that its columns read.

use super::{Access, Counter};
use crate::graph::Expr;
use crate::graph::handles::Handles;

impl<R: Handles> Expr<R> {
    /// For each of the `own` columns of an element, the column that a load at this index reads, where the elements that
    /// are read have `of` columns: the index at `element * own + column` is `element * of` plus that column. `None` if
    /// another element is read, or if that cannot be told.
    pub(crate) fn columns(&self, own: u32, of: u32) -> Option<Vec<u32>> {
        let access = self.access();
        let (base, digits) = match &access {
            Access::Run { start, step } => (start.as_u32()?, vec![(*step, 1, None)]),
            Access::Strided { base, digits } => {
                let known = |(times, digit): &(i64, super::Digit<R>)| {
                    let modulus = digit.modulus.as_ref().map(super::Radix::as_known);
                    let is_position = digit.of == Counter::Position;
                    let divisor = digit.divisor.as_known().filter(|&d| d > 0 && is_position)?;
                    match modulus {
                        None => Some((*times, divisor, None)),
                        Some(m) => Some((*times, divisor, Some(m.filter(|&m| m > 0)?))),
                    }
                };
                (base.as_u32()?, digits.iter().map(known).collect::<Option<Vec<_>>>()?)
            }
            _ => return None,
        };
        // The base may be negative, modulo 2^32.
        let base = i64::from(base.cast_signed());
        let (width, mut per_element) = (u64::from(own), 0i64);
        let mut within: Vec<(i64, u64, u64)> = Vec::new();
        for (times, divisor, modulus) in digits {
            let end = modulus.map(|m| divisor.checked_mul(m)).map_or(Some(None), |end| end.map(Some))?;
            match end {
                Some(end) if width % end == 0 => within.push((times, divisor, modulus?)),
                None if divisor == width => per_element = per_element.checked_add(times)?,
                None if width % divisor == 0 => {
                    let each = width / divisor;
                    within.push((times, divisor, each));
                    per_element = per_element.checked_add(times.checked_mul(i64::try_from(each).ok()?)?)?;
                }
                _ => return None,
            }
        }
        if per_element != i64::from(of) {
            return None;
        }
        let column = |c: u64| {
            let sum = within.iter().try_fold(base, |sum, &(times, divisor, modulus)| {
                sum.checked_add(times.checked_mul(i64::try_from(c / divisor % modulus).ok()?)?)
            })?;
            u32::try_from(sum).ok().filter(|&column| column < of)
        };
        (0..width).map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Expr {
        Expr::index()
    }

    fn u(n: u32) -> Expr {
        Expr::u32(n)
    }

    #[test]
    fn columns_of_own_elements() {
        assert_eq!(index().columns(3, 3), Some(vec![0, 1, 2]));
        assert_eq!(index().columns(3, 4), None, "elements of other widths");
        // The second half, and every other column.
        let half = index().div(u(2)).mul(u(4)).add(index().rem(u(2))).add(u(2));
        assert_eq!(half.columns(2, 4), Some(vec![2, 3]));
        let others = index().div(u(2)).mul(u(4)).add(index().rem(u(2)).mul(u(2)));
        assert_eq!(others.columns(2, 4), Some(vec![0, 2]));
        // One number for all columns, and the reverse.
        assert_eq!(index().div(u(3)).columns(3, 1), Some(vec![0, 0, 0]));
        let reverse = index().div(u(3)).mul(u(3)).add(u(2)).sub(index().rem(u(3)));
        assert_eq!(reverse.columns(3, 3), Some(vec![2, 1, 0]));
    }

    #[test]
    fn other_elements_have_no_columns() {
        for (what, at) in [
            ("the element before", index().sub(u(1))),
            ("a column beyond the element", index().add(u(1))),
            ("every other element", index().mul(u(2))),
            ("pairs of elements", index().div(u(2))),
            ("a fixed element", u(0)),
            ("elements over and over", index().rem(u(8))),
        ] {
            assert_eq!(at.columns(1, 1), None, "{what}");
        }
        let transposed = index().div(u(3)).add(index().rem(u(3)).mul(u(100)));
        assert_eq!(transposed.columns(3, 3), None);
    }
}
