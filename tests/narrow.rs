//! 8-bit and 16-bit numbers: all bit patterns on every backend, compared with Rust's integers and the crate `half`.

mod common;

use common::fused_and_not as backends;
use ragged::{
    DType, Device, Element, HostTensor, HostValues, Number, Operand, RaggedTensor, Result, Seed, Tensor, bf16,
    descending, exclusive, f16, ragged, reversed,
};

/// A 16-bit float, as the crate `half` implements it.
trait Half: Number + Element<Host = Self> + PartialOrd + std::fmt::Debug {
    fn of(x: f32) -> Self;
    fn of_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
    fn wide(self) -> f32;
}
macro_rules! half {
    ($($t:ty),*) => {$(impl Half for $t {
        fn of(x: f32) -> Self {
            Self::from_f32(x)
        }
        fn of_bits(bits: u16) -> Self {
            Self::from_bits(bits)
        }
        fn bits(self) -> u16 {
            self.to_bits()
        }
        fn wide(self) -> f32 {
            self.to_f32()
        }
    })*};
}
half!(f16, bf16);

/// Every pattern of 16 bits.
fn every<T: Half>() -> Vec<T> {
    (0..=u16::MAX).map(T::of_bits).collect()
}

fn dense<T: Element>(values: &[T::Host], device: &Device) -> Tensor {
    HostTensor::dense(&[values.len()], T::wrap(values.to_vec())).to_device(device).expect("fits")
}

fn read<T: Element>(x: Result<Tensor>) -> Vec<T::Host> {
    T::unwrap(x.expect("recorded").to_host().expect("computed").values).expect("the dtype asked for")
}

/// Fails unless all are equal, NaN to any NaN.
fn same<T: Half>(what: &str, want: impl IntoIterator<Item = T>, got: Vec<T>) {
    let want: Vec<T> = want.into_iter().collect();
    assert_eq!(want.len(), got.len(), "{what}");
    for (at, (w, g)) in want.iter().zip(&got).enumerate() {
        let nan = w.wide().is_nan() && g.wide().is_nan();
        assert!(nan || w.bits() == g.bits(), "{what}: at {at} {:#x}, not {:#x}", g.bits(), w.bits());
    }
}

