//! Reductions over every set of axes.

use ragged::arguments::Axes;
use ragged::opt::ReduceAxes;
use ragged::{Device, HostTensor, HostValues, Tensor};

use crate::nest::{Nest, Random, both_devices, device_sized, ints, on, positions};

type Members = Nest<Vec<usize>>;

/// A reduction over one axis.
type Reduce = fn(&Tensor, i64) -> ragged::Result<Tensor>;

/// An element without members: full inner dimensions, empty ragged dimensions.
fn nothing(dim: usize, ragged: usize, dims: &[usize]) -> Members {
    match dims.get(dim) {
        None => Nest::Leaf(Vec::new()),
        Some(_) if dim <= ragged => Nest::List(Vec::new()),
        Some(&n) => Nest::List(vec![nothing(dim + 1, ragged, dims); n]),
    }
}

fn merge(a: &Members, b: &Members) -> Members {
    match (a, b) {
        (Nest::Leaf(a), Nest::Leaf(b)) => Nest::Leaf([a.as_slice(), b].concat()),
        (Nest::List(a), Nest::List(b)) => {
            let n = a.len().max(b.len());
            Nest::List(
                (0..n)
                    .map(|k| match (a.get(k), b.get(k)) {
                        (Some(a), Some(b)) => merge(a, b),
                        (Some(one), None) | (None, Some(one)) => one.clone(),
                        (None, None) => unreachable!("k is below the longer length"),
                    })
                    .collect(),
            )
        }
        _ => panic!("lists of different depths"),
    }
}

fn reduce_axis(x: &Members, (axis, dim): (usize, usize), ragged: usize, dims: &[usize], keep: bool) -> Members {
    if dim < axis {
        let below = |i| reduce_axis(i, (axis, dim + 1), ragged, dims, keep);
        return Nest::List(x.items().iter().map(below).collect());
    }
    let merged = x.items().iter().fold(nothing(dim + 1, ragged, dims), |all, i| merge(&all, i));
    if keep { Nest::List(vec![merged]) } else { merged }
}

/// The values that each result depends on, axis by axis as in TensorFlow; and the number of remaining partitions.
fn members(x: &HostTensor, axes: &[usize], keep: bool) -> (Members, usize) {
    let mut ragged = x.nested_row_splits.len();
    let mut dims = vec![0; ragged];
    dims.extend(&x.inner_shape);
    let mut at = positions(x).map(&mut |&p| vec![p]);
    for &axis in axes.iter().rev() {
        at = reduce_axis(&at, (axis, 0), ragged, &dims, keep);
        if keep {
            dims[axis] = 1;
        } else {
            dims.remove(axis);
        }
        if axis <= ragged && ragged > 0 && !(keep && axis < ragged && ragged > 1) {
            ragged -= 1;
        }
    }
    (at, ragged)
}

fn check(x: &HostTensor, axes: &[usize], keep: bool, device: &Device) {
    let values = ints(x);
    let (want, ragged) = members(x, axes, keep);
    let list: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
    let run = |f: fn(&Tensor, ReduceAxes) -> ragged::Result<Tensor>| -> HostTensor {
        f(&on(x, device), ReduceAxes::from(Axes::List(list.clone())).keep(keep))
            .and_then(|t| t.to_host())
            .expect("a reduction")
    };
    let same = |name: &str, got: &HostTensor, f: &dyn Fn(&[i32]) -> f64| {
        let read = |p: usize| match &got.values {
            HostValues::I32(v) => f64::from(v[p]),
            HostValues::F64(v) => v[p],
            HostValues::Bool(v) => f64::from(u8::from(v[p])),
            other => panic!("{}", other.dtype()),
        };
        let flat = |m: &Members| m.map(&mut |p| f(&p.iter().map(|&p| values[p]).collect::<Vec<_>>()).to_bits());
        let got_nest = positions(got).map(&mut |&p| read(p).to_bits());
        assert_eq!(got_nest, flat(&want), "{name} over {axes:?} (keep {keep}) of {x:?} gave {got:?}");
        assert_eq!(got.nested_row_splits.len(), ragged, "{name} over {axes:?} (keep {keep}) of {x:?}");
    };
    let total = |v: &[i32]| v.iter().map(|&v| i64::from(v)).sum::<i64>();
    same("sum", &run(Tensor::reduce_sum), &|v| total(v) as f64);
    same("min", &run(Tensor::reduce_min), &|v| f64::from(v.iter().copied().min().unwrap_or(i32::MAX)));
    same("any", &run(Tensor::reduce_any), &|v| f64::from(u8::from(v.iter().any(|&v| v != 0))));
    // The NaN of 0 / 0 may have either sign.
    let mean = |v: &[i32]| if v.is_empty() { f64::NAN } else { total(v) as f64 / v.len() as f64 };
    let mut got = run(Tensor::reduce_mean);
    if let HostValues::F64(v) = &mut got.values {
        v.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = f64::NAN);
    }
    same("mean", &got, &mean);
}

