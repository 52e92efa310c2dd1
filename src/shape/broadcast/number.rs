//! Positions of the operands' numbers within elements of several inner dimensions.

use super::Place;
use super::walk::Walk;
use crate::graph::expr::Expr;
use crate::graph::size::Size;
use crate::shape::Dims;

impl Walk<'_> {
    /// Position of operand `k`'s number, as a function of the flat position in the result. A result element has `inner`
    /// numbers; the operand's element is at `place`.
    pub(super) fn number(&self, k: usize, place: &Place, levels: usize, inner: &Dims) -> Place {
        let repeats = |(i, &size): (usize, &u32)| size != 1 && self.dim(k, levels + 1 + i).is_one();
        if inner.contains(&0) {
            let all_kept = *place == Place::Same && !inner.iter().enumerate().any(repeats);
            return if all_kept { Place::Same } else { Place::First };
        }
        // Merges neighbouring dimensions that are all kept or all repeated.
        let mut runs: Vec<(Size, bool)> = Vec::new();
        for (i, (number, size)) in inner.iter().zip(inner.sizes()).enumerate().filter(|(_, (number, _))| **number != 1)
        {
            let kept = !repeats((i, number));
            match runs.last_mut() {
                Some((n, same)) if *same == kept => *n = n.mul(size),
                _ => runs.push((size.clone(), kept)),
            }
        }
        let are_all = |which: bool| runs.iter().all(|(_, kept)| *kept == which);
        if are_all(true) && *place == Place::Same {
            return Place::Same;
        }
        if are_all(false) && *place == Place::First {
            return Place::First;
        }
        let (mut stride, mut own_stride) = (Size::Const(1), Size::Const(1));
        let mut offset = Expr::u32(0);
        for (size, kept) in runs.iter().rev() {
            if *kept {
                let coordinate = Expr::index().div(Expr::size(&stride)).rem(Expr::size(size));
                offset = coordinate.mul(Expr::size(&own_stride)).add(offset);
                own_stride = size.mul(&own_stride);
            }
            stride = size.mul(&stride);
        }
        let element = place.expr().at(&Expr::index().div(Expr::size(&stride)));
        Place::At(element.mul(Expr::size(&own_stride)).add(offset))
    }
}
