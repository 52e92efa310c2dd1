//! The values of Keras 3.15 on TensorFlow 2.21: `fixtures/make.py` makes them.

use ragged::{Device, HostTensor, HostValues, RaggedTensor, Result, Seed, Tensor, value_and_grad};
use ragged_nn::{
    Activation, Adagrad, Adam, Clip, Clipped, Dense, LayerNorm, Optimizer, RmsProp, Sgd, Training, Variables,
};
use serde_json::Value;

use crate::devices::{assert_near, bits, dense, devices, numbers};

pub fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/keras.json")).expect("JSON")
}

pub fn floats(of: &Value) -> Vec<f32> {
    of.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number") as f32).collect()
}

pub fn list(of: &Value) -> &[Value] {
    of.as_array().expect("a list")
}

const SHAPES: [&[usize]; 2] = [&[3], &[2, 2]];
const NAMES: [&str; 2] = ["a", "b"];

/// Runs the steps of an optimizer: the loss is the sum of products of variables and given gradients.
fn check(name: &str, optimizer: &(impl Optimizer + Clone)) -> Result<()> {
    let fixture = fixture();
    let expected = list(&fixture["optimizers"][name]);
    let mut of_first: Option<Vec<Vec<u32>>> = None;
    for device in devices() {
        let mut v = Variables::new(&device, Seed(0));
        for k in 0..2 {
            let zeros = ragged_nn::Initializer::Zeros;
            v.variable(NAMES[k], ragged::DType::F32, SHAPES[k], &zeros)?;
            v.set(NAMES[k], &dense(&floats(&fixture["initial"][k]), SHAPES[k], &device)?)?;
        }
        let gradients = |step: usize| -> Result<[Tensor; 2]> {
            let of = |k: usize| dense(&floats(&fixture["gradients"][step][k]), SHAPES[k], &device);
            Ok([of(0)?, of(1)?])
        };
        let [a, b] = gradients(0)?;
        let mut step = Training::trace(&mut v, [&a, &b], optimizer.clone(), |v, gradients| {
            let part = |k: usize| v.get(NAMES[k])?.multiply(gradients[k])?.reduce_sum(..);
            part(0)?.add(&part(1)?)
        })?;
        let mut all_bits = Vec::new();
        for (k, expected) in expected.iter().enumerate() {
            step.set_learning_rate(fixture["rates"][k].as_f64().expect("a number"))?;
            let [a, b] = gradients(k)?;
            step.run(&mut v, [&a, &b])?;
            for (name_of, expected) in NAMES.into_iter().zip(list(expected)) {
                let found = v.get(name_of)?;
                assert_near(&numbers(&found)?, &floats(expected), &format!("{name}, step {k}, {name_of}, {device:?}"));
                all_bits.push(bits(&found)?);
            }
        }
        let first = of_first.get_or_insert_with(|| all_bits.clone());
        assert_eq!(*first, all_bits, "{name} on {device:?}");
    }
    Ok(())
}

#[test]
fn sgd_has_keras_values() -> Result<()> {
    let sgd = Sgd::new(0.0);
    check("sgd", &sgd)?;
    check("sgd_momentum", &sgd.clone().momentum(0.9))?;
    check("sgd_nesterov", &sgd.momentum(0.9).nesterov(true))
}

#[test]
fn rms_prop_has_keras_values() -> Result<()> {
    let rms_prop = RmsProp::new(0.0);
    check("rms_prop", &rms_prop)?;
    check("rms_prop_momentum", &rms_prop.clone().rho(0.8).momentum(0.5).epsilon(1e-5))?;
    check("rms_prop_centered", &rms_prop.clone().centered(true))?;
    check("rms_prop_centered_momentum", &rms_prop.centered(true).momentum(0.5))
}

#[test]
fn adagrad_and_adam_have_keras_values() -> Result<()> {
    check("adagrad", &Adagrad::new(0.0))?;
    check("adagrad_options", &Adagrad::new(0.0).initial_accumulator_value(0.5).epsilon(1e-3))?;
    check("adam", &Adam::new(0.0))?;
    check("adam_options", &Adam::new(0.0).beta_1(0.8).beta_2(0.99).epsilon(1e-4))
}

#[test]
fn clipped_gradients_have_keras_values() -> Result<()> {
    check("sgd_clip_value", &Clipped::new(Sgd::new(0.0), Clip::Value(0.5)))?;
    check("sgd_clip_norm", &Clipped::new(Sgd::new(0.0), Clip::Norm(1.5)))?;
    check("sgd_clip_global_norm", &Clipped::new(Sgd::new(0.0), Clip::GlobalNorm(2.0)))?;
    check("adam_clip_global_norm", &Clipped::new(Adam::new(0.0), Clip::GlobalNorm(2.0)))
}

type Loss = fn(&Tensor, &Tensor) -> Result<Tensor>;

