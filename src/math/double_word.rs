//! Double-word arithmetic: a number in two parts is the unevaluated sum of a float and a correction below its last
//! place (Dekker, "A floating-point technique for extending the available precision", 1971). Uses no fused
//! multiply-add, because shaders do not guarantee one.

use super::machine::{Float, Word};

/// Sum and exact rounding error (Knuth's two-sum).
#[inline(always)]
pub(super) fn sum<F: Float>(a: F, b: F) -> (F, F) {
    let s = a + b;
    let from_b = s - a;
    (s, (a - (s - from_b)) + (b - from_b))
}

/// Sum and exact rounding error (Dekker's fast two-sum). Requires `a == 0` or `|a| >= |b|`.
#[inline(always)]
pub(super) fn quick_sum<F: Float>(a: F, b: F) -> (F, F) {
    let s = a + b;
    (s, b - (s - a))
}

/// Product and rounding error: exact for f32, to 2^-106 for f64, barring underflow.
#[inline(always)]
pub(super) fn product<F: Float>(a: F, b: F) -> (F, F) {
    let p = a * b;
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

/// Splits a float into the leading half of its digits and the other digits.
#[inline(always)]
pub(super) fn halves<F: Float>(a: F) -> (F, F) {
    let low = F::Word::lit((1 << F::P.div_ceil(2)) - 1);
    let high = F::from_bits(a.bits() & !low);
    (high, a - high)
}

/// Quotient of two numbers in parts, in parts.
#[inline(always)]
pub(super) fn quotient<F: Float>(a: (F, F), b: (F, F)) -> (F, F) {
    let q = a.0.over(b.0);
    let (p, e) = product(q, b.0);
    let rest = ((a.0 - p) - e) + (a.1 - q * b.1);
    quick_sum(q, rest.over(b.0))
}

/// Product of two numbers in parts, in parts.
#[inline(always)]
pub(super) fn times<F: Float>(a: (F, F), b: (F, F)) -> (F, F) {
    let (p, e) = product(a.0, b.0);
    (p, e + (a.0 * b.1 + a.1 * b.0))
}

/// Reciprocal of a number in parts, in parts. Neither the number nor its reciprocal may be near the ends of the range.
#[inline(always)]
pub(super) fn reciprocal<F: Float>(d: (F, F)) -> (F, F) {
    let one = F::lit(1.0);
    let u = one.over(d.0);
    let (p, e) = product(u, d.0);
    (u, u * (((one - p) - e) - u * d.1))
}
