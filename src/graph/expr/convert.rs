//! Conversions between dtypes, of values and of bits.

use super::ExprKind;
use crate::dtype::DType;
use crate::graph::Expr;
use crate::graph::handles::{Handles, ParamHandle};
use crate::graph::scalar::Scalar;

impl<R: Handles> Expr<R> {
    /// Converts the value to another dtype. Conversions from and to a narrow dtype go through the dtype in which it is
    /// computed, since backends implement no others.
    pub(crate) fn cast(self, dtype: DType) -> Self {
        let (from, inside) = (self.dtype().computes_in(), dtype.computes_in());
        if self.dtype() == dtype {
            return self;
        }
        if from != self.dtype() {
            let computed = self.as_param().and_then(|p| p.computed(|s| Some(s.widened())));
            let wide = match (self.kind(), computed) {
                (ExprKind::Scalar(s), _) => Self::scalar(s.widened()),
                (_, Some((param, dtype))) => Self::new(ExprKind::Param(param), dtype),
                _ => Self::new(ExprKind::Cast(self), from),
            };
            return wide.cast(dtype);
        }
        if inside == dtype {
            return Self::new(ExprKind::Cast(self), dtype);
        }
        if let ExprKind::Cast(narrow) = self.kind()
            && narrow.dtype() == dtype
            && from == inside
        {
            return narrow.clone();
        }
        let wide = if dtype.is_float() {
            self.round_to_odd_f32(dtype)
        } else if from.is_float() {
            // Clamps to the narrow dtype's range, which saturates.
            let (low, high) = (Scalar::lowest(dtype).widened(), Scalar::highest(dtype).widened());
            self.cast(inside).max(Self::scalar(low)).min(Self::scalar(high))
        } else {
            self.cast(inside)
        };
        Self::new(ExprKind::Cast(wide), dtype)
    }

    /// This number as an f32 that rounds to `dtype`, a narrow float, as the number itself does: rounded to odd where
    /// f32 has too few digits.
    fn round_to_odd_f32(self, dtype: DType) -> Self {
        let from = self.dtype();
        // Integers that f32 cannot represent are beyond the range of f16.
        let digits_are_lost = from == DType::F64 || dtype == DType::BF16 && from.is_integer() && from.size() >= 4;
        if !digits_are_lost {
            return self.cast(DType::F32);
        }
        // Rounding to odd takes the neighbour with an odd last bit, so that an inexact number never becomes a tie.
        let near = self.clone().cast(DType::F32);
        let (bits, back) = (near.clone().bitcast(DType::U32), near.cast(from));
        let zero = Self::scalar(Scalar::from_i64(from, 0));
        let outwards = back.clone().lt(self.clone()).ne(self.clone().lt(zero));
        let one = || Self::u32(1);
        let next = outwards.select(bits.clone().add(one()), bits.clone().sub(one()));
        let stays = back.eq(self).or(bits.clone().and(one()).ne(Self::u32(0)));
        stays.select(bits, next).bitcast(DType::F32)
    }

    /// The number that the expression is a rounding to odd of: see [`Self::round_to_odd_f32`].
    pub(crate) fn as_rounded_to_odd(&self) -> Option<&Self> {
        let ExprKind::Bitcast(bits) = self.kind() else { return None };
        let ExprKind::Select(_, near, _) = bits.kind() else { return None };
        let ExprKind::Bitcast(near) = near.kind() else { return None };
        let ExprKind::Cast(number) = near.kind() else { return None };
        let is_rounded = number.dtype() == DType::F64 && number.clone().round_to_odd_f32(DType::F16) == *self;
        is_rounded.then_some(number)
    }

    /// The same number, through which no derivative is taken.
    pub(crate) fn without_gradient(self) -> Self {
        let dtype = self.dtype();
        let bits = match (dtype.is_float(), dtype.size()) {
            (false, _) => return self,
            (true, 2) => DType::U16,
            (true, 4) => DType::U32,
            (true, _) => DType::U64,
        };
        self.bitcast(bits).bitcast(dtype)
    }

    /// The bits as another dtype of the same width.
    pub(crate) fn bitcast(self, dtype: DType) -> Self {
        use DType::{BF16, F16, I8, I16, U16};
        match (self.dtype(), dtype) {
            (from, to) if from == to => self,
            (I8, _) | (_, I8) | (U16, I16) | (I16, U16) => self.cast(dtype),
            (F16 | BF16, I16 | F16 | BF16) | (I16, F16 | BF16) => self.bitcast(U16).bitcast(dtype),
            _ => Self::new(ExprKind::Bitcast(self), dtype),
        }
    }
}
