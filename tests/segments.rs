//! Segment reductions, compared with loops over nested lists, on every backend.

mod common;
#[path = "rows/nest.rs"]
#[allow(dead_code, reason = "this file uses a part of it")]
mod nest;

use nest::{Nest, Random, both_devices, ints, on, positions};
use ragged::{DType, Device, Error, HostTensor, HostValues, Result, Tensor, s};

type Members = Nest<Vec<usize>>;

/// The union of the members at each position. A row has the length of the longer one.
fn merge(a: &Members, b: &Members) -> Members {
    match (a, b) {
        (Nest::Leaf(a), Nest::Leaf(b)) => Nest::Leaf([a.as_slice(), b].concat()),
        (Nest::List(a), Nest::List(b)) => {
            let longer = if a.len() < b.len() { b } else { a };
            let both = a.iter().zip(b).map(|(a, b)| merge(a, b));
            Nest::List(both.chain(longer[a.len().min(b.len())..].iter().cloned()).collect())
        }
        _ => panic!("lists of different depths"),
    }
}

/// An element of the shape without members, with empty ragged rows.
fn nothing(ragged: usize, inner: &[usize]) -> Members {
    match inner.split_first() {
        _ if ragged > 0 => Nest::List(Vec::new()),
        None => Nest::Leaf(Vec::new()),
        Some((&n, rest)) => Nest::List(vec![nothing(0, rest); n]),
    }
}

/// The members of each of `num` segments. `x` has `ragged` partitions below the elements that have an id.
fn segments(x: &[Nest<usize>], ids: &[i64], num: usize, ragged: usize, inner: &[usize]) -> Members {
    let mut out = vec![nothing(ragged, inner); num];
    for (x, &id) in x.iter().zip(ids).filter(|(_, id)| **id >= 0) {
        let slot = &mut out[id as usize];
        *slot = merge(slot, &x.map(&mut |&at| vec![at]));
    }
    Nest::List(out)
}

fn ids_of(ids: &[i64]) -> HostTensor {
    HostTensor::dense(&[ids.len()], HostValues::I64(ids.to_vec()))
}

/// Compares the six reductions at each position with loops over its members.
fn check(x: &HostTensor, ids: &HostTensor, num: usize, want: &Members, device: &Device) {
    let v = ints(x);
    let dense = x.nested_row_splits.is_empty();
    let (t, ids_t) = (on(x, device), on(ids, device));
    let same = |name: &str, got: Result<Tensor>, f: &dyn Fn(&[i32]) -> f64| {
        let got = got.and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{name} of {x:?} by {ids:?}: {e}"));
        let read = |at: usize| match &got.values {
            HostValues::I32(v) => f64::from(v[at]),
            HostValues::F64(v) => v[at],
            other => panic!("{}", other.dtype()),
        };
        let bits = |v: f64| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() };
        let wanted = want.map(&mut |m| bits(f(&m.iter().map(|&at| v[at]).collect::<Vec<_>>())));
        assert_eq!(positions(&got).map(&mut |&at| bits(read(at))), wanted, "{name} of {x:?} by {ids:?} gave {got:?}");
    };
    let n = num as i64;
    let sum = |m: &[i32]| m.iter().map(|&v| i64::from(v)).sum::<i64>();
    same("sum", t.unsorted_segment_sum(&ids_t, n), &|m| f64::from(sum(m) as i32));
    same("prod", t.unsorted_segment_prod(&ids_t, n), &|m| f64::from(m.iter().fold(1i32, |a, &b| a.wrapping_mul(b))));
    same("min", t.unsorted_segment_min(&ids_t, n), &|m| f64::from(m.iter().copied().min().unwrap_or(i32::MAX)));
    same("max", t.unsorted_segment_max(&ids_t, n), &|m| f64::from(m.iter().copied().max().unwrap_or(i32::MIN)));
    let or_zero = |m: &[i32], value: f64| if m.is_empty() && dense { 0.0 } else { value };
    same("mean", t.unsorted_segment_mean(&ids_t, n), &|m| or_zero(m, sum(m) as f64 / m.len() as f64));
    same("sqrt_n", t.unsorted_segment_sqrt_n(&ids_t, n), &|m| or_zero(m, sum(m) as f64 / (m.len() as f64).sqrt()));
}

