//! Bad input: errors that begin with the function, and name the variable or the layer.

use ragged::{DType, Device, RaggedTensor, Result, SavedModel, Seed, Tensor};
use ragged_nn::{
    Activation, Dense, Dropout, Embedding, Initializer, LayerNorm, MultiHeadAttention, Optimizer, Sgd, Slot, Training,
    Update, Variables,
};

use crate::devices::{dense, devices};

/// Asserts that there is an error of that beginning, at a line of these tests.
#[track_caller]
pub fn fails<T>(result: Result<T>, beginning: &str) {
    let Err(error) = result else { panic!("no error: {beginning}") };
    let message = error.to_string();
    assert!(message.starts_with(beginning), "{message}\ninstead of\n{beginning}");
    let location = error.location().expect("an error with a line");
    assert!(location.file().contains("tests/nn/"), "{location}: {message}");
}

fn cpu() -> Device {
    Device::cpu()
}

fn variables() -> Variables {
    Variables::new(&cpu(), Seed(7))
}

fn points() -> Result<Tensor> {
    dense(&[1.0, 2.0, 3.0, 4.0], &[2, 2], &cpu())
}

#[test]
fn variables_name_themselves() -> Result<()> {
    let v = variables();
    fails(v.get("x"), "Variables::get: there is no variable \"x\"; the variables: none");
    v.variable("w", DType::F32, &[2, 3], &Initializer::Zeros)?;
    v.variable("n", DType::I32, &[2], &Initializer::Zeros)?;
    fails(v.get("x"), "Variables::get: there is no variable \"x\"; the variables: w, n");
    fails(
        v.variable("w", DType::F32, &[2], &Initializer::Zeros),
        "Variables::variable: variable \"w\" is an f32 of shape [2, 3], but is asked for as an f32 of shape [2]",
    );
    fails(
        v.variable("w", DType::F64, &[2, 3], &Initializer::Zeros),
        "Variables::variable: variable \"w\" is an f32 of shape [2, 3], but is asked for as an f64 of shape [2, 3]",
    );
    fails(
        v.variable("m", DType::I32, &[2], &Initializer::GlorotUniform),
        "Variables::variable: variable \"m\": GlorotUniform gives no values of i32",
    );
    fails(
        v.variable("m", DType::F32, &[1 << 20, 1 << 20], &Initializer::Zeros),
        "Variables::variable: variable \"m\" of shape [1048576, 1048576] has more than",
    );
    fails(
        v.set("w", &points()?),
        "Variables::set: variable \"w\" is an f32 of shape [2, 3], but the value is an f32 of shape [2, 2]",
    );
    fails(v.set("x", &points()?), "Variables::set: there is no variable \"x\"");
    fails(v.is_trainable("x"), "Variables::is_trainable: there is no variable \"x\"");
    fails(v.set_trainable("x", true), "Variables::set_trainable: there is no variable \"x\"");
    fails(v.set_trainable("n", true), "Variables::set_trainable: variable \"n\" holds i32, which has no gradient");
    if let Some(other) = devices().into_iter().find(|device| !device.is_cpu()) {
        let value = dense(&[0.0; 6], &[2, 3], &other)?;
        fails(v.set("w", &value), "Variables::set: variable \"w\" is on device");
    }
    Ok(())
}

#[test]
fn files_that_do_not_fit_are_refused() -> Result<()> {
    let v = variables();
    v.variable("w", DType::F32, &[2], &Initializer::Ones)?;
    fails(v.restore(&SavedModel::new()), "Variables::restore: the model has no variable \"w\"; its variables: none");
    let other = SavedModel::new().with_tensor("variables/w", &points()?);
    fails(
        v.restore(&other),
        "Variables::restore: variable \"w\" is an f32 of shape [2], but an f32 of shape [2, 2] in the model",
    );
    let rows = RaggedTensor::from_nested([vec![1.0f32], vec![]], &cpu())?;
    fails(
        variables().restore(&SavedModel::new().with_tensor("variables/r", &rows)),
        "Variables::restore: variable \"r\" must be dense, but is an f32 of shape [2, None] and ragged rank 1",
    );
    fails(v.load("no/such/file"), "SavedModel::load: no/such/file cannot be read");
    fails(v.save("no/such/folder/file"), "SavedModel::save: no/such/folder/file cannot be written");
    assert_eq!(v.get("w")?.to_string(), "tensor([1.0, 1.0], shape=(2,), dtype=f32)", "it stays as it was");
    Ok(())
}

