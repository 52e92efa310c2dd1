//! Records the kernels of a plan as commands: takes buffers from the pool, and collects the results to publish after
//! submission.

use std::sync::Arc;

use super::backend::GpuBackend;
use super::compiled_plan::{BufferBinding, CompiledPlan, Resource, RunHint};
use super::runtime::{Buffer, BufferSlice, Command, Dispatch, Runtime};
use crate::error::{Error, Result};
use crate::graph::backend::{Backend, Status, Wait};
use crate::graph::digest::DigestMap;
use crate::graph::expr::Check;
use crate::graph::node::{Node, Stored};
use crate::graph::plan::{ArraySource, LinkedPlan};
use crate::graph::program::{Bindings, Program, trace};
use crate::graph::recording::must_not_block;
use crate::graph::stage::counts_to_read;

/// The buffer to which checks report. The word of a slot is the bitwise complement of the first offending position, or
/// 0 if there is none, since clearing a buffer to 0 needs no kernel. For a scan the word is a flag that is nonzero if
/// the total overflowed.
#[derive(Debug)]
pub(super) struct StatusBlock {
    pub(super) buffer: Buffer,
    is_flag: bool,
}

impl StatusBlock {
    pub(super) fn first_offender(&self, word: u32) -> u32 {
        match (self.is_flag, word) {
            (true, 0) => u32::MAX,
            (true, _) => 0,
            (false, inverted) => !inverted,
        }
    }
}

/// Commands of a plan, and the results to publish to its nodes after submission.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) commands: Vec<Command>,
    results: DigestMap<(Node, Stored)>,
    /// Bytes that the kernels read plus write.
    bytes_moved: u64,
}

impl Recorded {
    pub(super) fn stored(&self, node: &Node) -> Stored {
        match self.results.get(&node.digest()) {
            Some((_, stored)) => stored.clone(),
            None => node.stored().expect("bug: a node that was not evaluated").clone(),
        }
    }

    /// Number of allocated elements of the node's array; `None` if it is not computed.
    pub(super) fn computed_len(&self, node: &Node) -> Option<u32> {
        let made = self.results.get(&node.digest()).map(|(_, stored)| stored.len);
        made.or_else(|| node.stored().map(|stored| stored.len))
    }

    pub(super) fn buffer(&self, node: &Node) -> Buffer {
        buffer(&self.stored(node))
    }

    /// Publishes the results to their nodes. Must follow submission: otherwise another thread could submit a reader
    /// first.
    pub(super) fn publish(self, runtime: &Runtime) {
        runtime.counters().moved(self.bytes_moved);
        for (node, stored) in self.results.into_values() {
            node.set_stored(stored);
        }
    }
}

fn buffer(stored: &Stored) -> Buffer {
    stored.data.downcast_ref::<Buffer>().expect("bug: an array of another backend").clone()
}

impl GpuBackend {
    /// Traces the program that computes the nodes. Counts at whose upper bounds arrays would take much memory are read
    /// in advance, with one wait per stage except the last.
    pub(super) fn trace_in_stages(&self, nodes: &[Node]) -> Result<(Program, Bindings)> {
        loop {
            let (program, bindings) = trace(nodes)?;
            let counts = counts_to_read(&program, &bindings, self.tuning.stage_bytes);
            if counts.is_empty() || must_not_block() {
                return Ok((program, bindings));
            }
            drop((program, bindings));
            match pollster::block_on(self.read_counts(&counts, Wait::Blocking, &mut |_, _| {})) {
                // The next read reports the failed check.
                Err(Error::Check { .. }) => return trace(nodes),
                outcome => outcome?,
            }
        }
    }

    /// The commands that compute the nodes, by a cached plan or a new one.
    pub(super) fn record(&self, nodes: &[Node], traced: (Program, Bindings)) -> Result<Recorded> {
        if nodes.iter().all(|n| n.stored().is_some()) {
            return Ok(Recorded::default());
        }
        let (program, bindings) = traced;
        let is_valid = |compiled: &CompiledPlan| compiled.plan.is_valid(&bindings.run);
        let compiled = self.plans.get_or_make(program, is_valid, |program| {
            self.runtime.counters().plan();
            CompiledPlan::new(LinkedPlan::new(program, &bindings, &self.placeholder(), self.plan_limits()))
        });
        let kept = compiled.plan.kept(&bindings, false);
        let kept_words = kept.iter().map(|&kept| u32::from(kept));
        let signature: Vec<u32> =
            bindings.run.signature().chain(bindings.run.scalar_words()).chain(kept_words).collect();
        let mut hint = compiled.take_hint(&signature);
        let recorded = self.commands(&compiled, &bindings, (&kept, signature), &mut hint);
        compiled.put_hint(hint);
        recorded
    }

