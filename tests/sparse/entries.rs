//! Operations that give sparse tensors, on random entries.

use proptest::prelude::*;
use ragged::arguments::Axes;
use ragged::opt::{expanding, keep};
use ragged::{HostTensor, HostValues, SparseTensor, Tensor};

use crate::twin::{Twin, most, sum};
use crate::{each_device, gives, some, twins};

fn bools(all: &[bool], device: &ragged::Device) -> Tensor {
    HostTensor::dense(&[all.len()], HostValues::Bool(all.to_vec())).to_device(device).expect("a mask")
}

fn ints(all: &[i64], device: &ragged::Device) -> Tensor {
    HostTensor::dense(&[all.len()], HostValues::I64(all.to_vec())).to_device(device).expect("integers")
}

/// A permutation from a number.
fn permutation(n: usize, mut seed: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..n).collect();
    (0..n)
        .map(|_| {
            let at = seed % left.len();
            seed /= left.len();
            left.remove(at)
        })
        .collect()
}

proptest! {
    #![proptest_config(some())]

    #[test]
    fn reorder_and_coalesce(x in twins(1..=4)) {
        gives(&x.sorted(), |d| x.on(d).reorder());
        gives(&x.words().sorted(), |d| x.words().on(d).reorder());
        gives(&x.grouped(sum), |d| x.on(d).coalesce());
        gives(&x.grouped(sum), |d| x.on(d).reorder()?.coalesce());
    }

    #[test]
    fn transpose(x in twins(1..=3), seed in 0..6usize) {
        let axes = permutation(x.shape.len(), seed);
        let moved = x.with(axes.iter().map(|&a| x.shape[a]).collect(), |c| Some(axes.iter().map(|&a| c[a]).collect()));
        let named: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        gives(&moved.sorted(), |d| x.on(d).transpose(Axes::List(named.clone())));
        let back = x.with(x.shape.iter().rev().copied().collect(), |c| Some(c.iter().rev().copied().collect()));
        gives(&back.words().sorted(), |d| x.words().on(d).transpose(..));
    }

    #[test]
    fn slice_and_split(
        x in twins(1..=3),
        start in prop::collection::vec(0..5u64, 3),
        size in prop::collection::vec(0..6u64, 3),
        parts in 1..4u64,
    ) {
        let rank = x.shape.len();
        let (start, size) = (&start[..rank], &size[..rank]);
        gives(&x.part(start, size), |d| x.on(d).slice(start, size));
        gives(&x.words().part(start, size), |d| x.words().on(d).slice(start, size));
        let axis = rank - 1;
        let whole = x.shape[axis];
        for (name, device) in each_device() {
            let got = x.on(device).split(parts, -1i64);
            if parts > whole {
                prop_assert!(got.is_err());
                continue;
            }
            let (mut at, mut size) = (vec![0; rank], x.shape.clone());
            for (k, part) in got?.iter().enumerate() {
                size[axis] = whole / parts + u64::from((k as u64) < whole % parts);
                prop_assert_eq!(Twin::read(part)?, x.part(&at, &size), "{}, part {}", name, k);
                at[axis] += size[axis];
            }
            prop_assert_eq!(at[axis], whole);
        }
    }

    #[test]
    fn concat(all in (1..=3usize).prop_flat_map(|rank| prop::collection::vec(twins(rank..=rank), 1..4)), axis in 0..3usize) {
        let rank = all[0].shape.len();
        let axis = axis % rank;
        let mut shape: Vec<u64> = (0..rank).map(|d| all.iter().map(|x| x.shape[d]).max().unwrap_or(0)).collect();
        shape[axis] = all.iter().map(|x| x.shape[axis]).sum();
        let mut at = 0;
        let mut joined = Twin { coordinates: vec![], values: vec![], shape: shape.clone() };
        for x in &all {
            let moved = x.with(shape.clone(), |c| {
                let mut c = c.to_vec();
                c[axis] += at;
                Some(c)
            });
            joined = joined.followed_by(&moved);
            at += x.shape[axis] as i64;
        }
        let equal = all.iter().all(|x| (0..rank).all(|d| d == axis || x.shape[d] == all[0].shape[d]));
        for strings in [false, true] {
            let join = |d: &ragged::Device, expand: bool| {
                let all: Vec<SparseTensor> = all.iter().map(|x| if strings { x.words().on(d) } else { x.on(d) }).collect();
                let all: Vec<&SparseTensor> = all.iter().collect();
                let axis = axis as i64 - rank as i64;
                if expand { SparseTensor::concat(&all, expanding(axis)) } else { SparseTensor::concat(&all, axis) }
            };
            if strings {
                gives(&joined.words().sorted(), |d| join(d, true));
            } else {
                gives(&joined.sorted(), |d| join(d, true));
            }
            prop_assert_eq!(join(&ragged::Device::cpu(), false).is_ok(), equal);
        }
        let ordered: Vec<Twin<i32>> = all.iter().map(Twin::sorted).collect();
        gives(&joined.sorted(), |d| {
            let all: Vec<SparseTensor> = ordered.iter().map(|x| x.on(d).reorder()).collect::<ragged::Result<_>>()?;
            SparseTensor::concat(&all, expanding(axis))
        });
    }

    #[test]
    fn retain_and_mask(
        x in twins(1..=3),
        flags in prop::collection::vec(any::<bool>(), 40),
        rows in prop::collection::vec(-2..8i64, 0..5),
    ) {
        let flags = &flags[..x.values.len()];
        let kept = x.entries().zip(flags).filter(|(_, keep)| **keep);
        let (coordinates, values) = kept.map(|((c, v), _)| (c.clone(), *v)).unzip();
        let kept = Twin { coordinates, values, shape: x.shape.clone() };
        gives(&kept, |d| x.on(d).retain(&bools(flags, d)));
        gives(&kept.words(), |d| x.words().on(d).retain(&bools(flags, d)));
        let left = x.with(x.shape.clone(), |c| (!rows.contains(&c[0])).then(|| c.to_vec()));
        gives(&left, |d| x.on(d).mask(&ints(&rows, d)));
    }

    #[test]
    fn fill_empty_rows(x in twins(1..=3)) {
        let mut entries: Vec<(Vec<i64>, i32)> = x.entries().map(|(c, v)| (c.clone(), *v)).collect();
        let empty: Vec<bool> = (0..x.shape[0] as i64).map(|r| x.coordinates.iter().all(|c| c[0] != r)).collect();
        for (r, _) in empty.iter().enumerate().filter(|(_, e)| **e) {
            entries.push(([vec![r as i64], vec![0; x.shape.len() - 1]].concat(), 77));
        }
        entries.sort_by_key(|(c, _)| c[0]);
        let (coordinates, values) = entries.into_iter().unzip();
        let want = Twin { coordinates, values, shape: x.shape.clone() };
        gives(&want, |d| Ok(x.on(d).fill_empty_rows(77)?.0));
        for (name, device) in each_device() {
            let (_, got) = x.on(device).fill_empty_rows(77)?;
            prop_assert_eq!(got.to_host()?.values, HostValues::Bool(empty.clone()), "{}", name);
        }
        let words: Twin<Vec<u8>> = Twin { values: want.values.iter().map(|&v| vec![b'w'; (v as u32 % 5) as usize]).collect(), coordinates: want.coordinates.clone(), shape: want.shape.clone() };
        let of_words = x.map(|&v| vec![b'w'; (v as u32 % 5) as usize]);
        gives(&words, |d| Ok(of_words.on(d).fill_empty_rows("ww")?.0));
    }

    #[test]
    fn of_two_tensors((x, y) in twins(1..=3).prop_flat_map(|x| {
        let shape = x.shape.clone();
        let fits = move |y: Twin<i32>| {
            let inside = |c: &[i64]| c.len() == shape.len() && c.iter().zip(&shape).all(|(&c, &d)| c < d as i64);
            y.with(shape.clone(), |c| inside(c).then(|| c.to_vec()))
        };
        let rank = x.shape.len();
        (Just(x), twins(rank..=rank).prop_map(fits))
    })) {
        gives(&x.followed_by(&y).grouped(sum), |d| x.on(d).add(&y.on(d)));
        let (x, y) = (x.distinct(), y.distinct());
        let of_one = |f: fn(i32, i32) -> i32| move |all: &[i32]| match all {
            [a] => f(*a, 0),
            [a, b] => f(*a, *b),
            all => panic!("{} values", all.len()),
        };
        gives(&x.followed_by(&y).grouped(of_one(i32::max)), |d| x.on(d).maximum(&y.on(d)));
        gives(&x.followed_by(&y).grouped(of_one(i32::min)), |d| x.on(d).minimum(&y.on(d)));
    }

    #[test]
    fn reduce_sparse(x in twins(1..=3), named in prop::collection::vec(any::<bool>(), 3), all in any::<bool>()) {
        let rank = x.shape.len();
        let named: Vec<bool> = (0..rank).map(|d| all || named[d]).collect();
        let axes = || if all { Axes::All } else { Axes::List((0..rank as i64).filter(|&d| named[d as usize]).collect()) };
        let left = x.with(
            (0..rank).filter(|&d| !named[d]).map(|d| x.shape[d]).collect(),
            |c| Some((0..rank).filter(|&d| !named[d]).map(|d| c[d]).collect()),
        );
        gives(&left.grouped(sum), |d| x.on(d).reduce_sum_sparse(axes()));
        gives(&left.grouped(most), |d| x.on(d).reduce_max_sparse(axes()));
        gives(&left.grouped(most), |d| x.on(d).reorder()?.reduce_max_sparse(axes()));
        let kept = x.with(
            (0..rank).map(|d| if named[d] { 1 } else { x.shape[d] }).collect(),
            |c| Some((0..rank).map(|d| if named[d] { 0 } else { c[d] }).collect()),
        );
        gives(&kept.grouped(sum), |d| x.on(d).reduce_sum_sparse(keep(axes())));
    }

    #[test]
    fn other_shapes(x in twins(1..=4), axis in 0..5usize, open in any::<bool>()) {
        let axis = axis % (x.shape.len() + 1);
        let insert = |c: &[i64], at: usize, v: i64| [&c[..at], &[v], &c[at..]].concat();
        let mut shape = x.shape.clone();
        shape.insert(axis, 1);
        gives(&x.with(shape, |c| Some(insert(c, axis, 0))), |d| x.on(d).expand_dims(axis));

        // The prime factors of the number of elements, two by two.
        let total: u64 = x.shape.iter().product();
        let mut new: Vec<u64> = Vec::new();
        let mut rest = total.max(1);
        for p in [2, 3, 5] {
            while u64::is_multiple_of(rest, p) {
                rest /= p;
                new.push(p);
            }
        }
        let new: Vec<u64> = new.chunks(2).map(|c| c.iter().product()).chain([1]).collect();
        if total > 0 {
            let reshaped = x.with(new.clone(), |c| {
                let mut at = x.position(c) as i64;
                let mut out: Vec<i64> = Vec::new();
                for &d in new.iter().rev() {
                    out.push(at % d as i64);
                    at /= d as i64;
                }
                out.reverse();
                Some(out)
            });
            let mut sizes: Vec<i64> = new.iter().map(|&d| d as i64).collect();
            if open {
                sizes[0] = -1;
            }
            gives(&reshaped, |d| x.on(d).reshape(&sizes));
        }

        let larger: Vec<u64> = x.shape.iter().map(|d| d + 3).collect();
        gives(&x.with(larger.clone(), |c| Some(c.to_vec())), |d| x.on(d).reset_shape(&larger));
        let least = |d: usize| x.coordinates.iter().map(|c| c[d] as u64 + 1).max().unwrap_or(0);
        let least: Vec<u64> = (0..x.shape.len()).map(least).collect();
        gives(&x.with(least, |c| Some(c.to_vec())), |d| x.on(d).shrink_shape());
        gives(&x.map(|v| v.wrapping_mul(3)), |d| x.on(d).map_values(|v| v.multiply(3)));
    }
}

#[test]
fn copies_and_parts() {
    let x = Twin::of(&[&[0, 2], &[1, 0]], &[4, 5], &[2, 3]);
    for (name, device) in each_device() {
        let y = x.on(device);
        assert_eq!(Twin::read(&y.to_device(&ragged::Device::cpu()).expect("a copy")).expect("read"), x, "{name}");
        let text = "SparseTensor(indices=tensor([[0, 2], [1, 0]], shape=(2, 2), dtype=i64), values=tensor([4, 5], \
                    shape=(2,), dtype=i32), dense_shape=[2, 3])";
        assert_eq!(y.to_string(), text, "{name}");
        assert_eq!((y.rank(), y.dtype(), &y.device()), (2, ragged::DType::I32, device), "{name}");
    }
}
