//! Matrix products: two large matrices, two long ones, a ragged batch of small ones, and attention within ragged sequences.

use ragged::{Device, HostTensor, HostValues, RaggedTensor, Result, Tensor};

use super::splits;
use crate::jobs::cases::attention_job;
use crate::rows::{flat_values, splitmix64};

/// Rows and columns of the large matrices.
const SIZE: usize = 1024;

/// Terms of the product of long matrices.
const LONG: usize = 1_000_000;

/// Columns of the long matrices, terms of the small products, and features of the sequences.
const FEATURES: usize = 64;

/// Pseudorandom lengths of `least` to `most`.
fn lengths(seed: u64, count: u64, least: u64, most: u64) -> Vec<u32> {
    (0..count).map(|k| (least + splitmix64(seed + k) % (most - least + 1)) as u32).collect()
}

/// A tensor of shape `[lengths, (length), FEATURES]`.
fn sequences(lengths: &[u32], device: &Device) -> Result<Tensor> {
    let splits = splits(lengths.iter().copied());
    let rows = *splits.last().expect("bug: no splits") as usize;
    let x = HostTensor {
        nested_row_splits: vec![splits],
        uniform_row_lengths: vec![None],
        inner_shape: vec![rows, FEATURES],
        values: HostValues::F32(flat_values(rows * FEATURES)),
    };
    x.to_device(device)
}

/// Uploads the factors of an operation and returns a function that multiplies them. The sequences of attention have these lengths,
/// if there are any.
pub(super) fn run(
    name: &str,
    lengths_of_rows: Option<&[u32]>,
    device: &Device,
) -> Result<Box<dyn Fn() -> Result<Vec<Tensor>>>> {
    if name == "product_long" {
        let matrix = || HostTensor::dense(&[LONG, FEATURES], HostValues::F32(flat_values(LONG * FEATURES)));
        let (left, right) = (matrix().to_device(device)?, matrix().to_device(device)?);
        ragged::eval([&left, &right])?;
        return Ok(Box::new(move || Ok(vec![left.t().matmul(&right)?])));
    }
    let values = flat_values(SIZE * SIZE);
    let values = match name {
        "product_f64" => HostValues::F64(values.into_iter().map(f64::from).collect()),
        _ => HostValues::F32(values),
    };
    let large = HostTensor::dense(&[SIZE, SIZE], values).to_device(device)?;
    large.eval()?;
    Ok(match name {
        "product_f32" | "product_f64" => Box::new(move || Ok(vec![large.matmul(&large)?])),
        "product_transposed" => Box::new(move || Ok(vec![large.t().matmul(large.t())?])),
        "products_ragged" => {
            let left = sequences(&lengths(0x9A0D, 2000, 10, 100), device)?;
            let right = sequences(&lengths(0x51DE, 2000, 10, 100), device)?;
            ragged::eval([&left, &right])?;
            Box::new(move || Ok(vec![left.matmul(right.t())?]))
        }
        _ => {
            let lengths = lengths_of_rows.map_or_else(|| lengths(0xA77E, 32, 10, 500), <[u32]>::to_vec);
            let tokens = || -> Result<RaggedTensor<f32>> { sequences(&lengths, device)?.try_into() };
            let (queries, keys, values) = (tokens()?, tokens()?, tokens()?);
            ragged::eval([queries.erased(), keys.erased(), values.erased()])?;
            match name {
                "attention" => {
                    Box::new(move || Ok(vec![attention_job::attention(&queries, &keys, &values)?.into_erased()]))
                }
                _ => Box::new(move || Ok(vec![queries.scaled_dot_product_attention(&keys, &values)?.into_erased()])),
            }
        }
    })
}
