//! Training steps.

mod outcome;
mod recorded;
mod runs;

use std::fmt;
use std::panic::Location;

use ragged::{DType, Program, Result, Seed, Tensor, TensorSpec};

use crate::fault::argument;
use crate::initializer::Initializer;
use crate::optimizers::{Optimizer, Slot};
use crate::variables::{Closed, Variable, Variables, computed_in, spec_of};
use recorded::{Inputs, Used, outputs};

pub use outcome::Outcome;

const TRACE: &str = "Training::trace";

/// The names of the first two tensors of the state: the number of steps, and the learning rate of the next one.
const STEP: &str = "step";
const LEARNING_RATE: &str = "learning_rate";

/// How many tensors of the state precede the slots.
const FIXED: usize = 2;

/// A training step: one traced [`Program`] that computes the loss of a batch, its gradient, and the next values of the
/// variables and of the optimizer's state.
///
/// A step runs on batches of any sizes by the same plan; the learning rate, of f32 also for variables of f64, and the number of
/// the step are inputs too. Nothing is read: the loss is a tensor, and a GPU computes it when the host continues. Attention
/// waits on a GPU, once in each step, for the number of its scores, and has one of a few plans.
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
/// assert_eq!(step.state().names(), ["step", "learning_rate"]);
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
    /// Of the inputs, if they were given.
    input_names: Option<[String; N]>,
    /// Names and specifications of the variables that the step changes, then of the others.
    variables: Vec<(String, TensorSpec)>,
    trained: usize,
    /// The number of steps, the learning rate, and the slots of each variable that the step changes.
    state: Variables,
}

/// Tracing.
impl<const N: usize> Training<N> {
    /// Records the step of a loss.
    ///
    /// `f` computes the loss of a batch, one float, from the variables and the inputs of the step, and may return metrics beside
    /// it ([`Outcome`]). It is called twice, the first time to make the variables that it needs. The step accepts inputs with
    /// the dtypes, ragged ranks and inner sizes of these, and with any rows; their values are not used. It changes the trainable
    /// variables that `f` asks for; integers are not trainable. Variables of 16-bit floats are updated in f32, rounded at the
    /// end of each step.
    ///
    /// # Errors
    /// A loss that is not one float; no trainable variable; a learning rate or another option of the optimizer that is NaN or
    /// out of its range; two slots of one name; the errors of `f` and those of [`Program::trace`] and
    /// [`value_and_grad`](ragged::value_and_grad); an optimizer that gives other numbers or forms of tensors than it has to. The
    /// variables that `f` made are removed.
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
    /// assert!(error.to_string().starts_with("Training::trace: the loss must be one float, but is an f32 of shape [None, 1]"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn trace<L: Into<Outcome>>(
        variables: &mut Variables,
        inputs: [&dyn AsRef<Tensor>; N],
        optimizer: impl Optimizer,
        f: impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    ) -> Result<Self> {
        let known = variables.names().len();
        let specs = inputs.iter().map(|x| TensorSpec::of(&x.as_ref())).collect();
        let traced = Self::traced(variables, specs, &optimizer, &f);
        if traced.is_err() {
            variables.truncate(known);
        }
        traced
    }

    #[track_caller]
    fn traced<L: Into<Outcome>>(
        variables: &Variables,
        specs: Vec<TensorSpec>,
        optimizer: &impl Optimizer,
        f: &impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    ) -> Result<Self> {
        let at = Location::caller();
        runs::check_rate(TRACE, optimizer.learning_rate())?;
        if let Some(what) = optimizer.fault() {
            return Err(argument(TRACE, format!("the optimizer {:?}: {what}", optimizer.name())));
        }
        let used = Self::used(variables, &specs, f)?;
        let (trained, frozen): (Vec<Variable>, Vec<Variable>) = used.into_iter().partition(|v| v.is_trainable);
        if trained.is_empty() {
            let what = "the function uses no trainable variable, so that there is nothing to train";
            return Err(argument(TRACE, what));
        }
        let state = Self::first_state(variables, optimizer, &trained)?;
        let all: Vec<&Variable> = trained.iter().chain(&frozen).collect();
        let used = Used { variables, all, trained: trained.len() };
        let mut given: Vec<TensorSpec> = state.all()[..FIXED].iter().map(|v| spec_of(&v.value)).collect();
        given.extend(used.all.iter().map(|v| spec_of(&v.value)));
        given.extend(state.all()[FIXED..].iter().map(|slot| spec_of(&slot.value)));
        given.extend(specs.iter().cloned());
        let program = Program::trace(&given, |given| {
            let (variables_end, slots_end) = (FIXED + used.all.len(), given.len() - N);
            let inputs = Inputs {
                step: &given[0],
                learning_rate: &given[1],
                variables: &given[FIXED..variables_end],
                slots: &given[variables_end..slots_end],
                batch: std::array::from_fn(|k| &given[slots_end + k]),
            };
            outputs(&used, &inputs, optimizer, f, at)
        })?;
        let all = used.all.iter().map(|v| (v.name.clone(), spec_of(&v.value))).collect();
        Ok(Self { program, inputs: specs, input_names: None, variables: all, trained: trained.len(), state })
    }

    /// The state before the first step.
    #[track_caller]
    fn first_state(variables: &Variables, optimizer: &impl Optimizer, trained: &[Variable]) -> Result<Variables> {
        let slots = optimizer.slots();
        if let Some(k) = (1..slots.len()).find(|&k| slots[..k].iter().any(|slot| slot.name == slots[k].name)) {
            let (optimizer, slot) = (optimizer.name(), slots[k].name);
            return Err(argument(TRACE, format!("the optimizer {optimizer:?} has two slots of the name {slot:?}")));
        }
        let mut state = Variables::of_group("optimizer", variables.device(), Seed(0));
        state.variable(STEP, DType::U32, &[], &Initializer::Zeros)?;
        state.variable(LEARNING_RATE, DType::F32, &[], &Initializer::Constant(optimizer.learning_rate()))?;
        for Variable { name, value, .. } in trained {
            let shape: Vec<usize> = value.shape().into_iter().flatten().collect();
            for Slot { name: slot, initial } in &slots {
                let name = format!("{}/{slot}/{name}", optimizer.name());
                state.variable(&name, computed_in(value.dtype()), &shape, &Initializer::Constant(*initial))?;
            }
        }
        state.close(Closed::State);
        Ok(state)
    }

    /// The variables that the function asks for, which makes those that are not there.
    fn used<L: Into<Outcome>>(
        variables: &Variables,
        specs: &[TensorSpec],
        f: &impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    ) -> Result<Vec<Variable>> {
        let mut used = Vec::new();
        let mut specs = specs.to_vec();
        specs.push(TensorSpec::new(DType::U32, []));
        Program::trace(&specs, |given| {
            let scope = variables.in_step(&given[N]);
            let outcome: Outcome = f(&scope, std::array::from_fn(|k| &given[k]))?.into();
            used = scope.used();
            Ok(outcome.loss)
        })?;
        Ok(used)
    }
}

