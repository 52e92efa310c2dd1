//! Sizes, and products of sizes, that exceed 32 or 64 bits.

use std::panic::AssertUnwindSafe;

use ragged::opt::{along, descending, exclusive, keep, reversed};
use ragged::{DType, Device, Error, HostTensor, HostValues, RaggedShape, Result, Tensor, s};

use crate::common;

#[test]
fn sizes_beyond_32_bits_are_errors() {
    for (name, device) in common::devices() {
        let dense = |shape: &[usize]| {
            let n = shape.iter().product();
            HostTensor::dense(shape, HostValues::U8(vec![1; n])).to_device(&device).expect("small")
        };
        let (column, row) = (dense(&[70_000, 1]), dense(&[1, 70_000]));
        let outcome = column.maximum(&row);
        assert!(matches!(outcome, Err(Error::Limit { .. })), "{name}: {outcome:?}");
        let cube = dense(&[2000, 1, 1]).maximum(&dense(&[1, 2000, 1])).and_then(|x| x.maximum(&dense(&[1, 1, 2000])));
        assert!(matches!(cube, Err(Error::Limit { .. })), "{name}: {cube:?}");
        assert_eq!(column.reduce_max(..).and_then(|x| x.to_host()).expect("reads").values.len(), 1, "{name}");
    }
}

#[test]
fn overflowing_shapes_without_elements_are_errors() {
    let device = Device::cpu();
    let none = |shape: &[usize]| HostTensor::dense(shape, HostValues::F32(Vec::new())).to_device(&device);
    assert!(none(&[0, 70_000, 70_000]).is_err());
    assert!(none(&[0, usize::MAX, usize::MAX]).is_err());
    let (tall, wide) = (none(&[0, 70_000, 1]).unwrap(), none(&[0, 1, 70_000]).unwrap());
    assert!(tall.add(&wide).is_err());
    let bad = HostTensor {
        nested_row_splits: vec![vec![0, 0], Vec::new()],
        uniform_row_lengths: vec![None, None],
        inner_shape: vec![0],
        values: HostValues::F32(Vec::new()),
    };
    assert!(bad.to_device(&device).is_err());
}

#[test]
fn splits_into_too_many_empty_pieces_are_errors() {
    let device = Device::cpu();
    let none = HostTensor::dense(&[0, 0], HostValues::F32(Vec::new())).to_device(&device).expect("no values");
    for axis in [0, 1] {
        let outcome = none.split(1 << 30, axis);
        assert!(matches!(outcome, Err(Error::Limit { unit: "tensors", .. })), "{axis}");
        assert_eq!(none.split(3, axis).expect("empty pieces").len(), 3);
    }
}

