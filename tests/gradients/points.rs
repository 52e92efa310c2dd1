//! Special points: ties, zeros, branches that are not taken, values that were read before.

use ragged::opt::keep;
use ragged::{CpuOptions, DType, Device, Program, RaggedTensor, Result, Tensor, TensorSpec, grad, value_and_grad};

use crate::common::devices;

pub type Rows = Vec<Vec<f32>>;

/// The gradient of the sum of all results of `f`, on every device: rows of f32.
pub fn gradient(rows: Rows, f: impl Fn(&Tensor) -> Result<Tensor>) -> Rows {
    let mut found: Vec<Rows> = Vec::new();
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested(rows.clone(), &device).unwrap();
        let g = grad(|x| f(&x[0])?.reduce_sum(..), [&x]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let g: RaggedTensor<f32> = RaggedTensor::try_from(g[0].clone()).unwrap();
        found.push(g.to_nested_vec().unwrap());
    }
    assert!(found.iter().all(|other| format!("{other:?}") == format!("{:?}", found[0])), "{found:?}");
    found.swap_remove(0)
}

#[test]
fn branches_that_are_not_taken_contribute_nothing() {
    let x = vec![vec![0.0, 4.0], vec![], vec![-1.0]];
    let positive = |x: &Tensor, y: Result<Tensor>| x.greater(0.0)?.select(&y?, 0.0);
    assert_eq!(gradient(x.clone(), |x| positive(x, x.log())), [vec![0.0, 0.25], vec![], vec![0.0]]);
    assert_eq!(gradient(x.clone(), |x| positive(x, x.sqrt())), [vec![0.0, 0.25], vec![], vec![0.0]]);
    assert_eq!(gradient(x.clone(), |x| positive(x, x.reciprocal())), [vec![0.0, -0.0625], vec![], vec![0.0]]);
    // Also behind accesses and reductions.
    let far = |x: &Tensor| positive(&x.reverse(1)?, x.log()?.reverse(1));
    assert_eq!(gradient(x, far), [vec![0.0, 0.25], vec![], vec![0.0]]);
}

#[test]
fn ties_share_or_go_to_the_first() {
    let x = vec![vec![2.0, 1.0, 2.0], vec![], vec![3.0]];
    assert_eq!(gradient(x.clone(), |x| x.reduce_max(1)), [vec![0.5, 0.0, 0.5], vec![], vec![1.0]]);
    assert_eq!(
        gradient(x.clone(), |x| x.maximum(&x.ones_like()?.multiply(2.0)?)),
        [vec![1.0, 0.0, 1.0], vec![], vec![1.0]]
    );
    assert_eq!(gradient(x, |x| x.subtract(2.0)?.relu()), [vec![0.0, 0.0, 0.0], vec![], vec![1.0]]);
}

#[test]
fn ties_of_extremes_and_sorts() {
    let x = vec![vec![2.0, 1.0, 1.0], vec![], vec![3.0, 3.0]];
    assert_eq!(gradient(x.clone(), |x| x.reduce_min(1)), [vec![0.0, 0.5, 0.5], vec![], vec![0.5, 0.5]]);
    let with_twos = |x: &Tensor| x.ones_like()?.multiply(2.0);
    assert_eq!(gradient(x.clone(), |x| x.minimum(&with_twos(x)?)), [vec![1.0, 1.0, 1.0], vec![], vec![0.0, 0.0]]);
    // Each result times its place, from 1: equal numbers stay in order.
    let weighed = |y: Tensor| y.local_index(1)?.cast(y.dtype())?.add(1.0)?.multiply(&y);
    assert_eq!(gradient(x.clone(), |x| weighed(x.sort(1)?)), [vec![3.0, 1.0, 2.0], vec![], vec![1.0, 2.0]]);
    assert_eq!(gradient(x.clone(), |x| weighed(x.top_k(2, -1)?.0)), [vec![1.0, 2.0, 0.0], vec![], vec![1.0, 2.0]]);
    // The first of the equal numbers is the extreme so far.
    assert_eq!(gradient(x, |x| weighed(x.cummin(1)?)), [vec![1.0, 5.0, 0.0], vec![], vec![3.0, 0.0]]);
}

