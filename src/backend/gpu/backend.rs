//! Runs plans on a device of the runtime.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::codegen::Binding;
use super::launch::{Launch, Lowered};
use super::lower::lower;
use super::prepared::{Bound, Kernel, Place, PlanCache, Prepared, ReadyArray, ReadyStep, Source};
use super::probe;
use super::runtime::{Access, AdapterKind, Buffer, BufferSlice, Command, Dispatch, Pending, ReadRequest, Runtime};
use super::tuning::Tuning;
use super::windows::{self, Windowed};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::{Backend, Part, Reading, Status, StepCost, Wait};
use crate::graph::digest::Digest;
use crate::graph::expr::Check;
use crate::graph::extent::Count;
use crate::graph::node::{Node, Recipe, Stored};
use crate::graph::plan::{Longs, Plan, PlanLimits, Step, plan};
use crate::numerics::Numerics;
use crate::stats::Stats;

/// A GPU as an executor of graphs.
#[derive(Debug)]
pub(crate) struct GpuBackend {
    runtime: Arc<Runtime>,
    id: u64,
    name: String,
    fuse: bool,
    tuning: Tuning,
    numerics: OnceLock<Numerics>,
    plans: PlanCache,
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
    results: HashMap<Digest, Stored>,
}

impl Recorded {
    fn stored(&self, node: &Node) -> Stored {
        match node.stored() {
            Some(stored) => stored.clone(),
            None => self.results.get(&node.digest()).expect("bug: a node that was not evaluated").clone(),
        }
    }

    fn buffer(&self, node: &Node) -> Buffer {
        buffer(&self.stored(node))
    }

    /// Hands the results to their nodes, those that are alive: after submission, so that no other thread can submit a reader
    /// first.
    fn publish(self) {
        for (digest, stored) in self.results {
            if let Some(node) = Node::find(digest) {
                node.set_stored(stored);
            }
        }
    }
}

fn buffer(stored: &Stored) -> Buffer {
    let data = stored.data.clone().downcast::<Buffer>().expect("bug: an array of another backend");
    Buffer::clone(&data)
}

