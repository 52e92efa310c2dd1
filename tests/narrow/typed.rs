//! Operators of typed tensors.

use ragged::arguments::Operand;
use ragged::{Device, RaggedTensor, bf16, f16, ragged};

use crate::numbers::{dense, read};

#[test]
fn typed_tensors_have_operators() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![f16::ONE, f16::from_f32(0.1)], vec![]], &device).expect("fits");
    let y: RaggedTensor<f16> = ((&x + f16::ONE).expect("recorded") / &x).expect("recorded");
    assert_eq!(y.to_string(), "<ragged.RaggedTensor [[2.0, 11.0], []]>");
    let z: RaggedTensor<f32> =
        RaggedTensor::from_nested([7i8, -7], &device).and_then(|z| z.truediv(2i8)).expect("recorded");
    assert_eq!(z.to_vec().expect("read"), [3.5, -3.5]);
    let w: RaggedTensor<u16> = (5u16 - RaggedTensor::from_nested([6u16], &device).expect("fits")).expect("recorded");
    assert_eq!(w.to_vec().expect("read"), [u16::MAX]);
    assert_eq!(
        read::<bf16>(Operand::from(bf16::ONE).add((&dense::<bf16>(&[bf16::ONE], &device)).into())),
        [bf16::from_f32(2.0)]
    );
    let mean: RaggedTensor<bf16> =
        RaggedTensor::from_nested([vec![bf16::ONE], vec![]], &device).and_then(|m| m.reduce_mean(1)).expect("recorded");
    assert!(mean.to_vec().expect("read")[1].is_nan());
    let shorts: RaggedTensor<i16> = ragged![[1i16, 2], [3i16]].expect("fits");
    assert_eq!(shorts.reduce_sum(1).and_then(|s| s.to_vec()).expect("read"), [3, 3]);
}