fn random_ids(random: &mut Random, n: usize, num: usize, negative: bool) -> Vec<i64> {
    let lowest = i64::from(negative);
    (0..n).map(|_| i64::from(random.below(num as u32 + lowest as u32)) - lowest).collect()
}

#[test]
fn equal_naive_loops() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        let num = 1 + random.below(4) as usize;
        let nest = positions(&x);
        let ids = random_ids(&mut random, nest.items().len(), num, ragged == 0);
        let want = segments(nest.items(), &ids, num, ragged, &x.inner_shape[1..]);
        for device in both_devices() {
            check(&x, &ids_of(&ids), num, &want, &device);
        }
        if seed % 6 == 0 {
            for (_, device) in common::gpus().into_iter().filter(|(_, d)| common::has(d, DType::F64)) {
                check(&x, &ids_of(&ids), num, &want, &device);
            }
        }
    }
}

#[test]
fn ids_may_be_ragged_or_have_several_dimensions() {
    for seed in 0..40 {
        let mut random = Random::new(300 + seed);
        let (ragged, inner) = (random.below(3) as usize, 1 + random.below(2) as usize);
        let x = random.tensor(ragged, inner);
        let num = 1 + random.below(4) as usize;
        // The ids have the leading dimensions of the data: some partitions or all, and then some inner dimensions.
        let depth = random.below(ragged as u32 + 1) as usize;
        let deep = if depth == ragged { 1 + random.below(inner as u32) as usize } else { 1 };
        let mut inner_shape = match x.nested_row_splits.get(depth) {
            Some(splits) => vec![splits.len() - 1],
            None => x.inner_shape[..deep].to_vec(),
        };
        if depth < ragged {
            inner_shape.truncate(1);
        }
        let n: usize = inner_shape.iter().product();
        let ids = random_ids(&mut random, n, num, depth == ragged);
        // The elements that have an id, flattened.
        let mut items = vec![positions(&x)];
        for _ in 0..depth + inner_shape.len() {
            items = items.iter().flat_map(|i| i.items().to_vec()).collect();
        }
        let want =
            segments(&items, &ids, num, ragged - depth, &x.inner_shape[if depth == ragged { deep } else { 1 }..]);
        let ids = HostTensor {
            nested_row_splits: x.nested_row_splits[..depth].to_vec(),
            uniform_row_lengths: x.uniform_row_lengths[..depth].to_vec(),
            inner_shape,
            values: HostValues::I32(ids.iter().map(|&id| id as i32).collect()),
        };
        for device in both_devices() {
            check(&x, &ids, num, &want, &device);
        }
    }
}

#[test]
fn sorted_and_unsorted_reductions_agree() {
    for seed in 0..30 {
        let mut random = Random::new(600 + seed);
        let x = random.tensor(0, seed as usize % 3);
        let mut ids = random_ids(&mut random, x.inner_shape[0], 5, false);
        ids.sort_unstable();
        let num = ids.last().map_or(0, |&id| id + 1);
        for device in both_devices() {
            let (t, i) = (on(&x, &device), on(&ids_of(&ids), &device));
            let host = |t: Result<Tensor>| t.and_then(|t| t.to_host()).expect("segments");
            assert_eq!(host(t.segment_sum(&i)), host(t.unsorted_segment_sum(&i, num)));
            assert_eq!(host(t.segment_prod(&i)), host(t.unsorted_segment_prod(&i, num)));
            assert_eq!(host(t.segment_mean(&i)), host(t.unsorted_segment_mean(&i, num)));
            let (mut least, mut greatest) =
                (host(t.unsorted_segment_min(&i, num)), host(t.unsorted_segment_max(&i, num)));
            for all in [&mut least, &mut greatest] {
                let HostValues::I32(v) = &mut all.values else { panic!("i32 belongs here") };
                v.iter_mut().filter(|v| [i32::MIN, i32::MAX].contains(v)).for_each(|v| *v = 0);
            }
            assert_eq!((host(t.segment_min(&i)), host(t.segment_max(&i))), (least, greatest));
        }
    }
}

