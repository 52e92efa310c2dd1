//! Scalar operations of expressions. The semantics documented here are the specification of both backends.

use super::scalar::Scalar;
use crate::dtype::DType;
use crate::math::MathFn;

/// A scalar operation of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum UnaryOp {
    /// `-x`; integers wrap.
    Neg,
    /// `|x|`; `abs(MIN) = MIN` for signed integers.
    Abs,
    /// Logical complement of a bool, bitwise complement of an integer.
    Not,
    /// Number of set bits of the u32.
    CountOnes,
    /// The f32 or f64 as an unsigned integer of the same order, both zeros as one; the greatest one for NaN.
    SortKey,
    /// Whether the float is NaN (by its bits).
    IsNan,
    /// Whether the float is an infinity.
    IsInf,
    /// Whether the float is neither NaN nor infinite.
    IsFinite,
    /// A function of [`crate::math`].
    Math(MathFn),
}

/// A scalar operation of two operands of one dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum BinaryOp {
    /// `a + b`; integers wrap.
    Add,
    /// `a - b`; integers wrap.
    Sub,
    /// `a * b`; integers wrap.
    Mul,
    /// `a / b`: floats round correctly; integers truncate, `a / 0 = 0`, `MIN / -1 = MIN`.
    Div,
    /// Remainder with the sign of `a`: floats as C's `fmod`; integers `a - (a / b) * b`, `a % 0 = 0`.
    Rem,
    /// `a / b` of positions (u32). The operands contain no arithmetic that wrapped, so that `(q * k + m) / k` folds to
    /// `q`. Never applied to user data, whose products may wrap.
    IndexDiv,
    /// `a % b` of positions, under the same guarantee.
    IndexRem,
    /// The smaller one; NaN if either is; -0 is below +0.
    Min,
    /// The larger one; NaN if either is; -0 is below +0.
    Max,
    /// Logical and bitwise and.
    And,
    /// Logical and bitwise or.
    Or,
    /// Logical and bitwise exclusive or.
    Xor,
    /// `a << b`; 0 if `b`, taken as unsigned, is at least the width.
    Shl,
    /// `a >> b`, arithmetic for signed types; 0 or -1 if `b` is at least the width.
    Shr,
    /// `a == b`, false on NaN.
    Eq,
    /// `a != b`, true on NaN.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a ** b`: floats as C's `pow`; integers by squaring with wrap-around, 0 for a negative exponent.
    Pow,
    /// The angle of the point (b, a).
    Atan2,
    /// `a * b` of floats; +0 if `b` is 0, whatever `a` is. Its derivatives are those of the product, also where `b` is 0.
    MulNoNan,
}

impl BinaryOp {
    /// The result's dtype for operands of dtype `d`.
    pub(crate) const fn result(self, d: DType) -> DType {
        match self {
            Self::Eq | Self::Ne | Self::Lt | Self::Le => DType::Bool,
            _ => d,
        }
    }
}

/// Hash function of a row of bytes, with a u64 result. Keys are numbers, or parameters of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum HashOp<K = u64> {
    /// FarmHash's Fingerprint64.
    Fingerprint,
    /// SipHash-2-4 with that key.
    Sip {
        /// The two halves of the key.
        key: [K; 2],
    },
    /// MurmurHash64A with that seed.
    Murmur {
        /// The seed.
        seed: K,
    },
}

impl<K> HashOp<K> {
    /// The function with other keys.
    pub(crate) fn map<L>(&self, mut f: impl FnMut(&K) -> L) -> HashOp<L> {
        match self {
            Self::Fingerprint => HashOp::Fingerprint,
            Self::Sip { key } => HashOp::Sip { key: key.each_ref().map(f) },
            Self::Murmur { seed } => HashOp::Murmur { seed: f(seed) },
        }
    }
}

/// Operation that reduces a row to one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum ReduceOp {
    /// Sum; 0 for an empty row.
    Sum,
    /// Product; 1 for an empty row.
    Prod,
    /// Least value; the greatest value of the dtype for an empty row.
    Min,
    /// Greatest value; the lowest value of the dtype for an empty row.
    Max,
}

impl ReduceOp {
    /// Identity element: the result of an empty row, and the initial value of every fold. Infinite for minima and maxima
    /// of floats.
    pub(crate) fn identity(self, dtype: DType) -> Scalar {
        match self {
            Self::Sum => Scalar::from_i64(dtype, 0),
            Self::Prod => Scalar::from_i64(dtype, 1),
            Self::Min if dtype.is_float() => Scalar::from_f64(dtype, f64::INFINITY),
            Self::Max if dtype.is_float() => Scalar::from_f64(dtype, f64::NEG_INFINITY),
            Self::Min => Scalar::highest(dtype),
            Self::Max => Scalar::lowest(dtype),
        }
    }
}
