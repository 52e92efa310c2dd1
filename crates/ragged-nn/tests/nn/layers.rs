//! Layers on every device.

use ragged::{DType, Device, RaggedTensor, Result, Seed, Tensor, s};
use ragged_nn::{Activation, Dense, Dropout, Gru, Initializer, LayerNorm, Lstm, Recurrent, Sgd, Training, Variables};

use crate::devices::{bits, dense, devices, numbers};

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

/// 16-bit floats hold neither the square of 500, nor 1 - 1e-7, nor the sum of many squares: layers and losses compute in f32.
#[test]
fn layers_and_losses_of_16_bit_floats_compute_in_f32() -> Result<()> {
    let mut first = None;
    for device in devices() {
        for dtype in [DType::F16, DType::BF16] {
            let v = Variables::new(&device, Seed(7));
            let of = |x: &RaggedTensor<f32>| x.erased().cast(dtype);
            let far = of(&RaggedTensor::from_nested([vec![[0.0f32, 1000.0]], vec![], vec![[3.0, 3.0]]], &device)?)?;
            let norm = LayerNorm::new("norm").epsilon(1e-12).call(&v, &far)?;
            assert_eq!(norm.dtype(), dtype);
            let want = "<ragged.RaggedTensor [[[-1.0, 1.0]], [], [[0.0, 0.0]]]>";
            assert_eq!(norm.cast(DType::F32)?.to_string(), want, "{device:?}");
            // In f32, 1 - 1e-7 is rounded to 1 - EPSILON.
            let certain = of(&RaggedTensor::from_nested([1.0f32, 0.0, 1.0], &device)?)?;
            let labels = RaggedTensor::from_nested([1, 0, 0], &device)?;
            let found = [
                ragged_nn::binary_cross_entropy(&certain, &labels)?,
                ragged_nn::mean_squared_error(
                    &of(&RaggedTensor::from_nested([300.0f32, 0.0], &device)?)?,
                    &labels.slice(s![1..])?,
                )?,
            ];
            let numbers = found.iter().map(|loss| Ok(numbers(loss)?[0])).collect::<Result<Vec<f32>>>()?;
            assert!(
                (numbers[0] + f32::EPSILON.ln() / 3.0).abs() < 1e-3 && numbers[1] == 45000.0,
                "{device:?}: {numbers:?}"
            );
        }
        // Recurrent layers: near those of f32 with the same variables, and with the same bits everywhere.
        let rows = [vec![[0.5f32, -1.0], [2.0, 0.25]], vec![], vec![[1.0, 1.0]]];
        let x = RaggedTensor::from_nested(rows, &device)?.into_erased();
        let (narrow, wide) = (Variables::new(&device, Seed(7)), Variables::new(&device, Seed(7)));
        let (lstm, gru) = (Lstm::new("lstm", 3), Gru::new("gru", 3));
        let of = |v: &Variables, dtype: DType| -> Result<[Tensor; 2]> {
            let x = x.cast(dtype)?;
            Ok([lstm.sequences(v, &x)?, gru.call(v, &x)?])
        };
        let found = of(&narrow, DType::F16)?;
        assert!(found.iter().all(|y| y.dtype() == DType::F16), "{device:?}");
        let wanted = of(&wide, DType::F32)?;
        for (found, wanted) in found.iter().zip(&wanted) {
            let (found, wanted) = (numbers(&found.cast(DType::F32)?)?, numbers(wanted)?);
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 2e-3), "{device:?}: {found:?} {wanted:?}");
        }
        let found = found.iter().map(|y| bits(&y.cast(DType::F32)?)).collect::<Result<Vec<_>>>()?;
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "{device:?}");
        let state = dense(&[0.0; 3], &[1, 3], &device)?;
        let error = gru.scan(&narrow, &x.cast(DType::F16)?, &[state]).expect_err("another dtype").to_string();
        assert!(error.starts_with("Gru::scan: layer \"gru\" is given f16, but a state of f32"), "{error}");
    }
    Ok(())
}

/// A class of probability 0 contributes nothing, whatever its logit.
#[test]
fn classes_that_cannot_be_have_no_entropy() -> Result<()> {
    for device in devices() {
        let logits = RaggedTensor::from_nested([[0.0, f32::NEG_INFINITY]], &device)?;
        let labels = RaggedTensor::from_nested([[1, 0]], &device)?;
        let loss = |x: &[Tensor]| ragged_nn::categorical_cross_entropy_with_logits(&x[0], &labels);
        let (loss, gradient) = ragged::value_and_grad(loss, [&logits])?;
        assert_eq!((numbers(&loss)?, numbers(&gradient[0])?), (vec![0.0], vec![0.0, 0.0]), "{device:?}");
        let sparse = ragged_nn::sparse_categorical_cross_entropy_with_logits(
            &logits,
            &RaggedTensor::from_nested([0], &device)?,
        )?;
        assert_eq!(numbers(&sparse)?, [0.0], "{device:?}");
    }
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
