//! Reductions of typed values.

use half::{bf16, f16};

use crate::element::{Number, is_quotient_of};

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
        const _: () = assert!(is_quotient_of::<$mean, $t>());
    )*};
}
averaged!(
    u8 => f32, i8 => f32, u16 => f32, i16 => f32, i32 => f64, u32 => f64, i64 => f64, u64 => f64,
    f16 => f16, bf16 => bf16, f32 => f32, f64 => f64
);
