//! Training steps.

use std::fmt;
use std::panic::Location;

use ragged::{DType, Device, HostTensor, HostValues, Program, Result, Seed, Tensor, TensorSpec, value_and_grad};

use crate::fault::{argument, argument_at};
use crate::initializer::Initializer;
use crate::optimizers::{Optimizer, Slot, Update};
use crate::variables::{Variable, Variables, described, spec_of};

const TRACE: &str = "Training::trace";
const RUN: &str = "Training::run";

/// The name of the number of steps in the state.
const STEP: &str = "step";

/// A training step: one traced [`Program`] that computes the loss of a batch, its gradient, and the next values of the
/// variables and of the optimiser's state.
///
/// A step runs on batches of any sizes by the same plan; the learning rate and the number of the step are inputs too.
/// Nothing is read: the loss is a tensor, and a GPU computes it when the host continues.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
/// let device = Device::cpu();
/// let mut v = Variables::new(&device, Seed(7));
/// let x = RaggedTensor::from_nested([[1.0f32], [2.0], [3.0]], &device)?;
/// let y = RaggedTensor::from_nested([[3.0f32], [5.0], [7.0]], &device)?;
/// let line = Dense::new("line", 1);
/// let mut step = Training::trace(&mut v, [&x, &y], Sgd::new(0.1), |v, [x, y]| mean_squared_error(&line.call(v, x)?, y))?;
/// let mut losses = vec![];
/// for _ in 0..300 {
///     losses.push(step.run(&mut v, [&x, &y])?);
/// }
/// step.set_learning_rate(0.01)?;
/// step.run(&mut v, [&x, &y])?;
/// assert_eq!(step.state().names(), ["step"]);
/// // y = 2 x + 1
/// let kernel: RaggedTensor<f32> = v.get("line/kernel")?.try_into()?;
/// assert!((kernel.to_vec()?[0] - 2.0).abs() < 1e-3);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.Model.train_step`; `jax.jit` of `optax` updates.
pub struct Training<const N: usize> {
    program: Program,
    inputs: Vec<TensorSpec>,
    /// Names and specifications of the variables that the step changes, then of the others.
    variables: Vec<(String, TensorSpec)>,
    trained: usize,
    /// The number of steps, and the slots of each variable that the step changes.
    state: Variables,
    learning_rate: Tensor,
}

/// The variables and the loss in a trace.
struct Inputs<'a, const N: usize> {
    learning_rate: &'a Tensor,
    step: &'a Tensor,
    variables: &'a [Tensor],
    slots: &'a [Tensor],
    batch: [&'a Tensor; N],
}