#[test]
fn layers_name_themselves() -> Result<()> {
    let v = variables();
    let rows = RaggedTensor::from_nested([vec![1.0f32], vec![]], &cpu())?;
    let ids = RaggedTensor::from_nested([[1i32, 2]], &cpu())?;
    fails(
        Dense::new("out", 1).call(&v, &rows),
        "Dense::call: layer \"out\" takes a tensor of vectors, but is given an f32 of shape [2, None] and ragged rank 1",
    );
    fails(Dense::new("out", 1).call(&v, &ids), "Dense::call: layer \"out\" takes floats, but is given i32");
    fails(LayerNorm::new("norm").call(&v, &ids), "LayerNorm::call: layer \"norm\" takes floats, but is given i32");
    fails(LayerNorm::new("norm").call(&v, &rows), "LayerNorm::call: layer \"norm\" takes a tensor of vectors");
    fails(
        Embedding::new("words", 9, 2).call(&v, &rows),
        "Embedding::call: layer \"words\" takes integers, but is given f32",
    );
    fails(
        Dropout::new("drop", 1.0).call(&v, &rows),
        "Dropout::call: layer \"drop\": the rate must be at least 0 and less than 1, but is 1",
    );
    fails(Dropout::new("drop", 0.5).call(&v, &ids), "Dropout::call: layer \"drop\" takes floats, but is given i32");
    fails(
        Dropout::new("drop", 0.5).call(&v, &rows.reduce_sum(..)?),
        "Dropout::call: layer \"drop\" takes a tensor of rank 1 or more",
    );
    let text = RaggedTensor::from_nested([["a"]], &cpu())?;
    fails(
        Dense::new("out", 1).call(&v, &text),
        "Dense::call: layer \"out\" takes floats, but is given str; hash strings to ids (`to_hash_bucket_fast`), and look the \
         ids up by an `Embedding`",
    );
    let one = MultiHeadAttention::new("heads", 1, 2);
    fails(one.call(&v, &rows, &rows), "MultiHeadAttention::call: layer \"heads\" takes a tensor of vectors");
    fails(one.call(&v, &ids, &ids), "MultiHeadAttention::call: layer \"heads\" takes floats, but is given i32");
    fails(
        MultiHeadAttention::new("heads", 0, 2).call(&v, &points()?, &points()?),
        "MultiHeadAttention::call: layer \"heads\" has 0 heads of keys of 2 and values of 2 numbers; all must be at least 1",
    );
    fails(Activation::Sigmoid.call(&ids), "sigmoid is not defined for i32");
    Dense::new("out", 1).call(&v, &points()?)?;
    let wide = dense(&[0.0; 3], &[1, 3], &cpu())?;
    fails(
        Dense::new("out", 1).call(&v, &wide),
        "Dense::call: variable \"out/kernel\" is an f32 of shape [2, 1], but is asked for as an f32 of shape [3, 1]",
    );
    let words = Embedding::new("words", 9, 2);
    let beyond = RaggedTensor::from_nested([9], &cpu())?;
    fails(words.call(&v, &beyond)?.to_host(), "embedding_lookup: an index is out of range: 9 for size 9");
    Ok(())
}

