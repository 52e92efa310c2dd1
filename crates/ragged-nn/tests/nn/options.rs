//! Options out of range, 16-bit variables, and operands of several types.

use ragged::{DType, Device, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{
    Adagrad, Adam, Clip, Clipped, Dense, Initializer, LayerNorm, Optimizer, RmsProp, Sgd, Training, Variables,
    mean_squared_error,
};

use crate::devices::{dense, devices, numbers};
use crate::errors::fails;

fn traced(optimizer: impl Optimizer) -> Result<Training<1>> {
    let device = Device::cpu();
    let x = dense(&[1.0, 2.0], &[2, 1], &device)?;
    Training::trace(&mut Variables::new(&device, Seed(7)), [&x], optimizer, |v, [x]| {
        Dense::new("out", 1).call(v, x)?.reduce_mean(..)
    })
}

#[test]
fn options_out_of_range_are_refused() -> Result<()> {
    let rate = "Training::trace: the learning rate must be finite and at least 0, but is";
    fails(traced(Sgd::new(-0.1)), &format!("{rate} -0.1"));
    fails(traced(Adam::new(f64::NAN)), &format!("{rate} NaN"));
    fails(traced(Adam::new(f64::INFINITY)), &format!("{rate} inf"));
    let of = |name: &str, what: &str| format!("Training::trace: the optimizer {name:?}: {what}");
    fails(traced(Sgd::default().momentum(-1.0)), &of("sgd", "momentum must be at least 0 and at most 1, but is -1"));
    fails(traced(Adam::default().beta_1(1.0)), &of("adam", "beta_1 must be at least 0 and less than 1, but is 1"));
    fails(traced(Adam::default().epsilon(f64::NAN)), &of("adam", "epsilon must be finite and at least 0, but is NaN"));
    fails(traced(RmsProp::default().rho(1.5)), &of("rms_prop", "rho must be at least 0 and at most 1"));
    let sums = Adagrad::default().initial_accumulator_value(-1.0);
    fails(traced(sums), &of("adagrad", "initial_accumulator_value must be finite and at least 0"));
    let clipped = Clipped::new(Sgd::default(), Clip::GlobalNorm(0.0));
    fails(traced(clipped), &of("sgd", "the limit of gradients must be finite and more than 0, but is 0"));
    fails(traced(Clipped::new(Sgd::default().momentum(2.0), Clip::Value(1.0))), &of("sgd", "momentum must be"));
    let mut step = traced(Sgd::default())?;
    fails(step.set_learning_rate(-1.0), "Training::set_learning_rate: the learning rate must be finite");

    let device = Device::cpu();
    let (v, x) = (Variables::new(&device, Seed(7)), dense(&[1.0, 2.0], &[1, 2], &device)?);
    fails(LayerNorm::new("norm").epsilon(-1.0).call(&v, &x), "LayerNorm::call: layer \"norm\": the epsilon must be");
    let uniform = Initializer::Uniform { low: 1.0, high: 0.0 };
    fails(v.variable("w", DType::F32, &[2], &uniform), "Variables::variable: variable \"w\": Uniform");
    let normal = Initializer::TruncatedNormal { mean: 0.0, std: f64::NAN };
    fails(v.variable("w", DType::F32, &[2], &normal), "Variables::variable: variable \"w\": TruncatedNormal");
    Ok(())
}

#[test]
fn variables_of_16_bits_are_trained_by_small_rates() -> Result<()> {
    for device in devices() {
        for dtype in [DType::F16, DType::BF16] {
            let x = dense(&[1.0, 2.0, 3.0], &[3, 1], &device)?.cast(dtype)?;
            let mut v = Variables::new(&device, Seed(7));
            let mut step =
                Training::trace(&mut v, [&x], Clipped::new(Adam::new(0.02), Clip::GlobalNorm(1.0)), |v, [x]| {
                    mean_squared_error(&Dense::new("out", 1).call(v, x)?, &x.multiply(2.0)?)
                })?;
            assert_eq!(step.state().get("adam/velocity/out/kernel")?.dtype(), DType::F32);
            let first = numbers(&step.run(&mut v, [&x])?.cast(DType::F32)?)?[0];
            for _ in 0..100 {
                step.run(&mut v, [&x])?;
            }
            let last = numbers(&step.run(&mut v, [&x])?.cast(DType::F32)?)?[0];
            assert_eq!(v.get("out/kernel")?.dtype(), dtype);
            assert!(last < 0.3 * first, "{dtype} on {device:?}: {first} to {last}");
        }
    }
    Ok(())
}

#[test]
fn the_inputs_of_a_step_have_types_of_their_own() -> Result<()> {
    let device = Device::cpu();
    let x: RaggedTensor<f32> = RaggedTensor::from_nested([[1.0], [2.0]], &device)?;
    let y: RaggedTensor<i32> = RaggedTensor::from_nested([[1], [0]], &device)?;
    let z: Tensor = y.erased().clone();
    let mut v = Variables::new(&device, Seed(7));
    let mut step = Training::trace(&mut v, [&x, &y, &z], Sgd::default(), |v, [x, y, z]| {
        mean_squared_error(&Dense::new("out", 1).call(v, x)?, &y.add(z)?)
    })?;
    step.run(&mut v, [&x, &z, &y])?.to_host()?;
    Ok(())
}

#[test]
fn layers_name_the_device_of_a_tensor_that_is_elsewhere() -> Result<()> {
    let Some(other) = devices().into_iter().find(|device| !device.is_cpu()) else { return Ok(()) };
    let (v, x) = (Variables::new(&Device::cpu(), Seed(7)), dense(&[1.0, 2.0], &[1, 2], &other)?);
    let what = format!(
        "Dense::call: layer \"out\" is given a tensor on device {}, but the variables are on cpu",
        other.name()
    );
    fails(Dense::new("out", 1).call(&v, &x), &what);
    assert!(v.names().is_empty());
    Ok(())
}
