//! Operations with dense or ragged operands and results, on random entries.

use proptest::prelude::*;
use ragged::arguments::{Axes, CrossInput};
use ragged::opt::{keep, with_nrows};
use ragged::{DType, HostTensor, HostValues, SparseTensor, Tensor};

use crate::twin::{Twin, Value, most, sum};
use crate::{each_device, gives, gives_dense, some, twins};

fn dense(shape: &[usize], values: HostValues, device: &ragged::Device) -> Tensor {
    HostTensor::dense(shape, values).to_device(device).expect("a tensor")
}

/// Numbers from a seed.
fn numbers(n: usize, seed: i32) -> Vec<i32> {
    (0..n as i32).map(|k| k.wrapping_mul(seed).wrapping_add(k / 3) % 50).collect()
}

proptest! {
    #![proptest_config(some())]

    #[test]
    fn to_dense_and_back(x in twins(1..=4)) {
        let x = x.distinct().sorted();
        gives_dense(&x.sizes(), &x.dense(&-7), |d| x.on(d).to_dense(-7));
        let words = x.words();
        gives_dense(&x.sizes(), &words.dense(&b"?!".to_vec()), |d| words.on(d).to_dense("?!"));
        let mut nonzero = x.with(x.shape.clone(), |c| Some(c.to_vec()));
        let kept: Vec<_> = nonzero.entries().filter(|(_, v)| **v != 0).map(|(c, v)| (c.clone(), *v)).collect();
        (nonzero.coordinates, nonzero.values) = kept.into_iter().unzip();
        gives(&nonzero, |d| SparseTensor::from_dense(&x.on(d).to_dense(0)?));
        let of_words = nonzero.map(|v| v.to_string().into_bytes());
        gives(&of_words, |d| SparseTensor::from_dense(&of_words.on(d).to_dense("")?));
        // The same through the coordinates as a tensor.
        gives_dense(&x.sizes(), &x.dense(&5), |d| {
            let sparse = x.on(d);
            sparse.indices().sparse_to_dense(&x.shape, sparse.values(), 5)
        });
    }

    #[test]
    fn add_dense(x in twins(1..=3), seed in any::<i32>()) {
        let x = x.distinct().sorted();
        let own = numbers(x.dense(&0).len(), seed);
        let want: Vec<i32> = x.dense(&0).iter().zip(&own).map(|(a, b)| a + b).collect();
        gives_dense(&x.sizes(), &want, |d| x.on(d).add_dense(&dense(&x.sizes(), HostValues::I32(own.clone()), d)));
    }

    #[test]
    fn to_indicator(x in twins(1..=3)) {
        let x = x.map(|v| v.abs() % 7);
        let shape: Vec<u64> = [&x.shape[..x.shape.len() - 1], &[7]].concat();
        let there = x.entries().map(|(c, v)| [&c[..c.len() - 1], &[i64::from(*v)]].concat()).collect();
        let there = Twin { coordinates: there, values: vec![true; x.values.len()], shape };
        gives_dense(&there.sizes(), &there.dense(&false), |d| x.on(d).to_indicator(7));
    }

    #[test]
    fn reduce(x in twins(1..=3), named in prop::collection::vec(any::<bool>(), 3), all in any::<bool>()) {
        let rank = x.shape.len();
        let named: Vec<bool> = (0..rank).map(|d| all || named[d]).collect();
        let axes = || if all { Axes::All } else { Axes::List((0..rank as i64).filter(|&d| named[d as usize]).collect()) };
        let stay = |c: &[i64]| (0..rank).filter(|&d| !named[d]).map(|d| c[d]).collect();
        let left = x.with((0..rank).filter(|&d| !named[d]).map(|d| x.shape[d]).collect(), |c| Some(stay(c)));
        gives_dense(&left.sizes(), &left.grouped(sum).dense(&0), |d| x.on(d).reduce_sum(axes()));
        gives_dense(&left.sizes(), &left.grouped(most).dense(&0), |d| x.on(d).reduce_max(axes()));
        let kept: Vec<usize> = (0..rank).map(|d| if named[d] { 1 } else { x.shape[d] as usize }).collect();
        gives_dense(&kept, &left.grouped(sum).dense(&0), |d| x.on(d).reduce_sum(keep(axes())));
    }

    #[test]
    fn matmul(x in twins(2..=2), columns in 0..5usize, seed in any::<i32>()) {
        let x = x.sorted();
        let (m, k) = (x.shape[0] as usize, x.shape[1] as usize);
        let b = numbers(k * columns, seed);
        let mut want = vec![0i32; m * columns];
        for (c, v) in x.entries() {
            for j in 0..columns {
                want[c[0] as usize * columns + j] += v * b[c[1] as usize * columns + j];
            }
        }
        let other = |d: &ragged::Device| dense(&[k, columns], HostValues::I32(b.clone()), d);
        gives_dense(&[m, columns], &want, |d| x.on(d).matmul(&other(d)));
        let transposed: Vec<i32> = (0..k * columns).map(|at| b[at % k.max(1) * columns + at / k.max(1)]).collect();
        let other = |d: &ragged::Device| dense(&[columns, k], HostValues::I32(transposed.clone()), d);
        gives_dense(&[m, columns], &want, |d| x.on(d).matmul(other(d).t()));
    }

    #[test]
    fn rows(x in twins(2..=2)) {
        let x = x.sorted();
        let mut lengths = vec![0u32; x.shape[0] as usize];
        x.coordinates.iter().for_each(|c| lengths[c[0] as usize] += 1);
        let splits = crate::common::random::splits(&lengths);
        for (name, device) in each_device() {
            let got = x.words().on(device).values_by_row()?.to_host()?;
            prop_assert_eq!(&got.nested_row_splits, std::slice::from_ref(&splits), "{}", name);
            prop_assert_eq!(<Vec<u8>>::of(got.values), x.words().values, "{}", name);
        }
        // From the start of each row.
        let filled = Twin {
            coordinates: (0..lengths.len()).flat_map(|r| (0..lengths[r]).map(move |c| vec![r as i64, c.into()])).collect(),
            shape: vec![x.shape[0], 40],
            ..x.clone()
        };
        for (name, device) in each_device() {
            let got = filled.on(device).to_ragged()?.to_host()?;
            prop_assert_eq!(&got.nested_row_splits, std::slice::from_ref(&splits), "{}", name);
            prop_assert_eq!(i32::of(got.values), x.values.clone(), "{}", name);
            let is_filled = x.coordinates == filled.coordinates;
            prop_assert_eq!(x.on(device).to_ragged()?.to_host().is_ok(), is_filled, "{}", name);
        }
        let longest = lengths.iter().copied().max().unwrap_or(0).into();
        gives(&filled.with(vec![x.shape[0], longest], |c| Some(c.to_vec())), |d| filled.on(d).to_ragged()?.to_sparse());
    }

    #[test]
    fn segments(rows in 1..6usize, ids in prop::collection::vec((0..5i64, 0..6usize), 0..20), more in 0..3i64) {
        let mut ids: Vec<(i64, i64)> = ids.into_iter().map(|(id, at)| (id, (at % rows) as i64)).collect();
        ids.sort_by_key(|&(id, _)| id);
        let table: Vec<i32> = numbers(rows * 2, 7);
        let num = ids.last().map_or(0, |&(id, _)| id + 1);
        let column = |list: Vec<i64>, d: &ragged::Device| dense(&[list.len()], HostValues::I64(list), d);
        for num_segments in [None, Some(num + more)] {
            let n = num_segments.unwrap_or(num) as usize;
            let mut sums = vec![0i32; n * 2];
            let mut counts = vec![0; n];
            for &(id, at) in &ids {
                counts[id as usize] += 1;
                (0..2).for_each(|j| sums[id as usize * 2 + j] += table[at as usize * 2 + j]);
            }
            for (name, device) in each_device() {
                let x = dense(&[rows, 2], HostValues::I32(table.clone()), device);
                let at = column(ids.iter().map(|&(_, at)| at).collect(), device);
                let of = column(ids.iter().map(|&(id, _)| id).collect(), device);
                let of = || match num_segments {
                    Some(n) => with_nrows(&of, n).into(),
                    None => ragged::opt::SegmentIds::from(&of),
                };
                let got = x.sparse_segment_sum(&at, of())?.to_host()?;
                prop_assert_eq!(got.values, HostValues::I32(sums.clone()), "{}", name);
                // Means of integers are f64.
                if !crate::common::has(device, DType::F64) {
                    continue;
                }
                let each = |f: &dyn Fn(f64, f64) -> f64| -> HostValues {
                    let one = |k: usize| if counts[k / 2] == 0 { 0.0 } else { f(sums[k].into(), counts[k / 2].into()) };
                    HostValues::F64((0..n * 2).map(one).collect())
                };
                prop_assert_eq!(x.sparse_segment_mean(&at, of())?.to_host()?.values, each(&|s, n| s / n), "{}", name);
                let roots = x.sparse_segment_sqrt_n(&at, of())?.to_host()?.values;
                prop_assert_eq!(roots, each(&|s, n| s / n.sqrt()), "{}", name);
            }
        }
    }
}