/// Floats of many magnitudes, whose sums depend on the order of addition.
fn floats(n: usize) -> Vec<f32> {
    let mut random = Random::new(n as u64);
    (0..n).map(|_| (random.below(2000) as f32 - 1000.0) * f32::powi(10.0, random.below(9) as i32 - 4)).collect()
}

fn bits(t: &Tensor) -> Vec<u32> {
    match t.to_host().expect("a read").values {
        HostValues::F32(v) => v.iter().map(|v| v.to_bits()).collect(),
        other => panic!("{} where f32 belongs", other.dtype()),
    }
}

/// One segment with most values, many empty segments, and segments of all sizes.
#[test]
fn floats_have_the_same_bits_everywhere_and_in_every_batch() {
    let mut random = Random::new(9);
    let (n, num) = (20_000, 3000);
    let ids: Vec<i64> = (0..n)
        .map(|k| match k % 4 {
            0 => i64::from(random.below(num)) / 7 * 7,
            1 => i64::from(random.below(9)),
            _ => 1234,
        })
        .collect();
    for inner in [1, 3] {
        let values = floats(n * inner);
        let x = HostTensor::dense(&[n, inner], HostValues::F32(values.clone()));
        let run = |device: &Device| {
            let (x, ids) = (on(&x, device), on(&ids_of(&ids), device));
            let all = [
                x.unsorted_segment_sum(&ids, num),
                x.unsorted_segment_mean(&ids, num),
                x.unsorted_segment_min(&ids, num),
                x.unsorted_segment_sqrt_n(&ids, num),
            ];
            all.map(|t| bits(&t.expect("recorded")))
        };
        let want = run(&Device::cpu());
        for (name, device) in common::devices() {
            assert!(run(&device) == want, "{inner} columns on {name}");
        }
        for id in [0, 5, 7, 1234] {
            let own: Vec<f32> = ids
                .iter()
                .zip(values.chunks_exact(inner))
                .filter(|(i, _)| **i == id)
                .flat_map(|(_, v)| v.to_vec())
                .collect();
            let rows = own.len() / inner;
            let alone = on(&HostTensor::dense(&[rows, inner], HostValues::F32(own)), &Device::cpu());
            // As many segments, since fewer are summed without a sort, in another order.
            let ids = on(&ids_of(&vec![0; rows]), &Device::cpu());
            let alone = alone.unsorted_segment_sum(&ids, num).expect("recorded").slice(s![..1]).expect("recorded");
            assert!(bits(&alone) == want[0][id as usize * inner..][..inner], "segment {id} of {inner} columns alone");
        }
    }
}

/// Sums as the documentation defines them for up to 512 results: the values of each tile of 2048 in order, then the
/// tiles, of which few are added in order too.
#[test]
fn few_segments_are_summed_in_tiles() {
    let mut random = Random::new(10);
    for (n, num, inner) in [(20_000, 100, 1), (8192, 512, 1), (8193, 1, 1), (7000, 170, 3), (5, 2, 7), (0, 3, 1)] {
        let values = floats(n * inner);
        let ids = random_ids(&mut random, n, num, true);
        let mut want = vec![0f32; num * inner];
        for tile in 0..(n * inner).div_ceil(2048) {
            let mut sums = vec![0f32; num * inner];
            for at in tile * 2048..((tile + 1) * 2048).min(n * inner) {
                if let Ok(id) = usize::try_from(ids[at / inner]) {
                    sums[id * inner + at % inner] += values[at];
                }
            }
            want.iter_mut().zip(sums).for_each(|(want, sum)| *want += sum);
        }
        let x = HostTensor::dense(&[n, inner], HostValues::F32(values.clone()));
        for (name, device) in common::fused_and_not() {
            let (x, ids) = (on(&x, device), on(&ids_of(&ids), device));
            let got = bits(&x.unsorted_segment_sum(&ids, num).expect("recorded"));
            assert!(
                got.iter().zip(&want).all(|(&got, want)| f32::from_bits(got) == *want),
                "{n} of {inner} into {num} on {name}"
            );
            // As the mean of the same sums.
            let mean = bits(&x.unsorted_segment_mean(&ids, num).expect("recorded"));
            let of_cpu = on(&HostTensor::dense(&[n, inner], HostValues::F32(values.clone())), &Device::cpu());
            let cpu_ids = ids.to_host().expect("a read").to_device(&Device::cpu()).expect("ids");
            assert!(mean == bits(&of_cpu.unsorted_segment_mean(&cpu_ids, num).expect("recorded")), "mean on {name}");
        }
    }
}

