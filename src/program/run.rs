//! Runs of a program: on the arrays of its inputs, or recorded again.

use std::mem::take;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::donation::Donation;
use super::layout::Layout;
use super::parts::Parts;
use super::{ArrayOrigin, Code, Program, SizeOrigin};
use crate::error::Result;
use crate::graph::backend::{BackendRef, OF_TRACES, Part};
use crate::graph::digest::Digest;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::program::{ArrayDef, ArrayId, ReplayInputs, Replayed, SizeDef, SizeId};
use crate::graph::run::recording::read_now;
use crate::graph::run::traced_run::TracedRun;
use crate::graph::size::{RecordedSize, RunInput, Size, SizeKind};
use crate::tensor::{Tensor, eval, explain};

const NO_PART: &str = "bug: a program whose inputs have other parts";

/// How the outputs of a run come about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Computed now, where that is possible; recorded elsewhere.
    Computed,
    /// As `Computed`, of a program from a file: outputs that are recorded are computed by reads, which may panic where
    /// the program breaks a rule. They are evaluated on the CPU, unless a check has failed, so that the read that reports
    /// it names its integers; elsewhere they are planned once.
    Tried,
    Recorded,
}

/// The arrays and the sizes of the inputs, by their numbers in the program.
struct Bound {
    arrays: Vec<Option<Node>>,
    sizes: Vec<Option<Size>>,
}

/// What a run without a recording gives.
enum Outcome {
    Computed(Replayed),
    /// A check failed: the run is recorded, so that reads report it.
    Failed,
    /// The run has to be recorded: within a trace, with inputs for which the backend has no kernels of this program, or
    /// if the backend waits for counts.
    Recorded,
}

/// Reads the counts of these sizes that the host does not know; one wait for all of them. What a trace makes of a size,
/// such as the layout of a result, is only right for a number that the host knows.
#[track_caller]
fn read_counts<'a>(backend: &BackendRef, op: &'static str, sizes: impl Iterator<Item = &'a Size>) -> Result<()> {
    let unknown = |size: &'a Size| match size.kind() {
        Some(SizeKind::Count(count)) => Some((count, count.location()?)),
        _ => None,
    };
    let counts: Vec<_> = sizes.flat_map(Size::counts).filter_map(unknown).collect();
    if counts.is_empty() {
        return Ok(());
    }
    let parts = counts.iter().map(|(_, (node, at))| Part::at(node.clone(), at.clone())).collect();
    for ((count, _), bytes) in counts.iter().zip(read_now(backend, op, parts)?) {
        let n: u32 = bytemuck::pod_read_unaligned(&bytes);
        count.set_exact(n.min(count.bound()));
    }
    Ok(())
}

impl Program {
    /// The outputs of a run that the user calls `op`.
    #[track_caller]
    pub(super) fn outputs_of(
        &self,
        op: &'static str,
        inputs: &[&Tensor],
        backend: &BackendRef,
        way: Way,
    ) -> Result<Vec<Tensor>> {
        let bound = self.bound(op, inputs, backend)?;
        self.outputs_from(bound, backend, way, None)
    }

    /// The outputs of a run that owns its inputs. After an error the inputs are as they were.
    #[track_caller]
    pub(super) fn outputs_donating(
        &self,
        op: &'static str,
        inputs: &mut Vec<Tensor>,
        backend: &BackendRef,
    ) -> Result<Vec<Tensor>> {
        let bound = self.bound(op, &inputs.iter().collect::<Vec<_>>(), backend)?;
        let mut donation = Donation::of(take(inputs));
        let outputs = self.outputs_from(bound, backend, Way::Computed, Some(&mut donation));
        if outputs.is_err() {
            *inputs = donation.left();
        }
        outputs
    }

