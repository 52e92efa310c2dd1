//! What row reductions keep of the values seen so far. Twin of `backend/gpu/codegen/accumulate.rs`: the same bits.

use super::lanes::{Lane, Number};
use super::plain_rows::{PlainBlock, PlainRows};
use super::row_reduce::{LANES, SHORT, block_len, reduce_block, reduce_row};
use super::simd::{self, Loop};
use crate::math;

/// A monoid over values of type `V`. Merging any state with that of no values leaves it as it is.
pub trait Monoid<V>: Copy + Sync {
    /// What is kept.
    type State: Copy + Send + Sync;
    /// That of no values.
    fn identity(self) -> Self::State;
    /// That of the values so far and the next one.
    fn push(self, so_far: Self::State, next: V) -> Self::State;
    /// That of the values of both.
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;

    /// The states of a row of values, `inner` columns each, in the order of [`reduce_row`]. A monoid may have a faster way.
    fn row(self, values: &[V], inner: usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        reduce_row(values, inner, self, out);
    }

    /// The states of rows that lie one after another: the values of row `k` begin at value `start(k)`.
    fn rows(self, values: &[V], inner: usize, start: impl Fn(usize) -> usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        for (k, out) in out.chunks_exact_mut(inner).enumerate() {
            self.row(&values[start(k) * inner..start(k + 1) * inner], inner, out);
        }
    }

    /// The state of one block of a row of several.
    fn block(self, values: &[V], inner: usize, out: &mut [Self::State])
    where
        V: Copy,
    {
        reduce_block(values, inner, self, out);
    }
}

/// Values that are combined as they are.
#[derive(Clone, Copy)]
pub struct Plain<V, F> {
    /// What changes no value that a fold from it can give.
    pub identity: V,
    /// The operation.
    pub combine: F,
    /// Whether the order of the values matters to the result's bits.
    pub ordered: bool,
}

impl<V: Copy + Send + Sync, F: Fn(V, V) -> V + Copy + Sync> Monoid<V> for Plain<V, F> {
    type State = V;
    #[inline(always)]
    fn identity(self) -> V {
        self.identity
    }
    #[inline(always)]
    fn push(self, so_far: V, next: V) -> V {
        (self.combine)(so_far, next)
    }
    #[inline(always)]
    fn merge(self, a: V, b: V) -> V {
        (self.combine)(a, b)
    }

    fn rows(self, values: &[V], inner: usize, start: impl Fn(usize) -> usize, out: &mut [V]) {
        simd::run(PlainRows { plain: self, values, inner, start, out });
    }

    fn block(self, values: &[V], inner: usize, out: &mut [V]) {
        simd::run(PlainBlock { plain: self, values, inner, out });
    }
}

