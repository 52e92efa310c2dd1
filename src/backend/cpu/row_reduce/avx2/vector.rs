//! AVX2 vectors of 8 numbers of one word (32 bits) or 4 of two, and element-wise operations on them.
//!
//! A vector is untyped bits, interpreted by the operation and the value type. Matches on these are resolved at compile
//! time.

use std::arch::x86_64::*;

use super::super::VectorMonoid;
use crate::backend::cpu::accumulate::Reducible;
use crate::graph::canonical_order::reduction::LANES;
use crate::graph::opcode::ReduceOp;

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn zero() -> __m256 {
    _mm256_setzero_ps()
}

#[target_feature(enable = "avx2")]
#[inline]
fn of_bits(bits: __m256i) -> __m256 {
    _mm256_castsi256_ps(bits)
}

/// A vector of identity elements.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn identity<V: Reducible, M: VectorMonoid<V>>() -> __m256 {
    let identity = M::default().identity();
    let word = || bytemuck::cast_slice(&[identity])[0];
    match const { size_of::<V>() } {
        4 => of_bits(_mm256_set1_epi32(word())),
        _ => of_bits(_mm256_set1_epi64x(bytemuck::cast_slice(&[identity])[0])),
    }
}

/// The states of single values.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn lift<V: Reducible, M: VectorMonoid<V>, const W: usize>(values: &[V; W]) -> __m256 {
    let x: __m256 = bytemuck::pod_read_unaligned(bytemuck::cast_slice(values));
    // Minima and maxima of floats are computed on order keys (see `Reducible::Key`). NaN has the least or the greatest
    // key.
    let greatest = match M::OP {
        ReduceOp::Max if V::IS_FLOAT => true,
        ReduceOp::Min if V::IS_FLOAT => false,
        _ => return x,
    };
    let bits = _mm256_castps_si256(x);
    if const { size_of::<V>() == 4 } {
        let flips = _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(bits));
        let key = of_bits(_mm256_xor_si256(bits, flips));
        let nan = of_bits(_mm256_set1_epi32(if greatest { i32::MAX } else { i32::MIN }));
        blend(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x), nan, key)
    } else {
        let flips = _mm256_srli_epi64::<1>(_mm256_cmpgt_epi64(_mm256_setzero_si256(), bits));
        let key = of_bits(_mm256_xor_si256(bits, flips));
        let nan = of_bits(_mm256_set1_epi64x(if greatest { i64::MAX } else { i64::MIN }));
        let x = _mm256_castps_pd(x);
        blend(_mm256_castpd_ps(_mm256_cmp_pd::<_CMP_UNORD_Q>(x, x)), nan, key)
    }
}

/// Merges two vectors of states.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn combine<V: Reducible, M: VectorMonoid<V>>(a: __m256, b: __m256) -> __m256 {
    match const { size_of::<V>() } {
        4 => combine_words::<V, M>(a, b),
        _ => combine_longs::<V, M>(a, b),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn combine_words<V: Reducible, M: VectorMonoid<V>>(a: __m256, b: __m256) -> __m256 {
    let (x, y) = (_mm256_castps_si256(a), _mm256_castps_si256(b));
    match M::OP {
        ReduceOp::Sum if V::IS_FLOAT => _mm256_add_ps(a, b),
        ReduceOp::Prod if V::IS_FLOAT => _mm256_mul_ps(a, b),
        ReduceOp::Sum => of_bits(_mm256_add_epi32(x, y)),
        ReduceOp::Prod => of_bits(_mm256_mullo_epi32(x, y)),
        ReduceOp::Max if V::IS_SIGNED => of_bits(_mm256_max_epi32(x, y)),
        ReduceOp::Min if V::IS_SIGNED => of_bits(_mm256_min_epi32(x, y)),
        ReduceOp::Max => of_bits(_mm256_max_epu32(x, y)),
        ReduceOp::Min => of_bits(_mm256_min_epu32(x, y)),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn combine_longs<V: Reducible, M: VectorMonoid<V>>(a: __m256, b: __m256) -> __m256 {
    let (x, y) = (_mm256_castps_si256(a), _mm256_castps_si256(b));
    let (f, g) = (_mm256_castps_pd(a), _mm256_castps_pd(b));
    // With the highest bit flipped, unsigned numbers compare as signed ones.
    let flips = _mm256_set1_epi64x(if V::IS_SIGNED { 0 } else { i64::MIN });
    let is_more = of_bits(_mm256_cmpgt_epi64(_mm256_xor_si256(x, flips), _mm256_xor_si256(y, flips)));
    match M::OP {
        ReduceOp::Sum if V::IS_FLOAT => _mm256_castpd_ps(_mm256_add_pd(f, g)),
        ReduceOp::Prod if V::IS_FLOAT => _mm256_castpd_ps(_mm256_mul_pd(f, g)),
        ReduceOp::Sum => of_bits(_mm256_add_epi64(x, y)),
        ReduceOp::Prod => {
            // The product of the upper words exceeds the 64 bits of the result.
            let (upper_x, upper_y) = (_mm256_srli_epi64::<32>(x), _mm256_srli_epi64::<32>(y));
            let upper = _mm256_add_epi64(_mm256_mul_epu32(upper_x, y), _mm256_mul_epu32(x, upper_y));
            of_bits(_mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(upper)))
        }
        ReduceOp::Max => blend(is_more, a, b),
        ReduceOp::Min => blend(is_more, b, a),
    }
}

/// Selects `a` where the flags are set, `b` elsewhere.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn blend(flags: __m256, a: __m256, b: __m256) -> __m256 {
    _mm256_blendv_ps(b, a, flags)
}

/// Lane masks: all bits set in the first `n` lanes, none in the others.
#[inline(always)]
fn lane_masks(n: usize) -> &'static [u32; LANES] {
    static MASKS: [u32; 2 * LANES] = {
        let mut masks = [0; 2 * LANES];
        let mut k = 0;
        while k < LANES {
            masks[k] = u32::MAX;
            k += 1;
        }
        masks
    };
    MASKS[LANES - n..].first_chunk().expect("bug: a mask of too many lanes")
}

