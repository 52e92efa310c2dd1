//! The examples of Paddle's guide to LoD tensors, in its order, with the results that it prints.

use ragged::{Device, HostValues, LodTensor, RaggedTensor, Tensor};

use crate::common::devices;

/// Rows of one number each.
fn column<T: ragged::Number + ragged::Element<Host = T>>(values: &[T], device: &Device) -> RaggedTensor<T> {
    RaggedTensor::dense(values, &[values.len(), 1], device).expect("a column")
}

/// The numbers of a tensor.
fn numbers(t: &Tensor) -> Vec<f32> {
    RaggedTensor::<f32>::try_from(t.clone()).and_then(|t| t.to_vec()).expect("read")
}

#[test]
fn sentences_of_words() {
    for (_, device) in devices() {
        // 3 sentences of 3, 1 and 2 words, each word a vector of D numbers.
        let words = RaggedTensor::dense([0.0f32; 6 * 4], &[6, 4], &device).unwrap();
        let x = LodTensor::from_lengths(&words, [[3, 1, 2]]).unwrap();
        assert_eq!((x.lod_level(), x.lod().unwrap()), (1, vec![vec![0, 3, 4, 6]]));
    }
}

#[test]
fn recursive_sequences() {
    for (_, device) in devices() {
        let x =
            LodTensor::from_lengths(&column(&[1i64; 15], &device), [vec![3, 1, 2], vec![3, 2, 4, 1, 2, 3]]).unwrap();
        assert_eq!(x.lod().unwrap(), [vec![0, 3, 4, 6], vec![0, 3, 5, 9, 10, 12, 15]]);
        assert_eq!(x.recursive_sequence_lengths().unwrap(), [vec![3, 1, 2], vec![3, 2, 4, 1, 2, 3]]);
    }
}

#[test]
fn videos_images_and_parameters() {
    for (_, device) in devices() {
        // Videos of 3, 1 and 2 frames of 640x480 (here 4x3).
        let frames = RaggedTensor::dense([1.0f32; 6 * 4 * 3], &[6, 4, 3], &device).unwrap();
        let videos = LodTensor::from_lengths(&frames, [[3, 1, 2]]).unwrap();
        assert_eq!(videos.data().unwrap().shape(), [Some(6), Some(4), Some(3)]);
        // Images: sequences of length 1 are a plain tensor. So are parameters of a model, of LoD level 0.
        let images = LodTensor::from_lengths(&frames, [[1; 6]]).unwrap();
        assert_eq!(images.lod().unwrap(), [[0, 1, 2, 3, 4, 5, 6]]);
        assert_eq!(LodTensor::from(frames).lod_level(), 0);
    }
}

#[test]
fn create_a_lod_tensor() {
    for (_, device) in devices() {
        let a =
            LodTensor::from_lengths(&column(&[1i64; 15], &device), [vec![3, 1, 2], vec![3, 2, 4, 1, 2, 3]]).unwrap();
        // print(len(a.recursive_sequence_lengths())) prints 2.
        assert_eq!(a.recursive_sequence_lengths().unwrap().len(), 2);
        // print(sum(a.recursive_sequence_lengths()[-1])) prints 15.
        assert_eq!(a.recursive_sequence_lengths().unwrap().last().unwrap().iter().sum::<i64>(), 15);
    }
}

#[test]
fn from_lod_tensor_to_tensors_and_back() {
    for (_, device) in devices() {
        let a = LodTensor::from_lengths(&column(&[1.1f32, 2.2, 3.3, 4.4], &device), [[1, 3]]).unwrap();
        let new_array = a.to_list().unwrap();
        let printed: Vec<Vec<f32>> = new_array.iter().map(numbers).collect();
        assert_eq!(printed, [vec![1.1], vec![2.2, 3.3, 4.4]]);

        let whole: Vec<Tensor> = new_array.iter().map(|t| t.cast(ragged::DType::I64).unwrap()).collect();
        let lod_tensor = LodTensor::from_list(&whole).unwrap();
        // The LoD of the result: [[0, 1, 4]].
        assert_eq!(lod_tensor.lod().unwrap(), [[0, 1, 4]]);
        let read = lod_tensor.to_host().unwrap();
        assert_eq!((read.values, read.inner_shape), (HostValues::I64(vec![1, 2, 3, 4]), vec![4, 1]));
    }
}

/// The guide's `x` and `y`, whose second level is given.
fn expanded(device: &Device, second: [i64; 4]) -> LodTensor {
    let x = LodTensor::from_lengths(&column(&[1.1f32, 2.2, 3.3, 4.4], device), [[1, 3]]).unwrap();
    let y = LodTensor::from_lengths(&column(&[1.1f32; 6], device), [vec![1, 3], second.to_vec()]).unwrap();
    x.sequence_expand(&y, 0).unwrap()
}

#[test]
fn sequence_expand() {
    for (_, device) in devices() {
        let out = expanded(&device, [2, 1, 2, 1]);
        assert_eq!(numbers(&out.data().unwrap()), [1.1, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4]);
        // [[1L, 3L, 3L, 3L]]
        assert_eq!(out.recursive_sequence_lengths().unwrap(), [[1, 3, 3, 3]]);
    }
}

#[test]
fn the_complete_program() {
    for (_, device) in devices() {
        // The guide gives y another second level here; the result is the same.
        let out = expanded(&device, [1, 2, 1, 2]);
        assert_eq!(numbers(&out.data().unwrap()), [1.1, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4]);
        assert_eq!(out.data().unwrap().shape(), [Some(10), Some(1)]);
        assert_eq!(out.recursive_sequence_lengths().unwrap(), [[1, 3, 3, 3]]);
        assert_eq!(out.lod().unwrap(), [[0, 1, 4, 7, 10]]);
    }
}