#[test]
fn losses_compare_shapes() -> Result<()> {
    let (x, y) = (points()?, dense(&[0.0; 2], &[2], &cpu())?);
    let classes = RaggedTensor::from_nested([0, 5], &cpu())?;
    let whole = x.cast(DType::I32)?;
    let text = RaggedTensor::from_nested([["a", "b"], ["c", "d"]], &cpu())?;
    fails(
        ragged_nn::binary_cross_entropy_with_logits(&x, &y),
        "binary_cross_entropy_with_logits: the predictions are an f32 of shape [2, 2], but the labels are an f32 of shape [2]",
    );
    fails(
        ragged_nn::binary_cross_entropy(&whole, &x),
        "binary_cross_entropy: the predictions must be floats, but are i32",
    );
    fails(ragged_nn::mean_squared_error(&x, &y), "mean_squared_error: the predictions are an f32 of shape [2, 2]");
    fails(ragged_nn::mean_squared_error(&x, &text), "mean_squared_error: the labels are strings");
    // Labels without the last dimension.
    let column = dense(&[0.5; 2], &[2, 1], &cpu())?;
    fails(
        ragged_nn::binary_cross_entropy_with_logits(&column, &y),
        "binary_cross_entropy_with_logits: the predictions are an f32 of shape [2, 1], but the labels are an f32 of shape [2]; \
         their shapes must be equal: `labels.expand_dims(-1)?` adds the last dimension",
    );
    ragged_nn::binary_cross_entropy_with_logits(&column, &y.expand_dims(-1)?)?.to_host()?;
    // One label per row is not repeated along the row.
    let rows = RaggedTensor::from_nested([vec![1.0f32, 2.0, 3.0], vec![4.0]], &cpu())?.into_erased();
    let one = dense(&[0.0; 2], &[2, 1], &cpu())?;
    for (a, b, shape) in [(&rows, &one, "[2, None]"), (&one, &rows, "[2, 1]")] {
        let [errors, cross] =
            [ragged_nn::mean_squared_error(a, b), ragged_nn::categorical_cross_entropy_with_logits(a, b)];
        for (op, result) in [("mean_squared_error", errors), ("categorical_cross_entropy_with_logits", cross)] {
            fails(result, &format!("{op}: the predictions are an f32 of shape {shape}"));
        }
    }
    fails(
        ragged_nn::categorical_cross_entropy_with_logits(&x.reduce_sum(..)?, &x.reduce_sum(..)?),
        "categorical_cross_entropy_with_logits: the logits must be vectors, but are a scalar",
    );
    fails(
        ragged_nn::sparse_categorical_cross_entropy_with_logits(&x, &x),
        "sparse_categorical_cross_entropy_with_logits: the logits are an f32 of shape [2, 2], and the labels an f32 of shape",
    );
    fails(
        ragged_nn::sparse_categorical_cross_entropy_with_logits(&x, &classes)?.to_host(),
        "sparse_categorical_cross_entropy_with_logits: an index is out of range: 5 for size 2",
    );
    Ok(())
}

/// An optimizer that gives a tensor too many, or the sum of the variable.
#[derive(Clone)]
struct Wrong {
    is_number: bool,
}

impl Optimizer for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn learning_rate(&self) -> f64 {
        0.1
    }
    fn slots(&self) -> Vec<Slot> {
        Vec::new()
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        let x = of.variable.clone();
        if self.is_number { Ok(vec![x.clone(), x]) } else { Ok(vec![x.reduce_sum(..)?]) }
    }
}

fn line(v: &Variables, [x]: [&Tensor; 1]) -> Result<Tensor> {
    Dense::new("out", 1).call(v, x)?.reduce_mean(..)
}

#[test]
fn steps_that_cannot_be_traced_are_refused() -> Result<()> {
    let x = points()?;
    let mut v = variables();
    fails(
        Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| Dense::new("out", 1).call(v, x)),
        "Training::trace: the loss must be one float, but is an f32 of shape [None, 1]",
    );
    fails(
        Training::trace(&mut v, [&x], Sgd::default(), |v, x| line(v, x)?.cast(DType::I32)),
        "Training::trace: the loss must be one float, but is an i32 of shape []",
    );
    fails(
        Training::trace(&mut v, [&x], Sgd::default(), |_, [x]| x.reduce_sum(..)),
        "Training::trace: the function uses no trainable variable",
    );
    fails(
        Training::trace(&mut v, [&x], Wrong { is_number: true }, line),
        "Training::trace: the optimizer \"wrong\", variable \"out/bias\": it gives 2 tensors, not 1",
    );
    fails(
        Training::trace(&mut v, [&x], Wrong { is_number: false }, line),
        "Training::trace: the optimizer \"wrong\", variable \"out/bias\": it gives an f32 of shape [], not an f32 of shape [1]",
    );
    let calls = std::cell::Cell::new(0);
    fails(
        Training::trace(&mut v, [&x], Sgd::default(), |v, x| {
            calls.set(calls.get() + 1);
            v.variable(&format!("w{}", calls.get()), DType::F32, &[], &Initializer::Ones)?.multiply(&line(v, x)?)
        }),
        "Variables::variable: variable \"w2\" is made within a training step",
    );
    fails(
        Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
            x.to_host()?;
            line(v, [x])
        }),
        "a read needs values of an input of a program that is traced",
    );
    Ok(())
}

