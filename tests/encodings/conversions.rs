//! Conversions to and from dense and sparse tensors: errors, and padding.

use ragged::opt::shaped;
use ragged::{Device, Error, HostTensor, HostValues, RaggedTensor, SparseTensor, Tensor};

use crate::common;

#[test]
fn invalid_conversions_are_errors() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![3]], &device).expect("rows");
    assert!(matches!(x.to_tensor(0.5f32), Err(Error::Argument { .. })));
    assert!(matches!(x.to_tensor(shaped(0, [-1])), Err(Error::Shape { .. })));
    assert!(matches!(x.to_tensor(shaped(0, [1 << 20, 1 << 20])), Err(Error::Limit { .. })));
    let pair = HostTensor::dense(&[2], HostValues::I32(vec![1, 2])).to_device(&device).expect("a vector");
    assert!(matches!(x.to_tensor(&pair), Err(Error::Shape { .. })));
    assert!(Tensor::from_tensor(x.erased(), 1).is_err());
    // A gap in the columns, descending rows, a row out of range: the rows are not filled from their start.
    for indices in [vec![0, 0, 0, 2], vec![1, 0, 0, 0], vec![0, 0, 5, 0], vec![0, 1, 1, 0], vec![-1, 0, 0, 0]] {
        let indices = HostTensor::dense(&[2, 2], HostValues::I64(indices)).to_device(&device).expect("indices");
        let sparse = SparseTensor::new(&indices, &pair, &[3, 3]).expect("a sparse tensor");
        let outcome = Tensor::from_sparse(&sparse).and_then(|t| t.to_host());
        assert!(matches!(outcome, Err(Error::Check { .. })), "{outcome:?}");
    }
}

#[test]
fn trailing_padding_of_strings_is_stripped() {
    let words = ["a", "pad", "", "pad", "pad", "pa"].map(|w| w.as_bytes().to_vec()).to_vec();
    for (label, device) in common::devices() {
        let dense = HostTensor::dense(&[2, 3], HostValues::Str(words.clone())).to_device(&device).expect("words");
        let strip = |pad: &str| {
            let pad = HostTensor::dense(&[], HostValues::Str(vec![pad.into()])).to_device(&device)?;
            Ok::<_, Error>(Tensor::from_tensor_with_padding(&dense, &pad)?.to_host()?.nested_row_splits.remove(0))
        };
        assert_eq!(strip("pad").expect("a read"), [0, 3, 6], "{label}");
        assert_eq!(strip("").expect("a read"), [0, 2, 5], "{label}");
        assert_eq!(strip("pa").expect("a read"), [0, 3, 5], "{label}");
    }
}
