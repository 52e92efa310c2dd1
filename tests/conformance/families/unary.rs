//! The `unary` family.

use ragged::{DType, Device, Result, Scalar};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// Calls the method that the case names.
macro_rules! by_name {
    ($op:expr, $x:expr; $($name:ident)+) => {
        match $op {
            $(stringify!($name) => $x.$name(),)+
            other => return Got::unsupported(other),
        }
    };
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = &case.tensor(0, device)?;
    let answer = match case.op.as_str() {
        "leaky_relu" => x.leaky_relu(case.attr_f64("alpha").expect("alpha")),
        "gelu" if case.attr_bool("approximate") => x.gelu_tanh(),
        "gelu" => x.gelu(),
        "clip_by_value" => x.clip_by_value(bound(case, "lo", x.dtype()), bound(case, "hi", x.dtype())),
        "cast" => x.cast(case.attr_dtype("dtype").expect("dtype")),
        "saturate_cast" => x.saturate_cast(case.attr_dtype("dtype").expect("dtype")),
        "bitcast" => x.bitcast(case.attr_dtype("dtype").expect("dtype")),
        "check_numerics" => x.check_numerics("the case"),
        "map_flat_values.times_two_plus_one" => x.map_flat_values(|v| (v * 2)? + 1),
        "map_flat_values.normalize" => x.map_flat_values(|v| v / v.reduce_sum(..)?),
        "map_fn.normalize" => x.map_rows(|row| row / row.reduce_sum(..)?),
        "map_fn.reduce_sum" => x.map_rows(|row| row.reduce_sum(..)),
        "map_fn.range" => x.map_rows(ragged::Row::range),
        "map_fn.square" => x.map_rows(ragged::Row::square),
        "rint" => x.round(),
        op => by_name!(op, x;
            abs acos acosh asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil cos cosh digamma erf
            erfc erfinv lgamma ndtri exp expm1 floor is_finite is_inf is_nan log log1p
            log_sigmoid negative reciprocal reciprocal_no_nan round rsqrt sigmoid sign sin sinh softplus softsign
            sqrt square tan tanh elu relu relu6 selu silu ones_like zeros_like logical_not bitwise_invert
        ),
    };
    answer.map(Got::from)
}

/// A bound in the dtype.
fn bound(case: &Case, key: &str, dtype: DType) -> Scalar {
    Scalar::from_f64(dtype, case.attr_f64(key).expect("a bound"))
}
