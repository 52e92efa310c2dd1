//! Zeros of both signs are one value wherever values are compared: in sorts, sets, groups, runs, searches and selections.

use ragged::opt::descending;
use ragged::{DType, Device, HostValues, RaggedTensor, Tensor, bf16, f16};

use crate::everywhere::{Float, everywhere, floats, rows, values};

/// Numbers with their signs, so that zeros differ.
fn signed(values: &[f64]) -> Vec<String> {
    values.iter().map(|x| format!("{x:?}")).collect()
}

fn sets<T: Float>() {
    let both = |a: &[f64], b: &[f64], f: fn(&Tensor, &Tensor) -> ragged::Result<Tensor>| -> Vec<String> {
        let got = values::<T>(|d| f(rows::<T>(&[a], d)?.erased(), rows::<T>(&[b], d)?.erased()));
        signed(&got.into_iter().map(T::wide).collect::<Vec<_>>())
    };
    type Op = fn(&Tensor, &Tensor) -> ragged::Result<Tensor>;
    let (union, common, rest): (Op, Op, Op) =
        (|a, b| a.set_union(b), |a, b| a.set_intersection(b), |a, b| a.set_difference(b));
    // The zero that is kept is the first of the first tensor, or, if that has none, of the second.
    for (a, b, in_both, in_either, in_first) in [
        (vec![0.0], vec![-0.0], vec!["0.0"], vec!["0.0"], vec![]),
        (vec![-0.0], vec![0.0], vec!["-0.0"], vec!["-0.0"], vec![]),
        (vec![0.0, -0.0], vec![-0.0, 0.0], vec!["0.0"], vec!["0.0"], vec![]),
        (vec![-0.0, 1.0, 0.0], vec![2.0], vec![], vec!["-0.0", "1.0", "2.0"], vec!["-0.0", "1.0"]),
        (vec![1.0], vec![0.0, -0.0], vec![], vec!["0.0", "1.0"], vec!["1.0"]),
        (vec![-1.0, 0.0, 1.0], vec![1.0, -0.0], vec!["0.0", "1.0"], vec!["-1.0", "0.0", "1.0"], vec!["-1.0"]),
    ] {
        let what = format!("{} {a:?} {b:?}", T::DTYPE);
        assert_eq!(both(&a, &b, common), in_both, "{what}");
        assert_eq!(both(&a, &b, union), in_either, "{what}");
        assert_eq!(both(&a, &b, rest), in_first, "{what}");
    }
}

#[test]
fn sets_hold_one_zero() {
    sets::<f32>();
    sets::<f64>();
    sets::<f16>();
    sets::<bf16>();
}

fn orders<T: Float>() {
    let x: &[f64] = &[0.0, -0.0, 1.0, 0.0, -0.0, -1.0];
    let sorted = |op: fn(&Tensor) -> ragged::Result<Tensor>| signed(&floats::<T>(&[x], op));
    assert_eq!(sorted(|x| x.sort(1)), ["-1.0", "0.0", "-0.0", "0.0", "-0.0", "1.0"], "{}", T::DTYPE);
    assert_eq!(sorted(|x| x.sort(descending(1))), ["1.0", "0.0", "-0.0", "0.0", "-0.0", "-1.0"], "{}", T::DTYPE);
    assert_eq!(sorted(|x| Ok(x.top_k(3, 1)?.0)), ["1.0", "0.0", "-0.0"], "{}", T::DTYPE);
    assert_eq!(sorted(|x| x.unique(1)), ["-1.0", "0.0", "1.0"], "{}", T::DTYPE);
    let places = |op: fn(&Tensor) -> ragged::Result<Tensor>| values::<i64>(|d| op(rows::<T>(&[x], d)?.erased()));
    assert_eq!(places(|x| x.argsort(1)), [5, 0, 1, 3, 4, 2]);
    assert_eq!(places(|x| x.argsort(descending(1))), [2, 0, 1, 3, 4, 5]);
    assert_eq!(places(|x| Ok(x.top_k(3, 1)?.1)), [2, 0, 1]);
    assert_eq!(places(|x| Ok(x.unique_with_counts(1)?.1)), [1, 4, 1]);
    assert_eq!(places(|x| x.n_unique(1)), [3]);
}

#[test]
fn sorts_are_stable_over_zeros() {
    orders::<f32>();
    orders::<f64>();
    orders::<f16>();
    orders::<bf16>();
}

/// The first of a stable sort is the argument of the extreme, whatever the signs of zeros.
#[test]
fn extremes_are_where_a_sort_finds_them() {
    for x in [vec![0.0, -0.0], vec![-0.0, 0.0], vec![0.0, -0.0, 0.0, -0.0, 0.0]] {
        let place =
            |op: fn(&Tensor) -> ragged::Result<Tensor>| values::<i64>(|d| op(rows::<f32>(&[&x], d)?.erased()))[0];
        assert_eq!(place(|x| x.argsort(1)), place(|x| x.argmin(1)), "{x:?}");
        assert_eq!(place(|x| x.argsort(descending(1))), place(|x| x.argmax(1)), "{x:?}");
    }
}

#[test]
fn groups_have_one_zero_key() {
    let keys = |d: &Device| RaggedTensor::<f32>::from_nested([0.0, -0.0, 0.0, -1.0, -0.0], d);
    let groups = |d: &Device| RaggedTensor::<i32>::from_nested([1, 2, 3, 4, 5], d)?.group_by_key(&keys(d)?);
    assert_eq!(values::<i32>(|d| groups(d)?.1.erased().flat_values()), [4, 1, 2, 3, 5]);
    assert_eq!(values::<i64>(|d| groups(d)?.1.erased().row_lengths(1)), [1, 4]);
    assert_eq!(signed(&floats::<f32>(&[&[0.0, -0.0, -1.0]], |x| Ok(x.group_by_key(x)?.0))), ["-1.0", "0.0"]);
}

#[test]
fn runs_and_searches_take_zeros_as_one() {
    assert_eq!(
        signed(&floats::<f32>(&[&[-0.0, 0.0, 1.0, 0.0, -0.0]], |x| Ok(x.run_lengths()?.0))),
        ["-0.0", "1.0", "0.0"]
    );
    let x: &[f64] = &[-1.0, 0.0, -0.0, 0.0, 1.0];
    let search = |v: f64, right: bool| {
        values::<i64>(|d| {
            let (x, v) = (rows::<f32>(&[x], d)?, rows::<f32>(&[&[v]], d)?);
            let found = if right { x.searchsorted(ragged::opt::right_of(&v))? } else { x.searchsorted(&v)? };
            Ok(found.erased().clone())
        })[0]
    };
    for zero in [0.0, -0.0] {
        assert_eq!((search(zero, false), search(zero, true)), (1, 4));
        let found = everywhere(&[DType::F32], |d| rows::<f32>(&[x, &[1.0]], d)?.erased().contains(zero as f32, 1));
        assert_eq!(found, HostValues::Bool(vec![true, false]));
    }
}
