//! Products in every layout, every dtype and sizes around the edges of tiles, compared with the definition.

use ragged::opt::Factor;
use ragged::{Device, HostTensor};

use super::common;
use super::common::random::Random;
use super::matrix::{Matrix, Number, bits, dense, half_ragged, host, on, ragged, splits};

/// Multiplies on every device, with host-known and device-known splits, and compares values and splits.
fn check<T: Number>(
    what: &str,
    (a, b): (&HostTensor, &HostTensor),
    [ta, tb]: [bool; 2],
    devices: &[(String, Device)],
    want: &HostTensor,
) {
    for (name, device) in devices.iter().filter(|(_, d)| common::has(d, T::DTYPE)) {
        for hidden in [false, true] {
            let [x, y] = [a, b].map(|t| on(t, device, hidden));
            let got = Factor::from(&x).transposed(ta).matmul(Factor::from(&y).transposed(tb)).and_then(|t| t.to_host());
            let got = got.unwrap_or_else(|e| panic!("{what} {} on {name}, hidden {hidden}: {e}", T::DTYPE));
            let at = format!("{what} {} {ta} {tb} on {name}, hidden {hidden}", T::DTYPE);
            assert_eq!(got.nested_row_splits, want.nested_row_splits, "{at}");
            assert_eq!(got.inner_shape, want.inner_shape, "{at}");
            assert!(bits::<T>(&got) == bits::<T>(want), "{at}: {got:?}, not {want:?}");
        }
    }
}

const TRANSPOSES: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

/// Checks batches of these sizes in every possible layout.
fn batches<T: Number>(sizes: &[[usize; 3]], seed: u64, devices: &[(String, Device)], transposes: &[[bool; 2]]) {
    let mut random = Random(seed);
    let left: Vec<Matrix<T>> = sizes.iter().map(|&[m, k, _]| Matrix::random(&mut random, m, k)).collect();
    let right: Vec<Matrix<T>> = sizes.iter().map(|&[_, k, n]| Matrix::random(&mut random, k, n)).collect();
    let results: Vec<Vec<Vec<T>>> = left.iter().zip(&right).map(|(a, b)| a.times(b)).collect();
    let rows = splits(results.iter().map(Vec::len));
    let columns = splits(results.iter().flatten().map(Vec::len));
    let values: Vec<T> = results.iter().flatten().flatten().copied().collect();
    let both_ragged = host(vec![rows.clone(), columns], vec![values.len()], values.clone());
    let same = |d: usize| sizes.iter().all(|s| s[d] == sizes[0][d]).then(|| sizes.first().map_or(1, |s| s[d]));
    for &t in transposes {
        let a: Vec<Matrix<T>> = left.iter().map(|m| m.stored(t[0])).collect();
        let b: Vec<Matrix<T>> = right.iter().map(|m| m.stored(t[1])).collect();
        check::<T>("ragged by ragged", (&ragged(&a), &ragged(&b)), t, devices, &both_ragged);
        let [m, k, n] = [same(0), same(1), same(2)];
        // An inner dimension of columns on the left: `k`, or `m` if transposed.
        let half = if t[0] { m } else { k }.map(|columns| half_ragged(&a, columns));
        if let Some(half) = &half {
            check::<T>("half ragged by ragged", (half, &ragged(&b)), t, devices, &both_ragged);
        }
        let Some(n) = n else { continue };
        let uniform_columns = host(vec![rows.clone()], vec![rows[sizes.len()] as usize, n], values.clone());
        if !t[1] {
            let b = half_ragged(&b, n);
            check::<T>("ragged by half ragged", (&ragged(&a), &b), t, devices, &uniform_columns);
            if let Some(half) = &half {
                check::<T>("half ragged by half ragged", (half, &b), t, devices, &uniform_columns);
            }
        }
        if let Some(k) = k {
            let b = if t[1] { dense(&b, n, k) } else { dense(&b, k, n) };
            check::<T>("ragged by dense", (&ragged(&a), &b), t, devices, &uniform_columns);
            if let Some(half) = &half {
                check::<T>("half ragged by dense", (half, &b), t, devices, &uniform_columns);
            }
            if let Some(m) = m {
                let a = if t[0] { dense(&a, k, m) } else { dense(&a, m, k) };
                let want = host(vec![], vec![sizes.len(), m, n], values.clone());
                check::<T>("dense by dense", (&a, &b), t, devices, &want);
            }
        }
    }
}

