//! Sums, products and extremes of rows of words, one column, eight lanes at a time in AVX2: the order of `row_reduce`.
//!
//! Where rows are short, what costs most is that the ends of loops over them are guessed wrong. Here a row is taken in
//! 32 lanes, and what lies behind its last value is masked; no branch depends on a length from 1 to 31. Compilers make
//! branches of masks, or scalars of lanes, where this is written as loops over arrays: for rows of 0 to 31 values they
//! took 9 to 16 ns a row, where the instructions spelled out take 4 to 6, and half of that for eight rows at once.

use std::arch::x86_64::*;

use bytemuck::Pod;

use super::plain_rows::masks;
use super::row_reduce::{LANES, SHORT, block_len, reduce_row};
use super::wide_rows::{Op, Wide};

/// Short rows that are reduced at once.
const TOGETHER: usize = 8;

/// The states of rows that lie one after another: the values of row `k` begin at value `start(k)`.
#[target_feature(enable = "avx2")]
pub(super) fn rows<V: Pod, M: Wide<V>>(monoid: M, values: &[V], start: impl Fn(usize) -> usize, out: &mut [M::State]) {
    let mut first = 0;
    for out in out.chunks_mut(TOGETHER) {
        let end = first + out.len();
        let mut starts = [start(first); TOGETHER + 1];
        for (k, slot) in starts.iter_mut().enumerate() {
            *slot = start(end.min(first + k));
        }
        first = end;
        if starts[0] == starts[TOGETHER] {
            out.fill(monoid.identity());
        } else if let Some(states) = eight_rows::<V, M>(values, &starts) {
            for (out, state) in out.iter_mut().zip(states) {
                *out = bytemuck::cast(state);
            }
        } else {
            for (out, ends) in out.iter_mut().zip(starts.windows(2)) {
                *out = one_row(monoid, values, ends[0], ends[1]);
            }
        }
    }
}

/// The state of the row of those values.
#[target_feature(enable = "avx2")]
#[inline]
fn one_row<V: Pod, M: Wide<V>>(monoid: M, values: &[V], from: usize, to: usize) -> M::State {
    let mut out = monoid.identity();
    match to - from {
        0 => {}
        len if len <= block_len(1) => out = bytemuck::cast(row::<V, M>(&values[from..], len)),
        _ => reduce_row(&values[from..to], 1, monoid, std::slice::from_mut(&mut out)),
    }
    out
}

/// The states of rows of at most [`LANES`] values each, if that is what they are: row `k` from `starts[k]` to
/// `starts[k + 1]`. Whatever follows a row is read as well.
///
/// The values of rows side by side are a square: turned over, it has the first values of all rows in one vector, the
/// second ones in the next, and so on, for eight sums in order at once; and eight trees need little more than one.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_rows<V: Pod, M: Wide<V>>(values: &[V], starts: &[usize; TOGETHER + 1]) -> Option<[u32; TOGETHER]> {
    let mut lens = [0; TOGETHER];
    for k in 0..TOGETHER {
        lens[k] = starts[k + 1] - starts[k];
    }
    let longest = lens.iter().fold(0, |longest, &len| len.max(longest));
    if longest > LANES || starts[TOGETHER - 1] + LANES > values.len() {
        return None;
    }
    let (mut front, mut next, mut folded) = ([zero(); TOGETHER], [zero(); TOGETHER], [zero(); TOGETHER]);
    for k in 0..TOGETHER {
        let values: &[V; LANES] = values.get(starts[k]..)?.first_chunk()?;
        let eights = values.as_chunks::<8>().0.iter().zip(masks(lens[k]).as_chunks::<8>().0);
        let mut kept = [zero(); LANES / 8];
        for (kept, (values, masks)) in kept.iter_mut().zip(eights) {
            *kept = _mm256_blendv_ps(identity::<V, M>(), lift::<V, M>(*values), bytemuck::cast(*masks));
        }
        let [a, b, c, d] = kept;
        (front[k], next[k]) = (a, b);
        folded[k] = combine::<V, M>(combine::<V, M>(a, c), combine::<V, M>(b, d));
    }
    let of_lanes = eight_trees::<V, M>(folded);
    if !M::OP.is_ordered() {
        return Some(bytemuck::cast(of_lanes));
    }
    // Both orders are worked out, as for one row.
    let mut in_order = identity::<V, M>();
    for values in turned(front) {
        in_order = combine::<V, M>(in_order, values);
    }
    for values in turned(next) {
        in_order = combine::<V, M>(in_order, values);
    }
    let is_long = _mm256_cmpgt_epi32(bytemuck::cast(lens.map(|len| len as i32)), _mm256_set1_epi32(SHORT as i32));
    let of_lanes = combine::<V, M>(of_lanes, identity::<V, M>());
    Some(bytemuck::cast(_mm256_blendv_ps(in_order, of_lanes, _mm256_castsi256_ps(is_long))))
}

