//! Floor division and remainders of floats, rounded down or towards zero once; divisions and activations of integers.

use ragged::{DType, HostTensor, HostValues, RaggedTensor, Tensor, bf16, f16};

use crate::everywhere::{Float, everywhere, values};

/// Operands with exact quotients, quotients just below whole numbers, and every special value.
const NUMBERS: [f64; 25] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    -0.1,
    0.3,
    0.7,
    -0.7,
    3.0,
    -7.0,
    10.0,
    0.01,
    1e-3,
    8_388_609.0,
    16_777_213.0,
    -5.5,
    2.5,
    1e4,
    60_000.0,
    -1e-3,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// `a / b` of finite floats as the greatest whole number that is not above it, and as the truncated one, by long
/// division of integers; `None` where they exceed the whole numbers that `T` resolves.
fn exact(a: f64, b: f64) -> Option<(i128, i128)> {
    let parts = |x: f64| -> (i128, i32) {
        let bits = x.to_bits();
        let (exponent, digits) = ((bits >> 52 & 0x7ff) as i32, (bits & ((1 << 52) - 1)) as i128);
        let digits = if exponent == 0 { digits } else { digits | 1 << 52 };
        (if x < 0.0 { -digits } else { digits }, exponent.max(1) - 1075)
    };
    let ((ma, ea), (mb, eb)) = (parts(a), parts(b));
    let shift = ea - eb;
    if shift > 60 {
        return None;
    }
    // A numerator that is shifted out is an infinitesimal of its sign.
    let (n, d) = match shift {
        0.. => (ma.checked_mul(1 << shift)?, mb),
        -60..0 => (ma, mb.checked_mul(1i128 << -shift)?),
        _ => (ma.signum(), mb.signum() * 2),
    };
    let (q, r) = (n / d, n % d);
    Some((if r != 0 && (r < 0) != (d < 0) { q - 1 } else { q }, q))
}

fn whole_quotients<T: Float>(digits: i32) {
    let all: Vec<(T, T)> = NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (T::of(a), T::of(b)))).collect();
    let run = |op: fn(&Tensor, &Tensor) -> ragged::Result<Tensor>| -> Vec<T> {
        values::<T>(|d| {
            let a: RaggedTensor<T> = RaggedTensor::from_nested(all.iter().map(|p| p.0).collect::<Vec<T>>(), d)?;
            let b: RaggedTensor<T> = RaggedTensor::from_nested(all.iter().map(|p| p.1).collect::<Vec<T>>(), d)?;
            op(a.erased(), b.erased())
        })
    };
    let (floors, towards_zero) = (run(|a, b| a.floordiv(b)), run(|a, b| a.truncatediv(b)));
    let rests = run(|a, b| a.floormod(b));
    let mut exactly = 0;
    for (k, (a, b)) in all.iter().map(|p| (p.0.wide(), p.1.wide())).enumerate() {
        let (floor, trunc, rest) = (floors[k].wide(), towards_zero[k].wide(), rests[k].wide());
        let what = format!("{} {a:?} // {b:?} = {floor:?}, {trunc:?}, rest {rest:?}", T::DTYPE);
        if b == 0.0 || a.is_nan() || b.is_nan() || a.is_infinite() {
            let quotient = a / b;
            assert!(floor == quotient || floor.is_nan() && quotient.is_nan(), "{what}");
            assert!(trunc == quotient || trunc.is_nan() && quotient.is_nan(), "{what}");
            assert!(rest.is_nan(), "{what}");
            continue;
        }
        assert_eq!(rest.is_sign_negative(), b.is_sign_negative(), "{what}");
        let fmod = a % b;
        let want = if fmod != 0.0 && (fmod < 0.0) != (b < 0.0) { T::of(fmod + b).wide() } else { fmod };
        assert_eq!(rest, want, "{what}");
        if b.is_infinite() {
            assert_eq!(floor, if a != 0.0 && (a < 0.0) != (b < 0.0) { -1.0 } else { 0.0 }, "{what}");
            assert_eq!(trunc, 0.0, "{what}");
            continue;
        }
        if let Some((down, near)) = exact(a, b).filter(|(q, _)| q.abs() <= 1 << digits) {
            assert_eq!((floor, trunc), (T::of(down as f64).wide(), T::of(near as f64).wide()), "{what}");
            exactly += 1;
        }
    }
    assert!(exactly > 200, "{exactly}");
}