#[test]
fn equals_naive_loops() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        let rank = 1 + ragged + inner;
        for set in 1u32..1 << rank {
            let axes: Vec<usize> = (0..rank).filter(|a| set >> a & 1 == 1).collect();
            for device in both_devices() {
                check(&x, &axes, random.below(2) == 1, &device);
            }
        }
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..40 {
        let mut random = Random::new(5000 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            let same = on(&host, &device);
            let rank = 1 + ragged + inner;
            for set in 1u32..1 << rank {
                let axes: Vec<i64> = (0..rank as i64).filter(|a| set >> a & 1 == 1).collect();
                let keep = random.below(2) == 1;
                let run = |t: &Tensor| {
                    let t = t
                        .reduce_sum(ReduceAxes::from(Axes::List(axes.clone())).keep(keep))
                        .and_then(|t| t.to_host())
                        .expect("a reduction");
                    positions(&t).map(&mut |&p| ints(&t)[p])
                };
                assert_eq!(run(&x), run(&same), "axes {axes:?} (keep {keep}) of {host:?}");
            }
        }
    }
}

/// Floats of many magnitudes, whose sums depend on the order of addition.
fn floats(n: usize) -> Vec<f32> {
    let mut random = Random::new(n as u64);
    (0..n).map(|_| (random.below(2000) as f32 - 1000.0) * f32::powi(10.0, random.below(9) as i32 - 4)).collect()
}

fn rows(lengths: &[usize], values: Vec<f32>) -> HostTensor {
    let mut splits = vec![0];
    lengths.iter().for_each(|&l| splits.push(splits[splits.len() - 1] + l as u32));
    HostTensor::from_row_splits(splits, HostValues::F32(values))
}

fn bits(t: &Tensor) -> Vec<u32> {
    match t.to_host().expect("a read").values {
        HostValues::F32(v) => v.iter().map(|v| v.to_bits()).collect(),
        other => panic!("{} where f32 belongs", other.dtype()),
    }
}

#[test]
fn rows_are_batch_invariant() {
    let lengths = [3, 0, 700, 1, 64, 257, 33, 0];
    let values = floats(lengths.iter().sum());
    for reduce in [Tensor::reduce_sum, Tensor::reduce_mean, Tensor::reduce_variance] as [Reduce; 3] {
        let [fused, unfused] =
            both_devices().map(|d| bits(&reduce(&on(&rows(&lengths, values.clone()), &d), 1).expect("recorded")));
        assert_eq!(fused, unfused);
        let mut start = 0;
        for (k, &len) in lengths.iter().enumerate() {
            let alone = rows(&[len], values[start..start + len].to_vec());
            let alone = bits(&reduce(&on(&alone, &Device::cpu()), 1).expect("recorded"));
            assert_eq!(alone[0], fused[k], "row {k}");
            start += len;
        }
    }
}

#[test]
fn minima_and_maxima_of_infinities_and_nan() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let x = rows(&[2, 0, 2, 2], vec![inf, inf, -inf, nan, -0.0, 0.0]);
    let x = on(&x, &Device::cpu());
    let min = bits(&x.reduce_min(1).expect("recorded")).into_iter().map(f32::from_bits).collect::<Vec<_>>();
    assert_eq!((min[0], min[1]), (inf, f32::MAX));
    assert!(min[2].is_nan());
    assert!(min[3].is_sign_negative());
    let max = bits(&x.reduce_max(1).expect("recorded")).into_iter().map(f32::from_bits).collect::<Vec<_>>();
    assert_eq!((max[0], max[1]), (inf, f32::MIN));
    assert!(max[2].is_nan());
    assert!(max[3].is_sign_positive());
}

#[test]
fn means_of_integers_do_not_wrap() {
    let t = |values: HostValues| {
        HostTensor::from_row_splits(vec![0, 3], values)
            .to_device(&Device::cpu())
            .and_then(|t| t.reduce_mean(1))
            .and_then(|t| t.to_host())
            .expect("a mean")
            .values
    };
    assert_eq!(t(HostValues::I64(vec![i64::MAX; 3])), HostValues::F64(vec![i64::MAX as f64]));
    assert_eq!(t(HostValues::I64(vec![i64::MIN; 3])), HostValues::F64(vec![i64::MIN as f64]));
    assert_eq!(t(HostValues::I64(vec![-1, -2, 6])), HostValues::F64(vec![1.0]));
    assert_eq!(t(HostValues::U64(vec![u64::MAX; 3])), HostValues::F64(vec![u64::MAX as f64]));
    assert_eq!(t(HostValues::I32(vec![i32::MAX; 3])), HostValues::F64(vec![f64::from(i32::MAX)]));
    assert_eq!(t(HostValues::U8(vec![255, 255, 255])), HostValues::F32(vec![255.0]));
}
