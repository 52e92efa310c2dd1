//! 16-bit floats: exact widening to f32, and the single rounding back.
//!
//! Arithmetic on f16 and bf16 is computed in f32 and rounded once. For sums, differences, products, quotients and
//! square roots the result is correctly rounded: f32 has at least `2 p + 2` digits for their `p` digits, so that double
//! rounding is innocuous. All conversions work on the bits, independent of the driver's own conversion, which may flush
//! subnormals or round in any direction. The Rust and the WGSL functions are equivalent.

use half::{bf16, f16};

/// Bits of the f16 nearest to an f32, ties to even. Overflow gives an infinity; a NaN becomes quiet.
#[inline(always)]
fn f16_bits(x: u32) -> u16 {
    let (sign, a) = ((x >> 16) & 0x8000, x & 0x7fff_ffff);
    // Normal results: the exponent is rebiased, and the rounding carry may propagate into it.
    let normal = (a.wrapping_sub(0x3800_0000).wrapping_add(0xfff + ((a >> 13) & 1)) >> 13).min(0x7c00);
    // Results below 2^-14 are multiples of 2^-24.
    let digits = (a & 0x7f_ffff) | 0x80_0000;
    let shift = 126u32.saturating_sub(a >> 23).clamp(1, 25);
    let kept = digits >> shift;
    let tiny = (digits + ((1 << (shift - 1)) - 1) + (kept & 1)) >> shift;
    let finite = if a < 0x3880_0000 { tiny } else { normal };
    (sign | if a > 0x7f80_0000 { 0x7e00 } else { finite }) as u16
}

/// The f16 nearest to an f32, ties to even.
#[inline(always)]
pub(crate) fn f16_of_f32(x: f32) -> f16 {
    f16::from_bits(f16_bits(x.to_bits()))
}

/// Exact widening to f32.
#[inline(always)]
pub(crate) fn f32_of_f16(x: f16) -> f32 {
    let h = u32::from(x.to_bits());
    let (sign, a) = ((h & 0x8000) << 16, h & 0x7fff);
    let normal = (a << 13) + if a >= 0x7c00 { 0x7000_0000 } else { 0x3800_0000 };
    // A multiple of 2^-24: the integer and the product are both exact and normal.
    let tiny = (a as f32 * 2f32.powi(-24)).to_bits();
    f32::from_bits(sign | if a < 0x400 { tiny } else { normal })
}

/// The bf16 nearest to an f32, ties to even.
#[inline(always)]
pub(crate) fn bf16_of_f32(x: f32) -> bf16 {
    let x = x.to_bits();
    let nearest = x.wrapping_add(0x7fff + ((x >> 16) & 1)) >> 16;
    let bits = if x & 0x7fff_ffff > 0x7f80_0000 { ((x >> 16) & 0x8000) | 0x7fc0 } else { nearest };
    bf16::from_bits(bits as u16)
}

/// Exact widening to f32.
#[inline(always)]
pub(crate) fn f32_of_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Rounds to odd: `x` where it is an f32, else the neighbouring f32 with an odd last digit. Rounding the result to
/// fewer digits then equals rounding `x` once.
pub(crate) fn f32_to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    if back == x || bits & 1 == 1 || x.is_nan() {
        return near;
    }
    f32::from_bits(if (back < x) != (x < 0.0) { bits + 1 } else { bits - 1 })
}

/// As [`f32_to_odd`], for an integer.
pub(crate) fn f32_of_integer_to_odd(x: i128) -> f32 {
    let size = x.unsigned_abs();
    let drop = (128 - size.leading_zeros()).saturating_sub(24);
    let rest = size & ((1u128 << drop) - 1);
    let kept = (size >> drop) as u32 | u32::from(rest != 0);
    // The 24 digits and the power of two are exact; their product may overflow to infinity.
    let value = kept as f32 * 2f32.powi(drop as i32);
    if x < 0 { -value } else { value }
}

/// WGSL `f16_of_f32`: the f16 bits of an f32.
pub(crate) const F16_OF_F32: &str = "\
fn f16_of_f32(v: f32) -> u32 {
    let x = bitcast<u32>(v);
    let a = x & 0x7fffffffu;
    let normal = min((a - 0x38000000u + 0xfffu + ((a >> 13u) & 1u)) >> 13u, 0x7c00u);
    let digits = (a & 0x7fffffu) | 0x800000u;
    let shift = clamp(126u - min(a >> 23u, 126u), 1u, 25u);
    let kept = digits >> shift;
    let tiny = (digits + ((1u << (shift - 1u)) - 1u) + (kept & 1u)) >> shift;
    let finite = select(normal, tiny, a < 0x38800000u);
    return ((x >> 16u) & 0x8000u) | select(finite, 0x7e00u, a > 0x7f800000u);
}";

/// WGSL `f32_of_f16`: the f32 of f16 bits.
pub(crate) const F32_OF_F16: &str = "\
fn f32_of_f16(h: u32) -> f32 {
    let a = h & 0x7fffu;
    let normal = (a << 13u) + select(0x38000000u, 0x70000000u, a >= 0x7c00u);
    let tiny = bitcast<u32>(f32(a) * 5.9604644775390625e-8f);
    return bitcast<f32>(((h & 0x8000u) << 16u) | select(normal, tiny, a < 0x400u));
}";