impl GpuBackend {
    pub(crate) fn new(runtime: Arc<Runtime>, id: u64, name: String, fuse: bool) -> Self {
        let tuning = Tuning::of(runtime.info().kind);
        Self { runtime, id, name, fuse, tuning, numerics: OnceLock::new(), plans: PlanCache::default() }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The buffer that holds the array, computed now if it is pending; nothing waits.
    pub(crate) fn array(&self, node: &Node) -> Result<Buffer> {
        self.evaluate(std::slice::from_ref(node))?;
        let data = node.stored().expect("bug: evaluation left a node without a result").data.clone();
        let array = data.downcast::<Buffer>().expect("bug: an array of another backend");
        Ok(Buffer::clone(&array))
    }

    /// As [`Backend::evaluate_timed`], kernel by kernel.
    #[cfg(feature = "wgpu-profiler")]
    pub(crate) fn evaluate_profiled(&self, nodes: &[Node]) -> Result<Option<Vec<wgpu_profiler::GpuTimerQueryResult>>> {
        let run = || {
            let recorded = self.record(nodes)?;
            let scopes = self.runtime.submit_profiled(&recorded.commands)?;
            recorded.publish();
            Ok(scopes)
        };
        run().map_err(|e| self.runtime.blame(e))
    }

    /// The commands that store the nodes, by a plan that is at hand or by a new one.
    fn record(&self, nodes: &[Node]) -> Result<Recorded> {
        let wanted: Vec<Digest> = nodes.iter().filter(|n| n.stored().is_none()).map(Node::digest).collect();
        if wanted.is_empty() {
            return Ok(Recorded::default());
        }
        if let Some(known) = self.plans.get(&wanted)
            && let Some(inputs) = known.inputs()
        {
            return self.commands(&known, &inputs);
        }
        loop {
            let prepared = Arc::new(self.prepare(&plan(nodes, self.plan_limits()))?);
            // Where another thread has stored a node since, what is left to do is less: planned again.
            if let Some(inputs) = prepared.inputs() {
                self.plans.insert(wanted.into(), prepared.clone());
                return self.commands(&prepared, &inputs);
            }
        }
    }

    /// Compiles a plan. All sizes are looked at; nothing is allocated.
    fn prepare(&self, plan: &Plan) -> Result<Prepared> {
        self.runtime.counters().plan();
        let mut out = Prepared { inputs: Vec::new(), steps: Vec::with_capacity(plan.steps.len()), slots: 0 };
        for step in &plan.steps {
            let op = step.out.op();
            let array = |n: &&Node| ReadyArray { node: n.digest(), bytes: node_bytes(n) };
            let outputs: Vec<ReadyArray> = step.outputs().iter().map(array).collect();
            outputs.iter().try_for_each(|array| self.check_bytes(op, array.bytes))?;
            let lowered = lower(step, out.slots)?;
            lowered.scratch.iter().try_for_each(|&bytes| self.check_bytes(op, bytes))?;
            let mut source = |n: &Node| source(&mut out, n);
            let depends = step.reads.iter().chain(&step.after).map(&mut source).collect();
            let mut kernels = Vec::new();
            for launch in &lowered.launches {
                let arrays: Vec<Bound> = launch.bindings.iter().map(|b| bound(b, &mut source)).collect();
                match self.windows(step, &lowered, launch)? {
                    None => kernels.push(self.whole(launch, &arrays)?),
                    Some(parts) => {
                        for part in parts {
                            kernels.push(self.part(launch, part, &arrays)?);
                        }
                    }
                }
            }
            let mut checks = step.checks.clone();
            if let Recipe::Assert { check, .. } = &step.recipe {
                checks.push(check.clone());
            }
            out.slots += checks.len() as u32;
            let Lowered { scratch, overflow, cleared_outputs, .. } = lowered;
            out.steps.push(ReadyStep { outputs, op, scratch, kernels, cleared_outputs, checks, overflow, depends });
        }
        Ok(out)
    }

    fn commands(&self, plan: &Prepared, inputs: &[Stored]) -> Result<Recorded> {
        let arrays = plan
            .steps
            .iter()
            .flat_map(|step| step.outputs.iter().map(|array| array.bytes).chain(step.scratch.iter().copied()));
        let outcomes = (plan.slots > 0).then_some(u64::from(plan.slots) * 4);
        let what = plan.steps.last().map_or("nothing", |step| step.op);
        self.runtime.check_budget(what, arrays.chain(outcomes))?;
        let mut out = Recorded::default();
        let status = match plan.slots {
            0 => None,
            n => {
                let buffer = self.runtime.buffer(u64::from(n) * 4)?;
                out.commands.push(Command::Fill { buffer: buffer.clone(), word: 0 });
                Some(Arc::new(StatusBlock { buffer, is_flag: false }))
            }
        };
        let block = || status.clone().expect("bug: slots were counted");
        let mut made: Vec<Stored> = Vec::with_capacity(plan.steps.len());
        let mut slot = 0;
        for step in &plan.steps {
            let outputs: Vec<Buffer> =
                step.outputs.iter().map(|array| self.runtime.buffer(array.bytes)).collect::<Result<_>>()?;
            let scratch: Vec<Buffer> =
                step.scratch.iter().map(|&bytes| self.runtime.buffer(bytes)).collect::<Result<_>>()?;
            let stored = |from: Source| match from {
                Source::Input(k) => &inputs[k],
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
                let slice = |place: &Place| {
                    let buffer = match place.what {
                        Bound::Array(from) => buffer(stored(from)),
                        Bound::Output(k) => outputs[k].clone(),
                        Bound::Scratch(k) => scratch[k].clone(),
                        Bound::Status => block().buffer.clone(),
                    };
                    match &place.window {
                        None => buffer.into(),
                        Some(bytes) => BufferSlice::window(buffer, bytes.clone()),
                    }
                };
                out.commands.push(Command::Dispatch(Dispatch {
                    pipeline: kernel.pipeline.clone(),
                    buffers: kernel.places.iter().map(slice).collect(),
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
        out.results = plan.made().zip(made).collect();
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

    /// The body of [`Backend::read_parts`]: conditions, then counts, then what there is, in one read where that is cheap.
    async fn read_in_order(&self, parts: Vec<Part>, wait: Wait) -> Result<Vec<Vec<u8>>> {
        // The elements that were asked for, or how many there are.
        let counts: Vec<Count> = parts
            .iter()
            .map(|p| match &p.elements {
                Some(elements) => Count::Known(elements.end - elements.start),
                None => p.node.extent().count(p.node.backend()),
            })
            .collect();
        let mut wanted: Vec<Node> = parts.iter().map(|p| p.node.clone()).collect();
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
        for p in &parts {
            let size = p.node.dtype().size() as u64;
            let buffer = || recorded.buffer(&p.node);
            match &p.elements {
                Some(elements) => {
                    let bytes = u64::from(elements.end - elements.start) * size;
                    reads.push(ReadRequest { buffer: buffer(), offset: u64::from(elements.start) * size, bytes });
                }
                None if self.at_once(&p.node) => {
                    reads.push(ReadRequest { buffer: buffer(), offset: 0, bytes: p.node.bytes() })
                }
                None => {}
            }
        }
        let buffers: Vec<Buffer> = parts.iter().map(|p| recorded.buffer(&p.node)).collect();
        let pending = self.runtime.start_read(&recorded.commands, &reads)?;
        recorded.publish();
        let mut read = self.finish(pending, wait).await?.into_iter();
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
        let mut data: Vec<Vec<u8>> = Vec::with_capacity(parts.len());
        let mut later: Vec<(usize, ReadRequest)> = Vec::new();
        for (k, (p, count)) in parts.iter().zip(&counts).enumerate() {
            let bytes = live(count) * p.node.dtype().size();
            if p.elements.is_some() || self.at_once(&p.node) {
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
            let pending = self.runtime.start_read(&[], &requests)?;
            for ((k, _), bytes) in later.iter().zip(self.finish(pending, wait).await?) {
                data[*k] = bytes;
            }
        }
        Ok(data)
    }

    /// Whether a read takes the array with its count: all of it where that is cheap, else what there is once the count is known.
    fn at_once(&self, n: &Node) -> bool {
        n.extent().as_known().is_some() || n.bytes() <= self.tuning.read_at_capacity
    }

    async fn finish(&self, pending: Pending, wait: Wait) -> Result<Vec<Vec<u8>>> {
        match wait {
            Wait::Blocking => pending.wait(),
            Wait::Polled => self.runtime.finish_read(pending).await,
        }
    }

    /// The launch's kernel, if it binds arrays larger than a binding.
    fn windows(&self, step: &Step, lowered: &Lowered, launch: &Launch) -> Result<Option<Vec<Windowed>>> {
        let bytes = |b: &Binding| match b {
            Binding::Read(n) => node_bytes(n),
            Binding::Output(k) => node_bytes(step.outputs()[*k]),
            Binding::Scratch(k) | Binding::ScratchRead(k) => lowered.scratch[*k],
            Binding::Status => 0,
        };
        let bytes: Vec<u64> = launch.bindings.iter().map(bytes).collect();
        let windowed = windows::split(step, launch, &bytes);
        let needed = windowed.iter().flatten().map(|w| w.places.len() as u64).max().unwrap_or(0);
        let limit = u64::from(self.runtime.limits().storage_buffers);
        if needed <= limit {
            return Ok(windowed);
        }
        Err(Error::Limit {
            what: format!("{}: arrays of {} bytes in all", step.out.op(), bytes.iter().sum::<u64>()),
            requested: needed,
            unit: "bindings",
            limit,
            whose: self.name.clone(),
        })
    }

    fn whole(&self, launch: &Launch, arrays: &[Bound]) -> Result<Kernel> {
        let access: Vec<Access> = launch.bindings.iter().map(access).collect();
        Ok(Kernel {
            pipeline: self.runtime.pipeline(&launch.label, &launch.text, launch.entry, &access, launch.checks)?,
            places: arrays.iter().map(|&what| Place { what, window: None }).collect(),
            params: launch.params.clone(),
            workgroups: launch.workgroups,
            depth: launch.depth,
            label: launch.label.clone(),
        })
    }

    fn part(&self, launch: &Launch, part: Windowed, arrays: &[Bound]) -> Result<Kernel> {
        let access: Vec<Access> = part.places.iter().map(|p| access(&launch.bindings[p.binding])).collect();
        Ok(Kernel {
            // The proofs are about arrays that are bound whole.
            pipeline: self.runtime.pipeline(
                &launch.label,
                &part.text,
                launch.entry,
                &access,
                launch.checks.with_bounds(),
            )?,
            places: part.places.into_iter().map(|p| Place { what: arrays[p.binding], window: p.window }).collect(),
            params: part.params,
            workgroups: part.workgroups,
            depth: launch.depth,
            label: launch.label.clone(),
        })
    }
}

/// Where a plan finds the array.
fn source(plan: &mut Prepared, node: &Node) -> Source {
    let digest = node.digest();
    if let Some(k) = plan.made().position(|made| made == digest) {
        return Source::Made(k);
    }
    Source::Input(plan.inputs.iter().position(|d| *d == digest).unwrap_or_else(|| {
        plan.inputs.push(digest);
        plan.inputs.len() - 1
    }))
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
        self.runtime.limits().max_buffer
    }
    fn plan_limits(&self) -> PlanLimits {
        let limits = self.runtime.limits();
        PlanLimits {
            arrays: limits.storage_buffers.min(self.tuning.most_buffers),
            bindings: limits.storage_buffers,
            max_binding: limits.max_binding,
            fuse: self.fuse,
            longs: if self.runtime.has_int64() { Longs::Native } else { Longs::Pairs },
            ends_loops: self.tuning.ends_loops,
        }
    }
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>> {
        debug_assert!(bytes.len().is_multiple_of(dtype.size().max(1)), "bug: part of an element");
        Ok(Arc::new(self.runtime.upload(bytes).map_err(|e| self.runtime.blame(e))?))
    }
    fn cost(&self, step: &Step) -> Result<StepCost> {
        let lowered = lower(step, 0)?;
        let mut dispatches = 0;
        for launch in lowered.launches.iter().filter(|l| l.workgroups > 0 && l.depth > 0) {
            dispatches += self.windows(step, &lowered, launch)?.map_or(1, |parts| parts.len() as u64);
        }
        Ok(StepCost { dispatches, scratch_bytes: lowered.scratch.iter().sum() })
    }
    fn evaluate(&self, nodes: &[Node]) -> Result<()> {
        let run = || {
            let recorded = self.record(nodes)?;
            if !recorded.commands.is_empty() {
                self.runtime.submit(&recorded.commands)?;
            }
            recorded.publish();
            Ok(())
        };
        run().map_err(|e| self.runtime.blame(e))
    }
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>> {
        let run = || {
            let recorded = self.record(nodes)?;
            let ms = self.runtime.submit_timed(&recorded.commands)?;
            recorded.publish();
            self.runtime.wait()?;
            Ok(ms)
        };
        run().map_err(|e| self.runtime.blame(e))
    }
    fn wait(&self) -> Result<()> {
        self.runtime.wait()
    }
    fn read_parts(&self, parts: Vec<Part>, wait: Wait) -> Reading<'_> {
        Box::pin(async move { self.read_in_order(parts, wait).await.map_err(|e| self.runtime.blame(e)) })
    }
    fn waits(&self, nodes: &[Node]) -> u64 {
        1 + u64::from(!nodes.iter().all(|n| self.at_once(n)))
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
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn lost_read(name: &str) -> Error {
    Error::Gpu { label: name.into(), message: "bug: fewer results than reads".into() }
}
