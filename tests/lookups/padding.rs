//! Paddings of dense tensors that become ragged.

use ragged::arguments::Padding;
use ragged::opt::with_ragged_rank;
use ragged::{Device, RaggedTensor, Result, Str, Tensor};

use crate::each_device;

#[test]
fn a_padding_is_a_number_a_string_or_a_tensor() -> Result<()> {
    for (name, device) in each_device() {
        let x = RaggedTensor::dense([1, -1, 2, 3, -1, -1, -1, -1, -1], &[3, 3], device)?;
        // The element type is inferred, and the padding takes it.
        let rows = RaggedTensor::from_tensor_with_padding(&x, -1)?;
        assert_eq!(rows.to_nested_vec::<Vec<Vec<i32>>>()?, [vec![1, -1, 2], vec![3], vec![]], "{name}");
        let floats = x.cast::<f32>()?;
        let rows = RaggedTensor::from_tensor_with_padding(&floats, -1)?;
        assert_eq!(rows.to_nested()?.to_string(), "[[1.0, -1.0, 2.0], [3.0], []]", "{name}");
        let scalar = RaggedTensor::from_nested(-1, device)?;
        let rows = Tensor::from_tensor_with_padding(&x, &scalar)?;
        assert_eq!(rows.to_nested()?.to_string(), "[[1, -1, 2], [3], []]", "{name}");
        let words = RaggedTensor::<Str>::from_nested([["a", "-", "bc"], ["-", "-", "-"], ["", "d", "-"]], device)?;
        let rows = RaggedTensor::from_tensor_with_padding(&words, "-")?;
        assert_eq!(rows.to_nested()?.to_string(), "[[b'a', b'-', b'bc'], [], [b'', b'd']]", "{name}");
        let zeros = RaggedTensor::dense([0, 1, 0, 0], &[2, 2], device)?;
        let rows = RaggedTensor::from_tensor_with_padding(&zeros, Padding::Zero)?;
        assert_eq!(rows.to_nested()?.to_string(), "[[0, 1], []]", "{name}");
        // Elements of two numbers: one value stands for both.
        let pairs = RaggedTensor::dense([1, 0, 0, 2, 0, 0, 0, 0], &[2, 2, 2], device)?;
        let rows = RaggedTensor::from_tensor_with_padding(&pairs, 0)?;
        assert_eq!(rows.to_nested()?.to_string(), "[[[1, 0], [0, 2]], []]", "{name}");
        let rows = RaggedTensor::from_tensor_with_padding(&pairs, with_ragged_rank(0, 2))?;
        assert_eq!(rows.to_nested()?.to_string(), "[[[1], [0, 2]], [[], []]]", "{name}");
    }
    Ok(())
}

#[test]
fn long_rows() -> Result<()> {
    for (name, device) in each_device() {
        for n in [1030usize, 4100, 66_000] {
            let values: Vec<u8> = (0..2 * n).map(|i| u8::from(i < n - 3 || i == n + 5)).collect();
            let x = RaggedTensor::dense(values, &[2, n], device)?;
            let lengths = RaggedTensor::from_tensor_with_padding(&x, 0)?.row_lengths(1)?;
            assert_eq!(lengths.to_vec()?, [n as i64 - 3, 6], "{n} on {name}");
        }
    }
    Ok(())
}

#[test]
fn misuse() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::dense([1u8, 2, 3, 4], &[2, 2], &device)?;
    let message = |r: Result<RaggedTensor<u8>>| r.expect_err("an error").to_string();
    assert!(message(RaggedTensor::from_tensor_with_padding(&x, 256)).contains("from_tensor"));
    assert!(message(RaggedTensor::from_tensor_with_padding(&x, "a")).contains("from_tensor"));
    assert!(message(RaggedTensor::from_tensor_with_padding(&x, with_ragged_rank(0, 2))).contains("ragged_rank"));
    let pair = RaggedTensor::from_nested([1u8, 2], &device)?;
    let got = message(RaggedTensor::from_tensor_with_padding(&x, &pair));
    assert!(got.contains("the padding must have the shape of an element"), "{got}");
    Ok(())
}
