//! Special points: ties, zeros, branches that are not taken, values that were read before.

use ragged::opt::keep;
use ragged::{DType, Device, Program, RaggedTensor, Result, Tensor, TensorSpec, grad, value_and_grad};

use crate::common::devices;

type Rows = Vec<Vec<f32>>;

/// The gradient of the sum of all results of `f`, on every device: rows of f32.
fn gradient(rows: Rows, f: impl Fn(&Tensor) -> Result<Tensor>) -> Rows {
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
fn products_of_zeros() {
    let x = vec![vec![2.0, 0.0, 5.0], vec![0.0, 3.0, 0.0], vec![2.0, 3.0]];
    assert_eq!(gradient(x.clone(), |x| x.reduce_prod(1)), [vec![0.0, 10.0, 0.0], vec![0.0, 0.0, 0.0], vec![3.0, 2.0]]);
    // Each result of a row: x, x y, x y z.
    let of_scan = [vec![1.0, 12.0, 0.0], vec![4.0, 0.0, 0.0], vec![4.0, 2.0]];
    assert_eq!(gradient(x, |x| x.cumprod(1)), of_scan);
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
    assert!(text(no_scalar).contains("the function returns a f32 of shape [2], not one float"));
}
