//! Pieces and groups of elements: `split` and the partitions of `dynamic_partition`.

use ragged::{Device, HostTensor, HostValues, Tensor};

use crate::lists::{at_depth, everywhere, list, merged, nested, samples};
use crate::nest::{Nest, Random, on};

/// The items from `start` on of the lists at depth `axis`.
fn piece<T: Clone>(v: &Nest<T>, axis: usize, start: usize, len: usize) -> Nest<T> {
    at_depth(v, axis, &mut |rows| list(rows.items()[start..start + len].iter().cloned()))
}

#[test]
fn concat_inverts_split() {
    for (k, x) in samples(800, 20).enumerate() {
        let mut random = Random::new(k as u64);
        let sizes = on(&x, &Device::cpu()).shape();
        for (axis, size) in sizes.iter().enumerate() {
            let Some(size) = size.map(|n| n as u32) else {
                assert!(on(&x, &Device::cpu()).split([0, 0], axis as i64).is_err());
                continue;
            };
            let cut = random.below(size + 1);
            let cuts = [cut, 0, size - cut];
            let mut start = 0;
            for (k, &len) in cuts.iter().enumerate() {
                let run = |x: &Tensor| Ok(x.split(cuts.map(i64::from), axis as i64)?.swap_remove(k));
                let got = everywhere(&x, "split", run);
                let want = piece(&nested(&x), axis, start as usize, len as usize);
                assert_eq!(nested(&got), want, "piece {k} of {cuts:?} along {axis} of {x:?}");
                start += len;
            }
            let joined = |x: &Tensor| {
                let all = x.split(cuts.map(i64::from), axis as i64)?;
                Tensor::concat(&all.iter().collect::<Vec<_>>(), axis as i64)
            };
            assert_eq!(nested(&everywhere(&x, "split and concat", joined)), nested(&x));
            for n in (1..4u32).filter(|n| size % n == 0) {
                let run = |x: &Tensor| Ok(x.split(i64::from(n), axis as i64)?.swap_remove(n as usize - 1));
                let (len, got) = ((size / n) as usize, everywhere(&x, "split evenly", run));
                assert_eq!(nested(&got), piece(&nested(&x), axis, (n as usize - 1) * len, len));
            }
        }
    }
}

#[test]
fn groups_keep_the_order_of_their_elements() {
    for (k, x) in samples(900, 20).enumerate() {
        let mut random = Random::new(k as u64);
        let (rows, groups) = (nested(&x).items().to_vec(), 1 + random.below(5));
        let of: Vec<i32> = rows.iter().map(|_| random.below(groups) as i32).collect();
        let members = |g: u32| rows.iter().zip(&of).filter(move |&(_, &of)| of == g as i32).map(|(row, _)| row.clone());
        let partitions = HostTensor::dense(&[of.len()], HostValues::I32(of.clone()));
        let stacked = everywhere(&x, "stack_dynamic_partitions", |x| {
            x.stack_dynamic_partitions(&on(&partitions, &x.device()), groups)
        });
        assert_eq!(nested(&stacked), list((0..groups).map(|g| list(members(g)))), "{of:?} of {x:?}");
        for g in 0..groups {
            let part = everywhere(&x, "dynamic_partition", |x| {
                Ok(x.dynamic_partition(&on(&partitions, &x.device()), groups)?.swap_remove(g as usize))
            });
            assert_eq!(nested(&part), list(members(g)), "group {g} of {of:?} of {x:?}");
        }
    }
}

#[test]
fn elements_may_have_groups_of_their_own() {
    for (k, x) in samples(1000, 12).enumerate() {
        // One entry for each element below some of the ragged dimensions.
        for depth in 0..=x.nested_row_splits.len() {
            let mut random = Random::new(k as u64);
            let outer = merged(&nested(&x), 0, depth).items().to_vec();
            let of: Vec<i64> = outer.iter().map(|_| i64::from(random.below(3))).collect();
            let partitions = HostTensor {
                nested_row_splits: x.nested_row_splits[..depth].to_vec(),
                uniform_row_lengths: x.uniform_row_lengths[..depth].to_vec(),
                inner_shape: vec![of.len()],
                values: HostValues::I64(of.clone()),
            };
            let got = everywhere(&x, "stack_dynamic_partitions", |x| {
                x.stack_dynamic_partitions(&on(&partitions, &x.device()), 3)
            });
            let members = |g: i64| outer.iter().zip(&of).filter(move |&(_, &of)| of == g).map(|(v, _)| v.clone());
            assert_eq!(nested(&got), list((0..3).map(|g| list(members(g)))), "{of:?} of {x:?}");
        }
    }
}

/// As in TensorFlow, one size of a dense tensor may be -1: the rest of the dimension. Ragged tensors take none.
#[test]
fn one_size_of_a_split_may_be_the_rest() {
    for (k, shape) in [vec![7], vec![5, 3], vec![0, 2], vec![2, 0, 3], vec![3, 4, 2]].into_iter().enumerate() {
        let mut random = Random::new(k as u64);
        let n = shape.iter().product::<usize>() as i32;
        let x = HostTensor::dense(&shape, HostValues::I32((0..n).collect()));
        for (axis, &size) in shape.iter().enumerate() {
            let first = random.below(size as u32 + 1);
            let last = random.below(size as u32 - first + 1);
            let given = [i64::from(first), -1, i64::from(last)];
            for (name, device) in crate::common::devices_and_unfused_cpu() {
                let rest = size as i64 - given[0] - given[2];
                let want = on(&x, device).split([given[0], rest, given[2]], axis as i64).expect("sizes");
                let got = on(&x, device).split(given, axis as i64).expect("a rest");
                let read = |all: Vec<Tensor>| all.iter().map(|t| t.to_host().expect("a read")).collect::<Vec<_>>();
                assert_eq!(read(got), read(want), "{given:?} along {axis} of {shape:?} on {name}");
            }
        }
    }
    for (name, device) in crate::common::devices_and_unfused_cpu() {
        let x = on(&HostTensor::dense(&[4], HostValues::I32(vec![1, 2, 3, 4])), device);
        for sizes in [vec![-1i64, -1], vec![-2, 6], vec![5, -1], vec![3, -1, 2]] {
            assert!(x.split(sizes.as_slice(), 0).is_err(), "{sizes:?} on {name}");
        }
        let ragged = x.reshape([2, 2]).and_then(|x| Tensor::from_tensor(&x, 1)).expect("ragged");
        assert!(ragged.split([1, -1], 0).is_err(), "{name}");
        // The device alone knows the number of rows.
        let some = |least: i32| x.boolean_mask(&x.greater(least).expect("a mask")).expect("some");
        let rest = some(1).split([1, -1], 0).expect("recorded").swap_remove(1).to_host().expect("a read");
        assert_eq!(rest, HostTensor::dense(&[2], HostValues::I32(vec![3, 4])), "{name}");
        for part in some(2).split([2, -1, 2], 0).expect("recorded") {
            assert!(part.to_host().is_err(), "{name}: 2 rows are no 2 and 2");
        }
    }
}
