//! Operations within rows that TensorFlow lacks, against loops over nested lists, on every device.

mod common;

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use ragged::{
    Device, DeviceOptions, Error, FromNested, HostTensor, HostValues, IntoNested, Number, RaggedTensor, Seed, Tensor,
    right_of,
};

type Rows<T> = Vec<Vec<T>>;
type Groups<T> = Vec<Rows<T>>;

fn devices() -> impl Iterator<Item = &'static Device> {
    common::devices_and_unfused_cpu().iter().map(|(_, device)| device)
}

fn on<T: Number, N: IntoNested<T>>(rows: N, device: &Device) -> RaggedTensor<T> {
    RaggedTensor::from_nested(rows, device).expect("uploaded")
}

fn nested<T: Number, N: FromNested<T>>(t: ragged::Result<RaggedTensor<T>>) -> N {
    t.and_then(|t| t.to_nested_vec()).unwrap_or_else(|e| panic!("{e}"))
}

/// Rows of few different numbers, some of them empty, now and then a long one.
fn rows(longest: usize) -> impl Strategy<Value = Rows<i32>> {
    let row = prop_oneof![
        8 => prop::collection::vec(-3..4i32, 0..7),
        1 => prop::collection::vec(-9..9i32, 0..=longest),
    ];
    prop::collection::vec(row, 0..12)
}

fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { 16 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn positions(of: &Rows<i32>, k: usize) -> Groups<usize> {
    fn extend(n: usize, k: usize, prefix: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if prefix.len() == k {
            return out.push(prefix.clone());
        }
        for next in prefix.last().map_or(0, |p| p + 1)..n {
            prefix.push(next);
            extend(n, k, prefix, out);
            prefix.pop();
        }
    }
    of.iter()
        .map(|row| {
            let mut out = Vec::new();
            extend(row.len(), k, &mut Vec::new(), &mut out);
            out
        })
        .collect()
}

/// Column `c` of tuples of positions, as values of the rows.
fn column<T: Copy>(rows: &[Vec<T>], tuples: &Groups<usize>, c: usize) -> Rows<T> {
    rows.iter().zip(tuples).map(|(row, tuples)| tuples.iter().map(|t| row[t[c]]).collect()).collect()
}

/// `f` of each row.
fn each<T, U>(rows: &[Vec<T>], f: impl Fn(&[T]) -> Vec<U>) -> Rows<U> {
    rows.iter().map(|row| f(row)).collect()
}

fn shifted(row: &[i32], by: i64, fill: i32) -> Vec<i32> {
    let at = |i: i64| usize::try_from(i - by).ok().and_then(|i| row.get(i)).copied().unwrap_or(fill);
    (0..row.len() as i64).map(at).collect()
}

fn rotated(row: &[i32], by: i64) -> Vec<i32> {
    let n = row.len() as i64;
    (0..n).map(|i| row[(i - by).rem_euclid(n) as usize]).collect()
}

fn runs<T: Clone>(row: &[T], begins: impl Fn(usize) -> bool) -> Vec<Vec<T>> {
    let mut out: Vec<Vec<T>> = Vec::new();
    for (i, v) in row.iter().enumerate() {
        if i == 0 || begins(i) {
            out.push(Vec::new());
        }
        out.last_mut().expect("begun").push(v.clone());
    }
    out
}

fn set(row: impl IntoIterator<Item = i32>) -> Vec<i32> {
    let set: std::collections::BTreeSet<i32> = row.into_iter().collect();
    set.into_iter().collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn combinations_of_rows(x in rows(10), k in 1..7usize) {
        let want = positions(&x, k);
        for device in devices() {
            let t = on(x.clone(), device);
            let (values, places) = (t.combinations(k, 1).unwrap(), t.argcombinations(k, -1).unwrap());
            prop_assert_eq!(values.len(), k);
            for c in 0..k {
                prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(values[c].clone())), &column(&x, &want, c));
                let own = each(&x, |row| (0..row.len() as i64).collect());
                prop_assert_eq!(&nested::<_, Rows<i64>>(Ok(places[c].clone())), &column(&own, &want, c));
            }
        }
    }

    #[test]
    fn combinations_of_rows_of_rows(x in prop::collection::vec(rows(9), 0..5), k in 1..4usize) {
        for device in devices() {
            let t = on(x.clone(), device);
            for c in 0..k {
                // Numbers within the inner rows.
                let want: Groups<i32> = x.iter().map(|rows| column(rows, &positions(rows, k), c)).collect();
                prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(t.combinations(k, 2).unwrap()[c].clone())), &want);
                // Whole rows.
                let indices: Rows<i32> = x.iter().map(|rows| (0..rows.len() as i32).collect()).collect();
                let at = column(&indices, &positions(&indices, k), c);
                let pick = |(rows, at): (&Rows<i32>, &Vec<i32>)| at.iter().map(|&i| rows[i as usize].clone()).collect();
                let want: Groups<i32> = x.iter().zip(&at).map(pick).collect();
                prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(t.combinations(k, 1).unwrap()[c].clone())), &want);
            }
        }
    }

    #[test]
    fn products_of_rows(x in rows(20), seed in 0..100usize) {
        let y: Rows<i32> = x.iter().enumerate().map(|(r, row)| row.iter().map(|v| v * 10).take((r + seed) % 4).collect()).collect();
        let z: Rows<i32> = each(&y, |row| row.iter().rev().copied().take(2).collect());
        let tuples: Groups<i32> = (0..x.len()).map(|r| {
            let mut out = Vec::new();
            for &a in &x[r] { for &b in &y[r] { for &c in &z[r] { out.push(vec![a, b, c]); } } }
            out
        }).collect();
        for device in devices() {
            let all = [&x, &y, &z].map(|rows| on(rows.clone(), device));
            let got = Tensor::cartesian(&all, 1).unwrap();
            for (c, got) in got.into_iter().enumerate() {
                let want: Rows<i32> = tuples.iter().map(|t| t.iter().map(|t| t[c]).collect()).collect();
                prop_assert_eq!(&nested::<i32, Rows<i32>>(got.try_into()), &want);
            }
        }
    }

    #[test]
    fn shifts(x in rows(300), by in -6..7i64) {
        for device in devices() {
            let t = on(x.clone(), device);
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.shift(by, 77, 1)), &each(&x, |r| shifted(r, by, 77)));
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.roll(by, 1)), &each(&x, |r| rotated(r, by)));
            let want = each(&x, |r| r.windows(2).map(|w| w[1] - w[0]).collect());
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.diff(-1)), &want);
            let want = each(&x, |r| (0..r.len() as i64).collect());
            prop_assert_eq!(&nested::<_, Rows<i64>>(t.local_index(1)), &want);
            // Along the outermost axis, elements that are rows move as a whole.
            let n = x.len() as i64;
            let want: Rows<i32> = (0..n).map(|i| x[(i - by).rem_euclid(n) as usize].clone()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.roll(by, 0)), &want);
        }
    }

    #[test]
    fn windows_and_padding(x in rows(300), size in 1..6usize) {
        for device in devices() {
            let t = on(x.clone(), device);
            let want: Groups<i32> = each(&x, |r| r.windows(size).map(<[i32]>::to_vec).collect());
            prop_assert_eq!(&nested::<_, Groups<i32>>(t.sliding_windows(size, 1)), &want);
            let want = each(&x, |r| r.iter().copied().chain(std::iter::repeat(9)).take(r.len().max(size)).collect());
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.pad_rows(size, 9, 1)), &want);
        }
    }

    #[test]
    fn runs_of_rows(x in rows(300)) {
        let groups: Groups<i32> = each(&x, |r| runs(r, |i| r[i] > r[i - 1] + 1));
        let equal: Groups<i32> = each(&x, |r| runs(r, |i| r[i] != r[i - 1]));
        for device in devices() {
            let t = on(x.clone(), device);
            let gaps = (&t - &t.shift(1, 0, 1).unwrap()).unwrap().greater(1).unwrap();
            prop_assert_eq!(&nested::<_, Groups<i32>>(t.split_where(&gaps)), &groups);
            let (values, lengths) = t.run_lengths().unwrap();
            let want: Rows<i32> = equal.iter().map(|r| r.iter().map(|run| run[0]).collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(values)), &want);
            let want: Rows<i64> = equal.iter().map(|r| r.iter().map(|run| run.len() as i64).collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i64>>(Ok(lengths)), &want);
        }
    }

    #[test]
    fn groups_by_key(x in rows(300)) {
        let numbered = each(&x, |r| (0..r.len() as i32).collect());
        let grouped: Vec<BTreeMap<i32, Vec<i32>>> = x.iter().zip(&numbered).map(|(keys, values)| {
            let mut out = BTreeMap::<i32, Vec<i32>>::new();
            keys.iter().zip(values).for_each(|(&k, &v)| out.entry(k).or_default().push(v));
            out
        }).collect();
        for device in devices() {
            let (keys, groups) = on(numbered.clone(), device).group_by_key(&on(x.clone(), device)).unwrap();
            let want: Rows<i32> = grouped.iter().map(|m| m.keys().copied().collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(keys)), &want);
            let want: Groups<i32> = grouped.iter().map(|m| m.values().cloned().collect()).collect();
            prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(groups)), &want);
        }
    }

    #[test]
    fn sets(x in rows(300), seed in 0..50i32) {
        let y: Rows<i32> = x.iter().rev().map(|r| r.iter().map(|v| v + seed % 5).collect()).collect();
        let pair = |f: fn(&[i32], &[i32]) -> Vec<i32>| -> Rows<i32> { x.iter().zip(&y).map(|(a, b)| f(a, b)).collect() };
        for device in devices() {
            let (a, b) = (on(x.clone(), device), on(y.clone(), device));
            let want = pair(|a, b| set(a.iter().chain(b).copied()));
            prop_assert_eq!(&nested::<_, Rows<i32>>(a.set_union(&b)), &want);
            let want = pair(|a, b| set(a.iter().copied().filter(|v| b.contains(v))));
            prop_assert_eq!(&nested::<_, Rows<i32>>(a.set_intersection(&b)), &want);
            let want = pair(|a, b| set(a.iter().copied().filter(|v| !b.contains(v))));
            prop_assert_eq!(&nested::<_, Rows<i32>>(a.set_difference(&b)), &want);
            let items: Vec<i32> = y.iter().map(|r| r.first().copied().unwrap_or(0)).collect();
            let want: Vec<bool> = x.iter().zip(&items).map(|(r, v)| r.contains(v)).collect();
            prop_assert_eq!(&a.contains(&on(items.clone(), device), 1).unwrap().to_vec().unwrap(), &want);
            let want: Vec<bool> = x.iter().map(|r| r.contains(&seed)).collect();
            prop_assert_eq!(&a.contains(seed, 1).unwrap().to_vec().unwrap(), &want);
        }
    }

    #[test]
    fn searches(x in rows(300)) {
        let sorted = each(&x, |r| { let mut r = r.to_vec(); r.sort_unstable(); r });
        let sought: Rows<i32> = x.iter().rev().cloned().collect();
        let want = |below: fn(i32, i32) -> bool| -> Rows<i64> {
            let row = |(r, v): (&Vec<i32>, &Vec<i32>)| v.iter().map(|&v| r.partition_point(|&x| below(x, v)) as i64).collect();
            sorted.iter().zip(&sought).map(row).collect()
        };
        for device in devices() {
            let (t, v) = (on(sorted.clone(), device), on(sought.clone(), device));
            prop_assert_eq!(&nested::<_, Rows<i64>>(t.searchsorted(&v)), &want(|x, v| x < v));
            prop_assert_eq!(&nested::<_, Rows<i64>>(t.searchsorted(right_of(&v))), &want(|x, v| x <= v));
        }
    }

    #[test]
    fn shuffles(x in rows(300), seed in any::<u64>(), k in 0..9usize) {
        let mut of_all: Option<(Rows<i32>, Rows<i32>)> = None;
        for device in devices() {
            let t = on(x.clone(), device);
            let shuffled: Rows<i32> = nested(t.shuffle(Seed(seed), 1));
            let sampled: Rows<i32> = nested(t.sample(k, Seed(seed), 1));
            let sort = |rows: &Rows<i32>| each(rows, |r| { let mut r = r.to_vec(); r.sort_unstable(); r });
            prop_assert_eq!(sort(&shuffled), sort(&x));
            prop_assert_eq!(&sampled, &each(&shuffled, |r| r[..r.len().min(k)].to_vec()));
            let same = of_all.get_or_insert_with(|| (shuffled.clone(), sampled.clone()));
            prop_assert_eq!(same, &(shuffled, sampled));
        }
    }

    #[test]
    fn transposed(x in rows(300)) {
        let columns = x.iter().map(Vec::len).max().unwrap_or(0);
        let want: Rows<i32> = (0..columns).map(|c| x.iter().filter_map(|r| r.get(c).copied()).collect()).collect();
        for device in devices() {
            prop_assert_eq!(&nested::<_, Rows<i32>>(on(x.clone(), device).transpose_rows()), &want);
        }
    }

    #[test]
    fn zipped_and_back(x in rows(300)) {
        for device in devices() {
            let a = on(x.clone(), device);
            let b = (&a * 2).unwrap();
            let zipped = RaggedTensor::<i32>::zip(&[&a, &b, &a]).unwrap();
            let want: Groups<i32> = each(&x, |r| r.iter().map(|&v| vec![v, 2 * v, v]).collect());
            prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(zipped.clone())), &want);
            let back = zipped.unzip().unwrap();
            prop_assert_eq!(back.len(), 3);
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(back[0].clone())), &x);
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(back[1].clone())), &nested::<_, Rows<i32>>(Ok(b)));
        }
    }
}

