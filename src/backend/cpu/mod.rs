//! The CPU backend: the reference, and the fallback where there is no GPU.
//!
//! It runs the very steps that the GPU runs, in blocks that fit the cache, on all cores. One file a primitive; the
//! twin of a kernel has the kernel's stem.

pub mod accumulate;
pub(crate) mod array;
mod available;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod block_scan;
mod choice;
pub mod compact;
mod copies;
mod divided;
mod eval;
mod exps;
mod filled;
mod filling;
mod fingerprint;
mod floats;
mod huge_pages;
mod integers;
mod lanes;
mod looked_up;
mod loops;
mod map;
mod marks;
pub mod matmul;
mod moments;
mod number;
mod operations;
mod order_key;
mod pieces;
mod plain_rows;
mod pool;
mod reduce;
mod row_hash;
pub mod row_reduce;
pub mod row_scan;
pub mod row_sort;
mod rows_of;
mod runs;
pub mod scan;
mod short_rows;
mod sides;
mod simd;
pub mod sort;
mod sources;
mod wide_rows;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use array::Array;
use eval::{Block, Inputs, Program};
use pool::Pool;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::{Backend, Part, Reading, Status, StepCost, Wait};
use crate::graph::expr::Check;
use crate::graph::extent::{Count, Extent};
use crate::graph::node::{Node, Recipe, Stored};
use crate::graph::plan::{Longs, PlanLimits, Step, plan};
use crate::numerics::Numerics;
use crate::stats::Stats;
use crate::trace::span;
use crate::tuning::Tuning;

/// The backend that computes on the host's processor.
#[derive(Debug, Default)]
pub(crate) struct CpuBackend {
    passes: AtomicU64,
    unfused: bool,
    id: u64,
    pool: Arc<Pool>,
}

impl CpuBackend {
    /// A backend of that identity; `fuse` off stores every map, to test that fusing changes no bits.
    pub(crate) fn new(id: u64, fuse: bool) -> Self {
        Self { passes: AtomicU64::new(0), unfused: !fuse, id, pool: Arc::default() }
    }

    fn run(&self, step: &Step) -> Result<()> {
        let bytes = || step.outputs().iter().map(|n| n.bytes()).sum::<u64>();
        let _span = span!("cpu step", op = step.out.op(), kind = step.family(), bytes = bytes());
        let mut read = HashMap::new();
        let mut status: Vec<Status> = Vec::new();
        let mut inherit = |from: &Node| {
            let stored = from.stored().expect("bug: a step before its inputs");
            Status::inherit(&mut status, &stored.status);
            stored.data.clone()
        };
        for n in &step.reads {
            let data = inherit(n).downcast::<Array>().expect("bug: an array of another backend");
            read.insert(n.digest(), data);
        }
        for n in &step.after {
            inherit(n);
        }
        let mut checks = step.checks.clone();
        if let Recipe::Assert { check, .. } = &step.recipe {
            checks.push(check.clone());
        }
        let outcomes: Arc<[AtomicU32]> = checks.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        let inputs = Inputs { arrays: read, checks, outcomes: outcomes.clone(), pool: self.pool.clone() };
        self.passes.fetch_add(1, Ordering::Relaxed);
        if !inputs.checks.is_empty() {
            let block: Arc<dyn Any + Send + Sync> = Arc::new(outcomes);
            let fresh = |(slot, check): (usize, &Arc<Check>)| Status::new(block.clone(), slot as u32, check.clone());
            status.extend(inputs.checks.iter().enumerate().map(fresh));
        }
        // What does not fit may be so for a condition that failed before, such as an index beyond all rows: that is the
        // error then.
        let arrays = match self.compute(step, &inputs) {
            Ok(arrays) => arrays,
            Err(e) => return Err(status.iter().find_map(|s| settled(s).err()).unwrap_or(e)),
        };
        let status: Arc<[Status]> = status.into();
        for (out, array) in step.outputs().into_iter().zip(arrays) {
            out.set_stored(Stored { data: Arc::new(array), status: status.clone() });
        }
        Ok(())
    }

