//! Programs: a computation that is recorded once and run on any tensors that fit.

mod donation;
mod gradient;
mod layout;
mod parts;
mod run;
#[cfg(feature = "saved")]
mod saved;
mod spec;
mod traced;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "saved")]
pub use saved::{LoadOptions, SavedModel};
pub use spec::TensorSpec;

use crate::device::Device;
use crate::error::{Error, Result, caller, here};
use crate::explain::Explain;
use crate::graph::backend::{BackendRef, OF_TRACES};
use crate::graph::node::Node;
use crate::graph::program::{ReplayInputs, SizeId};
use crate::graph::run::recording::copied;
use crate::graph::run::traced_run::TracedProgram;
use crate::tensor::{Tensor, TensorSet};
use layout::{Layout, frozen};
use run::Way;
use traced::Traced;

/// A computation that was recorded once, by [`Program::trace`], and runs on any inputs that fit its [`TensorSpec`]s: on
/// any device, from any number of threads.
///
/// `Display` lists the program, one line per array.
///
/// ```
/// use ragged::opt::descending;
/// use ragged::{DType, Device, Program, RaggedTensor, TensorSpec};
/// let scores = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
/// let best = Program::trace(&[scores], |x| x[0].sort(descending(1))?.slice(ragged::s![.., ..2]))?;
/// let x = RaggedTensor::from_nested([vec![0.5f32, 0.75, 0.25], vec![], vec![1.0]], &Device::cpu())?;
/// assert_eq!(best.run(&x)?[0].to_string(), "<ragged.RaggedTensor [[0.75, 0.5], [], [1.0]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Clone)]
pub struct Program(Arc<Code>);

struct Code {
    inputs: Vec<TensorSpec>,
    outputs: Vec<Layout>,
    /// Tells programs apart.
    number: u64,
    traced: TracedProgram,
    /// Per array of the program where it comes from; `None` for computed ones.
    arrays: Vec<Option<ArrayOrigin>>,
    /// Per size of the program where it comes from; `None` for those that the program determines.
    sizes: Vec<Option<SizeOrigin>>,
    /// Upper bounds of counts.
    bounds: Vec<(SizeId, SizeId)>,
    /// Whether a file holds the program, so that nothing guarantees the rules that recordings keep.
    is_of_file: bool,
    /// The devices on which recorded runs of a program from a file have been planned.
    planned_on: Mutex<Vec<u64>>,
}

/// Runs of programs from files within traces, in all threads: a program that is traced meanwhile may contain one.
static TRACED_RUNS_OF_FILES: AtomicU64 = AtomicU64::new(0);

/// What `run` makes of a program from a file; an error if it panics.
#[track_caller]
fn guarded<T>(op: &'static str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Err(Error::argument(op, format!("the program breaks a rule that recorded ones keep: {text}")))
    })
}

/// The place of an array or a size among the [`Parts`] of the inputs.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
struct Place {
    input: u32,
    part: u32,
}

enum ArrayOrigin {
    Input(Place),
    Captured(Captured),
}

enum SizeOrigin {
    Input(Place),
    /// A size of a captured tensor.
    Known(u32),
}

/// An array that the closure captured: a constant of the program.
struct Captured {
    node: Node,
    /// Its copies on other devices.
    copies: Mutex<Vec<Node>>,
}

impl Captured {
    /// The array on a device; within a trace, which takes arrays of any device, as it is.
    fn on(&self, backend: &BackendRef) -> Result<Node> {
        if backend.id() == OF_TRACES || self.node.backend().id() == backend.id() {
            return Ok(self.node.clone());
        }
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = copies.iter().find(|copy| copy.backend().id() == backend.id()) {
            return Ok(known.clone());
        }
        let copy = copied(&self.node, backend)?;
        copies.push(copy.clone());
        Ok(copy)
    }
}

