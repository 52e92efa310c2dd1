//! Misuse of elementwise operations, scans, reductions and segment reductions: wrong dtypes and wrong rows.

use ragged::{DType, ElementFunction, Tensor};

use crate::{Misuse, no, read};

/// Operations on numbers or bools, called on strings.
macro_rules! of_strings {
    ($($name:ident)+) => { &[$((stringify!($name), |s| no(s.words.$name()))),+] };
}
pub const UNARY: &[(&str, Misuse)] = of_strings! {
    abs sign square round relu relu6 negative acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfinv erfcinv
    ndtri lgamma digamma bessel_i0 bessel_i0e bessel_i1 bessel_i1e exp expm1 floor log log1p log_sigmoid reciprocal
    reciprocal_no_nan rsqrt sigmoid sin sinh softplus softsign sqrt stop_gradient tan tanh elu selu silu is_nan is_inf is_finite
    logical_not bitwise_invert gelu gelu_tanh
};

/// Operations on pairs of numbers or bools, called on strings and numbers.
macro_rules! of_strings_and_numbers {
    ($($name:ident)+) => { &[$((stringify!($name), |s| no(s.words.$name(&s.t)))),+] };
}
pub const BINARY: &[(&str, Misuse)] = of_strings_and_numbers! {
    subtract multiply floordiv floormod truncatediv truncatemod pow maximum minimum squared_difference add truediv
    divide_no_nan multiply_no_nan atan2 nextafter xlogy xlog1py xdivy equal not_equal less less_equal greater
    greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift
};

/// Operations of typed numbers, called with a tensor of other rows.
macro_rules! of_other_rows {
    ($($name:ident)+) => { &[$((stringify!($name), |s| no(s.x.$name(&s.other_rows)))),+] };
}
pub const TYPED: &[(&str, Misuse)] = of_other_rows! {
    subtract multiply floordiv floormod truncatediv truncatemod pow maximum minimum squared_difference add truediv
    divide_no_nan multiply_no_nan atan2 nextafter xlogy xlog1py xdivy equal not_equal less less_equal greater
    greater_equal
};

/// Reductions and scans along an axis that the tensor does not have.
macro_rules! along_no_axis {
    ($($name:ident)+) => { &[$((stringify!($name), |s| no(s.t.$name(7)))),+] };
}
pub const AXES: &[(&str, Misuse)] = along_no_axis! {
    reduce_sum reduce_prod reduce_min reduce_max reduce_mean reduce_variance reduce_std reduce_logsumexp
    reduce_euclidean_norm count_nonzero argmin argmax cumsum cumprod cummin cummax softmax log_softmax sort argsort
    unique unique_with_counts n_unique median diff local_index reverse squeeze expand_dims row_lengths bounding_size
};

/// Segment reductions whose ids are strings.
macro_rules! by_strings {
    ($($name:ident)+; $($sorted:ident)+) => {
        &[$((stringify!($name), |s| no(s.t.$name(&s.words, 3))),)+ $((stringify!($sorted), |s| no(s.t.$sorted(&s.words))),)+]
    };
}
pub const SEGMENTS: &[(&str, Misuse)] = by_strings! {
    unsorted_segment_sum unsorted_segment_prod unsorted_segment_min unsorted_segment_max unsorted_segment_mean
    unsorted_segment_sqrt_n;
    segment_sum segment_prod segment_min segment_max segment_mean
};

/// The others.
pub const OTHERS: &[(&str, Misuse)] = &[
    ("reduce_all", |s| no(s.t.reduce_all(7))),
    ("reduce_mean_as", |s| no(s.t.reduce_mean_as(DType::F32, 7))),
    ("reduce_mean_as of integers", |s| no(s.t.reduce_mean_as(DType::I32, 1))),
    ("reduce_variance_as", |s| no(s.t.reduce_variance_as(DType::I32, 1))),
    ("reduce_std_as", |s| no(s.t.reduce_std_as(DType::F32, 7))),
    ("sparse_segment_mean_as", |s| no(s.t.sparse_segment_mean_as(DType::F32, &s.t, &s.ints))),
    ("segment_mean_as", |s| no(s.t.segment_mean_as(DType::F32, &s.words))),
    ("unsorted_segment_mean_as", |s| no(s.t.unsorted_segment_mean_as(DType::Bool, &s.ints, 3))),
    ("reduce_any", |s| no(s.flags.reduce_any(7))),
    ("sigmoid_cross_entropy_with_logits", |s| no(s.words.sigmoid_cross_entropy_with_logits(&s.t))),
    ("leaky_relu", |s| no(s.words.leaky_relu(0.1))),
    ("add_n", |s| no(Tensor::add_n(&[&s.t, &s.words]))),
    ("add_n of nothing", |_| no(Tensor::add_n(&[] as &[Tensor]))),
    ("saturate_cast", |s| no(s.words.saturate_cast(DType::U8))),
    ("dropout", |s| no(s.x.dropout(1.5, ragged::Seed(1)))),
    ("quantile", |s| no(s.words.quantile(0.5, 1))),
    ("histogram", |s| no(s.x.histogram(1, 1.0..0.0, 4))),
    ("histogram_bins", |s| no(s.x.histogram_bins(1.0..0.0, 4))),
    ("bincount", |s| no(s.words.bincount(1, 3))),
    ("bincount_weighted", |s| no(s.ints.erased().bincount_weighted(&s.words, 1, 3))),
    ("bincount_sparse_weighted", |s| no(s.ints.erased().bincount_sparse_weighted(&s.words, 1, 3))),
    ("map_elements", |s| {
        let square = ElementFunction::new("square_", "fn square_(x: f32) -> f32 { return x * x; }", |x: f32| x * x)?;
        no(s.words.map_elements(&square))
    }),
    ("ElementFunction::new of no function", |_| {
        no(ElementFunction::new("f", "fn f(x: f32) -> f32 { return y; }", |x: f32| x))
    }),
    ("ElementFunction::check", |s| {
        let other = ElementFunction::new("other_", "fn other_(x: f32) -> f32 { return x; }", |x: f32| x + 1.0)?;
        no(other.check(&s.device))
    }),
    ("ElementFunction::with_derivative", |_| {
        let twice = ElementFunction::new("twice_", "fn twice_(x: f32) -> f32 { return x + x; }", |x: f32| x + x)?;
        no(twice.with_derivative(1, |x| x[0].ones_like()))
    }),
    ("ElementFunction::with_derivative of integers", |_| {
        let text = "fn shifted_(x: f32, by: i32) -> f32 { return x + f32(by); }";
        let shifted = ElementFunction::new("shifted_", text, |x: f32, by: i32| x + by as f32)?;
        no(shifted.with_derivative(1, |x| x[0].ones_like()))
    }),
    ("ElementFunction::call", |s| {
        let sum = "fn sum_(x: f32, y: f32) -> f32 { return x + y; }";
        no(ElementFunction::new("sum_", sum, |x: f32, y: f32| x + y)?.call(&s.x, &s.other_rows))
    }),
    ("division by zero, on the device", |s| read(s.ints.erased().floormod(0))),
    ("segment ids that decrease, on the device", |s| {
        let ids = ragged::RaggedTensor::from_nested([2, 1], &s.device)?;
        read(s.dense.segment_sum(&ids.add(0)?).map(Into::into))
    }),
];
