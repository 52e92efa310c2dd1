//! Elementwise operations beyond the conformance cases: operators, strings, integer limits, conditions.

mod common;

use ragged::arguments::Operand;
use ragged::{DType, Device, Error, HostTensor, HostValues, RaggedTensor, Scalar, Tensor, s};

fn dense(values: HostValues) -> Tensor {
    HostTensor::dense(&[values.len()], values).to_device(&Device::cpu()).unwrap()
}
fn read(t: ragged::Result<Tensor>) -> HostValues {
    t.unwrap().to_host().unwrap().values
}

#[test]
fn operators_chain() {
    let x = RaggedTensor::<i32>::try_from(dense(HostValues::I32(vec![1, -2, 3]))).unwrap();
    let y = RaggedTensor::<i32>::try_from(dense(HostValues::I32(vec![10, 20, 30]))).unwrap();
    assert_eq!(((&x + 3).unwrap() * &y).unwrap().to_vec().unwrap(), [40, 20, 180]);
    assert_eq!((1 - &x).unwrap().to_vec().unwrap(), [0, 3, -2]);
    assert_eq!((-&x).unwrap().to_vec().unwrap(), [-1, 2, -3]);
    assert_eq!((&x % 2).unwrap().to_vec().unwrap(), [1, 0, 1]);
    assert_eq!((7 % &x).unwrap().to_vec().unwrap(), [0, -1, 1]);
    assert_eq!(((&x << 2).unwrap() >> 1).unwrap().to_vec().unwrap(), [2, -4, 6]);
    assert_eq!((!&x).unwrap().to_vec().unwrap(), [-2, 1, -4]);
    assert_eq!(((&x & 3).unwrap() | 8).unwrap().to_vec().unwrap(), [9, 10, 11]);
    assert_eq!(x.truediv(&y).unwrap().to_vec().unwrap(), [0.1, -0.1, 0.1]);
}

#[test]
fn bools_take_logical_operators() {
    let x = RaggedTensor::<bool>::try_from(dense(HostValues::Bool(vec![true, false]))).unwrap();
    assert_eq!((&x & true).unwrap().to_vec().unwrap(), [true, false]);
    assert_eq!((&x ^ true).unwrap().to_vec().unwrap(), [false, true]);
    assert_eq!((!x).unwrap().to_vec().unwrap(), [false, true]);
    assert!(matches!(dense(HostValues::Bool(vec![true])) + true, Err(Error::Unsupported { .. })));
}

#[test]
fn strings_join_and_compare() {
    let of = |v: &[&str]| HostValues::Str(v.iter().map(|s| s.as_bytes().to_vec()).collect());
    let x = dense(of(&["", "ab", "abc", "x"]));
    let y = dense(of(&["", "ab", "abd", "xy"]));
    assert_eq!(read(x.add(&y)), of(&["", "abab", "abcabd", "xxy"]));
    assert_eq!(read(x.add("!")), of(&["!", "ab!", "abc!", "x!"]));
    let typed = RaggedTensor::<ragged::Str>::try_from(x.clone()).unwrap();
    assert_eq!(read((&typed + &y).map(RaggedTensor::into_erased)), read(typed.add(&y).map(RaggedTensor::into_erased)));
    assert_eq!(typed.add("!").unwrap().to_vec().unwrap(), ["!", "ab!", "abc!", "x!"].map(|s| s.as_bytes().to_vec()));
    assert_eq!(read(Operand::from("-").add((&x).into())), of(&["-", "-ab", "-abc", "-x"]));
    assert_eq!(read(x.equal(&y)), HostValues::Bool(vec![true, true, false, false]));
    assert_eq!(read(x.not_equal("ab")), HostValues::Bool(vec![true, false, true, true]));
    assert_eq!(read(Operand::from("x").equal((&x).into())), HostValues::Bool(vec![false, false, false, true]));
    assert!(matches!(x.less(&y), Err(Error::Unsupported { .. })));
    let column = HostTensor::dense(&[2, 1], of(&["a", "bb"])).to_device(&Device::cpu()).unwrap();
    let row = HostTensor::dense(&[1, 3], of(&["1", "", "bb"])).to_device(&Device::cpu()).unwrap();
    assert_eq!(read(column.add(&row)), of(&["a1", "a", "abb", "bb1", "bb", "bbbb"]));
    assert_eq!(read(column.equal(&row)), HostValues::Bool(vec![false, false, false, false, false, true]));
}

