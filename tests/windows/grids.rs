//! Grids of more workgroups than one dimension has.

use ragged::{DType, Device, DeviceOptions, HostTensor, HostValues, Result, Tensor, Tuning, s};

use crate::common;
use crate::common::outcome::same_bits;
use crate::inputs::{floats, ragged_of, scrambled};

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
