//! Layers on every device.

use ragged::{Device, RaggedTensor, Result, Seed};
use ragged_nn::{Activation, Dense, Dropout, Initializer, Sgd, Training, Variables};

use crate::devices::{bits, devices, numbers};

#[test]
fn activations_are_those_of_the_operations() -> Result<()> {
    use Activation::{Elu, Gelu, Linear, Relu, Sigmoid, Silu, Softmax, Tanh};
    for device in devices() {
        let x = RaggedTensor::from_nested([vec![-1.5f32, 0.0, 2.0], vec![], vec![0.25]], &device)?;
        let expected = [
            (Linear, x.clone()),
            (Relu, x.relu()?),
            (Sigmoid, x.sigmoid()?),
            (Tanh, x.tanh()?),
            (Gelu, x.gelu()?),
            (Silu, x.silu()?),
            (Elu, x.elu()?),
            (Softmax, x.softmax(-1)?),
        ];
        for (activation, expected) in expected {
            assert_eq!(bits(&activation.call(&x)?)?, bits(&expected)?, "{activation:?}");
        }
    }
    Ok(())
}

#[test]
fn dense_layers_keep_partitions() -> Result<()> {
    let device = Device::cpu();
    let v = Variables::new(&device, Seed(7));
    let layer = Dense::new("out", 1).kernel_initializer(Initializer::Ones);
    let x = RaggedTensor::from_nested(
        [vec![vec![[1.0f32, 2.0]], vec![]], vec![], vec![vec![[3.0, 4.0], [5.0, 6.0]]]],
        &device,
    )?;
    assert_eq!(layer.call(&v, &x)?.to_string(), "<ragged.RaggedTensor [[[[3.0]], []], [], [[[7.0], [11.0]]]]>");
    Ok(())
}

#[test]
fn dropout_keeps_the_expected_share_and_scale() -> Result<()> {
    let device = Device::cpu();
    let mut v = Variables::new(&device, Seed(7));
    let x = RaggedTensor::dense(vec![1f32; 8000], &[40, 10, 20], &device)?.into_erased();
    // The gradient of the scale is the sum of the values that are kept, scaled.
    let mut step = Training::trace(&mut v, [&x], Sgd::new(1.0), |v, [x]| {
        let scale = v.variable("scale", x.dtype(), &[10, 20], &Initializer::Zeros)?;
        Dropout::new("drop", 0.2).call(v, &x.multiply(&scale)?)?.reduce_sum(..)
    })?;
    step.run(&mut v, [&x])?;
    let kept: Vec<f32> = numbers(&v.get("scale")?)?.into_iter().map(|x| -x / 1.25).collect();
    assert!(kept.iter().all(|x| (x - x.round()).abs() < 1e-3), "a scale of 1 / (1 - rate)");
    let share = kept.iter().sum::<f32>() / 8000.0;
    assert!((share - 0.8).abs() < 0.02, "{share}");
    assert!(kept.iter().any(|&x| x < 31.5) && kept.iter().any(|&x| x > 32.5), "positions are independent");
    Ok(())
}