#[test]
fn every_dtype_in_every_layout() {
    let all = common::every_way();
    batches::<f32>(&[[2, 3, 4], [1, 2, 1], [5, 1, 3]], 1, all, &TRANSPOSES);
    batches::<f32>(&[[3, 17, 5], [6, 17, 5], [1, 17, 5]], 2, all, &TRANSPOSES);
    batches::<f32>(&[[4, 3, 5]; 3], 3, all, &TRANSPOSES);
    // Sizes and layouts are independent of the dtype.
    let few = common::devices();
    macro_rules! others {
        ($($t:ty),*) => {$(
            batches::<$t>(&[[2, 3, 4], [1, 2, 1], [5, 1, 3]], 1, &few, &[[true, true]]);
            batches::<$t>(&[[4, 19, 5]; 3], 3, &few, &[[false, false]]);
        )*};
    }
    others!(u8, i32, u32, i64, u64, f64);
}

#[test]
fn sizes_around_the_edges_of_tiles() {
    let devices = common::devices();
    batches::<f32>(&[[15, 16, 17], [16, 15, 16], [17, 33, 15], [1, 65, 1]], 4, &devices, &TRANSPOSES);
    batches::<f32>(&[[63, 5, 65], [64, 7, 64], [65, 3, 63]], 5, &devices, &TRANSPOSES);
    // Large enough for the largest tiles.
    batches::<f32>(&[[130, 31, 257]; 20], 6, &devices, &[[true, false]]);
}

#[test]
fn empty_batches_and_empty_sums() {
    let devices = common::every_way();
    // A transposed ragged matrix without rows has no number of columns, so these sizes are not transposed.
    let plain = [[false, false]];
    batches::<f32>(&[[3, 2, 2], [0, 2, 4], [1, 2, 0], [2, 1, 3]], 7, devices, &plain);
    batches::<i32>(&[[0, 0, 0]; 4], 8, devices, &TRANSPOSES);
    batches::<f32>(&[], 9, devices, &TRANSPOSES[..1]);
    // It must not get the number of columns that all other matrices have.
    batches::<f32>(&[[0, 0, 3], [2, 4, 3], [2, 5, 1]], 14, devices, &[[true, true]]);
    // Empty sums are 0: `[2, 0]` by `[0, 3]`.
    let a = host::<f32>(vec![], vec![2, 0], vec![]);
    let b = host::<f32>(vec![], vec![0, 3], vec![]);
    check::<f32>("no terms", (&a, &b), [false; 2], devices, &host(vec![], vec![2, 3], vec![0.0f32; 6]));
    let a = host::<f32>(vec![], vec![4, 2, 0], vec![]);
    let b = host::<f32>(vec![], vec![4, 0, 1], vec![]);
    check::<f32>("no terms", (&a, &b), [false; 2], devices, &host(vec![], vec![4, 2, 1], vec![0.0f32; 8]));
}

#[test]
fn one_giant_batch_among_empty_ones() {
    let devices = common::devices();
    let mut sizes = vec![[0, 6, 3]; 400];
    sizes[399] = [700, 6, 3];
    sizes.extend(vec![[1, 6, 3]; 30]);
    batches::<f32>(&sizes, 10, &devices, &TRANSPOSES[..1]);
}

/// All rows by one matrix, and rank 2.
fn by_one<T: Number>(lengths: &[usize], k: usize, n: usize, devices: &[(String, Device)]) {
    let mut random = Random(11);
    let total: usize = lengths.iter().sum();
    let (a, b) = (Matrix::<T>::random(&mut random, total, k), Matrix::<T>::random(&mut random, k, n));
    let values: Vec<T> = a.times(&b).into_iter().flatten().collect();
    let rows = splits(lengths.iter().copied());
    let want = host(vec![rows.clone()], vec![total, n], values.clone());
    let flat = host(vec![], vec![total, n], values);
    let matrix = |m: &Matrix<T>, is_ragged: bool| {
        let columns = splits(vec![m.columns; m.rows]);
        if is_ragged {
            host(vec![columns], vec![m.values.len()], m.values.clone())
        } else {
            host(vec![], vec![m.rows, m.columns], m.values.clone())
        }
    };
    for tb in [false, true] {
        for is_ragged in [false, true] {
            let right = matrix(&b.stored(tb), is_ragged);
            let half = host(vec![rows.clone()], vec![total, k], a.values.clone());
            check::<T>("half ragged by one", (&half, &right), [false, tb], devices, &want);
            let columns = splits(vec![k; total]);
            let full = host(vec![rows.clone(), columns], vec![a.values.len()], a.values.clone());
            check::<T>("ragged by one", (&full, &right), [false, tb], devices, &want);
            for ta in [false, true] {
                for is_left_ragged in [false, true] {
                    let left = matrix(&a.stored(ta), is_left_ragged);
                    check::<T>("one by one", (&left, &right), [ta, tb], devices, &flat);
                }
            }
        }
    }
}

