//! Tests of the functions against the standard library, and of the shaders against the functions.

mod accuracy;
#[cfg(feature = "gpu")]
mod device;
#[cfg(feature = "gpu")]
mod doubles;
mod fused;
mod special;
mod special_values;
mod values;

use super::MathFn;

/// Edge cases of f32, as bit patterns.
fn edges_f32() -> Vec<u32> {
    let mut bits = vec![0, 1, 2, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001, 0x7fc0_0000];
    let near = [
        0.17f32, 0.25, 0.2928, 0.4142, 0.4375, 0.5, 0.6875, 0.78, 1.0, 1.1875, 1.5, 1.75, 2.0, 2.4375, 2.5, 2.75, 3.0,
        4.0, 6.0,
    ];
    let far = [
        17.0f32,
        24.0,
        88.72284,
        89.41599,
        103.972,
        104.5,
        127.0,
        128.0,
        8388608.0,
        16777216.0,
        4294967296.0,
        1.2e-7,
        2.4e-4,
    ];
    let angles = (1..40).map(|n| n as f32 * std::f32::consts::FRAC_PI_4);
    for x in near.into_iter().chain(far).chain(angles) {
        bits.extend([x.to_bits() - 1, x.to_bits(), x.to_bits() + 1]);
    }
    let negative: Vec<_> = bits.iter().map(|b| b | 0x8000_0000).collect();
    bits.extend(negative);
    bits
}

/// Edge cases of f64: those of f32, and its own.
fn edges_f64() -> Vec<u64> {
    let mut bits = vec![
        0,
        1,
        2,
        (1 << 52) - 1,
        1 << 52,
        (1 << 52) + 1,
        f64::MAX.to_bits(),
        f64::INFINITY.to_bits(),
        f64::NAN.to_bits(),
    ];
    let far = [
        36.5,
        37.5,
        53.0,
        709.782712893384,
        710.4758600739439,
        745.1332191019412,
        746.0,
        4503599627370496.0,
        9007199254740992.0,
    ];
    let angles = (1..40).map(|n| f64::from(n) * std::f64::consts::FRAC_PI_4);
    for x in far.into_iter().chain(angles).chain([1.2e-16, 1e-8]) {
        bits.extend([x.to_bits() - 1, x.to_bits(), x.to_bits() + 1]);
    }
    let negative: Vec<_> = bits.iter().map(|b| b | 1 << 63).collect();
    bits.extend(negative);
    bits.extend(edges_f32().into_iter().map(|b| f64::from(f32::from_bits(b)).to_bits()));
    bits
}

/// Deterministic pseudo-random numbers (SplitMix64).
struct Noise(u64);

impl Iterator for Noise {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(z ^ (z >> 31))
    }
}

/// A double of either sign with a magnitude of about `2^-low` to `2^high`.
fn moderate(noise: u64, low: u64, high: u64) -> f64 {
    let exponent = 1023 - low + (noise >> 52 & 0x7ff) % (low + high);
    f64::from_bits(noise & (1 << 63) | exponent << 52 | noise & ((1 << 52) - 1))
}

/// Argument pairs for binary functions: all pairs of edge cases, random bits, and numbers of moderate size.
fn pairs_f32(count: usize) -> Vec<(f32, f32)> {
    let edges = edges_f32();
    let mut pairs: Vec<_> =
        edges.iter().flat_map(|&a| edges.iter().map(move |&b| (f32::from_bits(a), f32::from_bits(b)))).collect();
    let mut noise = Noise(1);
    let mut next = || noise.next().expect("noise does not end");
    while pairs.len() < count {
        let bits = next();
        pairs.push((f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)));
        pairs.push((moderate(next(), 6, 6) as f32, moderate(next(), 6, 6) as f32));
        pairs.push(((moderate(next(), 1, 10) as f32).abs(), moderate(next(), 2, 5) as f32));
        pairs.push(((next() % 1000) as f32, (next() % 50) as f32 - 25.0));
    }
    pairs
}

/// Argument pairs of f64 for binary functions: pairs of every other edge case, random bits, and numbers of moderate
/// size.
fn pairs_f64(count: usize) -> Vec<(f64, f64)> {
    let edges: Vec<_> = edges_f64().into_iter().step_by(2).collect();
    let mut pairs: Vec<_> =
        edges.iter().flat_map(|&a| edges.iter().map(move |&b| (f64::from_bits(a), f64::from_bits(b)))).collect();
    let mut noise = Noise(2);
    let mut next = || noise.next().expect("noise does not end");
    while pairs.len() < count {
        pairs.push((f64::from_bits(next()), f64::from_bits(next())));
        pairs.push((moderate(next(), 6, 6), moderate(next(), 6, 6)));
        pairs.push((moderate(next(), 1, 10).abs(), moderate(next(), 2, 8)));
        pairs.push(((next() % 1000) as f64, (next() % 50) as f64 - 25.0));
    }
    pairs
}

/// Arguments for unary functions: edge cases, random bits, and numbers of moderate size.
fn singles_f64(count: usize) -> Vec<f64> {
    let mut noise = Noise(3);
    let mut next = || noise.next().expect("noise does not end");
    let mut x: Vec<_> = edges_f64().into_iter().map(f64::from_bits).collect();
    while x.len() < count {
        x.push(f64::from_bits(next()));
        x.push(moderate(next(), 3, 3));
        x.push(moderate(next(), 10, 10));
    }
    x
}
