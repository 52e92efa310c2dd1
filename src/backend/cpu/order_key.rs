//! Floats as integers of the same order, in one pass.
//!
//! Extremes are found among such integers. As an expression these are a test, a reinterpretation, three bit operations
//! and a selection, each of which would be a pass here; so the expression is recognised.

use super::lanes::Lanes;
use super::loops::map1;
use crate::dtype::DType;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::scalar::Scalar;

/// The floats whose keys the expression is, and the key of NaN; nothing if it is anything else.
pub(super) fn recognized(e: &Expr) -> Option<(&Expr, Scalar)> {
    use ExprKind as K;
    // is_nan(x) ? nan : bits ^ (bits >> last & highest)
    let K::Select(is_nan, nan, flipped) = e.kind() else { return None };
    let (K::Unary(UnaryOp::IsNan, x), K::Scalar(nan), K::Binary(BinaryOp::Xor, bits, flips)) =
        (is_nan.kind(), nan.kind(), flipped.kind())
    else {
        return None;
    };
    let (K::Bitcast(of), K::Binary(BinaryOp::And, sign, highest)) = (bits.kind(), flips.kind()) else { return None };
    let K::Binary(BinaryOp::Shr, shifted, last) = sign.kind() else { return None };
    let dtype = e.dtype();
    let is_scalar = |e: &Expr, s: Scalar| matches!(e.kind(), K::Scalar(found) if *found == s);
    let found = matches!(dtype, DType::I32 | DType::I64)
        && of == x
        && shifted == bits
        && is_scalar(highest, Scalar::highest(dtype))
        && is_scalar(last, Scalar::from_i64(dtype, dtype.size() as i64 * 8 - 1));
    found.then_some((x, *nan))
}

/// The key of a float. What is NaN is told by its bits: a branch a float would be the alternative.
#[inline(always)]
pub(super) fn key_of_f32(x: f32, nan: i32) -> i32 {
    let bits = x.to_bits() as i32;
    let key = bits ^ ((bits >> 31) & i32::MAX);
    if bits & i32::MAX > f32::INFINITY.to_bits() as i32 { nan } else { key }
}

/// The same of 64 bits.
#[inline(always)]
fn key_of_f64(x: f64, nan: i64) -> i64 {
    let bits = x.to_bits() as i64;
    let key = bits ^ ((bits >> 63) & i64::MAX);
    if bits & i64::MAX > f64::INFINITY.to_bits() as i64 { nan } else { key }
}

/// The keys of `n` floats.
pub(super) fn keys<'x>(n: usize, x: &Lanes<'_>, nan: Scalar) -> Lanes<'x> {
    match nan {
        Scalar::I32(nan) => map1(n, x, |x| key_of_f32(x, nan)),
        Scalar::I64(nan) => map1(n, x, |x| key_of_f64(x, nan)),
        other => unreachable!("bug: keys of {:?}", other.dtype()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::node::Recipe;
    use crate::graph::plan::plan;
    use crate::{Device, RaggedTensor};

    #[test]
    fn an_extreme_reduces_keys() {
        let device = Device::cpu();
        let x = RaggedTensor::from_nested(vec![vec![1f32], vec![2., 3.]], &device).expect("valid");
        for extreme in [x.erased().reduce_max(1, false), x.erased().reduce_min(1, false)] {
            let extreme = extreme.expect("recorded");
            let node = extreme.numbers("test").expect("numbers").clone();
            let limits = node.backend().plan_limits();
            let steps = plan(&[node], limits).steps;
            let keys = |recipe: &Recipe| matches!(recipe, Recipe::Reduce { value, .. } if recognized(value).is_some());
            assert!(steps.iter().any(|step| keys(&step.recipe)), "{steps:?}");
        }
    }

    #[test]
    fn keys_have_the_order_of_their_floats() {
        let ascending = vec![f32::NEG_INFINITY, f32::MIN, -1., -1e-45, -0., 0., 1e-45, 1., f32::MAX, f32::INFINITY];
        let mut floats = ascending;
        let n = floats.len();
        floats.extend([f32::NAN, -f32::NAN]);
        let Lanes::I32(keys) = keys(n + 2, &Lanes::F32(floats.into()), Scalar::I32(i32::MAX)) else {
            panic!("keys are integers")
        };
        assert!(keys[..n].is_sorted_by(|a, b| a < b), "{:?}", &keys[..]);
        assert_eq!(keys[n..], [i32::MAX; 2]);
    }
}
