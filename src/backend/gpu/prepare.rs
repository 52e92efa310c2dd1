//! Computes the kernels of a plan for the sizes of a run: lowers and compiles them and checks all limits, without
//! allocating buffers.

use super::backend::GpuBackend;
use super::binding_windows::{self, BindingWindow, WindowedDispatch};
use super::buffer_assignment::Lifetimes;
use super::codegen::{Binding, StepModules, StorageArray};
use super::compiled_plan::{Base, BufferBinding, Kernel, Resource, SizedPlan, SizedStep};
use super::launch::{FEWER_ROWS, Launch, Lowered, Lowering};
use super::primitive::lower;
use super::runtime::{Access, Pipeline};
use crate::error::{Error, Result, caller};
use crate::graph::backend::Backend;
use crate::graph::plan::{LinkedPlan, Step};
use crate::graph::planned::{Node, SizeView};
use crate::graph::primitive::copied_bytes;
use crate::graph::step::traffic::{Loads, traffic};

impl GpuBackend {
    /// The kernels of the plan for the sizes of a run. `kept` marks the arrays that outlive the run, `in_place` the steps
    /// that overwrite their base.
    pub(super) fn sized(
        &self,
        plan: &LinkedPlan,
        modules: &[StepModules],
        sizes: SizeView<'_>,
        (kept, in_place): (&[bool], &[bool]),
    ) -> Result<SizedPlan> {
        let mut out = SizedPlan { steps: Vec::with_capacity(plan.steps.len()), ..SizedPlan::default() };
        let mut buffers = Lifetimes::default();
        let slots: usize = plan.steps.iter().map(|step| step.all_checks().count()).sum();
        out.status = (slots > 0).then(|| buffers.add(slots as u64 * 4, 0, None));
        for (k, (step, modules)) in plan.steps.iter().zip(modules).enumerate() {
            let to = Lowering { first_slot: out.slots, sizes, modules, driver: self.driver_limits() };
            let sized = self.sized_step(plan, (k, step), &mut out, to, (&mut buffers, kept, in_place[k]))?;
            out.slots += sized.checks.len() as u32;
            out.steps.push(sized);
        }
        let assignment = buffers.assign_buffers(|bytes| self.runtime.limits().max_capacity_for(bytes));
        let buffer_of = |array: &mut usize| *array = assignment.buffer_of[*array];
        out.status.iter_mut().for_each(buffer_of);
        for step in &mut out.steps {
            step.outputs.iter_mut().map(|(array, _)| array).chain(&mut step.scratch).for_each(buffer_of);
        }
        out.buffers = assignment.bytes;
        Ok(out)
    }

    fn sized_step(
        &self,
        plan: &LinkedPlan,
        (k, step): (usize, &Step),
        out: &mut SizedPlan,
        to: Lowering<'_>,
        (buffers, kept, in_place): (&mut Lifetimes, &[bool], bool),
    ) -> Result<SizedStep> {
        let (op, first_output, sizes) = (step.out.op(), plan.links[k].first_output, to.sizes);
        let outputs = step.outputs();
        outputs.iter().try_for_each(|n| self.check_bytes(op, node_bytes(sizes, n)))?;
        let lowered = lower(step, to)?;
        lowered.scratch.iter().try_for_each(|&bytes| self.check_bytes(op, bytes))?;
        out.bytes_moved += traffic(step, &Loads::of(step), sizes, lowered.scratch.iter().sum()).total();
        let mut kernels = Vec::with_capacity(lowered.launches.len());
        for launch in &lowered.launches {
            let arrays: Vec<Resource> = launch.arrays().iter().map(|a| resource(&a.binding, step)).collect();
            match self.windows(step, sizes, &lowered, launch)? {
                None => kernels.push(self.whole(launch, &arrays)?),
                Some(parts) => kernels.extend(self.parts(launch, parts, &arrays)?),
            }
        }
        if in_place {
            out.bytes_moved -= copied_bytes(step, sizes);
        }
        let base =
            step.recipe.base().map(|base| if in_place { Base::Overwritten } else { Base::Copied(read(base, step)) });
        let Lowered { scratch, overflow, cleared_outputs, .. } = lowered;
        let output = |(m, n): (usize, &&Node)| {
            let last = if kept[m] { None } else { Some(plan.computed[m].last_step) };
            let bytes = if in_place { 0 } else { node_bytes(sizes, n) };
            (buffers.add(bytes, k, last), sizes.capacity(n.extent()))
        };
        let outputs = (first_output..).zip(&outputs).map(output).collect();
        // The overflow flag of a scan is read after the run.
        let last = |s: usize| if overflow.is_some_and(|(at, _)| at == s) { None } else { Some(k) };
        let scratch = scratch.iter().enumerate().map(|(s, &bytes)| buffers.add(bytes, k, last(s))).collect();
        Ok(SizedStep {
            outputs,
            base,
            op,
            scratch,
            kernels,
            cleared_outputs,
            checks: step.all_checks().copied().collect(),
            overflow,
        })
    }