/// Masks the `j`-th vector of a row of `len` numbers: `values` before the row's end, `identity` beyond it.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn mask_tail<const W: usize>(identity: __m256, values: __m256, len: usize, j: usize) -> __m256 {
    let masks = &lane_masks(len).as_chunks::<W>().0[j];
    let flags = match W {
        8 => bytemuck::pod_read_unaligned(bytemuck::cast_slice(masks)),
        _ => _mm256_cvtepi32_epi64(bytemuck::pod_read_unaligned(bytemuck::cast_slice(masks))),
    };
    blend(of_bits(flags), values, identity)
}

/// Flags of the counts that exceed `n`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn exceed<const W: usize>(counts: &[usize; W], n: usize) -> __m256 {
    let mut words = [0; 8];
    for (word, &count) in words.iter_mut().zip(counts) {
        *word = count as i32;
    }
    let flags = _mm256_cmpgt_epi32(bytemuck::cast(words), _mm256_set1_epi32(n as i32));
    of_bits(if W == 8 { flags } else { _mm256_cvtepi32_epi64(_mm256_castsi256_si128(flags)) })
}

/// Transposes a square of numbers.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose<const W: usize>(rows: [__m256; W]) -> [__m256; W] {
    let mut columns = [zero(); W];
    match rows.as_slice() {
        &[a, b, c, d] => {
            let pairs = [low_long(a, b), high_long(a, b), low_long(c, d), high_long(c, d)];
            for k in 0..2 {
                columns[k] = lower_halves(pairs[k], pairs[k + 2]);
                columns[k + 2] = upper_halves(pairs[k], pairs[k + 2]);
            }
        }
        _ => {
            // Interleaves two rows, then four, then all eight. Half of the columns are in the lower halves of the
            // vectors, half in the upper halves.
            let (mut pairs, mut fours) = ([[zero(); 2]; 4], [[zero(); 4]; 2]);
            for (k, pair) in pairs.iter_mut().enumerate() {
                let (a, b) = (rows[2 * k], rows[2 * k + 1]);
                *pair = [_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)];
            }
            for (k, four) in fours.iter_mut().enumerate() {
                let ([a, b], [c, d]) = (pairs[2 * k], pairs[2 * k + 1]);
                *four = [low_long(a, c), high_long(a, c), low_long(b, d), high_long(b, d)];
            }
            for k in 0..4 {
                columns[k] = lower_halves(fours[0][k], fours[1][k]);
                columns[k + 4] = upper_halves(fours[0][k], fours[1][k]);
            }
        }
    }
    columns
}

/// In each half, the lower two words of `a`, then those of `b`.
#[target_feature(enable = "avx2")]
#[inline]
fn low_long(a: __m256, b: __m256) -> __m256 {
    _mm256_shuffle_ps::<0b01_00_01_00>(a, b)
}

/// In each half, the upper two words of `a`, then those of `b`.
#[target_feature(enable = "avx2")]
#[inline]
fn high_long(a: __m256, b: __m256) -> __m256 {
    _mm256_shuffle_ps::<0b11_10_11_10>(a, b)
}

#[target_feature(enable = "avx2")]
#[inline]
fn lower_halves(a: __m256, b: __m256) -> __m256 {
    _mm256_permute2f128_ps::<0x20>(a, b)
}

#[target_feature(enable = "avx2")]
#[inline]
fn upper_halves(a: __m256, b: __m256) -> __m256 {
    _mm256_permute2f128_ps::<0x31>(a, b)
}

/// Halving trees over the numbers of each of `W` vectors. Number `k` of the result is the root of the tree over
/// `of[k]`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn reduce_each<V: Reducible, M: VectorMonoid<V>, const W: usize>(of: [__m256; W]) -> __m256 {
    // The first level of vectors `k` and `k + W / 2` gives half a vector each, which together form one vector.
    let mut halves = [zero(); 4];
    for k in 0..W / 2 {
        let (a, b) = (of[k], of[k + W / 2]);
        halves[k] = combine::<V, M>(lower_halves(a, b), upper_halves(a, b));
    }
    if W == 4 {
        let [a, b] = [halves[0], halves[1]];
        return combine::<V, M>(low_long(a, b), high_long(a, b));
    }
    let mut twos = [zero(); 2];
    for (k, two) in twos.iter_mut().enumerate() {
        let (a, b) = (halves[2 * k], halves[2 * k + 1]);
        *two = combine::<V, M>(low_long(a, b), high_long(a, b));
    }
    let [a, b] = twos;
    combine::<V, M>(_mm256_shuffle_ps::<0b10_00_10_00>(a, b), _mm256_shuffle_ps::<0b11_01_11_01>(a, b))
}

/// Halving tree over the numbers of one vector. The result is its first number; the other numbers are unspecified.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn reduce<V: Reducible, M: VectorMonoid<V>>(all: __m256) -> __m256 {
    let half = combine::<V, M>(all, upper_halves(all, all));
    let two = combine::<V, M>(half, _mm256_permute_ps::<0b1110>(half));
    match const { size_of::<V>() } {
        4 => combine::<V, M>(two, _mm256_permute_ps::<0b01>(two)),
        _ => two,
    }
}
