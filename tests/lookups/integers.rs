//! Indices, ids, lengths and row splits of every integer type: each operation gives what it gives for i64, and an integer
//! that the operation does not accept does not wrap around to one that it does.

use std::collections::HashMap;

use ragged::opt::{Combiner, along, batched, with_nrows};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result, RowPartition, SparseTensor, Tensor};

use crate::common::devices_and_unfused_cpu;

/// The numbers as a vector of an integer dtype; the numbers fit it.
fn vector(numbers: &[i128], dtype: DType, device: &Device) -> Tensor {
    macro_rules! values {
        ($($kind:ident: $t:ty),*) => {
            match dtype {
                $(DType::$kind => HostValues::$kind(numbers.iter().map(|&n| n as $t).collect()),)*
                _ => panic!("{dtype} is no integer dtype"),
            }
        };
    }
    let values = values!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);
    HostTensor::dense(&[numbers.len()], values).to_device(device).expect("a vector")
}

const INTEGERS: [DType; 8] =
    [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

/// The integer dtypes that a device is tested with. Pipelines of a GPU take time: there, the narrowest and the widest.
fn integers(device: &Device) -> &'static [DType] {
    if device.is_cpu() { &INTEGERS } else { &[DType::I8, DType::I64, DType::U64] }
}

/// Numbers of a dtype at the ends of its range, and those whose low 32 bits are valid indices.
fn outside(dtype: DType) -> Vec<i128> {
    match dtype {
        DType::I8 => vec![-1, -128, 127],
        DType::I16 => vec![-1, -32_768, 32_767, 256],
        DType::I32 => vec![-1, -2, i32::MIN.into(), i32::MAX.into(), 65_536],
        DType::I64 => vec![-1, -2, i64::MIN.into(), i64::MAX.into(), 1 << 32, -(1 << 32), (1 << 32) + 1, 1 << 40],
        DType::U8 => vec![255],
        DType::U16 => vec![65_535, 256],
        DType::U32 => vec![u32::MAX.into(), (u32::MAX - 1).into(), 1 << 31, 65_536],
        _ => vec![u64::MAX.into(), (u64::MAX - 1).into(), 1 << 63, 1 << 32, (1 << 32) + 1],
    }
}

/// A sparse matrix of six values, with `x` as the columns of its last entries.
fn sparse(x: &Tensor) -> Result<SparseTensor> {
    let device = x.device();
    let rows = RaggedTensor::from_nested([0i64, 0, 1], &device)?.into_erased().cast(x.dtype())?;
    let indices = Tensor::stack(&[&rows, x], 1)?;
    SparseTensor::new(&indices, &RaggedTensor::from_nested([1, 2, 3], &device)?, &[2, 3])
}

type Operation = fn(&Tensor, &Data) -> Result<Tensor>;

/// What the operations index.
struct Data {
    /// Three rows.
    rows: Tensor,
    /// A matrix of floats.
    table: Tensor,
    /// Three numbers.
    three: Tensor,
}

impl Data {
    fn on(device: &Device) -> Result<Self> {
        Ok(Self {
            rows: RaggedTensor::from_nested([vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9]], device)?.into_erased(),
            table: RaggedTensor::dense([0.5f32, 1.0, 2.0, 4.0, 8.0, 16.0], &[3, 2], device)?.into_erased(),
            three: RaggedTensor::from_nested([10, 20, 30], device)?.into_erased(),
        })
    }
}

/// The integers as three rows of one each.
fn in_rows(x: &Tensor) -> Result<Tensor> {
    Tensor::from_row_splits(x, [0, 1, 2, 3])
}

