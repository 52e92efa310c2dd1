//! Piecewise polynomials of equal degree: the coefficients are selected by the argument's interval, so that one
//! evaluation serves all pieces.

use super::double_word::quick_sum;
use super::machine::{Coefficients, Float};

/// A polynomial in the distance from the midpoint of an interval.
pub(super) struct Piece {
    /// The midpoint for f32 and for f64, exact in both.
    pub middle: [f64; 2],
    /// Rounding error of the constant term, for f32 and for f64.
    pub low: [f64; 2],
    /// The coefficients.
    pub terms: Coefficients,
}

/// `number(i)` for the first mask `i` that holds, or for the last piece if none does.
#[inline(always)]
fn choose<F: Float>(here: &[F::Mask], number: impl Fn(usize) -> F) -> F {
    here.iter().enumerate().rev().fold(number(here.len()), |rest, (i, &mask)| F::select(mask, number(i), rest))
}

/// Evaluates the function at `x + x_low`, in two parts, with the piece of the first mask that holds, or with the last
/// piece if none does. The constant term dominates the result, so the error is little more than the rounding error of
/// the other terms.
#[inline(always)]
pub(super) fn evaluate<F: Float, const N: usize>(pieces: &[Piece; N], here: &[F::Mask], (x, x_low): (F, F)) -> (F, F) {
    let width = usize::from(F::P != 24);
    let d = (x - choose(here, |i| F::lit(pieces[i].middle[width]))) + x_low;
    let term = |k: usize| choose(here, |i| F::lit(F::numbers(&pieces[i].terms)[k]));
    let last = F::numbers(&pieces[0].terms).len() - 1;
    let rest = (1..last).rev().fold(term(last), |sum, k| sum * d + term(k));
    let (high, low) = quick_sum(term(0), d * rest);
    (high, low + choose(here, |i| F::lit(pieces[i].low[width])))
}