#[test]
fn quantiles_between_equal_numbers_share() {
    for number in [3.0, 0.0, -0.0] {
        let x = vec![vec![number + 2.0, number, number], vec![], vec![number, number]];
        assert_eq!(gradient(x.clone(), |x| x.quantile(0.25, 1)), [vec![0.0, 0.5, 0.5], vec![], vec![0.75, 0.25]]);
        assert_eq!(gradient(x, |x| x.median(1)), [vec![0.0, 0.0, 1.0], vec![], vec![0.5, 0.5]]);
    }
}

#[test]
fn products_of_zeros() {
    let x = vec![vec![2.0, 0.0, 5.0], vec![0.0, 3.0, 0.0], vec![2.0, 3.0]];
    assert_eq!(gradient(x.clone(), |x| x.reduce_prod(1)), [vec![0.0, 10.0, 0.0], vec![0.0, 0.0, 0.0], vec![3.0, 2.0]]);
    // Each result of a row: x, x y, x y z.
    let of_scan = [vec![1.0, 12.0, 0.0], vec![4.0, 0.0, 0.0], vec![4.0, 2.0]];
    assert_eq!(gradient(x.clone(), |x| x.cumprod(1)), of_scan);
    // The gradient's own: of x y and x y z, those by two of their numbers.
    let squares = |x: &Tensor| grad(|x| x[0].cumprod(1)?.reduce_sum(..), [x])?[0].reduce_sum(1);
    assert_eq!(gradient(x, squares), [vec![6.0, 8.0, 2.0], vec![4.0, 1.0, 3.0], vec![1.0, 1.0]]);
}

#[test]
fn values_that_were_read_are_differentiated_too() {
    let softmax = |x: &Tensor, reads: bool| -> Result<Tensor> {
        let shifted = x.subtract(&x.reduce_max(keep(1))?)?;
        let exp = shifted.exp()?;
        let sum = exp.reduce_sum(keep(1))?;
        if reads {
            assert!(!exp.to_string().is_empty() && !sum.to_string().is_empty() && !shifted.to_string().is_empty());
        }
        exp.truediv(&sum)?.square()
    };
    let x = vec![vec![0.5, 1.0, -1.0], vec![], vec![3.0]];
    let unread = gradient(x.clone(), |x| softmax(x, false));
    assert_eq!(gradient(x.clone(), |x| softmax(x, true)), unread);
    // Equal values that are alive elsewhere, evaluated.
    let device = Device::cpu();
    let y: Tensor = RaggedTensor::from_nested(x.clone(), &device).unwrap().into_erased();
    let alive = softmax(&y, true).unwrap();
    alive.eval().unwrap();
    let g = grad(|y| softmax(&y[0], false)?.reduce_sum(..), [&y]).unwrap();
    assert_eq!(g[0].to_string(), RaggedTensor::from_nested(unread, &device).unwrap().to_string());
}

#[test]
fn what_does_not_contribute_has_a_gradient_of_zeros() {
    let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![]], &Device::cpu()).unwrap();
    let (value, g) = value_and_grad(|x| x[0].reduce_sum(..), [&x, &x]).unwrap();
    assert_eq!(value.to_string(), "tensor(3.0, shape=(), dtype=f32)");
    assert_eq!(g[0].to_string(), "<ragged.RaggedTensor [[1.0, 1.0], []]>");
    assert_eq!(g[1].to_string(), "<ragged.RaggedTensor [[0.0, 0.0], []]>");
    let none = grad(|x| x[0].floor()?.reduce_sum(..), [&x]).unwrap();
    assert_eq!(none[0].to_string(), "<ragged.RaggedTensor [[0.0, 0.0], []]>");
}

