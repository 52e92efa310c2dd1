//! From kernels that are ready to commands: buffers from the pool, and the results that nodes have once these are
//! submitted.

use std::sync::Arc;

use super::backend::GpuBackend;
use super::prepared::{Bound, BufferBinding, Prepared, Source};
use super::runtime::{Buffer, BufferSlice, Command, Dispatch, Runtime};
use crate::error::Result;
use crate::graph::backend::{Backend, Status};
use crate::graph::digest::DigestMap;
use crate::graph::expr::Check;
use crate::graph::node::{Node, Stored};
use crate::graph::plan::plan;
use crate::graph::request::Request;

/// Where conditions report. The outcome of a slot is the inverted first offending position, or 0, which buffers are
/// cleared to without a kernel; that of a scan is whether its total did not fit.
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

/// Commands of a plan, and the results that its nodes have once they are submitted.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) commands: Vec<Command>,
    results: DigestMap<(Node, Stored)>,
    /// Bytes that the kernels read plus write.
    moves: u64,
}

impl Recorded {
    pub(super) fn stored(&self, node: &Node) -> Stored {
        match self.results.get(&node.digest()) {
            Some((_, stored)) => stored.clone(),
            None => node.stored().expect("bug: a node that was not evaluated").clone(),
        }
    }

    pub(super) fn buffer(&self, node: &Node) -> Buffer {
        buffer(&self.stored(node))
    }

    /// Hands the results to their nodes: after submission, so that no other thread can submit a reader first.
    pub(super) fn publish(self, runtime: &Runtime) {
        runtime.counters().moved(self.moves);
        for (node, stored) in self.results.into_values() {
            node.set_stored(stored);
        }
    }
}

fn buffer(stored: &Stored) -> Buffer {
    stored.data.downcast_ref::<Buffer>().expect("bug: an array of another backend").clone()
}

impl GpuBackend {
    /// The commands that store the nodes, by a plan that is at hand or by a new one.
    pub(super) fn record(&self, nodes: &[Node]) -> Result<Recorded> {
        if nodes.iter().all(|n| n.stored().is_some()) {
            return Ok(Recorded::default());
        }
        loop {
            let request = Request::new(nodes);
            if let Some(known) = self.plans.get(request.key()) {
                return self.commands(&known, &request);
            }
            let prepared = Arc::new(self.prepare(&plan(nodes, self.plan_limits()), &request)?);
            // Another thread may have stored a node since the request was made: then it asks for more than is planned.
            if is_of(&prepared, &request) {
                self.plans.insert(request.key(), prepared.clone());
                return self.commands(&prepared, &request);
            }
        }
    }

    fn commands(&self, plan: &Prepared, request: &Request) -> Result<Recorded> {
        let what = plan.steps.last().map_or("nothing", |step| step.op);
        self.runtime.check_budget(what, plan.buffers.iter().copied())?;
        let mut last = plan.last_buffers();
        let mut buffers = self.runtime.buffers(&plan.buffers, &mut last)?.into_iter();
        plan.took_buffers(last);
        let mut take = |n: usize| -> Vec<Buffer> { buffers.by_ref().take(n).collect() };
        let mut out = Recorded { moves: plan.moves, ..Recorded::default() };
        let status = take(usize::from(plan.slots > 0)).pop().map(|buffer| {
            out.commands.push(Command::Fill { buffer: buffer.clone(), word: 0 });
            Arc::new(StatusBlock { buffer, is_flag: false })
        });
        let block = || status.clone().expect("bug: slots were counted");
        let mut made: Vec<Stored> = Vec::with_capacity(plan.steps.len());
        let mut slot = 0;
        for step in &plan.steps {
            let outputs = take(step.outputs.len());
            let scratch = take(step.scratch.len());
            let stored = |from: Source| match from {
                Source::Input(number) => request.stored(number).expect("bug: an input without a result"),
                Source::Made(k) => &made[k],
            };
            let mut outcomes: Vec<Status> = Vec::new();
            for from in &step.depends {
                Status::inherit(&mut outcomes, &stored(*from).status);
            }
            for check in &step.checks {
                outcomes.push(Status::new(block(), slot, check.clone()));
                slot += 1;
            }
            if let Some((k, word)) = step.overflow {
                let block = Arc::new(StatusBlock { buffer: scratch[k].clone(), is_flag: true });
                outcomes.push(Status::new(block, word, Check::overflow(step.op)));
            }
            for &k in &step.cleared_outputs {
                out.commands.push(Command::Fill { buffer: outputs[k].clone(), word: 0 });
            }
            for kernel in &step.kernels {
                let slice = |binding: &BufferBinding| {
                    let buffer = match binding.what {
                        Bound::Array(from) => buffer(stored(from)),
                        Bound::Output(k) => outputs[k].clone(),
                        Bound::Scratch(k) => scratch[k].clone(),
                        Bound::Status => block().buffer.clone(),
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
            let stored = |output| Stored { data: Arc::new(output), status: status.clone() };
            made.extend(outputs.into_iter().map(stored));
        }
        let result = |(number, stored): (Option<usize>, Stored)| {
            let node = request.array(number?).clone();
            Some((node.digest(), (node, stored)))
        };
        out.results = plan.made().zip(made).filter_map(result).collect();
        Ok(out)
    }
}

/// Whether the plan makes what was to be made, of what was there, when the request was made.
fn is_of(plan: &Prepared, request: &Request) -> bool {
    let is_there = |number: usize| request.stored(number).is_some();
    let is_made = |number: usize| plan.made().any(|made| made == Some(number));
    plan.inputs.iter().all(|&number| is_there(number))
        && request.roots().all(|number| is_there(number) || is_made(number))
}