/// Sums and means of few segments need no sort, and read every value and id once.
#[test]
fn few_segments_cost_no_sort() {
    const N: usize = 100_000;
    let x = HostTensor::dense(&[N], HostValues::F32(floats(N)));
    let ids = ids_of(&random_ids(&mut Random::new(11), N, 100, false));
    for (name, device) in common::devices() {
        let (x, ids) = (on(&x, &device), on(&ids, &device));
        let plan = |t: Result<Tensor>| t.and_then(|t| t.explain()).expect("explained");
        let sum = plan(x.unsorted_segment_sum(&ids, 100));
        let kinds = |kind: &str| sum.kernels.iter().filter(|k| k.kind == kind).count();
        assert_eq!((kinds("tile_fold"), kinds("sort")), (1, 0), "{name}: {sum}");
        // The read.
        assert!(sum.waits <= 1, "{name}: {sum}");
        assert!(sum.dispatches() <= 4, "{name}: {sum}");
        // The ids a second time, for the condition on them.
        let (values, once) = (4 * N as u64, 12 * N as u64);
        assert!(sum.bytes() <= once + 2 * values + values / 2, "{name}: {sum}");
        let mean = plan(x.unsorted_segment_mean(&ids, 100));
        assert!(mean.kernels.iter().all(|k| k.kind != "sort") && mean.dispatches() <= 7, "{name}: {mean}");
        let many = plan(x.unsorted_segment_sum(&ids, 513));
        assert!(many.kernels.iter().any(|k| k.kind == "sort"), "{name}: {many}");
    }
}

#[test]
fn every_dtype() {
    let ids = [2i64, 0, 2, 2];
    macro_rules! check {
        ($($v:ident($t:ty) $mean:ident),*) => {$(
            let x = HostTensor::dense(&[4], HostValues::$v(vec![3 as $t, 5 as $t, 1 as $t, 4 as $t]));
            for (name, device) in common::devices() {
                if !common::has(&device, DType::$v) || !common::has(&device, DType::$mean) {
                    continue;
                }
                let (x, ids) = (on(&x, &device), on(&ids_of(&ids), &device));
                let read = |t: Result<Tensor>| t.and_then(|t| t.to_host()).expect("segments").values;
                let three = |v: [$t; 3]| HostValues::$v(v.to_vec());
                assert_eq!(read(x.unsorted_segment_sum(&ids, 3)), three([5 as $t, 0 as $t, 8 as $t]), "{name}");
                assert_eq!(read(x.unsorted_segment_prod(&ids, 3)), three([5 as $t, 1 as $t, 12 as $t]), "{name}");
                assert_eq!(read(x.unsorted_segment_min(&ids, 3)), three([5 as $t, <$t>::MAX, 1 as $t]), "{name}");
                assert_eq!(read(x.unsorted_segment_max(&ids, 3)), three([5 as $t, <$t>::MIN, 4 as $t]), "{name}");
                let mean = HostValues::$mean(vec![5.0, 0.0, 8.0 / 3.0]);
                assert_eq!(read(x.unsorted_segment_mean(&ids, 3)), mean, "{name}");
            }
        )*};
    }
    check!(U8(u8) F32, I32(i32) F64, U32(u32) F64, I64(i64) F64, U64(u64) F64, F32(f32) F32, F64(f64) F64);
}