/// A float whose exponentials and moments are summed.
pub(super) trait Float: Lane + Number + Send + Sync {
    /// The integer of the same order: NaN above all.
    type Key: Copy + Ord + Send + Sync;
    const ONE: Self;
    const ZERO: Self;
    const NAN: Self;
    const LEAST: Self;
    const GREATEST: Self;
    fn key(self) -> Self::Key;
    fn of_key(key: Self::Key) -> Self;
    fn exp(self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($t:ident, $key:ident, $exp:path) => {
        impl Float for $t {
            type Key = $key;
            const ONE: Self = 1.0;
            const ZERO: Self = 0.0;
            const NAN: Self = $t::NAN;
            const LEAST: Self = $t::NEG_INFINITY;
            const GREATEST: Self = $t::INFINITY;
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                if self.is_nan() { $key::MAX } else { bits ^ ((bits >> ($key::BITS - 1)) & $key::MAX) }
            }
            #[inline(always)]
            fn of_key(key: $key) -> Self {
                $t::from_bits((key ^ ((key >> ($key::BITS - 1)) & $key::MAX)) as _)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}
float!(f32, i32, math::exp_f32);
float!(f64, i64, math::exp_f64);

/// The greatest value and the sum of the exponentials relative to it.
#[derive(Clone, Copy)]
pub(super) struct Exps<F: Float> {
    pub(super) greatest: F::Key,
    pub(super) sum: F,
}

/// The monoid of [`Exps`].
#[derive(Clone, Copy)]
pub(super) struct OfExps;

impl<F: Float> Monoid<F> for OfExps {
    type State = Exps<F>;
    #[inline(always)]
    fn identity(self) -> Exps<F> {
        Exps { greatest: F::LEAST.key(), sum: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: Exps<F>, next: F) -> Exps<F> {
        self.merge(so_far, Exps::of(next))
    }
    #[inline(always)]
    fn merge(self, a: Exps<F>, b: Exps<F>) -> Exps<F> {
        a.merged(b, apart::<F>(a.greatest, b.greatest).exp())
    }

    fn row(self, values: &[F], inner: usize, out: &mut [Exps<F>]) {
        match values.len() {
            // Rows that are folded as one have one lane.
            len if inner == 1 && len <= SHORT => out[0] = simd::run(ExpsOfBlock::<F, SHORT, 1>(values)),
            len if inner == 1 && len <= BLOCK => out[0] = simd::run(ExpsOfBlock::<F, BLOCK, LANES>(values)),
            _ => reduce_row(values, inner, self, out),
        }
    }

    fn block(self, values: &[F], inner: usize, out: &mut [Exps<F>]) {
        if inner == 1 {
            out[0] = simd::run(ExpsOfBlock::<F, BLOCK, LANES>(values));
        } else {
            reduce_block(values, inner, self, out);
        }
    }
}

/// How far the lesser of two is below the greater one. Equal infinities have no difference.
#[inline(always)]
fn apart<F: Float>(a: F::Key, b: F::Key) -> F {
    let (greatest, least) = (a.max(b), a.min(b));
    if least == greatest { F::ZERO } else { F::of_key(least).sub(F::of_key(greatest)) }
}

impl<F: Float> Exps<F> {
    /// That of one value: no number of exponentials is relative to what has no finite difference from itself.
    #[inline(always)]
    fn of(x: F) -> Self {
        let greatest = x.key();
        Self { greatest, sum: if greatest < F::GREATEST.key() { F::ONE } else { F::NAN } }
    }

    /// Both, where the lesser sum is to be scaled by that.
    #[inline(always)]
    fn merged(self, b: Self, scale: F) -> Self {
        let (stays, shrinks) = if self.greatest < b.greatest { (b.sum, self.sum) } else { (self.sum, b.sum) };
        Self { greatest: self.greatest.max(b.greatest), sum: stays.add(shrinks.mul(scale)) }
    }
}

/// Values of one column that are looked at together.
const BLOCK: usize = block_len(1);

/// [`OfExps`] of a block of one column, of at most `MOST` values, in `WIDTH` lanes. What a value is merged by depends on the
/// greatest of those before it in its lane alone: these are found first, so that the exponentials, which cost most, are
/// taken side by side. The operations are those of a fold of the lanes and a tree over them, in their order.
struct ExpsOfBlock<'a, F, const MOST: usize, const WIDTH: usize>(&'a [F]);

impl<F: Float, const MOST: usize, const WIDTH: usize> Loop for ExpsOfBlock<'_, F, MOST, WIDTH> {
    type Output = Exps<F>;
    #[inline(always)]
    fn run(self) -> Exps<F> {
        let Self(values) = self;
        let none: Exps<F> = Monoid::<F>::identity(OfExps);
        let (mut greatest, mut sums) = ([none.greatest; WIDTH], [none.sum; WIDTH]);
        let (mut differences, mut scales) = ([F::ZERO; MOST], [F::ZERO; MOST]);
        for (values, differences) in values.chunks(WIDTH).zip(differences.chunks_mut(WIDTH)) {
            for ((&x, difference), greatest) in values.iter().zip(differences).zip(&mut greatest) {
                let key = x.key();
                *difference = apart(*greatest, key);
                *greatest = (*greatest).max(key);
            }
        }
        let len = values.len();
        exponentials(&differences[..len], &mut scales[..len]);
        greatest = [none.greatest; WIDTH];
        for (values, scales) in values.chunks(WIDTH).zip(scales.chunks(WIDTH)) {
            for (((&x, &scale), greatest), sum) in values.iter().zip(scales).zip(&mut greatest).zip(&mut sums) {
                let merged = Exps { greatest: *greatest, sum: *sum }.merged(Exps::of(x), scale);
                (*greatest, *sum) = (merged.greatest, merged.sum);
            }
        }
        let mut reach = WIDTH / 2;
        while reach > 0 {
            for k in 0..reach {
                differences[k] = apart(greatest[k], greatest[k + reach]);
            }
            exponentials(&differences[..reach], &mut scales[..reach]);
            for k in 0..reach {
                let other = Exps { greatest: greatest[k + reach], sum: sums[k + reach] };
                let merged = Exps { greatest: greatest[k], sum: sums[k] }.merged(other, scales[k]);
                (greatest[k], sums[k]) = (merged.greatest, merged.sum);
            }
            reach /= 2;
        }
        Exps { greatest: greatest[0], sum: sums[0] }
    }
}

#[inline(always)]
fn exponentials<F: Float>(x: &[F], out: &mut [F]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = x.exp();
    }
}

/// How many values, one of them, how far their mean is from it, and the sum of the squared deviations from the mean.
#[derive(Clone, Copy)]
pub(super) struct Moments<F> {
    count: F,
    near: F,
    off: F,
    pub(super) deviations: F,
}

/// The monoid of [`Moments`].
#[derive(Clone, Copy)]
pub(super) struct OfMoments;

impl<F: Float> Monoid<F> for OfMoments {
    type State = Moments<F>;
    #[inline(always)]
    fn identity(self) -> Moments<F> {
        Moments { count: F::ZERO, near: F::ZERO, off: F::ZERO, deviations: F::ZERO }
    }
    #[inline(always)]
    fn push(self, so_far: Moments<F>, next: F) -> Moments<F> {
        // The mean of what is not finite deviates from it by no number.
        let deviations = if next.is_finite() { F::ZERO } else { F::NAN };
        self.merge(so_far, Moments { count: F::ONE, near: next, off: F::ZERO, deviations })
    }
    #[inline(always)]
    fn merge(self, a: Moments<F>, b: Moments<F>) -> Moments<F> {
        let count = a.count.add(b.count);
        let share = b.count.div(if count < F::ONE { F::ONE } else { count });
        let near = if a.count < F::ONE { b.near } else { a.near };
        let apart = b.near.sub(near).add(b.off.sub(a.off));
        let squares = apart.mul(apart.mul(a.count.mul(share)));
        Moments {
            count,
            near,
            off: a.off.add(apart.mul(share)),
            deviations: a.deviations.add(b.deviations).add(squares),
        }
    }
}

/// Runs `$body` with the monoid of an operation on a type.
macro_rules! plain {
    ($op:expr, $t:ty, $identity:expr, $ordered:expr, |$monoid:ident| $body:expr) => {{
        let (identity, ordered): ($t, bool) = ($identity, $ordered);
        match $op {
            ReduceOp::Sum => {
                let $monoid = Plain { identity, combine: <$t as Number>::add, ordered };
                $body
            }
            ReduceOp::Prod => {
                let $monoid = Plain { identity, combine: <$t as Number>::mul, ordered };
                $body
            }
            ReduceOp::Min => {
                let $monoid = Plain { identity, combine: <$t as Number>::least, ordered };
                $body
            }
            ReduceOp::Max => {
                let $monoid = Plain { identity, combine: <$t as Number>::greatest, ordered };
                $body
            }
        }
    }};
}
pub(super) use plain;
