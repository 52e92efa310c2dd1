//! Gradients of programs: the program is recorded again on traced inputs, differentiated, and frozen.

use std::collections::BTreeSet;

use super::run::Way;
use super::traced::Traced;
use super::{Program, guarded};
use crate::error::{Error, Result, caller, here};
use crate::gradient::differentiated;
use crate::tensor::Tensor;

/// The outputs of a program, of which the first one is differentiated.
struct Outputs(Vec<Tensor>);

impl AsRef<Tensor> for Outputs {
    fn as_ref(&self) -> &Tensor {
        &self.0[0]
    }
}

/// Gradients.
impl Program {
    /// The program of the gradient: the derivative of the first output by each element of each input that `inputs` names
    /// by its position.
    ///
    /// The inputs are those of this program; output `k` is the gradient by the `k`-th input of `inputs`, with the shape,
    /// the row partitions and the dtype of that input. The first output of this program is one float, of shape `[]`; other
    /// outputs are ignored. The new program is planned, saved and differentiated like any other: the gradient of a
    /// gradient is a gradient. [`value_and_grad`](crate::value_and_grad) says which derivatives ties, zeros, NaN and empty
    /// rows have; captured tensors are constants. The bits of a gradient are those of [`grad`](crate::grad) of the function
    /// that was traced.
    ///
    /// # Errors
    /// No input, one that the program does not have, or one twice; an input that does not hold floats; a first output that
    /// is not one float; an operation without a gradient.
    ///
    /// # Cost
    /// Records and traces the program once; computes nothing. Runs compute nothing that only the value needs.
    ///
    /// ```
    /// use ragged::{DType, Device, Program, RaggedTensor, TensorSpec};
    /// let rows = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
    /// let scale = TensorSpec::new(DType::F32, []);
    /// let loss = Program::trace(&[rows, scale], |x| x[0].multiply(&x[1])?.square()?.reduce_sum(..))?;
    /// let gradient = loss.grad([0])?;
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &Device::cpu())?;
    /// let scale = RaggedTensor::from_nested(2.0f32, &Device::cpu())?;
    /// let of_x = gradient.run([x.erased(), scale.erased()])?;
    /// assert_eq!(of_x[0].to_string(), "<ragged.RaggedTensor [[8.0, 16.0], [], [24.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Source: `jax.grad` of a jitted function.
    #[track_caller]
    pub fn grad(&self, inputs: impl IntoIterator<Item = usize>) -> Result<Self> {
        const OP: &str = "Program::grad";
        self.of_outputs_and_gradients(OP, inputs.into_iter().collect(), |_, gradients| gradients).map_err(here())
    }

    /// The program of the outputs and of the gradient of the first one, by the inputs that `inputs` names by their
    /// positions.
    ///
    /// The outputs are those of this program, then the gradients, as [`Program::grad`] gives them. Outputs besides the
    /// first one are not differentiated (`has_aux` of JAX): a metric or a new state is computed in the same pass.
    ///
    /// # Errors
    /// As [`Program::grad`].
    ///
    /// # Cost
    /// Records and traces the program once; computes nothing. Forward and backward passes are one program.
    ///
    /// ```
    /// use ragged::{DType, Device, Program, RaggedTensor, TensorSpec};
    /// let rows = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
    /// let loss = Program::trace(&[rows], |x| Ok([x[0].square()?.reduce_sum(..)?, x[0].reduce_max(1)?]))?;
    /// let step = loss.value_and_grad([0])?;
    /// let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![3.0]], &Device::cpu())?;
    /// let outputs = step.run(&x)?;
    /// assert_eq!(outputs[0].to_string(), "tensor(14.0, shape=(), dtype=f32)");
    /// assert_eq!(outputs[1].to_string(), "tensor([2.0, 3.0], shape=(2,), dtype=f32)");
    /// assert_eq!(outputs[2].to_string(), "<ragged.RaggedTensor [[2.0, 4.0], [6.0]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Source: `jax.value_and_grad` of a jitted function.
    #[track_caller]
    pub fn value_and_grad(&self, inputs: impl IntoIterator<Item = usize>) -> Result<Self> {
        const OP: &str = "Program::value_and_grad";
        let all = |outputs, gradients| [outputs, gradients].concat();
        self.of_outputs_and_gradients(OP, inputs.into_iter().collect(), all).map_err(here())
    }

    /// The program of what `select` makes of the outputs and of the gradients of the first output by the inputs `by`.
    #[track_caller]
    fn of_outputs_and_gradients(
        &self,
        op: &'static str,
        by: Vec<usize>,
        select: impl FnOnce(Vec<Tensor>, Vec<Tensor>) -> Vec<Tensor>,
    ) -> Result<Self> {
        self.check_inputs(op, &by)?;
        let code = &*self.0;
        let traced = Traced::of(op, &code.inputs)?;
        let at: Vec<&Tensor> = by.iter().map(|&k| &traced.inputs[k]).collect();
        let outputs = |leaves: &[Tensor]| {
            let mut inputs: Vec<&Tensor> = traced.inputs.iter().collect();
            by.iter().zip(leaves).for_each(|(&k, leaf)| inputs[k] = leaf);
            let outputs = self.outputs_of(op, &inputs, traced.inputs[0].backend(), Way::Recorded)?;
            match outputs.first() {
                Some(value) if value.rank() == 0 && value.dtype().is_float() => Ok(Outputs(outputs)),
                other => Err(Error::argument(op, not_one_float(other))),
            }
        };
        let location = caller();
        let program = || {
            let (Outputs(outputs), gradients) = differentiated(op, location, outputs, &at)?;
            let selected = select(outputs, gradients);
            Ok(traced.program(&code.inputs, &selected.iter().collect::<Vec<_>>(), code.is_of_file))
        };
        if code.is_of_file { guarded(op, program) } else { program() }
    }

    /// Fails unless `by` names inputs that have derivatives.
    #[track_caller]
    fn check_inputs(&self, op: &'static str, by: &[usize]) -> Result<()> {
        let specs = self.inputs();
        if by.is_empty() {
            return Err(Error::argument(op, "no input is named, by which the first output would be differentiated"));
        }
        let mut named = BTreeSet::new();
        for &k in by {
            let Some(spec) = specs.get(k) else {
                return Err(Error::argument(op, format!("input {k} of a program that has {} inputs", specs.len())));
            };
            if !spec.dtype().is_float() {
                let hint = format!("input {k} does not hold floats, which alone have derivatives");
                return Err(Error::Unsupported { op, dtype: spec.dtype(), hint, location: caller() });
            }
            if !named.insert(k) {
                return Err(Error::argument(op, format!("input {k} is named twice")));
            }
        }
        Ok(())
    }
}

/// Why the first output is not differentiated.
fn not_one_float(output: Option<&Tensor>) -> String {
    let Some(output) = output else { return "the program has no output".into() };
    let (dtype, shape) = (output.dtype(), output.shape_text());
    format!(
        "output 0 of the program is a {dtype} of shape {shape}, not one float; reduce it, for example by `reduce_sum(..)`"
    )
}