#[test]
fn special_points_of_functions() {
    let zero = vec![vec![0.0f32, 2.0], vec![]];
    let labels = |x: &Tensor| x.zeros_like()?.add(0.25);
    let entropy = |x: &Tensor| x.sigmoid_cross_entropy_with_logits(&labels(x)?);
    assert_eq!(gradient(zero.clone(), entropy)[0][0], 0.25);
    assert_eq!(gradient(zero, |x| x.sign()), [vec![0.0, 0.0], vec![]]);
    let multiples = vec![vec![4.0, 4.5, -4.0], vec![]];
    assert_eq!(gradient(multiples.clone(), |x| x.floormod(2.0)), [vec![1.0, 1.0, 1.0], vec![]]);
    let by_divisor =
        |x: &Tensor| x.stop_gradient()?.floormod(&x.multiply(0.0)?.add(2.0)?.add(&x.subtract(&x.stop_gradient()?)?)?);
    assert_eq!(gradient(multiples, by_divisor), [vec![-2.0, -2.0, 2.0], vec![]]);
    // 0.7 / 0.1 is 7 when it is rounded, but 6 tenths are within 0.7.
    let tenths = |x: &Tensor| x.stop_gradient()?.floormod(&x.subtract(&x.stop_gradient()?)?.add(0.1)?);
    assert_eq!(gradient(vec![vec![0.7]], tenths), [vec![-6.0]]);
    // Squares that overflow or underflow.
    assert_eq!(gradient(vec![vec![1e20, -1e20, 0.0]], Tensor::asinh), [vec![1e-20, 1e-20, 1.0]]);
    let acosh = gradient(vec![vec![1e20, 3.0]], Tensor::acosh)[0].clone();
    assert!((acosh[0] / 1e-20 - 1.0).abs() < 1e-6 && (acosh[1] - 8f32.sqrt().recip()).abs() < 1e-6, "{acosh:?}");
    let angle = |x: &Tensor| x.atan2(&x.stop_gradient()?);
    assert_eq!(gradient(vec![vec![1e-25, 1e20, 2.0]], angle), [vec![5e24, 5e-21, 0.25]]);
    let infinite = vec![vec![f32::INFINITY, f32::NEG_INFINITY]];
    assert_eq!(gradient(infinite.clone(), |x| x.atan2(&x.ones_like()?)), [vec![0.0, 0.0]]);
    assert_eq!(gradient(infinite.clone(), |x| x.ones_like()?.atan2(x)), [vec![0.0, 0.0]]);
    assert_eq!(gradient(infinite, |x| x.atan2(&x.stop_gradient()?)), [vec![0.0, 0.0]]);
    // The inverse of the larger operand overflows.
    let small = vec![vec![1e-39, -1e-39]];
    assert_eq!(gradient(small.clone(), |x| x.atan2(&x.zeros_like()?)), [vec![0.0, 0.0]]);
    assert_eq!(gradient(small, |x| x.zeros_like()?.atan2(x)), [vec![0.0, 0.0]]);
    // Large numbers that differ little.
    let far = vec![vec![1e8, 1e8 + 8.0, 1e8 + 16.0], vec![]];
    let variance = gradient(far, |x| finite(&x.reduce_variance(1)?));
    assert!((variance[0][0] + 16.0 / 3.0).abs() < 1e-4 && variance[0][1].abs() < 1e-4, "{variance:?}");
    let nan = gradient(vec![vec![1.0, f32::NAN, 3.0], vec![1.0, 2.0]], |x| x.reduce_max(1));
    assert_eq!(nan, [vec![0.0, 1.0, 0.0], vec![0.0, 1.0]]);
    let scanned = gradient(vec![vec![1.0, f32::NAN, 3.0]], |x| x.cummax(1));
    assert_eq!(scanned, [vec![1.0, 2.0, 0.0]]);
}

/// The numbers of a tensor that are finite; others are 0.
fn finite(x: &Tensor) -> Result<Tensor> {
    x.is_finite()?.select(x, 0.0)
}

#[test]
fn segments_of_many_tiles() {
    // Equal extremes in several tiles share the cotangent; products have the bits of the function alone.
    let n = 5000;
    let values: Vec<f32> = (0..n).map(|k| if k % 1250 == 3 { 7.0 } else { 1.0 + (k % 3) as f32 / 1024.0 }).collect();
    let rows = |values: Vec<f32>| vec![values];
    let ids = |x: &Tensor| x.flat_values()?.zeros_like()?.cast(DType::I32);
    let max =
        gradient(rows(values.clone()), |x| x.flat_values()?.unsorted_segment_max(&ids(x)?, 2)?.slice(ragged::s![..1]));
    assert_eq!(max[0].iter().filter(|&&g| g == 0.25).count(), 4);
    assert_eq!(max[0].iter().filter(|&&g| g == 0.0).count(), n - 4);
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested(values.iter().map(|v| v * 0.75).collect::<Vec<f32>>(), &device).unwrap();
        let product = |x: &Tensor| x.unsorted_segment_prod(&ids(x)?, 1)?.reduce_sum(..);
        let (value, g) = value_and_grad(|x| product(&x[0]), &x).unwrap();
        assert_eq!(value.to_string(), product(x.erased()).unwrap().to_string(), "{name}");
        assert_eq!(g[0].shape(), [Some(n)]);
    }
    let small = |x: &Tensor| x.flat_values()?.unsorted_segment_prod(&ids(x)?, 1);
    assert_eq!(gradient(vec![vec![2.0, 0.0, 5.0]], small), [vec![0.0, 10.0, 0.0]]);
}