/// Dimensions whose product exceeds 32 or 64 bits, in tensors without elements.
#[test]
fn overflowing_products_of_sizes_do_not_panic() {
    let device = Device::cpu();
    let zeros = |dims: &[u64]| RaggedShape::dense(dims, &device).and_then(|shape| Tensor::zeros(&shape, DType::F32));
    let uniform = |x: &Tensor, lengths: &[i64]| {
        lengths.iter().try_fold(x.clone(), |x, &len| Tensor::from_uniform_row_length(&x, len))
    };
    let none = zeros(&[0]).expect("no values");
    let rows = Tensor::from_row_lengths(&none, [0i64; 0]).expect("no rows");
    let mut all: Vec<Tensor> = [
        zeros(&[1, 1, 1, 0]),
        zeros(&[0, 1 << 31, 1]),
        zeros(&[0, 1, 1 << 31]),
        zeros(&[0, 1 << 16, 0, (1 << 16) - 1]),
        zeros(&[0, 1 << 31]).and_then(|x| uniform(&x, &[1 << 17])),
        uniform(&none, &[1 << 17, 1 << 17]),
        uniform(&none, &[1 << 31, 1 << 31, 1 << 31]),
        uniform(&none, &[0, 1 << 31, 1 << 31, 2]),
        uniform(&rows, &[1 << 31, 1 << 31]),
        uniform(&none, &[1 << 31])
            .and_then(|x| Tensor::from_row_lengths(&x, [0i64; 0]))
            .and_then(|x| uniform(&x, &[1 << 31])),
    ]
    .into_iter()
    .map(|t| t.expect("no elements"))
    .collect();
    all.push(all[1].add(1.0f32).expect("recorded"));
    type Operation = (&'static str, fn(&Tensor, i64) -> Result<Tensor>);
    let operations: [Operation; 44] = [
        ("tile", |x, axis| {
            x.tile(&(0..x.rank() as i64).map(|d| if d == axis { 1 } else { 1 << 20 }).collect::<Vec<_>>())
        }),
        ("repeat", |x, axis| x.repeat(1i64 << 31, axis)),
        ("argmax", |x, axis| x.argmax(axis)),
        ("argmin", |x, axis| x.argmin(axis)),
        ("argsort", |x, axis| x.argsort(axis)),
        ("sort", |x, axis| x.sort(descending(axis))),
        ("cumsum", |x, axis| x.cumsum(exclusive(reversed(axis)))),
        ("cummax", |x, axis| x.cummax(axis)),
        ("reduce_sum", |x, axis| x.reduce_sum(keep(axis))),
        ("reduce_mean", |x, axis| x.reduce_mean(axis)),
        ("reduce_variance", |x, axis| x.reduce_variance(axis)),
        ("reduce_logsumexp", |x, axis| x.reduce_logsumexp(axis)),
        ("softmax", |x, axis| x.softmax(axis)),
        ("l2_normalize", |x, axis| x.l2_normalize(axis, 1e-6)),
        ("median", |x, axis| x.median(keep(axis))),
        ("top_k", |x, axis| x.top_k(1i64 << 31, axis).map(|(values, _)| values)),
        ("unique", |x, axis| x.unique(axis)),
        ("n_unique", |x, axis| x.n_unique(axis)),
        ("expand_dims", |x, axis| x.expand_dims(axis)),
        ("squeeze", |x, axis| x.squeeze(axis)),
        ("merge_dims", |x, axis| x.merge_dims(axis, -1)),
        ("merge_dims to", |x, axis| x.merge_dims(0, axis)),
        ("reverse", |x, axis| x.reverse(axis)),
        ("row_lengths", |x, axis| x.row_lengths(axis)),
        ("bounding_size", |x, axis| x.bounding_size(axis)),
        ("bounding_shape", |x, _| x.bounding_shape()),
        ("size", |x, _| x.size()),
        ("with_ragged_rank", |x, axis| Tensor::zeros(&x.ragged_shape().with_ragged_rank(axis as usize)?, DType::I64)),
        ("ones_like", |x, _| x.ones_like()),
        ("to_tensor", |x, _| x.to_tensor(0.0f32)),
        ("to_sparse", |x, _| Ok(x.to_sparse()?.values().clone())),
        ("concat", |x, axis| Tensor::concat(&[x, x], axis)),
        ("stack", |x, axis| Tensor::stack(&[x, x], axis)),
        ("slice", |x, _| x.slice(s![.., ..-1])),
        ("slice in steps", |x, _| x.slice(s![..;2, ..;-1])),
        ("add", |x, _| x.add(x)),
        ("add rows", |x, axis| x.add(&x.reduce_max(keep(axis))?)),
        ("select", |x, _| x.greater(0.0f32)?.select(x, x)),
        ("boolean_mask", |x, _| x.boolean_mask(&x.greater(0.0f32)?)),
        ("where_indices", |x, _| x.greater(0.0f32)?.where_indices()),
        ("gather", |x, axis| x.gather(along(&x.argmax(-1)?.flat_values()?, axis))),
        ("matmul", |x, _| x.matmul(x.t())),
        ("one_hot", |x, _| x.cast(DType::I32)?.one_hot(1i64 << 31, 1i32, 0i32)),
        ("bitcast", |x, _| x.bitcast(DType::U8)),
    ];
    let [x, y, z] = [[1u64 << 31, 1, 1], [1, 1 << 31, 1], [1, 1, 1 << 31]].map(|[a, b, c]| zeros(&[0, a, b, c]));
    let (x, y, z) = (x.expect("none"), y.expect("none"), z.expect("none"));
    assert!(x.greater(0.0f32).and_then(|x| x.select(&y, &z)).is_err(), "2^93 numbers an element");
    assert!(x.add(&y).is_err(), "2^62 numbers an element");
    for (name, operation) in operations {
        for (k, x) in all.iter().enumerate() {
            for axis in 0..x.rank() as i64 {
                let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| operation(x, axis).map(drop)));
                assert!(outcome.is_ok(), "{name} of tensor {k} along axis {axis}");
            }
        }
    }
}