    fn check_bytes(&self, op: &str, bytes: u64) -> Result<()> {
        if bytes <= self.max_bytes() {
            return Ok(());
        }
        Err(Error::Limit {
            what: op.into(),
            requested: bytes,
            unit: "bytes",
            limit: self.max_bytes(),
            whose: format!("one buffer of {}; {FEWER_ROWS}", self.name),
            location: caller(),
        })
    }

    /// The dispatches of a launch with arrays that exceed one binding; `None` if each array fits one binding.
    pub(super) fn windows(
        &self,
        step: &Step,
        sizes: SizeView<'_>,
        lowered: &Lowered,
        launch: &Launch,
    ) -> Result<Option<Vec<WindowedDispatch>>> {
        let bytes = |b: &Binding| match b {
            Binding::Read(n) => node_bytes(sizes, n),
            Binding::Output(k) => node_bytes(sizes, step.outputs()[*k]),
            Binding::Scratch(k) | Binding::ScratchRead(k) => lowered.scratch[*k],
            Binding::Status => 0,
        };
        let bytes: Vec<u64> = launch.arrays().iter().map(|a| bytes(&a.binding)).collect();
        binding_windows::split(step, sizes, launch, &bytes).map_err(|exceeded| Error::Limit {
            what: format!("{}, which binds arrays of {} bytes in all,", step.out.op(), bytes.iter().sum::<u64>()),
            requested: exceeded.requested,
            unit: exceeded.unit,
            limit: exceeded.limit,
            whose: format!("one kernel of {}; {FEWER_ROWS}", self.name),
            location: caller(),
        })
    }

    /// The pipeline of a launch whose arrays are bound whole, compiled on first use.
    fn pipeline_of(&self, launch: &Launch) -> Result<Pipeline> {
        let mut known = launch.module.pipelines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((.., pipeline)) = known.iter().find(|(e, c, _)| *e == launch.entry && *c == launch.checks) {
            return Ok(pipeline.clone());
        }
        let access: Vec<Access> = launch.arrays().iter().map(access).collect();
        let label = &launch.module.label;
        let pipeline = self.runtime.pipeline(label, launch.text(), launch.entry, &access, launch.checks)?;
        known.push((launch.entry, launch.checks, pipeline.clone()));
        Ok(pipeline)
    }

    fn whole(&self, launch: &Launch, arrays: &[Resource]) -> Result<Kernel> {
        Ok(Kernel {
            pipeline: self.pipeline_of(launch)?,
            bindings: arrays.iter().map(|&resource| BufferBinding { resource, window: None }).collect(),
            params: launch.params.as_slice().into(),
            workgroups: launch.workgroups,
            depth: launch.depth,
            label: launch.module.label.clone(),
        })
    }

    /// The kernels of a launch that is split into dispatches, which share one module and one list of bindings.
    fn parts(&self, launch: &Launch, parts: Vec<WindowedDispatch>, arrays: &[Resource]) -> Result<Vec<Kernel>> {
        let Some(first) = parts.first() else { return Ok(Vec::new()) };
        let access: Vec<Access> = first.bindings.iter().map(|w| access(&launch.arrays()[w.array])).collect();
        // Bounds are proven only for arrays that are bound whole.
        let checks = launch.checks.with_bounds();
        let label = &launch.module.label;
        let pipeline = self.runtime.pipeline(label, &first.text, launch.entry, &access, checks)?;
        let of_array = |w: BindingWindow| BufferBinding { resource: arrays[w.array], window: w.bytes };
        let kernel = |part: WindowedDispatch| Kernel {
            pipeline: pipeline.clone(),
            bindings: part.bindings.into_iter().map(of_array).collect(),
            params: part.params.into(),
            workgroups: part.workgroups,
            depth: launch.depth,
            label: label.clone(),
        };
        Ok(parts.into_iter().map(kernel).collect())
    }
}

fn resource(binding: &Binding, step: &Step) -> Resource {
    match binding {
        Binding::Read(n) => Resource::Read(read(n, step)),
        Binding::Output(k) => Resource::Output(*k),
        Binding::Scratch(k) | Binding::ScratchRead(k) => Resource::Scratch(*k),
        Binding::Status => Resource::Status,
    }
}

/// The index of an array that the step reads.
fn read(node: &Node, step: &Step) -> usize {
    step.reads.iter().position(|n| n == node).expect("bug: a kernel reads an array that is no input of its step")
}

fn access(array: &StorageArray) -> Access {
    if array.binding.is_read_only() { Access::Read } else { Access::ReadWrite }
}

/// Bytes of an array in storage, rounded up to whole words.
fn node_bytes(sizes: SizeView<'_>, n: &Node) -> u64 {
    sizes.bytes(n).next_multiple_of(4)
}