#[test]
fn conditions_of_the_value_are_those_of_its_gradient() {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([1.0f32, 2.0, 3.0], &device).unwrap();
        let ids = RaggedTensor::from_nested([7], &device).unwrap();
        let g = grad(|x| x[0].gather(&ids)?.reduce_sum(..), &x).unwrap();
        assert!(g[0].to_host().is_err(), "{name}");
    }
}

#[test]
fn batches_without_rows_contribute_nothing() {
    for (name, device) in devices() {
        let a = RaggedTensor::from_nested(vec![vec![], vec![vec![1.0f32, 2.0, 3.0]]], &device).unwrap();
        let b = RaggedTensor::dense(vec![1.0f32; 12], &[2, 3, 2], &device).unwrap();
        for _ in 0..3 {
            let g = grad(|x| a.erased().matmul(&x[0])?.reduce_sum(..), &b).unwrap();
            let want = "tensor([[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]], shape=(2, 3, 2), dtype=f32)";
            assert_eq!(g[0].to_string(), want, "{name}");
        }
    }
}

#[test]
fn steps_of_a_descent_keep_nothing() {
    // A step needs a few arrays of 1 MB; kept recipes would keep those of all steps.
    let device = Device::cpu_with(&CpuOptions::default().max_memory(24 << 20));
    let x = RaggedTensor::dense(vec![0.5f32; 1 << 18], &[1 << 18], &device).unwrap();
    let mut w: Tensor = x.zeros_like().unwrap().into_erased();
    for _ in 0..100 {
        let loss = |w: &[Tensor]| w[0].multiply(&x)?.subtract(1.0)?.square()?.reduce_sum(..);
        let (_, g) = value_and_grad(loss, &w).unwrap();
        w = w.subtract(&g[0].multiply(0.5).unwrap()).unwrap();
        w.eval().unwrap();
    }
    let largest = w.subtract(2.0).unwrap().abs().unwrap().reduce_max(..).unwrap().to_host().unwrap();
    assert!(matches!(&largest.values, ragged::HostValues::F32(v) if v[0] < 1e-3), "{largest:?}");
}

#[test]
fn programs_are_differentiated() {
    let rows = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
    let squares = Program::trace(&[rows], |x| x[0].square()?.reduce_sum(1)).unwrap();
    let g = gradient(vec![vec![1.0, 2.0], vec![], vec![3.0]], |x| Ok(squares.run(x)?[0].clone()));
    assert_eq!(g, [vec![2.0, 4.0], vec![], vec![6.0]]);
    // A gradient within a program.
    let spec = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
    let slopes = Program::trace(&[spec], |x| grad(|x| x[0].exp()?.reduce_sum(..), &x[0])).unwrap();
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![0.0f32], vec![], vec![0.0, 0.0]], &device).unwrap();
        assert_eq!(slopes.run(&x).unwrap()[0].to_string(), "<ragged.RaggedTensor [[1.0], [], [1.0, 1.0]]>", "{name}");
    }
}

#[test]
fn errors_name_the_call() {
    let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![]], &Device::cpu()).unwrap();
    let ids = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu()).unwrap();
    let text = |e: ragged::Error| e.to_string();
    let of_integers = grad(|x| x[0].reduce_sum(..), [&ids]).map(|_| ()).unwrap_err();
    assert!(text(of_integers).starts_with("grad is not defined for i32: input 0 does not hold floats"));
    let moved = |x: &[Tensor]| x[0].to_device(&Device::cpu_unfused())?.reduce_sum(..);
    let elsewhere = grad(moved, [&x]).map(|_| ()).unwrap_err();
    assert!(text(elsewhere).starts_with("to_device is not defined for f32: a copy to another device has no gradient"));
    let no_scalar = value_and_grad(|x| x[0].reduce_sum(1), [&x]).map(|_| ()).unwrap_err();
    assert!(text(no_scalar).contains("the result of the function is f32 of shape [2], not one float"));
}