/// WGSL `bf16_of_f32`: the bf16 bits of an f32.
pub(crate) const BF16_OF_F32: &str = "\
fn bf16_of_f32(v: f32) -> u32 {
    let x = bitcast<u32>(v);
    let nearest = (x + 0x7fffu + ((x >> 16u) & 1u)) >> 16u;
    return select(nearest, ((x >> 16u) & 0x8000u) | 0x7fc0u, (x & 0x7fffffffu) > 0x7f800000u);
}";

/// WGSL `f32_of_bf16`: the f32 of bf16 bits.
pub(crate) const F32_OF_BF16: &str = "\
fn f32_of_bf16(h: u32) -> f32 {
    return bitcast<f32>(h << 16u);
}";

#[cfg(test)]
mod tests {
    use super::*;

    /// Every 16-bit pattern widened, NaNs included, and each tie between two consecutive patterns with its neighbours
    /// in f32.
    fn around_ties(widen: impl Fn(u16) -> f32) -> impl Iterator<Item = f32> {
        (0..=u16::MAX).flat_map(move |h| {
            let (a, b) = (widen(h), widen(h.wrapping_add(1)));
            let tie = ((f64::from(a) + f64::from(b)) / 2.0) as f32;
            let near = [
                a,
                b,
                tie,
                f32::from_bits(tie.to_bits().wrapping_add(1)),
                f32::from_bits(tie.to_bits().wrapping_sub(1)),
            ];
            near.into_iter()
        })
    }

    #[test]
    fn every_f16_widens_and_returns() {
        for h in (0..=u16::MAX).map(f16::from_bits) {
            let wide = f32_of_f16(h);
            assert!(wide.to_bits() == f32::from(h).to_bits() || h.is_nan() && wide.is_nan(), "{:#x}", h.to_bits());
            let back = f16_of_f32(wide);
            assert!(back.to_bits() == h.to_bits() || h.is_nan() && back.is_nan(), "{:#x}", h.to_bits());
        }
    }

    #[test]
    fn every_bf16_widens_and_returns() {
        for h in (0..=u16::MAX).map(bf16::from_bits) {
            let wide = f32_of_bf16(h);
            assert!(wide.to_bits() == f32::from(h).to_bits() || h.is_nan() && wide.is_nan(), "{:#x}", h.to_bits());
            let back = bf16_of_f32(wide);
            assert!(back.to_bits() == h.to_bits() || h.is_nan() && back.is_nan(), "{:#x}", h.to_bits());
        }
    }

    #[test]
    fn rounding_is_that_of_half() {
        for x in around_ties(|h| f32_of_f16(f16::from_bits(h))) {
            let (own, oracle) = (f16_of_f32(x), f16::from_f32(x));
            assert!(own.to_bits() == oracle.to_bits() || x.is_nan() && own.is_nan(), "{x:e} {:#x}", x.to_bits());
        }
        for x in around_ties(|h| f32_of_bf16(bf16::from_bits(h))) {
            let (own, oracle) = (bf16_of_f32(x), bf16::from_f32(x));
            assert!(own.to_bits() == oracle.to_bits() || x.is_nan() && own.is_nan(), "{x:e} {:#x}", x.to_bits());
        }
        // Samples f32 bit patterns, subnormal and huge ones included, with a stride that is no power of two.
        for bits in (0..=u32::MAX).step_by(65_521) {
            let x = f32::from_bits(bits);
            let same = f16_of_f32(x) == f16::from_f32(x) && bf16_of_f32(x) == bf16::from_f32(x);
            assert!(same || x.is_nan() && f16_of_f32(x).is_nan() && bf16_of_f32(x).is_nan(), "{bits:#x}");
        }
    }

    #[test]
    fn rounding_to_odd_avoids_double_rounding() {
        // A tie between two bf16 rounds to even; a tie plus a tiny amount, not representable in f32, rounds up.
        let tie = f64::from(f32::from_bits(0x3f80_8000));
        let hair = tie * f64::EPSILON;
        let bf = |x: f64| bf16_of_f32(f32_to_odd(x)).to_bits();
        assert_eq!([bf(tie), bf(tie + hair), bf(tie - hair)], [0x3f80, 0x3f81, 0x3f80]);
        assert_eq!([bf(-tie), bf(-tie - hair), bf(-tie + hair)], [0xbf80, 0xbf81, 0xbf80]);
        let tie = 1.0 + f64::from(2f32.powi(-11));
        let half = |x: f64| f16_of_f32(f32_to_odd(x)).to_bits();
        assert_eq!([half(tie), half(tie + hair), half(tie - hair)], [0x3c00, 0x3c01, 0x3c00]);
        assert_eq!([half(1e-300), half(-1e-300), half(1e300)], [0, 0x8000, 0x7c00]);
        assert_eq!([bf(1e-300), bf(-1e-300), bf(1e300), bf(f64::NEG_INFINITY)], [0, 0x8000, 0x7f80, 0xff80]);
        assert!(f32_to_odd(f64::NAN).is_nan());
        for (x, want) in [
            (0, 0),
            (1, 0x3f80),
            (-1, 0xbf80),
            ((1 << 40) + (1 << 32), 0x5380),
            ((1 << 40) + (1 << 32) + 1, 0x5381),
            (-((1 << 40) + (1 << 32) + 1), 0xd381),
            (i128::MAX, 0x7f00),
        ] {
            assert_eq!(bf16_of_f32(f32_of_integer_to_odd(x)).to_bits(), want, "{x}");
        }
    }
}
