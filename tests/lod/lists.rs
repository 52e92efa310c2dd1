//! Conversion from and to lists, and printing.

use ragged::{Device, LodTensor, RaggedTensor, Tensor};

use crate::common::devices;

#[test]
fn lists_of_sequences_of_any_depth() {
    for (_, device) in devices() {
        let one = RaggedTensor::from_nested([vec![1, 2], vec![]], &device).unwrap();
        let two = RaggedTensor::from_nested([vec![3]], &device).unwrap();
        let x = LodTensor::from_list(&[&one, &two]).unwrap();
        assert_eq!(x.lod().unwrap(), [vec![0, 2, 3], vec![0, 2, 2, 3]]);
        let back = x.to_list().unwrap();
        let texts: Vec<String> = back.iter().map(Tensor::to_string).collect();
        assert_eq!(texts, ["<ragged.RaggedTensor [[1, 2], []]>", "<ragged.RaggedTensor [[3]]>"]);
    }
}

#[test]
fn numbers_of_rows_that_only_the_device_knows() {
    for (_, device) in devices() {
        let all = RaggedTensor::from_nested([1, 5, 2, 6], &device).unwrap();
        let (small, large) = (all.less(4).unwrap(), all.greater(100).unwrap());
        let parts = [all.boolean_mask(&small).unwrap(), all.boolean_mask(&large).unwrap(), all.clone()];
        let x = LodTensor::from_list(&parts).unwrap();
        assert_eq!(x.recursive_sequence_lengths().unwrap(), [[2, 0, 4]]);
        assert_eq!(x.tensor().to_string(), "<ragged.RaggedTensor [[1, 2], [], [1, 5, 2, 6]]>");
        assert_eq!(x.to_list().unwrap().len(), 3);
    }
}

#[test]
fn levels_and_data_are_printed() {
    let x = LodTensor::from_nested([vec![1, 2], vec![], vec![3]], &Device::cpu()).unwrap();
    assert_eq!(x.to_string(), "LodTensor(lod=[[0, 2, 2, 3]], data=tensor([1, 2, 3], shape=(3,), dtype=i32))");
    let dense = LodTensor::from_nested([1.5f32], &Device::cpu()).unwrap();
    assert_eq!(dense.to_string(), "LodTensor(lod=[], data=tensor([1.5], shape=(1,), dtype=f32))");
}
