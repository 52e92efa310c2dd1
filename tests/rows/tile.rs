//! `tile` and `repeat`.

use ragged::{DType, Device, Error, HostTensor, HostValues};

use crate::common;
use crate::devices;
use crate::nest::{Nest, Random, both_devices, device_sized, leaves, on};

type Values = Nest<Vec<u8>>;

fn tiled(x: &Values, multiples: &[i64]) -> Values {
    let Some((&m, rest)) = multiples.split_first() else { return x.clone() };
    let once: Vec<Values> = x.items().iter().map(|i| tiled(i, rest)).collect();
    Nest::List((0..m).flat_map(|_| once.clone()).collect())
}

fn repeated(x: &Values, times: usize, axis: usize) -> Values {
    let items = x.items().iter();
    Nest::List(match axis {
        0 => items.flat_map(|i| std::iter::repeat_n(i.clone(), times)).collect(),
        _ => items.map(|i| repeated(i, times, axis - 1)).collect(),
    })
}

#[test]
fn tile_and_repeat_equal_naive_loops() {
    let devices = devices();
    for seed in 0..120 {
        let mut random = Random::new(300 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let mut x = random.tensor(ragged, inner);
        let dtype = DType::ALL[seed as usize % DType::ALL.len()];
        x.values = random.values(dtype, x.values.len());
        let rank = 1 + ragged + inner;
        let multiples: Vec<i64> = (0..rank).map(|_| [1, 1, 1, 2, 2, 3, 0][random.below(7) as usize]).collect();
        let (times, axis) = (random.below(4), random.below(rank as u32));
        let some = if seed < 27 { devices.len() } else { 2 };
        for device in devices[..some].iter().filter(|d| common::has(d, dtype)) {
            let on_device = on(&x, device);
            let got = on_device.tile(&multiples).and_then(|t| t.to_host()).expect("a tile");
            assert_eq!(leaves(&got), tiled(&leaves(&x), &multiples), "{multiples:?} of {x:?} gave {got:?}");
            assert_eq!(got.nested_row_splits.len(), ragged);
            let got = on_device.repeat(times, axis).and_then(|t| t.to_host()).expect("a repetition");
            let want = repeated(&leaves(&x), times as usize, axis as usize);
            assert_eq!(leaves(&got), want, "{times} along {axis} of {x:?} gave {got:?}");
        }
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..40 {
        let mut random = Random::new(6000 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        let multiples: Vec<i64> = (0..=ragged + inner).map(|_| i64::from(random.below(3))).collect();
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            let got = x.tile(&multiples).and_then(|t| t.to_host()).expect("a tile");
            assert_eq!(leaves(&got), tiled(&leaves(&host), &multiples), "{multiples:?} of {host:?}");
            let got = x.repeat(2, 0).and_then(|t| t.to_host()).expect("a repetition");
            assert_eq!(leaves(&got), repeated(&leaves(&host), 2, 0), "{host:?}");
        }
    }
}

#[test]
fn tiling_is_one_map_per_level() {
    let device = Device::cpu();
    let x = HostTensor {
        nested_row_splits: vec![vec![0, 2, 3], vec![0, 1, 1, 4]],
        uniform_row_lengths: vec![None, None],
        inner_shape: vec![4],
        values: HostValues::I32(vec![1, 2, 3, 4]),
    };
    let kernels = on(&x, &device).tile(&[3, 1, 1]).and_then(|t| t.explain()).expect("a plan").kernels;
    assert!(kernels.iter().all(|k| k.kind == "map"), "{kernels:?}");
    assert_eq!(kernels.len(), 3);
}

#[test]
fn invalid_arguments_are_errors() {
    let device = Device::cpu();
    let x = on(&HostTensor::dense(&[2, 3], HostValues::I32(vec![0; 6])), &device);
    assert!(matches!(x.tile(&[1]), Err(Error::Argument { .. })));
    assert!(matches!(x.tile(&[1, -1]), Err(Error::Argument { .. })));
    assert!(matches!(x.tile(&[1i64 << 31, 1 << 31]), Err(Error::Limit { .. })));
    assert!(matches!(x.tile(&[i64::MAX, 1]), Err(Error::Limit { .. })));
    assert!(matches!(x.repeat(-1, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.repeat(1i64 << 40, 1), Err(Error::Limit { .. })));
    assert!(matches!(x.repeat(2, 2), Err(Error::Axis { .. })));
    let none = on(&HostTensor::dense(&[0, 3], HostValues::I32(vec![])), &device);
    assert_eq!(none.tile(&[i64::MAX, 1]).and_then(|t| t.to_host()).expect("nothing").inner_shape, [0, 3]);
    let scalar = on(&HostTensor::dense(&[], HostValues::I32(vec![5])), &device);
    assert_eq!(scalar.tile(&[] as &[i64]).and_then(|t| t.to_host()).expect("itself").values, HostValues::I32(vec![5]));
}
