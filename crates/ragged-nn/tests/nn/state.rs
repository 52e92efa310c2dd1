//! State of training steps in files, metrics, and changes that are refused.

use ragged::{DType, Device, RaggedTensor, Result, SavedModel, Seed, Tensor};
use ragged_nn::{
    Adam, Dense, Dropout, Initializer, Optimizer, Sgd, Slot, Training, Update, Variables, mean_squared_error,
};

use crate::devices::{bits, dense, devices, numbers, own_devices};
use crate::errors::fails;

fn cpu() -> Device {
    Device::cpu()
}

fn variables() -> Variables {
    Variables::new(&cpu(), Seed(7))
}

fn points(device: &Device) -> Result<Tensor> {
    dense(&[1.0, 2.0, 3.0, 4.0], &[2, 2], device)
}

fn loss(v: &Variables, x: &Tensor) -> Result<Tensor> {
    Dense::new("out", 1).call(v, x)?.square()?.reduce_mean(..)
}

#[test]
fn a_step_of_fewer_variables_takes_its_part_of_a_state() -> Result<()> {
    let x = points(&cpu())?;
    let mut v = variables();
    let mut both = Training::trace(&mut v, [&x], Adam::default(), |v, [x]| loss(v, x))?;
    both.run(&mut v, [&x])?;
    let model = both.state().add_to(v.add_to(SavedModel::new()));
    v.set_trainable("out/kernel", false)?;
    let mut bias = Training::trace(&mut v, [&x], Adam::default(), |v, [x]| loss(v, x))?;
    let names = bias.state().names();
    bias.state().restore(&model)?;
    assert_eq!(bias.state().names(), names, "slots of other variables stay in the file");
    let momentum = bias.state().get("adam/momentum/out/bias")?;
    assert_eq!(bits(&momentum)?, bits(&both.state().get("adam/momentum/out/bias")?)?);
    bias.run(&mut v, [&x])?.to_host()?;
    fails(
        bias.state().variable("more", DType::F32, &[], &Initializer::Zeros),
        "Variables::variable: the state of a training step has no tensor \"more\"",
    );
    bias.run(&mut v, [&x])?.to_host()?;
    Ok(())
}

#[test]
fn a_file_holds_the_states_of_two_steps() -> Result<()> {
    let x = points(&cpu())?;
    let trained = |counts: [usize; 2], file: Option<&SavedModel>| -> Result<SavedModel> {
        let mut v = variables();
        let critic = |v: &Variables, [x]: [&Tensor; 1]| Dense::new("critic", 1).call(v, x)?.square()?.reduce_mean(..);
        let mut steps = [
            Training::trace(&mut v, [&x], Adam::new(0.1), |v, [x]| loss(v, x))?.named("model"),
            Training::trace(&mut v, [&x], Adam::new(0.2), critic)?.named("critic"),
        ];
        if let Some(file) = file {
            v.restore(file)?;
            steps[0].state().restore(file)?;
            steps[1].state().restore(file)?;
        }
        for (step, count) in steps.iter_mut().zip(counts) {
            for _ in 0..count {
                step.run(&mut v, [&x])?;
            }
        }
        let model = steps.iter().fold(v.add_to(SavedModel::new()), |model, step| step.state().add_to(model));
        SavedModel::from_bytes(model.to_bytes()?)
    };
    let half = trained([1, 3], None)?;
    assert_eq!(trained([2, 5], None)?.to_bytes()?, trained([1, 2], Some(&half))?.to_bytes()?);
    Ok(())
}

#[test]
fn the_learning_rate_is_part_of_the_state() -> Result<()> {
    let x = points(&cpu())?;
    let mut v = variables();
    let mut step = Training::trace(&mut v, [&x], Sgd::new(0.25), |v, [x]| loss(v, x))?;
    step.set_learning_rate(0.125)?;
    let model = step.state().add_to(v.add_to(SavedModel::new()));
    step.run(&mut v, [&x])?;
    let expected = bits(&v.get("out/kernel")?)?;
    let mut other = variables();
    let mut again = Training::trace(&mut other, [&x], Sgd::new(0.5), |v, [x]| loss(v, x))?;
    other.restore(&model)?;
    again.state().restore(&model)?;
    assert_eq!(numbers(&again.state().get("learning_rate")?)?, [0.125]);
    again.run(&mut other, [&x])?;
    assert_eq!(bits(&other.get("out/kernel")?)?, expected);
    Ok(())
}

#[test]
fn the_function_of_a_step_changes_no_variable() -> Result<()> {
    let x = points(&cpu())?;
    let mut v = variables();
    loss(&v, &x)?;
    let before = v.get("out/bias")?.to_string();
    let model = v.add_to(SavedModel::new());
    let within = |f: &dyn Fn(&Variables) -> Result<()>| {
        let mut v = variables();
        v.restore(&model)?;
        Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
            let loss = loss(v, x)?;
            f(v).map(|()| loss)
        })
    };
    let what = "variable \"out/bias\" is changed within the function of a training step";
    fails(within(&|v| v.set("out/bias", &v.get("out/bias")?.add(1.0)?)), &format!("Variables::set: {what}"));
    fails(within(&|v| v.set_trainable("out/bias", false)), &format!("Variables::set_trainable: {what}"));
    fails(within(&|v| v.restore(&model)), "Variables::restore: the variables are changed within the function");
    Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| loss(v, x))?;
    assert_eq!(v.get("out/bias")?.to_string(), before);
    Ok(())
}

