//! Element-wise operations.

use ragged::opt::keep;
use ragged::{DType, RaggedTensor, Result, Seed, Tensor};

use crate::table::table;

/// Entries of operations of one tensor whose derivatives are smooth between 0.25 and 1.75.
macro_rules! smooth {
    ($($name:ident)+; $($others:tt)+) => {
        table! { elements on [Tensor RaggedTensor Row] {
            $($name DRLI |x, y| x.$name();)+
            $($others)+
        }}
    };
}

smooth! {
    square negative asinh atan cos cosh erf erfc erfcinv lgamma digamma bessel_i0 bessel_i0e bessel_i1 bessel_i1e exp
    expm1 log log1p log_sigmoid reciprocal reciprocal_no_nan rsqrt sigmoid sin sinh softplus softsign sqrt tanh silu
    gelu gelu_tanh;
    tan DRLI |x, y| x.multiply(0.5)?.tan();
    abs DRLI |x, y| x.subtract(1.0)?.abs();
    relu DRLI |x, y| x.subtract(1.0)?.relu();
    relu6 DRLI |x, y| x.multiply(7.0)?.subtract(3.0)?.relu6();
    elu DRLI |x, y| x.subtract(1.0)?.elu();
    selu DRLI |x, y| x.subtract(1.0)?.selu();
    leaky_relu DRLI |x, y| x.subtract(1.0)?.leaky_relu(0.1);
    asin DRLI |x, y| x.multiply(0.5)?.asin();
    acos DRLI |x, y| x.multiply(0.5)?.acos();
    acosh DRLI |x, y| x.add(1.5)?.acosh();
    atanh DRLI |x, y| x.multiply(0.5)?.atanh();
    erfinv DRLI |x, y| x.multiply(0.5)?.erfinv();
    ndtri DRLI |x, y| x.multiply(0.5)?.ndtri();
    digamma R |x, y| x.subtract(2.1)?.digamma();
    lgamma R |x, y| x.subtract(2.1)?.lgamma();
    clip_by_value DRLI |x, y| x.square()?.clip_by_value(0.5, 1.5);
    check_numerics DRLI |x, y| x.square()?.check_numerics("finite");
    dropout DRLI |x, y| x.square()?.dropout(0.4, Seed(5));
    add_n DRLI |x, y| Of::add_n(&[x, y, x]);
    select DRLI |x, y| x.less(1.0)?.select(&x.exp()?, &y.square()?);
    select DRLI |x, y| x.less(y)?.select(0.5, &y.square()?);
    subtract R |x, y| x.subtract(0.5);
}

/// Entries of operations of two tensors: of tensors of one shape, and of operands that broadcast.
macro_rules! of_two {
    ($($name:ident)+) => {
        table! { operands on [Tensor RaggedTensor] {
            $(
                $name DRLI |x, y| x.$name(y);
                $name DR |x, y| x.$name(&y.add(1.0)?.reduce_mean(keep(1))?);
                $name L |x, y| x.$name(&y.add(1.0)?.reduce_mean(keep(2))?);
                $name DR |x, y| y.add(1.0)?.reduce_sum(keep(1))?.$name(x);
                $name L |x, y| y.add(1.0)?.reduce_sum(keep(2))?.$name(x);
                $name RI |x, y| x.$name(&y.reduce_mean(..)?);
                $name DR |x, y| x.$name(1.3);
                $name R |x, y| x.$name(&x.square()?.add(0.1)?);
            )+
        }}
        pub mod of_rows {
            $crate::table::table! { operands on [Row] {
                $(
                    $name DRLI |x, y| x.$name(y);
                    $name R |x, y| x.$name(&y.reduce_sum(..)?);
                )+
            }}
        }
    };
}

of_two! {
    add multiply floormod truncatemod pow maximum minimum squared_difference truediv divide_no_nan multiply_no_nan atan2
    xlogy xlog1py xdivy sigmoid_cross_entropy_with_logits subtract
}

table! { erased on [Tensor] {
    cast DRLI |x, y| x.square()?.cast(DType::F64);
    saturate_cast DRLI |x, y| x.square()?.saturate_cast(DType::F64);
    map_flat_values DRLI |x, y| x.map_flat_values(|x| x.exp());
    map_flat_values_of RLI |x, y| Tensor::map_flat_values_of(&[x, y], |x| x[0].multiply(&x[1]));
    map_rows DRLI |x, y| x.map_rows(|row| row.square()?.reduce_sum(..));
    map_rows RL |x, y| x.map_rows(|row| row.softmax(-1));
    map_rows_of DRLI |x, y| Tensor::map_rows_of(&[x, y], |rows| rows[0].multiply(&rows[1])?.reduce_sum(..));
    broadcast_to DRI |x, y| x.reduce_sum(keep(1))?.broadcast_to(y.ragged_shape());
    broadcast_to D |x, y| x.square()?.broadcast_to([2, 3, 4]);
    broadcast_like DRI |x, y| x.reduce_sum(keep(1))?.broadcast_like(y);
    broadcast_like RL |x, y| x.reduce_sum(..)?.broadcast_like(y);
}}

table! { typed on [RaggedTensor] {
    cast DRLI |x, y| x.square()?.cast::<f64>();
    saturate_cast DRLI |x, y| x.square()?.saturate_cast::<f64>();
    map_flat_values DRLI |x, y| x.map_flat_values(|x| x.exp());
    map_rows DRLI |x, y| {
        let sums: Result<RaggedTensor<f64>> = x.map_rows(|row| row.square()?.reduce_sum(..));
        sums
    };
    broadcast_to DRI |x, y| x.reduce_sum(keep(1))?.broadcast_to(y.ragged_shape());
    broadcast_like DRI |x, y| x.reduce_sum(keep(1))?.broadcast_like(y);
}}
