//! Functions along rows, against loops over rows and over elements.

#[path = "../common/mod.rs"]
mod common;

mod cells;
mod errors;
mod gradients;
mod linear;
mod moving_averages;
mod reductions;
mod states;
mod steps;

use ragged::{Device, HostTensor, HostValues, Tensor};

/// Pseudorandom numbers between -1 and 1.
fn noise(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32) / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Rows of these lengths, with `width` numbers per element.
fn ragged_rows(seed: u64, lengths: &[usize], width: usize, device: &Device) -> Tensor {
    let n = lengths.iter().sum::<usize>();
    let mut splits = vec![0u32];
    lengths.iter().for_each(|&len| splits.push(splits[splits.len() - 1] + len as u32));
    let values = dense(seed, &[n, width], device);
    Tensor::from_row_splits(&values, &splits).expect("valid")
}

/// A dense tensor.
fn dense(seed: u64, shape: &[usize], device: &Device) -> Tensor {
    let values = HostValues::F32(noise(seed, shape.iter().product()));
    HostTensor::dense(shape, values).to_device(device).expect("valid")
}

/// The bits of a tensor of f32.
fn bits(x: &Tensor) -> Vec<u32> {
    match x.to_host().expect("read").values {
        HostValues::F32(v) => v.into_iter().map(f32::to_bits).collect(),
        HostValues::I32(v) => v.into_iter().map(i32::cast_unsigned).collect(),
        HostValues::F64(v) => v.into_iter().map(|x| x.to_bits() as u32).collect(),
        other => panic!("{}", other.dtype()),
    }
}
