//! Each operation of floats, over ragged ranks 0 to 2, empty rows and inner dimensions.

use ragged::opt::{exclusive, keep, reversed};
use ragged::{Device, RaggedTensor, Result, Tensor, s};

use crate::differences::{check, rows, shaped};

/// Tensors of each layout: dense, ragged with empty rows, two levels, inner dimensions.
fn layouts(device: &Device) -> Vec<(&'static str, Tensor)> {
    vec![
        ("dense", shaped(&[], &[3, 4], device)),
        ("rows", rows(&[3, 0, 1, 4, 0], device)),
        ("levels", shaped(&[&[2, 0, 3], &[2, 1, 0, 3, 2]], &[], device)),
        ("inner", shaped(&[&[2, 0, 3]], &[2], device)),
    ]
}

/// Checks a function of one tensor in all layouts.
fn all(name: &str, f: impl Fn(&Tensor) -> Result<Tensor>) {
    for (layout, x) in layouts(&Device::cpu()) {
        check(&format!("{name} of {layout}"), &[x], true, &|x| f(&x[0]));
    }
}

/// Checks a function of one tensor in the layouts whose dimension 1 is ragged or uniform, without second derivatives.
macro_rules! operations {
    ($($test:ident: $($name:literal => |$x:ident| $value:expr;)+)+) => {$(
        #[test]
        fn $test() {
            $(all($name, |$x: &Tensor| $value);)+
        }
    )+};
}

operations! {
    elementwise:
    "exp" => |x| x.exp();
    "expm1" => |x| x.expm1();
    "log" => |x| x.log();
    "log1p" => |x| x.log1p();
    "sin" => |x| x.sin();
    "cos" => |x| x.cos();
    "tan" => |x| x.multiply(0.5)?.tan();
    "asin" => |x| x.multiply(0.5)?.asin();
    "acos" => |x| x.multiply(0.5)?.acos();
    "atan" => |x| x.atan();
    "sinh" => |x| x.sinh();
    "cosh" => |x| x.cosh();
    "tanh" => |x| x.tanh();
    "asinh" => |x| x.asinh();
    "acosh" => |x| x.add(1.5)?.acosh();
    "atanh" => |x| x.multiply(0.5)?.atanh();
    "sigmoid" => |x| x.sigmoid();
    "log_sigmoid" => |x| x.log_sigmoid();
    "softplus" => |x| x.softplus();
    "erf" => |x| x.erf();
    "erfc" => |x| x.erfc();
    "erfinv" => |x| x.multiply(0.5)?.erfinv();
    "ndtri" => |x| x.multiply(0.5)?.ndtri();
    "bessel_i0" => |x| x.bessel_i0();
    "bessel_i0e" => |x| x.bessel_i0e();
    "bessel_i1" => |x| x.bessel_i1();
    "bessel_i1e" => |x| x.bessel_i1e();
    "sqrt" => |x| x.sqrt();
    "rsqrt" => |x| x.rsqrt();
    "square" => |x| x.square();
    "reciprocal" => |x| x.reciprocal();
    "gelu" => |x| x.gelu();
    "abs" => |x| x.subtract(1.0)?.abs();
    "negative" => |x| x.negative();
    "power" => |x| x.pow(2.5);
    "power of a number" => |x| x.pow(x);
    "quotient" => |x| x.add(1.0)?.truediv(x);
    "atan2" => |x| x.atan2(&x.square()?);
    "maximum" => |x| x.maximum(1.0);
    "minimum" => |x| x.minimum(&x.square()?);
    "where" => |x| x.less(1.0)?.select(&x.exp()?, &x.square()?);

    reductions:
    "reduce_sum of rows" => |x| x.reduce_sum(1);
    "reduce_sum of columns" => |x| x.reduce_sum(0);
    "reduce_sum of all" => |x| x.reduce_sum(..);
    "reduce_mean of rows" => |x| x.square()?.reduce_mean(keep(1));
    "reduce_mean of columns" => |x| x.square()?.reduce_mean(0);
    "reduce_max of rows" => |x| x.square()?.reduce_max(-1);
    "reduce_min of columns" => |x| x.square()?.reduce_min(0);
    "reduce_prod of rows" => |x| x.reduce_prod(1);
    "reduce_prod of columns" => |x| x.reduce_prod(0);
    "reduce_logsumexp of rows" => |x| x.reduce_logsumexp(-1);
    "reduce_logsumexp of columns" => |x| x.reduce_logsumexp(0);
    "softmax" => |x| x.softmax(-1);
    "log_softmax" => |x| x.log_softmax(-1);

    places:
    "reverse" => |x| x.square()?.reverse(1);
    "reverse of all" => |x| x.square()?.reverse(..);
    "slice of rows" => |x| x.square()?.slice(s![.., 1..]);
    "slice of the ends of rows" => |x| x.square()?.slice(s![.., ..-1]);
    "slice by steps" => |x| x.square()?.slice(s![..;2, ..;-1]);
    "to_tensor" => |x| x.square()?.to_tensor(0.5);
    "tile" => |x| { let m: Vec<i64> = (0..x.rank() as i64).map(|k| 1 + k % 3).collect(); x.square()?.tile(&m) };
    "repeat" => |x| x.square()?.repeat(3, 1);
    "expand_dims" => |x| x.square()?.expand_dims(1);
    "concat of rows" => |x| Tensor::concat(&[x, &x.square()?], 0);
    "concat within rows" => |x| Tensor::concat(&[x, &x.square()?, x], 1);
    "stack" => |x| Tensor::stack(&[x, &x.square()?], 0);
    "gather" => |x| x.square()?.gather(RaggedTensor::from_nested([2i64, 0, 0, 1], &x.device())?.erased());
    "boolean_mask" => |x| x.square()?.boolean_mask(&x.less(1.0)?);
    "flat_values" => |x| x.square()?.flat_values();

    "dense concat of columns" => |x| {
        let dense = x.square()?.to_tensor(0)?;
        Tensor::concat(&[&dense, &dense.slice(s![.., 1..])?, &dense], 1)
    };

    scans:
    "cumsum" => |x| x.square()?.cumsum(1);
    "cumsum along columns" => |x| x.square()?.cumsum(0);
    "cumsum from the end" => |x| x.square()?.cumsum(exclusive(reversed(1)));
    "cummax" => |x| x.square()?.cummax(1);
}
