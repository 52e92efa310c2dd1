//! Elementary functions: one definition for all backends.
//!
//! Each function is a program over the operations of [`machine`]: additions, multiplications, selections and bit
//! operations. [`native`] computes the program and [`wgsl`] translates it to a shader function; both give the same bits
//! except for the payload of a NaN. Division, square root, remainder and rounding are exact on both sides; the native
//! side uses the standard library.
//!
//! Error bounds in units of the last place (ulp), for f32 and f64. The tests parse this table.
//!
//! | function | bound | |
//! |---|---|---|
//! | `div`, `sqrt`, `floor`, `ceil`, `trunc`, `rint`, `rem` | 0.5 | rounded correctly |
//! | `exp` | 0.8 | 0.6 unless the result is subnormal |
//! | `log`, `log1p`, `log2`, `pow` | 1 | |
//! | `expm1` | 1.5 | |
//! | `sin`, `cos`, `atan` | 1 | for all arguments, however large |
//! | `tan`, `asin`, `acos`, `atan2` | 1.5 | |
//! | `sinh`, `acosh` | 2 | |
//! | `cosh`, `asinh`, `atanh` | 1.5 | |
//! | `tanh`, `sigmoid` | 1 | |
//! | `log_sigmoid`, `softplus`, `erf`, `rsqrt` | 1.5 | |
//! | `erfc`, `erfinv`, `erfcinv`, `ndtri` | 2 | down to the smallest float |
//! | `lgamma` | 2 | below 0: ulps of the sum of 1 and the magnitudes of the results for `x` and `-x` |
//! | `digamma` | 2 | below 0: 3 ulps of the same sum |
//! | `trigamma` | 2 | |
//! | `bessel_i0`, `bessel_i0e`, `bessel_i1`, `bessel_i1e` | 2 | |

mod activation;
mod arc;
mod bessel;
mod coefficients;
mod divide;
mod double_word;
mod exp;
mod function;
mod fused;
mod gamma;
mod gauss;
mod hyperbolic;
mod log;
mod machine;
pub(crate) mod narrow;
mod native;
mod piecewise;
mod power;
#[cfg(feature = "gpu")]
mod program;
mod round;
mod special_coefficients;
#[cfg(test)]
mod tests;
mod trig;
mod wgsl;

use std::sync::OnceLock;

pub(crate) use self::function::MathFn;
pub(crate) use self::fused::fma_by_doubles;
#[cfg(feature = "gpu")]
use self::program::{FloatValue, Program};
#[cfg(feature = "gpu")]
pub(crate) use self::wgsl::opaque;
use self::wgsl::{FloatRegister, WgslFunction};
use crate::DType;

/// Applies `$run` to the program of a unary function; `$own` lists the functions with a backend-specific program.
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
            MathFn::Trigamma => $run!(gamma::trigamma::<$float>),
            MathFn::BesselI0 => $run!(bessel::i0::<$float>),
            MathFn::BesselI0e => $run!(bessel::i0e::<$float>),
            MathFn::BesselI1 => $run!(bessel::i1::<$float>),
            MathFn::BesselI1e => $run!(bessel::i1e::<$float>),
            MathFn::Rsqrt => $run!(divide::reciprocal_root::<$float>),
            MathFn::Div | MathFn::Rem | MathFn::Pow | MathFn::Atan2 => panic!("{} takes two arguments", $f.name()),
        }
    };
}

/// Binary counterpart of `unary_program`.
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

/// Functions of one float width: function pointers, and slice loops that are monomorphized per function.
macro_rules! native_functions {
    ($float:ident, $unary:ident, $binary:ident, $unary_slice:ident) => {
        /// Function pointer of a unary function.
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

        /// Function pointer of a binary function.
        pub(crate) fn $binary(f: MathFn) -> fn($float, $float) -> $float {
            macro_rules! pointer {
                ($program:expr) => {
                    |x, y| $program(x, y)
                };
            }
            binary_program!(f, pointer, $float, { Div => std::ops::Div::div, Rem => std::ops::Rem::rem })
        }

        /// Applies a unary function elementwise: by a loop, since `for_each` is not compiled for AVX2 with its caller.
        #[inline(always)]
        pub(crate) fn $unary_slice(f: MathFn, x: &[$float], out: &mut [$float]) {
            macro_rules! each {
                ($program:expr) => {
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = $program(x);
                    }
                };
            }
            assert_eq!(x.len(), out.len());
            unary_program!(f, each, $float, {
                Sqrt => $float::sqrt, Floor => $float::floor, Ceil => $float::ceil, Trunc => $float::trunc,
                Rint => $float::round_ties_even
            })
        }
    };
}

