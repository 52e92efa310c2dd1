//! Runs of training steps.

use ragged::{DType, HostTensor, HostValues, Result, Tensor, eval};

use super::{FIXED, LEARNING_RATE, STEP, Training};
use crate::fault::argument;
use crate::variables::{Variable, Variables, described};

const RUN: &str = "Training::run";

/// Refuses learning rates that are negative, infinite or NaN.
#[track_caller]
pub(super) fn check_rate(op: &'static str, rate: f64) -> Result<()> {
    if rate.is_finite() && rate >= 0.0 {
        return Ok(());
    }
    Err(argument(op, format!("the learning rate must be finite and at least 0, but is {rate}")))
}

/// Running.
impl<const N: usize> Training<N> {
    /// One step: changes the variables and the state, and gives the loss of the batch before the change.
    ///
    /// A loss that is NaN is given as it is, and so are the variables that it leads to.
    ///
    /// # Errors
    /// A variable that is missing, or has another dtype, shape or device than when the step was traced; an input that the
    /// step does not accept; as [`Program::run`](ragged::Program::run). The variables and the state stay as they were. A check
    /// that fails on the device, such as an id that is out of range, is the error of each read of the loss, of the variables and
    /// of later steps, until [`Variables::restore`] gives the variables and [`Self::state`] values of before.
    ///
    /// # Cost
    /// One run of the program. Variables and slots that nothing else holds are donated
    /// ([`Program::run_donating`](ragged::Program::run_donating)): an optimizer that updates only the used rows of an embedding
    /// ([`Optimizer::updates_used_rows`](crate::Optimizer::updates_used_rows)) writes these rows, and other variables leave their
    /// buffers to later steps. Nothing is read or waited for, unless only the device knows the sizes of an input: such a step is
    /// recorded, and evaluated at once.
    #[track_caller]
    pub fn run(&mut self, variables: &mut Variables, inputs: [&dyn AsRef<Tensor>; N]) -> Result<Tensor> {
        Ok(self.run_with_metrics(variables, inputs)?.0)
    }

    /// [`Self::run`], with the metrics that the function of the step returned beside the loss: [`Outcome`](crate::Outcome) has an
    /// example.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[track_caller]
    pub fn run_with_metrics(
        &mut self,
        variables: &mut Variables,
        inputs: [&dyn AsRef<Tensor>; N],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        self.check_inputs(variables, &inputs)?;
        let state = self.state.all().into_iter().map(|slot| (slot.name, slot.value));
        let (names, mut given): (Vec<String>, Vec<Tensor>) = state.unzip();
        let slots = given.split_off(FIXED);
        for (name, spec) in &self.variables {
            let Some(Variable { value, .. }) = variables.find(name) else {
                let what = format!("there is no variable {name:?}, with which the step was traced");
                return Err(argument(RUN, what));
            };
            if !spec.accepts(&value) {
                let is = described(&value);
                return Err(argument(
                    RUN,
                    format!("variable {name:?} must be {spec}, as when the step was traced, but is {is}"),
                ));
            }
            given.push(value);
        }
        given.extend(slots);
        given.extend(inputs.iter().map(|x| x.as_ref().clone()));
        let trained = || self.variables[..self.trained].iter().map(|(name, _)| name);
        let number_of_slots = names.len() - FIXED;
        // The step may overwrite what nothing else holds.
        let placeholder = given[FIXED - 1].clone();
        trained().for_each(|name| variables.replace(name, placeholder.clone()));
        names.iter().for_each(|name| self.state.replace(name, placeholder.clone()));
        let (result, kept) = match self.program.run_donating(&mut given) {
            Ok(mut outputs) => {
                // Outputs that are recorded are evaluated, since the graph would grow with each step. What fails is the error
                // of reads.
                let _ = eval(&outputs);
                let metrics = outputs.split_off(2 + self.trained + number_of_slots);
                (Ok((outputs.remove(0), metrics)), outputs)
            }
            // The values of before.
            Err(e) => {
                let slots = FIXED + self.variables.len();
                let changed = [&given[..1], &given[FIXED..][..self.trained], &given[slots..][..number_of_slots]];
                (Err(e), changed.concat())
            }
        };
        let mut kept = kept.into_iter();
        self.state.replace(STEP, kept.next().expect("bug: a step without a number"));
        for (name, value) in trained().zip(&mut kept) {
            variables.replace(name, value);
        }
        for (name, value) in names[FIXED..].iter().zip(kept) {
            self.state.replace(name, value);
        }
        result
    }

    #[track_caller]
    fn check_inputs(&self, variables: &Variables, inputs: &[&dyn AsRef<Tensor>; N]) -> Result<()> {
        let of = variables.device().name();
        for (k, (x, spec)) in inputs.iter().zip(&self.inputs).enumerate() {
            let x = x.as_ref();
            if !spec.accepts(&x) {
                let (input, is) = (self.input(k), described(x));
                let what = format!("{input} must be {spec}, for which the step was traced, but is {is}");
                return Err(argument(RUN, what));
            }
            if x.device() != *variables.device() {
                let device = x.device();
                let (input, is) = (self.input(k), device.name());
                return Err(argument(RUN, format!("{input} is on device {is}, but the variables are on {of}")));
            }
        }
        if self.state.device() != variables.device() {
            let own = self.state.device().name();
            return Err(argument(RUN, format!("the variables are on device {of}, but the step's state is on {own}")));
        }
        Ok(())
    }

    /// Sets the learning rate of the next steps. A schedule sets it before each step, and makes no other plan.
    ///
    /// # Errors
    /// A rate that is negative, infinite or NaN; as an upload of one number.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let mut step = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
    ///     mean_squared_error(&Dense::new("out", 1).call(v, x)?, x)
    /// })?;
    /// for k in 0..3 {
    ///     step.set_learning_rate(0.1 / f64::from(k + 1))?;
    ///     step.run(&mut v, [&x])?;
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<()> {
        check_rate("Training::set_learning_rate", rate)?;
        let rate = HostTensor::dense(&[], HostValues::F32(vec![rate as f32])).to_device(self.state.device())?;
        self.state.replace(LEARNING_RATE, rate);
        Ok(())
    }

    /// Sets the learning rate of the next steps to a number that is computed, a scalar of f32 on the device of the step.
    ///
    /// # Errors
    /// A tensor that is no scalar of f32; another device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let mut step = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
    ///     mean_squared_error(&Dense::new("out", 1).call(v, x)?, x)
    /// })?;
    /// // The rate falls with the loss.
    /// let loss = step.run(&mut v, [&x])?;
    /// step.set_learning_rate_tensor(&loss.multiply(0.01)?)?;
    /// step.run(&mut v, [&x])?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn set_learning_rate_tensor(&mut self, rate: &impl AsRef<Tensor>) -> Result<()> {
        const OP: &str = "Training::set_learning_rate_tensor";
        let rate = rate.as_ref();
        if rate.rank() != 0 || rate.dtype() != DType::F32 || rate.device() != *self.state.device() {
            let (is, device, own) = (described(rate), rate.device(), self.state.device().name());
            let device = device.name();
            let what = format!("the learning rate must be a scalar of f32 on device {own}, but is {is} on {device}");
            return Err(argument(OP, what));
        }
        self.state.replace(LEARNING_RATE, rate.clone());
        Ok(())
    }
}