/// Unary and binary operations on every bit pattern of one float type.
fn all_patterns<T: Half>() {
    let x: Vec<T> = every();
    for (name, device) in backends() {
        let t = dense::<T>(&x, device);
        let says = |what: &str| format!("{what} of {} on {name}", T::DTYPE);
        let singles: Vec<f32> = read::<f32>(t.cast(DType::F32));
        for (one, wide) in x.iter().zip(&singles) {
            assert!(one.wide().to_bits() == wide.to_bits() || one.wide().is_nan() && wide.is_nan(), "{name} {one:?}");
        }
        same(&says("to f32 and back"), x.iter().copied(), read::<T>(t.cast(DType::F32).and_then(|t| t.cast(T::DTYPE))));
        // Stored in between, so that both roundings take place.
        same(&says("from f32"), x.iter().copied(), read::<T>(dense::<f32>(&singles, device).cast(T::DTYPE)));
        let rounded = |f: fn(f32) -> f32| x.iter().map(move |v| T::of(f(v.wide())));
        same(&says("negative"), rounded(|v| -v), read::<T>(t.negative()));
        same(&says("absolute value"), rounded(f32::abs), read::<T>(t.abs()));
        same(&says("x + x"), rounded(|v| v + v), read::<T>(t.add(&t)));
        same(&says("x - x"), rounded(|v| if v.is_finite() { 0.0 } else { f32::NAN }), read::<T>(t.subtract(&t)));
        same(&says("x * x"), rounded(|v| v * v), read::<T>(t.multiply(&t)));
        same(&says("x / 3"), rounded(|v| v / 3.0), read::<T>(t.truediv(T::of(3.0))));
        same(&says("root"), rounded(f32::sqrt), read::<T>(t.sqrt()));
        same(&says("floor"), rounded(f32::floor), read::<T>(t.floor()));
        // Each operation rounds, fused or not.
        let twice = x.iter().map(|v| T::of(T::of(v.wide() * v.wide()).wide() + v.wide()));
        same(&says("x * x + x"), twice, read::<T>(t.multiply(&t).and_then(|p| p.add(&t))));
        let integers: Vec<i32> = x.iter().map(|v| v.wide() as i32).collect();
        assert_eq!(read::<i32>(t.cast(DType::I32)), integers, "{name}");
        let bytes: Vec<i8> = x.iter().map(|v| v.wide() as i8).collect();
        assert_eq!(read::<i8>(t.cast(DType::I8)), bytes, "{name}");
        let words: Vec<u16> = x.iter().map(|v| v.wide() as u16).collect();
        assert_eq!(read::<u16>(t.cast(DType::U16)), words, "{name}");
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        assert_eq!(read::<u16>(t.bitcast(DType::U16)), bits, "{name}");
        let signed: Vec<i16> = bits.iter().map(|&b| b as i16).collect();
        assert_eq!(read::<i16>(t.bitcast(DType::I16)), signed, "{name}");
        same(&says("bits"), x.iter().copied(), read::<T>(dense::<i16>(&signed, device).bitcast(T::DTYPE)));
        assert_eq!(read::<bool>(t.is_nan()), x.iter().map(|v| v.wide().is_nan()).collect::<Vec<_>>(), "{name}");
        assert_eq!(read::<bool>(t.is_inf()), x.iter().map(|v| v.wide().is_infinite()).collect::<Vec<_>>(), "{name}");
        let truth: Vec<bool> = x.iter().map(|v| v.wide() != 0.0).collect();
        assert_eq!(read::<bool>(t.cast(DType::Bool)), truth, "{name}");
        let below: Vec<bool> = x.iter().map(|v| v.wide() < 0.75).collect();
        assert_eq!(read::<bool>(t.less(T::of(0.75))), below, "{name}");
    }
}

#[test]
fn every_f16() {
    all_patterns::<f16>();
}

#[test]
fn every_bf16() {
    all_patterns::<bf16>();
}

#[test]
fn elementary_functions_are_those_of_f32_rounded() {
    for (name, device) in backends() {
        let x = every::<f16>();
        let t = dense::<f16>(&x, device);
        let wide = t.cast(DType::F32).expect("recorded");
        for f in [Tensor::exp, Tensor::log1p, Tensor::tanh, Tensor::sin, Tensor::rsqrt] {
            let want = read::<f32>(f(&wide)).into_iter().map(f16::from_f32);
            same(name, want, read::<f16>(f(&t)));
        }
        // Compositions round once too; some intermediate results overflow.
        let steps: [fn(&Tensor) -> Result<Tensor>; 7] = [
            Tensor::softsign,
            Tensor::selu,
            Tensor::silu,
            |x| x.gelu(),
            |x| x.gelu_tanh(),
            |x| x.leaky_relu(0.3),
            |x| x.dropout(0.999_99, Seed(5)),
        ];
        for (k, f) in steps.into_iter().enumerate() {
            let want = read::<f32>(f(&wide)).into_iter().map(f16::from_f32);
            same(&format!("{name}, function {k}"), want, read::<f16>(f(&t)));
        }
        let other = t.reverse(0).and_then(|y| y.divide_no_nan(&t)).expect("recorded");
        let wide_other = other.cast(DType::F32).expect("recorded");
        let pairs: [fn(&Tensor, &Tensor) -> Result<Tensor>; 4] = [
            |x, y| x.squared_difference(y),
            |x, y| x.xlogy(y),
            |x, y| x.xlog1py(y),
            |x, y| x.sigmoid_cross_entropy_with_logits(y),
        ];
        for (k, f) in pairs.into_iter().enumerate() {
            let want = read::<f32>(f(&wide, &wide_other)).into_iter().map(f16::from_f32);
            same(&format!("{name}, function {k} of two"), want, read::<f16>(f(&t, &other)));
        }
    }
}

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