native_functions!(f32, f32_unary, f32_binary, f32_unary_slice);
native_functions!(f64, f64_unary, f64_binary, f64_unary_slice);

/// Translates a function to WGSL for one float width.
fn translate<const BITS: u32>(f: MathFn) -> WgslFunction {
    let name = wgsl::name(f, BITS);
    macro_rules! write {
        ($program:expr) => {
            wgsl::translate::<BITS>(&name, 1, |x| $program(x[0]))
        };
    }
    macro_rules! write_two {
        ($program:expr) => {
            wgsl::translate::<BITS>(&name, 2, |x| $program(x[0], x[1]))
        };
    }
    type R<const BITS: u32> = FloatRegister<BITS>;
    if f == MathFn::Rem {
        let text = if BITS == 32 { divide::REM_F32 } else { divide::REM_F64 };
        return WgslFunction { text: text.to_owned(), calls: Vec::new() };
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

/// Translates a function of doubles to a program.
#[cfg(feature = "gpu")]
fn translate_program(f: MathFn) -> Program {
    assert!(f != MathFn::Rem, "a remainder is no program");
    macro_rules! write {
        ($program:expr) => {
            program::translate(1, |x| $program(x[0]))
        };
    }
    macro_rules! write_two {
        ($program:expr) => {
            program::translate(2, |x| $program(x[0], x[1]))
        };
    }
    if f.is_binary() {
        binary_program!(f, write_two, FloatValue, { Div => divide::divide })
    } else {
        unary_program!(f, write, FloatValue, {
            Sqrt => divide::square_root,
            Floor => round::floor, Ceil => round::ceil, Trunc => round::trunc, Rint => round::rint
        })
    }
}

/// The program of a function of doubles, generated on first use, for an interpreter of doubles as pairs of words. Panics for
/// a remainder, which is a function of `shaders/lib/doubles.wgsl`, as are quotients, roots and rounded numbers.
#[cfg(feature = "gpu")]
pub(crate) fn program_f64(f: MathFn) -> &'static Program {
    static PROGRAMS: [OnceLock<Program>; MathFn::ALL.len()] = [const { OnceLock::new() }; MathFn::ALL.len()];
    PROGRAMS[f as usize].get_or_init(|| translate_program(f))
}

/// Name of the function of doubles that runs a program, as that of [`wgsl_name`].
#[cfg(feature = "gpu")]
pub(crate) fn name_f64(f: MathFn) -> &'static str {
    static NAMES: [OnceLock<String>; MathFn::ALL.len()] = [const { OnceLock::new() }; MathFn::ALL.len()];
    NAMES[f as usize].get_or_init(|| wgsl::name(f, 64))
}

/// The WGSL name and source of a function, generated on first use.
fn source(f: MathFn, dtype: DType) -> &'static (String, WgslFunction) {
    static SOURCES: [[OnceLock<(String, WgslFunction)>; 2]; MathFn::ALL.len()] =
        [const { [const { OnceLock::new() }; 2] }; MathFn::ALL.len()];
    let [single, double] = &SOURCES[f as usize];
    match dtype {
        DType::F32 => single.get_or_init(|| (wgsl::name(f, 32), translate::<32>(f))),
        DType::F64 => double.get_or_init(|| (wgsl::name(f, 64), translate::<64>(f))),
        other => panic!("{} of {other}", f.name()),
    }
}

/// Name of a function in a WGSL module, like `rg_exp_f32`. Like the other two functions, panics for a dtype that is not
/// f32 or f64.
pub(crate) fn wgsl_name(f: MathFn, dtype: DType) -> &'static str {
    &source(f, dtype).0
}

/// WGSL source of a function. The module must define `fn rg_zero() -> u32`, a zero that the shader compiler cannot
/// constant-fold, and the functions of [`wgsl_depends`].
pub(crate) fn wgsl_source(f: MathFn, dtype: DType) -> &'static str {
    &source(f, dtype).1.text
}

/// Functions of the same dtype that a function calls. Callees call no other functions.
pub(crate) fn wgsl_depends(f: MathFn, dtype: DType) -> &'static [MathFn] {
    &source(f, dtype).1.calls
}

/// `exp(x)` of an f32, for inlining into loops.
#[inline(always)]
pub(crate) fn exp_f32(x: f32) -> f32 {
    exp::exp(x)
}

/// `exp(x)` of an f64, for inlining into loops.
#[inline(always)]
pub(crate) fn exp_f64(x: f64) -> f64 {
    exp::exp(x)
}
