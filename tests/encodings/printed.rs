//! Printing of inconsistent host tensors, of large tensors without values, of shapes and of row partitions.

use ragged::{DType, Device, HostTensor, HostValues, RaggedShape, RaggedTensor, Result, RowPartition, Tensor};

use crate::common;

#[test]
fn inconsistent_host_tensors_print_without_a_panic() {
    let ints = |n: i32| HostValues::I32((1..=n).collect());
    let splits =
        |splits: &[&[u32]], n| HostTensor::from_nested_row_splits(splits.iter().map(|s| s.to_vec()).collect(), ints(n));
    let shaped = |shape: &[usize], n| HostTensor::dense(shape, ints(n));
    let odd = |t: HostTensor, shape: &[usize]| HostTensor { inner_shape: shape.to_vec(), ..t };
    let cases = [
        (splits(&[&[]], 0), "[]"),
        (splits(&[&[0, 5]], 1), "[[1]]"),
        (splits(&[&[0, 2, 1, 9]], 3), "[[1, 2], [], [2, 3]]"),
        (splits(&[&[0, 2], &[0, 1]], 1), "[[[1]]]"),
        (splits(&[&[0, u32::MAX], &[]], 1), "[[]]"),
        (odd(splits(&[&[0, 1, 2]], 1), &[]), "[1, []]"),
        (odd(splits(&[&[0, 2]], 2), &[2, 3]), "[[]]"),
        (odd(splits(&[&[0, 2]], 2), &[2, 0]), "[[[], []]]"),
        (odd(splits(&[&[0, 1]], 3), &[usize::MAX, 2, usize::MAX]), "[[]]"),
        (shaped(&[2, 2], 1), "[]"),
        (shaped(&[2, 2], 3), "[[1, 2]]"),
        (shaped(&[], 0), "[]"),
        (shaped(&[usize::MAX, usize::MAX], 1), "[]"),
    ];
    for (host, text) in cases {
        assert_eq!(host.to_string(), text, "{host:?}");
        assert_eq!(host.to_nested().to_string(), text, "{host:?}");
        assert!(host.to_device(&Device::cpu()).is_err() || host.inner_shape == [2, 0], "{host:?}");
    }
}

#[test]
fn lists_without_values_are_printed_in_part() {
    for device in common::devices().into_iter().map(|(_, device)| device) {
        let zeros = |dims: &[u64]| {
            let shape = RaggedShape::dense(dims, &device).expect("a shape");
            Tensor::zeros(&shape, DType::F32).expect("no values").to_string()
        };
        assert_eq!(
            zeros(&[4_000_000_000, 0]),
            "tensor([[], [], [], ..., [], [], []], shape=(4000000000, 0), dtype=f32)"
        );
        assert_eq!(zeros(&[2, 0]), "tensor([[], []], shape=(2, 0), dtype=f32)");
        assert!(zeros(&[[2; 30].as_slice(), &[0]].concat()).len() < 1 << 20);
    }
    let none = HostTensor::from_row_splits(vec![0; 5_000_000], HostValues::I32(Vec::new()));
    assert_eq!(none.to_string(), "[[], [], [], ..., [], [], []]");
}

#[test]
fn shapes_print_the_lengths_of_their_rows() -> Result<()> {
    for (_, device) in common::devices() {
        let shape = |lengths: &[ragged::Lengths]| RaggedShape::from_lengths(lengths, &device);
        let x = RaggedTensor::from_nested([vec![1], vec![2, 3, 4], vec![], vec![5, 6]], &device)?;
        let printed = "<DynamicRaggedShape lengths=[4, (1, 3, 0, 2)] num_row_partitions=1>";
        assert_eq!(x.ragged_shape().to_string(), printed);
        assert_eq!(x.ragged_shape().slice(..1)?.to_string(), "<DynamicRaggedShape lengths=[4] num_row_partitions=0>");
        let all = [
            (shape(&[4.into(), [2, 1, 0, 8].into(), 12.into()])?, "lengths=[4, (2, 1, 0, 8), 12] num_row_partitions=1"),
            (shape(&[1.into(), [2].into()])?, "lengths=[1, (2,)] num_row_partitions=1"),
            (shape(&[0.into(), [].into()])?, "lengths=[0, ()] num_row_partitions=1"),
            (shape(&[])?, "lengths=[] num_row_partitions=0"),
            (shape(&[2.into(), 3.into()])?.with_ragged_rank(1)?, "lengths=[2, 3] num_row_partitions=1"),
        ];
        for (shape, want) in all {
            assert_eq!(shape.to_string(), format!("<DynamicRaggedShape {want}>"));
        }
        // Rows that only the device knows are read.
        let some = x.boolean_mask(&x.row_lengths(1)?.greater(1)?)?;
        assert_eq!(some.ragged_shape().text(), "[None, None]");
        assert_eq!(some.ragged_shape().to_string(), "<DynamicRaggedShape lengths=[2, (3, 2)] num_row_partitions=1>");
        let long = shape(&[2000.into(), vec![7; 2000].into()])?;
        let printed = "<DynamicRaggedShape lengths=[2000, (7, 7, 7, ..., 7, 7, 7)] num_row_partitions=1>";
        assert_eq!(long.to_string(), printed);
    }
    Ok(())
}

#[test]
fn partitions_print_their_splits() -> Result<()> {
    for (_, device) in common::devices() {
        let lengths = |lengths: &[i64]| RowPartition::from_row_lengths(lengths, &device);
        assert_eq!(lengths(&[4, 4])?.to_string(), "RowPartition(row_splits=[0 4 8])");
        assert_eq!(lengths(&[])?.to_string(), "RowPartition(row_splits=[0])");
        let uniform = RowPartition::from_uniform_row_length(2, 8, &device)?;
        assert_eq!(uniform.to_string(), "RowPartition(nrows=4, uniform_row_length=2)");
        assert_eq!(lengths(&[1; 3000])?.to_string(), "RowPartition(row_splits=[0 1 2 ... 2998 2999 3000])");
        let x = RaggedTensor::from_nested([vec![1], vec![2, 3, 4], vec![], vec![5, 6]], &device)?;
        let some = x.boolean_mask(&x.row_lengths(1)?.greater(0)?)?;
        assert_eq!(some.partitions()[0].nrows(), None);
        assert_eq!(some.partitions()[0].to_string(), "RowPartition(row_splits=[0 1 4 6])");
        let rows = some.to_tensor(0)?.erased().ragged_shape().with_ragged_rank(1)?;
        assert_eq!(rows.row_partitions()[0].to_string(), "RowPartition(nrows=3, uniform_row_length=3)");
    }
    Ok(())
}

#[test]
fn failed_reads_are_printed() -> Result<()> {
    for (label, device) in common::devices() {
        let given = HostTensor::dense(&[2], HostValues::I64(vec![2, -1])).to_device(&device)?.add(0)?;
        let rows = RowPartition::from_row_lengths(&given, &device)?;
        let printed = rows.to_string();
        assert!(printed.starts_with("RowPartition(without rows, since computing them failed: "), "{label}: {printed}");
        let shape = RaggedShape::from_row_partitions(&[rows], &[-1], &device)?.to_string();
        let says = "<DynamicRaggedShape [2, None] without lengths, since computing them failed: ";
        assert!(shape.starts_with(says), "{label}: {shape}");
    }
    Ok(())
}
