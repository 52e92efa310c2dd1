//! Sorts along every axis, `top_k`, `unique` and quantiles, compared with nested lists.

use std::cmp::Ordering;

use ragged::{DType, Device, HostTensor, HostValues, ReduceAxes, SortAxis, Tensor, descending, keep};

use crate::common::{self, devices_and_unfused_cpu as devices};
use crate::nest::{Nest, Random, both_devices, device_sized, ints, on, positions};

/// The sort key of a number: `None` for NaN.
fn compare(v: &HostValues, a: usize, b: usize, descending: bool) -> Ordering {
    macro_rules! floats {
        ($v:expr) => {{
            let (a, b) = ($v[a], $v[b]);
            match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ if descending => b.total_cmp(&a),
                _ => a.total_cmp(&b),
            }
        }};
    }
    macro_rules! others {
        ($v:expr) => {
            if descending { $v[b].cmp(&$v[a]) } else { $v[a].cmp(&$v[b]) }
        };
    }
    match v {
        HostValues::Bool(v) => others!(v),
        HostValues::U8(v) => others!(v),
        HostValues::I8(v) => others!(v),
        HostValues::U16(v) => others!(v),
        HostValues::I16(v) => others!(v),
        HostValues::I32(v) => others!(v),
        HostValues::U32(v) => others!(v),
        HostValues::I64(v) => others!(v),
        HostValues::U64(v) => others!(v),
        HostValues::F16(v) => floats!(v),
        HostValues::BF16(v) => floats!(v),
        HostValues::F32(v) => floats!(v),
        HostValues::F64(v) => floats!(v),
        other => panic!("{}", other.dtype()),
    }
}

/// The values at the given positions.
fn take(v: &HostValues, at: &[usize]) -> HostValues {
    macro_rules! each {
        ($($v:ident),*) => {
            match v {
                $(HostValues::$v(v) => HostValues::$v(at.iter().map(|&p| v[p].clone()).collect()),)*
                #[allow(unreachable_patterns, reason = "there may be other dtypes")]
                other => panic!("{}", other.dtype()),
            }
        };
    }
    each!(Bool, U8, I8, U16, I16, I32, U32, I64, U64, F16, BF16, F32, F64, Str)
}

/// The bits of values, with one pattern for all NaNs.
fn bits(v: &HostValues) -> String {
    macro_rules! floats {
        ($v:expr) => {
            format!("{:?}", $v.iter().map(|x| if x.is_nan() { !0 } else { x.to_bits() }).collect::<Vec<_>>())
        };
    }
    match v {
        HostValues::F16(v) => floats!(v),
        HostValues::BF16(v) => floats!(v),
        HostValues::F32(v) => floats!(v),
        HostValues::F64(v) => floats!(v),
        other => format!("{other:?}"),
    }
}

fn rows(lengths: &[u32], values: HostValues) -> HostTensor {
    let splits = common::random::splits(lengths);
    let inner_shape = vec![splits[lengths.len()] as usize];
    HostTensor { nested_row_splits: vec![splits], uniform_row_lengths: vec![None], inner_shape, values }
}

/// The sorted positions of each row.
fn orders(x: &HostTensor, descending: bool) -> Vec<Vec<usize>> {
    let row = |w: &[u32]| {
        let mut at: Vec<usize> = (w[0] as usize..w[1] as usize).collect();
        at.sort_by(|&a, &b| compare(&x.values, a, b, descending));
        at
    };
    x.nested_row_splits[0].windows(2).map(row).collect()
}

