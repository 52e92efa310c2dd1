//! Independence of a product from other batches and other rows.

use ragged::HostValues;

use super::common;
use super::common::random::Random;
use super::matrix::{Matrix, bits, host, on, ragged};

#[test]
fn each_batch_is_independent_of_the_others() {
    let mut random = Random(13);
    let sizes = [[3, 700, 5], [0, 3, 1], [65, 9, 66], [1, 1, 1], [20, 64, 20]];
    let left: Vec<Matrix<f32>> = sizes.iter().map(|&[m, k, _]| Matrix::random(&mut random, m, k)).collect();
    let right: Vec<Matrix<f32>> = sizes.iter().map(|&[_, k, n]| Matrix::random(&mut random, k, n)).collect();
    for (name, device) in common::every_way() {
        let product = |a: &[Matrix<f32>], b: &[Matrix<f32>]| -> Vec<u64> {
            let [a, b] = [ragged(a), ragged(b)].map(|t| on(&t, device, false));
            bits::<f32>(&a.matmul(&b).and_then(|t| t.to_host()).expect("a product"))
        };
        let together = product(&left, &right);
        let separate: Vec<u64> = (0..sizes.len()).flat_map(|g| product(&left[g..=g], &right[g..=g])).collect();
        assert!(together == separate, "{name}");
    }
}

#[test]
fn nan_stays_in_its_row() {
    for (name, device) in common::every_way() {
        let a = host(vec![], vec![2, 2], vec![f32::NAN, 1.0, 2.0, 3.0]);
        let b = host(vec![], vec![2, 2], vec![1.0, f32::INFINITY, 0.0, 1.0]);
        let got = on(&a, device, false).matmul(&on(&b, device, false)).expect("recorded");
        let HostValues::F32(v) = got.to_host().expect("read").values else { panic!("floats") };
        assert!(v[0].is_nan() && v[1].is_nan(), "{name}: {v:?}");
        assert_eq!(v[2..], [2.0, f32::INFINITY], "{name}");
    }
}
