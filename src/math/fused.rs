//! The fused multiply-add of f32 for processors without the instruction.

/// `a * b + c`, rounded once: the bits of [`f32::mul_add`], up to the payload of a NaN.
///
/// The product of two floats is exact in f64. Their sum with `c` is rounded to odd there: if it is inexact, to the one of
/// both neighbours whose last bit is set. The second rounding, to f32, then sees on which side of a tie the sum is, since
/// f64 has more than two digits more (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
#[inline(always)]
pub(crate) fn fma_by_doubles(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let of_c = sum - product;
    let error = (product - (sum - of_c)) + (c - of_c);
    let (bits, of_error) = (sum.to_bits(), error.to_bits());
    // Of infinities and NaN the error is NaN.
    let is_even = bits & 1 == 0 && error != 0.0 && !error.is_nan();
    // To the neighbour in the direction of the error.
    let step = if (bits ^ of_error) >> 63 == 0 { 1 } else { u64::MAX };
    let odd = bits.wrapping_add(if is_even { step } else { 0 });
    f64::from_bits(odd) as f32
}