    fn commands(
        &self,
        compiled: &CompiledPlan,
        bindings: &Bindings,
        (kept, signature): (&[bool], Vec<u32>),
        hint: &mut RunHint,
    ) -> Result<Recorded> {
        let sized = match &hint.sized {
            Some(sized) if hint.signature == signature => sized.clone(),
            _ => {
                let sized = Arc::new(self.sized(compiled, bindings.view(), kept)?);
                (hint.signature, hint.sized) = (signature, Some(sized.clone()));
                sized
            }
        };
        let plan = &compiled.plan;
        let what = sized.steps.last().map_or("nothing", |step| step.op);
        self.runtime.check_budget(what, sized.buffers.iter().copied())?;
        let buffers = self.runtime.buffers(what, &sized.buffers, &mut hint.buffers)?;
        let mut out = Recorded { bytes_moved: sized.bytes_moved, ..Recorded::default() };
        let status = sized.status.map(|at| {
            let buffer = buffers[at].clone();
            out.commands.push(Command::Fill { buffer: buffer.clone(), word: 0 });
            Arc::new(StatusBlock { buffer, is_flag: false })
        });
        let block = || status.clone().expect("bug: slots were counted");
        let mut made: Vec<Stored> = Vec::with_capacity(plan.computed.len());
        let mut slot = 0;
        for (step, links) in sized.steps.iter().zip(&plan.links) {
            let stored = |from: &ArraySource| match from {
                ArraySource::Input(array) => bindings.stored(*array).expect("bug: an input without a result"),
                ArraySource::Computed(k) => &made[*k],
            };
            let mut outcomes: Vec<Status> = Vec::new();
            for from in links.reads.iter().chain(&links.after) {
                Status::inherit(&mut outcomes, &stored(from).status);
            }
            for check in &step.checks {
                outcomes.push(Status::new(block(), slot, bindings.locations.of(check)));
                slot += 1;
            }
            if let Some((k, word)) = step.overflow {
                let block = Arc::new(StatusBlock { buffer: buffers[step.scratch[k]].clone(), is_flag: true });
                outcomes.push(Status::new(block, word, Check::overflow(step.op)));
            }
            for &k in &step.cleared_outputs {
                out.commands.push(Command::Fill { buffer: buffers[step.outputs[k].0].clone(), word: 0 });
            }
            for kernel in &step.kernels {
                let slice = |binding: &BufferBinding| {
                    let buffer = match &binding.resource {
                        Resource::Array(from) => buffer(stored(from)),
                        Resource::Output(k) => buffers[step.outputs[*k].0].clone(),
                        Resource::Scratch(k) => buffers[step.scratch[*k]].clone(),
                        Resource::Status => block().buffer.clone(),
                    };
                    match &binding.window {
                        None => buffer.into(),
                        Some(bytes) => BufferSlice::window(buffer, bytes.clone()),
                    }
                };
                out.commands.push(Command::Dispatch(Dispatch {
                    pipeline: kernel.pipeline.clone(),
                    buffers: kernel.bindings.iter().map(slice).collect(),
                    params: kernel.params.clone(),
                    workgroups: kernel.workgroups,
                    depth: kernel.depth,
                    label: kernel.label.clone(),
                }));
            }
            let status: Arc<[Status]> = outcomes.into();
            let stored =
                |&(at, len): &(usize, u32)| Stored { data: Arc::new(buffers[at].clone()), status: status.clone(), len };
            made.extend(step.outputs.iter().map(stored));
        }
        let result = |(k, stored): (usize, Stored)| {
            let node = bindings.node(plan.computed[k].array.filter(|_| kept[k])?).clone();
            Some((node.digest(), (node, stored)))
        };
        out.results = made.into_iter().enumerate().filter_map(result).collect();
        Ok(out)
    }
}
