//! Branches that are not taken, rows without a derivative, and values that are read, moved or captured.

use ragged::opt::keep;
use ragged::{DType, Device, RaggedTensor, Result, Tensor, grad, value_and_grad};

use crate::common::devices;
use crate::points::gradient;

/// The value where the condition holds, else 0.
fn only(condition: Result<Tensor>, value: Result<Tensor>) -> Result<Tensor> {
    condition?.select(&value?, 0.0)
}

#[test]
fn functions_without_a_derivative_at_0_are_finite_behind_a_choice() {
    type F = fn(&Tensor) -> Result<Tensor>;
    // The function, and its derivative at 4.
    let functions: [(&str, F, f32); 12] = [
        ("log", |x| x.log(), 0.25),
        ("sqrt", |x| x.sqrt(), 0.25),
        ("rsqrt", |x| x.rsqrt(), -0.0625),
        ("reciprocal", |x| x.reciprocal(), -0.0625),
        ("1 / x", |x| x.ones_like()?.truediv(x), -0.0625),
        ("pow", |x| x.pow(0.5), 0.25),
        ("pow of a negative exponent", |x| x.pow(-1.0), -0.0625),
        ("x log x", |x| x.multiply(&x.log()?)?.subtract(&x.multiply(1.386_294_4)?), 1.0),
        ("atan2", |x| x.atan2(x)?.add(&x.multiply(3.0)?), 3.0),
        ("x / |x|", |x| x.truediv(&x.abs()?), 0.0),
        ("norm", |x| x.square()?.sqrt(), 1.0),
        ("log of log", |x| x.log()?.log()?.multiply(1.386_294_4), 0.25),
    ];
    for (name, f, at_4) in functions {
        let g = gradient(vec![vec![0.0, 4.0], vec![], vec![-0.0]], |x| only(x.greater(0.0), f(x)));
        assert!(g[0][0] == 0.0 && g[2][0] == 0.0 && (g[0][1] - at_4).abs() < 1e-5, "{name}: {g:?}");
    }
}

#[test]
fn choices_around_reductions_of_rows() {
    let x = vec![vec![3.0, 1.0], vec![], vec![0.0], vec![0.0, 0.0]];
    let lengths = |x: &Tensor| x.row_lengths(1)?.cast(DType::F32);
    let is_filled = |x: &Tensor| lengths(x)?.greater(0.0f32);
    // The mean of an empty row is NaN, its logarithm of a sum of exponentials -inf, its largest value the least float.
    let halves = [vec![0.5, 0.5], vec![], vec![1.0], vec![0.5, 0.5]];
    assert_eq!(gradient(x.clone(), |x| only(is_filled(x), x.reduce_mean(1))), halves);
    assert_eq!(gradient(x.clone(), |x| only(is_filled(x), x.reduce_sum(1)?.truediv(&lengths(x)?))), halves);
    let sums = gradient(x.clone(), |x| only(is_filled(x), x.reduce_logsumexp(1)));
    assert!((sums[0][0] - 0.880_797).abs() < 1e-6 && sums[2..] == [vec![1.0], vec![0.5, 0.5]], "{sums:?}");
    let largest = [vec![1.0, 0.0], vec![], vec![1.0], vec![0.5, 0.5]];
    assert_eq!(gradient(x.clone(), |x| only(is_filled(x), x.reduce_max(1))), largest);
    // A choice by the result itself.
    let norm = |x: &Tensor| x.reduce_euclidean_norm(1);
    let zeros = vec![vec![3.0, 4.0], vec![], vec![0.0], vec![0.0, 0.0]];
    let of_norm = gradient(zeros.clone(), |x| only(norm(x)?.greater(0.0), norm(x)));
    assert_eq!(of_norm, [vec![0.6, 0.8], vec![], vec![0.0], vec![0.0, 0.0]]);
    let unit = gradient(zeros.clone(), |x| {
        only(norm(x)?.greater(0.0), x.truediv(&x.reduce_euclidean_norm(keep(1))?)?.reduce_sum(1))
    });
    assert!(unit.iter().flatten().all(|g| g.is_finite()) && unit[2..] == [vec![0.0], vec![0.0, 0.0]], "{unit:?}");
    let spread = |x: &Tensor| x.reduce_std(1);
    let of_spread = gradient(x.clone(), |x| only(spread(x)?.greater(0.0), spread(x)));
    assert_eq!(of_spread, [vec![0.5, -0.5], vec![], vec![0.0], vec![0.0, 0.0]]);
    // A choice of the rows, before the reduction: the safe form of frameworks without this rule.
    let safe = |x: &Tensor| x.less(0.5)?.select(1.0, x)?.log()?.reduce_sum(1);
    let of_safe = gradient(x, safe);
    assert_eq!(of_safe, [vec![1.0 / 3.0, 1.0], vec![], vec![0.0], vec![0.0, 0.0]]);
}

