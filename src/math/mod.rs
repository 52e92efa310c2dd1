//! Elementary functions, written once for every backend.
//!
//! Each is a program over the operations of [`machine`]: additions, multiplications, selections and bits. [`native`]
//! computes it and [`wgsl`] writes it as a shader function, and both give the same bits (but for the payload of a NaN).
//! Division, square root, remainder and rounding are exact on both sides, where the native one is the standard
//! library's.
//!
//! How far a result may be from the exact one, in units of its last place, for f32 and for f64; the tests read the
//! bounds here.
//!
//! | function | bound | |
//! |---|---|---|
//! | `div`, `sqrt`, `floor`, `ceil`, `trunc`, `rint`, `rem` | 0.5 | rounded correctly |
//! | `exp`, `log`, `log1p`, `log2`, `pow` | 1 | |
//! | `expm1` | 1.5 | |
//! | `sin`, `cos`, `atan` | 1 | for all arguments, however large |
//! | `tan`, `asin`, `acos`, `atan2` | 1.5 | |
//! | `sinh`, `acosh` | 2 | |
//! | `cosh`, `asinh`, `atanh` | 1.5 | |
//! | `tanh`, `sigmoid` | 1 | |
//! | `log_sigmoid`, `softplus`, `erf`, `rsqrt` | 1.5 | |
//! | `erfc`, `erfinv`, `erfcinv`, `ndtri` | 2 | down to the least float |
//! | `lgamma` | 2 | below 0 of the sum of the magnitudes of 1, the result, and that of the opposite argument |
//! | `digamma` | 2 | below 0 it is 3 of the like sum |
//! | `bessel_i0`, `bessel_i0e`, `bessel_i1`, `bessel_i1e` | 2 | |
#![allow(dead_code)]

mod activation;
mod arc;
mod bessel;
mod coefficients;
mod divide;
mod exp;
mod gamma;
mod gauss;
mod hyperbolic;
mod log;
mod machine;
pub(crate) mod narrow;
mod native;
mod parts;
mod pieces;
mod power;
mod round;
mod special_coefficients;
#[cfg(test)]
mod tests;
mod trig;
mod wgsl;

use std::sync::OnceLock;

use self::wgsl::{FloatRegister, Source};
use crate::DType;

/// An elementary function of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum MathFn {
    Exp,
    Expm1,
    Log,
    Log1p,
    Log2,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Sigmoid,
    /// The sigmoid's logarithm.
    LogSigmoid,
    /// `log(1 + exp(x))`.
    Softplus,
    /// The error function.
    Erf,
    /// 1 less the error function.
    Erfc,
    /// The inverse of the error function.
    Erfinv,
    /// The inverse of 1 less the error function.
    Erfcinv,
    /// The inverse of the standard normal distribution's cumulative function.
    Ndtri,
    /// The logarithm of the gamma function's magnitude.
    Lgamma,
    /// The derivative of [`MathFn::Lgamma`].
    Digamma,
    /// The modified Bessel function of the first kind and order 0.
    BesselI0,
    /// The same over `exp(|x|)`.
    BesselI0e,
    /// The modified Bessel function of the first kind and order 1.
    BesselI1,
    /// The same over `exp(|x|)`.
    BesselI1e,
    Sqrt,
    /// `1 / sqrt(x)`.
    Rsqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest whole number, halves to even.
    Rint,
    /// The quotient of two floats.
    Div,
    /// C's `fmod`: the remainder, with the sign of the dividend.
    Rem,
    Pow,
    /// The angle of the point `(y, x)`: the ordinate comes first.
    Atan2,
}

impl MathFn {
    /// Every function.
    pub(crate) const ALL: [Self; 41] = [
        Self::Exp,
        Self::Expm1,
        Self::Log,
        Self::Log1p,
        Self::Log2,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
        Self::Sigmoid,
        Self::LogSigmoid,
        Self::Softplus,
        Self::Erf,
        Self::Erfc,
        Self::Erfinv,
        Self::Erfcinv,
        Self::Ndtri,
        Self::Lgamma,
        Self::Digamma,
        Self::BesselI0,
        Self::BesselI0e,
        Self::BesselI1,
        Self::BesselI1e,
        Self::Sqrt,
        Self::Rsqrt,
        Self::Floor,
        Self::Ceil,
        Self::Trunc,
        Self::Rint,
        Self::Div,
        Self::Rem,
        Self::Pow,
        Self::Atan2,
    ];

    /// Whether it takes two arguments.
    pub(crate) const fn is_binary(self) -> bool {
        matches!(self, Self::Div | Self::Rem | Self::Pow | Self::Atan2)
    }

