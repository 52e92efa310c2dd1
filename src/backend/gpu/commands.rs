//! Records the kernels of a plan as commands: takes buffers from the pool, and collects the results to publish after
//! submission.

use std::sync::Arc;

use super::backend::GpuBackend;
use super::compiled_plan::{Base, BufferBinding, Compiled, Resource, RunHint, SizedPlan};
use super::runtime::{Buffer, BufferSlice, Command, Dispatch, Runtime};
use crate::error::{Error, Result};
use crate::graph::backend::{Status, Wait};
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::Check;
use crate::graph::node::{Node, Stored};
use crate::graph::planned::SizeView;
use crate::graph::program::{ArrayId, Bindings, Program, trace};
use crate::graph::run::driver::{CountState, Execution, Outcome, Run, StepRun};
use crate::graph::run::recording::must_not_block;
use crate::graph::run::stage::{EarlyCount, Stages, has_stages};
use crate::graph::run::timed_run::{TimedRun, TimedRuns};
use crate::graph::run::traced_run::{TracedProgram, TracedRun};
use crate::graph::size::{RecordedSize as _, RunTable, Size};

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
    /// The number of commands up to the end of each step.
    step_ends: Vec<usize>,
    pub(super) counts: Option<KeptCounts<Digest>>,
}

/// Counts that a run keeps, since their arrays may be overwritten.
pub(super) struct KeptCounts<K> {
    pub(super) buffer: Buffer,
    /// The count of each word.
    pub(super) of: Vec<K>,
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
        let mut stages = self.stages();
        loop {
            let (program, bindings) = trace(nodes)?;
            let counts = stages.counts_to_read(&program, &bindings);
            if counts.is_empty() || must_not_block() {
                return Ok((program, bindings));
            }
            drop((program, bindings));
            match pollster::block_on(self.read_counts(&counts, Wait::Blocking, &stages)) {
                // The next read reports the failed check.
                Err(Error::Check { .. }) => return trace(nodes),
                outcome => outcome?,
            }
        }
    }

    /// The stages of a run.
    pub(super) fn stages(&self) -> Stages<'_> {
        Stages::new(self.tuning.stage_bytes, &self.driver.last_counts)
    }

    /// The commands that compute the nodes, and keep the counts that are to be remembered.
    pub(super) fn record(&self, nodes: &[Node], traced: (Program, Bindings), stages: &Stages<'_>) -> Result<Recorded> {
        if nodes.iter().all(|n| n.stored().is_some()) {
            return Ok(Recorded::default());
        }
        let (program, mut bindings) = traced;
        let table = std::mem::take(&mut bindings.run);
        let run = self.driver.recorded(self, program, (&bindings, table));
        let is_large = |number: usize| stages.is_large(bindings.sizes[number].digest());
        let numbers: Vec<usize> = run.plan.counts.iter().map(|count| count.number).filter(|&n| is_large(n)).collect();
        Ok(self.recorded(run, &bindings, &numbers)?.0)
    }

    /// The commands of a run of recorded nodes that keeps the counts of these numbers, and its sizes.
    fn recorded(&self, run: Run<'_>, bindings: &Bindings, counts: &[usize]) -> Result<(Recorded, RunTable)> {
        let (Commands { list: commands, step_ends, sized, counts, .. }, outcome) = self.commands(run, counts)?;
        let result = |(array, stored): (ArrayId, Stored)| {
            let node = bindings.node(array).clone();
            (node.digest(), (node, stored))
        };
        let results = outcome.arrays.into_iter().map(result).collect();
        let digest = |number: usize| bindings.sizes[number].digest();
        let counts = counts.map(|kept| {
            let of = kept.of.into_iter().map(digest).collect();
            KeptCounts { buffer: kept.buffer, of }
        });
        Ok((Recorded { commands, results, bytes_moved: sized.bytes_moved, step_ends, counts }, outcome.table))
    }

    /// Computes the nodes, and waits after each step: see [`Backend::evaluate_in_steps`].
    pub(super) fn run_in_steps(&self, nodes: &[Node]) -> Result<TimedRuns> {
        let (mut out, mut stages) = (TimedRuns::default(), self.stages());
        for stage in 0.. {
            let (program, bindings) = trace(nodes)?;
            let counts = stages.counts_to_read(&program, &bindings);
            if counts.is_empty() || must_not_block() {
                out.runs.extend(self.timed(nodes, (program, bindings))?);
                break;
            }
            let bounds: Vec<u32> = counts.iter().map(|count| count.capacity()).collect();
            drop((program, bindings));
            let holding: Vec<Node> = counts.iter().filter_map(Size::count_node).collect();
            out.runs.extend(self.timed(&holding, trace(&holding)?)?);
            match pollster::block_on(self.read_counts(&counts, Wait::Blocking, &stages)) {
                // The next read reports the failed check.
                Err(Error::Check { .. }) => {
                    out.runs.extend(self.timed(nodes, trace(nodes)?)?);
                    break;
                }
                outcome => outcome?,
            }
            out.counts.extend(counts.iter().zip(bounds).zip(&holding).map(|((count, bound), node)| EarlyCount {
                op: node.op(),
                bound,
                value: count.host_value(),
                stage,
            }));
        }
        Ok(out)
    }

    /// Computes the nodes, and times each step; `None` if they are computed.
    fn timed(&self, nodes: &[Node], (program, mut bindings): (Program, Bindings)) -> Result<Option<TimedRun>> {
        if nodes.iter().all(|n| n.stored().is_some()) {
            return Ok(None);
        }
        let table = std::mem::take(&mut bindings.run);
        let run = self.driver.recorded(self, program, (&bindings, table));
        let plan = run.plan.clone();
        let (recorded, table) = self.recorded(run, &bindings, &[])?;
        let mut from = 0;
        let mut times = Vec::with_capacity(recorded.step_ends.len());
        for &end in &recorded.step_ends {
            times.push(self.runtime.time(&recorded.commands[from..end])?);
            from = end;
        }
        recorded.publish(&self.runtime);
        Ok(Some(TimedRun { plan, table, times }))
    }

    /// Submits the commands of a run of a traced program. False if it needs to wait for counts at whose upper bounds
    /// arrays would take much memory.
    pub(super) fn submit_traced(&self, traced: &TracedProgram, run: &mut TracedRun) -> Result<bool> {
        if has_stages(&traced.program, &run.table, self.tuning.stage_bytes) {
            return Ok(false);
        }
        let (commands, outcome) = self.commands(self.driver.traced(self, traced, run), &[])?;
        if !commands.list.is_empty() {
            self.runtime.submit(&commands.list)?;
        }
        self.runtime.counters().moved(commands.sized.bytes_moved);
        outcome.finish(run);
        Ok(true)
    }

    /// The commands of a run that keeps the counts of these numbers, and its results once these are submitted.
    fn commands(&self, run: Run<'_>, counts: &[usize]) -> Result<(Commands, Outcome)> {
        let compiled = run.plan.prepared(Compiled::of);
        let kept = run.kept.iter().chain(&run.in_place).map(|&flag| u32::from(flag));
        let signature: Vec<u32> = run.table.signature().chain(run.table.scalar_words()).chain(kept).collect();
        let mut hint = compiled.take_hint(&signature);
        let commands = self.begin(&run, compiled, signature, &mut hint);
        compiled.put_hint(hint);
        let mut commands = commands?;
        if !counts.is_empty() {
            let buffer = self.runtime.buffer("counts", 4 * counts.len() as u64)?;
            commands.counts = Some(KeptCounts { buffer, of: Vec::with_capacity(counts.len()) });
            commands.wanted_counts = counts.to_vec();
        }
        let (outcome, result) = run.execute(&mut commands);
        result.map(|()| (commands, outcome))
    }

    /// Computes the kernels of a run, and takes its buffers.
    fn begin(&self, run: &Run<'_>, compiled: &Compiled, signature: Vec<u32>, hint: &mut RunHint) -> Result<Commands> {
        let sized = match &hint.sized {
            Some(sized) if hint.signature == signature => sized.clone(),
            _ => {
                let sizes = SizeView::of(&run.table);
                let sized = Arc::new(self.sized(&run.plan, &compiled.modules, sizes, (&run.kept, &run.in_place))?);
                (hint.signature, hint.sized) = (signature, Some(sized.clone()));
                sized
            }
        };
        let what = sized.steps.last().map_or("nothing", |step| step.op);
        self.runtime.check_budget(what, sized.buffers.iter().copied())?;
        let buffers = self.runtime.buffers(what, &sized.buffers, &mut hint.buffers)?;
        let mut list = Vec::new();
        let status = sized.status.map(|at| {
            let buffer = buffers[at].clone();
            list.push(Command::Fill { buffer: buffer.clone(), word: 0 });
            Arc::new(StatusBlock { buffer, is_flag: false })
        });
        Ok(Commands {
            sized,
            buffers,
            status,
            slot: 0,
            list,
            step_ends: Vec::new(),
            wanted_counts: Vec::new(),
            counts: None,
        })
    }
}