/// Tracing and running.
impl Program {
    /// Records the program that `f` computes from inputs of these specifications. `f` is called once, with tensors that
    /// have no values; its result is a tensor, or several as a list or a tuple.
    ///
    /// Tensors that `f` captures are constants of the program; they may be on any device. Each run computes what they have
    /// not yet computed, so evaluate them before. Numbers that `f` captures are constants, too: a number that varies is an input
    /// of shape `[]`.
    ///
    /// # Errors
    /// A specification with more partitions than dimensions, or with a uniform inner dimension of unknown size; a read,
    /// or an operation that needs a value or size of an input, while `f` runs ([`Error::Traced`]); the errors of `f`.
    ///
    /// ```
    /// use ragged::{DType, Device, Program, RaggedTensor, TensorSpec};
    /// let spec = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
    /// let center = Program::trace(&[spec], |x| x[0].subtract(&x[0].reduce_mean(ragged::opt::keep(1))?))?;
    /// for rows in [vec![vec![1.0f32, 3.0], vec![5.0]], vec![vec![], vec![2.0, 4.0, 9.0]]] {
    ///     let x = RaggedTensor::from_nested(rows, &Device::cpu())?;
    ///     println!("{}", center.run(&x)?[0]);
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Source: `tf.function` with an input signature; `jax.jit`.
    #[track_caller]
    pub fn trace<O: TensorSet>(specs: &[TensorSpec], f: impl FnOnce(&[Tensor]) -> Result<O>) -> Result<Self> {
        const OP: &str = "Program::trace";
        let traced = Traced::of(OP, specs)?;
        let before = TRACED_RUNS_OF_FILES.load(Ordering::Relaxed);
        let outputs = f(&traced.inputs)?;
        // One of another trace counts, too, which does no harm.
        let is_of_file = TRACED_RUNS_OF_FILES.load(Ordering::Relaxed) != before;
        let program = || Ok(traced.program(specs, &outputs.tensors(), is_of_file));
        if is_of_file { guarded(OP, program) } else { program() }.map_err(here())
    }

