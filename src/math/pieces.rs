//! Functions in pieces: as many polynomials of equal length, whose coefficients are selected by where the argument is.
//! One evaluation, instead of one for each piece.

use super::machine::{Coefficients, Float};
use super::parts::quick_sum;

/// A polynomial in the distance from the middle of an interval.
pub(super) struct Piece {
    /// The middle, for f32 and for f64; exact in either.
    pub middle: [f64; 2],
    /// What rounding took from the constant term.
    pub low: [f64; 2],
    /// The coefficients.
    pub terms: Coefficients,
}

/// The number of the first mask that holds, or of the last piece.
#[inline(always)]
fn choose<F: Float>(here: &[F::Mask], number: impl Fn(usize) -> F) -> F {
    here.iter().enumerate().rev().fold(number(here.len()), |rest, (i, &mask)| F::select(mask, number(i), rest))
}

/// The function at `x + x_low`, in parts: by the piece of the first mask that holds, by the last where none does. The
/// constant term has the most of it, so that hardly more than the rounding of the other terms is lost.
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
