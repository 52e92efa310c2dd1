//! Signatures of element functions, from those of Rust functions.

use crate::dtype::DType;
use crate::element::{Element, Number};

/// An element type that is a scalar type of core WGSL: bool, i32, u32 or f32.
pub trait WgslElement: Number + sealed::Word {}

/// The signature of an element function: `fn(A) -> R` to `fn(A, B, C, D) -> R` over types that are [`WgslElement`].
pub trait ElementSignature: sealed::DTypes + 'static {}

/// A Rust function or closure with the signature `S`.
pub trait ElementClosure<S>: sealed::Run<S> + Send + Sync + 'static {}

pub(super) mod sealed {
    /// A value as one word.
    pub trait Word: Copy {
        fn from_word(word: u32) -> Self;
        fn to_word(self) -> u32;
    }

    /// The dtypes of a signature.
    pub trait DTypes {
        const PARAMETERS: &'static [crate::DType];
        const RESULT: crate::DType;
    }

    /// Application to blocks of words.
    pub trait Run<S> {
        /// Fills `results`; each of the arguments has as many elements.
        fn run(&self, arguments: &[&[u32]], results: &mut [u32]);
    }
}

macro_rules! words {
    ($($t:ty, $word:ident => $from:expr, $value:ident => $to:expr;)*) => {$(
        impl WgslElement for $t {}
        impl sealed::Word for $t {
            #[inline(always)]
            fn from_word($word: u32) -> Self {
                $from
            }
            #[inline(always)]
            fn to_word(self) -> u32 {
                let $value = self;
                $to
            }
        }
    )*};
}
words! {
    bool, w => w != 0, v => u32::from(v);
    i32, w => w.cast_signed(), v => v.cast_unsigned();
    u32, w => w, v => v;
    f32, w => f32::from_bits(w), v => v.to_bits();
}

macro_rules! signatures {
    ($($($name:ident: $t:ident),+;)*) => {$(
        impl<$($t: WgslElement,)+ R: WgslElement> ElementSignature for fn($($t),+) -> R {}

        impl<$($t: WgslElement,)+ R: WgslElement> sealed::DTypes for fn($($t),+) -> R {
            const PARAMETERS: &'static [DType] = &[$(<$t as Element>::DTYPE),+];
            const RESULT: DType = <R as Element>::DTYPE;
        }

        impl<F, $($t: WgslElement,)+ R: WgslElement> ElementClosure<fn($($t),+) -> R> for F where
            F: Fn($($t),+) -> R + Send + Sync + 'static
        {
        }

        impl<F, $($t: WgslElement,)+ R: WgslElement> sealed::Run<fn($($t),+) -> R> for F
        where
            F: Fn($($t),+) -> R + Send + Sync + 'static,
        {
            fn run(&self, arguments: &[&[u32]], results: &mut [u32]) {
                let n = results.len();
                let &[$($name),+] = arguments else { unreachable!("bug: {} arguments", arguments.len()) };
                $(let $name = &$name[..n];)+
                for (k, result) in results.iter_mut().enumerate() {
                    *result = self($($t::from_word($name[k])),+).to_word();
                }
            }
        }
    )*};
}
signatures! {
    a: A;
    a: A, b: B;
    a: A, b: B, c: C;
    a: A, b: B, c: C, d: D;
}