    fn read_now(&self, parts: &[Part]) -> Result<Vec<Vec<u8>>> {
        let count = |part: &Part| match &part.elements {
            Some(_) => None,
            None => Some(part.node.extent().count(part.node.backend())),
        };
        let counts: Vec<Option<Count>> = parts.iter().map(count).collect();
        let mut wanted: Vec<Node> = parts.iter().map(|part| part.node.clone()).collect();
        wanted.extend(counts.iter().flatten().filter_map(Count::node).cloned());
        self.evaluate(&wanted)?;
        for n in &wanted {
            let stored = n.stored().expect("bug: evaluation left a node without a result");
            stored.status.iter().try_for_each(settled)?;
        }
        let array = |n: &Node| {
            let data = n.stored().expect("bug: evaluated above").data.clone();
            data.downcast::<Array>().expect("bug: an array of another backend")
        };
        let bytes = |(part, count): (&Part, &Option<Count>)| {
            let elements = match (&part.elements, count) {
                (Some(elements), _) => elements.clone(),
                (None, Some(Count::At(node, at, most))) => {
                    0..array(node).slice::<u32>().get(*at as usize).copied().unwrap_or(0).min(*most)
                }
                (None, Some(Count::Known(n))) => 0..*n,
                (None, None) => 0..0,
            };
            let size = part.node.dtype().size();
            array(&part.node).bytes()[elements.start as usize * size..elements.end as usize * size].to_vec()
        };
        Ok(parts.iter().zip(&counts).map(bytes).collect())
    }

    /// The step's [outputs](Step::outputs).
    fn compute(&self, step: &Step, inputs: &Inputs) -> Result<Vec<Array>> {
        let live = |e: &Extent| match e.live() {
            None => e.capacity() as usize,
            Some(live) => inputs.scalar_u32(live).min(e.capacity()) as usize,
        };
        let capacity = step.out.extent().capacity() as usize;
        let n = match &step.live {
            None => capacity,
            Some(live) => (inputs.scalar_u32(live) as usize).min(capacity),
        };
        let op = step.out.op();
        if let (Recipe::Reduce { rows, nrows, inner, .. }, Some(pass)) = (&step.recipe, &step.pass) {
            return reduce::pass(inputs, pass, rows, live(nrows), *inner as usize, n);
        }
        let pool = &self.pool;
        let mut out = Array::unset(pool, op, step.out.dtype(), capacity)?;
        // What no row, no value and no result is at is zero, whatever the memory held.
        match &step.recipe {
            Recipe::Map { value, whole } => {
                let n = if *whole { capacity } else { n };
                map::map(inputs, value, n, &mut out);
                out.clear_from(n);
            }
            Recipe::Assert { ok, count, check } => map::assert(inputs, ok, check, live(count)),
            Recipe::Reduce { .. } => unreachable!("bug: a row reduction without a pass"),
            Recipe::Product(p) => {
                out.clear_from(0);
                matmul::products(inputs, op, p, live(&p.batches), &mut out)?;
            }
            Recipe::Scan { value, count } => {
                let program = Program::new(inputs, value);
                let values = |start: usize, out: &mut [u32]| {
                    Block::run(&program, start as u32, out.len()).store_numbers(out);
                };
                let total = scan::exclusive_sum(live(count), values, out.slice_mut());
                if total > u64::from(u32::MAX) {
                    return Err(Error::Limit {
                        what: step.out.op().into(),
                        requested: total,
                        unit: "elements",
                        limit: u64::from(u32::MAX),
                        whose: "a tensor".into(),
                    });
                }
            }
            Recipe::RowScan { op, rows, nrows, inner, value, .. } => {
                row_scan::row_scan(inputs, *op, rows, live(nrows), *inner as usize, value, &mut out);
            }
            Recipe::Sort { key, count, bits } => {
                let mut keys = Array::unset(pool, op, DType::U32, live(count))?;
                let n = keys.len();
                map::map(inputs, key, n, &mut keys);
                sort::sort_indices(|at| &keys.slice()[at], *bits, 0, &mut out.slice_mut()[..n]);
                out.clear_from(n);
            }
            Recipe::RowSort { rows, nrows, key, bits, .. } => {
                row_sort::row_sort(inputs, rows, live(nrows), key, *bits, &mut out);
            }
            Recipe::Hash { op, rows, nrows, byte, .. } => {
                row_hash::row_hash(inputs, *op, rows, live(nrows), byte, &mut out);
                out.clear_from(live(nrows));
            }
            Recipe::Marks { keep, count } => marks::marks(inputs, keep, live(count), &mut out),
            Recipe::Compact { marks, value, inner, .. } => {
                compact::compact(inputs, marks, value, *inner as usize, &mut out);
            }
        }
        Ok(vec![out])
    }
}