    /// The specifications of the inputs.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.0.inputs
    }

    /// The outputs for these inputs: a tensor, or several as a list or a tuple. Without inputs the outputs are on the
    /// device of the captured tensors, or on the CPU: see [`Program::run_on`].
    ///
    /// Nothing is recorded. On the CPU the outputs are computed now; on a GPU their kernels are submitted now, and reads
    /// wait for them, as after [`Tensor::eval`]. Inputs that are not yet computed are computed before.
    ///
    /// Sizes of the inputs that only the device knows, as those of a result of [`Tensor::boolean_mask`], are read first:
    /// one wait for all of them, which [`record_async`](crate::record_async) awaits.
    ///
    /// Some runs record the program on the inputs instead, so that reads compute it: within a program that is traced, and
    /// on a GPU those on inputs in buffers of the user without padding, and those that have to wait for a size, since its
    /// upper bound would take much memory.
    ///
    /// # Errors
    /// Another number of inputs; one that its specification does not accept ([`Error::Input`]); inputs of different
    /// devices; a dtype that the device has not; no memory for the outputs. A check that fails is the error of a read. A
    /// program within one that is traced: sizes of inputs that the outer program computes ([`Error::Traced`]).
    #[track_caller]
    pub fn run(&self, inputs: impl TensorSet) -> Result<Vec<Tensor>> {
        const OP: &str = "Program::run";
        let inputs = inputs.tensors();
        let backend = self.checked(OP, &inputs, None)?;
        self.outputs_on(OP, &inputs, &backend).map_err(here())
    }

    /// As [`Self::run`], of inputs that the run may overwrite: the buffer of an input becomes that of an output of equal
    /// size where the program allows it.
    ///
    /// A run that succeeds takes all inputs out of `inputs`; after an error they are as they were. An input is donated if it
    /// is dense and no other tensor, read or program holds its values. One that is held elsewhere is right to pass: it is
    /// copied, and keeps its values. The outputs have the bits of [`Self::run`].
    ///
    /// [`update_rows`](Tensor::update_rows) of a donated tensor writes the rows alone, if nothing later in the program reads
    /// the tensor. The buffers of other donated inputs are free for later runs. Programs from files and runs within traces
    /// copy.
    ///
    /// # Errors
    /// As [`Self::run`]. A check that fails on a GPU after an input was overwritten is the error of the outputs' reads.
    ///
    /// ```
    /// use ragged::{DType, Device, Program, RaggedTensor, TensorSpec};
    /// let table = TensorSpec::new(DType::F32, [None, Some(2)]);
    /// let ids = TensorSpec::new(DType::I32, [None]);
    /// let step = Program::trace(&[table, ids], |x| {
    ///     x[0].update_rows(&x[1], &x[0].gather(&x[1])?.multiply(2.0)?)
    /// })?;
    /// let device = Device::cpu();
    /// let table = RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &device)?;
    /// let ids = RaggedTensor::from_nested([1], &device)?;
    /// let mut inputs = vec![table.into_erased(), ids.into_erased()];
    /// let table = step.run_donating(&mut inputs)?.remove(0);
    /// assert_eq!(table.to_string(), "tensor([[1.0, 2.0], [6.0, 8.0], [5.0, 6.0]], shape=(3, 2), dtype=f32)");
    /// assert!(inputs.is_empty());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Source: `donate_argnums` of `jax.jit`.
    #[track_caller]
    pub fn run_donating(&self, inputs: &mut Vec<Tensor>) -> Result<Vec<Tensor>> {
        const OP: &str = "Program::run_donating";
        let given: Vec<&Tensor> = inputs.iter().collect();
        let backend = self.checked(OP, &given, None)?;
        if self.0.is_of_file || backend.id() == OF_TRACES {
            let outputs = self.outputs_on(OP, &given, &backend).map_err(here())?;
            inputs.clear();
            return Ok(outputs);
        }
        self.outputs_donating(OP, inputs, &backend).map_err(here())
    }

    /// The outputs of a program without inputs, on a device. [`Program::run`] selects the device of the captured tensors;
    /// those of a file are on none.
    ///
    /// # Errors
    /// A program with inputs, which [`Program::run`] runs on their device; otherwise as [`Program::run`].
    ///
    /// ```
    /// use ragged::{Device, Program, RaggedTensor};
    /// let table = RaggedTensor::from_nested([vec![0.5f32, 1.0], vec![2.0]], &Device::cpu())?;
    /// let sums = Program::trace(&[], |_| table.reduce_sum(1))?;
    /// let device = Device::best()?;
    /// assert_eq!(sums.run_on(&device)?[0].to_string(), "tensor([1.5, 2.0], shape=(2,), dtype=f32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn run_on(&self, device: &Device) -> Result<Vec<Tensor>> {
        const OP: &str = "Program::run_on";
        let inputs = self.0.inputs.len();
        if inputs > 0 {
            let what = format!("the program has inputs ({inputs}), whose device `run` runs it on");
            return Err(Error::argument(OP, what));
        }
        let backend = self.checked(OP, &[], Some(device))?;
        self.outputs_on(OP, &[], &backend).map_err(here())
    }

    #[track_caller]
    fn outputs_on(&self, op: &'static str, inputs: &[&Tensor], backend: &BackendRef) -> Result<Vec<Tensor>> {
        if !self.0.is_of_file {
            return self.outputs_of(op, inputs, backend, Way::Computed);
        }
        if backend.id() == OF_TRACES {
            TRACED_RUNS_OF_FILES.fetch_add(1, Ordering::Relaxed);
        }
        // Recorded outputs would be computed by reads, which nothing guards.
        guarded(op, || self.outputs_of(op, inputs, backend, Way::Tried))
    }

    /// The kernels that a run on these inputs has; runs nothing, but for reads of sizes that only the device knows.
    ///
    /// # Errors
    /// As [`Program::run`].
    #[track_caller]
    pub fn explain(&self, inputs: impl TensorSet) -> Result<Explain> {
        const OP: &str = "Program::explain";
        let inputs = inputs.tensors();
        let backend = self.checked(OP, &inputs, None)?;
        let explain = || crate::tensor::explain(&self.outputs_of(OP, &inputs, &backend, Way::Recorded)?);
        if self.0.is_of_file { guarded(OP, explain) } else { explain() }.map_err(here())
    }

    /// Whether a recording of the program on other inputs is the same program: the difference.
    #[doc(hidden)]
    pub fn replay_difference(&self) -> Result<Option<String>> {
        let code = &*self.0;
        let device = Device::of_traces();
        let (arrays, sizes) = code.traced.program.traced_inputs(device.backend());
        let of = code.traced.program.replay(ReplayInputs {
            backend: device.backend(),
            arrays,
            sizes,
            bounds: &code.bounds,
            scalars: &code.traced.trace.run.scalars,
            locations: &code.traced.trace.locations,
        });
        let outputs: Vec<Tensor> =
            code.outputs.iter().map(|layout| layout.tensor(device.backend(), &of)).collect::<Result<_>>()?;
        let (again, layouts) = frozen(&outputs.tensors());
        let is_same = again.program == *code.traced.program && layouts == code.outputs && again.bounds == code.bounds;
        Ok((!is_same).then(|| {
            let (was, is) = ((&*code.traced.program, &code.outputs), (&again.program, &layouts));
            format!(
                "{was:#?}
{:?}
is replayed as
{is:#?}
{:?}",
                code.bounds, again.bounds
            )
        }))
    }

    /// The device of the inputs, which fit; without inputs, the one that is given.
    #[track_caller]
    fn checked(&self, op: &'static str, inputs: &[&Tensor], device: Option<&Device>) -> Result<BackendRef> {
        let specs = &self.0.inputs;
        if inputs.len() != specs.len() {
            return Err(Error::argument(op, format!("it has {} inputs, not {}", specs.len(), inputs.len())));
        }
        for (input, (x, spec)) in inputs.iter().zip(specs).enumerate() {
            Device::check_same(op, inputs[0].backend(), x.backend())?;
            if !spec.accepts(x) {
                let (expected, given) = (spec.to_string(), given(x));
                return Err(Error::Input { input, expected, given, location: caller() });
            }
        }
        let captured = self.0.arrays.iter().flatten().find_map(|origin| match origin {
            ArrayOrigin::Captured(captured) => Some(captured.node.backend().clone()),
            ArrayOrigin::Input(_) => None,
        });
        let own = captured.filter(|backend| backend.id() != Device::of_traces().backend().id());
        let given = inputs.first().map(|x| x.backend()).or(device.map(Device::backend)).cloned();
        let backend = given.or(own).unwrap_or_else(|| Device::cpu().backend().clone());
        if backend.is_cpu()
            && let Some(function) = self.0.traced.trace.locations.functions().iter().find(|f| !f.has_rust())
        {
            return Err(function.missing());
        }
        Ok(backend)
    }
}

/// The tensor in the words of a specification.
fn given(x: &Tensor) -> String {
    let sizes: Vec<String> = x.shape().iter().map(|n| n.map_or("None".into(), |n| n.to_string())).collect();
    format!("a tensor of shape [{}], dtype {} and ragged rank {}", sizes.join(", "), x.dtype(), x.ragged_rank())
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_of_file {
            return self.0.traced.program.fmt(f);
        }
        match guarded("Program", || Ok(self.0.traced.program.to_string())) {
            Ok(text) => f.write_str(&text),
            Err(e) => write!(f, "{e}"),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs: Vec<String> = self.0.inputs.iter().map(TensorSpec::to_string).collect();
        write!(f, "Program({})", inputs.join(", "))
    }
}