/// Tracing.
impl<const N: usize> Training<N> {
    /// Records the step of a loss.
    ///
    /// `f` computes the loss of a batch, one float, from the variables and the inputs of the step; it is called twice, the
    /// first time to make the variables that it needs. The step accepts inputs with the dtypes, ragged ranks and inner sizes
    /// of these, and with any rows; their values are not used. It changes the trainable variables that `f` asks for.
    ///
    /// # Errors
    /// A loss that is not one float; no trainable variable; the errors of `f` and those of [`Program::trace`] and
    /// [`value_and_grad`]; an optimiser that gives other numbers or forms of tensors than it has to.
    ///
    /// # Cost
    /// Two recordings; the first run plans and compiles. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Dense, Sgd, Training, Variables};
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let error = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| Dense::new("out", 1).call(v, x)).unwrap_err();
    /// assert!(error.to_string().starts_with("Training::trace: the loss must be one float, but is a f32 of shape [None, 1]"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn trace<X: AsRef<Tensor> + ?Sized, L: AsRef<Tensor>>(
        variables: &mut Variables,
        inputs: [&X; N],
        optimizer: impl Optimizer,
        f: impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    ) -> Result<Self> {
        let at = Location::caller();
        let specs: Vec<TensorSpec> = inputs.iter().map(|x| TensorSpec::of(&x.as_ref())).collect();
        let used = Self::used(variables, &specs, &f)?;
        let (trained, frozen): (Vec<Variable>, Vec<Variable>) = used.into_iter().partition(|v| v.is_trainable);
        if trained.is_empty() {
            let what = "the function uses no trainable variable, so that there is nothing to train";
            return Err(argument(TRACE, what));
        }
        let (slots, state) = (optimizer.slots(), Variables::of_group("optimizer", variables.device(), Seed(0)));
        state.variable(STEP, DType::U32, &[], &Initializer::Zeros)?;
        for Variable { name, value, .. } in &trained {
            let shape: Vec<usize> = value.shape().into_iter().flatten().collect();
            for Slot { name: slot, initial } in &slots {
                let name = format!("{}/{slot}/{name}", optimizer.name());
                state.variable(&name, value.dtype(), &shape, &Initializer::Constant(*initial))?;
            }
        }
        let all: Vec<&Variable> = trained.iter().chain(&frozen).collect();
        let mut given = vec![TensorSpec::new(DType::F32, []), TensorSpec::new(DType::U32, [])];
        given.extend(all.iter().map(|v| spec_of(&v.value)));
        given.extend(trained.iter().flat_map(|v| slots.iter().map(|_| spec_of(&v.value))));
        given.extend(specs.iter().cloned());
        let program = Program::trace(&given, |given| {
            let (variables_end, slots_end) = (2 + all.len(), given.len() - N);
            let inputs = Inputs {
                learning_rate: &given[0],
                step: &given[1],
                variables: &given[2..variables_end],
                slots: &given[variables_end..slots_end],
                batch: std::array::from_fn(|k| &given[slots_end + k]),
            };
            outputs(variables, &all, trained.len(), &inputs, &optimizer, &f, at)
        })?;
        let learning_rate = scalar(optimizer.learning_rate(), variables.device())?;
        let all = all.into_iter().map(|v| (v.name.clone(), spec_of(&v.value))).collect();
        Ok(Self { program, inputs: specs, variables: all, trained: trained.len(), state, learning_rate })
    }

    /// The variables that the function asks for, which makes those that are not there.
    fn used<L: AsRef<Tensor>>(
        variables: &Variables,
        specs: &[TensorSpec],
        f: &impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    ) -> Result<Vec<Variable>> {
        let mut used = Vec::new();
        let mut specs = specs.to_vec();
        specs.push(TensorSpec::new(DType::U32, []));
        Program::trace(&specs, |given| {
            let scope = variables.in_step(&given[N]);
            let loss = f(&scope, std::array::from_fn(|k| &given[k]))?;
            used = scope.used();
            Ok(loss.as_ref().clone())
        })?;
        Ok(used)
    }
}

/// The loss, the number of the next step, the new variables and the new slots.
fn outputs<const N: usize, L: AsRef<Tensor>>(
    variables: &Variables,
    all: &[&Variable],
    trained: usize,
    inputs: &Inputs<'_, N>,
    optimizer: &impl Optimizer,
    f: &impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    let (values, frozen) = inputs.variables.split_at(trained);
    let loss = |values: &[Tensor]| {
        let values = all.iter().zip(values.iter().chain(frozen));
        let values = values.map(|(v, value)| Variable { value: value.clone(), ..(*v).clone() });
        let loss = f(&Variables::of_step(variables, values, inputs.step), inputs.batch)?;
        let loss = loss.as_ref();
        if loss.rank() != 0 || !loss.dtype().is_float() {
            let is = described(loss);
            let what = format!("the loss must be one float, but is {is}; reduce it, for example by `reduce_mean(..)`");
            return Err(argument_at(TRACE, what, at));
        }
        Ok(loss.clone())
    };
    let (loss, gradients) = value_and_grad(loss, values)?;
    let gradients = optimizer.gradients(gradients)?;
    let next = inputs.step.add(1u32)?;
    let slots = optimizer.slots().len();
    let (mut new, mut new_slots) = (Vec::new(), Vec::new());
    for (k, (v, variable)) in all.iter().zip(values).enumerate() {
        let fault = |what: String| {
            argument_at(TRACE, format!("the optimiser {:?}, variable {:?}: {what}", optimizer.name(), v.name), at)
        };
        let Some(gradient) = gradients.get(k) else { return Err(fault("it gives no gradient".to_owned())) };
        let dtype = variable.dtype();
        let mut updated = optimizer.update(&Update {
            variable,
            gradient,
            slots: &inputs.slots[k * slots..][..slots],
            learning_rate: &inputs.learning_rate.cast(dtype)?,
            step: &next.cast(dtype)?,
        })?;
        if updated.len() != 1 + slots {
            return Err(fault(format!("it gives {} tensors, not {}", updated.len(), 1 + slots)));
        }
        if let Some(other) = updated.iter().find(|x| !spec_of(variable).accepts(x)) {
            return Err(fault(format!("it gives {}, not {}", described(other), described(variable))));
        }
        new_slots.extend(updated.drain(1..));
        new.append(&mut updated);
    }
    let mut out = vec![loss, next];
    out.append(&mut new);
    out.append(&mut new_slots);
    Ok(out)
}

