//! `softmax`, `log_softmax`, `reduce_logsumexp` and `l2_normalize` over every axis, compared with naive loops.

use ragged::arguments::Axes;
use ragged::opt::keep;
use ragged::{Device, Error, HostTensor, HostValues, Seed, Tensor};

use crate::nest::{Nest, Random, both_devices, on, positions};

type Along = fn(&Tensor, i64) -> ragged::Result<Tensor>;

/// The groups along an axis: flat positions whose paths differ only in the index along the axis.
fn groups(x: &HostTensor, axis: usize) -> Vec<Vec<usize>> {
    fn walk(at: &Nest<usize>, path: &mut Vec<usize>, out: &mut Vec<(Vec<usize>, usize)>) {
        match at {
            Nest::Leaf(p) => out.push((path.clone(), *p)),
            Nest::List(items) => {
                for (k, item) in items.iter().enumerate() {
                    path.push(k);
                    walk(item, path, out);
                    path.pop();
                }
            }
        }
    }
    let mut all = Vec::new();
    walk(&positions(x), &mut Vec::new(), &mut all);
    let mut found: std::collections::BTreeMap<Vec<usize>, Vec<usize>> = Default::default();
    for (mut path, p) in all {
        path[axis] = 0;
        found.entry(path).or_default().push(p);
    }
    found.into_values().collect()
}

/// Floats between -20 and 20.
fn floats(t: &HostTensor) -> HostTensor {
    let HostValues::I32(v) = &t.values else { panic!("random tensors are of i32") };
    HostTensor { values: HostValues::F32(v.iter().map(|&v| v as f32 * 0.75).collect()), ..t.clone() }
}

fn values(t: &HostTensor) -> &[f32] {
    match &t.values {
        HostValues::F32(v) => v,
        other => panic!("{} where f32 belongs", other.dtype()),
    }
}

fn close(got: f32, want: f64, what: &str) {
    let want = want as f32;
    assert!(got == want || (got - want).abs() <= 2e-6 + 2e-6 * want.abs(), "{what}: {got}, not {want}");
}

fn check(x: &HostTensor, axis: usize, device: &Device) {
    let run = |f: Along| f(&on(x, device), axis as i64).and_then(|t| t.to_host()).expect("recorded");
    let (soft, log, unit) =
        (run(Tensor::softmax), run(Tensor::log_softmax), run(|x, axis| x.l2_normalize(axis, 1e-12)));
    let v = values(x);
    for group in groups(x, axis) {
        let most = group.iter().map(|&p| f64::from(v[p])).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = group.iter().map(|&p| (f64::from(v[p]) - most).exp()).sum();
        let length = group.iter().map(|&p| f64::from(v[p]).powi(2)).sum::<f64>().max(1e-12).sqrt();
        for p in group {
            let shifted = f64::from(v[p]) - most;
            let what = format!("position {p} along axis {axis} of {x:?}");
            close(values(&soft)[p], shifted.exp() / sum, &what);
            close(values(&log)[p], shifted - sum.ln(), &what);
            close(values(&unit)[p], f64::from(v[p]) / length, &what);
        }
    }
    if !v.is_empty() {
        assert_eq!((&soft.nested_row_splits, &soft.inner_shape), (&x.nested_row_splits, &x.inner_shape));
    }
}