    /// The short name: `exp`, `log1p`, `atan2`, ...
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Exp => "exp",
            Self::Expm1 => "expm1",
            Self::Log => "log",
            Self::Log1p => "log1p",
            Self::Log2 => "log2",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Tanh => "tanh",
            Self::Asinh => "asinh",
            Self::Acosh => "acosh",
            Self::Atanh => "atanh",
            Self::Sigmoid => "sigmoid",
            Self::LogSigmoid => "log_sigmoid",
            Self::Softplus => "softplus",
            Self::Erf => "erf",
            Self::Erfc => "erfc",
            Self::Erfinv => "erfinv",
            Self::Erfcinv => "erfcinv",
            Self::Ndtri => "ndtri",
            Self::Lgamma => "lgamma",
            Self::Digamma => "digamma",
            Self::BesselI0 => "bessel_i0",
            Self::BesselI0e => "bessel_i0e",
            Self::BesselI1 => "bessel_i1",
            Self::BesselI1e => "bessel_i1e",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Trunc => "trunc",
            Self::Rint => "rint",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::Pow => "pow",
            Self::Atan2 => "atan2",
        }
    }
}

/// Applies `$run` to the program of a function of one argument; `$own` lists the functions that each backend has in its
/// own way.
macro_rules! unary_program {
    ($f:expr, $run:ident, $float:ty, {$($own:ident => $program:expr),*}) => {
        match $f {
            $(MathFn::$own => $run!($program),)*
            MathFn::Exp => $run!(exp::exp::<$float>),
            MathFn::Expm1 => $run!(exp::expm1::<$float>),
            MathFn::Log => $run!(log::log::<$float>),
            MathFn::Log1p => $run!(log::log1p::<$float>),
            MathFn::Log2 => $run!(log::log2::<$float>),
            MathFn::Sin => $run!(trig::sin::<$float>),
            MathFn::Cos => $run!(trig::cos::<$float>),
            MathFn::Tan => $run!(trig::tan::<$float>),
            MathFn::Asin => $run!(arc::asin::<$float>),
            MathFn::Acos => $run!(arc::acos::<$float>),
            MathFn::Atan => $run!(arc::atan::<$float>),
            MathFn::Sinh => $run!(hyperbolic::sinh::<$float>),
            MathFn::Cosh => $run!(hyperbolic::cosh::<$float>),
            MathFn::Tanh => $run!(hyperbolic::tanh::<$float>),
            MathFn::Asinh => $run!(hyperbolic::asinh::<$float>),
            MathFn::Acosh => $run!(hyperbolic::acosh::<$float>),
            MathFn::Atanh => $run!(hyperbolic::atanh::<$float>),
            MathFn::Sigmoid => $run!(activation::sigmoid::<$float>),
            MathFn::LogSigmoid => $run!(activation::log_sigmoid::<$float>),
            MathFn::Softplus => $run!(activation::softplus::<$float>),
            MathFn::Erf => $run!(activation::erf::<$float>),
            MathFn::Erfc => $run!(gauss::erfc::<$float>),
            MathFn::Erfinv => $run!(gauss::erfinv::<$float>),
            MathFn::Erfcinv => $run!(gauss::erfcinv::<$float>),
            MathFn::Ndtri => $run!(gauss::ndtri::<$float>),
            MathFn::Lgamma => $run!(gamma::lgamma::<$float>),
            MathFn::Digamma => $run!(gamma::digamma::<$float>),
            MathFn::BesselI0 => $run!(bessel::i0::<$float>),
            MathFn::BesselI0e => $run!(bessel::i0e::<$float>),
            MathFn::BesselI1 => $run!(bessel::i1::<$float>),
            MathFn::BesselI1e => $run!(bessel::i1e::<$float>),
            MathFn::Rsqrt => $run!(divide::reciprocal_root::<$float>),
            MathFn::Div | MathFn::Rem | MathFn::Pow | MathFn::Atan2 => panic!("{} takes two arguments", $f.name()),
        }
    };
}

/// The same for two arguments.
macro_rules! binary_program {
    ($f:expr, $run:ident, $float:ty, {$($own:ident => $program:expr),*}) => {
        match $f {
            $(MathFn::$own => $run!($program),)*
            MathFn::Pow => $run!(power::pow::<$float>),
            MathFn::Atan2 => $run!(arc::atan2::<$float>),
            _ => panic!("{} takes one argument", $f.name()),
        }
    };
}

