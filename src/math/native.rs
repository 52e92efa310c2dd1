//! The native machine: numbers of the CPU. All functions are inlined and branch-free, so that loops over slices
//! vectorize.

use std::num::Wrapping;

use super::machine::{Float, Mask, Word};

impl Mask for bool {}

macro_rules! word {
    ($word:ty, $wide:ty) => {
        impl Word for Wrapping<$word> {
            type Mask = bool;
            const BITS: u32 = <$word>::BITS;

            #[inline(always)]
            fn lit(value: u64) -> Self {
                Self(value as $word)
            }
            #[inline(always)]
            fn shl(self, by: Self) -> Self {
                Self(self.0.wrapping_shl(by.0 as u32))
            }
            #[inline(always)]
            fn shr(self, by: Self) -> Self {
                Self(self.0.wrapping_shr(by.0 as u32))
            }
            #[inline(always)]
            fn is(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn below(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn wide_mul(self, other: Self) -> (Self, Self) {
                let product = <$wide>::from(self.0) * <$wide>::from(other.0);
                (Self((product >> <$word>::BITS) as $word), Self(product as $word))
            }
        }
    };
}

word!(u32, u64);
word!(u64, u128);

macro_rules! float {
    ($float:ty, $word:ty) => {
        impl Float for $float {
            type Word = Wrapping<$word>;
            type Mask = bool;
            const P: u32 = <$float>::MANTISSA_DIGITS;

            #[inline(always)]
            fn lit(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn bits(self) -> Self::Word {
                Wrapping(self.to_bits())
            }
            #[inline(always)]
            fn from_bits(bits: Self::Word) -> Self {
                <$float>::from_bits(bits.0)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
        }
    };
}

float!(f32, u32);
float!(f64, u64);