/// The bits of floats, all NaNs one.
fn bits(t: &RaggedTensor<f32>) -> Vec<u32> {
    t.to_vec().expect("a read").iter().map(|v| if v.is_nan() { u32::MAX } else { v.to_bits() }).collect()
}

fn is_argument<T: Debug>(r: ragged::Result<T>) -> bool {
    matches!(r, Err(Error::Argument { .. }))
}

#[test]
fn nan_is_one_value_of_a_set() {
    const NAN: f32 = f32::NAN;
    for device in devices() {
        let a = on(vec![vec![NAN, 1.0, -NAN, 0.0], vec![NAN], vec![]], device);
        let b = on(vec![vec![NAN, -0.0], vec![], vec![NAN, NAN]], device);
        let nan = u32::MAX;
        let one = 1f32.to_bits();
        let union = a.set_union(&b).unwrap();
        assert_eq!(union.row_lengths(1).unwrap().to_vec().unwrap(), [3, 1, 1], "{}", device.name());
        assert_eq!(bits(&union), [(-0f32).to_bits(), one, nan, nan, nan]);
        assert_eq!(a.set_intersection(&b).unwrap().row_lengths(1).unwrap().to_vec().unwrap(), [1, 0, 0]);
        assert_eq!(bits(&a.set_difference(&b).unwrap()), [0f32.to_bits(), one, nan]);
        let (values, lengths) = a.run_lengths().unwrap();
        assert_eq!(bits(&values), [nan, one, nan, 0, nan]);
        assert_eq!(lengths.to_vec().unwrap(), [1; 5]);
        let (keys, groups) = a.group_by_key(&a).unwrap();
        assert_eq!(bits(&keys), [0, one, nan, nan]);
        assert_eq!(groups.row_lengths(2).unwrap().to_vec().unwrap(), [1, 1, 2, 1]);
        assert_eq!(a.contains(NAN, 1).unwrap().to_vec().unwrap(), [false; 3]);
        let sorted = a.sort(1).unwrap();
        let sought = on(vec![vec![NAN, 2.0], vec![f32::INFINITY], vec![NAN]], device);
        assert_eq!(sorted.searchsorted(&sought).unwrap().to_vec().unwrap(), [2, 2, 0, 0]);
        assert_eq!(sorted.searchsorted(right_of(&sought)).unwrap().to_vec().unwrap(), [4, 2, 0, 0]);
    }
}