/// Whether `unique` distinguishes two values.
fn differ(v: &HostValues, a: usize, b: usize) -> bool {
    match v {
        HostValues::F16(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        HostValues::BF16(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        HostValues::F32(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        HostValues::F64(v) => v[a] != v[b] && !(v[a].is_nan() && v[b].is_nan()),
        _ => compare(v, a, b, false) != Ordering::Equal,
    }
}

fn i64s(t: &Tensor) -> Vec<i64> {
    match t.to_host().expect("a read").values {
        HostValues::I64(v) => v,
        other => panic!("{}", other.dtype()),
    }
}

/// Compares all operations along the rows of a tensor with one partition.
fn check_rows(name: &str, x: &HostTensor, device: &Device) {
    let t = on(x, device);
    let starts = &x.nested_row_splits[0];
    for descending in [false, true] {
        let order = orders(x, descending);
        let want = take(&x.values, &order.concat());
        let got = t.sort(SortAxis { axis: 1, descending }).and_then(|t| t.to_host()).expect("a sort");
        assert_eq!(got.nested_row_splits, x.nested_row_splits, "{name}");
        assert!(bits(&got.values) == bits(&want), "{name}: sorted, descending {descending}");
        let offsets = |(row, at): (usize, &Vec<usize>)| -> Vec<i64> {
            at.iter().map(|&p| (p - starts[row] as usize) as i64).collect()
        };
        let indices: Vec<Vec<i64>> = order.iter().enumerate().map(offsets).collect();
        assert!(
            i64s(&t.argsort(SortAxis { axis: -1, descending }).expect("recorded")) == indices.concat(),
            "{name}: argsort {descending}"
        );
        if descending {
            for k in [0, 1, 3, 1000] {
                let (values, at) = t.top_k(k, -1).expect("recorded");
                let cut = |all: &Vec<usize>| all[..all.len().min(k as usize)].to_vec();
                let want = take(&x.values, &order.iter().flat_map(cut).collect::<Vec<_>>());
                let values = values.to_host().expect("a read");
                assert!(bits(&values.values) == bits(&want), "{name}: the first {k}");
                let lengths = order.iter().map(|r| r.len().min(k as usize) as u32).collect::<Vec<_>>();
                assert_eq!(values.nested_row_splits, [common::random::splits(&lengths)], "{name}: rows of {k}");
                let want: Vec<i64> = indices.iter().flat_map(|r| r[..r.len().min(k as usize)].to_vec()).collect();
                assert!(i64s(&at) == want, "{name}: where the first {k} were");
            }
        }
    }
    let mut firsts: Vec<Vec<usize>> = Vec::new();
    let mut times: Vec<Vec<i64>> = Vec::new();
    for row in orders(x, false) {
        let (mut first, mut count): (Vec<usize>, Vec<i64>) = (Vec::new(), Vec::new());
        for (k, &p) in row.iter().enumerate() {
            if k == 0 || differ(&x.values, p, row[k - 1]) {
                first.push(p);
                count.push(0);
            }
            *count.last_mut().expect("pushed") += 1;
        }
        firsts.push(first);
        times.push(count);
    }
    let lengths: Vec<u32> = firsts.iter().map(|r| r.len() as u32).collect();
    let (values, counts) = t.unique_with_counts(1).expect("recorded");
    let got = values.to_host().expect("a read");
    assert_eq!(got.nested_row_splits, [common::random::splits(&lengths)], "{name}: rows of different values");
    assert!(bits(&got.values) == bits(&take(&x.values, &firsts.concat())), "{name}: different values");
    assert!(i64s(&counts) == times.concat(), "{name}: how often");
    let alone = t.unique(-1).and_then(|t| t.to_host()).expect("a read");
    let same = alone.nested_row_splits == got.nested_row_splits && bits(&alone.values) == bits(&got.values);
    assert!(same, "{name}: different values alone");
    let numbers: Vec<i64> = lengths.iter().map(|&l| i64::from(l)).collect();
    assert!(i64s(&t.n_unique(1).expect("recorded")) == numbers, "{name}: how many");
}

/// Values with many duplicates, and all special values.
fn values(random: &mut Random, dtype: DType, n: usize) -> HostValues {
    macro_rules! floats {
        ($t:ident, $v:ident) => {{
            let special =
                [0.0, -0.0, $t::NAN, -$t::NAN, $t::INFINITY, $t::NEG_INFINITY, $t::MAX, $t::MIN, $t::MIN_POSITIVE];
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(6) {
                        0 => special[random.below(9) as usize],
                        _ => (random.below(4001) as $t - 2000.0) / 64.0,
                    })
                    .collect(),
            )
        }};
    }
    macro_rules! ints {
        ($t:ident, $v:ident) => {
            HostValues::$v(
                (0..n)
                    .map(|_| match random.below(8) {
                        0 => $t::MIN,
                        1 => $t::MAX,
                        2 => (random.below(u32::MAX) as $t).wrapping_mul(0x1_0001_0001u64 as $t),
                        _ => (random.below(40) as $t).wrapping_sub(20),
                    })
                    .collect(),
            )
        };
    }
    macro_rules! halves {
        ($t:ident, $v:ident) => {{
            let HostValues::F32(wide) = floats!(f32, F32) else { unreachable!("made so") };
            HostValues::$v(wide.into_iter().map(ragged::$t::from_f32).collect())
        }};
    }
    match dtype {
        DType::F16 => halves!(f16, F16),
        DType::BF16 => halves!(bf16, BF16),
        DType::I8 => ints!(i8, I8),
        DType::U16 => ints!(u16, U16),
        DType::I16 => ints!(i16, I16),
        DType::Bool => HostValues::Bool((0..n).map(|_| random.below(2) == 1).collect()),
        DType::U8 => ints!(u8, U8),
        DType::I32 => ints!(i32, I32),
        DType::U32 => ints!(u32, U32),
        DType::I64 => ints!(i64, I64),
        DType::U64 => ints!(u64, U64),
        DType::F32 => floats!(f32, F32),
        DType::F64 => floats!(f64, F64),
        other => panic!("no values of {other}"),
    }
}

#[test]
fn rows_of_every_dtype() {
    let mut random = Random::new(41);
    let lengths = [0, 3, 1, 0, 17, 40, 2, 900, 0, 5, 895, 896, 897, 0];
    for dtype in common::bools_and_numbers() {
        let x = rows(&lengths, values(&mut random, dtype, lengths.iter().sum::<u32>() as usize));
        for (name, device) in devices().iter().filter(|(_, d)| common::has(d, dtype) && common::has(d, DType::I64)) {
            check_rows(&format!("{dtype} on {name}"), &x, device);
        }
    }
}

#[test]
fn rows_around_the_sizes_of_tiles() {
    let mut random = Random::new(42);
    for lengths in [
        vec![895, 896, 897, 1791, 1792, 1793],
        vec![2047, 0, 2048, 2049],
        [vec![0; 50_000], vec![5000], vec![0; 50_000], vec![3, 1]].concat(),
        vec![1; 3000],
        vec![],
        vec![0, 0],
    ] {
        let n = lengths.iter().sum::<u32>() as usize;
        let x = rows(&lengths, values(&mut random, DType::F32, n));
        let equal = rows(&lengths, HostValues::I32(vec![7; n]));
        for (name, device) in devices() {
            let what = format!("{} rows, {n} values, on {name}", lengths.len());
            check_rows(&what, &x, device);
            check_rows(&format!("{what}, all equal"), &equal, device);
        }
    }
}

#[test]
fn rows_are_batch_invariant() {
    let lengths = [3u32, 0, 1500, 1, 64, 257, 33, 0, 900];
    let x = rows(&lengths, values(&mut Random::new(43), DType::F64, lengths.iter().sum::<u32>() as usize));
    for (name, device) in devices().iter().filter(|(_, d)| common::has(d, DType::F64)) {
        let crowd = on(&x, device).sort(descending(1)).and_then(|t| t.to_host()).expect("a sort");
        for (row, w) in x.nested_row_splits[0].windows(2).enumerate() {
            let at: Vec<usize> = (w[0] as usize..w[1] as usize).collect();
            let alone = rows(&[lengths[row]], take(&x.values, &at));
            let alone = on(&alone, device).sort(descending(1)).and_then(|t| t.to_host()).expect("a sort");
            assert_eq!(bits(&alone.values), bits(&take(&crowd.values, &at)), "row {row} on {name}");
        }
    }
}

/// The positions of each line along an axis, in flat order. A column of ragged rows consists of the rows that are long
/// enough.
fn lines(x: &Nest<usize>, axis: usize) -> Vec<Vec<(usize, i64)>> {
    /// All leaves with their paths.
    fn leaves(x: &Nest<usize>, path: &mut Vec<usize>, out: &mut Vec<(Vec<usize>, usize)>) {
        match x {
            Nest::Leaf(p) => out.push((path.clone(), *p)),
            Nest::List(items) => {
                for (k, item) in items.iter().enumerate() {
                    path.push(k);
                    leaves(item, path, out);
                    path.pop();
                }
            }
        }
    }
    let mut all = Vec::new();
    leaves(x, &mut Vec::new(), &mut all);
    let mut by_line = std::collections::BTreeMap::<Vec<usize>, Vec<(usize, i64)>>::new();
    for (mut path, p) in all {
        let along = path.remove(axis);
        by_line.entry(path).or_default().push((p, along as i64));
    }
    by_line.into_values().collect()
}

fn check_axis(x: &HostTensor, t: &Tensor, axis: usize) {
    let values = ints(x);
    for descending in [false, true] {
        let (mut want, mut at) = (values.to_vec(), vec![0; values.len()]);
        for line in lines(&positions(x), axis) {
            let mut order = line.clone();
            order.sort_by(|&(a, _), &(b, _)| compare(&x.values, a, b, descending));
            for (&(place, _), (from, along)) in line.iter().zip(order) {
                want[place] = values[from];
                at[place] = along;
            }
        }
        let got = t.sort(SortAxis { axis: axis as i64, descending }).and_then(|t| t.to_host()).expect("a sort");
        assert_eq!(ints(&got), want, "axis {axis} of {x:?}, descending {descending}");
        assert_eq!(got.nested_row_splits, x.nested_row_splits);
        assert_eq!(
            i64s(&t.argsort(SortAxis { axis: axis as i64, descending }).expect("recorded")),
            at,
            "argsort {axis} of {x:?}"
        );
    }
    // The last value of each sorted line is that of reduce_max.
    for keep in [false, true] {
        let greatest = t.reduce_max(ReduceAxes { axes: axis.into(), keep }).and_then(|t| t.to_host()).expect("a read");
        let last = t.quantile(1.0, ReduceAxes { axes: axis.into(), keep }).and_then(|t| t.to_host()).expect("a read");
        let HostValues::F64(v) = &last.values else { panic!("f64") };
        let of_empty = |v: &f64| if v.is_nan() { i32::MIN } else { *v as i32 };
        assert_eq!(v.iter().map(of_empty).collect::<Vec<_>>(), ints(&greatest), "axis {axis} (keep {keep}) of {x:?}");
        assert_eq!((&last.nested_row_splits, &last.inner_shape), (&greatest.nested_row_splits, &greatest.inner_shape));
    }
    // As a reduction: one result per line, as for reduce_sum.
    let number = t.n_unique(axis as i64).and_then(|t| t.to_host()).expect("a read");
    let sum = t.reduce_sum(axis as i64).and_then(|t| t.to_host()).expect("a read");
    assert_eq!((&number.nested_row_splits, &number.inner_shape), (&sum.nested_row_splits, &sum.inner_shape));
    let HostValues::I64(mut number) = number.values else { panic!("i64") };
    let mut want: Vec<i64> = lines(&positions(x), axis)
        .iter()
        .map(|l| l.iter().map(|&(p, _)| values[p]).collect::<std::collections::BTreeSet<_>>().len() as i64)
        .collect();
    // Lines without values do not occur in the reference.
    number.retain(|&n| n > 0);
    number.sort_unstable();
    want.sort_unstable();
    assert_eq!(number, want, "axis {axis} of {x:?}");
}

#[test]
fn every_axis_of_every_shape() {
    for seed in 0..60 {
        let mut random = Random::new(7000 + seed);
        let (ragged, inner) = (random.below(4) as usize, random.below(3) as usize);
        let x = random.tensor(ragged, inner);
        for device in both_devices() {
            (0..=ragged + inner).for_each(|axis| check_axis(&x, &on(&x, &device), axis));
        }
    }
}

#[test]
fn every_axis_on_adapters() {
    for (_, device) in common::gpus() {
        for seed in 0..8 {
            let mut random = Random::new(8000 + seed);
            let (ragged, inner) = (random.below(3) as usize, random.below(2) as usize);
            let x = random.tensor(ragged, inner);
            (0..=ragged + inner).for_each(|axis| check_axis(&x, &on(&x, &device), axis));
        }
    }
}

#[test]
fn device_known_sizes() {
    for seed in 0..30 {
        let mut random = Random::new(9000 + seed);
        let (ragged, inner) = (1 + random.below(2) as usize, random.below(2) as usize);
        for device in both_devices() {
            let (x, host) = device_sized(&mut random, ragged, inner, &device);
            (0..=ragged + inner).for_each(|axis| check_axis(&host, &x, axis));
        }
    }
}

#[test]
fn top_k_of_uniform_axes_and_of_columns() {
    let x = HostTensor::dense(&[3, 4], HostValues::I32(vec![5, 1, 9, 9, 0, 7, 3, 2, 8, 8, 8, 4]));
    for (_, device) in common::devices() {
        let t = on(&x, &device);
        let (values, at) = t.top_k(2, 1).expect("recorded");
        assert_eq!(
            values.to_host().expect("a read"),
            HostTensor::dense(&[3, 2], HostValues::I32(vec![9, 9, 7, 3, 8, 8]))
        );
        assert_eq!(i64s(&at), [2, 3, 1, 2, 0, 1]);
        let (values, at) = t.top_k(1, 0).expect("recorded");
        assert_eq!(values.to_host().expect("a read"), HostTensor::dense(&[1, 4], HostValues::I32(vec![8, 8, 9, 9])));
        assert_eq!(i64s(&at), [2, 2, 0, 0]);
        let (values, _) = t.top_k(9, 0).expect("recorded");
        assert_eq!(values.shape(), [Some(3), Some(4)]);
    }
}

#[test]
fn unique_of_dense_tensors_is_ragged_or_flat() {
    let x = HostTensor::dense(&[2, 3], HostValues::F32(vec![1.0, -0.0, 0.0, f32::NAN, 2.0, f32::NAN]));
    for (_, device) in common::devices() {
        let rows = on(&x, &device).unique(1).and_then(|t| t.to_host()).expect("a read");
        assert_eq!(rows.nested_row_splits, [[0, 2, 4]]);
        let flat = HostTensor::dense(&[6], HostValues::I32(vec![4, 1, 4, 4, 1, 0]));
        let (flat, counts) = on(&flat, &device).unique_with_counts(0).expect("recorded");
        assert_eq!(flat.to_host().expect("a read"), HostTensor::dense(&[3], HostValues::I32(vec![0, 1, 4])));
        assert_eq!(i64s(&counts), [1, 2, 3]);
        let empty = on(&HostTensor::dense(&[0], HostValues::I32(vec![])), &device);
        assert_eq!(empty.unique(0).and_then(|t| t.to_host()).expect("a read").inner_shape, [0]);
    }
}

/// NumPy's quantile, but exact between equal neighbours.
fn quantile(row: &mut [f64], q: f64) -> f64 {
    if row.is_empty() || row.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    row.sort_by(f64::total_cmp);
    let rank = (row.len() - 1) as f64 * q;
    let (a, b) = (row[rank as usize], row[(rank as usize + 1).min(row.len() - 1)]);
    let part = rank - rank.floor();
    match part {
        _ if a == b || part == 0.0 => a,
        _ if part < 0.5 => a + (b - a) * part,
        _ => b - (b - a) * (1.0 - part),
    }
}

#[test]
fn quantiles_interpolate() {
    let mut random = Random::new(44);
    let lengths = [0, 1, 2, 5, 6, 0, 100, 1001];
    let n = lengths.iter().sum::<u32>() as usize;
    let mut floats: Vec<f64> = (0..n).map(|_| f64::from(random.below(1000)) / 7.0).collect();
    (floats[4], floats[9], floats[10]) = (f64::NAN, f64::INFINITY, f64::INFINITY);
    let x = rows(&lengths, HostValues::F64(floats.clone()));
    let ints = rows(&lengths, HostValues::I32(floats.iter().map(|&v| v as i32).collect()));
    for (name, device) in devices().iter().filter(|(_, d)| common::has(d, DType::F64)) {
        for q in [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] {
            for (x, as_float) in [(&x, floats.clone()), (&ints, floats.iter().map(|&v| f64::from(v as i32)).collect())]
            {
                let HostValues::F64(got) =
                    on(x, device).quantile(q, 1).and_then(|t| t.to_host()).expect("a read").values
                else {
                    panic!("f64")
                };
                for (row, w) in x.nested_row_splits[0].windows(2).enumerate() {
                    let want = quantile(&mut as_float[w[0] as usize..w[1] as usize].to_vec(), q);
                    let same = got[row] == want || (got[row].is_nan() && want.is_nan());
                    assert!(same, "the {q} of row {row} on {name}: {} for {want}", got[row]);
                }
            }
        }
        let median = on(&ints, device).median(keep(-1)).and_then(|t| t.to_host()).expect("a read");
        assert_eq!(median.inner_shape, [8, 1]);
        let bytes = rows(&[3, 2], HostValues::U8(vec![255, 0, 7, 1, 2]));
        let HostValues::F32(v) = on(&bytes, device).median(1).and_then(|t| t.to_host()).expect("a read").values else {
            panic!("f32")
        };
        assert_eq!(v, [7.0, 1.5]);
    }
}

#[test]
fn sorting_is_idempotent() {
    let x = Random::new(3).tensor(2, 1);
    for device in both_devices() {
        let once = on(&x, &device).sort(1).expect("recorded");
        let twice = once.sort(1).and_then(|t| t.to_host()).expect("a read");
        assert_eq!(once.to_host().expect("a read"), twice);
    }
}

#[test]
fn short_rows_take_one_kernel_and_a_gather() {
    let short = rows(&[3, 896, 0, 2], HostValues::F32((0..901).map(|k| (k * 37 % 101) as f32).collect()));
    let long = rows(&[3, 897], HostValues::F32((0..900).map(|k| (k * 37 % 101) as f32).collect()));
    for (name, device) in common::gpus() {
        let explain = |x: &HostTensor| on(x, &device).sort(1).and_then(|t| t.explain()).expect("planned");
        let plan = explain(&short);
        let kinds: Vec<_> = plan.kernels.iter().map(|k| (k.kind, k.dispatches)).collect();
        assert_eq!(kinds, [("row_sort", 1), ("map", 1)], "{name}: {plan}");
        assert!(explain(&long).dispatches() > 10, "{name}: long rows take passes");
        assert_eq!(explain(&long).waits, 1, "{name}: the read's own");
    }
}

#[test]
fn errors_state_the_remedy() {
    let device = Device::cpu();
    let x = on(&rows(&[2, 1], HostValues::I32(vec![1, 2, 3])), &device);
    assert!(x.sort(2).is_err());
    assert!(x.argsort(-3).is_err());
    assert!(x.top_k(1, 0).unwrap_err().to_string().contains("innermost axis"));
    assert!(x.unique(0).unwrap_err().to_string().contains("n_unique"));
    assert!(x.quantile(1.5, 1).unwrap_err().to_string().contains("between 0 and 1"));
    assert!(x.quantile(f64::NAN, 1).is_err());
    let words = on(&rows(&[1], HostValues::Str(vec![b"a".to_vec()])), &device);
    for error in [words.sort(1).err(), words.unique(1).err(), words.top_k(1, 1).err(), words.median(1).err()] {
        assert!(matches!(error, Some(ragged::Error::Unsupported { .. })), "{error:?}");
    }
    assert!(on(&HostTensor::dense(&[], HostValues::I32(vec![4])), &device).sort(0).is_err());
}

#[test]
fn sorting_with_invalid_splits_is_an_error() {
    for (name, device) in common::devices() {
        let values = on(&HostTensor::dense(&[4], HostValues::I32(vec![4, 1, 3, 2])), &device);
        for splits in [[0i64, 3, 1, 4], [0, 9, 2, 4], [0, 2, 3, 3], [1, 2, 3, 4], [0, -1, 2, 4]] {
            let splits = on(&HostTensor::dense(&[4], HostValues::I64(splits.to_vec())), &device);
            let Ok(x) = Tensor::from_row_splits(&values, &splits) else { continue };
            for (what, got) in [
                ("sort", x.sort(1)),
                ("columns", x.sort(descending(0))),
                ("unique", x.unique(1)),
                ("n_unique", x.n_unique(0)),
                ("top_k", x.top_k(2, 1).map(|t| t.0)),
                ("median", x.median(1)),
            ] {
                let error = got.and_then(|t| t.to_host()).expect_err(what);
                assert!(matches!(error, ragged::Error::Check { .. }), "{what} on {name}: {error:?}");
            }
        }
    }
}
