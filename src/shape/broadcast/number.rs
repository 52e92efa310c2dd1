//! Positions of the operands' numbers within elements of several inner dimensions.

use super::Place;
use super::walk::Walk;
use crate::graph::expr::Expr;

impl Walk<'_> {
    /// Position of operand `k`'s number, as a function of the flat position in the result. A result element has `inner`
    /// numbers; the operand's element is at `place`.
    pub(super) fn number(&self, k: usize, place: &Place, levels: usize, inner: &[u32]) -> Place {
        let repeats = |(i, &size): (usize, &u32)| size != 1 && self.dim(k, levels + 1 + i).is_one();
        if inner.contains(&0) {
            let all_kept = *place == Place::Same && !inner.iter().enumerate().any(repeats);
            return if all_kept { Place::Same } else { Place::First };
        }
        // Merges neighbouring dimensions that are all kept or all repeated.
        let mut runs: Vec<(u32, bool)> = Vec::new();
        for (i, &size) in inner.iter().enumerate().filter(|(_, size)| **size != 1) {
            let kept = !repeats((i, &size));
            match runs.last_mut() {
                Some((n, same)) if *same == kept => *n *= size,
                _ => runs.push((size, kept)),
            }
        }
        let width: u32 = inner.iter().product();
        let own: u32 = runs.iter().filter(|(_, kept)| *kept).map(|(n, _)| n).product();
        if own == width && *place == Place::Same {
            return Place::Same;
        }
        if own == 1 && *place == Place::First {
            return Place::First;
        }
        let (mut stride, mut own_stride) = (1, 1);
        let mut offset = Expr::u32(0);
        for &(size, kept) in runs.iter().rev() {
            if kept {
                let coordinate = Expr::index().div(Expr::u32(stride)).rem(Expr::u32(size));
                offset = coordinate.mul(Expr::u32(own_stride)).add(offset);
                own_stride *= size;
            }
            stride *= size;
        }
        let element = place.expr().at(&Expr::index().div(Expr::u32(width)));
        Place::At(element.mul(Expr::u32(own)).add(offset))
    }
}
