//! Shapes as values and operations that change a shape, compared with nested lists: on every backend, for tensors of a
//! device-known number of rows, and for arguments of all kinds.

mod common;
#[path = "rows/nest.rs"]
#[allow(dead_code, reason = "a part of it")]
mod nest;

use common::devices_and_unfused_cpu as backends;
use nest::{Nest, Random, on, positions};
use ragged::{
    Axes, DType, Device, DeviceOptions, Error, HostTensor, HostValues, Lengths, RaggedShape, RaggedTensor, Result,
    RowPartition, Tensor, along, nonempty,
};

/// A tensor of any dtype as nested lists of texts.
fn nested(t: &HostTensor) -> Nest<String> {
    let texts: Vec<String> = match &t.values {
        HostValues::Bool(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::U8(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::I32(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::I64(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::F32(v) => v.iter().map(ToString::to_string).collect(),
        HostValues::Str(v) => v.iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect(),
        other => panic!("no texts of {}", other.dtype()),
    };
    positions(t).map(&mut |&p| texts[p].clone())
}

/// The tensor with distinct values: numbers, or strings of numbers.
fn distinct(t: &HostTensor, strings: bool) -> HostTensor {
    let n = t.values.len() as i32;
    let values = if strings {
        // Lengths from 0 on.
        HostValues::Str((0..n).map(|k| k.to_string().repeat(k as usize % 4).into_bytes()).collect())
    } else {
        HostValues::I32((0..n).collect())
    };
    HostTensor { values, ..t.clone() }
}

/// The result of `compute` for the tensor, after checking that every backend gives the same.
fn everywhere(x: &HostTensor, what: &str, compute: impl Fn(&Tensor) -> Result<Tensor>) -> HostTensor {
    let mut all = backends().iter().map(|(name, device)| {
        let got = compute(&on(x, device)).and_then(|t| t.to_host());
        (name, got.unwrap_or_else(|e| panic!("{what} of {x:?} on {name}: {e}")))
    });
    let (_, want) = all.next().expect("a backend");
    for (name, got) in all {
        assert_eq!(got, want, "{what} of {x:?} on {name}");
    }
    want
}

/// Random tensors of every rank; the first one is large and skewed.
fn samples(seed: u64, n: u64) -> impl Iterator<Item = HostTensor> {
    let skewed = [
        vec![0; 40],
        vec![0, 0, 3000, 0, 1],
        vec![255, 256, 257, 0, 2047, 2048, 2049],
        (0..64).map(|k| 2000 / (k + 1)).collect(),
    ];
    let large = skewed.into_iter().map(|lengths| {
        let splits = common::random::splits(&lengths);
        let n = splits[lengths.len()] as usize;
        HostTensor::from_row_splits(splits, HostValues::I32((0..n as i32).collect()))
    });
    let small = (0..n).map(move |k| {
        let mut random = Random::new(seed + k);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        distinct(&random.tensor(ragged, inner), random.below(3) == 0)
    });
    large.chain(small)
}

fn rank(x: &HostTensor) -> usize {
    x.nested_row_splits.len() + x.inner_shape.len()
}

fn nrows(x: &HostTensor) -> usize {
    x.nested_row_splits.first().map_or_else(|| x.inner_shape[0], |s| s.len() - 1)
}

/// The tensor with a device-known number of rows.
fn unknown(x: &HostTensor, device: &Device) -> Tensor {
    let first = HostTensor::dense(&[], HostValues::I32(vec![0])).to_device(device).expect("a scalar");
    let one_row = Tensor::from_row_lengths(&on(x, device), [nrows(x)]).expect("one row of all");
    let out = one_row.row_at(&first).expect("the row");
    assert!(nrows(x) == 0 || out.shape()[0].is_none(), "the host must not know the number of rows");
    out
}

// Definitions of the operations on nested lists.

fn list<T>(items: impl IntoIterator<Item = Nest<T>>) -> Nest<T> {
    Nest::List(items.into_iter().collect())
}

/// Applies `f` to every list at depth `depth`.
fn at_depth<T: Clone>(v: &Nest<T>, depth: usize, f: &mut impl FnMut(&Nest<T>) -> Nest<T>) -> Nest<T> {
    if depth == 0 { f(v) } else { list(v.items().iter().map(|i| at_depth(i, depth - 1, f))) }
}

fn expanded<T: Clone>(v: &Nest<T>, axis: usize) -> Nest<T> {
    at_depth(v, axis, &mut |i| list([i.clone()]))
}

fn merged<T: Clone>(v: &Nest<T>, outer: usize, inner: usize) -> Nest<T> {
    at_depth(v, outer, &mut |rows| {
        (outer..inner).fold(rows.clone(), |rows, _| list(rows.items().iter().flat_map(|r| r.items().to_vec())))
    })
}

/// The items from `start` on of the lists at depth `axis`.
fn piece<T: Clone>(v: &Nest<T>, axis: usize, start: usize, len: usize) -> Nest<T> {
    at_depth(v, axis, &mut |rows| list(rows.items()[start..start + len].iter().cloned()))
}

#[test]
fn squeeze_inverts_expand_dims() {
    for x in samples(100, 16) {
        for axis in 0..=rank(&x) {
            let got = everywhere(&x, "expand_dims", |x| x.expand_dims(axis as i64));
            assert_eq!(nested(&got), expanded(&nested(&x), axis), "axis {axis} of {x:?}");
            let back = everywhere(&x, "squeeze", |x| x.expand_dims(axis as i64)?.squeeze(axis as i64));
            assert_eq!(back, x, "axis {axis}");
        }
    }
}

#[test]
fn several_axes_are_squeezed_at_once() {
    for x in samples(200, 12).skip(4) {
        let twice = |x: &Tensor| x.expand_dims(-1)?.expand_dims(0)?.expand_dims(1);
        let last = rank(&x) as i64 + 2;
        assert_eq!(everywhere(&x, "squeeze", |x| twice(x)?.squeeze([last, 0, 1])), x);
        let all = everywhere(&x, "squeeze of all", |x| twice(x)?.squeeze(Axes::All));
        let ones = |t: &HostTensor| on(t, &Device::cpu()).shape().contains(&Some(1));
        assert!(!ones(&all), "{all:?} has a dimension of size 1");
    }
}

#[test]
fn merged_dimensions_flatten() {
    for x in samples(300, 20) {
        for outer in 0..rank(&x) {
            for inner in outer..rank(&x) {
                let got = everywhere(&x, "merge_dims", |x| x.merge_dims(outer as i64, inner as i64));
                assert_eq!(nested(&got), merged(&nested(&x), outer, inner), "{outer} to {inner} of {x:?}");
                // Merged at once, or from the outside in.
                let steps = |x: &Tensor| {
                    (outer..inner).try_fold(x.clone(), |x, _| x.merge_dims(outer as i64, outer as i64 + 1))
                };
                assert_eq!(nested(&everywhere(&x, "merge_dims by steps", steps)), nested(&got));
            }
        }
    }
}

#[test]
fn a_shape_from_lengths_has_these_lengths() {
    for x in samples(400, 40) {
        for (name, device) in backends() {
            for t in [on(&x, device), unknown(&x, device)] {
                let shape = t.ragged_shape();
                let lengths = shape.lengths().expect("lengths");
                assert_eq!(lengths[0], Lengths::Uniform(nrows(&x) as i64));
                let made = RaggedShape::from_lengths(&lengths, device).expect("a shape");
                assert_eq!(made.lengths().expect("lengths"), lengths, "{x:?} on {name}");
                assert!(made.equals(shape).expect("a comparison") && shape.equals(&made).expect("a comparison"));
                let deep = made.with_ragged_rank(x.nested_row_splits.len()).expect("its own ragged rank");
                let zeros = Tensor::zeros(&deep, DType::I32).and_then(|t| t.to_host()).expect("zeros");
                assert_eq!(zeros.nested_row_splits, x.nested_row_splits, "{x:?} on {name}");
                assert_eq!(zeros.uniform_row_lengths, x.uniform_row_lengths, "{x:?} on {name}");
                assert_eq!(zeros.inner_shape, x.inner_shape, "{x:?} on {name}");
                let more = t.expand_dims(-1).expect("one more dimension");
                assert!(!more.ragged_shape().equals(shape).expect("a comparison"));
            }
        }
    }
}

#[test]
fn shapes_of_other_rows_are_not_equal() {
    let make = |lengths: &[i64], device: &Device| RaggedShape::from_lengths(&[2.into(), lengths.into()], device);
    for (_, device) in backends() {
        let (a, b) = (make(&[1, 2], device).expect("a shape"), make(&[2, 1], device).expect("a shape"));
        assert!(!a.equals(&b).expect("a comparison") && a.equals(&a.clone()).expect("a comparison"));
        // Rows that only the device knows.
        let x = Tensor::zeros(&a, DType::I32).expect("zeros");
        let longer = Tensor::concat(&[&x, &x], 1).and_then(|x| x.slice(ragged::s![.., 1..])).expect("rows of 1 and 3");
        assert!(!longer.ragged_shape().equals(&a).expect("a comparison"));
        assert!(longer.ragged_shape().equals(&make(&[1, 3], device).expect("a shape")).expect("a comparison"));
    }
}

#[test]
fn a_slice_of_a_shape_is_the_shape_of_the_outer_dimensions() {
    for x in samples(500, 30) {
        let shape = on(&x, &Device::cpu()).ragged_shape().clone();
        let lengths = shape.lengths().expect("lengths");
        for stop in 0..=rank(&x) {
            let got = shape.slice(..stop as i64).expect("the outer dimensions");
            assert_eq!(got.lengths().expect("lengths"), lengths[..stop]);
            for start in 1..=stop {
                let regular = lengths[..stop].iter().all(|l| matches!(l, Lengths::Uniform(_)));
                match shape.slice(start as i64..stop as i64) {
                    Ok(got) => assert_eq!(got.lengths().expect("lengths"), lengths[start..stop]),
                    Err(Error::Argument { .. }) => assert!(!regular && start < stop, "{start}..{stop} of {shape}"),
                    Err(e) => panic!("{e}"),
                }
            }
        }
        let last = shape.rank() as i64 - 1;
        assert_eq!(shape.slice(..=-1).expect("all").rank(), shape.rank());
        assert_eq!(shape.slice(..-1).expect("all but the last").rank() as i64, last);
        assert_eq!(shape.slice(..i64::MAX).expect("all").rank(), shape.rank());
        assert_eq!(shape.slice(..i64::MIN).expect("none").rank(), 0);
    }
}

#[test]
fn reshaped_values_keep_their_order() {
    for x in samples(600, 24) {
        let n = x.values.len();
        let flat = everywhere(&x, "reshape to a vector", |x| x.reshape([-1]));
        assert_eq!((&flat.values, &flat.inner_shape), (&x.values, &vec![n]));
        let back = everywhere(&x, "reshape back", |x| x.flat_values()?.reshape([-1])?.reshape(x.ragged_shape()));
        assert_eq!(back, x);
        assert_eq!(everywhere(&x, "reshape_like", |y| y.reshape([n as i64, 1])?.reshape_like(y)), x);
        for width in (1..=4).filter(|width| n % width == 0) {
            let got = everywhere(&x, "reshape", |x| x.reshape([-1, width as i64]));
            assert_eq!((&got.values, &got.inner_shape), (&x.values, &vec![n / width, width]));
        }
    }
}

#[test]
fn broadcast_to_has_the_rows_of_the_shape() {
    for x in samples(700, 16) {
        let like = nested(&x);
        let ones = everywhere(&x, "ones", |x| Tensor::ones(x.ragged_shape(), DType::Bool));
        assert_eq!(nested(&ones), like.map(&mut |_| "true".into()));
        let words = everywhere(&x, "fill", |x| Tensor::fill(x.ragged_shape(), "word"));
        assert_eq!(nested(&words), like.map(&mut |_| "word".into()));
        // Numbers the rows at some depth; all values of a row are equal.
        for depth in 0..rank(&x) {
            let numbered = |x: &Tensor| {
                let above = Tensor::zeros(&x.ragged_shape().slice(..=depth as i64)?, DType::I32)?;
                let count = above.reshape([-1])?.to_host()?.values.len();
                let numbers = HostTensor::dense(&[count], HostValues::I32((0..count as i32).collect()));
                let numbers = numbers.to_device(&x.device())?.reshape(above.ragged_shape())?;
                (depth + 1..x.rank()).try_fold(numbers, |t, _| t.expand_dims(-1))
            };
            let got = everywhere(&x, "broadcast_to", |x| numbered(x)?.broadcast_to(x.ragged_shape()));
            let mut next = -1;
            let want = at_depth(&like, depth + 1, &mut |below| {
                next += 1;
                below.map(&mut |_| next.to_string())
            });
            assert_eq!(nested(&got), want, "depth {depth} of {x:?}");
            let shape =
                |x: &Tensor| Tensor::zeros(&numbered(x)?.ragged_shape().broadcast(x.ragged_shape())?, DType::I32);
            let shape = everywhere(&x, "broadcast of shapes", shape);
            assert_eq!((&shape.nested_row_splits, &shape.inner_shape), (&got.nested_row_splits, &got.inner_shape));
        }
    }
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

#[test]
fn rows_that_were_empty_have_one_element() {
    for x in samples(1100, 24).filter(|x| !x.nested_row_splits.is_empty()) {
        let strings = x.values.dtype() == DType::Str;
        let run = |x: &Tensor| if strings { x.fill_empty_rows("none") } else { x.fill_empty_rows(-1) };
        let (filled, empty) =
            (everywhere(&x, "fill_empty_rows", |x| Ok(run(x)?.0)), everywhere(&x, "empty rows", |x| Ok(run(x)?.1)));
        let depth = x.nested_row_splits.len();
        let width =
            HostTensor::dense(&x.inner_shape[1..], HostValues::U8(vec![0; x.inner_shape[1..].iter().product()]));
        let text = if strings { "none" } else { "-1" };
        let one = positions(&width).map(&mut |_| text.to_owned());
        let want = at_depth(&nested(&x), depth, &mut |row| {
            if row.items().is_empty() { list([one.clone()]) } else { row.clone() }
        });
        assert_eq!(nested(&filled), want, "{x:?}");
        let want = at_depth(&nested(&x), depth, &mut |row| Nest::Leaf(row.items().is_empty().to_string()));
        assert_eq!(nested(&empty), want, "{x:?}");
    }
}

#[test]
fn one_hot_sets_one_element() {
    for (k, x) in samples(1200, 16).enumerate() {
        let mut random = Random::new(k as u64);
        let n = x.values.len();
        let at: Vec<i32> = (0..n).map(|_| random.below(6) as i32 - 1).collect();
        for values in [
            HostValues::I32(at.clone()),
            HostValues::I64(at.iter().map(|&i| i64::from(i) << 32 | i64::from(i) & 3).collect()),
        ] {
            let x = HostTensor { values, ..x.clone() };
            for axis in x.nested_row_splits.len() + 1..=rank(&x) {
                let got = everywhere(&x, "one_hot", |x| x.one_hot(along(4, axis as i64), 5, 7));
                // Behind all others, then moved forwards by putting each place of the vector together.
                let vectors =
                    |place: i64| nested(&x).map(&mut |v| if *v == place.to_string() { "5" } else { "7" }.to_owned());
                let want = stacked(&[0, 1, 2, 3].map(vectors), axis);
                assert_eq!(nested(&got), want, "axis {axis} of {x:?}");
            }
        }
    }
}

fn stacked(all: &[Nest<String>], axis: usize) -> Nest<String> {
    if axis == 0 {
        return list(all.to_vec());
    }
    list((0..all[0].items().len()).map(|r| {
        let rows: Vec<_> = all.iter().map(|v| v.items()[r].clone()).collect();
        stacked(&rows, axis - 1)
    }))
}

/// Operations that must give the same results for a device-known number of rows, without waiting for it.
fn on_unknown_sizes(x: &Tensor, rows: usize, like: &HostTensor) -> Result<Vec<(String, Tensor)>> {
    let mut out: Vec<(String, Tensor)> = Vec::new();
    let shape = x.ragged_shape();
    let (rank, device) = (x.rank() as i64, x.device());
    out.push(("zeros".into(), Tensor::zeros(shape, DType::F32)?));
    out.push(("fill with a string".into(), Tensor::fill(shape, "ab")?));
    out.push(("size".into(), shape.size(0)?));
    out.push(("zeros of the rows".into(), Tensor::zeros(&shape.slice(..1)?, DType::Bool)?));
    let one = HostTensor::dense(&vec![1; x.rank()], HostValues::I32(vec![3])).to_device(&device)?;
    out.push(("broadcast_to".into(), one.broadcast_to(shape)?));
    out.push(("broadcast of shapes".into(), Tensor::zeros(&shape.broadcast(one.ragged_shape())?, DType::I32)?));
    for axis in i64::from(x.ragged_rank() == 0)..=rank {
        out.push((format!("expand_dims {axis}"), x.expand_dims(axis)?));
        out.push((format!("squeeze {axis}"), x.expand_dims(axis)?.squeeze(axis)?));
    }
    for outer in 0..rank {
        for inner in outer..rank {
            out.push((format!("merge_dims {outer} {inner}"), x.merge_dims(outer, inner)?));
        }
    }
    out.push(("reshape".into(), x.reshape([-1])?));
    out.push(("reshape in pairs".into(), Tensor::concat(&[x, x], 0)?.reshape([-1, 2])?));
    out.push(("reshape to known sizes".into(), x.reshape([like.values.len() as i64, 1])?));
    out.push(("reshape_like".into(), on(like, &device).reshape_like(x)?));
    let cuts = [(rows / 2) as i64, (rows - rows / 2) as i64];
    out.extend(x.split(cuts, 0)?.into_iter().map(|t| ("split".into(), t)));
    if rows.is_multiple_of(3) {
        out.extend(x.split(3, 0)?.into_iter().map(|t| ("split in three".into(), t)));
    }
    let of =
        HostTensor::dense(&[rows], HostValues::I32((0..rows as i32).map(|r| r % 2).collect())).to_device(&device)?;
    out.push(("stack_dynamic_partitions".into(), x.stack_dynamic_partitions(&of, 2)?));
    out.extend(x.dynamic_partition(&of, 2)?.into_iter().map(|t| ("dynamic_partition".into(), t)));
    if x.ragged_rank() > 0 {
        let (filled, empty) = x.fill_empty_rows(-1)?;
        out.push(("fill_empty_rows".into(), filled));
        out.push(("empty rows".into(), empty));
    }
    out.push(("one_hot".into(), x.one_hot(2, 1u8, 0u8)?));
    Ok(out)
}

#[test]
fn device_known_sizes_are_not_waited_for() {
    let mut own = vec![("cpu".to_owned(), Device::cpu())];
    if backends().iter().any(|(_, device)| !device.is_cpu()) {
        // A separate device, so that its counters cover this test only.
        own.push(("gpu".into(), Device::gpu_with(&DeviceOptions::default()).expect("the first adapter opens twice")));
    }
    for x in samples(1300, 12).skip(2).filter(|x| x.values.dtype() == DType::I32) {
        for (name, device) in &own {
            let t = unknown(&x, device);
            let before = device.stats();
            let got = on_unknown_sizes(&t, nrows(&x), &x).unwrap_or_else(|e| panic!("{x:?} on {name}: {e}"));
            assert_eq!((device.stats() - before).waits, 0, "{x:?} on {name}");
            let want = on_unknown_sizes(&on(&x, &Device::cpu()), nrows(&x), &x).expect("of known sizes");
            for ((what, got), (_, want)) in got.iter().zip(&want) {
                let got = got.to_host().unwrap_or_else(|e| panic!("{what} of {x:?} on {name}: {e}"));
                let want = want.to_host().expect("a read");
                // The static shape no longer contains the size.
                let got = HostTensor { uniform_row_lengths: want.uniform_row_lengths.clone(), ..got };
                assert_eq!(got, want, "{what} of {x:?} on {name}");
            }
        }
    }
}

#[test]
fn the_words_of_a_text_have_a_shape_without_a_wait() {
    for (name, device) in backends() {
        let text = ["to be  or", "", " not to ", "be"].map(|s| s.as_bytes().to_vec());
        let text = on(&HostTensor::dense(&[4], HostValues::Str(text.into())), device);
        let words = text.string_split(nonempty(" ")).and_then(|w| w.values()).expect("recorded");
        let ids = words.to_hash_bucket_fast(1 << 20).expect("recorded");
        assert_eq!(words.ragged_shape().to_string(), "[None]");
        let column = ids.expand_dims(1).and_then(|c| c.broadcast_to(words.expand_dims(1)?.ragged_shape()));
        assert_eq!(column.and_then(|c| c.to_host()).expect("a read").inner_shape, [6, 1], "{name}");
        let marks = Tensor::fill(words.ragged_shape(), "#").and_then(|m| Tensor::string_join(&[&m, &words], ""));
        let marks = nested(&marks.and_then(|m| m.to_host()).expect("a read"));
        let want = ["#to", "#be", "#or", "#not", "#to", "#be"].map(|w| Nest::Leaf(w.to_owned()));
        assert_eq!(marks, list(want), "{name}");
        let halves = words.split(2, 0).expect("recorded").swap_remove(1);
        assert_eq!(halves.to_host().expect("six words").inner_shape, [3], "{name}");
        assert!(words.split(4, 0).and_then(|all| all[0].to_host()).is_err(), "{name}");
    }
}

#[test]
fn changing_the_layout_runs_no_kernel() {
    let x = row(&[2, 0, 3], &Device::cpu());
    let kernels = |t: Result<Tensor>| t.and_then(|t| t.explain()).expect("a plan").kernels.len();
    for axis in 0..3 {
        assert_eq!(kernels(x.expand_dims(axis)), 0);
        assert_eq!(kernels(x.expand_dims(axis).and_then(|x| x.squeeze(axis))), 0);
    }
    assert_eq!(kernels(x.merge_dims(0, 1)), 0);
    assert_eq!(kernels(x.reshape([-1])), 0);
    assert_eq!(kernels(x.reshape_like(&x)), 0);
    assert_eq!(kernels(x.split(1, 1).map(|mut all| all.swap_remove(0))), 0);
    assert_eq!(kernels(x.expand_dims(1).and_then(|x| x.merge_dims(1, 2))), 0);
    // Ragged rows of ragged rows: a map over the outer ones.
    let deep = Tensor::from_row_lengths(&x, [1, 2]).expect("rows");
    assert_eq!(kernels(deep.merge_dims(1, 2)), 1);
}

#[test]
fn rows_are_batch_invariant() {
    for x in samples(1400, 20).filter(|x| x.nested_row_splits.len() > 1) {
        let t = on(&x, &Device::cpu());
        for (what, run) in [
            ("merge_dims", (|x| x.merge_dims(1, 2)) as fn(&Tensor) -> Result<Tensor>),
            ("fill_empty_rows", |x| {
                Ok(x.fill_empty_rows(if x.dtype() == DType::Str { ragged::Operand::from("?") } else { 9.into() })?.0)
            }),
            ("expand_dims", |x| x.expand_dims(2)),
            ("one_hot", |x| if x.dtype() == DType::Str { Ok(x.clone()) } else { x.one_hot(3, 1f32, 0f32) }),
        ] {
            let crowd = nested(&run(&t).and_then(|t| t.to_host()).expect("a result"));
            for r in 0..nrows(&x) {
                let alone = t.split([r as i64, 1, (nrows(&x) - r) as i64 - 1], 0).expect("three pieces").swap_remove(1);
                let alone = nested(&run(&alone).and_then(|t| t.to_host()).expect("a result"));
                assert_eq!(alone.items()[0], crowd.items()[r], "{what}: row {r} of {x:?}");
            }
        }
    }
}

fn row(lengths: &[i64], device: &Device) -> Tensor {
    let n: i64 = lengths.iter().sum();
    let values = HostTensor::dense(&[n as usize], HostValues::I32((0..n as i32).collect())).to_device(device);
    Tensor::from_row_lengths(&values.expect("values"), lengths).expect("rows")
}

#[test]
fn device_known_errors_fail_at_the_read() {
    for (name, device) in backends() {
        let x = row(&[2, 1, 0], device);
        let host = x.to_host().expect("a read");
        let t = unknown(&host, device);
        let vector = |values: &[i32]| {
            HostTensor::dense(&[values.len()], HostValues::I32(values.to_vec())).to_device(device).expect("a vector")
        };
        // Device-known row lengths 1, 0 and 0.
        let tails = t.slice(ragged::s![.., 1..]).expect("a slice");
        let counted = unknown(&vector(&[0, 1, 2, 3]).to_host().expect("a read"), device);
        let of_lengths = |lengths: &[i64]| {
            RaggedShape::from_lengths(&[(lengths.len() as i64).into(), lengths.into()], device).expect("a shape")
        };
        let rows = RowPartition::from_row_lengths([2, 2], device).expect("rows");
        let two_rows =
            counted.broadcast_like(&counted).and_then(|c| Tensor::from_row_lengths(&c, [2, 1])).expect("recorded");
        let cases: Vec<(&str, Result<Tensor>)> = vec![
            ("squeeze of several rows", t.squeeze(0)),
            ("squeeze of rows", tails.squeeze(1)),
            ("split", t.split([1, 1], 0).map(|mut all| all.swap_remove(0))),
            ("split evenly", t.split(2, 0).map(|mut all| all.swap_remove(1))),
            ("reshape", counted.reshape([3])),
            ("reshape by 3", counted.reshape([-1, 3])),
            ("reshape to rows", counted.reshape(&of_lengths(&[2, 1]))),
            ("reshape_like", vector(&[1, 2, 3]).reshape_like(&counted)),
            ("partitions below 0", x.stack_dynamic_partitions(&vector(&[0, -1, 0]), 2)),
            ("partitions too large", x.dynamic_partition(&vector(&[0, 2, 0]), 2).map(|mut all| all.swap_remove(0))),
            ("too few partitions", t.stack_dynamic_partitions(&vector(&[0, 0]), 2)),
            ("broadcast_to", tails.broadcast_to(&of_lengths(&[1, 1, 0]))),
            (
                "zeros of a broadcast",
                tails.ragged_shape().broadcast(&of_lengths(&[0, 0, 1])).and_then(|s| Tensor::zeros(&s, DType::I32)),
            ),
            (
                "the size of a broadcast",
                tails.ragged_shape().broadcast(&of_lengths(&[0, 0, 1])).and_then(|s| s.size(0)),
            ),
            ("zeros under partitions that do not fit", {
                let inner = two_rows.partitions()[0].clone();
                RaggedShape::from_row_partitions(&[rows.clone(), inner], &[4], device)
                    .and_then(|s| Tensor::zeros(&s, DType::I32))
            }),
        ];
        for (what, got) in cases {
            match got.and_then(|t| t.to_host()) {
                // A backend that knows more sizes on the host may word the error differently.
                Err(Error::Check { .. } | Error::Shape { .. } | Error::Argument { .. } | Error::Partition { .. }) => {}
                other => panic!("{what} on {name} gave {other:?}"),
            }
        }
        assert_eq!(t.to_host().expect("inputs stay valid"), host);
    }
}

#[test]
fn host_known_errors_fail_at_the_call() {
    let device = Device::cpu();
    let x = row(&[2, 1, 0], &device);
    let dense = x.flat_values().expect("values");
    assert!(matches!(x.expand_dims(3), Err(Error::Axis { axis: 3, rank: 3, .. })));
    assert!(matches!(x.expand_dims(-4), Err(Error::Axis { .. })));
    assert!(matches!(x.merge_dims(1, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.merge_dims(0, 2), Err(Error::Axis { .. })));
    for (axis, words) in [(0, "has size 3"), (1, "row 0) of 2 elements")] {
        let e = x.squeeze(axis).expect_err("no dimension of size 1").to_string();
        assert!(e.contains(words), "{e}");
    }
    assert!(matches!(x.reshape([2, 2]), Err(Error::Shape { .. })));
    assert!(matches!(x.reshape([-1, 2]), Err(Error::Shape { .. })));
    for sizes in [vec![-1, -1], vec![-1, 0], vec![-2, 3], vec![-1, -2]] {
        assert!(matches!(x.reshape(sizes.clone()), Err(Error::Argument { .. })), "{sizes:?}");
    }
    assert!(matches!(x.reshape([1i64 << 40, 1 << 40]), Err(Error::Limit { .. })));
    assert!(matches!(dense.broadcast_to([4]), Err(Error::Shape { .. })));
    assert!(matches!(dense.broadcast_to([-3]), Err(Error::Argument { .. })));
    assert!(matches!(x.broadcast_to([3, 2]), Err(Error::Shape { .. })));
    assert!(matches!(x.one_hot(along(3, 1), 1, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.one_hot(along(3, 2), 1, 0.5f32), Err(Error::DTypes { .. })));
    assert!(matches!(x.one_hot(along(u32::MAX, 2), 1, 0), Err(Error::Limit { .. })));
    assert!(matches!(x.split(2, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split(0, 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split([4, -1], 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split([1, 1], 0), Err(Error::Argument { .. })));
    assert!(matches!(x.split([i64::MAX, i64::MAX], 0), Err(Error::Limit { .. })));
    assert!(matches!(x.split(2, 1), Err(Error::Argument { .. })));
    assert!(matches!(dense.fill_empty_rows(0), Err(Error::Argument { .. })));
    assert!(matches!(x.fill_empty_rows("a"), Err(Error::DTypes { .. })));
    assert!(matches!(x.fill_empty_rows(&dense), Err(Error::Argument { .. })));
    assert!(matches!(
        x.stack_dynamic_partitions(&dense.slice(ragged::s![..2]).expect("two"), 2),
        Err(Error::Shape { .. })
    ));
    assert!(matches!(dense.stack_dynamic_partitions(&x, 2), Err(Error::Shape { .. })));
    let other = row(&[2, 1, 0], &Device::cpu_unfused());
    assert!(matches!(x.reshape_like(&other), Err(Error::Devices { .. })));
    assert!(matches!(x.broadcast_to(other.ragged_shape()), Err(Error::Devices { .. })));
    assert!(matches!(x.ragged_shape().broadcast(other.ragged_shape()), Err(Error::Devices { .. })));
    let refused = |lengths: &[Lengths]| RaggedShape::from_lengths(lengths, &device).expect_err("no shape").to_string();
    assert!(refused(&[2.into(), [1].into()]).contains("a length for each of the 2 rows above it, but 1 are given"));
    assert!(refused(&[[1].into()]).contains("dimension 0"));
    assert!(refused(&[(-1).into()]).contains("must not be negative"));
    assert!(refused(&[1.into(), [-1].into()]).contains("must not be negative"));
    assert!(refused(&[(1 << 20).into(), (1 << 20).into()]).contains("limit"));
    let rows = RowPartition::from_row_lengths([2, 1], &device).expect("rows");
    let below = RowPartition::from_row_lengths([2, 1], &device).expect("rows");
    assert!(RaggedShape::from_row_partitions(&[rows.clone(), below], &[3], &device).is_err());
    assert!(RaggedShape::from_row_partitions(std::slice::from_ref(&rows), &[4], &device).is_err());
    assert!(RaggedShape::from_row_partitions(&[rows], &[] as &[i64], &device).is_err());
    assert!(matches!(x.ragged_shape().size(1), Err(Error::Argument { .. })));
    assert!(matches!(x.ragged_shape().size(2), Err(Error::Axis { .. })));
    assert!(matches!(x.ragged_shape().is_uniform(-3), Err(Error::Axis { .. })));
}

#[test]
fn arguments_of_all_kinds_never_panic() {
    // Whether it is an answer, or which error.
    fn kind(what: &Result<HostTensor>) -> Option<std::mem::Discriminant<Error>> {
        what.as_ref().err().map(std::mem::discriminant)
    }
    let mut random = Random::new(77);
    for x in samples(1500, 60).skip(4) {
        let mut int = |n: u32| i64::from(random.below(2 * n + 1)) - i64::from(n);
        let (a, b, c) = (int(5), int(5), int(5));
        type Run<'a> = Box<dyn Fn(&Tensor) -> Result<Tensor> + 'a>;
        let all: Vec<Run<'_>> = vec![
            Box::new(|x| x.expand_dims(a)),
            Box::new(|x| x.merge_dims(a, b)),
            Box::new(|x| x.squeeze([a, b])),
            Box::new(|x| x.squeeze(a)),
            Box::new(|x| x.reshape([a, b])),
            Box::new(|x| x.reshape([a, b, c])),
            Box::new(|x| x.broadcast_to([a, b, c])),
            Box::new(|x| x.one_hot(along(a.unsigned_abs() as u32, b), true, false)),
            Box::new(|x| {
                x.split(a, b)?.pop().ok_or(Error::Argument {
                    op: "split",
                    what: "none".into(),
                    location: std::panic::Location::caller(),
                })
            }),
            Box::new(|x| {
                x.split([a, b], c)?.pop().ok_or(Error::Argument {
                    op: "split",
                    what: "none".into(),
                    location: std::panic::Location::caller(),
                })
            }),
            Box::new(|x| x.stack_dynamic_partitions(x, a.unsigned_abs() as u32)),
            Box::new(|x| Ok(x.fill_empty_rows(a as i32)?.0)),
            Box::new(|x| Tensor::zeros(&x.ragged_shape().slice(a..b)?, DType::I32)),
            Box::new(|x| Tensor::ones(&x.ragged_shape().with_ragged_rank(a.unsigned_abs() as usize)?, DType::F32)),
            Box::new(|x| x.ragged_shape().size(a)),
        ];
        for (k, run) in all.iter().enumerate() {
            let want = run(&on(&x, &Device::cpu())).and_then(|t| t.to_host());
            let unfused = run(&on(&x, &Device::cpu_unfused())).and_then(|t| t.to_host());
            assert_eq!(kind(&want), kind(&unfused), "{k} ({a}, {b}, {c}) of {x:?}: {want:?}, {unfused:?}");
            // Device-known sizes give the same result, or an error where there is one.
            match (want, run(&unknown(&x, &Device::cpu())).and_then(|t| t.to_host())) {
                (Ok(want), Ok(got)) => assert_eq!(nested(&got), nested(&want), "{k} ({a}, {b}, {c}) of {x:?}"),
                (Err(_), Err(_)) => {}
                // Squeezing all axes of static size 1, and static indices, may depend on the sizes that the host knows.
                (want, got) => panic!("{k} ({a}, {b}, {c}) of {x:?}: {want:?} and {got:?}"),
            }
        }
    }
}

#[test]
fn typed_tensors_stay_typed() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device).expect("rows");
    let shape = x.ragged_shape();
    assert_eq!(RaggedTensor::<f32>::ones(shape).and_then(|t| t.to_vec()).expect("ones"), [1.0; 3]);
    assert_eq!(RaggedTensor::<bool>::zeros(shape).and_then(|t| t.to_vec()).expect("zeros"), [false; 3]);
    assert_eq!(RaggedTensor::<i32>::fill(shape, 4).and_then(|t| t.to_vec()).expect("a value"), [4; 3]);
    let parts = x.split([1, 1], 0).expect("two pieces");
    assert_eq!(parts[0].to_vec().expect("a read"), [1, 2]);
    assert_eq!(shape.to_string(), "[2, None]");
}

#[test]
fn a_shape_broadcast_with_itself_has_each_condition_once() {
    for (name, device) in backends() {
        let host = HostTensor::from_row_splits(vec![0, 2, 2, 5], HostValues::I32((0..5).collect()));
        let splits = |of: &[i64]| HostTensor::dense(&[of.len()], HostValues::I64(of.to_vec())).to_device(device);
        let shape_of = |of: &[i64]| {
            let values = HostTensor::dense(&[5], host.values.clone()).to_device(device)?;
            Ok::<_, Error>(Tensor::from_row_splits(&values, &splits(of)?)?.ragged_shape().clone())
        };
        // Only the device can compare device-known splits.
        let other = shape_of(&[0, 2, 2, 5]).expect("rows");
        let mut shape = shape_of(&[0, 2, 2, 5]).and_then(|s| s.broadcast(&other)).expect("recorded");
        for _ in 0..40 {
            shape = shape.broadcast(&shape).and_then(|s| s.broadcast(&other)).expect("recorded");
        }
        let ones = Tensor::ones(&shape, DType::I32).and_then(|t| t.to_host()).expect("equal rows");
        assert_eq!(ones.nested_row_splits, host.nested_row_splits, "{name}");
        let unlike = shape_of(&[0, 1, 2, 5]).and_then(|s| s.broadcast(&other)).expect("recorded");
        assert!(Tensor::ones(&unlike, DType::I32).and_then(|t| t.to_host()).is_err(), "{name}");
    }
}
