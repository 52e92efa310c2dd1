//! Unchecked constructors: any list gives rows of all values.

use ragged::arguments::Integers;
use ragged::arguments::Padding;
use ragged::opt::{keep, with_nrows};
use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor};

use crate::common;
use crate::lists::{REFUSED, UNCHECKED, unknown, vector};

#[test]
fn unchecked_constructors_accept_any_list() {
    let device = Device::cpu();
    let values = vector(&[1, 2, 3, 4], &device);
    for (factory, given, _) in REFUSED {
        let (name, make) = UNCHECKED[factory];
        let on_device = vector(given, &device);
        for x in [make(&values, given.into()), make(&values, (&on_device).into())] {
            let Ok(x) = x else { continue };
            let splits = &x.to_host().expect(name).nested_row_splits[0];
            assert!(splits.windows(2).all(|w| w[0] <= w[1]), "{name} of {given:?}: {splits:?}");
            assert!(splits[0] == 0 && splits[splits.len() - 1] == 4, "{name} of {given:?}: {splits:?}");
            // Subsequent operations must not fault either.
            x.to_tensor(Padding::Zero).and_then(|t| t.to_host()).expect(name);
            x.value_rowids().and_then(|t| t.to_host()).expect(name);
        }
    }
    let good: [&[i64]; 5] = [&[0, 1, 1, 4], &[1, 0, 3], &[0, 1, 1], &[1, 1, 4], &[0, 2, 2, 2]];
    for ((name, make), given) in UNCHECKED.into_iter().zip(good) {
        for given in [given.into(), Integers::from(&vector(given, &device))] {
            let x = make(&values, given).and_then(|t| t.to_host()).expect(name);
            assert_eq!(x.nested_row_splits, [[0, 1, 1, 4]], "{name}");
        }
    }
    let nested = Tensor::from_nested_row_lengths_unchecked(&values, [[2, 0].as_slice(), &[1, 3]]).expect("two levels");
    assert_eq!(nested.to_string(), "<ragged.RaggedTensor [[[1], [2, 3, 4]], []]>");
}

#[test]
fn unchecked_rows_hold_all_values() {
    const N: i64 = 4096;
    let lists: [(usize, &[i64]); 9] = [
        (0, &[0, 1]),
        (0, &[0, 3, 1]),
        (0, &[0]),
        (1, &[1, 2]),
        (1, &[]),
        (2, &[0, 9, 5000]),
        (2, &[]),
        (3, &[1, 7]),
        (3, &[]),
    ];
    let mut first: Option<Vec<_>> = None;
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        let mut results = Vec::new();
        let values = vector(&vec![1; N as usize], &device);
        // Contents that another tensor leaves in pooled buffers of this size.
        let poison = || {
            let other = vector(&vec![0x00C0_FFEE; N as usize], &device);
            for t in [other.add(1i64), other.multiply(2i64), other.subtract(1i64)] {
                t.and_then(|t| t.eval()).expect("computed");
            }
        };
        let mut check = |x: Result<Tensor>, what: &str| {
            type Operation = (&'static str, fn(&Tensor) -> Result<Tensor>);
            let operations: [Operation; 5] = [
                ("splits", |x| x.row_splits()),
                ("cumsum", |x| x.cumsum(1)),
                ("sort", |x| x.sort(1)),
                ("argsort", |x| x.argsort(1)),
                ("center", |x| x.subtract(&x.reduce_max(keep(1))?)),
            ];
            for (name, operation) in operations {
                poison();
                let result = x.as_ref().map_err(ToString::to_string);
                let result = result.and_then(|x| operation(x).and_then(|x| x.to_host()).map_err(|e| e.to_string()));
                if let Ok(HostTensor { values: HostValues::I64(got), .. }) = &result {
                    let most = got.iter().copied().max().unwrap_or(0);
                    assert!(most <= N, "{label}: {name} of {what}: a value of another tensor, {most}");
                    if name == "splits" && got.len() > 1 {
                        assert_eq!((got[0], got[got.len() - 1]), (0, N), "{label}: {what}: {got:?}");
                    }
                }
                if let Err(e) = &result {
                    assert!(e.contains("no rows"), "{label}: {name} of {what}: {e}");
                }
                results.push((format!("{name} of {what}"), result.map_err(drop)));
            }
        };
        let unknown_values = || unknown(N, &device).multiply(0i64)?.add(1i64);
        for (factory, given) in lists {
            let (name, make) = UNCHECKED[factory];
            let list = vector(given, &device);
            check(make(&values, (&list).into()), &format!("{name} of {given:?}"));
            check(
                unknown_values().and_then(|v| make(&v, (&list).into())),
                &format!("{name} of {given:?} for unknown values"),
            );
            check(
                unknown_values().and_then(|v| make(&v, given.into())),
                &format!("{name} of {given:?}, a host list, for unknown values"),
            );
        }
        // A list of device-known length.
        for n in [3i64, 1, 0] {
            let list = vector(&[0, 1, 2], &device);
            let list = list.less(n).and_then(|mask| list.boolean_mask(&mask)).expect("a mask");
            check(Tensor::from_row_splits_unchecked(&values, &list), &format!("{n} splits"));
            check(Tensor::from_row_lengths_unchecked(&values, &list), &format!("{n} lengths"));
        }
        // The number of row ids differs from that of the values.
        let ids = vector(&[0, 0, 1], &device);
        for nrows in [0, 1, 3] {
            check(
                unknown_values().and_then(|v| Tensor::from_value_rowids_unchecked(&v, with_nrows(&ids, nrows))),
                &format!("ids in {nrows} rows"),
            );
            check(
                unknown_values().and_then(|v| Tensor::from_value_rowids_unchecked(&v, with_nrows([0, 0, 0], nrows))),
                &format!("host ids in {nrows} rows"),
            );
        }
        match &first {
            Some(first) => results.iter().zip(first).for_each(|(got, cpu)| assert_eq!(got, cpu, "{label}")),
            None => first = Some(results),
        }
    }
}
