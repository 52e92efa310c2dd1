//! Runs plans on a device of the runtime.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::codegen::Binding;
use super::launch::Launch;
use super::lower::lower;
use super::probe;
use super::runtime::{Access, AdapterKind, Buffer, Command, Dispatch, ReadRequest, Runtime};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::{Backend, Status, StepCost};
use crate::graph::digest::Digest;
use crate::graph::expr::Check;
use crate::graph::extent::Count;
use crate::graph::node::{Node, Recipe, Stored};
use crate::graph::plan::{Longs, PlanLimits, Step, plan};
use crate::numerics::Numerics;
use crate::stats::Stats;

/// Data-dependent results up to this many bytes are read at their capacity, so that one wait suffices; larger ones are
/// read in two: the count, then what there is.
const READ_AT_CAPACITY: u64 = 32 << 20;

/// Storage buffers that a kernel binds at most, where the adapter allows as many: core WebGPU's 8 are few for a fused
/// look-up and concatenation, and every one more costs the driver's tracking.
const MOST_BUFFERS: u32 = 12;

/// A GPU as an executor of graphs.
#[derive(Debug)]
pub(crate) struct GpuBackend {
    runtime: Arc<Runtime>,
    id: u64,
    name: String,
    fuse: bool,
    numerics: OnceLock<Numerics>,
}

/// Where conditions report. The outcome of a slot is the inverted first offending position, or 0, which buffers are cleared
/// to without a kernel; that of a scan is whether its total did not fit.
#[derive(Debug)]
struct StatusBlock {
    buffer: Buffer,
    is_flag: bool,
}

impl StatusBlock {
    fn first_offender(&self, word: u32) -> u32 {
        match (self.is_flag, word) {
            (true, 0) => u32::MAX,
            (true, _) => 0,
            (false, inverted) => !inverted,
        }
    }
}

/// Commands of a plan, and the results that its nodes have once they are submitted.
#[derive(Default)]
struct Recorded {
    commands: Vec<Command>,
    results: HashMap<Digest, (Node, Stored)>,
}

impl Recorded {
    fn stored(&self, node: &Node) -> Stored {
        match node.stored() {
            Some(stored) => stored.clone(),
            None => self.results.get(&node.digest()).expect("bug: a step before its inputs").1.clone(),
        }
    }

    fn buffer(&self, node: &Node) -> Buffer {
        let data = self.stored(node).data.downcast::<Buffer>().expect("bug: an array of another backend");
        Buffer::clone(&data)
    }

    /// Hands the results to their nodes: after submission, so that no other thread can submit a reader first.
    fn publish(self) {
        for (node, stored) in self.results.into_values() {
            node.set_stored(stored);
        }
    }
}

impl GpuBackend {
    pub(crate) fn new(runtime: Arc<Runtime>, id: u64, name: String, fuse: bool) -> Self {
        Self { runtime, id, name, fuse, numerics: OnceLock::new() }
    }