#[test]
fn a_whole_quotient_is_rounded_once() {
    whole_quotients::<f32>(24);
    whole_quotients::<f64>(53);
    whole_quotients::<f16>(11);
    whole_quotients::<bf16>(8);
}

#[test]
fn quotients_as_in_python() {
    let floor = |a: f64, b: f64| {
        values::<f64>(|d| {
            RaggedTensor::<f64>::from_nested([a], d)?.erased().floordiv(&RaggedTensor::<f64>::from_nested([b], d)?)
        })[0]
    };
    // Quotients that round up to a whole number, also where a tie decides.
    for (a, b, want) in [
        (1.0, 0.1, 9.0),
        (-1.0, 0.1, -10.0),
        (0.3, 0.1, 2.0),
        (6.0, 0.1, 59.0),
        (1e-300, 1e300, 0.0),
        (-1e-300, 1e300, -1.0),
        (9_007_199_254_740_991.0, 2.0, 4_503_599_627_370_495.0),
        (9_007_199_254_740_990.0, 1.000_000_000_000_000_2, 9_007_199_254_740_988.0),
        (f64::MAX, f64::MAX, 1.0),
        (f64::MAX.next_down(), f64::MAX, 0.0),
        (5e-324, 5e-324, 1.0),
    ] {
        assert_eq!(floor(a, b), want, "{a:?} // {b:?}");
    }
}

#[test]
fn a_division_without_nan_takes_integers_as_a_true_division_does() {
    for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64] {
        let wide = [DType::I32, DType::U32, DType::I64, DType::U64].contains(&dtype);
        let out = if wide { DType::F64 } else { DType::F32 };
        let got = everywhere(&[out], |d| {
            let host = |v: Vec<i32>| HostTensor::dense(&[3], HostValues::I32(v)).to_device(d)?.cast(dtype);
            host(vec![7, 0, 9])?.divide_no_nan(&host(vec![2, 0, 0])?)
        });
        let want = [3.5, 0.0, 0.0];
        match got {
            HostValues::F32(v) if !wide => assert_eq!(v, want.map(|x| x as f32), "{dtype}"),
            HostValues::F64(v) if wide => assert_eq!(v, want, "{dtype}"),
            other => panic!("{} of {dtype}", other.dtype()),
        }
    }
    assert_eq!(values::<f64>(|d| RaggedTensor::<i32>::from_nested([1, 5], d)?.erased().divide_no_nan(0)), [0.0, 0.0]);
}

#[test]
fn a_leaky_relu_takes_integers_as_f32() {
    for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64] {
        let signed = [DType::I8, DType::I16, DType::I32, DType::I64].contains(&dtype);
        let got = values::<f32>(|d| {
            let least = if signed { -4 } else { 4 };
            HostTensor::dense(&[3], HostValues::I32(vec![least, 0, 8])).to_device(d)?.cast(dtype)?.leaky_relu(0.25)
        });
        assert_eq!(got, [if signed { -1.0 } else { 4.0 }, 0.0, 8.0], "{dtype}");
    }
    let device = ragged::Device::cpu();
    let bools = RaggedTensor::from_nested([true], &device).expect("valid");
    assert!(matches!(bools.erased().leaky_relu(0.25), Err(ragged::Error::Unsupported { op: "leaky_relu", .. })));
    assert!(matches!(
        bools.erased().divide_no_nan(&bools),
        Err(ragged::Error::Unsupported { op: "divide_no_nan", .. })
    ));
}