#[test]
fn rows_without_a_derivative() {
    // As in JAX and TensorFlow: the root of 0 has no finite derivative.
    let x = vec![vec![3.0, 4.0], vec![], vec![0.0], vec![0.0, 0.0]];
    let norm = gradient(x.clone(), |x| x.reduce_euclidean_norm(1));
    assert!(norm[0] == [0.6, 0.8] && norm[2..].iter().flatten().all(|g| g.is_nan()), "{norm:?}");
    let std = gradient(vec![vec![3.0, 1.0], vec![], vec![5.0], vec![2.0, 2.0]], |x| {
        only(x.reduce_std(1)?.is_finite(), x.reduce_std(1))
    });
    assert!(std[0] == [0.5, -0.5] && std[2..].iter().flatten().all(|g| g.is_nan()), "{std:?}");
    // Variances have one, and the unit vector of a row of zeros has that of a division by the root of epsilon.
    let variance = gradient(vec![vec![3.0, 1.0], vec![], vec![5.0]], |x| {
        only(x.reduce_variance(1)?.is_finite(), x.reduce_variance(1))
    });
    assert_eq!(variance, [vec![1.0, -1.0], vec![], vec![0.0]]);
    let unit = gradient(vec![vec![0.0, 0.0], vec![]], |x| x.l2_normalize(1, 0.25));
    assert_eq!(unit, [vec![2.0, 2.0], vec![]]);
}

#[test]
fn softmax_of_empty_and_masked_rows() {
    let x = vec![vec![1.0, 1.0], vec![], vec![0.0]];
    assert_eq!(gradient(x.clone(), |x| x.softmax(1)?.square()), [vec![0.0, 0.0], vec![], vec![0.0]]);
    let first = gradient(x.clone(), |x| x.softmax(1)?.slice(ragged::s![.., ..1]));
    assert_eq!(first, [vec![0.25, -0.25], vec![], vec![0.0]]);
    assert_eq!(gradient(x.clone(), |x| x.log_softmax(1)), [vec![0.0, 0.0], vec![], vec![0.0]]);
    // Masked by -inf; a row that is masked as a whole is NaN, and a choice behind it is finite.
    let masked = |x: &Tensor| -> Result<Tensor> { x.greater(0.5)?.select(x, f32::NEG_INFINITY)?.softmax(1) };
    let of_masked = gradient(vec![vec![1.0, 1.0, 0.0], vec![]], |x| only(x.greater(0.5), masked(x)?.multiply(x)));
    assert_eq!(of_masked, [vec![0.5, 0.5, 0.0], vec![]]);
    let whole = gradient(vec![vec![0.0, 0.0], vec![]], |x| only(x.greater(0.5), masked(x)));
    assert_eq!(whole, [vec![0.0, 0.0], vec![]]);
}

/// `x exp(x)`, where the exponential goes through `on_the_way`.
fn product(x: &Tensor, on_the_way: impl FnOnce(Tensor) -> Result<Tensor>) -> Result<Tensor> {
    on_the_way(x.exp()?)?.multiply(x)?.reduce_sum(..)
}

