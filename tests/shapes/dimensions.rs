//! Operations that change the dimensions: `expand_dims`, `squeeze`, `merge_dims`, `reshape` and `broadcast_to`.

use ragged::arguments::Axes;
use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor};

use crate::lists::{at_depth, everywhere, list, merged, nested, rank, row, samples};
use crate::nest::{Nest, on};

fn expanded<T: Clone>(v: &Nest<T>, axis: usize) -> Nest<T> {
    at_depth(v, axis, &mut |i| list([i.clone()]))
}

#[test]
fn squeeze_inverts_expand_dims() {
    for x in samples(100, 16) {
        for axis in 0..=rank(&x) {
            let got = everywhere(&x, "expand_dims", |x| x.expand_dims(axis as i64));
            assert_eq!(nested(&got), expanded(&nested(&x), axis), "axis {axis} of {x:?}");
            let back = everywhere(&x, "squeeze", |x| x.expand_dims(axis as i64)?.squeeze(axis as i64));
            assert_eq!(back, x, "axis {axis}");
        }
    }
}

#[test]
fn several_axes_are_squeezed_at_once() {
    for x in samples(200, 12).skip(4) {
        let twice = |x: &Tensor| x.expand_dims(-1)?.expand_dims(0)?.expand_dims(1);
        let last = rank(&x) as i64 + 2;
        assert_eq!(everywhere(&x, "squeeze", |x| twice(x)?.squeeze([last, 0, 1])), x);
        let all = everywhere(&x, "squeeze of all", |x| twice(x)?.squeeze(Axes::All));
        let ones = |t: &HostTensor| on(t, &Device::cpu()).shape().contains(&Some(1));
        assert!(!ones(&all), "{all:?} has a dimension of size 1");
    }
}

#[test]
fn merged_dimensions_flatten() {
    for x in samples(300, 20) {
        for outer in 0..rank(&x) {
            for inner in outer..rank(&x) {
                let got = everywhere(&x, "merge_dims", |x| x.merge_dims(outer as i64, inner as i64));
                assert_eq!(nested(&got), merged(&nested(&x), outer, inner), "{outer} to {inner} of {x:?}");
                // Merged at once, or from the outside in.
                let steps = |x: &Tensor| {
                    (outer..inner).try_fold(x.clone(), |x, _| x.merge_dims(outer as i64, outer as i64 + 1))
                };
                assert_eq!(nested(&everywhere(&x, "merge_dims by steps", steps)), nested(&got));
            }
        }
    }
}

#[test]
fn reshaped_values_keep_their_order() {
    for x in samples(600, 24) {
        let n = x.values.len();
        let flat = everywhere(&x, "reshape to a vector", |x| x.reshape([-1]));
        assert_eq!((&flat.values, &flat.inner_shape), (&x.values, &vec![n]));
        let back = everywhere(&x, "reshape back", |x| x.flat_values()?.reshape([-1])?.reshape(x.ragged_shape()));
        assert_eq!(back, x);
        assert_eq!(everywhere(&x, "reshape_like", |y| y.reshape([n as i64, 1])?.reshape_like(y)), x);
        for width in (1..=4).filter(|width| n % width == 0) {
            let got = everywhere(&x, "reshape", |x| x.reshape([-1, width as i64]));
            assert_eq!((&got.values, &got.inner_shape), (&x.values, &vec![n / width, width]));
        }
    }
}

#[test]
fn broadcast_to_has_the_rows_of_the_shape() {
    for x in samples(700, 16) {
        let like = nested(&x);
        let ones = everywhere(&x, "ones", |x| Tensor::ones(x.ragged_shape(), DType::Bool));
        assert_eq!(nested(&ones), like.map(&mut |_| "true".into()));
        let words = everywhere(&x, "fill", |x| Tensor::fill(x.ragged_shape(), "word"));
        assert_eq!(nested(&words), like.map(&mut |_| "word".into()));
        // Numbers the rows at some depth; all values of a row are equal.
        for depth in 0..rank(&x) {
            let numbered = |x: &Tensor| {
                let above = Tensor::zeros(&x.ragged_shape().slice(..=depth as i64)?, DType::I32)?;
                let count = above.reshape([-1])?.to_host()?.values.len();
                let numbers = HostTensor::dense(&[count], HostValues::I32((0..count as i32).collect()));
                let numbers = numbers.to_device(&x.device())?.reshape(above.ragged_shape())?;
                (depth + 1..x.rank()).try_fold(numbers, |t, _| t.expand_dims(-1))
            };
            let got = everywhere(&x, "broadcast_to", |x| numbered(x)?.broadcast_to(x.ragged_shape()));
            let mut next = -1;
            let want = at_depth(&like, depth + 1, &mut |below| {
                next += 1;
                below.map(&mut |_| next.to_string())
            });
            assert_eq!(nested(&got), want, "depth {depth} of {x:?}");
            let shape =
                |x: &Tensor| Tensor::zeros(&numbered(x)?.ragged_shape().broadcast(x.ragged_shape())?, DType::I32);
            let shape = everywhere(&x, "broadcast of shapes", shape);
            assert_eq!((&shape.nested_row_splits, &shape.inner_shape), (&got.nested_row_splits, &got.inner_shape));
        }
    }
}

#[test]
fn changing_the_layout_runs_no_kernel() {
    let x = row(&[2, 0, 3], &Device::cpu());
    let kernels = |t: Result<Tensor>| t.and_then(|t| t.explain()).expect("a plan").kernels.len();
    for axis in 0..3 {
        assert_eq!(kernels(x.expand_dims(axis)), 0);
        assert_eq!(kernels(x.expand_dims(axis).and_then(|x| x.squeeze(axis))), 0);
    }
    assert_eq!(kernels(x.merge_dims(0, 1)), 0);
    assert_eq!(kernels(x.reshape([-1])), 0);
    assert_eq!(kernels(x.reshape_like(&x)), 0);
    assert_eq!(kernels(x.split(1, 1).map(|mut all| all.swap_remove(0))), 0);
    assert_eq!(kernels(x.expand_dims(1).and_then(|x| x.merge_dims(1, 2))), 0);
    // Ragged rows of ragged rows: a map over the outer ones.
    let deep = Tensor::from_row_lengths(&x, [1, 2]).expect("rows");
    assert_eq!(kernels(deep.merge_dims(1, 2)), 1);
}
