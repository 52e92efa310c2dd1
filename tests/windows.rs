//! Arrays that exceed one binding: every kernel gives the results of the CPU backend.

mod common;

use std::collections::BTreeSet;

use common::outcome::{bits, outcome, same_bits};
use ragged::{
    DType, Device, DeviceOptions, Error, Factor, HostTensor, HostValues, Result, Tensor, Tuning, descending, keep, s,
    shaped,
};

/// The first adapter with bindings of that many bytes.
fn windowed(max_binding: u64) -> Option<Device> {
    let options = DeviceOptions::default().max_binding(max_binding);
    (!common::gpus().is_empty()).then(|| Device::gpu_with(&options).expect("the first adapter opens twice"))
}

/// Row lengths of all kinds: some rows are empty, one is long.
fn lengths() -> Vec<u32> {
    let mut out: Vec<u32> = (0..700).map(|r| (r * r) % 23 * u32::from(r % 3 != 0)).collect();
    out[350] = 3000;
    out
}

fn ragged(values: impl Fn(u32) -> HostValues) -> HostTensor {
    ragged_of(&lengths(), values)
}

/// The rows, repeated.
fn repeated(times: usize, values: impl Fn(u32) -> HostValues) -> HostTensor {
    ragged_of(&lengths().repeat(times), values)
}

fn ragged_of(lengths: &[u32], values: impl Fn(u32) -> HostValues) -> HostTensor {
    let splits = common::random::splits(lengths);
    let n = splits[splits.len() - 1];
    HostTensor {
        nested_row_splits: vec![splits],
        uniform_row_lengths: vec![None],
        inner_shape: vec![n as usize],
        values: values(n),
    }
}

fn scrambled(k: u32) -> u32 {
    k.wrapping_mul(0x9e37_79b9) >> 7
}

fn floats(n: u32) -> HostValues {
    HostValues::F32((0..n).map(|k| scrambled(k) as f32 / 1024.0 - 7000.0).collect())
}

fn longs(n: u32) -> HostValues {
    HostValues::I64((0..n).map(|k| i64::from(scrambled(k)) * 0x1_0001 - 77).collect())
}

fn shorts(n: u32) -> HostValues {
    HostValues::I16((0..n).map(|k| scrambled(k) as i16).collect())
}

fn bytes(n: u32) -> HostValues {
    HostValues::U8((0..n).map(|k| scrambled(k) as u8).collect())
}

/// A named operation on a tensor.
type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);

/// Scattered indices below `bound`.
fn indices(x: &Tensor, count: u32, bound: u32) -> Result<Tensor> {
    let ids = (0..count).map(|k| i64::from(k) * 1009 % i64::from(bound)).collect();
    HostTensor::dense(&[count as usize], HostValues::I64(ids)).to_device(&x.device())
}

/// A separate array of numbers of the tensor's dtype.
fn short(x: &Tensor, count: u32) -> Result<Tensor> {
    let values = HostValues::I32((0..count).map(|k| (k % 100) as i32).collect());
    HostTensor::dense(&[count as usize], values).to_device(&x.device())?.cast(x.dtype())
}