/// Every operation that takes indices, ids, lengths or splits as a tensor. The vector holds [`VALID`].
const OPERATIONS: &[(&str, Operation)] = &[
    ("gather", |x, d| d.rows.gather(x)),
    ("gather, axis 1", |x, d| d.rows.gather(along(x, 1))),
    ("batch_gather", |x, d| d.rows.batch_gather(&in_rows(x)?)),
    ("gather_nd", |x, d| d.rows.gather_nd(&x.expand_dims(1)?)),
    ("gather_nd, batched", |x, d| d.rows.gather_nd(batched(&x.expand_dims(1)?, 1))),
    ("batch_scatter_add", |x, d| d.rows.batch_scatter_add(&in_rows(x)?, &in_rows(&d.three)?)),
    ("row_at", |x, d| d.rows.row_at(&x.slice(ragged::s![-1])?)),
    ("embedding_lookup", |x, d| d.table.embedding_lookup(x)),
    ("embedding_lookup_sparse", |x, d| d.table.embedding_lookup_sparse(&in_rows(x)?, Combiner::Sum)),
    ("safe_embedding_lookup_sparse", |x, d| d.table.safe_embedding_lookup_sparse(&in_rows(x)?, Combiner::Mean)),
    ("unsorted_segment_sum", |x, d| d.three.unsorted_segment_sum(x, 3)),
    ("unsorted_segment_sum of rows", |x, d| d.rows.unsorted_segment_sum(x, 3)),
    ("sparse_segment_sum", |x, d| d.table.sparse_segment_sum(x, with_nrows(x, 3))),
    ("dynamic_partition", |x, d| Tensor::concat(&d.three.dynamic_partition(x, 3)?, 0)),
    ("stack_dynamic_partitions", |x, d| d.three.stack_dynamic_partitions(x, 3)),
    ("segment_ids_to_row_splits", |x, _| x.segment_ids_to_row_splits_of(3)),
    ("slice_rows, starts", |x, d| d.rows.slice_rows(x, [1, 1, 1])),
    ("slice_rows, lengths", |x, d| d.rows.slice_rows([0, 0, 0], x)),
    ("from_tensor_with_lengths", |x, d| Tensor::from_tensor_with_lengths(&d.rows.to_tensor(0)?, x, 1)),
    ("from_row_lengths", |x, d| Tensor::from_row_lengths(&d.three, x)),
    ("from_row_starts", |x, d| Tensor::from_row_starts(&d.three, x)),
    ("from_row_limits", |x, d| Tensor::from_row_limits(&d.three.slice(ragged::s![..2])?, x)),
    ("from_row_splits", |x, d| Tensor::from_row_splits(&d.three.slice(ragged::s![..2])?, x)),
    ("from_value_rowids", |x, d| Tensor::from_value_rowids(&d.three, with_nrows(x, 3))),
    ("one_hot", |x, _| x.one_hot(3, 1, 0)),
    ("sequence_mask", |x, _| x.sequence_mask(3)),
    ("bincount", |x, _| x.bincount(.., 3)),
    ("sparse indices", |x, _| sparse(x)?.to_dense(0)),
    ("sparse_to_dense", |x, d| x.sparse_to_dense(&[3], &d.three, 0)),
    ("mask", |x, d| d.rows.to_sparse()?.mask(x)?.to_dense(0)),
    ("row.gather", |x, d| Tensor::map_rows_of(&[&d.rows, &in_rows(x)?], |r| r[0].gather(&r[1]))),
    ("row.gather_nd", |x, d| {
        let at = in_rows(x)?.expand_dims(2)?;
        Tensor::map_rows_of(&[&d.rows, &at], |r| r[0].gather_nd(&r[1]))
    }),
];

/// Valid for every operation.
const VALID: [i128; 3] = [0, 1, 2];

/// The result as text, or `None` where recording or the read fails.
fn outcome(run: Operation, x: &Tensor, data: &Data) -> Option<String> {
    let y = run(x, data).ok()?;
    Some(format!("{} {}", y.to_nested().ok()?, y.dtype()))
}

#[test]
fn indices_of_every_integer_type() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let data = Data::on(device)?;
        for &(op, run) in OPERATIONS {
            let wanted = outcome(run, &vector(&VALID, DType::I64, device), &data);
            assert!(wanted.is_some(), "{op} on {name}: {:?}", run(&vector(&VALID, DType::I64, device), &data));
            for &dtype in integers(device) {
                let x = vector(&VALID, dtype, device);
                assert_eq!(outcome(run, &x, &data), wanted, "{op} of {dtype} on {name}: {:?}", run(&x, &data));
            }
        }
    }
    Ok(())
}

#[test]
fn indices_out_of_range_do_not_wrap() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let data = Data::on(device)?;
        for &(op, run) in OPERATIONS {
            let mut wanted = HashMap::new();
            for &dtype in integers(device) {
                let all = outside(dtype);
                // On a GPU, the first and the last: of 64 bits, the last has low bits that are a valid index.
                let step = if device.is_cpu() { 1 } else { (all.len() - 1).max(1) };
                for &number in all.iter().step_by(step) {
                    // No operation tells numbers of a larger magnitude apart.
                    let like = number.clamp(-1000, 1000);
                    let wanted = wanted
                        .entry(like)
                        .or_insert_with(|| outcome(run, &vector(&[0, 1, like], DType::I64, device), &data));
                    let got = outcome(run, &vector(&[0, 1, number], dtype, device), &data);
                    assert_eq!(&got, wanted, "{op} of {number} as {dtype} on {name}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn ids_that_determine_the_number_of_segments() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        let data = Data::on(device)?.three;
        for dtype in INTEGERS {
            let ids = vector(&[0, 0, 100], dtype, device);
            let sums = data.segment_sum(&ids)?;
            assert_eq!(sums.shape(), [Some(101)], "{dtype} on {name}");
            assert_eq!(sums.reduce_max(0)?.to_nested()?.to_string(), "30", "{dtype} on {name}");
            assert_eq!(ids.segment_ids_to_row_splits()?.shape(), [Some(102)], "{dtype} on {name}");
            for number in outside(dtype).into_iter().filter(|&n| n < 0) {
                let ids = vector(&[0, 0, number], dtype, device);
                assert!(data.segment_sum(&ids).and_then(|y| y.to_nested()).is_err(), "{number} as {dtype} on {name}");
            }
        }
    }
    Ok(())
}

#[test]
fn row_lengths_without_values() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        for dtype in INTEGERS {
            let partition = RowPartition::from_row_lengths(&vector(&[2, 0, 100], dtype, device), device)?;
            assert_eq!(partition.row_lengths(device)?.to_nested()?.to_string(), "[2, 0, 100]", "{dtype} on {name}");
            for number in outside(dtype).into_iter().filter(|&n| n < 0 || n >= u32::MAX.into()) {
                let read = RowPartition::from_row_lengths(&vector(&[2, number], dtype, device), device)
                    .and_then(|p| p.row_lengths(device)?.to_nested());
                assert!(read.is_err(), "{number} as {dtype} on {name}: {read:?}");
            }
        }
    }
    Ok(())
}