/// Tests an 8-bit or 16-bit integer type against Rust's arithmetic.
macro_rules! integers {
    ($name:ident, $t:ident, $values:expr) => {
        #[test]
        fn $name() {
            let all: Vec<$t> = $values;
            let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
            let (a, b): (Vec<$t>, Vec<$t>) = pairs.unzip();
            let both = |f: fn($t, $t) -> $t| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Vec<_>>();
            for (name, device) in backends() {
                let (x, y) = (dense::<$t>(&a, device), dense::<$t>(&b, device));
                let get = |t: Result<Tensor>| read::<$t>(t);
                assert_eq!(get(x.add(&y)), both($t::wrapping_add), "+ on {name}");
                assert_eq!(get(x.subtract(&y)), both($t::wrapping_sub), "- on {name}");
                assert_eq!(get(x.multiply(&y)), both($t::wrapping_mul), "* on {name}");
                assert_eq!(get(x.minimum(&y)), both($t::min), "minimum on {name}");
                assert_eq!(get(x.maximum(&y)), both($t::max), "maximum on {name}");
                assert_eq!(get(x.bitwise_and(&y)), both(|a, b| a & b), "& on {name}");
                assert_eq!(get(x.bitwise_or(&y)), both(|a, b| a | b), "| on {name}");
                assert_eq!(get(x.bitwise_xor(&y)), both(|a, b| a ^ b), "^ on {name}");
                assert_eq!(get(x.bitwise_invert()), both(|a, _| !a), "! on {name}");
                assert_eq!(get(x.negative()), both(|a, _| a.wrapping_neg()), "negative on {name}");
                // A shift by the width or more, or by a negative number, leaves the sign only.
                let left = both(|a, b| u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0));
                assert_eq!(get(x.left_shift(&y)), left, "<< on {name}");
                #[allow(unused_comparisons, reason = "one macro for signed and unsigned types")]
                let right = both(|a, b| match u32::try_from(b).ok().and_then(|b| a.checked_shr(b)) {
                    Some(shifted) => shifted,
                    None if a < 0 => !0,
                    None => 0,
                });
                assert_eq!(get(x.right_shift(&y)), right, ">> on {name}");
                let nonzero =
                    y.equal(0 as $t).and_then(|z| z.cast($t::DTYPE)).and_then(|z| y.add(&z)).expect("recorded");
                let quotients = get(x.truncatediv(&nonzero));
                let floors = get(x.floordiv(&nonzero));
                let rests = get(x.floormod(&nonzero));
                for (k, (&a, &b)) in a.iter().zip(&b).enumerate() {
                    let (a, b) = (i64::from(a), if b == 0 { 1 } else { i64::from(b) });
                    assert_eq!(quotients[k], (a / b) as $t, "{a} / {b} on {name}");
                    let floor = a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0);
                    assert_eq!(floors[k], floor as $t, "{a} // {b} on {name}");
                    assert_eq!(rests[k], (a - floor * b) as $t, "{a} mod {b} on {name}");
                }
                let powers = get(x.pow(3 as $t));
                assert_eq!(powers, both(|a, _| a.wrapping_mul(a).wrapping_mul(a)), "cube on {name}");
                let less: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a < b).collect();
                assert_eq!(read::<bool>(x.less(&y)), less, "< on {name}");
                let quotients: Vec<f32> = a.iter().zip(&b).map(|(&a, &b)| f32::from(a) / f32::from(b)).collect();
                let got = read::<f32>(x.truediv(&y));
                assert!(got.iter().zip(&quotients).all(|(g, w)| g == w || g.is_nan() && w.is_nan()), "/ on {name}");
            }
        }
    };
}
integers!(all_pairs_of_i8, i8, (i8::MIN..=i8::MAX).collect());
integers!(i16_at_its_edges, i16, edges().map(|v| v as i16).collect());
integers!(u16_at_its_edges, u16, edges().map(|v| v as u16).collect());