/// The functions of one width: by value, and over slices, where the loop is compiled for each function.
macro_rules! native_functions {
    ($float:ident, $unary:ident, $binary:ident, $unary_slice:ident, $binary_slice:ident) => {
        /// The function of one argument.
        pub(crate) fn $unary(f: MathFn) -> fn($float) -> $float {
            macro_rules! pointer {
                ($program:expr) => {
                    |x| $program(x)
                };
            }
            unary_program!(f, pointer, $float, {
                Sqrt => $float::sqrt, Floor => $float::floor, Ceil => $float::ceil, Trunc => $float::trunc,
                Rint => $float::round_ties_even
            })
        }

        /// The function of two arguments.
        pub(crate) fn $binary(f: MathFn) -> fn($float, $float) -> $float {
            macro_rules! pointer {
                ($program:expr) => {
                    |x, y| $program(x, y)
                };
            }
            binary_program!(f, pointer, $float, { Div => std::ops::Div::div, Rem => std::ops::Rem::rem })
        }

        /// The function of one argument, of every element.
        #[inline(always)]
        pub(crate) fn $unary_slice(f: MathFn, x: &[$float], out: &mut [$float]) {
            macro_rules! each {
                ($program:expr) => {
                    out.iter_mut().zip(x).for_each(|(out, &x)| *out = $program(x))
                };
            }
            assert_eq!(x.len(), out.len());
            unary_program!(f, each, $float, {
                Sqrt => $float::sqrt, Floor => $float::floor, Ceil => $float::ceil, Trunc => $float::trunc,
                Rint => $float::round_ties_even
            })
        }

        /// The function of two arguments, of every pair of elements.
        pub(crate) fn $binary_slice(f: MathFn, x: &[$float], y: &[$float], out: &mut [$float]) {
            macro_rules! each {
                ($program:expr) => {
                    out.iter_mut().zip(x.iter().zip(y)).for_each(|(out, (&x, &y))| *out = $program(x, y))
                };
            }
            assert!(x.len() == out.len() && y.len() == out.len());
            binary_program!(f, each, $float, { Div => std::ops::Div::div, Rem => std::ops::Rem::rem })
        }
    };
}

native_functions!(f32, f32_unary, f32_binary, f32_unary_slice, f32_binary_slice);
native_functions!(f64, f64_unary, f64_binary, f64_unary_slice, f64_binary_slice);

/// Writes a function down for one width.
fn record<const BITS: u32>(f: MathFn) -> Source {
    let name = wgsl::name(f, BITS);
    macro_rules! write {
        ($program:expr) => {
            wgsl::record::<BITS>(&name, 1, |x| $program(x[0]))
        };
    }
    macro_rules! write_two {
        ($program:expr) => {
            wgsl::record::<BITS>(&name, 2, |x| $program(x[0], x[1]))
        };
    }
    type R<const BITS: u32> = FloatRegister<BITS>;
    if f == MathFn::Rem {
        let text = if BITS == 32 { divide::REM_F32 } else { divide::REM_F64 };
        return Source { text: text.to_owned(), calls: Vec::new() };
    }
    if f.is_binary() {
        binary_program!(f, write_two, R<BITS>, { Div => divide::divide })
    } else {
        unary_program!(f, write, R<BITS>, {
            Sqrt => divide::square_root,
            Floor => round::floor, Ceil => round::ceil, Trunc => round::trunc, Rint => round::rint
        })
    }
}

/// What is known of a function in WGSL, made on first use.
fn source(f: MathFn, dtype: DType) -> &'static (String, Source) {
    static SOURCES: [[OnceLock<(String, Source)>; 2]; MathFn::ALL.len()] =
        [const { [const { OnceLock::new() }; 2] }; MathFn::ALL.len()];
    let [single, double] = &SOURCES[f as usize];
    match dtype {
        DType::F32 => single.get_or_init(|| (wgsl::name(f, 32), record::<32>(f))),
        DType::F64 => double.get_or_init(|| (wgsl::name(f, 64), record::<64>(f))),
        other => panic!("{} of {other}", f.name()),
    }
}

/// The name of a function in a module, like `rg_exp_f32`. Panics for a dtype that is not a float, as do the other two.
pub(crate) fn wgsl_name(f: MathFn, dtype: DType) -> &'static str {
    &source(f, dtype).0
}

/// The text that defines a function. The module defines `fn rg_zero() -> u32`, a zero that its compiler does not know
/// to be one, and the functions of [`wgsl_depends`].
pub(crate) fn wgsl_source(f: MathFn, dtype: DType) -> &'static str {
    &source(f, dtype).1.text
}

/// The functions of the same dtype that a function calls. They call none themselves.
pub(crate) fn wgsl_depends(f: MathFn, dtype: DType) -> &'static [MathFn] {
    &source(f, dtype).1.calls
}

/// `exp(x)`, for loops that are compiled around it.
#[inline(always)]
pub(crate) fn exp_f32(x: f32) -> f32 {
    exp::exp(x)
}

/// The same of 64 bits.
#[inline(always)]
pub(crate) fn exp_f64(x: f64) -> f64 {
    exp::exp(x)
}
