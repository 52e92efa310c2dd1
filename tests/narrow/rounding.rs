//! Conversions of wide numbers to 16-bit floats: rounded once, ties to even.

use ragged::{DType, Device, bf16, f16};

use crate::common::{self, fused_and_not as backends};
use crate::numbers::{Half, dense, read, same};

/// The float nearest to `x`, ties to even, found among the candidates.
fn nearest<T: Half>(x: f64) -> T {
    if !x.is_finite() {
        return T::of(x as f32);
    }
    let about = T::of(x.abs() as f32).bits().min(T::of(f32::INFINITY).bits());
    let value = |bits: u16| match T::of_bits(bits).wide() {
        // Values from halfway between the greatest float and its would-be successor on round to infinity.
        infinite if infinite.is_infinite() => {
            let (a, b) = (f64::from(T::of_bits(bits - 1).wide()), f64::from(T::of_bits(bits - 2).wide()));
            a + (a - b)
        }
        finite => finite.into(),
    };
    let top = T::of(f32::INFINITY).bits();
    let candidates = [about.saturating_sub(1), about, (about + 1).min(top)];
    let distance = |bits: &u16| (value(*bits) - x.abs()).abs();
    let best = candidates.into_iter().min_by(|a, b| {
        let even = (a & 1).cmp(&(b & 1));
        distance(a).total_cmp(&distance(b)).then(even)
    });
    let bits = best.expect("three candidates");
    T::of_bits(if x < 0.0 || x == 0.0 && x.is_sign_negative() { bits | 0x8000 } else { bits })
}

/// Halfway points between adjacent floats, and values right next to them.
fn near_ties<T: Half>() -> Vec<f64> {
    let mut out = Vec::new();
    for bits in (0..T::of(f32::INFINITY).bits()).step_by(37) {
        let (a, b) = (f64::from(T::of_bits(bits).wide()), f64::from(T::of_bits(bits + 1).wide()));
        let tie = if b.is_finite() { (a + b) / 2.0 } else { a * (1.0 + 2f64.powi(-9)) };
        for hair in [0.0, 1e-16, -1e-16, 1e-9, -1e-9, 1e-4, -1e-4] {
            out.extend([tie * (1.0 + hair), -tie * (1.0 + hair)]);
        }
    }
    out
}

fn doubles_round_once<T: Half>() {
    let x = near_ties::<T>();
    let want: Vec<T> = x.iter().map(|&v| nearest(v)).collect();
    for (name, device) in backends().iter().filter(|(_, d)| common::has(d, DType::F64)) {
        same(name, want.clone(), read::<T>(dense::<f64>(&x, device).cast(T::DTYPE)));
    }
    // So do conversions on the host.
    let scalars = x.iter().map(|&v| match ragged::Scalar::from_f64(T::DTYPE, v) {
        ragged::Scalar::F16(v) => v.to_bits(),
        ragged::Scalar::BF16(v) => v.to_bits(),
        other => panic!("{other:?}"),
    });
    same("scalars", want, scalars.map(T::of_bits).collect());
}

#[test]
fn doubles_round_once_to_f16() {
    doubles_round_once::<f16>();
}

#[test]
fn doubles_round_once_to_bf16() {
    doubles_round_once::<bf16>();
}

#[test]
fn integers_round_once() {
    // Integers of every bit length with ties at 8 and 11 significant bits, broken by bits below the precision of f32.
    let mut wide = vec![0i64, i64::MIN, i64::MAX];
    for length in 9..63 {
        for lead in [0x100i64, 0x101, 0x17f, 0x1ff] {
            let top = lead << (length - 9);
            for digits in [8, 11] {
                let half = if length > digits { 1i64 << (length - digits - 1) } else { 0 };
                wide.extend([top, top + half, top + half + 1, top + half - 1].into_iter().flat_map(|v| [v, -v]));
            }
        }
    }
    fn check<T: Half>(wide: &[i64], (name, device): &(String, Device)) {
        // Integers of up to 53 bits, so that the reference is exact, in the smallest type that holds them.
        let exact = |v: &i64| v.unsigned_abs() < 1 << 53;
        let longs: Vec<i64> = wide.iter().copied().filter(exact).collect();
        let words: Vec<i32> = wide.iter().filter_map(|&v| v.try_into().ok()).collect();
        let naturals: Vec<u32> = wide.iter().filter_map(|&v| v.try_into().ok()).collect();
        let halfwords: Vec<u16> = wide.iter().filter_map(|&v| v.try_into().ok()).collect();
        if common::has(device, DType::I64) {
            let want = longs.iter().map(|&v| nearest::<T>(v as f64));
            same(name, want, read::<T>(dense::<i64>(&longs, device).cast(T::DTYPE)));
            let naturals: Vec<u64> = longs.iter().map(|v| v.unsigned_abs()).collect();
            let want = naturals.iter().map(|&v| nearest::<T>(v as f64));
            same(name, want, read::<T>(dense::<u64>(&naturals, device).cast(T::DTYPE)));
            // A tie of bf16 that is broken by a bit 2^60 times smaller.
            let far = [(1i64 << 60) + (1 << 52) + 1, (1 << 60) + (1 << 52), -(1 << 60) - (1 << 52) - 1];
            let bits: Vec<u16> =
                read::<T>(dense::<i64>(&far, device).cast(T::DTYPE)).into_iter().map(T::bits).collect();
            let want = if T::DTYPE == DType::BF16 { [0x5d81, 0x5d80, 0xdd81] } else { [0x7c00, 0x7c00, 0xfc00] };
            assert_eq!(bits, want, "{name}");
        }
        let all = |v: f64| nearest::<T>(v);
        same(name, words.iter().map(|&v| all(v.into())), read::<T>(dense::<i32>(&words, device).cast(T::DTYPE)));
        same(name, naturals.iter().map(|&v| all(v.into())), read::<T>(dense::<u32>(&naturals, device).cast(T::DTYPE)));
        same(
            name,
            halfwords.iter().map(|&v| all(v.into())),
            read::<T>(dense::<u16>(&halfwords, device).cast(T::DTYPE)),
        );
    }
    for backend in backends() {
        check::<f16>(&wide, backend);
        check::<bf16>(&wide, backend);
    }
}
