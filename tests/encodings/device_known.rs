//! Parts of a tensor whose sizes only the device knows.

use ragged::opt::shaped;
use ragged::{DType, Tensor, s};

use crate::common;
use crate::lists::{ints, unknown, vector};

#[test]
fn device_known_sizes() {
    for (label, device) in common::devices().into_iter().filter(|(_, d)| common::has(d, DType::I64)) {
        let rows = Tensor::from_row_lengths(&unknown(4, &device), [1, 0, 3]).expect("recorded");
        let values = rows.slice(s![1..]).and_then(|t| t.slice(s![.., 1..])).expect("a slice");
        assert_eq!(ints(&values.values().expect("values")), [2, 3], "{label}");
        // Two levels: the number of inner rows is device-known.
        let x = Tensor::from_row_lengths(&vector(&[1, 2, 3, 4, 5], &device), [2, 0, 3]).expect("rows");
        let x = Tensor::from_row_lengths(&x, [3, 0]).expect("rows").slice(s![.., 1..]).expect("a slice");
        let x = x.values().expect("one partition");
        assert_eq!(x.shape(), [None, None], "{label}");
        assert_eq!(ints(&x.nrows().expect("nrows")), [2], "{label}");
        assert_eq!(ints(&x.size().expect("size")), [3], "{label}");
        assert_eq!(ints(&x.row_splits().expect("splits")), [0, 0, 3], "{label}");
        assert_eq!(ints(&x.row_lengths(1).expect("lengths")), [0, 3], "{label}");
        assert_eq!(ints(&x.row_starts().expect("starts")), [0, 0], "{label}");
        assert_eq!(ints(&x.row_limits().expect("limits")), [0, 3], "{label}");
        assert_eq!(ints(&x.value_rowids().expect("rowids")), [1, 1, 1], "{label}");
        assert_eq!(ints(&x.bounding_shape().expect("sizes")), [2, 3], "{label}");
        assert_eq!(ints(&x.to_tensor(-1i64).expect("dense")), [-1, -1, -1, 3, 4, 5], "{label}");
        assert_eq!(ints(&x.to_tensor(shaped(-1i64, [3, 1])).expect("dense")), [-1, 3, -1], "{label}");
        let sparse = x.to_sparse().expect("sparse");
        assert_eq!((sparse.dense_shape(), ints(sparse.indices())), (&[2, 3][..], vec![1, 0, 1, 1, 1, 2]), "{label}");
        assert!(x.with_flat_values(&vector(&[7, 8, 9], &device)).and_then(|t| t.to_host()).is_ok(), "{label}");
        assert!(x.with_flat_values(&vector(&[7, 8], &device)).and_then(|t| t.to_host()).is_err(), "{label}");
    }
}