#[test]
fn integer_limits() {
    let x = dense(HostValues::I32(vec![i32::MIN, i32::MAX, -7]));
    assert_eq!(read(x.floordiv(-1)), HostValues::I32(vec![i32::MIN, -i32::MAX, 7]));
    assert_eq!(read(x.floormod(-4)), HostValues::I32(vec![0, -1, -3]));
    assert_eq!(read(x.abs()), HostValues::I32(vec![i32::MIN, i32::MAX, 7]));
    assert_eq!(read(x.right_shift(40)), HostValues::I32(vec![-1, 0, -1]));
    let y = dense(HostValues::U32(vec![7, 0]));
    assert_eq!(read(y.floordiv(2u32)), HostValues::U32(vec![3, 0]));
    assert_eq!(read(y.subtract(8u32)), HostValues::U32(vec![u32::MAX, u32::MAX - 7]));
}

#[test]
fn failed_conditions_name_the_first_offending_element() {
    let x = dense(HostValues::I64(vec![1, 2, 3]));
    let y = dense(HostValues::I64(vec![1, 0, 0]));
    let quotient = x.floordiv(&y).unwrap();
    let Err(Error::Check { op, at, location, .. }) = quotient.to_host() else { panic!("no error") };
    assert_eq!((op, at), ("floordiv", 1));
    assert!(location.file().contains("elementwise.rs"), "{location}");
    let remainder = (&x % &y).unwrap();
    let Err(Error::Check { location, .. }) = remainder.to_host() else { panic!("no error") };
    assert!(location.file().contains("elementwise.rs"), "{location}");
    assert!(x.pow(-1i64).unwrap().to_host().is_err());
    // A failed condition affects only the arrays that depend on it.
    assert_eq!(read(x.add(&y)), HostValues::I64(vec![2, 2, 3]));
}

#[test]
fn dtypes_are_not_mixed() {
    let x = dense(HostValues::I64(vec![1]));
    let int32 = dense(HostValues::I32(vec![1]));
    assert!(matches!(x.add(&int32), Err(Error::DTypes { lhs: DType::I64, rhs: DType::I32, .. })));
    // A number takes the tensor's dtype, unless that dtype does not have it.
    assert_eq!(read(x.add(1)), HostValues::I64(vec![2]));
    assert_eq!(read(x.add(2.0)), HostValues::I64(vec![3]));
    assert!(matches!(x.add(0.5), Err(Error::Argument { .. })));
    assert!(matches!(int32.add(1i64 << 40), Err(Error::Argument { .. })));
    assert!(matches!(x.add("1"), Err(Error::DTypes { .. })));
    assert!(matches!(x.sqrt(), Err(Error::Unsupported { .. })));
    assert!(matches!(x.clip_by_value(0, 0.5), Err(Error::Argument { .. })));
    let other = HostTensor::dense(&[1], HostValues::I64(vec![1])).to_device(&Device::cpu_unfused()).unwrap();
    assert!(matches!(x.add(&other), Err(Error::Devices { .. })));
    assert!(Operand::from(1).add(Operand::from(2)).is_err());
}

#[test]
fn bits_widen_and_narrow() {
    let words =
        HostTensor::dense(&[2], HostValues::U32(vec![0x0403_0201, 0x0807_0605])).to_device(&Device::cpu()).unwrap();
    let bytes = words.bitcast(DType::U8).unwrap();
    assert_eq!(bytes.shape(), [Some(2), Some(4)]);
    assert_eq!(read(Ok(bytes.clone())), HostValues::U8((1..=8).collect()));
    assert_eq!(read(bytes.bitcast(DType::U32)), HostValues::U32(vec![0x0403_0201, 0x0807_0605]));
    let long = words.bitcast(DType::U64).unwrap();
    assert_eq!(long.shape(), []);
    assert_eq!(read(Ok(long.clone())), HostValues::U64(vec![0x0807_0605_0403_0201]));
    assert_eq!(read(long.bitcast(DType::I32)), HostValues::I32(vec![0x0403_0201, 0x0807_0605]));
    assert!(bytes.bitcast(DType::U64).is_err());
}