/// Fails if the condition was found not to hold.
fn settled(s: &Status) -> Result<()> {
    let block = s.block.downcast_ref::<Arc<[AtomicU32]>>().expect("bug: a condition of another backend");
    s.settle(block[s.slot as usize].load(Ordering::Relaxed))
}

impl Backend for CpuBackend {
    fn id(&self) -> u64 {
        self.id
    }
    fn name(&self) -> &str {
        "cpu"
    }
    fn is_cpu(&self) -> bool {
        true
    }
    fn is_software(&self) -> bool {
        true
    }
    fn supports(&self, _: DType) -> std::result::Result<(), String> {
        Ok(())
    }
    fn max_bytes(&self) -> u64 {
        isize::MAX as u64
    }
    fn plan_limits(&self) -> PlanLimits {
        PlanLimits {
            arrays: 12,
            bindings: 12,
            max_binding: u64::MAX,
            fuse: !self.unfused,
            longs: Longs::Native,
            ends_loops: false,
            tuning: Tuning::SANE,
        }
    }
    fn upload(&self, dtype: DType, bytes: &[u8]) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(Array::from_bytes(&self.pool, dtype, bytes)?))
    }
    fn cost(&self, _: &Step) -> Result<StepCost> {
        Ok(StepCost { dispatches: 1, scratch_bytes: 0 })
    }
    fn evaluate(&self, nodes: &[Node]) -> Result<()> {
        for step in plan(nodes, self.plan_limits()).steps {
            self.run(&step)?;
        }
        Ok(())
    }
    fn evaluate_timed(&self, nodes: &[Node]) -> Result<Option<f64>> {
        self.evaluate(nodes)?;
        Ok(None)
    }
    fn wait(&self) -> Result<()> {
        // Evaluation returns when it is done.
        Ok(())
    }
    fn read_parts(&self, parts: Vec<Part>, _: Wait) -> Reading<'_> {
        // Nothing to wait for: computing is done in the poll.
        Box::pin(async move { self.read_now(&parts) })
    }
    fn waits(&self, _: &[Node]) -> u64 {
        0
    }
    fn stats(&self) -> Stats {
        Stats { dispatches: self.passes.load(Ordering::Relaxed), ..self.pool.stats() }
    }
    fn numerics(&self) -> Result<Numerics> {
        Ok(Numerics::IDEAL)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod random_programs;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extent::read_u32;
    use crate::{Device, RaggedTensor};

    /// [`Array::unset`] fills memory in tests, so that whatever is not set shows.
    #[test]
    fn beyond_what_is_live_there_are_zeros() -> Result<()> {
        let device = Device::cpu();
        let rows: Vec<Vec<f32>> = (0..100).map(|row| vec![row as f32; row % 4]).collect();
        let third: Vec<bool> = (0..100).map(|row| row % 3 == 0).collect();
        let third = RaggedTensor::from_nested(third, &device)?;
        let some = RaggedTensor::from_nested(rows, &device)?.boolean_mask(&third)?;
        let some = some.erased();
        let found = [
            some.clone(),
            some.reduce_sum(1, false)?,
            some.reduce_max(1, false)?,
            some.reduce_mean(1, false)?,
            some.reduce_variance(1, false)?,
            some.reduce_logsumexp(1, false)?,
            some.softmax(1)?,
            some.cumsum(1, false, false)?,
            some.sort(1, false)?,
        ];
        for (k, tensor) in found.iter().enumerate() {
            let node = tensor.numbers("test")?;
            let (backend, extent) = (node.backend(), node.extent());
            backend.evaluate(std::slice::from_ref(node))?;
            let live = read_u32(backend, "test", extent.expr())?;
            let stored = node.stored().expect("evaluated").data.clone().downcast::<Array>().expect("of this backend");
            assert!(
                live < extent.capacity() && stored.len() == extent.capacity() as usize,
                "{k}: {live} of {extent:?}"
            );
            assert!(stored.slice::<f32>()[live as usize..].iter().all(|x| x.to_bits() == 0), "{k}: {stored:?}");
        }
        Ok(())
    }
}