/// Names and parts.
impl<const N: usize> Training<N> {
    /// Gives the state another name in files: `optimizer:NAME/` before the names of its tensors, so that one file can hold the
    /// state of several steps. Steps without a name have `optimizer/`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SavedModel, Seed};
    /// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let step = Training::trace(&mut v, [&x], Sgd::default(), |v, [x]| {
    ///     mean_squared_error(&Dense::new("out", 1).call(v, x)?, x)
    /// })?
    /// .named("critic");
    /// let model = step.state().add_to(SavedModel::new());
    /// assert_eq!(model.tensors().collect::<Vec<_>>(), ["optimizer:critic/learning_rate", "optimizer:critic/step"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.state.set_group(format!("optimizer:{name}"));
        self
    }

    /// Gives the inputs of the step names, by which errors of [`Self::run`] call them.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Dense, Sgd, Training, Variables, mean_squared_error};
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let mut step = Training::trace(&mut v, [&x, &x], Sgd::default(), |v, [x, y]| {
    ///     mean_squared_error(&Dense::new("out", 1).call(v, x)?, y)
    /// })?
    /// .named_inputs(["points", "labels"]);
    /// let vector = RaggedTensor::from_nested([1.0f32, 2.0], &Device::cpu())?;
    /// let error = step.run(&mut v, [&x, &vector]).unwrap_err().to_string();
    /// assert!(error.starts_with("Training::run: input 1, \"labels\", must be TensorSpec(shape=[None, 1], dtype=f32)"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn named_inputs(mut self, names: [&str; N]) -> Self {
        self.input_names = Some(names.map(str::to_owned));
        self
    }

    /// Input `k` as errors call it, before a verb.
    fn input(&self, k: usize) -> String {
        match &self.input_names {
            Some(names) => format!("input {k}, {:?},", names[k]),
            None => format!("input {k}"),
        }
    }

    /// The state: the number of steps, named `step`, the learning rate of the next one, named `learning_rate`, and what the
    /// optimizer keeps for each variable, named `OPTIMIZER/SLOT/VARIABLE`. The names are complete: `restore` ignores the other
    /// tensors of a file, such as slots of variables that this step does not train.
    ///
    /// [`Variables::add_to`] saves the state, and [`Variables::restore`] gives it to a step of the same function and optimizer.
    /// Training then continues with the same bits if the variables are restored too and, for a model with
    /// [`Dropout`](crate::Dropout), have the seed of the first training: files do not contain the seed, and the dropped values
    /// depend on it. The restored learning rate replaces the one of the new optimizer; [`Self::set_learning_rate`] changes it
    /// afterwards.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Adam, Dense, Training, Variables, mean_squared_error};
    /// let mut v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = RaggedTensor::from_nested([[1.0f32], [2.0]], &Device::cpu())?;
    /// let step = Training::trace(&mut v, [&x], Adam::default(), |v, [x]| {
    ///     mean_squared_error(&Dense::new("out", 1).without_bias().call(v, x)?, x)
    /// })?;
    /// let names = ["step", "learning_rate", "adam/momentum/out/kernel", "adam/velocity/out/kernel"];
    /// assert_eq!(step.state().names(), names);
    /// # Ok::<(), ragged::Error>(())
    /// ```
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
    /// // The number of the step, the learning rate, kernel and bias, the batch.
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