/// Numbers of 16 bits around powers of two, with both signs.
fn edges() -> impl Iterator<Item = i32> {
    let powers = (0..16).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]);
    powers.flat_map(|v| [v, -v]).chain([1000, -777, 0x5555])
}

#[test]
fn integer_conversions_equal_rusts() {
    macro_rules! between {
        ($device:expr, $from:ident => $($to:ident)*) => {{
            let edges = [0i64, 1, -1, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 1 << 31, -129, -40_000];
            let values: Vec<$from> =
                edges.into_iter().flat_map(|v| [v as $from, v.wrapping_neg() as $from]).collect();
            let x = dense::<$from>(&values, $device);
            $(
                let want: Vec<$to> = values.iter().map(|&v| v as $to).collect();
                assert_eq!(read::<$to>(x.cast($to::DTYPE)), want, "{} to {}", $from::DTYPE, $to::DTYPE);
                let want: Vec<$to> = values.iter()
                    .map(|&v| (v as i128).clamp($to::MIN as i128, $to::MAX as i128) as $to).collect();
                let got = read::<$to>(x.saturate_cast($to::DTYPE));
                assert_eq!(got, want, "{} to {} within its range", $from::DTYPE, $to::DTYPE);
            )*
        }};
    }
    for (_, device) in backends() {
        between!(device, u8 => i8 u16 i16);
        between!(device, i8 => u8 u16 i16 i32 u32);
        between!(device, u16 => u8 i8 i16 i32 u32);
        between!(device, i16 => u8 i8 u16 i32 u32);
        between!(device, i32 => i8 u16 i16);
        between!(device, u32 => i8 u16 i16);
        if common::has(device, DType::I64) {
            between!(device, i8 => i64 u64);
            between!(device, u16 => i64 u64);
            between!(device, i16 => i64 u64);
            between!(device, i64 => i8 u16 i16);
            between!(device, u64 => i8 u16 i16);
        }
    }
}

#[test]
fn floats_saturate() {
    for (name, device) in backends() {
        let x = [f32::MAX, f32::MIN, f32::INFINITY, 65_519.0, 65_520.0, -1e9, 1.5, f32::NAN];
        let t = dense::<f32>(&x, device);
        let want = [f16::MAX, f16::MIN, f16::MAX, f16::MAX, f16::MAX, f16::MIN, f16::from_f32(1.5), f16::NAN];
        same(name, want, read::<f16>(t.saturate_cast(DType::F16)));
        let infinite = f16::INFINITY;
        let want = [infinite, -infinite, infinite, f16::MAX, infinite, -infinite, f16::from_f32(1.5), f16::NAN];
        same(name, want, read::<f16>(t.cast(DType::F16)));
        let want = [127, -128, 127, 127, 127, -128, 1, 0];
        assert_eq!(read::<i8>(t.cast(DType::I8)), want, "{name}");
        assert_eq!(read::<u16>(t.cast(DType::U16)), [65_535, 0, 65_535, 65_519, 65_520, 0, 1, 0], "{name}");
        let brains = dense::<bf16>(&[bf16::MAX, bf16::MIN, bf16::from_f32(2.5)], device);
        let want = [f16::MAX, f16::MIN, f16::from_f32(2.5)];
        same(name, want, read::<f16>(brains.saturate_cast(DType::F16)));
        same(
            name,
            [f16::MAX, f16::MIN],
            read::<f16>(dense::<i32>(&[100_000, -70_000], device).saturate_cast(DType::F16)),
        );
        same(
            name,
            [f16::MAX, f16::from_f32(9.0)],
            read::<f16>(dense::<u16>(&[65_535, 9], device).saturate_cast(DType::F16)),
        );
    }
}