/// The commands of a run so far.
struct Commands {
    sized: Arc<SizedPlan>,
    buffers: Vec<Buffer>,
    /// The outcomes of checks, the first `slot` of which are taken.
    status: Option<Arc<StatusBlock>>,
    slot: u32,
    list: Vec<Command>,
    /// The length of the list at the end of each step.
    step_ends: Vec<usize>,
    /// The counts to keep and those that are kept, by their numbers.
    wanted_counts: Vec<usize>,
    counts: Option<KeptCounts<usize>>,
}

impl Commands {
    fn block(&self) -> Arc<StatusBlock> {
        self.status.clone().expect("bug: slots were counted")
    }
}

impl Execution for Commands {
    /// Appends the commands of a step.
    fn step(&mut self, run: StepRun<'_>) -> Result<Vec<Stored>> {
        let (sized, mut outcomes) = (self.sized.clone(), run.inherited);
        let step = &sized.steps[run.number];
        for check in &step.checks {
            outcomes.push(Status::new(self.block(), self.slot, run.locations.check(*check)));
            self.slot += 1;
        }
        if let Some((k, word)) = step.overflow {
            let block = Arc::new(StatusBlock { buffer: self.buffers[step.scratch[k]].clone(), is_flag: true });
            outcomes.push(Status::new(block, word, Check::overflow(step.op)));
        }
        let own = |k: usize| self.buffers[step.outputs[k].0].clone();
        let outputs: Vec<Buffer> = match &run.overwritten {
            Some(base) => vec![buffer(base)],
            None => (0..step.outputs.len()).map(own).collect(),
        };
        if let Some(Base::Copied(k)) = step.base {
            let (from, to) = (buffer(run.reads[k]), outputs[0].clone());
            let bytes = from.bytes().min(to.bytes()).next_multiple_of(4);
            if bytes > 0 {
                self.list.push(Command::Copy { from, from_offset: 0, to, to_offset: 0, bytes });
            }
        }
        for &k in &step.cleared_outputs {
            self.list.push(Command::Fill { buffer: outputs[k].clone(), word: 0 });
        }
        for kernel in &step.kernels {
            let slice = |binding: &BufferBinding| {
                let buffer = match binding.resource {
                    Resource::Read(k) => buffer(run.reads[k]),
                    Resource::Output(k) => outputs[k].clone(),
                    Resource::Scratch(k) => self.buffers[step.scratch[k]].clone(),
                    Resource::Status => self.block().buffer.clone(),
                };
                match &binding.window {
                    None => buffer.into(),
                    Some(bytes) => BufferSlice::window(buffer, bytes.clone()),
                }
            };
            let buffers = kernel.bindings.iter().map(slice).collect();
            self.list.push(Command::Dispatch(Dispatch {
                pipeline: kernel.pipeline.clone(),
                buffers,
                params: kernel.params.clone(),
                workgroups: kernel.workgroups,
                depth: kernel.depth,
                label: kernel.label.clone(),
            }));
        }
        self.step_ends.push(self.list.len());
        let status: Arc<[Status]> = outcomes.into();
        let stored = |(buffer, &(_, len)): (Buffer, &(usize, u32))| Stored {
            data: Arc::new(buffer),
            status: status.clone(),
            len,
        };
        Ok(outputs.into_iter().zip(&step.outputs).map(stored).collect())
    }

    fn count(&mut self, number: usize, array: &Stored, at: u32) -> CountState {
        if let Some(KeptCounts { buffer: to, of }) = &mut self.counts
            && self.wanted_counts.contains(&number)
            && at < array.len
        {
            let (from_offset, to_offset) = (4 * u64::from(at), 4 * of.len() as u64);
            self.list.push(Command::Copy { from: buffer(array), from_offset, to: to.clone(), to_offset, bytes: 4 });
            of.push(number);
        }
        CountState::OnDevice
    }
}
