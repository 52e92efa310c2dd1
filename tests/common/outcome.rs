//! What came of a step, as text to be compared.

use std::fmt::Write as _;

use ragged::{HostTensor, HostValues, Result, bf16, f16};

/// The bits of a tensor, NaNs all one.
pub fn bits(t: &HostTensor) -> String {
    let mut out = format!("{:?} {:?} {:?} ", t.nested_row_splits, t.uniform_row_lengths, t.inner_shape);
    macro_rules! floats {
        ($all:expr, $nan:expr) => {
            for x in $all {
                write!(out, "{:x} ", if x.is_nan() { $nan } else { *x }.to_bits()).expect("a string takes text");
            }
        };
    }
    match &t.values {
        HostValues::F16(v) => floats!(v, f16::NAN),
        HostValues::BF16(v) => floats!(v, bf16::NAN),
        HostValues::F32(v) => floats!(v, f32::NAN),
        HostValues::F64(v) => floats!(v, f64::NAN),
        other => write!(out, "{other:?}").expect("a string takes text"),
    }
    out
}

/// What a tensor or an error is. Of several broken conditions any may be reported.
pub fn outcome<T>(result: &Result<T>, text: impl Fn(&T) -> String) -> String {
    match result {
        Ok(v) => text(v),
        Err(e) => format!("{:?}", std::mem::discriminant(e)),
    }
}
