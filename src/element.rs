//! Element types at compile time.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::tensor::HostValues;

/// The element type of a tensor of byte strings: `RaggedTensor<Str>`. On the host an element is a `Vec<u8>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Str {}

/// A type that tensors can hold.
pub trait Element: sealed::Sealed + Send + Sync + 'static {
    /// The run-time name of this type.
    const DTYPE: DType;
    /// One element on the host.
    type Host: Clone + std::fmt::Debug + PartialEq + Send + Sync;
    /// Host values of this type.
    fn wrap(values: Vec<Self::Host>) -> HostValues;
    /// The values, if they are of this type.
    fn unwrap(values: HostValues) -> Option<Vec<Self::Host>>;
    /// The values, borrowed, if they are of this type.
    fn values(values: &HostValues) -> Option<&[Self::Host]>;
}

/// An element type of numbers, including bools.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number",
    label = "expected numbers or bools",
    note = "tensors of two dtypes: cast one of them, `&x.cast::<f32>()? + &y`",
    note = "strings are no numbers: `x.to_hash_bucket_fast(n)` and `x.fingerprint64()` make numbers of them"
)]
pub trait Number: Element + Copy + bytemuck::NoUninit + Into<crate::graph::scalar::Scalar> {}

/// An element type that sums of two elements are defined for: integers, floats, and strings, which are concatenated.
pub trait Summable: Element {}

impl Summable for Str {}

/// An element type that sums and products are defined for: integers and floats.
pub trait Arithmetic: Number + Summable {
    /// The type of true quotients: floats' own type, f32 for integers of 8 and 16 bits, f64 for wider ones.
    type Quotient: FloatElement;
}

/// An integer element type.
pub trait IntegerElement: Arithmetic {}

/// A float element type.
pub trait FloatElement: Arithmetic {}

/// An element type with negative numbers.
pub trait SignedElement: Arithmetic {}

/// An element type made of bits: integers and bools.
pub trait BitElement: Number {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($t:ty, $host:ty => $v:ident),*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {
            const DTYPE: DType = DType::$v;
            type Host = $host;
            fn wrap(values: Vec<$host>) -> HostValues {
                HostValues::$v(values)
            }
            fn unwrap(values: HostValues) -> Option<Vec<$host>> {
                match values {
                    HostValues::$v(v) => Some(v),
                    _ => None,
                }
            }
            fn values(values: &HostValues) -> Option<&[$host]> {
                match values {
                    HostValues::$v(v) => Some(v),
                    _ => None,
                }
            }
        }
    )*};
}
element!(
    bool, bool => Bool, u8, u8 => U8, i8, i8 => I8, u16, u16 => U16, i16, i16 => I16, i32, i32 => I32, u32, u32 => U32,
    i64, i64 => I64, u64, u64 => U64, f16, f16 => F16, bf16, bf16 => BF16, f32, f32 => F32, f64, f64 => F64,
    Str, Vec<u8> => Str
);

macro_rules! number {
    ($($t:ty),*) => {$(impl Number for $t {})*};
}
number!(bool, u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32, f64);

/// Whether `Q` is the type that [`DType::quotient`] says of `T`.
pub(crate) const fn is_quotient_of<Q: Element, T: Element>() -> bool {
    matches!(T::DTYPE.quotient(), Some(dtype) if dtype as u8 == Q::DTYPE as u8)
}

macro_rules! arithmetic {
    ($($t:ty => $quotient:ty),*) => {$(
        impl Summable for $t {}
        impl Arithmetic for $t {
            type Quotient = $quotient;
        }
        const _: () = assert!(is_quotient_of::<$quotient, $t>());
    )*};
}
arithmetic!(
    u8 => f32, i8 => f32, u16 => f32, i16 => f32, i32 => f64, u32 => f64, i64 => f64, u64 => f64,
    f16 => f16, bf16 => bf16, f32 => f32, f64 => f64
);

macro_rules! marked {
    ($marker:ident: $($t:ty),*) => {$(impl $marker for $t {})*};
}
marked!(IntegerElement: u8, i8, u16, i16, i32, u32, i64, u64);
marked!(FloatElement: f16, bf16, f32, f64);
marked!(SignedElement: i8, i16, i32, i64, f16, bf16, f32, f64);
marked!(BitElement: bool, u8, i8, u16, i16, i32, u32, i64, u64);