#[test]
fn saturation_depends_on_both_ranges() {
    let x = dense(HostValues::I64(vec![i64::MIN, -1, 5, i64::MAX]));
    assert_eq!(read(x.saturate_cast(DType::U32)), HostValues::U32(vec![0, 0, 5, u32::MAX]));
    assert_eq!(read(x.saturate_cast(DType::I32)), HostValues::I32(vec![i32::MIN, -1, 5, i32::MAX]));
    assert_eq!(read(x.saturate_cast(DType::U64)), HostValues::U64(vec![0, 0, 5, i64::MAX as u64]));
    let y = dense(HostValues::U64(vec![u64::MAX, 5]));
    assert_eq!(read(y.saturate_cast(DType::I64)), HostValues::I64(vec![i64::MAX, 5]));
    let z = dense(HostValues::F64(vec![1e300, f64::NAN, f64::NEG_INFINITY]));
    let HostValues::F32(z32) = read(z.saturate_cast(DType::F32)) else { panic!("not f32") };
    assert_eq!((z32[0], z32[2]), (f32::MAX, f32::MIN));
    assert!(z32[1].is_nan());
    assert_eq!(read(z.saturate_cast(DType::U8)), HostValues::U8(vec![255, 0, 0]));
}

#[test]
fn flat_values_keep_their_partitions() {
    let host = HostTensor::from_row_splits(vec![0, 2, 2, 3], HostValues::I32(vec![1, 2, 3]));
    let x = host.to_device(&Device::cpu()).unwrap();
    let column = HostTensor::dense(&[1, 2], HostValues::I32(vec![1, 10])).to_device(&Device::cpu()).unwrap();
    let tripled = Tensor::map_flat_values_of(&[&x, &column], |v| v[0].multiply(3));
    assert_eq!(read(tripled), HostValues::I32(vec![3, 6, 9]));
    let fewer = x.map_flat_values(|_| Ok(column.clone()));
    assert!(matches!(fewer, Err(Error::Shape { .. })), "{fewer:?}");
    assert!(x.map_flat_values(|_| HostTensor::dense(&[], HostValues::I32(vec![1])).to_device(&Device::cpu())).is_err());
    let other = HostTensor { nested_row_splits: vec![vec![0, 1, 2, 3]], ..host }.to_device(&Device::cpu()).unwrap();
    assert!(Tensor::map_flat_values_of(&[&x, &other], |v| v[0].add(&v[1])).is_err());
    let typed = RaggedTensor::<i32>::try_from(x).unwrap();
    assert_eq!(typed.map_flat_values(|v| v.truediv(2)).unwrap().to_vec().unwrap(), [0.5, 1.0, 1.5]);
    assert_eq!(typed.clip_by_value(2, 2).unwrap().cast::<f32>().unwrap().to_vec().unwrap(), [2.0, 2.0, 2.0]);
    assert_eq!(read(typed.erased().multiply(Scalar::I32(0))), HostValues::I32(vec![0, 0, 0]));
}

#[test]
fn products_of_u32_wrap_before_a_division_fused_or_not() {
    let values = vec![0u32, 1, 5, 1 << 31, u32::MAX, 0x5555_5556];
    for device in [Device::cpu(), Device::cpu_unfused()] {
        let x = HostTensor::dense(&[6], HostValues::U32(values.clone())).to_device(&device).unwrap();
        let product = x.multiply(3u32).unwrap().add(1u32).unwrap();
        let quotient = product.floordiv(3u32).unwrap().to_host().unwrap().values;
        let rest = product.floormod(3u32).unwrap().to_host().unwrap().values;
        let wrapped: Vec<u32> = values.iter().map(|v| v.wrapping_mul(3).wrapping_add(1)).collect();
        assert_eq!(quotient, HostValues::U32(wrapped.iter().map(|v| v / 3).collect()));
        assert_eq!(rest, HostValues::U32(wrapped.iter().map(|v| v % 3).collect()));
    }
}

#[test]
fn a_condition_is_not_folded_away() {
    let x = HostTensor::dense(&[1], HostValues::U32(vec![7])).to_device(&Device::cpu()).unwrap();
    let zero = x.multiply(0u32).unwrap();
    let quotient = x.truncatediv(&zero).unwrap();
    assert!(quotient.multiply(0u32).unwrap().to_host().is_err(), "a division by zero");
}

