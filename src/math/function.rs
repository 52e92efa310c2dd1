//! The elementary functions, by name.

/// An elementary function of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
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
    /// Logarithm of the sigmoid.
    LogSigmoid,
    /// `log(1 + exp(x))`.
    Softplus,
    /// The error function.
    Erf,
    /// Complementary error function: `1 - erf(x)`.
    Erfc,
    /// Inverse of `erf`.
    Erfinv,
    /// Inverse of `erfc`.
    Erfcinv,
    /// Standard normal quantile (inverse CDF).
    Ndtri,
    /// Logarithm of the magnitude of the gamma function.
    Lgamma,
    /// Derivative of [`MathFn::Lgamma`].
    Digamma,
    /// Derivative of [`MathFn::Digamma`]; gradients alone use it.
    Trigamma,
    /// Modified Bessel function of the first kind, order 0.
    BesselI0,
    /// The previous function times `exp(-|x|)`.
    BesselI0e,
    /// Modified Bessel function of the first kind, order 1.
    BesselI1,
    /// The previous function times `exp(-|x|)`.
    BesselI1e,
    Sqrt,
    /// `1 / sqrt(x)`.
    Rsqrt,
    Floor,
    Ceil,
    Trunc,
    /// Rounds to the nearest whole number, halves to even.
    Rint,
    /// Quotient of two floats.
    Div,
    /// C's `fmod`: remainder with the sign of the dividend.
    Rem,
    Pow,
    /// Angle of the point `(y, x)`; the first argument is the ordinate.
    Atan2,
}

impl MathFn {
    /// Every function.
    pub(crate) const ALL: [Self; 42] = [
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
        Self::Trigamma,
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

    /// Whether the function takes two arguments.
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
            Self::Trigamma => "trigamma",
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