/// Operations that cover every kernel, including loads at computed indices.
const OPS: &[Op] = &[
    ("map", |x| x.add(x)),
    ("row map", |x| x.add(&x.reduce_max(keep(1))?)),
    ("sum", |x| x.reduce_sum(1)),
    ("sum of all", |x| x.flat_values()?.reduce_sum(0)),
    ("any", |x| x.cast(DType::Bool)?.reduce_any(1)),
    ("cumsum", |x| x.cumsum(1)),
    ("sort", |x| x.sort(1)),
    ("sort of all", |x| x.flat_values()?.sort(descending(0))),
    ("argsort", |x| x.argsort(descending(1))),
    ("unique", |x| x.unique(1)),
    ("few counts by a sort", |x| x.cast(DType::U8)?.bincount(.., 300)),
    ("many counts by a sort", |x| x.cast(DType::U8)?.bincount(1, 256)),
    ("mask", |x| x.boolean_mask(&x.not_equal(&x.reduce_min(keep(1))?)?)),
    ("slice", |x| x.slice(s![.., -5..])),
    ("reverse", |x| x.slice(s![..;-1, ..;-1])),
    ("concat", |x| Tensor::concat(&[x, x], 1)),
    ("padded", |x| x.cast(DType::F32)?.to_tensor(shaped(1f32, [-1, 64]))),
    ("to and fro", |x| Tensor::from_tensor(&x.cast(DType::F32)?.to_tensor(shaped(0f32, [-1, 40]))?, 1)),
    ("tile", |x| x.tile(&[2, 3])),
    ("rows again and again", |x| x.gather(&indices(x, 1500, 700)?)),
    ("elements of elements", |x| x.flat_values()?.gather(&indices(x, 9000, 5000)?)),
    ("mean", |x| x.reduce_mean(1)),
    ("softmax", |x| x.cast(DType::F32)?.softmax(1)),
    ("several columns", |x| {
        let wide = x.expand_dims(2)?.tile(&[1, 1, 3])?;
        wide.cumsum(1)?.add(&wide.reduce_sum(keep(1))?)
    }),
    ("rows of one length", |x| {
        let n = x.flat_values()?.slice(s![..6300])?.reshape([900, 7])?;
        Tensor::from_tensor(&n, 1)?.cumsum(1)
    }),
    // Operands that end within a window or at its edge, long before the result.
    ("one after another", |x| Tensor::concat(&[&short(x, 3000)?, &x.flat_values()?], 0)),
    ("one after another at an edge", |x| Tensor::concat(&[&short(x, 2048)?, &x.flat_values()?], 0)),
    ("an index too far", |x| x.flat_values()?.gather(&indices(x, 9000, 1 << 20)?)),
    ("sums by key", |x| x.flat_values()?.slice(s![..6300])?.unsorted_segment_sum(&indices(x, 6300, 900)?, 900)),
    ("products", |x| {
        let columns = x.cast(DType::F32)?.expand_dims(2)?;
        columns.t().matmul(&columns)
    }),
];

