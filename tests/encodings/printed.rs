//! Printing of inconsistent host tensors, and of large tensors without values.

use ragged::{DType, Device, HostTensor, HostValues, RaggedShape, Tensor};

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
