//! Dimensions beyond 2^32, and many entries.

use ragged::Error;

use crate::common::random::Random;
use crate::twin::{Twin, sum};
use crate::{each_device, gives};

/// Entries at few distinct coordinates of a large dense shape.
fn wide(n: usize) -> Twin<i32> {
    let (rows, columns) = (1u64 << 40, (1u64 << 33) + 5);
    let mut random = Random(3);
    let mut at = |size: u64| {
        // The same low words at different high words, and the other way round.
        let high = u64::from(random.below(3)) << 32;
        ((high + u64::from(random.below(4)) * 0x3fff_ffff) % size) as i64
    };
    let coordinates = (0..n).map(|_| vec![at(rows), at(3), at(columns)]).collect();
    Twin { coordinates, values: (0..n as i32).collect(), shape: vec![rows, 3, columns] }
}

#[test]
fn dimensions_beyond_32_bits() {
    let x = wide(300);
    gives(&x.sorted(), |d| x.on(d).reorder());
    gives(&x.words().sorted(), |d| x.words().on(d).reorder());
    gives(&x.grouped(sum), |d| x.on(d).coalesce());
    let moved = x.with(vec![x.shape[2], x.shape[0], 3], |c| Some(vec![c[2], c[0], c[1]]));
    gives(&moved.sorted(), |d| x.on(d).transpose([2, 0, 1]));
    gives(&x.part(&[1 << 32, 0, 0x3fff_ffff], &[1 << 33, 2, 1 << 32]), |d| {
        x.on(d).slice(&[1u64 << 32, 0, 0x3fff_ffff], &[1u64 << 33, 2, 1 << 32])
    });
    let shifted = x.with(vec![2 << 40, 3, x.shape[2]], |c| Some(vec![c[0] + (1 << 40), c[1], c[2]]));
    let joined = x.with(vec![2 << 40, 3, x.shape[2]], |c| Some(c.to_vec())).followed_by(&shifted).sorted();
    gives(&joined, |d| ragged::SparseTensor::concat(&[&x.on(d), &x.on(d)], 0));
    let left = x.with(vec![x.shape[2]], |c| Some(vec![c[2]]));
    gives(&left.grouped(sum), |d| x.on(d).reduce_sum_sparse([0, 1]));
    gives(&x.followed_by(&x).grouped(sum), |d| x.on(d).add(&x.on(d)));
    let least: Vec<u64> = (0..3).map(|d| x.coordinates.iter().map(|c| c[d] as u64 + 1).max().unwrap_or(0)).collect();
    gives(&x.with(least, |c| Some(c.to_vec())), |d| x.on(d).shrink_shape());
}

#[test]
fn reshape_beyond_32_bits() {
    let (a, b) = (1u64 << 31, 12u64);
    let x = Twin::of(&[&[5, 11], &[(1 << 31) - 1, 0], &[1 << 30, 7]], &[1, 2, 3], &[a, b]);
    let flat = x.with(vec![a * b], |c| Some(vec![c[0] * b as i64 + c[1]]));
    gives(&flat, |d| x.on(d).reshape(&[-1]));
    let other =
        flat.with(vec![3, a * 2, 2], |c| Some(vec![c[0] / (4 * a as i64), c[0] / 2 % (2 * a as i64), c[0] % 2]));
    gives(&other, |d| x.on(d).reshape(&[3, 2 * a as i64, -1]));
    gives(&x, |d| other.on(d).reshape(&[a, b]));
    for (name, device) in each_device() {
        let huge = wide(3).on(device);
        let outcome = huge.reshape(&[-1]);
        assert!(matches!(outcome, Err(Error::Limit { .. })), "{name}: {outcome:?}");
        let dense = huge.to_dense(0);
        assert!(matches!(dense, Err(Error::Limit { .. })), "{name}: {dense:?}");
        assert!(matches!(huge.reduce_sum(0), Err(Error::Limit { .. })), "{name}");
        assert!(matches!(huge.mask(&huge.values().clone()), Err(Error::Limit { .. })), "{name}");
    }
}

/// Neither the rows nor the elements of a row are too many, but all elements are.
#[test]
fn dense_counts_in_rows_of_many_elements() {
    let side = 1u64 << 31;
    let x = Twin::of(&[&[0, 5, 1 << 30], &[2, (1 << 31) - 1, 0], &[2, 7, 7]], &[1, 0, 1], &[3, side, side]);
    crate::gives_dense(&[3, 2], &[0, 1, 0, 0, 1, 1], |d| x.on(d).bincount(1, ..));
    for (name, device) in each_device() {
        let outcome = x.on(device).bincount(2, ..);
        assert!(outcome.is_err(), "{name}: {outcome:?}");
    }
}

/// A dimension of 2^63 - 1 is the greatest.
#[test]
fn concatenations_up_to_the_greatest_dimension() {
    let half = 1u64 << 62;
    for (name, device) in each_device() {
        let x = |size: u64| Twin::of(&[&[3]], &[1], &[size]).on(device);
        let joined = ragged::SparseTensor::concat(&[&x(half), &x(half - 1)], 0).expect("of 2^63 - 1");
        assert_eq!(joined.dense_shape(), [i64::MAX as u64], "{name}");
        let copied = joined.to_host().and_then(|host| host.to_device(device)).expect("copied");
        assert_eq!(copied.to_string(), joined.to_string(), "{name}");
        let outcome = ragged::SparseTensor::concat(&[&x(half), &x(half)], 0);
        assert!(matches!(outcome, Err(Error::Argument { op: "SparseTensor::concat", .. })), "{name}: {outcome:?}");
    }
}

#[test]
fn many_entries() {
    let mut random = Random(5);
    let mut x = Twin { coordinates: Vec::new(), values: Vec::new(), shape: vec![500, 70] };
    for k in 0..20_000 {
        x.coordinates.push(vec![random.below(500).into(), random.below(70).into()]);
        x.values.push(k);
    }
    gives(&x.sorted(), |d| x.on(d).reorder());
    gives(&x.grouped(sum), |d| x.on(d).coalesce());
    let moved = x.with(vec![70, 500], |c| Some(vec![c[1], c[0]]));
    gives(&moved.sorted(), |d| x.on(d).transpose(..));
    let sums = x.grouped(sum);
    crate::gives_dense(&[500, 70], &sums.dense(&0), |d| x.on(d).coalesce()?.to_dense(0));
    gives(&x.part(&[100, 10], &[300, 50]), |d| x.on(d).slice(&[100, 10], &[300, 50]));
}
