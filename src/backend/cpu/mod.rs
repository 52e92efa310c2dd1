//! The CPU backend: the reference, and the fallback where there is no GPU.
//!
//! It runs the very steps that the GPU runs, in blocks that fit the cache, on all cores. One file a primitive; the
//! twin of a kernel has the kernel's stem.

pub(crate) mod array;
mod available;
pub mod compact;
mod eval;
mod filling;
mod fingerprint;
mod lanes;
mod loops;
mod map;
pub mod matmul;
mod order_key;
mod pieces;
mod pool;
mod reduce;
mod row_hash;
pub mod row_reduce;
pub mod row_scan;
pub mod row_sort;
mod runs;
pub mod scan;
pub(crate) mod simd;
pub mod sort;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use array::Array;
use eval::Inputs;
use pool::Pool;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::backend::{Backend, Status, StepCost};
use crate::graph::expr::Check;
use crate::graph::extent::{Count, Extent};
use crate::graph::node::{Node, Recipe, Stored};
use crate::graph::plan::{Longs, PlanLimits, Step, plan};
use crate::numerics::Numerics;
use crate::stats::Stats;

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
        let mut arrays = HashMap::new();
        let mut status: Vec<Status> = Vec::new();
        let mut inherit = |from: &Node| {
            let stored = from.stored().expect("bug: a step before its inputs");
            Status::inherit(&mut status, &stored.status);
            stored.data.clone()
        };
        for n in &step.reads {
            let data = inherit(n).downcast::<Array>().expect("bug: an array of another backend");
            arrays.insert(n.digest(), data);
        }
        for n in &step.after {
            inherit(n);
        }
        let mut checks = step.checks.clone();
        if let Recipe::Assert { check, .. } = &step.recipe {
            checks.push(check.clone());
        }
        let outcomes: Arc<[AtomicU32]> = checks.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        let inputs = Inputs { arrays, checks, outcomes: outcomes.clone(), pool: self.pool.clone() };
        self.passes.fetch_add(1, Ordering::Relaxed);
        if !inputs.checks.is_empty() {
            let block: Arc<dyn Any + Send + Sync> = Arc::new(outcomes);
            let fresh = |(slot, check): (usize, &Arc<Check>)| Status::new(block.clone(), slot as u32, check.clone());
            status.extend(inputs.checks.iter().enumerate().map(fresh));
        }
        // What does not fit may be so for a condition that failed before, such as an index beyond all rows: that is the
        // error then.
        let array = match self.compute(step, &inputs) {
            Ok(array) => array,
            Err(e) => return Err(status.iter().find_map(|s| settled(s).err()).unwrap_or(e)),
        };
        step.out.set_stored(Stored { data: Arc::new(array), status: status.into() });
        Ok(())
    }

    fn compute(&self, step: &Step, inputs: &Inputs) -> Result<Array> {
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
            Recipe::Reduce { op, rows, nrows, inner, value, .. } => {
                let nrows = live(nrows);
                let rows = |out: &mut Array| reduce::reduce(inputs, *op, rows, nrows, *inner as usize, value, out);
                match &step.finish {
                    None => {
                        rows(&mut out);
                        out.clear_from(nrows * *inner as usize);
                    }
                    Some(finish) => {
                        let mut reduced = Array::unset(pool, step.out.op(), value.dtype(), capacity)?;
                        rows(&mut reduced);
                        reduced.clear_from(nrows * *inner as usize);
                        let inputs = inputs.with(&finish.reduced, reduced);
                        map::map(&inputs, &finish.value, n, &mut out);
                        out.clear_from(n);
                    }
                }
            }
            Recipe::Product(p) => {
                out.clear_from(0);
                matmul::products(inputs, op, p, live(&p.batches), &mut out)?;
            }
            Recipe::Scan { value, count } => {
                let mut values = Array::unset(pool, op, DType::U32, live(count))?;
                let n = values.len();
                map::map(inputs, value, n, &mut values);
                if scan::exclusive_sum(values.slice(), out.slice_mut()) {
                    return Err(Error::Limit {
                        what: step.out.op().into(),
                        requested: values.slice::<u32>().iter().map(|&v| u64::from(v)).sum(),
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
                out.slice_mut()[..n].copy_from_slice(&sort::sort_permutation(keys.slice(), *bits));
                out.clear_from(n);
            }
            Recipe::RowSort { rows, nrows, key, bits, .. } => {
                row_sort::row_sort(inputs, rows, live(nrows), key, *bits, &mut out);
            }
            Recipe::Hash { op, rows, nrows, byte } => {
                row_hash::row_hash(inputs, *op, rows, live(nrows), byte, &mut out);
                out.clear_from(live(nrows));
            }
            Recipe::Compact { keep, value, count } => compact::compact(inputs, keep, value, live(count), &mut out),
        }
        Ok(out)
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
        PlanLimits { storage_buffers: 12, fuse: !self.unfused, longs: Longs::Native, ends_loops: false }
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
    fn read(&self, nodes: &[Node]) -> Result<Vec<Vec<u8>>> {
        let counts: Vec<Count> = nodes.iter().map(|n| n.extent().count(n.backend())).collect();
        let mut wanted = nodes.to_vec();
        wanted.extend(counts.iter().filter_map(Count::node).cloned());
        self.evaluate(&wanted)?;
        for n in &wanted {
            let stored = n.stored().expect("bug: evaluation left a node without a result");
            stored.status.iter().try_for_each(settled)?;
        }
        let array = |n: &Node| {
            let data = n.stored().expect("bug: evaluated above").data.clone();
            data.downcast::<Array>().expect("bug: an array of another backend")
        };
        Ok(nodes
            .iter()
            .zip(&counts)
            .map(|(n, count)| {
                let live = match count {
                    Count::Known(n) => *n,
                    Count::At(node, at, most) => {
                        array(node).slice::<u32>().get(*at as usize).copied().unwrap_or(0).min(*most)
                    }
                };
                array(n).bytes()[..live as usize * n.dtype().size()].to_vec()
            })
            .collect())
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
}
