//! Concatenation, stacking and reversal.

use ragged::{Device, Error, HostTensor, HostValues, Tensor};

use crate::nest::{Nest, Random, both_devices, device_sized, ints, on, positions};

type Values = Nest<i32>;

fn values(t: &HostTensor) -> Values {
    positions(t).map(&mut |&p| ints(t)[p])
}

fn joined(all: &[Values], axis: usize) -> Values {
    if axis == 0 {
        return Nest::List(all.iter().flat_map(|v| v.items().to_vec()).collect());
    }
    let rows = all[0].items().len();
    Nest::List(
        (0..rows).map(|r| joined(&all.iter().map(|v| v.items()[r].clone()).collect::<Vec<_>>(), axis - 1)).collect(),
    )
}

fn stacked(all: &[Values], axis: usize) -> Values {
    if axis == 0 {
        return Nest::List(all.to_vec());
    }
    let rows = all[0].items().len();
    Nest::List(
        (0..rows).map(|r| stacked(&all.iter().map(|v| v.items()[r].clone()).collect::<Vec<_>>(), axis - 1)).collect(),
    )
}

fn reversed(v: &Values, axis: usize) -> Values {
    let items = v.items().iter();
    Nest::List(if axis == 0 { items.rev().cloned().collect() } else { items.map(|i| reversed(i, axis - 1)).collect() })
}

/// Random tensors that can be concatenated along `axis`.
fn fitting(random: &mut Random, n: usize, ragged: usize, inner: usize, axis: usize) -> Vec<HostTensor> {
    let first = random.tensor(ragged, inner);
    let mut all = vec![first.clone()];
    for _ in 1..n {
        let mut rows = if axis == 0 { random.below(4) } else { first_rows(&first) };
        let (mut splits, mut uniform) = (Vec::new(), Vec::new());
        for k in 0..ragged {
            let (s, u) = if k + 1 < axis {
                (first.nested_row_splits[k].clone(), first.uniform_row_lengths[k])
            } else {
                random.partition(rows)
            };
            rows = s[s.len() - 1];
            splits.push(s);
            uniform.push(u);
        }
        let mut inner_shape = first.inner_shape.clone();
        inner_shape[0] = rows as usize;
        if axis > ragged {
            inner_shape[axis - ragged] = random.below(3) as usize;
        }
        let count = inner_shape.iter().product();
        let values = HostValues::I32((0..count).map(|_| random.below(100) as i32).collect());
        all.push(HostTensor { nested_row_splits: splits, uniform_row_lengths: uniform, inner_shape, values });
    }
    all
}

fn first_rows(t: &HostTensor) -> u32 {
    t.nested_row_splits.first().map_or(t.inner_shape[0] as u32, |s| s.len() as u32 - 1)
}

#[test]
fn concat_equals_naive_loops() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (ragged, inner, n) = (random.below(4) as usize, random.below(3) as usize, 1 + random.below(5) as usize);
        let axis = random.below((1 + ragged + inner) as u32) as usize;
        let all = fitting(&mut random, n, ragged, inner, axis);
        let want = joined(&all.iter().map(values).collect::<Vec<_>>(), axis);
        for device in both_devices() {
            let inputs: Vec<Tensor> = all.iter().map(|t| on(t, &device)).collect();
            let got = Tensor::concat(&inputs.iter().collect::<Vec<_>>(), axis as i64).and_then(|t| t.to_host());
            let got = got.expect("a concatenation");
            assert_eq!(values(&got), want, "axis {axis} of {all:?} gave {got:?}");
        }
    }
}

#[test]
fn stack_equals_naive_loops() {
    for seed in 0..150 {
        let mut random = Random::new(1000 + seed);
        let (ragged, inner, n) = (random.below(3) as usize, random.below(3) as usize, 1 + random.below(4) as usize);
        let axis = random.below((2 + ragged + inner) as u32) as usize;
        // Equal down to the new dimension, with equal inner dimensions.
        let all = fitting(&mut random, n, ragged, inner, axis.min(ragged + 1).min(ragged + inner));
        let same_inner = all.iter().all(|t| t.inner_shape[1..] == all[0].inner_shape[1..]);
        let same_outer = axis <= ragged || all.iter().all(|t| t.nested_row_splits == all[0].nested_row_splits);
        let same_rows = axis == 0 || all.iter().all(|t| first_rows(t) == first_rows(&all[0]));
        if !same_inner || !same_outer || !same_rows {
            continue;
        }
        let want = stacked(&all.iter().map(values).collect::<Vec<_>>(), axis);
        for device in both_devices() {
            let inputs: Vec<Tensor> = all.iter().map(|t| on(t, &device)).collect();
            let got = Tensor::stack(&inputs.iter().collect::<Vec<_>>(), axis as i64).and_then(|t| t.to_host());
            let got = got.unwrap_or_else(|e| panic!("stack {axis} of {all:?}: {e}"));
            assert_eq!(values(&got), want, "axis {axis} of {all:?} gave {got:?}");
        }
    }
}

#[test]
fn reverse_equals_naive_loops() {
    for seed in 0..100 {
        let mut random = Random::new(2000 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        for axis in 0..=ragged + inner {
            for device in both_devices() {
                let got = on(&x, &device).reverse(axis as i64).and_then(|t| t.to_host()).expect("a reversal");
                assert_eq!(values(&got), reversed(&values(&x), axis), "axis {axis} of {x:?}");
            }
        }
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..60 {
        let mut random = Random::new(7000 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            let all = [values(&host), values(&host), values(&host)];
            for axis in 0..=ragged + inner {
                let got = Tensor::concat(&[&x, &on(&host, &device), &x], axis as i64).and_then(|t| t.to_host());
                assert_eq!(values(&got.expect("a concatenation")), joined(&all, axis), "axis {axis} of {host:?}");
                let got = Tensor::stack(&[&x, &x, &x], axis as i64).and_then(|t| t.to_host());
                assert_eq!(values(&got.expect("a stack")), stacked(&all, axis), "axis {axis} of {host:?}");
            }
        }
    }
}

fn row(lengths: &[u32]) -> HostTensor {
    let mut splits = vec![0];
    lengths.iter().for_each(|l| splits.push(splits[splits.len() - 1] + l));
    let n = splits[splits.len() - 1];
    HostTensor::from_row_splits(splits, HostValues::I32((0..n as i32).collect()))
}

#[test]
fn incompatible_shapes_are_errors() {
    let device = Device::cpu();
    let (x, y) = (on(&row(&[2, 1]), &device), on(&row(&[1]), &device));
    assert!(matches!(Tensor::concat(&[&x, &y], 1), Err(Error::Shape { .. })));
    assert!(matches!(Tensor::concat(&[] as &[Tensor], 0), Err(Error::Argument { .. })));
    assert!(matches!(Tensor::concat(&[&x, &y], 2), Err(Error::Axis { .. })));
    assert!(matches!(Tensor::stack(&[&x, &y], 3), Err(Error::Axis { .. })));
    let other = on(&row(&[2, 1]), &Device::cpu_unfused());
    assert!(matches!(Tensor::concat(&[&x, &other], 0), Err(Error::Devices { .. })));
    let vector = on(&HostTensor::dense(&[2], HostValues::I32(vec![1, 2])), &device);
    assert!(matches!(Tensor::concat(&[&x, &vector], 0), Err(Error::Shape { .. })));
}
