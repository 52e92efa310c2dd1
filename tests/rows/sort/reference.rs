//! Reference sorts, and values with duplicates and all special values.

use std::cmp::Ordering;

use ragged::{DType, HostTensor, HostValues, Tensor};

use crate::common;
use crate::nest::Random;

/// Order of two values, with NaN after all numbers, and zeros of both signs equal.
pub fn compare(v: &HostValues, a: usize, b: usize, descending: bool) -> Ordering {
    macro_rules! floats {
        ($v:expr) => {{
            let (a, b) = ($v[a], $v[b]);
            match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ if descending => b.partial_cmp(&a).expect("numbers"),
                _ => a.partial_cmp(&b).expect("numbers"),
            }
        }};
    }
    macro_rules! others {
        ($v:expr) => {
            if descending { $v[b].cmp(&$v[a]) } else { $v[a].cmp(&$v[b]) }
        };
    }
    match v {
        HostValues::Bool(v) => others!(v),
        HostValues::U8(v) => others!(v),
        HostValues::I8(v) => others!(v),
        HostValues::U16(v) => others!(v),
        HostValues::I16(v) => others!(v),
        HostValues::I32(v) => others!(v),
        HostValues::U32(v) => others!(v),
        HostValues::I64(v) => others!(v),
        HostValues::U64(v) => others!(v),
        HostValues::F16(v) => floats!(v),
        HostValues::BF16(v) => floats!(v),
        HostValues::F32(v) => floats!(v),
        HostValues::F64(v) => floats!(v),
        other => panic!("{}", other.dtype()),
    }
}

/// The values at the given positions.
pub fn take(v: &HostValues, at: &[usize]) -> HostValues {
    macro_rules! each {
        ($($v:ident),*) => {
            match v {
                $(HostValues::$v(v) => HostValues::$v(at.iter().map(|&p| v[p].clone()).collect()),)*
                #[allow(unreachable_patterns, reason = "there may be other dtypes")]
                other => panic!("{}", other.dtype()),
            }
        };
    }
    each!(Bool, U8, I8, U16, I16, I32, U32, I64, U64, F16, BF16, F32, F64, Str)
}

/// The bits of values, with one pattern for all NaNs.
pub fn bits(v: &HostValues) -> String {
    macro_rules! floats {
        ($v:expr) => {
            format!("{:?}", $v.iter().map(|x| if x.is_nan() { !0 } else { x.to_bits() }).collect::<Vec<_>>())
        };
    }
    match v {
        HostValues::F16(v) => floats!(v),
        HostValues::BF16(v) => floats!(v),
        HostValues::F32(v) => floats!(v),
        HostValues::F64(v) => floats!(v),
        other => format!("{other:?}"),
    }
}

pub fn rows(lengths: &[u32], values: HostValues) -> HostTensor {
    let splits = common::random::splits(lengths);
    let inner_shape = vec![splits[lengths.len()] as usize];
    HostTensor { nested_row_splits: vec![splits], uniform_row_lengths: vec![None], inner_shape, values }
}

/// The sorted positions of each row.
pub fn orders(x: &HostTensor, descending: bool) -> Vec<Vec<usize>> {
    let row = |w: &[u32]| {
        let mut at: Vec<usize> = (w[0] as usize..w[1] as usize).collect();
        at.sort_by(|&a, &b| compare(&x.values, a, b, descending));
        at
    };
    x.nested_row_splits[0].windows(2).map(row).collect()
}

/// Whether `unique` distinguishes two values.
pub fn differ(v: &HostValues, a: usize, b: usize) -> bool {
    match v {
        HostValues::F16(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        HostValues::BF16(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        HostValues::F32(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        HostValues::F64(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        _ => compare(v, a, b, false) != Ordering::Equal,
    }
}

pub fn i64s(t: &Tensor) -> Vec<i64> {
    match t.to_host().expect("a read").values {
        HostValues::I64(v) => v,
        other => panic!("{}", other.dtype()),
    }
}

/// Values with many duplicates, and all special values.
pub fn values(random: &mut Random, dtype: DType, n: usize) -> HostValues {
    macro_rules! floats {
        ($t:ident, $v:ident) => {{
            let special =
                [0.0, -0.0, $t::NAN, -$t::NAN, $t::INFINITY, $t::NEG_INFINITY, $t::MAX, $t::MIN, $t::MIN_POSITIVE];
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(6) {
                        0 => special[random.below(9) as usize],
                        _ => (random.below(4001) as $t - 2000.0) / 64.0,
                    })
                    .collect(),
            )
        }};
    }
    macro_rules! ints {
        ($t:ident, $v:ident) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(8) {
                        0 => $t::MIN,
                        1 => $t::MAX,
                        2 => (random.below(u32::MAX) as $t).wrapping_mul(0x1_0001_0001u64 as $t),
                        _ => (random.below(40) as $t).wrapping_sub(20),
                    })
                    .collect(),
            )
        };
    }
    macro_rules! halves {
        ($t:ident, $v:ident) => {{
            let HostValues::F32(wide) = floats!(f32, F32) else { unreachable!("made so") };
            HostValues::$v(wide.into_iter().map(ragged::$t::from_f32).collect())
        }};
    }
    match dtype {
        DType::F16 => halves!(f16, F16),
        DType::BF16 => halves!(bf16, BF16),
        DType::I8 => ints!(i8, I8),
        DType::U16 => ints!(u16, U16),
        DType::I16 => ints!(i16, I16),
        DType::Bool => HostValues::Bool((0..n).map(|_| random.below(2) == 1).collect()),
        DType::U8 => ints!(u8, U8),
        DType::I32 => ints!(i32, I32),
        DType::U32 => ints!(u32, U32),
        DType::I64 => ints!(i64, I64),
        DType::U64 => ints!(u64, U64),
        DType::F32 => floats!(f32, F32),
        DType::F64 => floats!(f64, F64),
        other => panic!("no values of {other}"),
    }
}
