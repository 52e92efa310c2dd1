//! Element-wise operations.

use ragged::DType;
use ragged::opt::clamped;

use crate::table::laws;

/// The entries of operations whose only operand is the row, and of those with another row or a number.
macro_rules! all {
    ($($kind:ident: $($one:ident)* ; $($two:ident)* ;)+ $(; $($law:tt)*)?) => {
        laws! {
            $(
                $($one $kind |x, y, k, t| x.$one();)*
                $($two $kind |x, y, k, t| Ok(vec![x.$two(y)?, x.$two(x)?]);)*
            )+
            $($($law)*)?
        }
    };
}
all! {
    Floats:
        abs sign square round relu relu6 negative acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfinv erfcinv
        ndtri lgamma digamma bessel_i0 bessel_i0e bessel_i1 bessel_i1e exp expm1 floor log log1p log_sigmoid reciprocal
        reciprocal_no_nan rsqrt sigmoid sin sinh softplus softsign sqrt stop_gradient tan tanh elu selu silu is_nan is_inf
        is_finite gelu gelu_tanh ones_like zeros_like;
        subtract floordiv floormod pow maximum minimum squared_difference add truediv divide_no_nan
        multiply multiply_no_nan atan2 nextafter xlogy xlog1py xdivy sigmoid_cross_entropy_with_logits equal not_equal
        less less_equal greater greater_equal;
    Integers:
        bitwise_invert as_string;
        bitwise_and bitwise_or bitwise_xor left_shift right_shift;
    ;
    truncatediv Integers |x, y, k, t| x.truncatediv(&y.maximum(1)?);
    truncatemod Integers |x, y, k, t| x.truncatemod(&y.maximum(1)?);
    logical_not Integers |x, y, k, t| x.greater(1)?.logical_not();
    logical_and Integers |x, y, k, t| x.greater(1)?.logical_and(&y.greater(2)?);
    logical_or Integers |x, y, k, t| x.greater(1)?.logical_or(&y.greater(2)?);
    logical_xor Integers |x, y, k, t| x.greater(1)?.logical_xor(&y.greater(2)?);
    leaky_relu Floats |x, y, k, t| x.leaky_relu(0.1);
    clip_by_value Floats |x, y, k, t| x.clip_by_value(-0.5f32, 1.5f32);
    check_numerics Floats |x, y, k, t| x.check_numerics("finite");
    cast Integers |x, y, k, t| x.cast(DType::F32);
    saturate_cast Integers |x, y, k, t| x.subtract(3)?.saturate_cast(DType::U8);
    bitcast Floats |x, y, k, t| x.bitcast(DType::U32);
    bitcast Integers |x, y, k, t| x.bitcast(DType::U8);
    bitcast Integers |x, y, k, t| x.bitcast(DType::I64);
    one_hot Integers |x, y, k, t| x.one_hot(3, 1.0f32, 0.0f32);
    one_hot Integers |x, y, k, t| x.one_hot(ragged::opt::along(3, 0), 1.0f32, 0.0f32);
    select Floats |x, y, k, t| x.greater(0.0f32)?.select(x, y);
    select Floats |x, y, k, t| x.greater(0.0f32)?.select(0.5f32, y);
    histogram_bins Floats |x, y, k, t| x.histogram_bins(clamped(0.0f32..3.0f32), 4);
    fingerprint64 Strings |x, y, k, t| x.fingerprint64();
    to_hash_bucket_fast Strings |x, y, k, t| x.to_hash_bucket_fast(100);
    to_hash_bucket_strong Strings |x, y, k, t| x.to_hash_bucket_strong(100, [1, 2]);
    to_hash_bucket Strings |x, y, k, t| x.to_hash_bucket(100);
}