#[test]
fn nextafter_of_floats() {
    let edges: Vec<f32> = [0.0, 1e-45, 1.1754942e-38, 1.1754944e-38, 1.0, 1.5, f32::MAX, f32::INFINITY]
        .into_iter()
        .flat_map(|v| [v, -v])
        .chain([f32::NAN])
        .collect();
    let next = |x: f64, y: f64, up: f64, down: f64| match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(std::cmp::Ordering::Equal) => y,
        Some(std::cmp::Ordering::Less) => up,
        Some(std::cmp::Ordering::Greater) => down,
    };
    let pairs: Vec<(f32, f32)> = edges.iter().flat_map(|&x| edges.iter().map(move |&y| (x, y))).collect();
    let single = |(x, y): &(f32, f32)| next((*x).into(), (*y).into(), x.next_up().into(), x.next_down().into()) as f32;
    let double = |(x, y): &(f32, f32)| {
        let (x, y) = (f64::from(*x), f64::from(*y));
        next(x, y, x.next_up(), x.next_down())
    };
    for (name, device) in common::devices() {
        let on = |values: HostValues| HostTensor::dense(&[values.len()], values).to_device(&device).unwrap();
        let halves = pairs.iter().copied().unzip::<f32, f32, Vec<_>, Vec<_>>();
        let HostValues::F32(got) = read(on(HostValues::F32(halves.0)).nextafter(&on(HostValues::F32(halves.1)))) else {
            panic!("f32 belongs here")
        };
        for ((got, pair), want) in got.iter().zip(&pairs).zip(pairs.iter().map(single)) {
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                "{name} {pair:?}: {got:e} {want:e}"
            );
        }
        if !common::has(&device, DType::F64) {
            continue;
        }
        let column = |f: fn(&(f32, f32)) -> f32| HostValues::F64(pairs.iter().map(|p| f(p).into()).collect());
        let HostValues::F64(got) = read(on(column(|p| p.0)).nextafter(&on(column(|p| p.1)))) else {
            panic!("f64 belongs here")
        };
        for ((got, pair), want) in got.iter().zip(&pairs).zip(pairs.iter().map(double)) {
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                "{name} {pair:?}: {got:e} {want:e}"
            );
        }
    }
}

/// A failed condition of an array is reported by every read that depends on the array, whichever elements it reads.
#[test]
fn a_failed_condition_is_reported_by_every_dependent_read() {
    let mut devices = common::devices();
    devices.push(("cpu unfused".into(), Device::cpu_unfused()));
    for (name, device) in devices {
        let x = HostTensor::dense(&[4], HostValues::I32(vec![3, 0, 5, 7])).to_device(&device).expect("an upload");
        let rests = x.floormod(&x).expect("recorded");
        let fails = |what: &str, t: ragged::Result<Tensor>| {
            let read = t.and_then(|t| t.to_host());
            assert!(matches!(read, Err(Error::Check { op: "floormod", .. })), "{name}: {what}: {read:?}");
        };
        fails("all of it", Ok(rests.clone()));
        fails("a part without the culprit", rests.slice(s![2..]));
        fails("nothing of it", rests.slice(s![1..1]));
        fails("where it is not taken", x.equal(9).and_then(|c| c.select(&rests, 1)));
        let rows = Tensor::from_row_lengths(&rests, [2, 2]).expect("recorded");
        fails("its columns", rows.slice(s![.., 2..]).and_then(|t| t.reduce_sum(1)));
    }
}

/// An index out of range is reported even if the gathered array is constant or empty.
#[test]
fn an_index_out_of_range_is_reported_for_constant_arrays() {
    let mut devices = common::devices();
    devices.push(("cpu unfused".into(), Device::cpu_unfused()));
    for (name, device) in devices {
        let ids = HostTensor::dense(&[3], HostValues::I32(vec![0, 9, 1])).to_device(&device).expect("an upload");
        let wide = HostTensor::dense(&[1, 2], HostValues::I32(vec![5, 6])).to_device(&device).expect("an upload");
        let column = HostTensor::dense(&[2, 1], HostValues::I32(vec![3, 0])).to_device(&device).expect("an upload");
        let fails = |what: &str, op: &str, t: ragged::Result<Tensor>| {
            let read = t.and_then(|t| t.to_host());
            assert!(matches!(read, Err(Error::Check { op: o, .. }) if o == op), "{name}: {what}: {read:?}");
        };
        let zeros = ragged::RaggedShape::dense(&[2], &device).and_then(|shape| Tensor::zeros(&shape, DType::I32));
        let zeros = zeros.expect("recorded");
        fails("a constant", "gather", zeros.gather(&ids));
        fails("an array of ones", "gather", column.ones_like().and_then(|ones| ones.gather(&ids)));
        let equal_rows = wide.broadcast_to([2, 2]).expect("recorded");
        fails("rows that are equal", "gather", equal_rows.gather(&ids));
        // A stored array (a map would be inlined) without elements.
        let nothing = HostTensor::dense(&[0], HostValues::I32(Vec::new())).to_device(&device).expect("an upload");
        fails("nothing at all", "gather", nothing.gather(&ids));
        // The indices are remainders with a failed condition.
        let bad = column.reshape([2]).and_then(|c| c.floormod(&c)).expect("recorded");
        bad.eval().expect("does not look");
        fails("positions of which nothing is read", "floormod", equal_rows.gather(&bad));
        fails("positions in a constant", "floormod", zeros.gather(&bad));
    }
}

