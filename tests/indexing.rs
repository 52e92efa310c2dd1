//! Slices and gathers, compared with nested lists, on every backend.

mod common;

use common::{naive, random};
use proptest::prelude::*;
use ragged::arguments::Index;
use ragged::opt::{along, batched};
use ragged::{DType, Device, HostTensor, HostValues, NewAxis, RaggedTensor, Result, Tensor, s};

/// A tensor as nested lists.
#[derive(Debug, Clone, PartialEq)]
enum Nested {
    /// The bits of a value.
    Leaf(Vec<u8>),
    List(Vec<Nested>),
}

impl Nested {
    fn list(&self) -> &[Self] {
        match self {
            Self::List(all) => all,
            Self::Leaf(_) => panic!("a value where a list belongs"),
        }
    }

    /// The elements that the key selects, below dimension 0.
    fn slice(&self, items: &[Index]) -> Self {
        let Some((first, rest)) = items.split_first() else { return self.clone() };
        let below = |at: usize| self.list()[at].slice(rest);
        match *first {
            Index::NewAxis => Self::List(vec![self.slice(rest)]),
            Index::At(i) => below(if i < 0 { (self.list().len() as i64 + i) as usize } else { i as usize }),
            Index::Slice { start, stop, step } => {
                Self::List(naive::positions(self.list().len(), start, stop, step).into_iter().map(below).collect())
            }
            other => panic!("the naive reference does not support {other:?}"),
        }
    }

    /// `indices` with each leaf replaced by the element of `self` at that index.
    fn gather(&self, indices: &Self) -> Self {
        match indices {
            Self::Leaf(at) => self.list()[u32::from_le_bytes(at[..4].try_into().expect("an index")) as usize].clone(),
            Self::List(all) => Self::List(all.iter().map(|i| self.gather(i)).collect()),
        }
    }
}

fn nested(t: &HostTensor) -> Nested {
    let mut all: Vec<Nested> = naive::bits(&t.values).into_iter().map(Nested::Leaf).collect();
    if t.inner_shape.is_empty() {
        return all.remove(0);
    }
    for (d, &size) in t.inner_shape.iter().enumerate().skip(1).rev() {
        let rows: usize = t.inner_shape[..d].iter().product();
        all = (0..rows).map(|r| Nested::List(all[r * size..(r + 1) * size].to_vec())).collect();
    }
    for splits in t.nested_row_splits.iter().rev() {
        all = splits.windows(2).map(|w| Nested::List(all[w[0] as usize..w[1] as usize].to_vec())).collect();
    }
    Nested::List(all)
}

/// The result of `compute` on the CPU, after checking that every other backend with the dtype gives the same.
fn everywhere(dtype: DType, compute: impl Fn(&Device) -> Result<HostTensor>) -> HostTensor {
    let want = compute(&Device::cpu()).expect("the CPU computes it");
    let unfused = ("cpu unfused".to_owned(), Device::cpu_unfused());
    for (name, device) in common::gpus().into_iter().chain([unfused]).filter(|(_, d)| common::has(d, dtype)) {
        let got = compute(&device).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(got.nested_row_splits, want.nested_row_splits, "splits on {name}");
        assert_eq!(nested(&got), nested(&want), "values on {name}");
    }
    want
}

fn example(strings: bool) -> HostTensor {
    let values = if strings {
        HostValues::Str((0..17).map(|i| b"abcdefgh"[..i % 5].to_vec()).collect())
    } else {
        HostValues::I32((0..17).collect())
    };
    HostTensor {
        nested_row_splits: vec![vec![0, 3, 3, 7, 8], vec![0, 4, 4, 9, 10, 10, 15, 16, 17]],
        uniform_row_lengths: vec![None, None],
        inner_shape: vec![17],
        values,
    }
}