#[test]
fn bitcasts_join_and_split_elements() {
    for (name, device) in backends() {
        let words = dense::<u32>(&[0x3c00_bf80, 0x8001_7fff], device);
        let halves = words.bitcast(DType::I16).expect("recorded");
        assert_eq!(halves.shape(), [Some(2), Some(2)]);
        assert_eq!(read::<i16>(Ok(halves.clone())), [-0x4080, 0x3c00, 0x7fff, -0x7fff], "{name}");
        assert_eq!(
            read::<u32>(halves.bitcast(DType::F32).and_then(|x| x.bitcast(DType::U32))),
            [0x3c00_bf80, 0x8001_7fff]
        );
        let floats = read::<f16>(words.bitcast(DType::F16));
        assert_eq!(floats[1], f16::ONE, "{name}");
        let brains = read::<bf16>(words.bitcast(DType::BF16));
        assert_eq!(brains[0], -bf16::ONE, "{name}");
        let bytes = read::<i8>(words.bitcast(DType::I8));
        assert_eq!(bytes, [-128, -65, 0, 60, -1, 127, 1, -128], "{name}");
        let two = HostTensor::dense(&[1, 2], HostValues::I8(vec![0, 0x3c])).to_device(device).expect("fits");
        assert_eq!(read::<f16>(two.bitcast(DType::F16)), [f16::ONE], "{name}");
        let one = dense::<f16>(&[f16::ONE, -f16::ONE], device);
        same(name, [bf16::from_bits(0x3c00), bf16::from_bits(0xbc00)], read::<bf16>(one.bitcast(DType::BF16)));
    }
}

/// Row lengths around the sizes at which kernels switch algorithms.
fn lengths() -> Vec<usize> {
    let mut out = vec![0, 0, 1, 2, 3, 255, 256, 257, 0, 2047, 2048, 2049, 5000, 0];
    out.extend((0..200).map(|k| (k * k) % 7));
    out
}

/// One ragged dimension of `value(k)`.
fn rows<T: Element>(value: impl Fn(usize) -> T::Host) -> HostTensor {
    let mut splits = vec![0u32];
    for len in lengths() {
        splits.push(splits[splits.len() - 1] + len as u32);
    }
    let n = splits[splits.len() - 1] as usize;
    HostTensor::from_row_splits(splits, T::wrap((0..n).map(value).collect()))
}

#[test]
fn narrow_floats_are_reduced_in_f32_and_rounded_once() {
    fn check<T: Half>() {
        let host = rows::<T>(|k| T::of(((k * 7919) % 4001) as f32 / 16.0 - 120.0));
        for (name, device) in backends() {
            let x = host.to_device(device).expect("fits");
            let wide = x.cast(DType::F32).expect("recorded");
            for reduce in [
                Tensor::reduce_sum,
                Tensor::reduce_prod,
                Tensor::reduce_mean,
                Tensor::reduce_variance,
                Tensor::reduce_std,
            ] {
                for axis in [1, 0] {
                    let want = read::<f32>(reduce(&wide, axis)).into_iter().map(T::of);
                    same(name, want, read::<T>(reduce(&x, axis)));
                }
            }
            let by_row = common::naive::rows::<T>(&host);
            let extreme = |of_none: f32, f: fn(f32, f32) -> f32| {
                let of_row = move |row: &Vec<T>| row.iter().map(|v| v.wide()).reduce(f).unwrap_or(of_none);
                by_row.iter().map(move |row| T::of(of_row(row))).collect::<Vec<_>>()
            };
            let greatest = T::of_bits(T::of(f32::INFINITY).bits() - 1).wide();
            same(name, extreme(greatest, f32::min), read::<T>(x.reduce_min(1)));
            same(name, extreme(-greatest, f32::max), read::<T>(x.reduce_max(1)));
            // Rows are batch-invariant.
            let sums = read::<T>(x.reduce_sum(1));
            for (row, &sum) in by_row.iter().zip(&sums).filter(|(row, _)| row.len() > 200) {
                let alone = HostTensor::dense(&[1, row.len()], T::wrap(row.clone())).to_device(device).expect("fits");
                same(name, [sum], read::<T>(alone.reduce_sum(1)));
            }
        }
    }
    check::<f16>();
    check::<bf16>();
}

