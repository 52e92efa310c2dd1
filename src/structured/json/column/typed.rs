//! Numbers of a given dtype, each checked to fit it.

use half::{bf16, f16};

use super::Refusal;
use crate::tensor::HostValues;

#[cold]
fn unfit(values: &HostValues, value: impl std::fmt::Display) -> Refusal {
    format!("{value} is not a value of {}", values.dtype())
}

/// Appends an integer. Floats round it to the nearest one.
pub(super) fn push_integer(values: &mut HostValues, value: i128) -> Result<(), Refusal> {
    macro_rules! checked {
        ($v:expr) => {
            match value.try_into() {
                Ok(value) => $v.push(value),
                Err(_) => return Err(unfit(values, value)),
            }
        };
    }
    match values {
        HostValues::U8(v) => checked!(v),
        HostValues::I8(v) => checked!(v),
        HostValues::U16(v) => checked!(v),
        HostValues::I16(v) => checked!(v),
        HostValues::I32(v) => checked!(v),
        HostValues::U32(v) => checked!(v),
        HostValues::I64(v) => checked!(v),
        HostValues::U64(v) => checked!(v),
        // An i128 that comes from 64 bits converts to f32 and f64 with one rounding.
        HostValues::F32(v) => v.push(value as f32),
        HostValues::F64(v) => v.push(value as f64),
        HostValues::F16(_) | HostValues::BF16(_) => return push_float(values, value as f64),
        HostValues::Bool(_) | HostValues::Str(_) => return Err(unfit(values, value)),
    }
    Ok(())
}

/// Appends a float. A float that overflows the dtype does not fit; integers take only the float -0, which is how an
/// integer -0 is read.
pub(super) fn push_float(values: &mut HostValues, value: f64) -> Result<(), Refusal> {
    let fits = |rounded: f64| rounded.is_finite() || !value.is_finite();
    match values {
        HostValues::F64(v) => v.push(value),
        HostValues::F32(v) if fits((value as f32).into()) => v.push(value as f32),
        HostValues::F16(v) if fits(f16::from_f64(value).into()) => v.push(f16::from_f64(value)),
        HostValues::BF16(v) if fits(bf16::from_f64(value).into()) => v.push(bf16::from_f64(value)),
        _ if value == 0.0 && value.is_sign_negative() && values.dtype().is_integer() => {
            return push_integer(values, 0);
        }
        _ => return Err(unfit(values, value)),
    }
    Ok(())
}

/// Appends values of the same dtype; the error names both dtypes.
pub(super) fn append(values: &mut HostValues, other: HostValues) -> Result<(), Refusal> {
    macro_rules! each {
        ($($kind:ident)+) => {
            match (values, other) {
                $((HostValues::$kind(a), HostValues::$kind(mut b)) => a.append(&mut b),)+
                (a, b) => return Err(format!("{} and {}", a.dtype(), b.dtype())),
            }
        };
    }
    each!(Bool U8 I8 U16 I16 I32 U32 I64 U64 F16 BF16 F32 F64 Str);
    Ok(())
}
