//! Sparse counts of numbers that 32 bits do not hold.

use ragged::opt::{Bins, binary};
use ragged::{Device, RaggedTensor};

use crate::common::every_way;

#[test]
fn sparse_counts_of_numbers_beyond_32_bits() {
    let big = 5_000_000_000i64;
    for (name, device) in every_way() {
        let x = RaggedTensor::<i64>::from_nested([vec![big, 3, big], vec![], vec![big + 1, u32::MAX.into()]], device);
        let counts = x.and_then(|x| x.bincount_sparse(1, ..)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(counts.dense_shape(), [3, big as u64 + 2], "{name}");
        let want = [0, 3, 0, big, 2, u32::MAX.into(), 2, big + 1];
        assert_eq!(counts.indices().to_vec::<i64>(), want, "{name}");
        assert_eq!(counts.values().to_vec::<i32>(), [1, 2, 1, 1], "{name}");

        let x = RaggedTensor::<u64>::from_nested([big as u64, 0, i64::MAX as u64 - 1], device).expect("valid");
        let counts = x.bincount_sparse(.., ..).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(counts.dense_shape(), [i64::MAX as u64], "{name}");
        let copied = counts.to_device(&Device::cpu()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(copied.dense_shape(), [i64::MAX as u64], "{name}");
        assert_eq!(counts.indices().to_vec::<i64>(), [0, big, i64::MAX - 1], "{name}");
        let few = x.bincount_sparse(.., binary(..=big + 1)).expect("recorded");
        assert_eq!(few.dense_shape(), [big as u64 + 1], "{name}");
        assert_eq!(few.indices().to_vec::<i64>(), [0, big], "{name}");
        assert_eq!(few.values().to_vec::<i32>(), [1, 1], "{name}");
        assert_eq!(x.bincount_sparse(.., Bins::from(7)).expect("recorded").dense_shape(), [7], "{name}");
        let over = RaggedTensor::<u64>::from_nested([u64::MAX], device).expect("valid");
        assert!(over.bincount_sparse(.., ..).is_err(), "{name}");
    }
}

/// As TensorFlow's, whose greatest number of no values is 0.
#[test]
fn sparse_counts_of_no_values_have_one_bin() {
    for (name, device) in every_way() {
        let none = RaggedTensor::<i64>::from_nested(vec![vec![0i64; 0], vec![]], device).expect("valid");
        let counts = none.bincount_sparse(.., ..).expect("recorded");
        assert_eq!(counts.dense_shape(), [1], "{name}");
        assert_eq!(none.bincount_sparse(1, ..).expect("recorded").dense_shape(), [2, 1], "{name}");
        assert_eq!(none.bincount_sparse(1, 4..).expect("recorded").dense_shape(), [2, 4], "{name}");
        let some = RaggedTensor::<i32>::from_nested(vec![vec![1, 2]], device).expect("valid");
        let none = some.boolean_mask(&some.greater(5).expect("recorded")).expect("recorded");
        assert_eq!(none.bincount_sparse(.., ..).expect("recorded").dense_shape(), [1], "{name}");
    }
    let dense = RaggedTensor::<i64>::from_nested(vec![vec![0i64; 0]], &Device::cpu()).expect("valid");
    assert_eq!(dense.bincount(.., ..).and_then(|t| t.to_vec()).expect("a read"), [0i32; 0]);
}

trait ToVec {
    fn to_vec<T: ragged::Element>(&self) -> Vec<T::Host>;
}

impl ToVec for ragged::Tensor {
    fn to_vec<T: ragged::Element>(&self) -> Vec<T::Host> {
        T::values(&self.to_host().expect("a read").values).expect("the dtype").to_vec()
    }
}
