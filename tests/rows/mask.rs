//! Masks, selections, and the indices at which a condition holds.

use ragged::opt::keep;
use ragged::{DType, Device, DeviceOptions, Error, HostTensor, HostValues, RaggedTensor, Result, Tensor};

use crate::common;
use crate::devices;
use crate::nest::{Nest, Random, both_devices, device_sized, leaves, on};

fn flags(t: &HostTensor) -> Nest<bool> {
    leaves(t).map(&mut |b| b[0] != 0)
}

/// The items, at any depth, whose flag is set.
fn masked(x: &Nest<Vec<u8>>, mask: &Nest<bool>) -> Nest<Vec<u8>> {
    let both = x.items().iter().zip(mask.items());
    Nest::List(match mask.items().first() {
        Some(Nest::List(_)) => both.map(|(x, m)| masked(x, m)).collect(),
        _ => both.filter(|(_, m)| **m == Nest::Leaf(true)).map(|(x, _)| x.clone()).collect(),
    })
}

/// A mask for the first `rank` dimensions of the tensor; its inner dimensions stay dense.
fn mask_for(random: &mut Random, x: &HostTensor, rank: usize) -> HostTensor {
    let ragged = x.nested_row_splits.len().min(rank - 1);
    let rows = match ragged.checked_sub(1) {
        Some(k) => x.nested_row_splits[k][x.nested_row_splits[k].len() - 1] as usize,
        None => x.nested_row_splits.first().map_or(x.inner_shape[0], |s| s.len() - 1),
    };
    let mut inner_shape = vec![rows];
    inner_shape.extend(&x.inner_shape[1..rank - ragged]);
    HostTensor {
        nested_row_splits: x.nested_row_splits[..ragged].to_vec(),
        uniform_row_lengths: x.uniform_row_lengths[..ragged].to_vec(),
        values: random.values(DType::Bool, inner_shape.iter().product()),
        inner_shape,
    }
}

