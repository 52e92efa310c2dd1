//! Order-preserving integer keys of floats, and their inverse, each in one pass.
//!
//! Minima and maxima are reduced over such keys. The expression of a conversion has six operations, each of which would
//! be a pass over the block. Pattern matching therefore replaces it by one operation.

use super::encoding::Encoded;
use super::operations::map1;
use crate::dtype::DType;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;

/// Matches a conversion of floats to keys. Returns the floats and the key of NaN, or `None` for any other expression.
pub(super) fn keyed(e: &Expr) -> Option<(&Expr, Scalar)> {
    use ExprKind as K;
    // is_nan(x) ? nan : flip(bits of x)
    let K::Select(is_nan, nan, key) = e.kind() else { return None };
    let (K::Unary(UnaryOp::IsNan, x), K::Scalar(nan)) = (is_nan.kind(), nan.kind()) else { return None };
    let K::Bitcast(of) = flipped(key)?.kind() else { return None };
    (of == x).then_some((x, *nan))
}

/// Matches a conversion of floats to unsigned sort keys: keys with some bits inverted. Returns the floats, the key of NaN
/// before the inversion, and the inverted bits, or `None` for any other expression.
pub(super) fn sort_keyed(e: &Expr) -> Option<(&Expr, [Scalar; 2])> {
    use ExprKind as K;
    // unsigned of (key ^ inverted)
    let K::Bitcast(signed) = e.kind() else { return None };
    let K::Binary(BinaryOp::Xor, key, inverted) = signed.kind() else { return None };
    let ((x, nan), K::Scalar(inverted)) = (keyed(key)?, inverted.kind()) else { return None };
    matches!(e.dtype(), DType::U32 | DType::U64).then_some((x, [nan, *inverted]))
}

/// Matches a conversion of keys to floats. Returns the keys, the key that stands for no float, and the value that
/// replaces it, or `None` for any other expression.
pub(super) fn unkeyed(e: &Expr) -> Option<(&Expr, [Scalar; 2])> {
    use ExprKind as K;
    // key == none ? empty : float of the bits flip(key)
    let K::Select(is_none, empty, float) = e.kind() else { return None };
    let (K::Binary(BinaryOp::Eq, key, none), K::Scalar(empty)) = (is_none.kind(), empty.kind()) else { return None };
    let (K::Scalar(none), K::Bitcast(bits)) = (none.kind(), float.kind()) else { return None };
    let are_floats = matches!(empty.dtype(), DType::F32 | DType::F64);
    (are_floats && flipped(bits)? == key).then_some((key, [*none, *empty]))
}

/// Matches `bits ^ (bits >> last & highest)` and returns `bits`. The expression inverts the bits of negative numbers,
/// except for the sign bit.
fn flipped(e: &Expr) -> Option<&Expr> {
    use ExprKind as K;
    let K::Binary(BinaryOp::Xor, bits, flips) = e.kind() else { return None };
    let K::Binary(BinaryOp::And, sign, highest) = flips.kind() else { return None };
    let K::Binary(BinaryOp::Shr, shifted, last) = sign.kind() else { return None };
    let dtype = e.dtype();
    let is_scalar = |e: &Expr, s: Scalar| matches!(e.kind(), K::Scalar(found) if *found == s);
    let found = matches!(dtype, DType::I32 | DType::I64)
        && shifted == bits
        && is_scalar(highest, Scalar::highest(dtype))
        && is_scalar(last, Scalar::from_i64(dtype, dtype.size() as i64 * 8 - 1));
    found.then_some(bits)
}

/// The key of a float. NaN is detected by its bits, which needs no branch.
#[inline(always)]
pub(super) fn key_of_f32(x: f32, nan: i32) -> i32 {
    let bits = x.to_bits() as i32;
    let key = bits ^ ((bits >> 31) & i32::MAX);
    if bits & i32::MAX > f32::INFINITY.to_bits() as i32 { nan } else { key }
}

/// The same for 64 bits.
#[inline(always)]
pub(super) fn key_of_f64(x: f64, nan: i64) -> i64 {
    let bits = x.to_bits() as i64;
    let key = bits ^ ((bits >> 63) & i64::MAX);
    if bits & i64::MAX > f64::INFINITY.to_bits() as i64 { nan } else { key }
}

/// The keys of `n` floats.
pub(super) fn keys<'x>(n: usize, x: &Encoded<'_>, nan: Scalar) -> Encoded<'x> {
    match nan {
        Scalar::I32(nan) => map1(n, x, |x| key_of_f32(x, nan)),
        Scalar::I64(nan) => map1(n, x, |x| key_of_f64(x, nan)),
        other => unreachable!("bug: keys of {:?}", other.dtype()),
    }
}

/// The unsigned sort keys of `n` floats.
pub(super) fn sort_keys<'x>(n: usize, x: &Encoded<'_>, nan_and_inverted: [Scalar; 2]) -> Encoded<'x> {
    match nan_and_inverted {
        [Scalar::I32(nan), Scalar::I32(inverted)] => map1(n, x, |x| (key_of_f32(x, nan) ^ inverted) as u32),
        [Scalar::I64(nan), Scalar::I64(inverted)] => map1(n, x, |x| (key_of_f64(x, nan) ^ inverted) as u64),
        [nan, _] => unreachable!("bug: sort keys of {:?}", nan.dtype()),
    }
}

