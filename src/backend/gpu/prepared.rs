//! Plans made ready to run, and kept for when the same is asked for again.
//!
//! What a plan comes to does not depend on the arrays that it reads, only on the form of what is asked for: see
//! [`Request`](crate::graph::request::Request). So it is kept without any node in it, and holds no result alive.
//! Running it again, over the same inputs or over the next batch of these shapes, takes a walk over the graph, buffers
//! from the pool, and nothing else.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::runtime::Pipeline;
use crate::graph::digest::Rehash;
use crate::graph::expr::Check;
use crate::graph::request::Key;

/// A plan whose kernels are compiled. It knows arrays by their numbers in a request.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The arrays that it reads and does not make.
    pub(super) inputs: Vec<usize>,
    pub(super) steps: Vec<ReadyStep>,
    /// How many conditions report to the block of conditions.
    pub(super) slots: u32,
    /// Bytes of the buffers that it takes: the block of conditions, if there are any, then outputs and scratch step by
    /// step.
    pub(super) buffers: Vec<u64>,
    /// Bytes that its kernels read plus write, at capacities.
    pub(super) moves: u64,
    /// The ids of those that it took the last time. Taken again where they lie unused, they need no new bind groups.
    pub(super) last: Mutex<Vec<u64>>,
}

/// An array that a plan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// It was stored before: by its number in the request.
    Input(usize),
    /// By number among the arrays that the plan makes.
    Made(usize),
}

/// What a kernel binds as one storage buffer.
#[derive(Debug, Clone)]
pub(super) struct BufferBinding {
    pub(super) what: Bound,
    /// These bytes alone, of an array larger than a binding.
    pub(super) window: Option<Range<u64>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    Array(Source),
    /// An output of the step, by number.
    Output(usize),
    /// A scratch buffer of the step, by number.
    Scratch(usize),
    /// The block of conditions.
    Status,
}

/// One kernel with its grid.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) pipeline: Pipeline,
    pub(super) bindings: Vec<BufferBinding>,
    pub(super) params: Arc<[u32]>,
    pub(super) workgroups: u32,
    pub(super) depth: u32,
    pub(super) label: Arc<str>,
}

/// An array to make.
#[derive(Debug)]
pub(super) struct ReadyArray {
    /// Its number in the request; none if it is a part of the plan alone.
    pub(super) number: Option<usize>,
    pub(super) bytes: u64,
}

/// A step: arrays to make, and how.
#[derive(Debug)]
pub(super) struct ReadyStep {
    pub(super) outputs: Vec<ReadyArray>,
    pub(super) op: &'static str,
    pub(super) scratch: Vec<u64>,
    pub(super) kernels: Vec<Kernel>,
    /// The outputs that must be 0 beforehand.
    pub(super) cleared_outputs: Vec<usize>,
    /// Conditions evaluated on the way: of successive slots.
    pub(super) checks: Vec<Arc<Check>>,
    /// The scratch buffer and word that is not 0 when a scan's total did not fit.
    pub(super) overflow: Option<(usize, u32)>,
    /// Arrays whose conditions the outputs depend on.
    pub(super) depends: Vec<Source>,
}

impl Prepared {
    /// Notes that it reads the array of that number, and gives the number.
    pub(super) fn input(&mut self, number: usize) -> usize {
        if !self.inputs.contains(&number) {
            self.inputs.push(number);
        }
        number
    }

    /// The numbers of the arrays that it makes, in order.
    pub(super) fn made(&self) -> impl Iterator<Item = Option<usize>> {
        self.steps.iter().flat_map(|step| &step.outputs).map(|array| array.number)
    }

    /// The ids of the buffers that it took the last time; none if another thread is about to take them.
    pub(super) fn last_buffers(&self) -> Vec<u64> {
        std::mem::take(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes the ids of the buffers that it took.
    pub(super) fn took_buffers(&self, ids: Vec<u64>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = ids;
    }
}

/// How many are kept.
const CAPACITY: usize = 256;

/// The plans of one device, by what was asked for: least recently used first out.
#[derive(Debug, Default)]
pub(super) struct PlanCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    cached: HashMap<Key, (Arc<Prepared>, u64), BuildHasherDefault<Rehash>>,
    clock: u64,
}

impl PlanCache {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Prepared>> {
        let entries = &mut *self.entries();
        entries.clock += 1;
        let (prepared, used) = entries.cached.get_mut(key)?;
        *used = entries.clock;
        Some(prepared.clone())
    }

    pub(super) fn insert(&self, key: &Key, prepared: Arc<Prepared>) {
        let entries = &mut *self.entries();
        if entries.cached.len() >= CAPACITY && !entries.cached.contains_key(key) {
            // A quarter at a time, so that the search for the oldest is paid once in so many.
            let mut times: Vec<u64> = entries.cached.values().map(|(_, used)| *used).collect();
            let (_, pivot, _) = times.select_nth_unstable(CAPACITY / 4);
            let pivot = *pivot;
            entries.cached.retain(|_, (_, used)| *used > pivot);
        }
        entries.cached.insert(key.clone(), (prepared, entries.clock));
    }
}