    /// The arrays and sizes that the program takes from these inputs, from captured tensors, or has.
    #[track_caller]
    fn bound(&self, op: &'static str, inputs: &[&Tensor], backend: &BackendRef) -> Result<Bound> {
        let code = &*self.0;
        let parts = code.inputs.iter().zip(inputs).map(|(spec, x)| Parts::of(spec, x)).collect::<Result<Vec<_>>>()?;
        read_counts(backend, op, parts.iter().flat_map(|of| &of.sizes))?;
        let array = |origin: &Option<ArrayOrigin>| match origin {
            None => Ok(None),
            Some(ArrayOrigin::Input(place)) => Ok(Some(place.array(&parts).expect(NO_PART).clone())),
            Some(ArrayOrigin::Captured(captured)) => captured.on(backend).map(Some),
        };
        let arrays: Vec<Option<Node>> = code.arrays.iter().map(array).collect::<Result<_>>()?;
        let size = |(k, origin): (usize, &Option<SizeOrigin>)| match origin.as_ref()? {
            SizeOrigin::Input(place) => Some(place.size(&parts).expect(NO_PART).clone()),
            SizeOrigin::Known(n) => {
                let identity = (code.number, k);
                Some(Size::input(Digest::of("captured size", identity), *n))
            }
        };
        let sizes = code.sizes.iter().enumerate().map(size).collect();
        Ok(Bound { arrays, sizes })
    }

    fn outputs_from(
        &self,
        bound: Bound,
        backend: &BackendRef,
        way: Way,
        donation: Option<&mut Donation>,
    ) -> Result<Vec<Tensor>> {
        let (code, Bound { mut arrays, sizes }) = (&*self.0, bound);
        let outcome = match way {
            Way::Computed | Way::Tried => code.computed(&mut arrays, &sizes, backend, donation)?,
            Way::Recorded => Outcome::Recorded,
        };
        let is_tried = way == Way::Tried && matches!(outcome, Outcome::Recorded) && backend.id() != OF_TRACES;
        let of = match outcome {
            Outcome::Computed(of) => of,
            Outcome::Recorded | Outcome::Failed => code.traced.program.replay(ReplayInputs {
                backend,
                arrays,
                sizes,
                bounds: &code.bounds,
                scalars: &code.traced.trace.run.scalars,
                locations: &code.traced.trace.locations,
            }),
        };
        let outputs: Vec<Tensor> =
            code.outputs.iter().map(|layout| layout.tensor(backend, &of)).collect::<Result<_>>()?;
        if is_tried && backend.is_cpu() {
            eval(&outputs)?;
        } else if is_tried && !code.planned_on.lock().unwrap_or_else(PoisonError::into_inner).contains(&backend.id()) {
            // A device that cannot run the plan is the error of the reads.
            let _ = explain(&outputs);
            code.planned_on.lock().unwrap_or_else(PoisonError::into_inner).push(backend.id());
        }
        Ok(outputs)
    }
}

impl Code {
    /// The arrays and sizes of the outputs, computed without a recording.
    fn computed(
        &self,
        arrays: &mut Vec<Option<Node>>,
        given: &[Option<Size>],
        backend: &BackendRef,
        mut donation: Option<&mut Donation>,
    ) -> Result<Outcome> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Gradients need the arrays in between.
        if backend.id() == OF_TRACES || arrays.iter().flatten().any(Node::is_differentiable) {
            return Ok(Outcome::Recorded);
        }
        let program = &self.traced.program;
        let counts: Vec<Node> = given.iter().flatten().flat_map(Size::counts).filter_map(Size::count_node).collect();
        // Kernels of traced inputs take their sizes from the host, and may read whole vectors.
        let is_padded = |((_, def), node): ((_, &ArrayDef), &Option<Node>)| match (def, node) {
            (ArrayDef::Input(form), Some(node)) => node.is_vector_padded() || !form.is_vector_padded,
            _ => true,
        };
        let has_kernels = backend.is_cpu() || counts.is_empty() && program.arrays().zip(arrays.iter()).all(is_padded);
        if !has_kernels {
            return Ok(Outcome::Recorded);
        }
        let pending = arrays.iter().flatten().filter(|node| node.stored().is_none()).cloned();
        let pending: Vec<Node> = pending.chain(counts).collect();
        if !pending.is_empty() {
            backend.evaluate(&pending)?;
        }
        let inputs: Vec<Option<RunInput>> = arrays.iter().map(|node| node.as_ref()?.as_run_input()).collect();
        let values: Vec<Option<u32>> = given.iter().map(|size| size.as_ref()?.host_value()).collect();
        if given.iter().zip(&values).any(|(size, value)| size.is_some() && value.is_none()) {
            return Ok(Outcome::Recorded);
        }
        let table = program.run_table(inputs, &values, &self.bounds, self.traced.trace.run.scalars.clone());
        let stored = |node: &Option<Node>| node.as_ref()?.stored().cloned();
        let arrays_of_run = arrays.iter().map(stored).collect();
        let mut run = TracedRun { arrays: arrays_of_run, donated: Vec::new(), table, has_failed: false };
        if let Some(donation) = &mut donation {
            donation.lend(self, arrays, &mut run);
        }
        let outcome = match backend.run_traced(&self.traced, &mut run) {
            Ok(true) if run.has_failed => Ok(Some(Outcome::Failed)),
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(Outcome::Recorded)),
            Err(e) => Err(e),
        };
        if let (Ok(None), Some(donation)) = (&outcome, &mut donation) {
            donation.consume(&mut run);
        } else if let Some(donation) = donation {
            donation.give_back(backend, arrays, &mut run)?;
        }
        if let Some(outcome) = outcome? {
            return Ok(outcome);
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (nodes, sizes) = (take(arrays), vec![None; self.sizes.len()]);
        let given = given.to_vec();
        let mut results = Results { code: self, backend, given, run, number, nodes, sizes };
        for k in self.outputs.iter().flat_map(Layout::arrays) {
            results.node(k);
        }
        for extent in self.outputs.iter().flat_map(Layout::extents) {
            results.size(extent.size());
        }
        Ok(Outcome::Computed(Replayed::of(results.nodes, results.sizes)))
    }
}