#[test]
fn narrow_integers_wrap_in_their_own_type() {
    macro_rules! check {
        ($($t:ident)*) => {$({
            let host = rows::<$t>(|k| (k.wrapping_mul(0x9e37_79b9) >> 7) as $t);
            let by_row = common::naive::rows::<$t>(&host);
            for (name, device) in backends() {
                let x = host.to_device(device).expect("fits");
                assert_eq!(read::<$t>(x.reduce_sum(1)), common::naive::sum(&by_row), "{name}");
                assert_eq!(read::<$t>(x.reduce_prod(1)), common::naive::prod(&by_row), "{name}");
                assert_eq!(read::<$t>(x.reduce_min(1)), common::naive::min(&by_row), "{name}");
                assert_eq!(read::<$t>(x.reduce_max(1)), common::naive::max(&by_row), "{name}");
                let sums = by_row.iter().map(|row| row.iter().map(|&v| i64::from(v)).sum::<i64>());
                let means = sums.zip(&by_row).map(|(sum, row)| sum as f32 / row.len() as f32);
                let got = read::<f32>(x.reduce_mean(1));
                assert!(got.iter().zip(means).all(|(&g, w)| g == w || g.is_nan() && w.is_nan()), "{name}");
                let any: Vec<bool> = by_row.iter().map(|row| row.iter().any(|&v| v != 0)).collect();
                assert_eq!(read::<bool>(x.reduce_any(1)), any, "{name}");
            }
        })*};
    }
    check!(u8 i8 u16 i16);
}

#[test]
fn a_long_column_of_halfwords_has_an_exact_mean() {
    // The sum of more than 2^16 numbers may exceed a word.
    let n = (1 << 16) + 5;
    for (name, device) in backends().iter().filter(|(_, d)| common::has(d, DType::I64)) {
        assert_eq!(read::<f32>(dense::<u16>(&vec![u16::MAX; n], device).reduce_mean(0)), [65_535.0], "{name}");
        assert_eq!(read::<f32>(dense::<i16>(&vec![i16::MIN; n], device).reduce_mean(0)), [-32_768.0], "{name}");
    }
}

#[test]
fn typed_tensors_have_operators() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![f16::ONE, f16::from_f32(0.1)], vec![]], &device).expect("fits");
    let y: RaggedTensor<f16> = ((&x + f16::ONE).expect("recorded") / &x).expect("recorded");
    assert_eq!(y.to_string(), "<ragged.RaggedTensor [[2.0, 11.0], []]>");
    let z: RaggedTensor<f32> =
        RaggedTensor::from_nested([7i8, -7], &device).and_then(|z| z.truediv(2i8)).expect("recorded");
    assert_eq!(z.to_vec().expect("read"), [3.5, -3.5]);
    let w: RaggedTensor<u16> = (5u16 - RaggedTensor::from_nested([6u16], &device).expect("fits")).expect("recorded");
    assert_eq!(w.to_vec().expect("read"), [u16::MAX]);
    assert_eq!(
        read::<bf16>(Operand::from(bf16::ONE).add((&dense::<bf16>(&[bf16::ONE], &device)).into())),
        [bf16::from_f32(2.0)]
    );
    let mean: RaggedTensor<bf16> =
        RaggedTensor::from_nested([vec![bf16::ONE], vec![]], &device).and_then(|m| m.reduce_mean(1)).expect("recorded");
    assert!(mean.to_vec().expect("read")[1].is_nan());
    let shorts: RaggedTensor<i16> = ragged![[1i16, 2], [3i16]].expect("fits");
    assert_eq!(shorts.reduce_sum(1).and_then(|s| s.to_vec()).expect("read"), [3, 3]);
}

