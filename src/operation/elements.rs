//! The dtypes of the element types of a declaration.

use crate::dtype::DType;

/// The dtype of an element type, or the dtypes of all element types that implement a trait.
macro_rules! dtypes {
    (of $elem:ty) => { &[<$elem as $crate::element::Element>::DTYPE] };
    (with $bound:path) => {
        $crate::operation::elements::dtypes!(
            $bound: bool, u8, i8, u16, i16, i32, u32, i64, u64, half::f16, half::bf16, f32, f64, $crate::element::Str
        )
    };
    ($bound:path: $($t:ty),+) => {{
        #[allow(dead_code, reason = "read for its constant, never made")]
        struct Type<T>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "all types may have the trait")]
        trait Fallback {
            const HAS_TRAIT: bool = false;
        }
        impl<T> Fallback for Type<T> {}
        // Where the bound holds, this constant hides the one of `Fallback`.
        impl<T: $bound> Type<T> {
            const HAS_TRAIT: bool = true;
        }
        const ALL: &[(bool, $crate::dtype::DType)] =
            &[$((<Type<$t>>::HAS_TRAIT, <$t as $crate::element::Element>::DTYPE)),+];
        const CHOSEN: [$crate::dtype::DType; $crate::operation::elements::count(ALL)] =
            $crate::operation::elements::chosen(ALL);
        &CHOSEN
    }};
}
pub(crate) use dtypes;

/// How many entries are chosen.
pub(crate) const fn count(all: &[(bool, DType)]) -> usize {
    let (mut n, mut k) = (0, 0);
    while k < all.len() {
        n += all[k].0 as usize;
        k += 1;
    }
    n
}

/// The dtypes of the chosen entries.
pub(crate) const fn chosen<const N: usize>(all: &[(bool, DType)]) -> [DType; N] {
    let mut out = [DType::Bool; N];
    let (mut n, mut k) = (0, 0);
    while k < all.len() {
        if all[k].0 {
            out[n] = all[k].1;
            n += 1;
        }
        k += 1;
    }
    out
}
