//! Every kernel on arrays of several windows, with as many bindings as the adapter has and with 8.

use std::collections::BTreeSet;

use ragged::opt::{descending, keep, reversed, shaped};
use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor, s};

use crate::common::outcome::{bits, outcome};
use crate::inputs::{Op, bytes, floats, indices, longs, ragged, repeated, shorts, smallest, windowed};

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
    ("recurrence", |x| x.linear_recurrence(x, 1, 1)),
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
    ("a recurrence of several columns", |x| x.expand_dims(2)?.tile(&[1, 1, 3])?.linear_recurrence(2, 1, reversed(1))),
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
    wrong_of(device, ops, tensors, |_, _| true)
}

/// The failures of the operations on the tensors that meet: `meet` of their indices.
fn wrong_of(
    device: &Device,
    ops: &[Op],
    tensors: &[(&str, HostTensor)],
    meet: impl Fn(usize, usize) -> bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, (dtype, host)) in tensors.iter().enumerate() {
        let on = |device: &Device| host.to_device(device).expect("valid");
        let (here, there) = (on(&Device::cpu()), on(device));
        for (_, (what, op)) in ops.iter().enumerate().filter(|(k, _)| meet(*k, at)) {
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

/// The failures of all operations on the device, each on two of four dtypes: consecutive operations meet different ones,
/// and those that an operation does not meet are met with the other `half`.
fn wrong_of_half(device: &Device, half: usize) -> Vec<String> {
    let tensors = [("f32", ragged(floats)), ("i64", ragged(longs)), ("i16", ragged(shorts)), ("u8", ragged(bytes))];
    wrong_of(device, OPS, &tensors, |op, dtype| (op + dtype) % 2 == half)
}

/// Each operation meets the dtypes here or in [`eight_bindings_are_enough`]: a kernel with many windows takes a second to
/// compile.
#[test]
fn every_kernel_crosses_windows() {
    let Some(device) = windowed(8192) else { return };
    let wrong = wrong_of_half(&device, 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn eight_bindings_are_enough() {
    let Some(device) = smallest(8192) else { return };
    let wrong = wrong_of_half(&device, 1);
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
    // An expected failure, which is an error and no wrong number: the test fails once it is mended.
    let (fails, others): (Vec<Op>, Vec<Op>) =
        others.into_iter().partition(|(what, _)| *what == "a recurrence of several columns");
    let large = repeated(24, floats).to_device(&device).expect("valid");
    for (what, op) in fails {
        let error = op(&large).and_then(|t| t.to_host()).map(|_| ()).expect_err(what);
        assert!(error.to_string().contains("bindings"), "{error}");
    }
    let mut wrong = wrong(&device, &others, &[("f32", repeated(24, floats)), ("i16", repeated(24, shorts))]);
    wrong.extend(self::wrong(&device, &sorts, &[("f32", repeated(6, floats))]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