#[test]
fn values_that_were_evaluated_or_moved_are_differentiated_too() {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![0.5f32, -1.0], vec![], vec![2.0]], &device).unwrap().into_erased();
        let want = grad(|x| product(&x[0], Ok), [&x]).unwrap()[0].to_string();
        type Way = fn(Tensor) -> Result<Tensor>;
        let ways: [(&str, Way); 6] = [
            ("evaluated", |y| y.eval().map(|()| y)),
            ("read", |y| y.to_host().map(|_| y)),
            ("moved to its own device", |y| y.to_device(&y.device())),
            ("typed", |y| Ok(RaggedTensor::<f32>::try_from(y)?.into_erased())),
            ("evaluated on another thread", |y| {
                std::thread::spawn(move || y.eval().map(|()| y)).join().expect("no panic")
            }),
            ("as flat values", |y| {
                y.flat_values()?.eval()?;
                y.with_flat_values(&y.flat_values()?)
            }),
        ];
        for (way, f) in ways {
            assert_eq!(grad(|x| product(&x[0], f), [&x]).unwrap()[0].to_string(), want, "{name}: {way}");
        }
        // Equal values that were computed from the constant before, and are alive.
        let before = x.exp().unwrap();
        before.eval().unwrap();
        assert_eq!(grad(|x| product(&x[0], Ok), [&x]).unwrap()[0].to_string(), want, "{name}");
        // A captured value is a constant.
        let captured = grad(|x| before.multiply(&x[0])?.reduce_sum(..), [&x]).unwrap();
        assert_eq!(captured[0].to_string(), before.to_string(), "{name}");
    }
}

#[test]
fn gradients_within_gradients_keep_their_inputs_apart() {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![3.0f32, 2.0], vec![]], &device).unwrap().into_erased();
        for reads in [false, true] {
            // The derivative of x d/dy (x y) is 2 x: the inner gradient captures x, which the outer one differentiates.
            let outer = |x: &Tensor| -> Result<Tensor> {
                let inner = |y: &Tensor| -> Result<Tensor> {
                    let product = x.multiply(y)?;
                    if reads {
                        product.eval()?;
                    }
                    product.reduce_sum(..)
                };
                let slope = grad(|y| inner(&y[0]), &x.ones_like()?)?;
                if reads {
                    slope[0].eval()?;
                }
                x.multiply(&slope[0])?.reduce_sum(..)
            };
            let g = grad(|x| outer(&x[0]), [&x]).unwrap();
            assert_eq!(g[0].to_string(), "<ragged.RaggedTensor [[6.0, 4.0], []]>", "{name}, reads: {reads}");
            // The inner gradient at the outer input itself: the second derivative of x^3.
            let cube = |x: &Tensor| -> Result<Tensor> {
                let square = x.square()?;
                if reads {
                    square.eval()?;
                }
                square.multiply(x)?.reduce_sum(..)
            };
            let (value, second) = value_and_grad(|x| grad(|x| cube(&x[0]), [&x[0]])?[0].reduce_sum(..), [&x]).unwrap();
            assert_eq!(value.to_string(), "tensor(39.0, shape=(), dtype=f32)", "{name}");
            assert_eq!(second[0].to_string(), "<ragged.RaggedTensor [[18.0, 12.0], []]>", "{name}, reads: {reads}");
        }
    }
    // What left the function of a gradient is a constant for the next one.
    let x = RaggedTensor::from_nested([3.0f32], &Device::cpu()).unwrap().into_erased();
    let mut kept = None;
    grad(
        |x| {
            kept = Some(x[0].square()?);
            x[0].reduce_sum(..)
        },
        [&x],
    )
    .unwrap();
    let kept = kept.unwrap();
    assert_eq!(grad(|x| x[0].multiply(&kept)?.reduce_sum(..), [&x]).unwrap()[0].to_string(), kept.to_string());
}
