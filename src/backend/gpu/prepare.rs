//! From a plan to kernels that are ready to run: lowered, compiled, every size looked at, nothing allocated.

use super::backend::GpuBackend;
use super::codegen::Binding;
use super::launch::{Launch, Lowered};
use super::lower::lower;
use super::prepared::{Bound, BufferBinding, Kernel, Prepared, ReadyArray, ReadyStep, Source};
use super::runtime::Access;
use super::windows::{self, BindingWindow, Windowed};
use crate::error::{Error, Result};
use crate::graph::backend::Backend;
use crate::graph::digest::Digest;
use crate::graph::node::{Node, Recipe};
use crate::graph::plan::{Plan, Step};
use crate::graph::request::Request;
use crate::graph::traffic::traffic;

impl GpuBackend {
    /// Compiles a plan of the request. All sizes are looked at; nothing is allocated.
    pub(super) fn prepare(&self, plan: &Plan, request: &Request) -> Result<Prepared> {
        self.runtime.counters().plan();
        let mut out = Prepared { steps: Vec::with_capacity(plan.steps.len()), ..Prepared::default() };
        let mut made: Vec<Digest> = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            let op = step.out.op();
            let array = |n: &&Node| ReadyArray { number: request.number(n), bytes: node_bytes(n) };
            let outputs: Vec<ReadyArray> = step.outputs().iter().map(array).collect();
            outputs.iter().try_for_each(|array| self.check_bytes(op, array.bytes))?;
            let lowered = lower(step, out.slots)?;
            lowered.scratch.iter().try_for_each(|&bytes| self.check_bytes(op, bytes))?;
            out.moves += traffic(step, lowered.scratch.iter().sum()).total();
            // Where the plan finds an array.
            let mut source = |n: &Node| match made.iter().position(|made| *made == n.digest()) {
                Some(k) => Source::Made(k),
                None => Source::Input(out.input(request.number(n).expect("bug: an array that nothing makes"))),
            };
            let depends = step.reads.iter().chain(&step.after).map(&mut source).collect();
            let mut kernels = Vec::new();
            for launch in &lowered.launches {
                let arrays: Vec<Bound> = launch.bindings.iter().map(|b| bound(b, &mut source)).collect();
                match self.windows(step, &lowered, launch)? {
                    None => kernels.push(self.whole(launch, &arrays)?),
                    Some(parts) => kernels.extend(self.parts(launch, parts, &arrays)?),
                }
            }
            made.extend(step.outputs().iter().map(|n| n.digest()));
            let mut checks = step.checks.clone();
            if let Recipe::Assert { check, .. } = &step.recipe {
                checks.push(check.clone());
            }
            out.slots += checks.len() as u32;
            let Lowered { scratch, overflow, cleared_outputs, .. } = lowered;
            out.steps.push(ReadyStep { outputs, op, scratch, kernels, cleared_outputs, checks, overflow, depends });
        }
        out.buffers.extend((out.slots > 0).then_some(u64::from(out.slots) * 4));
        for step in &out.steps {
            out.buffers.extend(step.outputs.iter().map(|array| array.bytes).chain(step.scratch.iter().copied()));
        }
        Ok(out)
    }

    fn check_bytes(&self, what: &str, bytes: u64) -> Result<()> {
        if bytes <= self.max_bytes() {
            return Ok(());
        }
        Err(Error::Limit {
            what: what.into(),
            requested: bytes,
            unit: "bytes",
            limit: self.max_bytes(),
            whose: self.name.clone(),
        })
    }

    /// The launch's kernel, if it binds arrays larger than a binding.
    pub(super) fn windows(&self, step: &Step, lowered: &Lowered, launch: &Launch) -> Result<Option<Vec<Windowed>>> {
        let bytes = |b: &Binding| match b {
            Binding::Read(n) => node_bytes(n),
            Binding::Output(k) => node_bytes(step.outputs()[*k]),
            Binding::Scratch(k) | Binding::ScratchRead(k) => lowered.scratch[*k],
            Binding::Status => 0,
        };
        let bytes: Vec<u64> = launch.bindings.iter().map(bytes).collect();
        windows::split(step, launch, &bytes).map_err(|refused| Error::Limit {
            what: format!("{}: arrays of {} bytes in all", step.out.op(), bytes.iter().sum::<u64>()),
            requested: refused.requested,
            unit: refused.unit,
            limit: refused.limit,
            whose: self.name.clone(),
        })
    }

    fn whole(&self, launch: &Launch, arrays: &[Bound]) -> Result<Kernel> {
        let access: Vec<Access> = launch.bindings.iter().map(access).collect();
        Ok(Kernel {
            pipeline: self.runtime.pipeline(&launch.label, &launch.text, launch.entry, &access, launch.checks)?,
            bindings: arrays.iter().map(|&what| BufferBinding { what, window: None }).collect(),
            params: launch.params.as_slice().into(),
            workgroups: launch.workgroups,
            depth: launch.depth,
            label: launch.label.clone(),
        })
    }

    /// The dispatches of a launch that is cut, which share a text and what they bind.
    fn parts(&self, launch: &Launch, parts: Vec<Windowed>, arrays: &[Bound]) -> Result<Vec<Kernel>> {
        let Some(first) = parts.first() else { return Ok(Vec::new()) };
        let access: Vec<Access> = first.bindings.iter().map(|w| access(&launch.bindings[w.binding])).collect();
        // The proofs are about arrays that are bound whole.
        let checks = launch.checks.with_bounds();
        let pipeline = self.runtime.pipeline(&launch.label, &first.text, launch.entry, &access, checks)?;
        let of_array = |w: BindingWindow| BufferBinding { what: arrays[w.binding], window: w.bytes };
        let kernel = |part: Windowed| Kernel {
            pipeline: pipeline.clone(),
            bindings: part.bindings.into_iter().map(of_array).collect(),
            params: part.params.into(),
            workgroups: part.workgroups,
            depth: launch.depth,
            label: launch.label.clone(),
        };
        Ok(parts.into_iter().map(kernel).collect())
    }
}

fn bound(binding: &Binding, source: &mut impl FnMut(&Node) -> Source) -> Bound {
    match binding {
        Binding::Read(n) => Bound::Array(source(n)),
        Binding::Output(k) => Bound::Output(*k),
        Binding::Scratch(k) | Binding::ScratchRead(k) => Bound::Scratch(*k),
        Binding::Status => Bound::Status,
    }
}

fn access(binding: &Binding) -> Access {
    match binding {
        Binding::Read(_) | Binding::ScratchRead(_) => Access::Read,
        _ => Access::ReadWrite,
    }
}

/// Bytes of an array in storage, in whole words.
fn node_bytes(n: &Node) -> u64 {
    n.bytes().next_multiple_of(4)
}