#[test]
fn every_operation_computes_in_the_wide_type_and_rounds_once() {
    type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);
    const ANY: [Op; 20] = [
        ("sort", |x| x.sort(1)),
        ("sort downwards", |x| x.sort(descending(1))),
        ("argsort", |x| x.argsort(1)),
        ("cumsum", |x| x.cumsum(1)),
        ("cumsum from the end", |x| x.cumsum(exclusive(reversed(1)))),
        ("cumprod", |x| x.cumprod(1)),
        ("cummax", |x| x.cummax(1)),
        ("cummin", |x| x.cummin(1)),
        ("argmin", |x| x.slice(ragged::s![2..8])?.argmin(1)),
        ("argmax", |x| x.slice(ragged::s![2..8])?.argmax(1)),
        ("count_nonzero", |x| x.count_nonzero(1)),
        ("unique", |x| x.unique(1)),
        ("top_k", |x| Ok(x.top_k(3, 1)?.0)),
        ("tile", |x| x.tile(&[1, 2])),
        ("boolean_mask", |x| {
            let zero = x.subtract(x)?;
            x.boolean_mask(&x.less(&zero)?)
        }),
        ("slice", |x| x.slice(ragged::s![..;-1, 1..;2])),
        ("concat", |x| Tensor::concat(&[x, x], 1)),
        ("reverse", |x| x.reverse(1)),
        ("to_tensor", |x| x.slice(ragged::s![..6])?.to_tensor(ragged::Padding::Zero)),
        ("matmul", |x| {
            let rows = x.slice(ragged::s![..6])?.to_tensor(ragged::Padding::Zero)?;
            rows.matmul(rows.t())
        }),
    ];
    const FLOAT: [Op; 4] = [
        ("softmax", |x| x.softmax(1)),
        ("log_softmax", |x| x.log_softmax(1)),
        ("logsumexp", |x| x.reduce_logsumexp(1)),
        ("norm", |x| x.reduce_euclidean_norm(1)),
    ];
    let value = |k: usize| (k * 7919 % 401) as f32 / 4.0 - 50.0;
    for (narrow, wide) in [
        (rows::<i8>(|k| value(k) as i8), DType::I32),
        (rows::<u16>(|k| value(k) as i32 as u16), DType::U32),
        (rows::<i16>(|k| (value(k) * 300.0) as i16), DType::I32),
        (rows::<f16>(|k| f16::from_f32(value(k))), DType::F32),
        (rows::<bf16>(|k| bf16::from_f32(value(k))), DType::F32),
    ] {
        let dtype = narrow.values.dtype();
        let fusing = backends().iter().filter(|(name, d)| !name.contains("unfused") && common::has(d, DType::I64));
        for (name, device) in fusing {
            let x = narrow.to_device(device).expect("fits");
            let y = x.cast(wide).expect("recorded");
            for (op, f) in ANY.iter().chain(FLOAT.iter().filter(|_| dtype.is_float())) {
                let compute = |x: &Tensor| f(x).unwrap_or_else(|e| panic!("{op} of {dtype} on {name}: {e}"));
                let (got, want) = (compute(&x), compute(&y));
                let want = if want.dtype() == wide { want.cast(dtype).expect("recorded") } else { want };
                let read = |t: Tensor| t.to_host().unwrap_or_else(|e| panic!("{op} of {dtype} on {name}: {e}"));
                let (got, want) = (read(got), read(want));
                assert_eq!(got.nested_row_splits, want.nested_row_splits, "{op} of {dtype} on {name}");
                // The text distinguishes all floats, with one NaN.
                assert!(format!("{:?}", got.values) == format!("{:?}", want.values), "{op} of {dtype} on {name}");
            }
        }
    }
}

#[test]
fn nextafter_of_narrow_floats() {
    fn check<T: Half>() {
        let top = T::of(f32::INFINITY).bits();
        let x: Vec<T> = (0..=top).map(T::of_bits).collect();
        for (name, device) in backends() {
            let t = dense::<T>(&x, device);
            let up = (0..=top).map(|b| T::of_bits((b + 1).min(top)));
            same(name, up, read::<T>(t.nextafter(T::of(f32::INFINITY))));
            let down = (0..=top).map(|b| T::of_bits(if b == 0 { 0x8001 } else { b - 1 }));
            same(name, down, read::<T>(t.nextafter(T::of(f32::NEG_INFINITY))));
        }
    }
    check::<f16>();
    check::<bf16>();
}