    fn record(&self, nodes: &[Node]) -> Result<Recorded> {
        let plan = plan(nodes, self.plan_limits());
        let mut out = Recorded::default();
        // All sizes are looked at before anything is allocated.
        let mut lowered = Vec::with_capacity(plan.steps.len());
        let mut slot = 0;
        for step in &plan.steps {
            for out in step.outputs() {
                self.check_bytes(out.op(), packed_bytes(out.dtype(), out.extent().capacity()))?;
            }
            let launches = lower(step, slot)?;
            launches.scratch.iter().try_for_each(|&bytes| self.check_bytes(step.out.op(), bytes))?;
            lowered.push(launches);
            slot += step.checks.len() as u32 + u32::from(matches!(step.recipe, Recipe::Assert { .. }));
        }
        let status = match slot {
            0 => None,
            n => {
                let buffer = self.runtime.buffer(u64::from(n) * 4)?;
                out.commands.push(Command::Fill { buffer: buffer.clone(), word: 0 });
                Some(Arc::new(StatusBlock { buffer, is_flag: false }))
            }
        };
        let mut slot = 0;
        for (step, lowered) in plan.steps.iter().zip(lowered) {
            let outputs: Vec<Buffer> = step
                .outputs()
                .into_iter()
                .map(|n| self.runtime.buffer(packed_bytes(n.dtype(), n.extent().capacity())))
                .collect::<Result<_>>()?;
            let scratch: Vec<Buffer> =
                lowered.scratch.iter().map(|&bytes| self.runtime.buffer(bytes)).collect::<Result<_>>()?;
            let mut outcomes: Vec<Status> = Vec::new();
            for n in step.reads.iter().chain(&step.after) {
                Status::inherit(&mut outcomes, &out.stored(n).status);
            }
            let mut checks = step.checks.clone();
            if let Recipe::Assert { check, .. } = &step.recipe {
                checks.push(check.clone());
            }
            for check in checks {
                let block: Arc<dyn Any + Send + Sync> = status.clone().expect("bug: slots were counted");
                outcomes.push(Status::new(block, slot, check));
                slot += 1;
            }
            if let Some((k, word)) = lowered.overflow {
                let block = Arc::new(StatusBlock { buffer: scratch[k].clone(), is_flag: true });
                outcomes.push(Status::new(block, word, Check::overflow(step.out.op())));
            }
            for &k in &lowered.cleared_outputs {
                out.commands.push(Command::Fill { buffer: outputs[k].clone(), word: 0 });
            }
            for launch in &lowered.launches {
                let buffers = launch.bindings.iter().map(|b| match b {
                    Binding::Read(n) => out.buffer(n),
                    Binding::Output(k) => outputs[*k].clone(),
                    Binding::Scratch(k) | Binding::ScratchRead(k) => scratch[*k].clone(),
                    Binding::Status => status.as_ref().expect("bug: slots were counted").buffer.clone(),
                });
                let buffers = buffers.collect();
                out.commands.push(self.dispatch(launch, buffers)?);
            }
            let status: Arc<[Status]> = outcomes.into();
            for (node, output) in step.outputs().into_iter().zip(outputs) {
                let stored = Stored { data: Arc::new(output), status: status.clone() };
                out.results.insert(node.digest(), (node.clone(), stored));
            }
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

    fn dispatch(&self, launch: &Launch, buffers: Vec<Buffer>) -> Result<Command> {
        let access: Vec<Access> = launch
            .bindings
            .iter()
            .map(|b| match b {
                Binding::Read(_) | Binding::ScratchRead(_) => Access::Read,
                _ => Access::ReadWrite,
            })
            .collect();
        let pipeline = self.runtime.pipeline(&launch.label, &launch.text, launch.entry, &access)?;
        Ok(Command::Dispatch(Dispatch {
            pipeline,
            buffers,
            params: launch.params.clone(),
            workgroups: launch.workgroups,
            depth: launch.depth,
            label: launch.label.clone(),
        }))
    }
}

/// Bytes of an array in storage, in whole words.
fn packed_bytes(dtype: DType, len: u32) -> u64 {
    (u64::from(len) * dtype.size() as u64).next_multiple_of(4)
}

/// Whether a read takes the array with its count: all of it where that is cheap, else what there is once the count is known.
fn at_once(n: &Node) -> bool {
    n.extent().as_known().is_some() || n.bytes() <= READ_AT_CAPACITY
}

impl Backend for GpuBackend {
    fn id(&self) -> u64 {
        self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn is_cpu(&self) -> bool {
        false
    }
    fn is_software(&self) -> bool {
        self.runtime.info().kind == AdapterKind::Software
    }
    fn supports(&self, dtype: DType) -> std::result::Result<(), String> {
        let hint = |what: &str| {
            Err(format!("{} has no {what}; use a CPU device for this tensor, or cast to a narrower type", self.name))
        };
        match dtype {
            // Their arithmetic goes by the bits.
            DType::F64 if !self.runtime.has_f64() || !self.runtime.has_int64() => {
                hint("64-bit floats (SHADER_F64 and SHADER_INT64)")
            }
            _ => Ok(()),
        }
    }
    fn max_bytes(&self) -> u64 {
        let limits = self.runtime.limits();
        limits.max_binding.min(limits.max_buffer)
    }
    fn plan_limits(&self) -> PlanLimits {
        PlanLimits {
            storage_buffers: self.runtime.limits().storage_buffers.min(MOST_BUFFERS),
            fuse: self.fuse,
            longs: if self.runtime.has_int64() { Longs::Native } else { Longs::Pairs },
            // Mesa's llvmpipe does.
            ends_loops: self.is_software(),
        }
    }
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>> {
        debug_assert!(bytes.len().is_multiple_of(dtype.size().max(1)), "bug: part of an element");
        Ok(Arc::new(self.runtime.upload(bytes)?))
    }
    fn cost(&self, step: &Step) -> Result<StepCost> {
        let lowered = lower(step, 0)?;
        let dispatches = lowered.launches.iter().filter(|l| l.workgroups > 0 && l.depth > 0).count() as u64;
        Ok(StepCost { dispatches, scratch_bytes: lowered.scratch.iter().sum() })
    }
    fn evaluate(&self, nodes: &[Node]) -> Result<()> {
        let recorded = self.record(nodes)?;
        if !recorded.commands.is_empty() {
            self.runtime.submit(&recorded.commands)?;
        }
        recorded.publish();
        Ok(())
    }
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>> {
        let recorded = self.record(nodes)?;
        let ms = self.runtime.submit_timed(&recorded.commands)?;
        recorded.publish();
        self.runtime.wait()?;
        Ok(ms)
    }
    fn wait(&self) -> Result<()> {
        self.runtime.wait()
    }
    fn read(&self, nodes: &[Node]) -> Result<Vec<Vec<u8>>> {
        let counts: Vec<Count> = nodes.iter().map(|n| n.extent().count(n.backend())).collect();
        let mut wanted = nodes.to_vec();
        wanted.extend(counts.iter().filter_map(Count::node).cloned());
        let recorded = self.record(&wanted)?;
        let mut reads: Vec<ReadRequest> = Vec::new();
        // Conditions, one read a block.
        let mut outcomes: Vec<Status> = Vec::new();
        for n in &wanted {
            Status::inherit(&mut outcomes, &recorded.stored(n).status);
        }
        let block_of =
            |s: &Status| s.block.clone().downcast::<StatusBlock>().expect("bug: another backend's condition");
        for s in &outcomes {
            let buffer = block_of(s).buffer.clone();
            reads.push(ReadRequest { buffer, offset: u64::from(s.slot) * 4, bytes: 4 });
        }
        // Counts.
        let mut asked: Vec<(Digest, u32)> = Vec::new();
        for count in &counts {
            if let Count::At(node, at, _) = count {
                let key = (node.digest(), *at);
                if !asked.contains(&key) {
                    asked.push(key);
                    let buffer = recorded.buffer(node);
                    reads.push(ReadRequest { buffer, offset: u64::from(*at) * 4, bytes: 4 });
                }
            }
        }
        for n in nodes.iter().filter(|n| at_once(n)) {
            reads.push(ReadRequest { buffer: recorded.buffer(n), offset: 0, bytes: n.bytes() });
        }
        let buffers: Vec<Buffer> = nodes.iter().map(|n| recorded.buffer(n)).collect();
        let mut read = self.runtime.submit_and_read(&recorded.commands, &reads)?.into_iter();
        recorded.publish();
        let mut next = || read.next().ok_or_else(|| lost_read(&self.name));
        for s in &outcomes {
            let word: u32 = bytemuck::pod_read_unaligned(&next()?);
            s.settle(block_of(s).first_offender(word))?;
        }
        let mut known: HashMap<(Digest, u32), u32> = HashMap::new();
        for key in asked {
            known.insert(key, bytemuck::pod_read_unaligned(&next()?));
        }
        let live = |count: &Count| match count {
            Count::Known(n) => *n as usize,
            Count::At(node, at, most) => known.get(&(node.digest(), *at)).map_or(0, |&n| n.min(*most)) as usize,
        };
        let mut data: Vec<Vec<u8>> = Vec::with_capacity(nodes.len());
        let mut later: Vec<(usize, ReadRequest)> = Vec::new();
        for (k, (n, count)) in nodes.iter().zip(&counts).enumerate() {
            let bytes = live(count) * n.dtype().size();
            if at_once(n) {
                let mut all = next()?;
                all.truncate(bytes);
                data.push(all);
            } else {
                later.push((k, ReadRequest { buffer: buffers[k].clone(), offset: 0, bytes: bytes as u64 }));
                data.push(Vec::new());
            }
        }
        if !later.is_empty() {
            let requests: Vec<ReadRequest> = later.iter().map(|(_, r)| r.clone()).collect();
            for ((k, _), bytes) in later.iter().zip(self.runtime.submit_and_read(&[], &requests)?) {
                data[*k] = bytes;
            }
        }
        Ok(data)
    }
    fn waits(&self, nodes: &[Node]) -> u64 {
        1 + u64::from(!nodes.iter().all(at_once))
    }
    fn stats(&self) -> Stats {
        self.runtime.stats()
    }
    fn numerics(&self) -> Result<Numerics> {
        if let Some(known) = self.numerics.get() {
            return Ok(*known);
        }
        // Two threads may both ask: they hear the same.
        let found = probe::numerics(&self.runtime)?;
        Ok(*self.numerics.get_or_init(|| found))
    }
    fn fail_allocations(&self, count: u32) {
        self.runtime.trim();
        self.runtime.fail_allocations(count);
    }
    fn lose(&self) {
        self.runtime.lose();
    }
}

fn lost_read(name: &str) -> Error {
    Error::Gpu { label: name.into(), message: "bug: fewer results than reads".into() }
}
