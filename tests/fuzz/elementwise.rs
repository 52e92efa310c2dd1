//! Element-wise operations.

use ragged::opt::keep;
use ragged::{DType, Result, Seed, Tensor};

use crate::op::{Op, Subject, op};
use crate::random::Random;

type Unary = (&'static str, fn(&Tensor) -> Result<Tensor>);
type Binary = (&'static str, fn(&Tensor, &Tensor) -> Result<Tensor>);

macro_rules! unary {
    ($($name:ident)+) => { [$((stringify!($name), |x| x.$name())),+] };
}
macro_rules! binary {
    ($($name:ident)+) => { [$((stringify!($name), |x, y| x.$name(y))),+] };
}

const FLOATS: &[Unary] = &unary! {
    acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor is_finite is_inf is_nan log log1p log_sigmoid
    reciprocal reciprocal_no_nan rsqrt sigmoid sin sinh softplus softsign sqrt stop_gradient tan tanh elu selu silu erfc erfinv
    erfcinv ndtri lgamma digamma bessel_i0 bessel_i0e bessel_i1 bessel_i1e
};
const NUMBERS: &[Unary] = &unary! { abs sign square round relu relu6 negative ones_like zeros_like };
const OF_TWO_NUMBERS: &[Binary] = &binary! {
    add subtract multiply truediv floordiv floormod truncatediv truncatemod pow maximum minimum squared_difference less
    less_equal greater greater_equal
};
const OF_TWO_FLOATS: &[Binary] = &binary! {
    divide_no_nan multiply_no_nan atan2 nextafter xlogy xlog1py xdivy sigmoid_cross_entropy_with_logits
};
const OF_TWO_INTEGERS: &[Binary] = &binary! { bitwise_and bitwise_or bitwise_xor left_shift right_shift };
const OF_TWO_BOOLS: &[Binary] = &binary! { logical_and logical_or logical_xor equal not_equal };
/// Binary operations.
const WITH_A_COLUMN: &[Binary] = &binary! { add subtract multiply maximum minimum equal };

fn one((name, f): Unary) -> Op {
    op(name, move |x, _| f(x))
}

/// A binary operation on two tensors of the pool, or more often on a tensor and one of its shape, since shapes of two
/// tensors are rarely compatible.
fn two(random: &mut Random, (name, f): Binary) -> Op {
    match random.below(4) {
        0 => op(name, f),
        1 => op(format!("{name} of its reverse"), move |x, _| f(x, &x.reverse(0)?.broadcast_like(x)?)),
        2 => op(format!("{name} of its greatest"), move |x, _| f(x, &x.reduce_max(keep(-1))?)),
        _ => op(format!("{name} of itself"), move |x, _| f(x, x)),
    }
}

fn cast(random: &mut Random, has_f64: bool) -> Op {
    let wide = [DType::I32, DType::U8, DType::F32, DType::F64, DType::I64, DType::U32, DType::Bool, DType::U64];
    let narrow = [DType::I8, DType::U16, DType::I16, DType::F16, DType::BF16];
    let to = if random.once_in(3) { random.of(&narrow) } else { random.of(&wide) };
    let to = if to == DType::F64 && !has_f64 { DType::U64 } else { to };
    match random.below(4) {
        0 => op(format!("saturate_cast to {to}"), move |x, _| x.saturate_cast(to)),
        1 => op(format!("bitcast to {to}"), move |x, _| x.bitcast(to)),
        _ => op(format!("cast to {to}"), move |x, _| x.cast(to)),
    }
}

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    if random.once_in(6) {
        return cast(random, x.has_f64);
    }
    if x.dtype == DType::Bool {
        return match random.below(4) {
            0 => op("logical_not", |x, _| x.logical_not()),
            1 => op("select", |x, y| x.select(y, x)),
            _ => {
                let f = random.of(OF_TWO_BOOLS);
                two(random, f)
            }
        };
    }
    match random.below(9) {
        0 | 1 if x.dtype.is_float() => one(random.of(FLOATS)),
        2 if x.dtype.is_float() => match random.below(5) {
            0 => op("leaky_relu", |x, _| x.leaky_relu(0.3)),
            1 => op("gelu", |x, _| x.gelu()),
            2 => op("approximate gelu", |x, _| x.gelu_tanh()),
            3 => op("check_numerics", |x, _| x.check_numerics("a chain")),
            _ => {
                let seed = random.next();
                op(format!("dropout {seed}"), move |x, _| x.dropout(0.25, Seed(seed)))
            }
        },
        3 if x.dtype.is_float() => {
            let f = random.of(OF_TWO_FLOATS);
            two(random, f)
        }
        0 | 1 if x.dtype.is_integer() => {
            let f = random.of(OF_TWO_INTEGERS);
            two(random, f)
        }
        2 if x.dtype.is_integer() => op("bitwise_invert", |x, _| x.bitwise_invert()),
        3 | 4 => one(random.of(NUMBERS)),
        5 => {
            let (name, f) = random.of(WITH_A_COLUMN);
            op(format!("{name} of a column"), move |x, _| f(x, &x.reduce_min(keep(-1))?))
        }
        // A product and a sum, whose bits depend on contraction.
        6 => op("x * x - sum", |x, _| x.multiply(x)?.subtract(&x.reduce_sum(keep(-1))?)),
        _ => {
            let f = random.of(OF_TWO_NUMBERS);
            two(random, f)
        }
    }
}