#[test]
fn arguments_out_of_range() {
    for device in devices() {
        let x = on(vec![vec![1, 2, 3], vec![], vec![4]], device);
        let lengths =
            |t: ragged::Result<RaggedTensor<i32>>| t.and_then(|t| t.row_lengths(1)).unwrap().to_vec().unwrap();
        for k in [-1i64, 0, 7, i64::MAX] {
            assert!(is_argument(x.combinations(k, 1)), "{k}");
        }
        assert_eq!(lengths(Ok(x.combinations(6, 1).unwrap().remove(5))), [0, 0, 0]);
        assert!(is_argument(x.sliding_windows(0, 1)) && is_argument(x.sliding_windows(-1, 1)));
        assert_eq!(lengths(x.sliding_windows(4, 1)), [0, 0, 0]);
        assert_eq!(lengths(x.sliding_windows(1_000_000_000, 1)), [0, 0, 0]);
        assert!(matches!(x.sliding_windows(u32::MAX, 1), Err(Error::Limit { .. })));
        assert!(is_argument(x.pad_rows(-1, 0, 1)) && is_argument(x.pad_rows(1, 0.5f32, 1)));
        assert!(is_argument(x.sample(-1, Seed(0), 1)));
        assert_eq!(lengths(x.sample(100, Seed(0), 1)), [3, 0, 1]);
        assert_eq!(x.shift(i64::MAX, 5, 1).unwrap().to_vec().unwrap(), [5; 4]);
        assert_eq!(x.shift(i64::MIN, 5, 1).unwrap().to_vec().unwrap(), [5; 4]);
        assert_eq!(x.roll(u32::MAX, 1).unwrap().to_vec().unwrap(), [1, 2, 3, 4]);
        assert!(is_argument(x.roll(1i64 << 32, 1)));
        assert!(is_argument(x.shift(1, 0, 0)) && is_argument(x.diff(0)) && is_argument(x.pad_rows(9, 0, 0)));
        assert!(matches!(x.diff(2), Err(Error::Axis { .. })) && matches!(x.shift(1, 0, -3), Err(Error::Axis { .. })));
        assert!(matches!(x.split_where(&x), Err(Error::Unsupported { .. })));
        let y = on(vec![vec![1, 2], vec![3]], device);
        assert!(x.set_union(&y).is_err() && x.searchsorted(&y).is_err() && Tensor::cartesian(&[&x, &y], 1).is_err());
        assert!(x.group_by_key(&y).is_err() && Tensor::zip(&[&x, &y]).is_err());
        assert!(is_argument(Tensor::zip(&[] as &[Tensor])) && is_argument(Tensor::cartesian(&[] as &[Tensor], 0)));
        assert!(is_argument(x.unzip()));
        let text = RaggedTensor::<ragged::Str>::from_nested(vec![vec!["a"]], device).unwrap();
        assert!(matches!(text.erased().set_union(&text), Err(Error::Unsupported { .. })));
        assert!(matches!(text.erased().diff(1), Err(Error::Unsupported { .. })));
        assert!(matches!(text.erased().searchsorted(&text), Err(Error::Unsupported { .. })));
    }
}

