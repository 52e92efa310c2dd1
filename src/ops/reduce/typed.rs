//! Reductions of typed values.

use half::{bf16, f16};

use crate::element::Number;
use crate::error::Result;
use crate::ops::IntoReduceAxes;
use crate::tensor::RaggedTensor;

/// An element type with a mean.
pub trait Averaged: Number {
    /// The float type of the mean.
    type Mean: Number;
}

macro_rules! averaged {
    ($($t:ty => $mean:ty),*) => {$(
        impl Averaged for $t {
            type Mean = $mean;
        }
    )*};
}
averaged!(
    u8 => f32, i8 => f32, u16 => f32, i16 => f32, i32 => f64, u32 => f64, i64 => f64, u64 => f64,
    f16 => f16, bf16 => bf16, f32 => f32, f64 => f64
);

macro_rules! forward {
    ($bound:ident: $($name:ident -> $out:ty),*) => {
        impl<T: $bound> RaggedTensor<T> {$(
            #[doc = concat!("[`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), ")")]
            /// of typed values.
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), ").")]
            #[track_caller]
            pub fn $name(&self, axis: impl IntoReduceAxes) -> Result<RaggedTensor<$out>> {
                self.erased().$name(axis)?.try_into()
            }
        )*}
    };
}
forward!(Averaged: reduce_sum -> T, reduce_prod -> T, reduce_min -> T, reduce_max -> T);
forward!(Averaged: reduce_mean -> T::Mean, reduce_variance -> T::Mean, reduce_std -> T::Mean);
forward!(Averaged: reduce_euclidean_norm -> T::Mean);
forward!(Number: reduce_all -> bool, reduce_any -> bool);
