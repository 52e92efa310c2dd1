//! Integer arguments: axes, indices, sizes and counts of any integer type.

use crate::error::{Error, Result};

/// An integer type of the host: axes, indices, sizes and counts are arguments of any such type. An index beyond `i64`
/// counts as `i64::MAX`, which is out of range everywhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer",
    label = "expected an integer",
    note = "axes are an integer, a list of integers, or `..` for all axes: `x.reduce_sum(..)`",
    note = "indices, sizes and counts are integers of any type, such as `2` or `n as i64`"
)]
pub trait Integer: sealed::Sealed + Copy {
    /// The value as an i64, saturated at `i64::MAX`.
    fn saturating_i64(self) -> i64;
    /// The values as they are, if they are i64.
    #[doc(hidden)]
    fn as_i64s(_: &[Self]) -> Option<&[i64]> {
        None
    }
}

mod sealed {
    pub trait Sealed {
        /// The value, saturated at `i128::MAX`.
        fn saturating_i128(self) -> i128;
    }
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {
            fn saturating_i128(self) -> i128 {
                i128::try_from(self).unwrap_or(i128::MAX)
            }
        }
        impl Integer for $t {
            fn saturating_i64(self) -> i64 {
                i64::try_from(self).unwrap_or(if self > 0 { i64::MAX } else { i64::MIN })
            }
        }
    )*};
}
integer!(i8, u8, i16, u16, i32, u32, u64, i128, u128, isize, usize);

impl sealed::Sealed for i64 {
    fn saturating_i128(self) -> i128 {
        self.into()
    }
}
impl Integer for i64 {
    fn saturating_i64(self) -> i64 {
        self
    }
    fn as_i64s(all: &[Self]) -> Option<&[i64]> {
        Some(all)
    }
}

/// The argument `name` as a size or count; a value beyond u64 counts as `u64::MAX`.
///
/// # Errors
/// A negative argument.
#[track_caller]
pub(crate) fn non_negative(op: &'static str, name: &str, value: impl Integer) -> Result<u64> {
    let value = value.saturating_i128();
    if value < 0 {
        return Err(Error::argument(op, format!("{name} must not be negative, but is {value}")));
    }
    Ok(u64::try_from(value).unwrap_or(u64::MAX))
}

/// The argument `name` as a count of which any number beyond u32 means the same: all of a row.
///
/// # Errors
/// A negative argument.
#[track_caller]
pub(crate) fn saturating_u32(op: &'static str, name: &str, value: impl Integer) -> Result<u32> {
    Ok(u32::try_from(non_negative(op, name, value)?).unwrap_or(u32::MAX))
}
