use std::fmt::Debug;

use super::super::simd;
use super::*;

/// The definition of the product, element by element: sums of runs of 16 terms, of 16 runs, and so on up to 65,536 terms,
/// and of these; at most 256 terms have one sum.
fn literal<T: Number>(a: &[T], b: &[T], (m, k, n): (usize, usize, usize), transposed: [bool; 2]) -> Vec<T> {
    let at = |x: &[T], r: usize, c: usize, (rows, columns): (usize, usize), t: bool| {
        if t { x[c * rows + r] } else { x[r * columns + c] }
    };
    let term = |i: usize, j: usize, l: usize| (at(a, i, l, (m, k), transposed[0]), at(b, l, j, (k, n), transposed[1]));
    let sum = |p: usize| {
        let mut levels = [T::default(); 5];
        for l in 0..k {
            let (x, y) = term(p / n, p % n, l);
            levels[0] = levels[0].add_product::<true>(x, y);
            for (level, terms) in [if k <= 256 { 256 } else { 16 }, 256, 4096, 65_536].into_iter().enumerate() {
                if (l + 1) % terms == 0 || l + 1 == k {
                    levels[level + 1] = levels[level + 1].add(levels[level]);
                    levels[level] = T::default();
                }
            }
        }
        levels[4]
    };
    (0..m * n).map(sum).collect()
}

/// Sizes at and around the edges of tiles and blocks.
const SIZES: [(usize, usize, usize); 22] = [
    (1, 1, 1),
    (3, 0, 2),
    (4, 7, 16),
    (5, 33, 17),
    (65, 3, 15),
    (9, 100, 31),
    (100, 5, 1),
    (35, 6, 3),
    (1, 9, 70),
    (4, 255, 8),
    (5, 256, 9),
    (7, 257, 33),
    (97, 513, 257),
    (96, 2, 256),
    (300, 260, 5),
    (2, 512, 3),
    (6, 4096, 2),
    (1, 4097, 18),
    (2, 9000, 2),
    (1, 65_535, 2),
    (2, 65_793, 1),
    (3, 131_073, 1),
];

/// Checks the loops of each set of vector instructions that the processor has.
fn check<T: Number + Debug, const N: usize>(value: impl Fn(usize) -> T, bits: impl Fn(T) -> u64) {
    simd::for_each_vectors(|| check_one::<T, N>(&value, &bits));
}

fn check_one<T: Number + Debug, const N: usize>(value: impl Fn(usize) -> T, bits: impl Fn(T) -> u64) {
    let mut panels = Panels::<T, N>::new();
    for (m, k, n) in SIZES {
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            let a: Vec<T> = (0..m * k).map(|p| value(p * 31)).collect();
            let b: Vec<T> = (0..k * n).map(|p| value(p * 57 + 5)).collect();
            let mut out: Vec<T> = (0..m * n).map(&value).collect();
            // Parts of the product, which begin within tiles and blocks.
            for (i, rows) in out.chunks_mut(37 * n).enumerate() {
                let left = Factor::left(&a, 0, (m, k), transposed[0]).skip(37 * i);
                let right = Factor::right(&b, 0, (k, n), transposed[1]);
                let (mut first, mut second): (Vec<_>, Vec<_>) =
                    rows.chunks_mut(n).map(|row| row.split_at_mut(n / 3)).unzip();
                product(left, right, k, &mut first, &mut panels);
                product(left, right.skip(n / 3), k, &mut second, &mut panels);
            }
            let expected = literal(&a, &b, (m, k, n), transposed);
            let differs = (0..m * n).find(|&p| bits(out[p]) != bits(expected[p]));
            assert!(differs.is_none(), "{m} x {k} x {n} {transposed:?}: result {differs:?} of {N} columns a tile");
        }
    }
}

/// The bits, with one pattern for all NaNs, whose payload IEEE 754 does not define.
fn f32_bits(x: f32) -> u64 {
    if x.is_nan() { u64::MAX } else { x.to_bits().into() }
}

#[test]
fn floats_have_the_bits_of_the_definition() {
    check::<f32, 16>(|p| (p % 101) as f32 / 7.0 - 5.0, f32_bits);
    check::<f64, 8>(|p| (p % 101) as f64 / 7.0 - 5.0, f64::to_bits);
}

#[test]
fn integers_wrap() {
    check::<u32, 16>(|p| (p as u32).wrapping_mul(0x9e37_79b9), u64::from);
    check::<i64, 8>(|p| (p as i64).wrapping_mul(0x1e37_79b9_7f4a_7c15), |x| x as u64);
}

#[test]
fn special_values_stay_in_their_rows_and_columns() {
    // Few values are special, so that most results are finite.
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-45];
    check::<f32, 16>(|p| if p % 1009 < 5 { special[p % 1009] } else { (p % 13) as f32 - 6.0 }, f32_bits);
}

#[test]
fn sums_of_negative_zeros_are_zero() {
    // The sum begins with 0, and 0 + -0 = 0.
    check::<f32, 16>(|p| if p % 2 == 0 { -0.0 } else { 1.0 }, f32_bits);
    check::<f32, 16>(|p| if p % 7 == 0 { -1.0 } else { 0.0 }, f32_bits);
}
