//! Attention layers: the values of Keras, ragged rows, and training.

use ragged::{DType, Device, HostValues, RaggedTensor, Result, Seed, Tensor, grad};
use ragged_nn::{Initializer, MultiHeadAttention, Sgd, Training, Variables};
use serde_json::Value;

use crate::devices::{assert_near, bits, dense, devices, largest, numbers};
use crate::keras::{fixture, floats, list};

const NAMES: [&str; 4] = ["query", "key", "value", "attention_output"];

/// The rows of queries, 3 and 3, or of values, 2 and 1, of a padded batch.
fn rows(padded: &Value, width: usize, lengths: [usize; 2], dtype: DType, device: &Device) -> Result<Tensor> {
    let (padded, mut kept) = (floats(padded), Vec::new());
    let each = padded.len() / 2;
    for (row, len) in lengths.into_iter().enumerate() {
        kept.extend_from_slice(&padded[row * each..][..len * width]);
    }
    let flat = RaggedTensor::dense(kept, &[lengths[0] + lengths[1], width], device)?;
    Tensor::from_row_lengths(&flat.into_erased().cast(dtype)?, lengths)
}

/// The result of a layer with the weights of the fixture, and the gradient of its squares for the kernel of the queries.
fn run(name: &str, layer: &MultiHeadAttention, value_dim: usize, dtype: DType, device: &Device) -> Result<[Tensor; 2]> {
    let fixture = fixture();
    let of = &fixture["layers"];
    let v = Variables::new(device, Seed(7));
    let (q, x) = (rows(&of["queries"], 4, [3, 3], dtype, device)?, rows(&of["values"], 5, [2, 1], dtype, device)?);
    layer.call(&v, &q, &x)?;
    let shapes: [&[usize]; 8] =
        [&[4, 2, 3], &[2, 3], &[5, 2, 3], &[2, 3], &[5, 2, value_dim], &[2, value_dim], &[2, value_dim, 4], &[4]];
    for (k, weights) in list(&of[name]["weights"]).iter().enumerate() {
        let part = ["kernel", "bias"][k % 2];
        let weights = dense(&floats(weights), shapes[k], device)?.cast(dtype)?;
        v.set(&format!("attention/{}/{part}", NAMES[k / 2]), &weights)?;
    }
    let y = layer.call(&v, &q, &x)?;
    let kernel = v.get("attention/query/kernel")?;
    let gradient = grad(
        |kernel| {
            v.set("attention/query/kernel", &kernel[0])?;
            layer.call(&v, &q, &x)?.square()?.reduce_sum(..)
        },
        &kernel,
    )?;
    Ok([y, gradient[0].clone()])
}

/// In f64, the numbers of the fixture, which were computed in f64, but for the scale, and are written as f32. In f32, equal bits
/// on every device; results near those, and gradients whose errors are measured by the largest of them, since their terms
/// cancel: by this measure, those of Keras in f32 are 5.5e-7 and 1.35e-6.
fn has_keras_values(name: &str, layer: &MultiHeadAttention, value_dim: usize) -> Result<()> {
    let fixture = fixture();
    let expected = ["out", "gradient"].map(|part| floats(&fixture["layers"][name][part]));
    let mut all_bits: Option<Vec<u32>> = None;
    for device in devices() {
        for (found, expected) in run(name, layer, value_dim, DType::F64, &device)?.iter().zip(&expected) {
            let HostValues::F64(found) = found.to_host()?.values else { panic!("{name}: {}", found.dtype()) };
            assert_eq!(found.len(), expected.len(), "{name}");
            let largest = largest(expected);
            for (x, y) in found.iter().zip(expected) {
                let y = f64::from(*y);
                assert!((x - y).abs() <= 6e-8 * y.abs() + 1e-8 * largest, "{name} on {device:?}: {x}, not {y}");
            }
        }
        let [y, gradient] = run(name, layer, value_dim, DType::F32, &device)?;
        assert_near(&numbers(&y)?, &expected[0], name);
        for (x, y) in numbers(&gradient)?.iter().zip(&expected[1]) {
            let distance = f64::from(x - y).abs();
            assert!(distance <= 1e-6 * largest(&expected[1]), "{name}, gradient: {x}, not {y}");
        }
        let found = [bits(&y)?, bits(&gradient)?].concat();
        assert_eq!(*all_bits.get_or_insert_with(|| found.clone()), found, "{name} on {device:?}");
    }
    Ok(())
}

#[test]
fn attention_has_keras_values() -> Result<()> {
    let layer = MultiHeadAttention::new("attention", 2, 3);
    has_keras_values("attention", &layer, 3)?;
    has_keras_values("causal_attention", &layer.value_dim(2).causal(), 2)
}

#[test]
fn dense_batches_are_rows_of_one_length() -> Result<()> {
    let device = Device::cpu();
    let numbers: Vec<f32> = (0..24).map(|k| (k * 7 % 11) as f32 / 4.0 - 1.0).collect();
    let x = dense(&numbers, &[2, 4, 3], &device)?;
    let v = Variables::new(&device, Seed(7));
    let layer = MultiHeadAttention::new("attention", 2, 5).without_bias();
    let y = layer.call(&v, &x, &x)?;
    let rows = Tensor::from_tensor(&x, 1)?;
    assert_eq!(y.shape(), [Some(2), Some(4), Some(3)]);
    assert_eq!(bits(&y)?, bits(&layer.call(&v, &rows, &rows)?)?);
    assert_eq!(v.names().len(), 4);
    Ok(())
}

#[test]
fn attention_is_trained() -> Result<()> {
    let mut losses: Option<Vec<u32>> = None;
    for device in devices() {
        let rows = vec![vec![[1.0f32, -1.0], [0.5, 2.0], [0.0, 1.0]], vec![], vec![[2.0, 0.0]]];
        let x = RaggedTensor::from_nested(rows, &device)?.into_erased();
        let layer = MultiHeadAttention::new("attention", 2, 3).kernel_initializer(Initializer::GlorotUniform);
        let mut v = Variables::new(&device, Seed(7));
        let mut step = Training::trace(&mut v, [&x], Sgd::new(0.1), |v, [x]| {
            layer.call(v, x, x)?.subtract(x)?.square()?.reduce_mean(..)
        })?;
        let mut all = Vec::new();
        for _ in 0..30 {
            all.push(step.run(&mut v, [&x])?);
        }
        let values = all.iter().map(numbers).collect::<Result<Vec<_>>>()?.concat();
        assert!(values[29] < values[0] / 2.0, "{values:?}");
        let found: Vec<u32> = values.iter().map(|x| x.to_bits()).collect();
        assert_eq!(*losses.get_or_insert_with(|| found.clone()), found, "{device:?}");
    }
    Ok(())
}