/// The tensor of a learning rate.
#[track_caller]
fn scalar(rate: f64, device: &Device) -> Result<Tensor> {
    HostTensor::dense(&[], HostValues::F32(vec![rate as f32])).to_device(device)
}

/// Running.
impl<const N: usize> Training<N> {
    /// One step: changes the variables and the state, and gives the loss of the batch before the change.
    ///
    /// A loss that is NaN is given as it is, and so are the variables that it leads to.
    ///
    /// # Errors
    /// A variable that is missing, or has another dtype, shape or device than when the step was traced; an input that the
    /// step does not accept; as [`Program::run`]. The variables and the state stay as they were. A check that fails on the
    /// device, such as an id that is out of range, is the error of each read of the loss, of the variables and of later
    /// steps, until [`Variables::restore`] gives the variables and [`Self::state`] values of before.
    ///
    /// # Cost
    /// One run of the program. Nothing is recorded, read or waited for.
    #[track_caller]
    pub fn run<X: AsRef<Tensor> + ?Sized>(&mut self, variables: &mut Variables, inputs: [&X; N]) -> Result<Tensor> {
        for (k, (x, spec)) in inputs.iter().zip(&self.inputs).enumerate() {
            let x = x.as_ref();
            if !spec.accepts(&x) {
                let what = format!("input {k} must be {spec}, for which the step was traced, but is {}", described(x));
                return Err(argument(RUN, what));
            }
            if x.device() != *variables.device() {
                let (device, of) = (x.device(), variables.device().name());
                let is = device.name();
                return Err(argument(RUN, format!("input {k} is on device {is}, but the variables are on {of}")));
            }
        }
        if self.state.device() != variables.device() {
            let (is, of) = (variables.device().name(), self.state.device().name());
            return Err(argument(RUN, format!("the variables are on device {is}, but the step's state is on {of}")));
        }
        let state: Vec<Variable> = self.state.all();
        let mut given = vec![self.learning_rate.clone()];
        given.extend(state.first().map(|step| step.value.clone()));
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
        given.extend(state.iter().skip(1).map(|slot| slot.value.clone()));
        given.extend(inputs.iter().map(|x| x.as_ref().clone()));
        let mut outputs = self.program.run(&given)?.into_iter();
        let Some(loss) = outputs.next() else { return Err(argument(RUN, "the program gives no loss")) };
        let step = outputs.next();
        for ((name, _), value) in self.variables[..self.trained].iter().zip(&mut outputs) {
            variables.replace(name, value);
        }
        for (slot, value) in state.iter().zip(step.into_iter().chain(outputs)) {
            self.state.replace(&slot.name, value);
        }
        Ok(loss)
    }

    /// Sets the learning rate of the next steps. A schedule sets it before each step, and makes no other plan.
    ///
    /// # Errors
    /// As an upload of one number.
    #[track_caller]
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<()> {
        self.learning_rate = scalar(rate, self.state.device())?;
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
        self.learning_rate = rate.clone();
        Ok(())
    }

    /// The state: the number of steps, named `step`, and what the optimiser keeps for each variable, named
    /// `OPTIMIZER/SLOT/VARIABLE`. [`Variables::add_to`] and [`Variables::restore`] save it and give it back, so that training
    /// continues with the same bits.
    pub fn state(&self) -> &Variables {
        &self.state
    }

    /// The traced program, whose inputs and outputs include the variables: for [`Program::explain`].
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let step = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
    ///     mean_squared_error(&Dense::new("out", 1).call(v, x)?, x)
    /// })?;
    /// // The learning rate, the number of the step, kernel and bias, the batch.
    /// assert_eq!(step.program().inputs().len(), 5);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn program(&self) -> &Program {
        &self.program
    }
}

impl<const N: usize> fmt::Debug for Training<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs: Vec<String> = self.inputs.iter().map(TensorSpec::to_string).collect();
        let variables: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Training").field("inputs", &inputs).field("variables", &variables).finish()
    }
}
