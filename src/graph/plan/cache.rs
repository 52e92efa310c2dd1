//! Cache of plans, keyed by program: batches of other sizes reuse the plan.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::LinkedPlan;
use crate::graph::digest::IdentityHasher;
use crate::graph::program::Program;

/// Maximum number of programs with cached plans.
const CAPACITY: usize = 256;

/// Maximum number of plans per program: one for small arrays, and one for each of the last sizes of large arrays.
const MAX_PLANS: usize = 16;

/// LRU cache of the plans of one device. Any number of threads use a plan at once.
#[derive(Debug, Default)]
pub(crate) struct PlanCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    cached: HashMap<Arc<Program>, Entry, BuildHasherDefault<IdentityHasher>>,
    clock: u64,
}

/// The plans of one program, the least recently used first. Locked while a plan is made, so that other threads wait for
/// it instead of making the same one.
type Plans = Arc<Mutex<Vec<Arc<LinkedPlan>>>>;

#[derive(Debug)]
struct Entry {
    plans: Plans,
    used: u64,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PlanCache {
    /// The plan of the program for which `is_valid` holds, made by `make` if there is none.
    pub(crate) fn get_or_make(
        &self,
        program: Arc<Program>,
        is_valid: impl Fn(&LinkedPlan) -> bool,
        make: impl FnOnce(Arc<Program>) -> LinkedPlan,
    ) -> Arc<LinkedPlan> {
        let plans = self.plans(&program);
        let mut plans = lock(&plans);
        if let Some(at) = plans.iter().rposition(|plan| is_valid(plan)) {
            plans[at..].rotate_left(1);
            return plans[plans.len() - 1].clone();
        }
        let plan = Arc::new(make(program));
        if plans.len() >= MAX_PLANS {
            plans.remove(0);
        }
        plans.push(plan.clone());
        plan
    }

    /// The plans of the program.
    fn plans(&self, program: &Arc<Program>) -> Plans {
        let entries = &mut *lock(&self.0);
        entries.clock += 1;
        if let Some(entry) = entries.cached.get_mut(program) {
            entry.used = entries.clock;
            return entry.plans.clone();
        }
        if entries.cached.len() >= CAPACITY {
            // Evicts the least recently used quarter, which amortizes the selection.
            let mut times: Vec<u64> = entries.cached.values().map(|entry| entry.used).collect();
            let (_, pivot, _) = times.select_nth_unstable(CAPACITY / 4);
            let pivot = *pivot;
            entries.cached.retain(|_, entry| entry.used > pivot);
        }
        let plans = Plans::default();
        entries.cached.insert(program.clone(), Entry { plans: plans.clone(), used: entries.clock });
        plans
    }
}