#[test]
fn rows_by_one_matrix() {
    let devices = common::every_way();
    by_one::<f32>(&[3, 0, 1, 40, 0], 5, 9, devices);
    by_one::<u8>(&[17, 0, 2], 20, 18, &common::devices()[..1]);
}

#[test]
fn more_batch_dimensions() {
    let mut random = Random(12);
    // `[2, (2, 1), (i), (j)]` by `[2, (2, 1), 2, 3]`
    let left: Vec<Matrix<i32>> = [1, 2, 1].iter().map(|&m| Matrix::random(&mut random, m, 2)).collect();
    let right: Vec<Matrix<i32>> = (0..3).map(|_| Matrix::random(&mut random, 2, 3)).collect();
    let values: Vec<i32> = left.iter().zip(&right).flat_map(|(a, b)| a.times(b)).flatten().collect();
    let outer = vec![0, 2, 3];
    let rows = vec![0, 1, 3, 4];
    let a: Vec<i32> = left.iter().flat_map(|m| m.values.clone()).collect();
    let b: Vec<i32> = right.iter().flat_map(|m| m.values.clone()).collect();
    let a = host(vec![outer.clone(), rows.clone()], vec![4, 2], a);
    let b = host(vec![outer.clone()], vec![3, 2, 3], b);
    let want = host(vec![outer, rows], vec![4, 3], values);
    check::<i32>("two batch dimensions", (&a, &b), [false; 2], common::every_way(), &want);
}

/// As in TensorFlow: `[2, (1), 3]` transposed by `[2, 1, 1]` gives `[2, 3, 1]` of ragged rank 1.
#[test]
fn uniform_columns_are_an_inner_dimension() {
    let a = host(vec![vec![0, 1, 2]], vec![2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = host(vec![], vec![2, 1, 1], vec![10.0f32, 100.0]);
    let want = host(vec![vec![0, 3, 6]], vec![6, 1], vec![10.0f32, 20.0, 30.0, 400.0, 500.0, 600.0]);
    check::<f32>("uniform columns", (&a, &b), [true, false], common::every_way(), &want);
}

/// The batches of the result are ragged if those of either operand are.
#[test]
fn dense_by_ragged_batches_are_ragged() {
    let mut random = Random(15);
    let left: Vec<Matrix<i32>> = (0..4).map(|_| Matrix::random(&mut random, 3, 2)).collect();
    let right: Vec<Matrix<i32>> = (0..4).map(|_| Matrix::random(&mut random, 2, 5)).collect();
    let values: Vec<i32> = left.iter().zip(&right).flat_map(|(a, b)| a.times(b)).flatten().collect();
    let flat = |all: &[Matrix<i32>]| -> Vec<i32> { all.iter().flat_map(|m| m.values.clone()).collect() };
    let outer = vec![0, 2, 4];
    let want = host(vec![outer.clone()], vec![4, 3, 5], values);
    for t in [[false, false], [false, true]] {
        let a: Vec<Matrix<i32>> = left.iter().map(|m| m.stored(t[0])).collect();
        let b: Vec<Matrix<i32>> = right.iter().map(|m| m.stored(t[1])).collect();
        let of = |m: &Matrix<i32>| [m.rows, m.columns];
        let [dense_a, dense_b] =
            [(&a, of(&a[0])), (&b, of(&b[0]))].map(|(all, [m, n])| host(vec![], vec![2, 2, m, n], flat(all)));
        let [ragged_a, ragged_b] =
            [(&a, of(&a[0])), (&b, of(&b[0]))].map(|(all, [m, n])| host(vec![outer.clone()], vec![4, m, n], flat(all)));
        let devices = common::devices();
        check::<i32>("dense by ragged", (&dense_a, &ragged_b), t, &devices, &want);
        check::<i32>("ragged by ragged", (&ragged_a, &ragged_b), t, &devices, &want);
        check::<i32>("ragged by dense", (&ragged_a, &dense_b), t, &devices, &want);
    }
}
