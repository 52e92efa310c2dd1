//! Functions that are traced, concrete functions, and modules that are saved.

use ragged::{DType, Device, Program, Result, Tensor, TensorSpec};
use serde_json::json;

use super::{constant, dense, is_dense, prints};

/// `tf.function`: one function of ragged and of dense tensors, each traced once.
pub fn traced_functions(device: &Device) -> Result<()> {
    let make_palindrome = |x: &[Tensor]| Tensor::concat(&[&x[0], &x[0].reverse(1)?], 1);
    let x = dense(json!([[1, 2], [3, 4], [5, 6]]), device);
    let of_dense = Program::trace(&[TensorSpec::new(DType::I32, [None, Some(2)])], make_palindrome)?;
    is_dense(&of_dense.run(&x)?[0], DType::I32, json!([[1, 2, 2, 1], [3, 4, 4, 3], [5, 6, 6, 5]]));
    let x = constant(json!([[1, 2], [3], [4, 5, 6]]), device);
    let of_ragged = Program::trace(&[TensorSpec::of(&x)], make_palindrome)?;
    prints(&of_ragged.run(&x)?[0], "<tf.RaggedTensor [[1, 2, 2, 1], [3, 3], [4, 5, 6, 6, 5, 4]]>");
    Ok(())
}

/// An `input_signature` of `tf.RaggedTensorSpec(shape=[None, None], dtype=tf.int32)`.
pub fn input_signature(device: &Device) -> Result<()> {
    let spec = TensorSpec::new(DType::I32, [None, None]).ragged_rank(1);
    let max_and_min = Program::trace(&[spec], |x| Ok((x[0].reduce_max(-1)?, x[0].reduce_min(-1)?)))?;
    let out = max_and_min.run(constant(json!([[1, 2], [3], [4, 5, 6]]), device))?;
    is_dense(&out[0], DType::I32, json!([2, 3, 6]));
    is_dense(&out[1], DType::I32, json!([1, 3, 4]));
    Ok(())
}

/// `increment.get_concrete_function(rt)`.
pub fn concrete_functions(device: &Device) -> Result<()> {
    let x = constant(json!([[1, 2], [3], [4, 5, 6]]), device);
    let increment = Program::trace(&[TensorSpec::of(&x)], |x| x[0].add(1))?;
    prints(&increment.run(&x)?[0], "<tf.RaggedTensor [[2, 3], [4], [5, 6, 7]]>");
    Ok(())
}

/// `tf.saved_model` of a module with the variable `v` and the function `grow`.
#[cfg(feature = "saved")]
pub fn saved_modules(device: &Device) -> Result<()> {
    use ragged::SavedModel;
    let v = dense(json!(100.0), device);
    let rows = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
    let grow = Program::trace(&[rows], |x| x[0].multiply(&v))?;
    let path = std::env::temp_dir().join(format!("ragged-module-{}-{}", std::process::id(), device.name().len()));
    SavedModel::new().with_program("grow", &grow).with_tensor("v", &v).save(&path)?;
    let imported = SavedModel::load(&path)?;
    std::fs::remove_file(&path).expect("written");
    let x = constant(json!([[1.0, 4.0, 3.0], [2.0]]), device);
    prints(&imported.program("grow")?.run(&x)?[0], "<tf.RaggedTensor [[100.0, 400.0, 300.0], [200.0]]>");
    is_dense(&imported.tensor("v", device)?, DType::F32, json!(100.0));
    Ok(())
}

/// Saving is behind the feature `saved`.
#[cfg(not(feature = "saved"))]
pub fn saved_modules(_: &Device) -> Result<()> {
    Ok(())
}
