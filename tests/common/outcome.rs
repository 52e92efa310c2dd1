//! Outcomes of operations as comparable text.

use std::fmt::Write as _;

use ragged::{HostTensor, HostValues, Result, bf16, f16};

/// The bits of a tensor, with one pattern for all NaNs.
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

/// Whether the values are equal bit for bit, where all NaNs are equal.
pub fn same_bits(a: &HostValues, b: &HostValues) -> bool {
    macro_rules! floats {
        ($a:expr, $b:expr) => {
            $a.len() == $b.len()
                && $a.iter().zip($b).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
        };
    }
    match (a, b) {
        (HostValues::F16(a), HostValues::F16(b)) => floats!(a, b),
        (HostValues::BF16(a), HostValues::BF16(b)) => floats!(a, b),
        (HostValues::F32(a), HostValues::F32(b)) => floats!(a, b),
        (HostValues::F64(a), HostValues::F64(b)) => floats!(a, b),
        _ => a == b,
    }
}

/// The text of a tensor or of the kind of an error. (Of several failed conditions, any may be reported.)
pub fn outcome<T>(result: &Result<T>, text: impl Fn(&T) -> String) -> String {
    match result {
        Ok(v) => text(v),
        Err(e) => format!("{:?}", std::mem::discriminant(e)),
    }
}
