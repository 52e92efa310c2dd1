//! Named variables.

mod facts;
mod saved;
mod trainable;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ragged::{DType, Device, Result, Seed, Tensor};

use crate::fault::argument;
use crate::initializer::Initializer;
use facts::with_article;

pub(crate) use facts::{computed_in, described, spec_of};

/// Named tensors of one device that training changes: the weights of a model.
///
/// Layers make their variables at the first call, when they know the width of their input; further calls give the same
/// ones. A name is a path, such as `words/embeddings`. Variables keep the order in which they were made.
///
/// A function of a model takes `&Variables` first. Outside of a training step it computes with the values that the
/// variables have; a [`Program`](ragged::Program) that is traced with them has these values as constants. Within a training
/// step ([`Training::trace`](crate::Training::trace)) the variables are inputs of the step.
///
/// ```
/// use ragged::{DType, Device, RaggedTensor, Seed};
/// use ragged_nn::{Dense, Initializer, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// let x = RaggedTensor::from_nested([[1.0f32, 2.0]], &Device::cpu())?;
/// Dense::new("out", 3).call(&v, &x)?;
/// assert_eq!(v.names(), ["out/kernel", "out/bias"]);
/// assert_eq!(v.get("out/kernel")?.shape(), [Some(2), Some(3)]);
///
/// v.set("out/bias", &RaggedTensor::from_nested([1.0f32, 2.0, 3.0], &Device::cpu())?)?;
/// let other_shape = v.variable("out/bias", DType::F32, &[4], &Initializer::Zeros);
/// assert!(other_shape.unwrap_err().to_string().starts_with("Variables::variable: variable \"out/bias\" is an f32 of shape [3]"));
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.Layer.add_weight`; `flax.nnx.Param`.
pub struct Variables {
    device: Device,
    seed: Seed,
    group: String,
    state: Arc<Mutex<State>>,
    /// Of a training step.
    step: Option<Step>,
}

/// The training step whose function has the variables.
struct Step {
    /// Its number, a scalar of u32.
    number: Tensor,
    /// The names that the function asked for.
    used: Mutex<BTreeSet<String>>,
    /// How often each random layer was called.
    calls: Mutex<HashMap<String, u32>>,
}

/// Why no variable can be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The function of a training step is called again.
    Step,
    /// The state of a training step has all its tensors.
    State,
    /// The variables are those of a model that was read.
    Restored,
}

#[derive(Default)]
struct State {
    all: Vec<Variable>,
    /// The position of each name.
    positions: HashMap<String, usize>,
    /// Why the names are complete, if they are.
    closed: Option<Closed>,
}

#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: Tensor,
    pub(crate) is_trainable: bool,
}

impl State {
    fn find(&self, name: &str) -> Option<&Variable> {
        self.positions.get(name).map(|&k| &self.all[k])
    }
    fn insert(&mut self, variable: Variable) {
        match self.positions.get(&variable.name) {
            Some(&k) => self.all[k] = variable,
            None => {
                self.positions.insert(variable.name.clone(), self.all.len());
                self.all.push(variable);
            }
        }
    }
}

/// Making, reading and setting.
impl Variables {
    /// No variables yet, of a device, with the seed of their first values.
    pub fn new(device: &Device, seed: Seed) -> Self {
        Self::of_group("variables", device, seed)
    }

    /// Variables that a file keeps under the name of a group.
    pub(crate) fn of_group(group: &str, device: &Device, seed: Seed) -> Self {
        Self { device: device.clone(), seed, group: group.to_owned(), state: Arc::default(), step: None }
    }

    pub(crate) fn set_group(&mut self, group: String) {
        self.group = group;
    }

    /// Refuses further names.
    pub(crate) fn close(&mut self, closed: Closed) {
        self.state().closed = Some(closed);
    }

    /// Removes all variables but the first.
    pub(crate) fn truncate(&mut self, count: usize) {
        let mut state = self.state();
        let count = count.min(state.all.len());
        let removed = state.all.split_off(count);
        for variable in &removed {
            state.positions.remove(&variable.name);
        }
    }

    /// The same variables, for the function of a training step.
    pub(crate) fn in_step(&self, number: &Tensor) -> Self {
        let step = Some(Step { number: number.clone(), used: Mutex::default(), calls: Mutex::default() });
        let state = Arc::clone(&self.state);
        Self { device: self.device.clone(), seed: self.seed, group: self.group.clone(), state, step }
    }

    /// These variables alone, for the function of a training step.
    pub(crate) fn of_step(of: &Self, all: impl IntoIterator<Item = Variable>, number: &Tensor) -> Self {
        let mut state = State::default();
        all.into_iter().for_each(|variable| state.insert(variable));
        state.closed = Some(Closed::Step);
        Self { state: Arc::new(Mutex::new(state)), ..of.in_step(number) }
    }

    /// The variables that the function of the training step asked for, in the order of their names.
    pub(crate) fn used(&self) -> Vec<Variable> {
        let Some(step) = &self.step else { return Vec::new() };
        let names = step.used.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().filter_map(|name| self.find(name)).collect()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Variable> {
        self.state().find(name).cloned()
    }

    fn note_use(&self, name: &str) {
        if let Some(step) = &self.step {
            step.used.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        }
    }

    /// How often the function of the training step has called the layer of that name before.
    pub(crate) fn calls_before(&self, layer: &str) -> u32 {
        let Some(step) = &self.step else { return 0 };
        let mut calls = step.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(layer.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic leaves no variable half-made.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The variable of that name, which is made if there is none: the function that layers call.
    ///
    /// # Errors
    /// A variable of that name with another dtype or shape; an initializer that gives no values of the dtype; 2^32 - 1
    /// values or more; a dtype that the device lacks. Within a training step: a name that no earlier call of the function
    /// made. After [`Self::restore`]: a name that the model lacked, unless [`Self::allow_new`] permits it.
    ///
    /// # Cost
    /// The first call computes the values on the host and uploads them. No wait.
    ///
    /// ```
    /// use ragged::{DType, Device, Result, Seed, Tensor};
    /// use ragged_nn::{Initializer, Variables};
    /// /// A layer: one scale for all values.
    /// fn scaled(v: &Variables, x: &Tensor) -> Result<Tensor> {
    ///     x.multiply(&v.variable("scale", x.dtype(), &[], &Initializer::Ones)?)
    /// }
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// let x = ragged::RaggedTensor::from_nested([2.0f32, 3.0], &Device::cpu())?;
    /// assert_eq!(scaled(&v, x.erased())?.to_string(), "tensor([2.0, 3.0], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn variable(&self, name: &str, dtype: DType, shape: &[usize], initializer: &Initializer) -> Result<Tensor> {
        self.made("Variables::variable", name, dtype, shape, initializer)
    }

    /// [`Self::variable`] for a function of another name.
    #[track_caller]
    pub(crate) fn made(
        &self,
        op: &'static str,
        name: &str,
        dtype: DType,
        shape: &[usize],
        initializer: &Initializer,
    ) -> Result<Tensor> {
        self.note_use(name);
        let closed = {
            let state = self.state();
            if let Some(known) = state.find(name) {
                let is_same = known.value.dtype() == dtype
                    && known.value.ragged_rank() == 0
                    && known.value.shape().iter().copied().eq(shape.iter().map(|&d| Some(d)));
                if is_same {
                    return Ok(known.value.clone());
                }
                let (was, is) = (described(&known.value), format!("{} of shape {shape:?}", with_article(dtype)));
                return Err(argument(op, format!("variable {name:?} is {was}, but is asked for as {is}")));
            }
            state.closed
        };
        match closed {
            None => {}
            Some(Closed::Step) => {
                let what =
                    format!("variable {name:?} is made within a training step, but was not when the step was prepared");
                return Err(argument(op, what));
            }
            Some(Closed::State) => {
                let what = format!("the state of a training step has no tensor {name:?}, and takes no others");
                return Err(argument(op, what));
            }
            Some(Closed::Restored) => {
                let names = self.names().join(", ");
                let what = format!("the model that was restored has no variable {name:?}; its variables: {names}");
                return Err(argument(op, format!("{what}; Variables::allow_new permits others")));
            }
        }
        let value = initializer.value(op, name, self.seed, dtype, shape, &self.device)?;
        let mut state = self.state();
        // Another thread may have made the same one meanwhile.
        if let Some(known) = state.find(name) {
            return Ok(known.value.clone());
        }
        let variable = Variable { name: name.to_owned(), value: value.clone(), is_trainable: dtype.is_float() };
        state.insert(variable);
        Ok(value)
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// None of that name.
    ///
    /// ```
    /// use ragged::{Device, Seed};
    /// use ragged_nn::Variables;
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// let missing = v.get("out/kernel").unwrap_err().to_string();
    /// assert!(missing.starts_with("Variables::get: there is no variable \"out/kernel\""));
    /// ```
    #[track_caller]
    pub fn get(&self, name: &str) -> Result<Tensor> {
        self.note_use(name);
        match self.find(name) {
            Some(known) => Ok(known.value),
            None => Err(self.absent("Variables::get", name)),
        }
    }

    /// Gives a variable another value, of the same dtype and shape.
    ///
    /// # Errors
    /// None of that name; another dtype, shape or device; a call within the function of a training step, which changes
    /// variables by its optimizer alone.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor, Seed};
    /// use ragged_nn::{Initializer, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// v.variable("bias", DType::F32, &[2], &Initializer::Zeros)?;
    /// v.set("bias", &RaggedTensor::from_nested([1.0f32, 2.0], &Device::cpu())?)?;
    /// assert_eq!(v.get("bias")?.to_string(), "tensor([1.0, 2.0], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn set(&self, name: &str, value: &impl AsRef<Tensor>) -> Result<()> {
        const OP: &str = "Variables::set";
        let value = value.as_ref();
        self.check_outside(OP, &format!("variable {name:?} is"))?;
        let Some(known) = self.find(name) else { return Err(self.absent(OP, name)) };
        self.check(OP, &known, value)?;
        self.state().insert(Variable { value: value.clone(), ..known });
        Ok(())
    }

    /// Refuses changes within the function of a training step.
    #[track_caller]
    fn check_outside(&self, op: &'static str, what: &str) -> Result<()> {
        if self.step.is_none() {
            return Ok(());
        }
        let hint =
            "the optimizer alone changes variables there; return a metric instead, and set the variable after the step";
        Err(argument(op, format!("{what} changed within the function of a training step; {hint}")))
    }

    /// Whether the value fits the variable and the device.
    #[track_caller]
    fn check(&self, op: &'static str, variable: &Variable, value: &Tensor) -> Result<()> {
        let name = &variable.name;
        if value.device() != self.device {
            let (device, of) = (value.device(), self.device.name());
            let is = device.name();
            return Err(argument(op, format!("variable {name:?} is on device {of}, but the value on {is}")));
        }
        if !spec_of(&variable.value).accepts(value) {
            let (was, is) = (described(&variable.value), described(value));
            return Err(argument(op, format!("variable {name:?} is {was}, but the value is {is}")));
        }
        Ok(())
    }

    #[track_caller]
    fn absent(&self, op: &'static str, name: &str) -> ragged::Error {
        let names = self.names();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        argument(op, format!("there is no variable {name:?}; the variables: {has}"))
    }
}