#[test]
fn scalars_and_vectors_of_coordinates() {
    for (name, device) in each_device() {
        let index = |shape: &[usize], v: Vec<i32>| dense(shape, HostValues::I32(v), device);
        let read = |t: ragged::Result<Tensor>| i32::of(t.and_then(|t| t.to_host()).expect("dense").values);
        assert_eq!(read(index(&[], vec![2]).sparse_to_dense(&[4], 9, 1)), [1, 1, 9, 1], "{name}");
        assert_eq!(read(index(&[2], vec![0, 3]).sparse_to_dense(&[4], 9, 1)), [9, 1, 1, 9], "{name}");
        let values = dense(&[2], HostValues::I32(vec![5, 6]), device);
        assert_eq!(read(index(&[2, 1], vec![0, 3]).sparse_to_dense(&[4], &values, 1)), [5, 1, 1, 6], "{name}");
        let one = dense(&[], HostValues::I32(vec![8]), device);
        assert_eq!(read(index(&[2, 2], vec![0, 1, 1, 0]).sparse_to_dense(&[2, 2], &one, 0)), [0, 8, 8, 0], "{name}");
        let words = index(&[2], vec![0, 2]).sparse_to_dense(&[3], "on", "off").and_then(|t| t.to_host());
        assert_eq!(<Vec<u8>>::of(words.expect("words").values), [&b"on"[..], b"off", b"on"], "{name}");
    }
}