/// The arrays and sizes after a run.
struct Results<'a> {
    code: &'a Code,
    backend: &'a BackendRef,
    given: Vec<Option<Size>>,
    run: TracedRun,
    /// Tells the sizes of runs apart.
    number: u64,
    nodes: Vec<Option<Node>>,
    sizes: Vec<Option<Size>>,
}

impl Results<'_> {
    /// An array that the run was given or has kept.
    fn node(&mut self, array: ArrayId) -> Node {
        let k = array.index();
        if let Some(known) = &self.nodes[k] {
            return known.clone();
        }
        let stored = self.run.arrays[k].clone().expect("bug: an array that no step computes");
        let program = &self.code.traced.program;
        let (size, dtype, extent) = program.computed(array).expect("bug: an input that is not given");
        // The number of elements of an array that only holds a count is of no interest.
        let extent = match self.code.traced.is_output[k] {
            true => extent.extent(self.size(size)),
            false => Extent::input(Digest::of("length of a result", (self.number, k)), stored.len),
        };
        let node = Node::result(self.backend, dtype, extent, stored);
        self.nodes[k] = Some(node.clone());
        node
    }

    /// A size as the outputs have it: one that follows from the sizes of the inputs is the same arithmetic of them, so
    /// that layouts which are equal by construction are known to be.
    fn size(&mut self, size: SizeId) -> Size {
        // Operands first, without recursion: operations may be nested to any depth.
        let mut stack = vec![size];
        while let Some(&size) = stack.last() {
            let first = stack.len();
            if let (None, SizeDef::Op(_, a, b)) =
                (&self.sizes[size.index()], &self.code.traced.program.sizes()[size.index()])
            {
                stack.extend([*b, *a].into_iter().filter(|operand| self.sizes[operand.index()].is_none()));
            }
            if stack.len() == first {
                stack.pop();
                self.made_size(size);
            }
        }
        self.sizes[size.index()].clone().expect("bug: a size that was not made")
    }

    /// The size of a result whose operands are made.
    fn made_size(&mut self, size: SizeId) -> Size {
        let k = size.index();
        if let Some(known) = &self.sizes[k] {
            return known.clone();
        }
        let value = self.run.table.value(k);
        let identity = Digest::of("size of a result", (self.number, k));
        let made = match self.code.traced.program.sizes()[k] {
            SizeDef::Const(n) => Size::from(n),
            SizeDef::Input => self.given[k].clone().expect("bug: a size that is not given"),
            SizeDef::Len(array) if self.run.arrays[array.index()].is_some() => Size::len(&self.node(array)),
            SizeDef::Len(_) => Size::input(identity, value),
            SizeDef::Count { .. } if self.run.table.sizes[k].exact.is_some() => Size::read_count(identity, value),
            // Only the device knows the count.
            SizeDef::Count { array, at } => Size::count(self.node(array), self.size(at), value.into()),
            SizeDef::Op(op, a, b) => {
                let (a, b) = (self.size(a), self.size(b));
                Size::op(op, &a, &b)
            }
        };
        self.sizes[k] = Some(made.clone());
        made
    }
}
