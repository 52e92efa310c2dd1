//! Norms of values whose squares leave the range of the dtype.

use ragged::{Tensor, bf16};

use crate::everywhere::{Float, floats};

/// `l2_normalize` of one row, compared with a norm of values that are scaled by a power of 2.
fn normalized<T: Float>(x: &[f64], epsilon: f64, tolerance: f64) {
    let x: Vec<f64> = x.iter().map(|&x| T::of(x).wide()).collect();
    let most = x.iter().fold(0f64, |m, x| m.max(x.abs()));
    let scale = if most > 0.0 { most } else { 1.0 };
    let norm = x.iter().map(|x| (x / scale).powi(2)).sum::<f64>().sqrt();
    let least = epsilon.sqrt();
    let want = x.iter().map(|x| if norm * scale > least { x / scale / norm } else { x / least });
    let got = floats::<T>(&[&x], |x| x.l2_normalize(1, epsilon));
    for (got, want) in got.iter().zip(want) {
        assert!(
            (got - want).abs() <= tolerance * want.abs().max(1e-30),
            "{} {got} {want} of {x:?} {epsilon}",
            T::DTYPE
        );
    }
}

#[test]
fn unit_vectors_of_any_magnitude() {
    for scale in [1.0, 1e-2, 1e-9, 1e-15, 1e-19, 1e-22, 1e-25, 1e-30, 1e-37, 1e9, 1e15, 1e18, 1e19, 1e20, 1e30, 6e37] {
        for epsilon in [0.0, 1e-60, 1e-40, 1e-30, 1e-12, 1.0] {
            normalized::<f32>(&[3.0 * scale, 4.0 * scale], epsilon, 1e-6);
            normalized::<f32>(&[scale, -scale, 2.0 * scale, scale / 3.0, 0.0], epsilon, 1e-6);
            normalized::<bf16>(&[3.0 * scale, 4.0 * scale], epsilon, 1e-2);
        }
    }
    for scale in [1.0, 1e-100, 1e-160, 1e-200, 1e-300, 1e100, 1e154, 1e200, 4e307] {
        for epsilon in [0.0, 1e-300, 1e-12] {
            normalized::<f64>(&[3.0 * scale, 4.0 * scale], epsilon, 1e-15);
        }
    }
    let long = vec![f64::from(f32::MAX); 3000];
    normalized::<f32>(&long, 1e-12, 1e-5);
    let long = vec![1e-38; 3000];
    normalized::<f32>(&long, 0.0, 1e-5);
}

#[test]
fn unit_vectors_of_no_magnitude() {
    let op = |x: &Tensor| x.l2_normalize(1, 1e-12);
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let got = floats::<f32>(&[&[0.0, -0.0], &[inf, 1.0], &[nan, 1.0], &[], &[-inf, 0.0]], op);
    assert_eq!(&got[..2], [0.0, -0.0]);
    assert!(got[2].is_nan() && got[3] == 0.0 && got[4].is_nan() && got[5].is_nan(), "{got:?}");
    assert!(got[6].is_nan() && got[7] == 0.0, "{got:?}");
    assert!(floats::<f32>(&[&[0.0]], |x| x.l2_normalize(1, 0.0))[0].is_nan());
}

/// The limits that the page of `reduce_std` states.
#[test]
fn deviations_whose_squares_do_not_fit_are_infinite() {
    let std = |x: &Tensor| x.reduce_std(1);
    let of_four = |v: f64| floats::<f32>(&[&[v, -v, v, -v]], std)[0];
    // 1.8e19 / 2
    assert!((of_four(0.9e19) / 0.9e19 - 1.0).abs() < 1e-6);
    assert_eq!(of_four(1e19), f64::INFINITY);
    let of_two = |v: f64| floats::<f64>(&[&[v, 3.0 * v]], std)[0];
    // 1.3e154 / √2
    assert!((of_two(0.9e154) / 0.9e154 - 1.0).abs() < 1e-14);
    assert_eq!(of_two(1e154), f64::INFINITY);
}