#[test]
fn results_of_too_many_values() {
    for device in devices() {
        // 93,000 elements have some 4.3 * 10^9 pairs, and 66,000 by 66,000 elements too.
        let n = 93_000i64;
        let x = RaggedTensor::<u8>::from_nested(vec![vec![0u8; n as usize], vec![1]], device).unwrap();
        let read = |t: &Tensor| t.row_lengths(1).and_then(|t| t.to_host());
        let pairs = x.erased().combinations(2, 1).map(|t| t[1].clone());
        assert!(
            matches!(pairs.and_then(|t| read(&t)), Err(Error::Check { .. } | Error::Limit { .. })),
            "{}",
            device.name()
        );
        let pairs = Tensor::cartesian(&[&x, &x], 1).map(|t| t[0].clone());
        assert!(matches!(pairs.and_then(|t| read(&t)), Err(Error::Check { .. } | Error::Limit { .. })));
        let padded = x.erased().pad_rows(u32::MAX - 2, 0, 1);
        assert!(matches!(padded.and_then(|t| read(&t)), Err(Error::Check { .. } | Error::Limit { .. })));
    }
}

#[test]
fn strings_and_uniform_dimensions() {
    for device in devices() {
        let words = vec![vec!["a", "bc", ""], vec![], vec!["def"]];
        let x = RaggedTensor::<ragged::Str>::from_nested(words, device).unwrap();
        let text = |t: ragged::Result<RaggedTensor<ragged::Str>>| t.unwrap().to_string();
        assert_eq!(text(x.shift(1, "-", 1)), r#"<ragged.RaggedTensor [[b'-', b'a', b'bc'], [], [b'-']]>"#);
        assert_eq!(text(x.roll(1, 1)), r#"<ragged.RaggedTensor [[b'', b'a', b'bc'], [], [b'def']]>"#);
        assert_eq!(
            text(x.pad_rows(2, "-", 1)),
            r#"<ragged.RaggedTensor [[b'a', b'bc', b''], [b'-', b'-'], [b'def', b'-']]>"#
        );
        assert_eq!(
            text(x.combinations(2, 1).map(|mut t| t.remove(1))),
            r#"<ragged.RaggedTensor [[b'bc', b'', b''], [], []]>"#
        );
        assert_eq!(x.contains("def", 1).unwrap().to_vec().unwrap(), [false, false, true]);

        let dense = HostTensor::dense(&[2, 3, 2], HostValues::I32((0..12).collect())).to_device(device).unwrap();
        let host = |t: ragged::Result<Tensor>| t.and_then(|t| t.to_host()).unwrap();
        for (axis, shape) in [(0, [1, 3, 2]), (1, [2, 2, 2]), (2, [2, 3, 1])] {
            let got = host(dense.diff(axis));
            assert_eq!((got.inner_shape, got.nested_row_splits.len()), (shape.to_vec(), 0), "diff {axis}");
        }
        assert_eq!(host(dense.roll(1, 2)).values, HostValues::I32(vec![1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]));
        assert_eq!(host(dense.roll(1, 1)).values, HostValues::I32(vec![4, 5, 0, 1, 2, 3, 10, 11, 6, 7, 8, 9]));
        assert_eq!(host(dense.roll(1, 0)).inner_shape, [2, 3, 2]);
        assert_eq!(host(dense.shift(-1, 9, 1)).values, HostValues::I32(vec![2, 3, 4, 5, 9, 9, 8, 9, 10, 11, 9, 9]));
        assert_eq!(host(dense.shift(1, 9, 0)).values, HostValues::I32(vec![9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 5]));
        for (axis, shape) in [(0, vec![1, 2, 3, 2]), (1, vec![2, 2, 2, 2]), (2, vec![2, 3, 1, 2])] {
            let got = host(dense.sliding_windows(2, axis));
            assert_eq!((got.inner_shape, got.nested_row_splits.len()), (shape, 0), "windows {axis}");
        }
        for (axis, shape) in [(0, vec![4, 3, 2]), (1, vec![2, 4, 2]), (2, vec![2, 3, 4])] {
            let got = host(dense.pad_rows(4, 9, axis));
            assert_eq!((got.inner_shape, got.nested_row_splits.len()), (shape, 0), "padded {axis}");
        }
        assert_eq!(host(dense.pad_rows(3, 9, 2)).values.len(), 18);
        let pairs = host(dense.combinations(2, 1).map(|mut t| t.remove(0)));
        assert_eq!(pairs.values, HostValues::I32(vec![0, 1, 0, 1, 2, 3, 6, 7, 6, 7, 8, 9]));
        assert_eq!(pairs.nested_row_splits, [[0, 3, 6]]);
        let got = host(dense.transpose_rows());
        assert_eq!((got.inner_shape, got.nested_row_splits.len()), (vec![3, 2, 2], 0));
        assert_eq!(got.values, HostValues::I32(vec![0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]));
        let vector = on(vec![5, 5, 7, 5], device);
        assert_eq!(vector.combinations(2, 0).unwrap()[1].to_vec().unwrap(), [5, 7, 5, 7, 5, 5]);
        assert_eq!(vector.set_difference(&on(vec![7], device)).unwrap().to_vec().unwrap(), [5]);
        assert_eq!(vector.run_lengths().unwrap().1.to_vec().unwrap(), [2, 1, 1]);
        assert_eq!(vector.diff(0).unwrap().to_vec().unwrap(), [0, 2, -2]);
        let (keys, groups) = on(vec![1, 2, 3, 4], device).group_by_key(&vector).unwrap();
        assert_eq!(
            (keys.to_vec().unwrap(), nested::<_, Rows<i32>>(Ok(groups))),
            (vec![5, 7], vec![vec![1, 2, 4], vec![3]])
        );
        assert_eq!(
            vector.split_where(&vector.greater(6).unwrap()).map(|t| nested::<_, Rows<i32>>(Ok(t))).unwrap(),
            [vec![5, 5], vec![7, 5]]
        );
        // Sizes that only the device knows.
        let kept = vector.boolean_mask(&vector.less_equal(5).unwrap()).unwrap();
        assert_eq!(kept.combinations(2, 0).unwrap()[0].to_vec().unwrap(), [5, 5, 5]);
        assert_eq!(kept.diff(0).unwrap().to_vec().unwrap(), [0, 0]);
        assert_eq!(kept.roll(1, 0).unwrap().to_vec().unwrap(), [5, 5, 5]);
        assert_eq!(kept.shift(1, 0, 0).unwrap().to_vec().unwrap(), [0, 5, 5]);
        assert_eq!(kept.pad_rows(5, 0, 0).unwrap().to_vec().unwrap(), [5, 5, 5, 0, 0]);
        assert_eq!(kept.sliding_windows(2, 0).unwrap().to_vec().unwrap(), [5; 4]);
        assert_eq!(kept.run_lengths().unwrap().1.to_vec().unwrap(), [3]);
    }
}

#[test]
fn nothing_waits() {
    // A device of its own: other tests wait on the shared ones.
    let Some(device) = common::gpu_with(&DeviceOptions::default()) else { return };
    let x = on(vec![vec![3, 1, 2], vec![], vec![4, 4]], &device);
    let before = device.stats().waits;
    let y = x.shift(1, 0, 1).unwrap();
    let pairs = x.combinations(2, 1).unwrap();
    let all = [
        x.diff(1).unwrap().into_erased(),
        x.roll(1, 1).unwrap().into_erased(),
        pairs[1].erased().clone(),
        x.split_where(&y.greater(2).unwrap()).unwrap().into_erased(),
        x.run_lengths().unwrap().0.into_erased(),
        x.group_by_key(&y).unwrap().1.into_erased(),
        x.set_union(&y).unwrap().into_erased(),
        x.searchsorted(&y).unwrap().into_erased(),
        x.shuffle(Seed(1), 1).unwrap().into_erased(),
        x.sliding_windows(2, 1).unwrap().into_erased(),
        x.pad_rows(2, 0, 1).unwrap().into_erased(),
    ];
    assert_eq!(device.stats().waits, before);
    ragged::eval(all.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(pairs[1].to_vec().unwrap(), [1, 2, 2, 4]);
}
