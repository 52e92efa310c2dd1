//! Cache of plans, keyed by program: batches of other sizes reuse the plan.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::graph::digest::IdentityHasher;
use crate::graph::program::Program;

/// Maximum number of programs with cached plans.
const CAPACITY: usize = 256;

/// Maximum number of idle plans per program.
const MAX_IDLE: usize = 16;

/// LRU cache of the plans of one device.
///
/// A plan holds the sizes of its run, so one thread at a time uses it. A thread that finds no idle plan makes one; all
/// are kept.
#[derive(Debug)]
pub(crate) struct PlanCache<P>(Mutex<Entries<P>>);

#[derive(Debug)]
struct Entries<P> {
    cached: HashMap<Arc<Program>, Entry<P>, BuildHasherDefault<IdentityHasher>>,
    clock: u64,
}

#[derive(Debug)]
struct Entry<P> {
    idle: Vec<P>,
    used: u64,
}

impl<P> Default for PlanCache<P> {
    fn default() -> Self {
        Self(Mutex::new(Entries { cached: HashMap::default(), clock: 0 }))
    }
}

impl<P> PlanCache<P> {
    fn entries(&self) -> MutexGuard<'_, Entries<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns an idle plan of the program for which `is_valid` holds.
    pub(crate) fn take(&self, program: &Program, is_valid: impl Fn(&P) -> bool) -> Option<P> {
        let entries = &mut *self.entries();
        entries.clock += 1;
        let entry = entries.cached.get_mut(program)?;
        entry.used = entries.clock;
        let at = entry.idle.iter().rposition(is_valid)?;
        Some(entry.idle.remove(at))
    }

    /// Adds an idle plan of the program.
    pub(crate) fn put(&self, program: &Arc<Program>, plan: P) {
        let entries = &mut *self.entries();
        if let Some(entry) = entries.cached.get_mut(program) {
            // Evicts plans for other sizes of large arrays, the oldest first.
            if entry.idle.len() >= MAX_IDLE {
                entry.idle.remove(0);
            }
            entry.idle.push(plan);
            return;
        }
        if entries.cached.len() >= CAPACITY {
            // Evicts the least recently used quarter, which amortizes the selection.
            let mut times: Vec<u64> = entries.cached.values().map(|entry| entry.used).collect();
            let (_, pivot, _) = times.select_nth_unstable(CAPACITY / 4);
            let pivot = *pivot;
            entries.cached.retain(|_, entry| entry.used > pivot);
        }
        entries.cached.insert(program.clone(), Entry { idle: vec![plan], used: entries.clock });
    }
}
