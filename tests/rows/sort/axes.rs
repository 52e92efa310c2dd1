//! Sorts and quantiles along every axis of tensors of every shape.

use ragged::opt::{ReduceAxes, SortAxis};
use ragged::{HostTensor, HostValues, Tensor};

use super::reference::{compare, i64s};
use crate::common;
use crate::nest::{Nest, Random, both_devices, device_sized, ints, on, positions};

/// The positions of each line along an axis, in flat order. A column of ragged rows consists of the rows that are long
/// enough.
fn lines(x: &Nest<usize>, axis: usize) -> Vec<Vec<(usize, i64)>> {
    /// All leaves with their paths.
    fn leaves(x: &Nest<usize>, path: &mut Vec<usize>, out: &mut Vec<(Vec<usize>, usize)>) {
        match x {
            Nest::Leaf(p) => out.push((path.clone(), *p)),
            Nest::List(items) => {
                for (k, item) in items.iter().enumerate() {
                    path.push(k);
                    leaves(item, path, out);
                    path.pop();
                }
            }
        }
    }
    let mut all = Vec::new();
    leaves(x, &mut Vec::new(), &mut all);
    let mut by_line = std::collections::BTreeMap::<Vec<usize>, Vec<(usize, i64)>>::new();
    for (mut path, p) in all {
        let along = path.remove(axis);
        by_line.entry(path).or_default().push((p, along as i64));
    }
    by_line.into_values().collect()
}

fn check_axis(x: &HostTensor, t: &Tensor, axis: usize) {
    let values = ints(x);
    for descending in [false, true] {
        let (mut want, mut at) = (values.to_vec(), vec![0; values.len()]);
        for line in lines(&positions(x), axis) {
            let mut order = line.clone();
            order.sort_by(|&(a, _), &(b, _)| compare(&x.values, a, b, descending));
            for (&(place, _), (from, along)) in line.iter().zip(order) {
                want[place] = values[from];
                at[place] = along;
            }
        }
        let got = t.sort(SortAxis::from(axis as i64).descending(descending)).and_then(|t| t.to_host()).expect("a sort");
        assert_eq!(ints(&got), want, "axis {axis} of {x:?}, descending {descending}");
        assert_eq!(got.nested_row_splits, x.nested_row_splits);
        assert_eq!(
            i64s(&t.argsort(SortAxis::from(axis as i64).descending(descending)).expect("recorded")),
            at,
            "argsort {axis} of {x:?}"
        );
    }
    // The last value of each sorted line is that of reduce_max.
    for keep in [false, true] {
        let greatest = t.reduce_max(ReduceAxes::from(axis).keep(keep)).and_then(|t| t.to_host()).expect("a read");
        let last = t.quantile(1.0, ReduceAxes::from(axis).keep(keep)).and_then(|t| t.to_host()).expect("a read");
        let HostValues::F64(v) = &last.values else { panic!("f64") };
        let of_empty = |v: &f64| if v.is_nan() { i32::MIN } else { *v as i32 };
        assert_eq!(v.iter().map(of_empty).collect::<Vec<_>>(), ints(&greatest), "axis {axis} (keep {keep}) of {x:?}");
        assert_eq!((&last.nested_row_splits, &last.inner_shape), (&greatest.nested_row_splits, &greatest.inner_shape));
    }
    // As a reduction: one result per line, as for reduce_sum.
    let number = t.n_unique(axis as i64).and_then(|t| t.to_host()).expect("a read");
    let sum = t.reduce_sum(axis as i64).and_then(|t| t.to_host()).expect("a read");
    assert_eq!((&number.nested_row_splits, &number.inner_shape), (&sum.nested_row_splits, &sum.inner_shape));
    let HostValues::I64(mut number) = number.values else { panic!("i64") };
    let mut want: Vec<i64> = lines(&positions(x), axis)
        .iter()
        .map(|l| l.iter().map(|&(p, _)| values[p]).collect::<std::collections::BTreeSet<_>>().len() as i64)
        .collect();
    // Lines without values do not occur in the reference.
    number.retain(|&n| n > 0);
    number.sort_unstable();
    want.sort_unstable();
    assert_eq!(number, want, "axis {axis} of {x:?}");
}

#[test]
fn every_axis_of_every_shape() {
    for seed in 0..60 {
        let mut random = Random::new(7000 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        for device in both_devices() {
            (0..=ragged + inner).for_each(|axis| check_axis(&x, &on(&x, &device), axis));
        }
    }
}

#[test]
fn every_axis_on_adapters() {
    for (_, device) in common::gpus() {
        for seed in 0..8 {
            let mut random = Random::new(8000 + seed);
            let (ragged, inner) = (random.below(3) as usize, random.below(2) as usize);
            let x = random.tensor(ragged, inner);
            (0..=ragged + inner).for_each(|axis| check_axis(&x, &on(&x, &device), axis));
        }
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..30 {
        let mut random = Random::new(9000 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            (0..=ragged + inner).for_each(|axis| check_axis(&host, &x, axis));
        }
    }
}