#[test]
fn slices_along_each_dimension_equal_pythons() {
    let ends: Vec<Option<i64>> = [None].into_iter().chain((-6..=6).map(Some)).collect();
    for device in [Device::cpu(), Device::cpu_unfused()] {
        for strings in [false, true] {
            let host = example(strings);
            let (x, want) = (host.to_device(&device).unwrap(), nested(&host));
            for (k, &start) in ends.iter().enumerate() {
                for &stop in &ends {
                    for step in (-6..=6i64).filter(|&s| s != 0) {
                        // Every combination on one dimension, each dimension in turn.
                        let dim = (k + step.unsigned_abs() as usize + stop.unwrap_or(0).unsigned_abs() as usize) % 3;
                        let mut key = vec![Index::ALL; dim];
                        key.push(Index::Slice { start, stop, step });
                        let got = x.slice(&key).unwrap().to_host().unwrap();
                        assert_eq!(nested(&got), want.slice(&key), "{key:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_slice_of_a_row() {
    let host = naive::host::<i32>(&[vec![1, 2, 3, 4, 5], vec![], vec![6], vec![7, 8]]);
    let x = host.to_device(&Device::cpu()).unwrap();
    let ends: Vec<Option<i64>> = [None].into_iter().chain((-6..=6).map(Some)).collect();
    for &start in &ends {
        for &stop in &ends {
            for step in (-6..=6i64).filter(|&s| s != 0) {
                let key = [Index::ALL, Index::Slice { start, stop, step }];
                let got = naive::rows::<i32>(&x.slice(key).unwrap().to_host().unwrap());
                let rows = naive::rows::<i32>(&host);
                let want: Vec<_> = rows.iter().map(|row| naive::slice(row, start, stop, step)).collect();
                assert_eq!(got, want, "{key:?}");
            }
        }
    }
}

/// A random key for a tensor of rank `rank`, with integers at its start only.
fn key(rank: usize) -> impl Strategy<Value = (Vec<u64>, Vec<Option<Index<'static>>>)> {
    let end = proptest::option::of(-7..7i64);
    let step = prop_oneof![3 => Just(1i64), 1 => Just(-1), 1 => 1..4i64, 1 => -3..0i64];
    let slice = (end.clone(), end, step).prop_map(|(start, stop, step)| Index::Slice { start, stop, step });
    // None is a new axis.
    let item = prop_oneof![3 => slice.prop_map(Some), 1 => Just(Some(Index::ALL)), 1 => Just(None)];
    (proptest::collection::vec(any::<u64>(), 0..=rank), proptest::collection::vec(item, 0..=rank))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Keys of every kind, compared with nested lists, also for device-known rows.
    #[test]
    fn keys_are_those_of_nested_lists((host, (ints, items)) in random::tensor(&DType::ALL).prop_flat_map(|t| {
        let rank = t.nested_row_splits.len() + t.inner_shape.len();
        (Just(t), key(rank))
    })) {
        let want = nested(&host);
        let rank = host.nested_row_splits.len() + host.inner_shape.len();
        // Integers in range.
        let mut at = &want;
        let mut index = Vec::new();
        for pick in ints {
            let Nested::List(all) = at else { break };
            if all.is_empty() {
                break;
            }
            let place = (pick % all.len() as u64) as usize;
            index.push(Index::At(if pick % 3 == 0 { place as i64 - all.len() as i64 } else { place as i64 }));
            at = &all[place];
        }
        let integers = index.len();
        let room = rank - integers;
        let mut used = 0;
        for item in items {
            match item {
                None => index.push(NewAxis.into()),
                Some(slice) if used < room => {
                    index.push(slice);
                    used += 1;
                }
                Some(_) => {}
            }
        }
        let got = everywhere(host.values.dtype(), |device| host.to_device(device)?.slice(&index)?.to_host());
        prop_assert_eq!(nested(&got), want.slice(&index));
        if let (Some(&Index::At(row)), true) = (index.first(), host.values.dtype() != DType::Str) {
            let row = HostTensor::dense(&[], HostValues::I32(vec![row as i32]));
            let on_device = everywhere(host.values.dtype(), |device| {
                host.to_device(device)?.row_at(&row.to_device(device)?)?.slice(&index[1..])?.to_host()
            });
            prop_assert_eq!(on_device.nested_row_splits.len(), got.nested_row_splits.len());
            prop_assert_eq!(nested(&on_device), nested(&got));
        }
    }

    /// Rows by index, under the dimensions of the indices.
    #[test]
    fn gathered_rows_are_those_of_nested_lists(
        host in random::tensor(&DType::ALL),
        (splits, picks) in random::partitions(1).prop_flat_map(|(splits, n)| {
            (Just(splits), proptest::collection::vec(any::<u32>(), n.min(40)))
        }),
        layout in 0..3,
    ) {
        let want = nested(&host);
        let rows = want.list().len() as u32;
        prop_assume!(rows > 0 && host.values.len() < 3000);
        let values: Vec<i32> = picks.iter().map(|p| (p % rows) as i32).collect();
        let n = values.len();
        let indices = match layout {
            0 => HostTensor::dense(&[n], HostValues::I32(values)),
            1 => HostTensor::dense(&[n / 2, 2], HostValues::I32(values[..n / 2 * 2].to_vec())),
            _ => HostTensor {
                nested_row_splits: vec![splits[0].iter().map(|&s| s.min(n as u32)).collect()],
                uniform_row_lengths: vec![None],
                inner_shape: vec![n],
                values: HostValues::I32(values),
            },
        };
        let got = everywhere(host.values.dtype(), |device| {
            host.to_device(device)?.gather(&indices.to_device(device)?)?.to_host()
        });
        prop_assert_eq!(nested(&got), want.gather(&nested(&indices)));
    }

    /// Elements of each row by indices of that row (`batch_gather`), and by vectors of indices (`gather_nd`).
    #[test]
    fn gathered_batches_are_rows_gathered_alone(
        host in (proptest::sample::select(DType::ALL.to_vec()), 1..=3usize)
            .prop_flat_map(|(dtype, rank)| random::tensor_of(dtype, rank, &[])),
        picks in proptest::collection::vec((any::<u16>(), any::<u32>()), 0..30),
    ) {
        let want = nested(&host);
        prop_assume!(!want.list().is_empty() && host.values.len() < 3000);
        let mut own: Vec<Vec<i32>> = vec![Vec::new(); want.list().len()];
        let mut pairs = Vec::new();
        for (row, pick) in picks {
            let row = usize::from(row) % own.len();
            let len = want.list()[row].list().len() as u32;
            if len > 0 {
                own[row].push((pick % len) as i32);
                pairs.extend([row as i32, (pick % len) as i32]);
            }
        }
        let indices = naive::host::<i32>(&own);
        let got = everywhere(host.values.dtype(), |device| {
            host.to_device(device)?.batch_gather(&indices.to_device(device)?)?.to_host()
        });
        let alone = want.list().iter().zip(nested(&indices).list()).map(|(row, at)| row.gather(at)).collect();
        prop_assert_eq!(nested(&got), Nested::List(alone));

        let vectors = HostTensor::dense(&[pairs.len() / 2, 2], HostValues::I32(pairs.clone()));
        let got = everywhere(host.values.dtype(), |device| {
            host.to_device(device)?.gather_nd(&vectors.to_device(device)?)?.to_host()
        });
        let element = |at: &[i32]| want.list()[at[0] as usize].list()[at[1] as usize].clone();
        prop_assert_eq!(nested(&got), Nested::List(pairs.chunks(2).map(element).collect()));
    }
}

fn small(device: &Device) -> Tensor {
    naive::host::<i32>(&[vec![1, 2, 3], vec![], vec![4, 5]]).to_device(device).unwrap()
}

#[test]
fn indices_out_of_range_are_errors() {
    let device = Device::cpu();
    let x = small(&device);
    assert!(x.slice(s![3]).is_err());
    assert!(x.slice(s![-4]).is_err());
    assert!(x.slice(s![.., 0]).is_err());
    assert!(x.slice(s![0, 3]).is_err());
    assert!(x.slice(s![.., .., ..]).is_err());
    assert!(x.slice(s![..;0]).is_err());
    assert!(x.slice(s![i64::MIN]).is_err());
    let index = |i: i64| HostTensor::dense(&[], HostValues::I64(vec![i])).to_device(&device).unwrap();
    assert_eq!(x.row_at(&index(-3)).unwrap().to_host().unwrap().values, HostValues::I32(vec![1, 2, 3]));
    for beyond in [3, -4, 1 << 32, i64::MIN, i64::MAX] {
        assert!(x.row_at(&index(beyond)).unwrap().to_host().is_err(), "{beyond}");
        assert!(x.gather(&index(beyond)).and_then(|t| t.to_host()).is_err(), "{beyond}");
    }
    assert!(x.gather(along(batched(&x, 2), 1)).is_err());
    assert!(x.gather(along(batched(&x, 1), 0)).is_err());
    let floats = HostTensor::dense(&[1], HostValues::F32(vec![0.0])).to_device(&device).unwrap();
    assert!(x.gather(&floats).is_err());
    // The tensor stays valid.
    assert_eq!(x.slice(s![2]).unwrap().to_host().unwrap().values, HostValues::I32(vec![4, 5]));
}

#[test]
fn extreme_indices_are_out_of_range() {
    let device = Device::cpu();
    let table = HostTensor::dense(&[3, 0], HostValues::F32(Vec::new())).to_device(&device).unwrap();
    for beyond in [3, -1, i32::MIN] {
        let at = HostTensor::dense(&[1], HostValues::I32(vec![beyond])).to_device(&device).unwrap();
        assert!(table.gather(&at).and_then(|t| t.to_host()).is_err(), "{beyond}, though rows hold nothing");
    }
}

/// An index into an empty table is an error on every backend, even if its elements are empty.
#[test]
fn every_index_of_an_empty_table_is_out_of_range() {
    let mut devices = vec![Device::cpu(), Device::cpu_unfused()];
    devices.extend(common::gpus().into_iter().map(|(_, device)| device));
    for device in devices {
        let up = |t: HostTensor| t.to_device(&device).unwrap();
        let vectors = up(HostTensor::dense(&[2, 1], HostValues::I64(vec![0, 1])));
        let ids = up(naive::host::<i32>(&[vec![0, 2], vec![], vec![0]]));
        for table in [
            HostTensor::dense(&[0], HostValues::F32(Vec::new())),
            HostTensor::dense(&[0, 3], HostValues::I64(Vec::new())),
            HostTensor::dense(&[0], HostValues::Str(Vec::new())),
            naive::host::<i32>(&[]),
        ] {
            let table = up(table);
            let tried = [table.gather(&ids), table.gather_nd(&vectors)];
            for (k, read) in tried.into_iter().map(|t| t.and_then(|t| t.to_host())).enumerate() {
                let refused = matches!(read, Err(ragged::Error::Check { .. } | ragged::Error::Index { .. }));
                assert!(refused, "{device:?}, way {k}, shape {}: {read:?}", table.shape_text());
            }
        }
    }
}

/// The reported error is the invalid index, not the length that results from it.
#[test]
fn an_invalid_row_index_is_reported_as_such() {
    for (name, device) in common::devices() {
        let x = small(&device);
        for beyond in [i64::MIN, i64::MAX, -1, 3] {
            let ids = HostTensor::dense(&[2], HostValues::I64(vec![1, beyond])).to_device(&device).unwrap();
            let read = x.gather(&ids).and_then(|t| t.to_host());
            assert!(matches!(read, Err(ragged::Error::Check { .. })), "{name}, {beyond}: {read:?}");
        }
    }
}

/// A device-known number of indices along an axis of a dense tensor.
#[test]
fn columns_by_a_device_known_number_of_indices() {
    for (name, device) in common::devices() {
        let x = HostTensor::dense(&[2, 3], HostValues::I32(vec![0, 1, 2, 3, 4, 5])).to_device(&device).unwrap();
        let ids = HostTensor::dense(&[4], HostValues::I64(vec![2, -1, 0, -1])).to_device(&device).unwrap();
        let ids = ids.boolean_mask(&ids.greater_equal(0i64).unwrap()).unwrap();
        let got = x.gather(along(&ids, 1)).and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(got, HostTensor::dense(&[2, 2], HostValues::I32(vec![2, 0, 5, 3])), "{name}");
    }
}

/// An index beyond the end of its row is an error, even if a later row has a value at that offset.
#[test]
fn an_index_cannot_reach_another_row() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![], vec![3, 4, 5]], &device).expect("uploads");
        let at = |rows: Vec<Vec<i32>>| RaggedTensor::from_nested(rows, &device).expect("uploads");
        let taken = |rows| x.batch_gather(&at(rows)).and_then(|t| t.to_vec());
        assert_eq!(taken(vec![vec![1, 0], vec![], vec![2]]).expect("in range"), [2, 1, 5], "{name}");
        for beyond in [vec![vec![2], vec![], vec![]], vec![vec![], vec![0], vec![]], vec![vec![], vec![], vec![3]]] {
            let e = taken(beyond.clone()).expect_err("beyond the row");
            assert!(e.to_string().contains("out of range"), "{name}: {beyond:?} gives {e}");
            let indices = at(beyond).into_erased();
            let by_row =
                Tensor::map_rows_of(&[x.erased(), &indices], |rows| rows[0].gather(&rows[1])).and_then(|t| t.to_host());
            assert!(by_row.is_err(), "{name}: {by_row:?}");
        }
        let of_one = |row: i32, at: i32| {
            let index = RaggedTensor::dense([row, at], &[1, 2], &device)?;
            x.gather_nd(index.erased())?.to_vec()
        };
        assert_eq!(of_one(2, 2).expect("in range"), [5], "{name}");
        for (row, at) in [(0, 2), (1, 0), (2, 3)] {
            assert!(of_one(row, at).is_err(), "{name}: row {row} has no value {at}");
        }
    }
}

/// An index vector of length 0 names the whole tensor.
#[test]
fn empty_index_vectors_give_a_copy_each() {
    let words = HostValues::Str([&b"a"[..], b"", b"bcd"].map(<[u8]>::to_vec).to_vec());
    let ragged = naive::host::<i32>(&[vec![1, 2], vec![], vec![3]]);
    for x in [
        HostTensor::dense(&[2, 3], HostValues::I32((0..6).collect())),
        HostTensor::dense(&[], HostValues::F32(vec![7.0])),
        HostTensor::dense(&[3], words.clone()),
        HostTensor { values: words, ..ragged.clone() },
        ragged,
    ] {
        let copies = |n: usize| Nested::List(vec![nested(&x); n]);
        let rows = Nested::List(vec![copies(2), copies(0), copies(1)]);
        for (splits, shape, want) in [
            (vec![], vec![0], nested(&x)),
            (vec![], vec![3, 0], copies(3)),
            (vec![], vec![1, 0], copies(1)),
            (vec![], vec![2, 2, 0], Nested::List(vec![copies(2); 2])),
            (vec![vec![0, 2, 2, 3]], vec![3, 0], rows),
        ] {
            let empty = HostTensor::dense(&shape, HostValues::I64(Vec::new()));
            let indices =
                HostTensor { uniform_row_lengths: vec![None; splits.len()], nested_row_splits: splits, ..empty };
            let got = everywhere(x.values.dtype(), |d| x.to_device(d)?.gather_nd(&indices.to_device(d)?)?.to_host());
            assert_eq!(nested(&got), want, "{x:?} at {indices:?}");
        }
    }
}