#[test]
fn a_misspelt_layer_of_a_restored_model_is_an_error() -> Result<()> {
    let x = points(&cpu())?;
    let trained = variables();
    loss(&trained, &x)?;
    let v = variables();
    v.restore(&trained.add_to(SavedModel::new()))?;
    let what =
        "Dense::call: the model that was restored has no variable \"uot/kernel\"; its variables: out/bias, out/kernel";
    fails(Dense::new("uot", 1).call(&v, &x), what);
    loss(&v, &x)?;
    v.allow_new();
    Dense::new("uot", 1).call(&v, &x)?;
    Ok(())
}

#[test]
fn a_trace_that_fails_leaves_no_variable_behind() -> Result<()> {
    let x = points(&cpu())?;
    let mut v = variables();
    v.variable("before", DType::F32, &[], &Initializer::Ones)?;
    let failed = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| Dense::new("out", 1).call(v, x));
    fails(failed, "Training::trace: the loss must be one float");
    assert_eq!(v.names(), ["before"]);
    // Another shape of the same name.
    Dense::new("out", 3).call(&v, &x)?;
    Ok(())
}

#[test]
fn metrics_are_those_of_the_batch_before_the_change() -> Result<()> {
    for device in devices() {
        let x = points(&device)?;
        let mut v = Variables::new(&device, Seed(7));
        let mut step = Training::trace(&mut v, [&x], Sgd::new(0.1), |v, [x]| {
            let y = Dense::new("out", 1).call(v, x)?;
            Ok((
                mean_squared_error(&y, &y.zeros_like()?)?,
                [y.clone(), y.greater(0.0)?.cast(DType::I32)?.reduce_sum(..)?],
            ))
        })?;
        for _ in 0..3 {
            let expected = Dense::new("out", 1).call(&v, &x)?;
            let (expected, loss) = (bits(&expected)?, bits(&expected.square()?.reduce_mean(..)?)?);
            let (found, metrics) = step.run_with_metrics(&mut v, [&x])?;
            assert_eq!((bits(&metrics[0])?, bits(&found)?), (expected, loss), "{device:?}");
            assert_eq!((metrics.len(), metrics[1].dtype()), (2, DType::I32));
        }
    }
    Ok(())
}

/// Records the names of the variables that it updates, and has two slots of one name if asked.
struct Named<'a> {
    names: &'a std::cell::RefCell<Vec<String>>,
    slots: usize,
}

impl Optimizer for Named<'_> {
    fn name(&self) -> &'static str {
        "named"
    }
    fn learning_rate(&self) -> f64 {
        0.1
    }
    fn slots(&self) -> Vec<Slot> {
        vec![Slot::new("same", 0.0); self.slots]
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        self.names.borrow_mut().push(of.name.to_owned());
        Ok(vec![of.variable.clone()])
    }
}

#[test]
fn optimizers_see_the_names_of_variables() -> Result<()> {
    let x = points(&cpu())?;
    let names = std::cell::RefCell::default();
    Training::trace(&mut variables(), [&x], Named { names: &names, slots: 0 }, |v, [x]| loss(v, x))?;
    assert_eq!(*names.borrow(), ["out/bias", "out/kernel"]);
    fails(
        Training::trace(&mut variables(), [&x], Named { names: &names, slots: 2 }, |v, [x]| loss(v, x)),
        "Training::trace: the optimizer \"named\" has two slots of the name \"same\"",
    );
    Ok(())
}

#[test]
fn variables_of_integers_are_not_trained() -> Result<()> {
    let x = points(&cpu())?;
    let mut v = variables();
    let mut step = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
        let scale = v.variable("scale", DType::I32, &[], &Initializer::Ones)?;
        loss(v, x)?.multiply(&scale.cast(DType::F32)?)
    })?;
    assert_eq!(step.state().names(), ["step", "learning_rate"]);
    step.run(&mut v, [&x])?;
    assert_eq!(v.get("scale")?.to_string(), "tensor(1, shape=(), dtype=i32)");
    Ok(())
}

#[test]
fn calls_of_one_dropout_layer_drop_other_values() -> Result<()> {
    let x = RaggedTensor::dense(vec![1f32; 64], &[64, 1], &cpu())?.into_erased();
    let mut v = variables();
    let mut step = Training::trace(&mut v, [&x], Sgd::new(0.0), |v, [x]| {
        let (drop, scale) = (Dropout::new("drop", 0.5), v.variable("scale", DType::F32, &[], &Initializer::Ones)?);
        let (a, b) = (drop.call(v, x)?, drop.call(v, x)?);
        Ok((a.add(&b)?.reduce_mean(..)?.multiply(&scale)?, [a, b]))
    })?;
    let (_, masks) = step.run_with_metrics(&mut v, [&x])?;
    assert_ne!(bits(&masks[0])?, bits(&masks[1])?);
    Ok(())
}

#[test]
fn steps_of_sizes_that_the_device_knows_keep_no_graph() -> Result<()> {
    for device in own_devices() {
        let all = dense(&[1.0, 2.0, -3.0, 4.0, 5.0, -6.0], &[6, 1], &device)?;
        let batch = || all.boolean_mask(&all.slice(ragged::s![.., 0])?.greater(0.0)?);
        let mut v = Variables::new(&device, Seed(7));
        let mut step = Training::trace(&mut v, [&batch()?], Sgd::new(0.01), |v, [x]| loss(v, x))?;
        let mut steps = Vec::new();
        for _ in 0..12 {
            let before = device.stats();
            step.run(&mut v, [&batch()?])?;
            v.get("out/kernel")?.eval()?;
            let of = device.stats() - before;
            steps.push((of.dispatches, of.plans));
        }
        assert!(steps[11].0 <= steps[2].0 && steps[11].1 == 0, "{device:?}: dispatches and plans {steps:?}");
    }
    Ok(())
}
