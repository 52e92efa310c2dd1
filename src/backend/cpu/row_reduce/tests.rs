//! The reference against folds and trees that are written out.

use super::reference::{Plain, reduce_row};

const ADD: Plain<f32, fn(f32, f32) -> f32> = Plain { identity: 0.0, combine: |a, b| a + b };

fn sum(values: &[f32], inner: usize) -> Vec<f32> {
    let mut out = vec![f32::NAN; inner];
    reduce_row(values, inner, ADD, &mut out);
    out
}

fn tree(lanes: &[f32]) -> f32 {
    match lanes {
        [one] => *one,
        _ => {
            let (low, high) = lanes.split_at(lanes.len() / 2);
            tree(&low.iter().zip(high).map(|(a, b)| a + b).collect::<Vec<_>>())
        }
    }
}

fn strided(values: &[f32], lanes: usize) -> f32 {
    let fold = |l| values.iter().skip(l).step_by(lanes).fold(0.0, |a, b| a + b);
    tree(&(0..lanes).map(fold).collect::<Vec<_>>())
}

/// Reference sum of one of several columns in the canonical order.
fn reference_of_several(values: &[f32], inner: usize) -> f32 {
    let (lanes, level2) = match inner {
        2 => (1, 128),
        3..=4 => (2, 64),
        5..=8 => (4, 32),
        _ => (8, 16),
    };
    match values.len() {
        0..=64 => strided(values, 1),
        _ => {
            let partials: Vec<_> = values.chunks(64 * lanes).map(|block| strided(block, lanes)).collect();
            if partials.len() == 1 { partials[0] } else { strided(&partials, level2) }
        }
    }
}

#[test]
fn several_columns_follow_the_canonical_order() {
    for inner in [2, 3, 4, 5, 7, 8, 9, 16, 40] {
        for len in [0, 1, 5, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1025, 9000] {
            let values: Vec<_> = (0..len * inner).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32)).collect();
            for (column, sum) in sum(&values, inner).into_iter().enumerate() {
                let of_column: Vec<f32> = values.iter().skip(column).step_by(inner).copied().collect();
                let want = reference_of_several(&of_column, inner);
                assert_eq!(sum.to_bits(), want.to_bits(), "{len} x {inner}, column {column}");
            }
        }
    }
}

/// Reference sum of one column in the canonical order.
fn reference(values: &[f32]) -> f32 {
    match values.len() {
        0..=16 => values.iter().fold(0.0, |a, b| a + b),
        17..=256 => strided(values, 32),
        _ => strided(&values.chunks(256).map(|block| strided(block, 32)).collect::<Vec<_>>(), 256),
    }
}

#[test]
fn one_column_follows_the_canonical_order() {
    for len in (0..600).chain([65_535, 65_536, 65_537, 200_001]) {
        let values: Vec<_> = (0..len).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32)).collect();
        assert_eq!(sum(&values, 1)[0].to_bits(), reference(&values).to_bits(), "{len}");
    }
}

#[test]
fn empty_rows_and_negative_zeros_give_zero() {
    for inner in [1, 2, 5] {
        assert!(sum(&[], inner).iter().all(|x| x.to_bits() == 0));
        assert!(sum(&vec![-0.0; 700 * inner], inner).iter().all(|x| x.to_bits() == 0));
    }
}

#[test]
fn several_columns_agree_with_exact_sums() {
    for inner in [2usize, 3, 4, 5, 8, 16, 33] {
        for len in [0usize, 1, 63, 64, 65, 1000, 20_000] {
            let values: Vec<u64> = (0..len * inner).map(|k| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let mut out = vec![1; inner];
            let add = Plain { identity: 0, combine: u64::wrapping_add };
            reduce_row(&values, inner, add, &mut out);
            for (column, &x) in out.iter().enumerate() {
                let exact = values.iter().skip(column).step_by(inner).fold(0, |a: u64, &b| a.wrapping_add(b));
                assert_eq!(x, exact, "{len} x {inner}");
            }
        }
    }
}
