//! `top_k` and `unique` of dense tensors.

use ragged::{HostTensor, HostValues};

use super::reference::i64s;
use crate::common;
use crate::nest::on;

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