/// The failures of `ops` on the device, compared with the CPU backend.
fn wrong(device: &Device, ops: &[Op], tensors: &[(&str, HostTensor)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (dtype, host) in tensors {
        let on = |device: &Device| host.to_device(device).expect("valid");
        let (here, there) = (on(&Device::cpu()), on(device));
        for (what, op) in ops {
            let want = outcome(&op(&here).and_then(|t| t.to_host()), bits);
            let got = outcome(&op(&there).and_then(|t| t.to_host()), bits);
            if want != got {
                wrong.push(format!("{what} of {dtype}: {got:.300}\n    not {want:.300}"));
            }
        }
    }
    wrong
}

/// [`OPS`] covers every kernel except hashes, which have separate tests.
#[test]
fn the_operations_cover_every_kernel() {
    let Some(device) = windowed(8192) else { return };
    let x = ragged(floats).to_device(&device).expect("valid");
    let kinds = |(what, op): &Op| match op(&x).and_then(|t| t.explain()) {
        Ok(plan) => plan.kernels.iter().map(|k| k.kind).collect::<Vec<_>>(),
        Err(_) if *what == "an index too far" => Vec::new(),
        Err(e) => panic!("{what}: {e}"),
    };
    let taken: BTreeSet<&str> = OPS.iter().flat_map(kinds).collect();
    let all = [
        "assert",
        "compact",
        "histogram",
        "map",
        "rank_bitmap",
        "matmul",
        "row_map",
        "row_reduce",
        "row_scan",
        "row_sort",
        "scan",
        "sort",
    ];
    assert_eq!(taken, BTreeSet::from(all));
}

#[test]
fn every_kernel_crosses_windows() {
    let Some(device) = windowed(8192) else { return };
    let tensors = [("f32", ragged(floats)), ("i64", ragged(longs)), ("i16", ragged(shorts)), ("u8", ragged(bytes))];
    let wrong = wrong(&device, OPS, &tensors);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first adapter with no more bindings than the smallest has, of that many bytes each.
fn smallest(max_binding: u64) -> Option<Device> {
    let options = DeviceOptions::default().core_limits(true).max_binding(max_binding);
    (!common::gpus().is_empty()).then(|| Device::gpu_with(&options).expect("the first adapter opens with less"))
}

#[test]
fn eight_bindings_are_enough() {
    let Some(device) = smallest(8192) else { return };
    let tensors = [("f32", ragged(floats)), ("i64", ragged(longs)), ("i16", ragged(shorts)), ("u8", ragged(bytes))];
    let wrong = wrong(&device, OPS, &tensors);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A hundred windows per array, of which a kernel binds a few at a time. Sorts need a quadratic number of dispatches
/// and get fewer windows.
#[test]
fn eight_bindings_are_enough_for_a_hundred_windows() {
    let Some(device) = smallest(8192) else { return };
    let (sorts, others): (Vec<Op>, Vec<Op>) =
        OPS.iter().partition(|(what, _)| what.contains("sort") || *what == "unique");
    // The matrix products of the long rows have hundreds of megabytes; products have separate tests.
    let others: Vec<Op> = others.into_iter().filter(|(what, _)| *what != "products").collect();
    let mut wrong = wrong(&device, &others, &[("f32", repeated(24, floats)), ("i16", repeated(24, shorts))]);
    wrong.extend(self::wrong(&device, &sorts, &[("f32", repeated(6, floats))]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A condition on an array that is bound in several parts still names the first failing position.
#[test]
fn conditions_of_arrays_bound_in_parts_name_the_first_offender() {
    let Some(device) = smallest(8192) else { return };
    let ids = |k: i64| if k > 5000 { 7_000_000 + k } else { k * 1009 % 5000 };
    let failure = |on: &Device| {
        let x = ragged(longs).to_device(on).expect("valid");
        let ids = HostTensor::dense(&[9000], HostValues::I64((0..9000).map(ids).collect())).to_device(on)?;
        x.flat_values()?.gather(&ids)?.to_host()
    };
    for on in [Device::cpu(), device] {
        let error = failure(&on).expect_err("indices beyond the values");
        assert!(matches!(&error, Error::Check { at: 5001, .. }), "{error}");
    }
}

/// Matrices of dozens of windows, with infinities that are multiplied by zeros only in the expected elements.
#[test]
fn products_of_large_matrices() {
    let Some(device) = smallest(8192) else { return };
    let value = |k: u32| match k % 9973 {
        17 => f32::INFINITY,
        _ if k.is_multiple_of(3) => 0.0,
        _ => scrambled(k) as f32 / 1e6 - 16.0,
    };
    let matrix = |rows: usize, columns: usize, on: &Device| {
        let values = HostValues::F32((0..(rows * columns) as u32).map(value).collect());
        HostTensor::dense(&[rows, columns], values).to_device(on).expect("valid")
    };
    // Results, terms, results; the sums of the last take two dispatches where the driver ends loops early.
    for (m, k, n) in [(150, 130, 110), (300, 9, 301), (3, 5000, 4)] {
        for (left, right) in [(false, false), (true, false), (false, true)] {
            let product = |on: &Device| {
                let a = if left { matrix(k, m, on) } else { matrix(m, k, on) };
                let b = if right { matrix(n, k, on) } else { matrix(k, n, on) };
                outcome(
                    &Factor { tensor: &a, transposed: left }
                        .matmul(Factor { tensor: &b, transposed: right })
                        .and_then(|t| t.to_host()),
                    bits,
                )
            };
            let (want, got) = (product(&Device::cpu()), product(&device));
            assert!(want == got, "{m} x {k} x {n}, {left} {right}: {got:.300}\n    not {want:.300}");
        }
    }
}

/// Matrices of various heights, some of them empty, in arrays of at least six windows. A matrix may cross several
/// windows.
#[test]
fn products_of_matrices_of_many_heights() {
    const WIDTH: usize = 12;
    let Some(device) = smallest(8192) else { return };
    let heights: Vec<u32> = (0..90).map(|b| if b == 40 { 150 } else { b * b % 31 * u32::from(b % 4 != 0) }).collect();
    let matrices = |seed: u32, on: &Device| {
        let splits = common::random::splits(&heights);
        let rows = splits[heights.len()] as usize;
        let values = (0..(rows * WIDTH) as u32).map(|k| scrambled(k + seed) as f32 / 1e6 - 16.0).collect();
        let host = HostTensor {
            nested_row_splits: vec![splits],
            uniform_row_lengths: vec![None],
            inner_shape: vec![rows, WIDTH],
            values: HostValues::F32(values),
        };
        host.to_device(on).expect("valid")
    };
    for (left, right) in [(false, true), (true, false)] {
        let product = |on: &Device| {
            let (a, b) = (matrices(0, on), matrices(7, on));
            outcome(
                &Factor { tensor: &a, transposed: left }
                    .matmul(Factor { tensor: &b, transposed: right })
                    .and_then(|t| t.to_host()),
                bits,
            )
        };
        let (want, got) = (product(&Device::cpu()), product(&device));
        assert!(want == got, "{left} {right}: {got:.300}\n    not {want:.300}");
    }
}

/// So many small matrices that their sizes and starts exceed the available bindings and are bound in parts. The sizes
/// are equal, or various, and some matrices are empty.
#[test]
fn products_of_hundreds_of_matrices() {
    let Some(device) = smallest(8192) else { return };
    const MATRICES: u32 = 2050;
    let rows_of = |seed: u32| (0..MATRICES).map(|b| scrambled(b + seed) % 3).collect::<Vec<u32>>();
    // Matrices of those heights, and of one width or of such widths.
    let matrices = |heights: &[u32], width: usize, on: &Device| {
        let splits = common::random::splits(heights);
        let rows = splits[heights.len()] as usize;
        let values = (0..(rows * width) as u32).map(|k| scrambled(k) as f32 / 1e6 - 16.0).collect();
        let inner_shape = if width == 1 { vec![rows] } else { vec![rows, width] };
        let (nested_row_splits, uniform_row_lengths) = (vec![splits], vec![None]);
        let host = HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: HostValues::F32(values) };
        host.to_device(on).expect("valid")
    };
    let dense = |rows: u32, columns: u32, on: &Device| {
        let shape = [MATRICES, rows, columns].map(|n| n as usize);
        let values = (0..MATRICES * rows * columns).map(|k| scrambled(k) as f32 / 1e6 - 16.0).collect();
        HostTensor::dense(&shape, HostValues::F32(values)).to_device(on).expect("valid")
    };
    // Three windows per array, so that no kernel can bind all of them.
    let long = |on: &Device| Ok([dense(1, 1, on).cast(DType::I64)?, dense(1, 1, on).add(0.5f32)?.cast(DType::I64)?]);
    type Product<'a> = (&'a str, &'a dyn Fn(&Device) -> Result<Tensor>);
    let products: [Product<'_>; 4] = [
        ("of many heights, by ones of one size", &|on| matrices(&rows_of(0), 2, on).matmul(&dense(2, 1, on))),
        ("of many heights, by their transposes", &|on| {
            let a = matrices(&rows_of(3), 2, on);
            a.matmul(matrices(&rows_of(9), 2, on).t())
        }),
        ("of as many as a mask keeps", &|on| {
            let keep = HostValues::Bool((0..MATRICES).map(|b| b % 5 != 3).collect());
            let keep = HostTensor::dense(&[MATRICES as usize], keep).to_device(on)?;
            let [a, b] = long(on)?;
            a.boolean_mask(&keep)?.matmul(b.boolean_mask(&keep)?.t())
        }),
        ("of one size", &|on| {
            let [a, b] = long(on)?;
            a.matmul(&b)
        }),
    ];
    for (what, product) in products {
        let [want, got] = [&Device::cpu(), &device].map(|on| product(on).and_then(|t| t.to_host()).expect(what));
        assert_eq!(bits(&want), bits(&got), "{what}");
    }
}

/// Arrays of more than 128 MiB, the binding limit of Mesa's software adapter.
#[test]
fn arrays_of_hundreds_of_megabytes() {
    const LEN: u32 = 36_000_000;
    let values: Vec<i32> = (0..LEN).map(|k| (scrambled(k) % 1999) as i32 - 999).collect();
    let lengths: Vec<u32> = (0..LEN / 1000).map(|r| if r % 2 == 0 { 1999 } else { 1 }).collect();
    let host = HostTensor {
        nested_row_splits: vec![common::random::splits(&lengths)],
        uniform_row_lengths: vec![None],
        inner_shape: vec![LEN as usize],
        values: HostValues::I32(values.clone()),
    };
    for (name, device) in common::gpus() {
        let x = host.to_device(&device).expect("uploads");
        let sums = x.add(&x).and_then(|y| y.reduce_sum(1)).and_then(|t| t.to_host()).expect("computes");
        let mut at = 0;
        let mut want = Vec::new();
        for &len in &lengths {
            want.push(2 * values[at..at + len as usize].iter().sum::<i32>());
            at += len as usize;
        }
        assert!(sums.values == HostValues::I32(want), "{name}: sums");
        // A stored array, read backwards.
        let back = x.flat_values().and_then(|v| v.slice(s![..;-1])?.add(&v)).and_then(|t| t.to_host());
        let HostValues::I32(back) = back.expect("computes").values else { panic!("{name}: another dtype") };
        let n = values.len();
        assert!((0..n).all(|k| back[k] == values[k] + values[n - 1 - k]), "{name}: backwards");
        let kept = x.boolean_mask(&x.greater(0).expect("recorded")).and_then(|t| t.flat_values()?.to_host());
        let kept = kept.expect("computes").values;
        assert!(kept == HostValues::I32(values.iter().copied().filter(|&v| v > 0).collect()), "{name}: kept");
    }
}

/// Every kernel on arrays of more than 128 MiB, compared with the CPU backend. Sorts are within rows, since a sort of
/// all values takes minutes on a software adapter.
#[test]
fn every_kernel_takes_hundreds_of_megabytes() {
    const LEN: u32 = 34_000_000;
    let lengths: Vec<u32> = (0..LEN / 1000).map(|r| if r % 2 == 0 { 1995 } else { 5 }).collect();
    let splits = common::random::splits(&lengths);
    let numbers = (0..LEN).map(|k| (scrambled(k) >> 3) as f32 / 1024.0 - 1000.0).collect();
    let (nested_row_splits, uniform_row_lengths) = (vec![splits], vec![None]);
    let host = HostTensor {
        nested_row_splits,
        uniform_row_lengths,
        inner_shape: vec![LEN as usize],
        values: HostValues::F32(numbers),
    };
    let ops: &[Op] = &[
        ("running sums", |x| x.cumsum(1)),
        ("sorted", |x| x.sort(1)),
        ("joined", |x| Tensor::concat(&[x, &x.reduce_max(keep(1))?], 1)),
        ("softmax", |x| x.softmax(1)),
        ("padded", |x| x.to_tensor(shaped(1f32, [-1, 1000]))),
        ("elements by numbers", |x| x.flat_values()?.gather(&indices(x, 9_000_000, LEN)?)),
        ("rows by numbers", |x| x.gather(&indices(x, 40_000, LEN / 1000)?)),
        ("products", |x| {
            let columns = HostTensor::dense(&[8, 2], HostValues::F32((0..16).map(|k| k as f32).collect()));
            x.flat_values()?.reshape([i64::from(LEN) / 8, 8])?.matmul(&columns.to_device(&x.device())?)
        }),
    ];
    let strings: Vec<Vec<u8>> = (0..1_400_000u32).map(|k| vec![k as u8; 100 + k as usize % 3]).collect();
    let strings = HostTensor::dense(&[strings.len()], HostValues::Str(strings));
    let string = vec![(0..135 << 20).map(|k| scrambled(k) as u8).collect(), b"short".to_vec()];
    let string = HostTensor::dense(&[2], HostValues::Str(string));
    let cpu = Device::cpu();
    for (name, device) in common::gpus() {
        let (here, there) = (host.to_device(&cpu).expect("fits"), host.to_device(&device).expect("uploads"));
        for (what, op) in ops {
            let [want, got] = [&here, &there].map(|x| op(x).and_then(|t| t.to_host()).expect("computes"));
            assert!(want.nested_row_splits == got.nested_row_splits, "{name}: rows of {what}");
            assert!(same_bits(&want.values, &got.values), "{name}: {what}");
        }
        for (what, strings) in [("many", &strings), ("one", &string)] {
            let hashes = [&cpu, &device].map(|on| strings.to_device(on).and_then(|x| x.fingerprint64()?.to_host()));
            let [want, got] = hashes.map(|hashes| hashes.expect("computes").values);
            assert!(want == got, "{name}: hashes of {what}");
        }
    }
}

/// An operation that exceeds the limit on dispatches is an error, and runs none of them.
#[test]
fn too_many_windows_are_an_error() {
    let Some(device) = windowed(8192) else { return };
    let x = HostTensor::dense(&[1_000_000], longs(1_000_000)).to_device(&device).expect("uploads");
    let HostValues::I64(want) = longs(1_000_000) else { panic!("longs") };
    let sum = x.add(&x).and_then(|y| y.to_host()).expect("a window at a time");
    assert!(sum.values == HostValues::I64(want.iter().map(|v| 2 * v).collect()));
    // Operations that cannot bind all windows at once bind some at a time.
    let some = x.slice(s![..100_000]).expect("recorded");
    let mut want = want;
    let mut sorted = want[..100_000].to_vec();
    sorted.sort_unstable();
    let got = some.sort(0).and_then(|y| y.to_host()).expect("some windows at a time");
    assert!(got.values == HostValues::I64(sorted));
    want.reverse();
    let back = x.slice(s![..;-1]).and_then(|y| y.to_host()).expect("some windows at a time");
    assert!(back.values == HostValues::I64(want), "backwards");
    let Some(device) = smallest(8192) else { return };
    let x = HostTensor::dense(&[1_000_000], longs(1_000_000)).to_device(&device).expect("uploads");
    let error = x.sort(0).and_then(|y| y.to_host()).expect_err("hundreds of windows, of which each meets all");
    assert!(
        matches!(&error, Error::Limit { unit: "dispatches", requested, limit, .. } if requested > limit),
        "{error}"
    );
}

/// Strings whose bytes exceed the windows that a kernel can bind are hashed by groups of windows. A string is hashed by
/// a group that contains it; a string longer than a window is hashed by several dispatches.
#[test]
fn strings_are_hashed_some_windows_at_a_time() {
    let Some(device) = smallest(8192) else { return };
    let string = |k: u32| {
        let len = [k % 70, scrambled(k) % 300, if k.is_multiple_of(37) { 8192 - k % 5 } else { 0 }][k as usize % 3];
        (0..len).map(|at| scrambled(k * 9973 + at) as u8).collect::<Vec<u8>>()
    };
    let words: Vec<Vec<u8>> = (0..3000).map(string).collect();
    assert!(words.iter().map(Vec::len).sum::<usize>() > 30 * 8192);
    let hashes = |device: &Device, words: &[Vec<u8>]| {
        let x = HostTensor::dense(&[words.len()], HostValues::Str(words.to_vec())).to_device(device)?;
        let key = [0x0123_4567_89ab_cdef, 42];
        let all = [x.fingerprint64()?, x.to_hash_bucket_strong(i64::MAX, key)?, x.to_hash_bucket(i64::MAX)?];
        all.iter().map(|y| y.to_host().map(|host| host.values)).collect::<Result<Vec<_>>>()
    };
    assert_eq!(hashes(&device, &words).expect("by groups"), hashes(&Device::cpu(), &words).expect("on the CPU"));
    let mut words = words;
    for (word, len) in [(0, 8193), (1000, 200_000), (1001, 64 * 1024), (2999, 33_333)] {
        words[word] = (0..len).map(|at| scrambled(word as u32 + at) as u8).collect();
    }
    assert_eq!(
        hashes(&device, &words).expect("in several dispatches"),
        hashes(&Device::cpu(), &words).expect("on the CPU")
    );
    // A group of windows has more bytes than one dispatch hashes, and the scratch state exceeds one window.
    let Some(device) = smallest(64 << 10) else { return };
    let dispatch = 256 << 10;
    let lens =
        [40, 3 * dispatch + 5, 0, dispatch, 900_001, 64 << 10, (64 << 10) + 1, 2 * dispatch - 1, 2 * dispatch, 77];
    let words: Vec<Vec<u8>> =
        lens.iter().map(|&len: &u32| (0..len).map(|at| scrambled(len * 31 + at) as u8).collect()).collect();
    assert_eq!(
        hashes(&device, &words).expect("in several dispatches"),
        hashes(&Device::cpu(), &words).expect("on the CPU")
    );
}

/// More workgroups than the limit of one grid dimension, for a map, a row reduction and a scan over millions of empty
/// rows.
#[test]
fn grids_beyond_one_dimension() {
    const ROWS: u32 = 6_000_000;
    let length = |r: u32| if r.is_multiple_of(3) { scrambled(r) % 140 } else { 0 };
    let lengths: Vec<u32> = (0..ROWS).map(length).collect();
    let splits = common::random::splits(&lengths);
    let n = splits[ROWS as usize];
    assert!(n / 2048 > 65_535, "{n} bytes");
    let values: Vec<u8> = (0..n).map(|k| (k >> 5) as u8).collect();
    let host = HostTensor {
        nested_row_splits: vec![splits.clone()],
        uniform_row_lengths: vec![None],
        inner_shape: vec![n as usize],
        values: HostValues::U8(values.clone()),
    };
    for (name, device) in common::gpus() {
        let x = host.to_device(&device).expect("uploads");
        let kept = x.not_equal(7u8).and_then(|keep| x.boolean_mask(&keep)).expect("recorded");
        let lengths = kept.row_lengths(1).and_then(|t| t.to_host()).expect("computes").values;
        let ends = splits.windows(2).map(|w| w[0] as usize..w[1] as usize);
        let want = ends.clone().map(|row| values[row].iter().filter(|&&v| v != 7).count() as i64).collect();
        assert!(lengths == HostValues::I64(want), "{name}: lengths");
        let doubled = x.add(&x).and_then(|y| y.eval().map(|()| y)).expect("computes");
        let greatest = doubled.reduce_max(1).and_then(|t| t.to_host()).expect("computes").values;
        let want = ends.map(|row| values[row].iter().map(|v| v.wrapping_mul(2)).max().unwrap_or(0)).collect();
        assert!(greatest == HostValues::U8(want), "{name}: greatest");
    }
}

/// A name, the kind of kernel that the operation must contain, and the operation.
type RowOp = (&'static str, &'static str, fn(&Tensor) -> Result<Tensor>);

/// The same for the row kernels, with the smallest tiles.
#[test]
fn grids_of_row_tiles_beyond_one_dimension() {
    if common::gpus().is_empty() {
        return;
    }
    let tuning = Tuning::default().row_tile(512).row_cost(16);
    let device = Device::gpu_with(&DeviceOptions::default().tuning(tuning)).expect("the first adapter opens twice");
    let tuning = device.tuning().expect("a GPU's");
    const ROWS: u32 = 2_200_000;
    assert!(ROWS / (tuning.row_tile / tuning.row_cost) > 65_535, "{tuning:?}");
    let length = |r: u32| if scrambled(r).is_multiple_of(4) { scrambled(r) / 4 % 3 } else { 0 };
    let mut lengths: Vec<u32> = (0..ROWS).map(length).collect();
    lengths[ROWS as usize - 2] = 70_000;
    let host = ragged_of(&lengths, floats);
    let ops: &[RowOp] = &[
        ("sum", "row_reduce", |x| x.reduce_sum(1)),
        ("row map", "row_map", |x| x.add(&x.row_lengths(1)?.cast(DType::F32)?.expand_dims(1)?)),
        ("softmax", "row_reduce", |x| x.softmax(1)),
        ("cumsum", "row_scan", |x| x.cumsum(1)),
        ("sort", "row_sort", |x| x.sort(1)),
        ("mask", "compact", |x| x.boolean_mask(&x.greater(0f32)?)),
        ("slice", "scan", |x| x.slice(s![.., ..1])),
    ];
    let (here, there) = (host.to_device(&Device::cpu()).expect("valid"), host.to_device(&device).expect("valid"));
    for (name, kind, op) in ops {
        let plan = op(&there).and_then(|t| t.explain()).expect("recorded");
        assert!(plan.kernels.iter().any(|k| k.kind == *kind), "{name} has no {kind}:\n{plan}");
        let [want, got] = [&here, &there].map(|x| op(x).and_then(|t| t.to_host()).expect("computes"));
        assert!(want.nested_row_splits == got.nested_row_splits, "{name}: other rows");
        assert!(same_bits(&want.values, &got.values), "{name}");
    }
}