const LOSSES: [(&str, Loss); 5] = [
    ("binary_cross_entropy", |x, y| ragged_nn::binary_cross_entropy_with_logits(x, y)),
    ("mean_squared_error", |x, y| ragged_nn::mean_squared_error(x, y)),
    ("categorical_cross_entropy", |x, y| ragged_nn::categorical_cross_entropy_with_logits(x, y)),
    ("sparse_categorical_cross_entropy", |x, y| ragged_nn::sparse_categorical_cross_entropy_with_logits(x, y)),
    ("binary_cross_entropy_of_probabilities", |x, y| ragged_nn::binary_cross_entropy(x, y)),
];

/// The predictions as they are, and as the rows of a ragged tensor with an empty row.
fn forms(predictions: &[f32], labels: &[f32], device: &Device) -> Result<Vec<[Tensor; 2]>> {
    let x = dense(predictions, &[4, 3], device)?;
    let y = match labels.len() {
        4 => {
            let classes = labels.iter().map(|&y| y as i64).collect();
            HostTensor::dense(&[4], HostValues::I64(classes)).to_device(device)?
        }
        _ => dense(labels, &[4, 3], device)?,
    };
    let ragged = |x: &Tensor| Tensor::from_row_lengths(x, &[1i32, 0, 3][..]);
    Ok(vec![[ragged(&x)?, ragged(&y)?], [x, y]])
}

#[test]
fn losses_and_their_gradients_have_keras_values() -> Result<()> {
    let fixture = fixture();
    for (name, loss) in LOSSES {
        let of = &fixture["losses"][name];
        for device in devices() {
            for [x, y] in forms(&floats(&of["predictions"]), &floats(&of["labels"]), &device)? {
                let (value, gradients) = value_and_grad(|x| loss(&x[0], &y), [&x])?;
                assert_near(&numbers(&value)?, &[of["loss"].as_f64().expect("a number") as f32], name);
                assert_near(&numbers(&gradients[0])?, &floats(&of["gradient"]), name);
            }
        }
    }
    Ok(())
}

#[test]
fn layers_have_keras_values() -> Result<()> {
    let fixture = fixture();
    let of = &fixture["layers"];
    for device in devices() {
        let x = dense(&floats(&of["x"]), &[4, 3], &device)?;
        let rows = Tensor::from_row_lengths(&x, &[1i32, 0, 3][..])?;
        let v = Variables::new(&device, Seed(0));
        let (norm, hidden) = (LayerNorm::new("norm"), Dense::new("dense", 2).activation(Activation::Tanh));
        norm.call(&v, &x)?;
        hidden.call(&v, &x)?;
        for (name, key, shape) in [
            ("norm/gamma", "gamma", &[3][..]),
            ("norm/beta", "beta", &[3]),
            ("dense/kernel", "kernel", &[3, 2]),
            ("dense/bias", "bias", &[2]),
        ] {
            v.set(name, &dense(&floats(&of[key]), shape, &device)?)?;
        }
        for x in [x, rows] {
            assert_near(&numbers(&norm.call(&v, &x)?)?, &floats(&of["layer_norm"]), "layer_norm");
            assert_near(&numbers(&hidden.call(&v, &x)?)?, &floats(&of["dense"]), "dense");
        }
    }
    Ok(())
}

#[test]
fn empty_rows_contribute_nothing_to_a_loss() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1.0f32], vec![], vec![2.0, 3.0]], &device)?;
    let none = RaggedTensor::from_nested([Vec::<f32>::new(), vec![]], &device)?;
    let y = x.zeros_like()?;
    assert_near(&numbers(&ragged_nn::mean_squared_error(&x, &y)?)?, &[14.0 / 3.0], "mean");
    assert!(numbers(&ragged_nn::mean_squared_error(&none, &none)?)?[0].is_nan());
    Ok(())
}

/// The loss of probabilities against its formula on the host; values at and beyond the bounds are clipped, without a gradient.
#[test]
fn binary_cross_entropy_clips_probabilities() -> Result<()> {
    let (p, y) = ([0.2f32, 0.9, -3.0, 0.0, 1.0, 7.0], [1.0f32, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let (low, high) = (1e-7f32, (1.0 - 1e-7) as f32);
    let terms = p.iter().zip(y).map(|(p, y)| {
        let p = f64::from(p.clamp(low, high));
        let y = f64::from(y);
        -(y * p.ln() + (1.0 - y) * (1.0 - p).ln())
    });
    let expected = (terms.sum::<f64>() / 6.0) as f32;
    let mut of_first = None;
    for device in devices() {
        let (x, y) = (dense(&p, &[6], &device)?, dense(&y, &[6], &device)?);
        let (value, gradients) = value_and_grad(|x| ragged_nn::binary_cross_entropy(&x[0], &y), [&x])?;
        assert_near(&numbers(&value)?, &[expected], "value");
        let gradient = numbers(&gradients[0])?;
        assert_near(&gradient[..2], &[-1.0 / 0.2 / 6.0, 1.0 / 0.1 / 6.0], "gradient");
        assert!(gradient[2] == 0.0 && gradient[5] == 0.0, "{gradient:?}");
        let found = (bits(&value)?, bits(&gradients[0])?);
        assert_eq!(*of_first.get_or_insert_with(|| found.clone()), found, "{device:?}");
    }
    Ok(())
}