#[target_feature(enable = "avx2")]
#[inline]
fn zero() -> __m256 {
    _mm256_setzero_ps()
}

/// A square of numbers, turned over: its columns.
#[target_feature(enable = "avx2")]
#[inline]
fn turned(rows: [__m256; 8]) -> [__m256; 8] {
    // Pairs of rows, fours of them, all eight; half of the columns in the lower halves of the vectors, half in the
    // upper.
    let (mut pairs, mut fours, mut columns) = ([[zero(); 2]; 4], [[zero(); 4]; 2], [zero(); 8]);
    for (k, pair) in pairs.iter_mut().enumerate() {
        let (a, b) = (rows[2 * k], rows[2 * k + 1]);
        *pair = [_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)];
    }
    for (k, four) in fours.iter_mut().enumerate() {
        let ([a, b], [c, d]) = (pairs[2 * k], pairs[2 * k + 1]);
        *four = [low_pairs(a, c), high_pairs(a, c), low_pairs(b, d), high_pairs(b, d)];
    }
    for column in 0..4 {
        let (a, b) = (fours[0][column], fours[1][column]);
        columns[column] = _mm256_permute2f128_ps::<0x20>(a, b);
        columns[column + 4] = _mm256_permute2f128_ps::<0x31>(a, b);
    }
    columns
}

/// In both halves, the lower two of `a` and then those of `b`.
#[target_feature(enable = "avx2")]
#[inline]
fn low_pairs(a: __m256, b: __m256) -> __m256 {
    _mm256_shuffle_ps::<0b01_00_01_00>(a, b)
}

/// In both halves, the upper two of `a` and then those of `b`.
#[target_feature(enable = "avx2")]
#[inline]
fn high_pairs(a: __m256, b: __m256) -> __m256 {
    _mm256_shuffle_ps::<0b11_10_11_10>(a, b)
}

/// Halving trees over the eight lanes of each: lane `k` of the result is that of `lanes[k]`.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_trees<V: Pod, M: Wide<V>>(lanes: [__m256; 8]) -> __m256 {
    let (mut fours, mut twos) = ([zero(); 4], [zero(); 2]);
    // What is left of row `k` and of row `k + 4` are halves of one vector.
    for (k, four) in fours.iter_mut().enumerate() {
        let (a, b) = (lanes[k], lanes[k + 4]);
        *four = combine::<V, M>(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b));
    }
    for (k, two) in twos.iter_mut().enumerate() {
        let (a, b) = (fours[2 * k], fours[2 * k + 1]);
        *two = combine::<V, M>(low_pairs(a, b), high_pairs(a, b));
    }
    let [a, b] = twos;
    combine::<V, M>(_mm256_shuffle_ps::<0b10_00_10_00>(a, b), _mm256_shuffle_ps::<0b11_01_11_01>(a, b))
}

/// The state of one block of a row of several.
#[target_feature(enable = "avx2")]
pub(super) fn block<V: Pod, M: Wide<V>>(values: &[V]) -> u32 {
    tree::<V, M>(lanes::<V, M>(values, values.len()))
}

/// The state of a row of at most one block: the first `len` of those values, which go on with the rows behind it.
#[target_feature(enable = "avx2")]
#[inline]
fn row<V: Pod, M: Wide<V>>(values: &[V], len: usize) -> u32 {
    let lanes = lanes::<V, M>(values, len);
    let of_lanes = tree::<V, M>(lanes);
    if !M::OP.is_ordered() {
        return of_lanes;
    }
    // Both orders are worked out: which one it is, is a guess as well.
    let first: [f32; SHORT] = bytemuck::cast([lanes[0], lanes[1]]);
    let in_order = match M::OP {
        Op::Product => first.into_iter().fold(1.0, |so_far, x| so_far * x),
        _ => first.into_iter().fold(0.0, |so_far, x| so_far + x),
    };
    std::hint::select_unpredictable(len <= SHORT, in_order.to_bits(), of_lanes)
}