/// Drivers simplify comparisons of widened 32-bit integers with 64-bit constants, and some get them wrong.
#[test]
fn widened_integers_compare_with_constants() {
    let numbers = |dtype: DType| -> Vec<i64> {
        let all = [
            i64::from(i32::MIN),
            -32768,
            -129,
            -128,
            -2,
            -1,
            0,
            1,
            2,
            127,
            255,
            32767,
            65535,
            i32::MAX.into(),
            u32::MAX.into(),
        ];
        let (low, high) = match dtype {
            DType::I8 => (-128, 127),
            DType::U8 => (0, 255),
            DType::I16 => (-32768, 32767),
            DType::U16 => (0, 65535),
            DType::I32 => (i32::MIN.into(), i32::MAX.into()),
            _ => (0, u32::MAX.into()),
        };
        all.into_iter().filter(|n| (low..=high).contains(n)).collect()
    };
    for (name, device) in common::devices() {
        for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32] {
            let given = numbers(dtype);
            let x = HostTensor::dense(&[given.len()], HostValues::I64(given.clone())).to_device(&device).unwrap();
            let x = x.cast(dtype).unwrap();
            x.eval().unwrap();
            for constant in
                [i64::MIN, -(1 << 32), i32::MIN.into(), -1, 0, 1, 2, 128, i32::MAX.into(), u32::MAX.into(), 1 << 40]
            {
                let wide = x.cast(DType::I64).unwrap();
                let bools =
                    |f: fn(&i64, &i64) -> bool| HostValues::Bool(given.iter().map(|n| f(n, &constant)).collect());
                let at = format!("{dtype} beside {constant} on {name}");
                assert_eq!(read(wide.less(constant)), bools(i64::lt), "less: {at}");
                assert_eq!(read(wide.less_equal(constant)), bools(i64::le), "less_equal: {at}");
                assert_eq!(read(wide.greater(constant)), bools(i64::gt), "greater: {at}");
                assert_eq!(read(wide.greater_equal(constant)), bools(i64::ge), "greater_equal: {at}");
                assert_eq!(read(wide.equal(constant)), bools(i64::eq), "equal: {at}");
                assert_eq!(read(wide.not_equal(constant)), bools(i64::ne), "not_equal: {at}");
                let least = given.iter().map(|&n| n.min(constant)).collect();
                assert_eq!(read(wide.minimum(constant)), HostValues::I64(least), "minimum: {at}");
                let most = given.iter().map(|&n| n.max(constant)).collect();
                assert_eq!(read(wide.maximum(constant)), HostValues::I64(most), "maximum: {at}");
                let wrapped: Vec<i64> = given.iter().map(|n| n.wrapping_mul(n ^ constant)).collect();
                let product = wide.multiply(&wide.bitwise_xor(constant).unwrap());
                assert_eq!(read(product), HostValues::I64(wrapped), "multiply: {at}");
                if !dtype.is_signed() && constant >= 0 {
                    let wide = x.cast(DType::U64).unwrap();
                    let constant = constant as u64;
                    assert_eq!(read(wide.less_equal(constant)), bools(i64::le), "less_equal: u64 of {at}");
                    assert_eq!(read(wide.greater(constant)), bools(i64::gt), "greater: u64 of {at}");
                }
            }
            let wide = x.cast(DType::I64).unwrap();
            let each = |f: &dyn Fn(i64) -> i64| HostValues::I64(given.iter().map(|&n| f(n)).collect());
            let at = format!("{dtype} on {name}");
            assert_eq!(read(wide.abs()), each(&i64::abs), "abs: {at}");
            assert_eq!(read(wide.sign()), each(&i64::signum), "sign: {at}");
            // No divisor is 0: 2 n + 1.
            let odd = wide.multiply(2i64).unwrap().add(1i64).unwrap();
            let quotient = |n: i64| (1000.0 / (2 * n + 1) as f64).floor() as i64;
            assert_eq!(read(Operand::from(1000i64).floordiv((&odd).into())), each(&quotient), "floordiv: {at}");
            let bools = HostValues::Bool(given.iter().map(|&n| n != 0).collect());
            assert_eq!(read(wide.cast(DType::Bool)), bools, "cast to bool: {at}");
            let floats = HostValues::F32(given.iter().map(|&n| n as f32).collect());
            assert_eq!(read(wide.cast(DType::F32)), floats, "cast to f32: {at}");
        }
    }
}