/// The float of a key, or `empty` for the key `none`.
#[inline(always)]
fn f32_of_key(key: i32, none: i32, empty: f32) -> f32 {
    let float = f32::from_bits((key ^ ((key >> 31) & i32::MAX)) as u32);
    if key == none { empty } else { float }
}

/// The same for 64 bits.
#[inline(always)]
fn f64_of_key(key: i64, none: i64, empty: f64) -> f64 {
    let float = f64::from_bits((key ^ ((key >> 63) & i64::MAX)) as u64);
    if key == none { empty } else { float }
}

/// The floats of `n` keys.
pub(super) fn floats<'x>(n: usize, keys: &Encoded<'_>, none_and_empty: [Scalar; 2]) -> Encoded<'x> {
    match none_and_empty {
        [Scalar::I32(none), Scalar::F32(empty)] => map1(n, keys, |key| f32_of_key(key, none, empty)),
        [Scalar::I64(none), Scalar::F64(empty)] => map1(n, keys, |key| f64_of_key(key, none, empty)),
        [none, empty] => unreachable!("bug: {:?} of keys of {:?}", empty.dtype(), none.dtype()),
    }
}

/// Replaces each key with the bits of its float, in place.
pub(super) fn into_floats(keys: &mut [i32], none: i32, empty: f32) {
    for key in keys {
        *key = f32_of_key(*key, none, empty).to_bits() as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::node::Recipe;
    use crate::graph::plan::plan;
    use crate::{Device, RaggedTensor};

    #[test]
    fn minima_and_maxima_are_reduced_over_keys() {
        let device = Device::cpu();
        let x = RaggedTensor::from_nested(vec![vec![1f32], vec![2., 3.]], &device).expect("valid");
        for extreme in [x.erased().reduce_max(1), x.erased().reduce_min(1)] {
            let extreme = extreme.expect("recorded");
            let node = extreme.numbers("test").expect("numbers").clone();
            let limits = node.backend().plan_limits();
            let steps = plan(&[node], limits).steps;
            let keys = |recipe: &Recipe| matches!(recipe, Recipe::Reduce { value, .. } if keyed(value).is_some());
            assert!(steps.iter().any(|step| keys(&step.recipe)), "{steps:?}");
            let mut finishes =
                steps.iter().flat_map(|step| &step.row_kernel).flat_map(|pass| &pass.results).flat_map(|r| &r.epilogue);
            assert!(finishes.any(|finish| unkeyed(&finish.value).is_some()), "{steps:?}");
        }
    }

    #[test]
    fn sorts_and_selections_are_by_sort_keys() {
        let device = Device::cpu();
        let x = RaggedTensor::from_nested(vec![vec![1f64], vec![2., f64::NAN]], &device).expect("valid");
        let node = x.erased().top_k(1, 1).expect("recorded").1.numbers("test").expect("numbers").clone();
        let limits = node.backend().plan_limits();
        let steps = plan(&[node], limits).steps;
        let is_by_keys = |recipe: &Recipe| matches!(recipe, Recipe::TopK { key, .. } if sort_keyed(key).is_some());
        assert!(steps.iter().any(|step| is_by_keys(&step.recipe)), "{steps:?}");
        let descending = [Scalar::I64(i64::MIN), Scalar::I64(i64::MAX)];
        let floats = vec![f64::INFINITY, 2., 0., -0., -2., f64::NEG_INFINITY, f64::NAN];
        let Encoded::U64(keys) = sort_keys(7, &Encoded::F64(floats.into()), descending) else { panic!("keys") };
        assert!(keys.is_sorted_by(|a, b| a < b) && keys[6] == u64::MAX, "{:?}", &keys[..]);
    }

    #[test]
    fn keys_have_the_order_of_their_floats() {
        let ascending = vec![f32::NEG_INFINITY, f32::MIN, -1., -1e-45, -0., 0., 1e-45, 1., f32::MAX, f32::INFINITY];
        let mut floats = ascending;
        let n = floats.len();
        floats.extend([f32::NAN, -f32::NAN]);
        let all = keys(n + 2, &Encoded::F32(floats.clone().into()), Scalar::I32(i32::MAX));
        let Encoded::I32(keys) = &all else { panic!("keys are integers") };
        assert!(keys[..n].is_sorted_by(|a, b| a < b), "{:?}", &keys[..]);
        assert_eq!(keys[n..], [i32::MAX; 2]);
        // And back: the key of 1 stands for none.
        let none = keys[7];
        let Encoded::F32(back) = super::floats(n, &all, [Scalar::I32(none), Scalar::F32(5.)]) else {
            panic!("keys are of floats")
        };
        let mut in_place = keys.to_vec();
        into_floats(&mut in_place, none, 5.);
        floats[7] = 5.;
        for (k, expected) in floats[..n].iter().enumerate() {
            assert_eq!([back[k].to_bits(), in_place[k] as u32], [expected.to_bits(); 2], "{expected}");
        }
    }
}