#[test]
fn eye() {
    for (m, n) in [(0, 0), (1, 1), (2, 3), (3, 2), (5, 0)] {
        for (name, device) in each_device() {
            let x = SparseTensor::eye(m, n, DType::I32, device).expect("a matrix");
            let at: Vec<Vec<i64>> = (0..m.min(n)).map(|k| vec![k, k]).collect();
            let want = Twin { values: vec![1; at.len()], coordinates: at, shape: vec![m as u64, n as u64] };
            assert_eq!(Twin::read(&x).expect("read"), want, "{name}");
            let y: Vec<i32> = (0..n as i32 * 2).collect();
            let product = x.matmul(&dense(&[n as usize, 2], HostValues::I32(y.clone()), device)).expect("a product");
            let want: Vec<i32> = (0..m as usize * 2).map(|k| if k / 2 < n as usize { y[k] } else { 0 }).collect();
            assert_eq!(i32::of(product.to_host().expect("read").values), want, "{name}");
        }
    }
}

#[test]
fn crosses() {
    let word = |s: &str| s.as_bytes().to_vec();
    let x = Twin::of(&[&[0, 1], &[1, 0], &[1, 3]], &[word("a"), word("b"), word("c")], &[3, 4]);
    let y = Twin::of(&[&[0, 0], &[0, 2], &[1, 5]], &[1, 2, 3], &[3, 6]);
    let want = Twin::of(
        &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]],
        &[word("a_X_1"), word("a_X_2"), word("b_X_3"), word("c_X_3")],
        &[3, 2],
    );
    gives(&want, |d| SparseTensor::cross([CrossInput::from(&x.on(d)), CrossInput::from(&y.on(d))]));
    for (name, device) in each_device() {
        let (x, y) = (x.on(device), y.on(device));
        let hashed = SparseTensor::cross_hashed([&x, &y], 1000).expect("hashes");
        let rows = [&x, &y].map(|t| t.values_by_row().expect("rows"));
        let same = Tensor::cross_hashed(&rows, 1000).expect("hashes");
        assert_eq!(hashed.values().to_host().expect("read").values, same.to_host().expect("read").values, "{name}");
    }
}