#[test]
fn infinities_and_nan() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let x = HostTensor::dense(&[5], HostValues::F32(vec![inf, 1.0, nan, -inf, 2.0]));
    for (name, device) in common::devices() {
        let (x, ids) = (on(&x, &device), on(&ids_of(&[0, 1, 1, 2, 2]), &device));
        let f = |t: Result<Tensor>| bits(&t.expect("recorded")).into_iter().map(f32::from_bits).collect::<Vec<_>>();
        let (least, greatest) = (f(x.unsorted_segment_min(&ids, 3)), f(x.segment_max(&ids)));
        assert_eq!((least[0], least[2], greatest[0], greatest[2]), (inf, -inf, inf, 2.0), "{name}");
        assert!(least[1].is_nan() && greatest[1].is_nan(), "{name}");
    }
}

#[test]
fn bad_ids_and_shapes() {
    let ragged = HostTensor::from_row_splits(vec![0, 2, 3], HostValues::I32(vec![1, 2, 3]));
    let dense = HostTensor::dense(&[2, 3], HostValues::I32(vec![1; 6]));
    for (name, device) in common::devices() {
        let (ragged, dense) = (on(&ragged, &device), on(&dense, &device));
        let ids = |ids: &[i64]| on(&ids_of(ids), &device);
        let read = |t: Result<Tensor>| t.and_then(|t| t.to_host());
        let checked = |t| matches!(read(t), Err(Error::Check { .. }));
        assert!(checked(ragged.unsorted_segment_sum(&ids(&[0, 2]), 2)), "{name}");
        assert!(checked(ragged.unsorted_segment_sum(&ids(&[0, -1]), 2)), "{name}");
        assert!(checked(ragged.unsorted_segment_sum(&ids(&[0, 0]), 0)), "no segments on {name}");
        assert!(checked(dense.unsorted_segment_max(&ids(&[2, 0]), 2)), "{name}");
        assert!(checked(dense.unsorted_segment_max(&ids(&[i64::MAX, 0]), 2)), "{name}");
        assert!(read(dense.unsorted_segment_max(&ids(&[i64::MIN, 0]), 2)).is_ok(), "{name}");
        assert!(checked(dense.segment_sum(&ids(&[1, 0]))), "{name}");
        assert!(checked(dense.segment_sum(&ids(&[-1, 0]))), "{name}");
        // No segments, or no values.
        assert!(checked(dense.unsorted_segment_sum(&ids(&[0, 0]), 0)), "no segments on {name}");
        let none = read(dense.unsorted_segment_sum(&ids(&[-1, -1]), 0)).expect("no result");
        assert_eq!(none.inner_shape, [0, 3]);
        let shape = |t: Result<Tensor>| matches!(t, Err(Error::Shape { .. }));
        assert!(shape(dense.unsorted_segment_sum(&ids(&[0, 0, 0]), 2)), "{name}");
        assert!(shape(dense.segment_sum(&ids(&[0])),), "{name}");
        assert!(shape(ragged.unsorted_segment_sum(&dense, 2)), "{name}");
        assert!(shape(dense.unsorted_segment_sum(&ragged, 2)), "{name}");
        assert!(matches!(ragged.unsorted_segment_sum(&ids(&[0, 0]), -1), Err(Error::Argument { .. })), "{name}");
        assert!(matches!(ragged.segment_sum(&ids(&[0, 0])), Err(Error::Argument { .. })), "{name}");
        let floats = on(&HostTensor::dense(&[2], HostValues::F32(vec![0.0; 2])), &device);
        assert!(matches!(dense.unsorted_segment_sum(&floats, 1), Err(Error::Unsupported { .. })), "{name}");
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..20 {
        let mut random = Random::new(800 + seed);
        for device in both_devices() {
            let (x, host) = nest::device_sized(&mut random, 1 + seed as usize % 2, seed as usize % 3, &device);
            let nest = positions(&host);
            let n = nest.items().len();
            let ids = random_ids(&mut random, n, 3, false);
            let want = x.unsorted_segment_sum(&on(&ids_of(&ids), &device), 3).and_then(|t| t.to_host());
            let same =
                on(&host, &device).unsorted_segment_sum(&on(&ids_of(&ids), &device), 3).and_then(|t| t.to_host());
            let nest = |t: HostTensor| positions(&t).map(&mut |&at| ints(&t)[at]);
            assert_eq!(nest(want.expect("segments")), nest(same.expect("segments")), "{host:?} by {ids:?}");
        }
    }
}