#[test]
fn steps_that_do_not_fit_are_refused() -> Result<()> {
    let x = points()?;
    let mut v = variables();
    let mut step = Training::trace(&mut v, [&x], Sgd::default(), line)?;
    let wide = dense(&[0.0; 3], &[1, 3], &cpu())?;
    fails(
        step.run(&mut v, [&wide]),
        "Training::run: input 0 must be TensorSpec(shape=[None, 2], dtype=f32), for which the step was traced, but is an f32 of \
         shape [1, 3]",
    );
    fails(
        step.run(&mut variables(), [&x]),
        "Training::run: there is no variable \"out/bias\", with which the step was traced",
    );
    let mut other = variables();
    Dense::new("out", 1).call(&other, &wide)?;
    fails(
        step.run(&mut other, [&x]),
        "Training::run: variable \"out/kernel\" must be TensorSpec(shape=[2, 1], dtype=f32)",
    );
    fails(
        step.set_learning_rate_tensor(&x),
        "Training::set_learning_rate_tensor: the learning rate must be a scalar of f32 on device",
    );
    if let Some(other) = devices().into_iter().find(|device| !device.is_cpu()) {
        let there = dense(&[0.0; 2], &[1, 2], &other)?;
        fails(step.run(&mut v, [&there]), "Training::run: input 0 is on device");
        let mut moved = Variables::new(&other, Seed(7));
        fails(step.run(&mut moved, [&there]), "Training::run: the variables are on device");
    }
    // It still trains.
    step.run(&mut v, [&x])?.to_host()?;
    let mut step = step.named_inputs(["points"]);
    fails(
        step.run(&mut v, [&wide]),
        "Training::run: input 0, \"points\", must be TensorSpec(shape=[None, 2], dtype=f32), for which the step was traced, \
         but is an f32 of shape [1, 3]",
    );
    if let Some(other) = devices().into_iter().find(|device| !device.is_cpu()) {
        let there = dense(&[0.0; 2], &[1, 2], &other)?;
        fails(step.run(&mut v, [&there]), "Training::run: input 0, \"points\", is on device");
    }
    step.run(&mut v, [&x])?.to_host()?;
    Ok(())
}

#[test]
fn frozen_variables_stay() -> Result<()> {
    let x = points()?;
    let mut v = variables();
    line(&v, [&x])?;
    v.variable("unused", DType::F32, &[2], &Initializer::Ones)?;
    v.set_trainable("out/kernel", false)?;
    let (kernel, bias) = (v.get("out/kernel")?.to_string(), v.get("out/bias")?.to_string());
    let mut step = Training::trace(&mut v, [&x], Sgd::new(0.5).momentum(0.9), line)?;
    assert_eq!(step.state().names(), ["step", "learning_rate", "sgd/momentum/out/bias"]);
    step.run(&mut v, [&x])?;
    assert_eq!(v.get("out/kernel")?.to_string(), kernel);
    assert_ne!(v.get("out/bias")?.to_string(), bias);
    Ok(())
}

#[test]
fn a_check_that_fails_in_a_step_is_the_error_of_reads() -> Result<()> {
    for device in devices() {
        let x = dense(&[1.0, 2.0, 3.0, 4.0], &[2, 2], &device)?;
        let good = RaggedTensor::from_nested([0, 1], &device)?.into_erased();
        let bad = RaggedTensor::from_nested([0, 3], &device)?.into_erased();
        let mut v = Variables::new(&device, Seed(7));
        let mut step = Training::trace(&mut v, [&x, &good], Sgd::new(0.1).momentum(0.9), |v, [x, y]| {
            ragged_nn::sparse_categorical_cross_entropy_with_logits(&Dense::new("out", 2).call(v, x)?, y)
        })?;
        let file = step.state().add_to(v.add_to(SavedModel::new())).to_bytes()?;
        let expected = step.run(&mut v, [&x, &good])?.to_string();
        let message = "sparse_categorical_cross_entropy_with_logits: an index is out of range";
        fails(step.run(&mut v, [&x, &bad])?.to_host(), message);
        fails(v.get("out/kernel")?.to_host(), message);
        fails(step.run(&mut v, [&x, &good])?.to_host(), message);
        let file = SavedModel::from_bytes(file)?;
        v.restore(&file)?;
        step.state().restore(&file)?;
        assert_eq!(step.run(&mut v, [&x, &good])?.to_string(), expected, "{device:?}");
    }
    Ok(())
}