/// The values of a row folded in so many lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes<V: Pod, M: Wide<V>>(values: &[V], len: usize) -> [__m256; LANES / 8] {
    let mut lanes = [identity::<V, M>(); LANES / 8];
    let (groups, rest) = values[..len].as_chunks::<LANES>();
    for group in groups {
        for (lanes, values) in lanes.iter_mut().zip(group.as_chunks::<8>().0) {
            *lanes = combine::<V, M>(*lanes, lift::<V, M>(*values));
        }
    }
    if !rest.is_empty() {
        let mut copy = [V::zeroed(); LANES];
        // Whatever follows is read as well, if anything does.
        let group = values[len - rest.len()..].first_chunk().unwrap_or_else(|| {
            copy[..rest.len()].copy_from_slice(rest);
            &copy
        });
        let masks = masks(rest.len());
        let eights = group.as_chunks::<8>().0.iter().zip(masks.as_chunks::<8>().0);
        for (lanes, (values, masks)) in lanes.iter_mut().zip(eights) {
            let kept = _mm256_blendv_ps(identity::<V, M>(), lift::<V, M>(*values), bytemuck::cast(*masks));
            *lanes = combine::<V, M>(*lanes, kept);
        }
    }
    lanes
}

/// A halving tree over the lanes.
#[target_feature(enable = "avx2")]
#[inline]
fn tree<V: Pod, M: Wide<V>>([a, b, c, d]: [__m256; LANES / 8]) -> u32 {
    let eight = combine::<V, M>(combine::<V, M>(a, c), combine::<V, M>(b, d));
    // The upper lanes of what is combined from here on are of no use to anything.
    let four = combine::<V, M>(eight, _mm256_permute2f128_ps::<0x11>(eight, eight));
    let two = combine::<V, M>(four, _mm256_permute_ps::<0b1110>(four));
    let one = combine::<V, M>(two, _mm256_permute_ps::<0b01>(two));
    // A fold from 0 never gives -0; lanes without one do, if they are -0 all.
    let one = if M::OP.is_ordered() { combine::<V, M>(one, identity::<V, M>()) } else { one };
    _mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_castps_si256(one))) as u32
}

#[target_feature(enable = "avx2")]
#[inline]
fn identity<V: Pod, M: Wide<V>>() -> __m256 {
    match M::OP {
        Op::Sum => _mm256_setzero_ps(),
        Op::Product => _mm256_set1_ps(1.0),
        Op::Greatest | Op::GreatestSigned => _mm256_castsi256_ps(_mm256_set1_epi32(i32::MIN)),
        Op::Least | Op::LeastSigned => _mm256_castsi256_ps(_mm256_set1_epi32(i32::MAX)),
        Op::IntegerSum | Op::GreatestUnsigned => _mm256_setzero_ps(),
        Op::LeastUnsigned => _mm256_castsi256_ps(_mm256_set1_epi32(-1)),
    }
}

/// The states of single values.
#[target_feature(enable = "avx2")]
#[inline]
fn lift<V: Pod, M: Wide<V>>(values: [V; 8]) -> __m256 {
    let x: __m256 = bytemuck::cast(values);
    let nan = match M::OP {
        Op::Greatest => i32::MAX,
        Op::Least => i32::MIN,
        _ => return x,
    };
    let bits = _mm256_castps_si256(x);
    let flips = _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(bits));
    let key = _mm256_castsi256_ps(_mm256_xor_si256(bits, flips));
    let is_nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x);
    _mm256_blendv_ps(key, _mm256_castsi256_ps(_mm256_set1_epi32(nan)), is_nan)
}

#[target_feature(enable = "avx2")]
#[inline]
fn combine<V: Pod, M: Wide<V>>(a: __m256, b: __m256) -> __m256 {
    let (x, y) = (_mm256_castps_si256(a), _mm256_castps_si256(b));
    match M::OP {
        Op::Sum => _mm256_add_ps(a, b),
        Op::Product => _mm256_mul_ps(a, b),
        Op::Greatest | Op::GreatestSigned => _mm256_castsi256_ps(_mm256_max_epi32(x, y)),
        Op::Least | Op::LeastSigned => _mm256_castsi256_ps(_mm256_min_epi32(x, y)),
        Op::IntegerSum => _mm256_castsi256_ps(_mm256_add_epi32(x, y)),
        Op::GreatestUnsigned => _mm256_castsi256_ps(_mm256_max_epu32(x, y)),
        Op::LeastUnsigned => _mm256_castsi256_ps(_mm256_min_epu32(x, y)),
    }
}