#[test]
fn equals_naive_loops() {
    for seed in 0..60 {
        let mut random = Random::new(700 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = floats(&random.tensor(ragged, inner));
        for axis in 0..1 + ragged + inner {
            for device in both_devices() {
                check(&x, axis, &device);
            }
        }
    }
}

#[test]
fn logsumexp_equals_naive_loops() {
    for seed in 0..60 {
        let mut random = Random::new(800 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = floats(&random.tensor(ragged, inner));
        for device in both_devices() {
            for axis in 0..1 + ragged + inner {
                let t = on(&x, &device);
                let got = t.reduce_logsumexp(axis as i64).and_then(|t| t.to_host()).expect("recorded");
                // The naive sum of exponentials; other tests cover the layout of reductions.
                let plain = t.exp().and_then(|t| t.cast(ragged::DType::F64)?.reduce_sum(axis as i64)?.to_host());
                let HostValues::F64(plain) = plain.expect("recorded").values else { panic!("f64") };
                for (&got, want) in values(&got).iter().zip(plain) {
                    close(got, want.ln(), &format!("axis {axis} of {x:?}"));
                }
            }
        }
    }
}

fn rows(rows: &[&[f32]]) -> HostTensor {
    let mut splits = vec![0];
    rows.iter().for_each(|r| splits.push(splits[splits.len() - 1] + r.len() as u32));
    let values = rows.concat();
    HostTensor::from_row_splits(splits, HostValues::F32(values))
}

const INF: f32 = f32::INFINITY;

#[test]
fn infinities_and_nan_stay_in_their_rows() {
    let x = rows(&[&[-INF, 0.0, 0.0], &[INF, 0.0], &[-INF, -INF], &[f32::NAN, 1.0], &[], &[1.0, 1.0], &[3e38, -3e38]]);
    for device in both_devices() {
        let t = on(&x, &device);
        let soft = t.softmax(1).and_then(|t| t.to_host()).expect("recorded");
        let v = values(&soft);
        assert_eq!(v[..3], [0.0, 0.5, 0.5]);
        assert!(v[3..5].iter().all(|v| v.is_nan()), "{v:?}");
        assert!(v[5..9].iter().all(|v| v.is_nan()), "{v:?}");
        assert_eq!(v[9..], [0.5, 0.5, 1.0, 0.0]);
        let log = t.log_softmax(1).and_then(|t| t.to_host()).expect("recorded");
        assert_eq!((values(&log)[0], values(&log)[12]), (-INF, -INF));
        let sums = t.reduce_logsumexp(1).and_then(|t| t.to_host()).expect("recorded");
        let v = values(&sums);
        assert_eq!((v[1], v[2], v[4], v[6]), (INF, -INF, -INF, 3e38));
        assert!(v[3].is_nan());
        let all = t.reduce_logsumexp(..).and_then(|t| t.to_host()).expect("recorded");
        assert!(values(&all)[0].is_nan());
    }
}

fn bits(t: ragged::Result<Tensor>) -> Vec<u32> {
    let host = t.and_then(|t| t.to_host()).expect("recorded");
    values(&host).iter().map(|v| if v.is_nan() { u32::MAX } else { v.to_bits() }).collect()
}

#[test]
fn rows_are_batch_invariant_on_every_device() {
    // Empty rows, a giant row, lengths around the sizes of blocks and tiles.
    let lengths = [3usize, 0, 700, 1, 64, 257, 33, 0, 5000, 16, 17, 255, 256, 2048, 2049, 0];
    let mut random = Random::new(9);
    let all: Vec<Vec<f32>> =
        lengths.iter().map(|&n| (0..n).map(|_| random.below(4000) as f32 / 97.0 - 20.0).collect()).collect();
    let crowd = rows(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let ops: [Along; 3] = [Tensor::softmax, Tensor::log_softmax, |x, axis| x.l2_normalize(axis, 1e-6)];
    let devices = crate::common::devices();
    for op in ops {
        let want = bits(op(&on(&crowd, &Device::cpu()), 1));
        let alone: Vec<u32> = all.iter().flat_map(|r| bits(op(&on(&rows(&[r]), &Device::cpu()), 1))).collect();
        assert!(want == alone);
        let columns = bits(op(&on(&crowd, &Device::cpu()), 0));
        for (name, device) in &devices {
            assert!(want == bits(op(&on(&crowd, device), 1)), "{name}");
            assert!(columns == bits(op(&on(&crowd, device), 0)), "{name}");
        }
    }
    for (name, device) in &devices {
        for axes in [Axes::from(0), Axes::from(1), Axes::All] {
            let sums = |d: &Device| bits(on(&crowd, d).reduce_logsumexp(keep(axes.clone())));
            assert!(sums(&Device::cpu()) == sums(device), "{name} {axes:?}");
        }
    }
}

#[test]
fn dropout_is_equal_on_all_devices() {
    let x = rows(&[&[1.0; 5000], &[], &[f32::NAN; 20], &[2.0; 3000]]);
    let drop = |device: &Device, rate: f64, seed: u64| on(&x, device).dropout(rate, Seed(seed));
    let want = bits(drop(&Device::cpu(), 0.3, 1 << 40));
    for (name, device) in crate::common::devices() {
        assert!(want == bits(drop(&device, 0.3, 1 << 40)), "{name}");
    }
    let dropped = want.iter().filter(|&&v| v == 0).count() as f64 / want.len() as f64;
    assert!((dropped - 0.3).abs() < 0.03, "{dropped}");
    assert!(want.iter().all(|&v| v == 0
        || v == u32::MAX
        || [1.0, 2.0].map(|k: f32| k * (1.0 / 0.7) as f32).contains(&f32::from_bits(v))));
    assert!(want != bits(drop(&Device::cpu(), 0.3, 0)), "another seed, other values");
    assert!(want == bits(drop(&Device::cpu_unfused(), 0.3, 1 << 40)));
    for rate in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(drop(&Device::cpu(), rate, 0), Err(Error::Argument { .. })), "{rate}");
    }
}

#[test]
fn integers_are_errors() {
    let x = on(&Random::new(1).tensor(1, 0), &Device::cpu());
    for op in [Tensor::softmax, Tensor::log_softmax] as [Along; 2] {
        assert!(matches!(op(&x, 0), Err(Error::Unsupported { .. })));
    }
    assert!(matches!(x.reduce_logsumexp(..), Err(Error::Unsupported { .. })));
    assert!(matches!(on(&rows(&[&[1.0]]), &Device::cpu()).softmax(2), Err(Error::Axis { .. })));
}

#[test]
fn a_softmax_is_one_pass() {
    let x = on(&rows(&[&[1.0, 2.0], &[3.0]]), &Device::cpu());
    for op in [Tensor::softmax, Tensor::log_softmax, |x: &Tensor, axis| x.l2_normalize(axis, 1e-12)] as [Along; 3] {
        let kernels = op(&x, 1).and_then(|y| y.explain()).expect("explained").kernels;
        let kinds: Vec<_> = kernels.iter().map(|k| k.kind).collect();
        assert_eq!(kinds, ["row_reduce"]);
    }
    let kernels = x.reduce_logsumexp(1).and_then(|y| y.explain()).expect("explained").kernels;
    assert!(kernels.iter().filter(|k| k.kind == "row_reduce").count() == 1);
}
