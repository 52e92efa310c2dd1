//! Rows as arrays of ndarray.

use ndarray::{ArrayD, IxDyn, arr2};
use proptest::prelude::*;
use ragged::{Device, RaggedTensor};
use ragged_data::{from_ndarray_rows, to_ndarray_rows};

use crate::devices::{devices, fails};

proptest! {
    #![proptest_config(crate::random_arrays::cases(100))]

    #[test]
    fn rows_come_back(lengths in proptest::collection::vec(0usize..5, 0..6), width in 0usize..3) {
        let row = |(k, n): (usize, &usize)| {
            let values = (0..n * width).map(|i| (100 * k + i) as i32).collect();
            ArrayD::from_shape_vec(IxDyn(&[*n, width]), values).expect("as many")
        };
        let rows: Vec<ArrayD<i32>> = lengths.iter().enumerate().map(row).collect();
        let x = from_ndarray_rows(&rows, &Device::cpu()).expect("rows");
        let back = to_ndarray_rows(&x).expect("rows");
        if rows.is_empty() {
            prop_assert!(back.is_empty());
        } else {
            prop_assert_eq!(back, rows);
        }
    }
}

#[test]
fn rows_in_any_order_of_memory() -> ragged::Result<()> {
    for device in devices() {
        let transposed = arr2(&[[1.0f32, 2.0], [3.0, 4.0]]).reversed_axes().into_dyn();
        let x = from_ndarray_rows(&[transposed], &device)?;
        assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1.0, 3.0], [2.0, 4.0]]]>", "{device:?}");
    }
    Ok(())
}

#[test]
fn misfits_are_errors() {
    let device = Device::cpu();
    let row = |shape: &[usize]| ArrayD::<f32>::zeros(IxDyn(shape));
    fails(
        from_ndarray_rows(&[row(&[1, 2]), row(&[0, 3])], &device),
        "from_ndarray_rows: row 1 has elements of shape [3], but the rows before it [2]",
    );
    fails(from_ndarray_rows(&[row(&[])], &device), "from_ndarray_rows: row 0 is a single number");
    let dense = RaggedTensor::from_nested([[1, 2]], &device).expect("valid");
    fails(to_ndarray_rows(&dense), "to_ndarray_rows: one ragged dimension makes rows, but the shape is [1, 2]");
}