#[test]
fn boolean_mask_equals_naive_loops() {
    let devices = devices();
    for seed in 0..120 {
        let mut random = Random::new(100 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let mut x = random.tensor(ragged, inner);
        let dtype = DType::ALL[seed as usize % DType::ALL.len()];
        x.values = random.values(dtype, x.values.len());
        let rank = 1 + random.below((1 + ragged + inner) as u32) as usize;
        let mask = mask_for(&mut random, &x, rank);
        let want = masked(&leaves(&x), &flags(&mask));
        // GPU drivers compile slowly: they get a part of the cases.
        let some = if seed < 36 { devices.len() } else { 2 };
        for device in devices[..some].iter().filter(|d| common::has(d, dtype)) {
            let got = on(&x, device).boolean_mask(&on(&mask, device)).and_then(|t| t.to_host());
            let got = got.unwrap_or_else(|e| panic!("{x:?} by {mask:?}: {e}"));
            assert_eq!(leaves(&got), want, "{x:?} by {mask:?} gave {got:?} on {}", device.name());
            assert_eq!(got.nested_row_splits.len(), ragged.max(rank - 1), "{x:?} by {mask:?}");
        }
    }
}

/// Row lengths at which kernels switch algorithms: no values, one row with most values, sizes of words and tiles.
fn skewed() -> Vec<Vec<u32>> {
    let mut power: Vec<u32> = (1..200u32).map(|k| 3000 / k).collect();
    power.rotate_left(77);
    let around = |n: u32| vec![n - 1, 0, n, 0, 0, n + 1, 1];
    vec![
        vec![],
        vec![0; 3000],
        vec![5],
        [vec![0; 700], vec![9001], vec![0; 700], vec![1, 2, 3]].concat(),
        power,
        around(4),
        around(32),
        around(256),
        around(2048),
        around(4096),
    ]
}

fn splits(lengths: &[u32]) -> Vec<u32> {
    let mut out = vec![0];
    lengths.iter().for_each(|l| out.push(out[out.len() - 1] + l));
    out
}

fn rows_of(lengths: &[u32], values: impl FnOnce(usize) -> HostValues) -> HostTensor {
    let splits = splits(lengths);
    let n = splits[splits.len() - 1] as usize;
    HostTensor::from_row_splits(splits, values(n))
}

#[test]
fn masks_of_skewed_rows() {
    let devices = devices();
    for (k, lengths) in skewed().iter().enumerate() {
        for dtype in [DType::Bool, DType::U8, DType::F32, DType::I64] {
            let mut random = Random::new(900 + k as u64);
            let x = rows_of(lengths, |n| random.values(dtype, n));
            for every in [1, 2, 3, 1000] {
                let mask = rows_of(lengths, |n| HostValues::Bool((0..n).map(|i| i % every == 0).collect()));
                let want = masked(&leaves(&x), &flags(&mask));
                for device in devices.iter().filter(|d| common::has(d, dtype)) {
                    let got = on(&x, device).boolean_mask(&on(&mask, device)).and_then(|t| t.to_host());
                    assert!(leaves(&got.expect("a mask")) == want, "{dtype}, lengths {k}, every {every}");
                }
            }
        }
    }
}

#[test]
fn rows_are_batch_invariant() {
    let lengths = [3, 0, 2049, 17, 31, 1, 2048];
    let mut random = Random::new(77);
    let x = rows_of(&lengths, |n| random.values(DType::F32, n));
    let mask = rows_of(&lengths, |n| random.values(DType::Bool, n));
    for device in devices() {
        let (all_x, all_mask) = (on(&x, &device), on(&mask, &device));
        let crowd = leaves(&all_x.boolean_mask(&all_mask).and_then(|t| t.to_host()).expect("a mask"));
        for r in 0..lengths.len() as i64 {
            let alone = |t: &Tensor| t.slice(ragged::s![r..r + 1]).expect("a row");
            let alone = alone(&all_x).boolean_mask(&alone(&all_mask)).and_then(|t| t.to_host()).expect("a mask");
            assert_eq!(leaves(&alone).items()[0], crowd.items()[r as usize]);
        }
    }
}

/// The indices of the leaves that are true.
fn indices(x: &Nest<bool>, at: &mut Vec<i64>, out: &mut Vec<i64>) {
    match x {
        Nest::Leaf(true) => out.extend(at.iter()),
        Nest::Leaf(false) => {}
        Nest::List(items) => {
            for (k, item) in items.iter().enumerate() {
                at.push(k as i64);
                indices(item, at, out);
                at.pop();
            }
        }
    }
}

fn naive_indices(x: &Nest<bool>) -> Vec<i64> {
    let mut out = Vec::new();
    indices(x, &mut Vec::new(), &mut out);
    out
}

fn typed_indices(x: &Tensor) -> Result<RaggedTensor<i64>> {
    x.where_indices()?.try_into()
}

#[test]
fn where_indices_equals_naive_loops() {
    let devices = devices();
    for seed in 0..60 {
        let mut random = Random::new(3000 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let mut x = random.tensor(ragged, inner);
        x.values = random.values(DType::Bool, x.values.len());
        let some = if seed < 20 { devices.len() } else { 2 };
        for device in devices[..some].iter().filter(|d| common::has(d, DType::I64)) {
            let got = typed_indices(&on(&x, device)).expect("recorded");
            assert_eq!(got.shape()[1], Some(1 + ragged + inner));
            assert_eq!(got.to_vec().expect("a read"), naive_indices(&flags(&x)), "{x:?}");
        }
    }
}

#[test]
fn gathering_where_indices_equals_boolean_mask() {
    for seed in 0..30 {
        let mut random = Random::new(4000 + seed);
        let (ragged, inner) = (random.below(3) as usize, random.below(2) as usize);
        let x = random.tensor(ragged, inner);
        let mask = mask_for(&mut random, &x, 1 + ragged + inner);
        for device in both_devices() {
            let (x, mask) = (on(&x, &device), on(&mask, &device));
            let at = mask.where_indices().expect("indices");
            let named = x.gather_nd(&at).and_then(|t| t.to_host()).expect("elements");
            let kept = x.boolean_mask(&mask).and_then(|t| t.flat_values()).and_then(|t| t.to_host()).expect("a mask");
            assert_eq!(named.values, kept.values);
        }
    }
}

fn chosen(c: &Nest<bool>, x: &Nest<Vec<u8>>, y: &Nest<Vec<u8>>) -> Nest<Vec<u8>> {
    match c {
        Nest::Leaf(first) => if *first { x } else { y }.clone(),
        Nest::List(items) => {
            let both = x.items().iter().zip(y.items());
            Nest::List(items.iter().zip(both).map(|(c, (x, y))| chosen(c, x, y)).collect())
        }
    }
}

#[test]
fn select_and_select_rows_equal_naive_loops() {
    let devices = devices();
    for seed in 0..54 {
        let mut random = Random::new(5000 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let dtype = DType::ALL[seed as usize % DType::ALL.len()];
        let mut c = random.tensor(ragged, inner);
        c.values = random.values(DType::Bool, c.values.len());
        let like = |random: &mut Random| HostTensor { values: random.values(dtype, c.values.len()), ..c.clone() };
        let (x, y) = (like(&mut random), like(&mut random));
        let rows = mask_for(&mut random, &x, 1);
        // The other operand has other row lengths.
        let mut other = random.tensor(ragged, inner);
        other.inner_shape[1..].clone_from_slice(&x.inner_shape[1..]);
        other.values = random.values(dtype, other.inner_shape.iter().product());
        let outer = |t: &HostTensor| t.nested_row_splits.first().map_or(t.inner_shape[0], |s| s.len() - 1);
        let fits = outer(&other) == outer(&x);
        let some = if seed < 18 { devices.len() } else { 2 };
        for device in devices[..some].iter().filter(|d| common::has(d, dtype)) {
            let (on_x, on_y) = (on(&x, device), on(&y, device));
            let got = on(&c, device).select(&on_x, &on_y).and_then(|t| t.to_host()).expect("a choice");
            assert_eq!(leaves(&got), chosen(&flags(&c), &leaves(&x), &leaves(&y)), "{c:?}");
            let got = on(&rows, device).select_rows(&on_x, &on(&other, device)).and_then(|t| t.to_host());
            match got {
                Ok(got) if fits => {
                    assert_eq!(leaves(&got), chosen(&flags(&rows), &leaves(&x), &leaves(&other)), "{rows:?}");
                }
                Err(Error::Shape { .. }) if !fits => {}
                got => panic!("{rows:?} of {x:?} and {other:?}: {got:?}"),
            }
        }
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..40 {
        let mut random = Random::new(8000 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            let positive = |t: &Tensor| t.greater(0).expect("numbers");
            let mask = positive(&x);
            let mask_host = mask.to_host().expect("a read");
            let got = x.boolean_mask(&mask).and_then(|t| t.to_host()).expect("a mask");
            assert_eq!(leaves(&got), masked(&leaves(&host), &flags(&mask_host)), "{host:?}");
            let got = typed_indices(&mask).and_then(|t| t.to_vec()).expect("indices");
            assert_eq!(got, naive_indices(&flags(&mask_host)), "{host:?}");
            let got = mask.select(&x, &x.negative().expect("numbers")).and_then(|t| t.to_host()).expect("a choice");
            let absolute = leaves(&x.abs().and_then(|t| t.to_host()).expect("numbers"));
            assert_eq!(leaves(&got), absolute, "{host:?}");
            // One flag per row of a device-known number of rows.
            let all_axes: Vec<i64> = (1..x.rank() as i64).collect();
            let rows = mask.reduce_any(all_axes).expect("bools");
            let rows_host = rows.to_host().expect("a read");
            let got = x.boolean_mask(&rows).and_then(|t| t.to_host()).expect("a mask");
            assert_eq!(leaves(&got), masked(&leaves(&host), &flags(&rows_host)), "{host:?}");
            let got = rows.select_rows(&x, &x).and_then(|t| t.to_host()).expect("a choice");
            assert_eq!(leaves(&got), leaves(&host), "{host:?}");
        }
    }
}

#[test]
fn recording_does_not_wait() {
    if !common::gpus().is_empty() {
        // A separate device, so that its counters cover this test only.
        let device = Device::gpu_with(&DeviceOptions::default()).expect("opens twice");
        let x = on(&rows_of(&[3, 0, 300, 2], |n| HostValues::I32((0..n as i32).collect())), &device);
        let mask =
            x.floormod(&on(&HostTensor::dense(&[], HostValues::I32(vec![3])), &device)).unwrap().equal(0).unwrap();
        let before = device.stats().waits;
        let kept = x.boolean_mask(&mask).unwrap();
        let rows = kept.boolean_mask(&kept.reduce_sum(1).unwrap().greater(5).unwrap()).unwrap();
        let tiled = rows.tile(&[2, 3]).unwrap().repeat(2, 1).unwrap();
        let places = typed_indices(&tiled.greater(4).unwrap()).unwrap();
        tiled.eval().and_then(|()| places.eval()).unwrap();
        assert_eq!(device.stats().waits, before);
        assert!(!places.to_vec().unwrap().is_empty());
    }
}

#[test]
fn incompatible_shapes_are_errors() {
    for device in devices() {
        let x = on(&rows_of(&[2, 1], |n| HostValues::I32(vec![1; n])), &device);
        let mask = |lengths: &[u32]| on(&rows_of(lengths, |n| HostValues::Bool(vec![true; n])), &device);
        assert!(matches!(x.boolean_mask(&x), Err(Error::Unsupported { .. })));
        assert!(matches!(x.boolean_mask(&mask(&[1, 2])), Err(Error::Shape { .. })));
        assert!(matches!(x.boolean_mask(&mask(&[2, 1, 0])), Err(Error::Shape { .. })));
        let scalar = on(&HostTensor::dense(&[], HostValues::Bool(vec![true])), &device);
        assert!(matches!(x.boolean_mask(&scalar), Err(Error::Shape { .. })));
        let deep = on(&HostTensor::dense(&[2, 1, 1], HostValues::Bool(vec![true; 2])), &device);
        assert!(matches!(x.boolean_mask(&deep), Err(Error::Shape { .. })));
        // Device-known row lengths are compared on the device.
        let sliced = mask(&[3, 1]).slice(ragged::s![.., 1..]).unwrap();
        assert!(matches!(x.boolean_mask(&sliced).and_then(|t| t.to_host()), Err(Error::Check { .. })));
        assert!(matches!(mask(&[2, 1]).select(&x, 0.5f32), Err(Error::Argument { .. })));
        assert!(matches!(x.select(&x, &x), Err(Error::Unsupported { .. })));
        assert!(matches!(mask(&[2, 1]).select_rows(&x, &x), Err(Error::Argument { .. })));
        let strings = on(&HostTensor::dense(&[1], HostValues::Str(vec![b"x".to_vec()])), &device);
        assert!(matches!(strings.where_indices(), Err(Error::Unsupported { .. })));
    }
    let x = rows_of(&[1], |n| HostValues::Bool(vec![true; n]));
    let (here, there) = (on(&x, &Device::cpu()), on(&x, &Device::cpu_unfused()));
    assert!(matches!(here.boolean_mask(&there), Err(Error::Devices { .. })));
}

#[test]
fn masks_move_few_bytes_beyond_the_lower_bound() {
    for device in common::devices().into_iter().map(|(_, d)| d) {
        let lengths: Vec<u32> = (0..10_000u32).map(|r| r % 31).collect();
        let x = on(&rows_of(&lengths, |n| HostValues::F32(vec![1.0; n])), &device);
        let mask = on(&rows_of(&lengths, |n| HostValues::Bool(vec![true; n])), &device);
        // The mask shares the rows of the values, as a comparison gives it.
        let mask = x.with_flat_values(&mask.flat_values().unwrap()).unwrap();
        let explained = x.boolean_mask(&mask).and_then(|t| t.explain()).unwrap();
        assert!(explained.bytes() as f64 <= 1.3 * explained.least_bytes as f64, "{explained}");
        assert_eq!(explained.kernels.iter().map(|k| k.kind).collect::<Vec<_>>(), ["rank_bitmap", "map", "compact"]);
        // A cheap condition is inlined, not stored.
        let explained = x.boolean_mask(&x.greater(0.5f32).unwrap()).and_then(|t| t.explain()).unwrap();
        assert_eq!(explained.kernels.iter().map(|k| k.kind).collect::<Vec<_>>(), ["rank_bitmap", "map", "compact"]);
        // A condition that needs the row of each position is stored by the pass that computes the means.
        let mean = x.reduce_mean(keep(1)).unwrap();
        let explained = x.boolean_mask(&x.greater(&mean).unwrap()).and_then(|t| t.explain()).unwrap();
        let kinds: Vec<_> = explained.kernels.iter().map(|k| k.kind).collect();
        assert_eq!(kinds, ["row_reduce", "rank_bitmap", "map", "compact"], "{explained}");
    }
}
